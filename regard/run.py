"""`Run`, the front desk: a finished run as one object that predicts, scores and shows itself."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import Any

from torch import nn

from regard.build import (
    network_of,
    new_training,
    open_task,
    pick_device,
    read_splits,
    resume_training,
)
from regard.check.proofs import CASES, check_module, check_task
from regard.check.report import Finding, Report
from regard.config import Recipe, Tree
from regard.errors import ConfigError, RunError, TextError
from regard.files import file_hash, free_folder, locked, read_table, write_json, write_text
from regard.lens.capture import look
from regard.lens.picture import Picture
from regard.lens.report import report_page, summary_html
from regard.models.predictor import Predictor
from regard.models.weights import load_weights, read_weights
from regard.names import Prediction, Scores
from regard.tasks.recipe import asked, make_recipe, relative_to, with_columns
from regard.tasks.task import Part, Task, predict_fitting
from regard.toml import fill
from regard.train.memory import give_back_memory, peak_memory
from regard.train.report import card
from regard.train.training import Training

Data = str | Path | Sequence[str | Path]  # a file, or two with matching lines
SEALED = ("model.safetensors", "tokenizer.json")  # their hashes are in run.json
CHUNK = 512  # inputs predicted at once by `stream`


class Run:
    """A trained model in its folder.

    >>> run = regard.load("runs/demo")  # doctest: +SKIP
    >>> run.predict(["attention"])  # doctest: +SKIP
    ['AH T EH N SH AH N']
    """

    def __init__(self, folder: Path, task: Task[Any], network: nn.Module, facts: Tree) -> None:
        self.folder, self.task, self.network, self.facts = folder, task, network, facts

    @classmethod
    def load(cls, folder: str | Path, device: str = "auto") -> "Run":
        """Open a finished run; RunError says what is missing or broken."""
        folder = Path(folder)
        facts, task = open_task(folder)
        path = folder / "model.safetensors"
        if "test" not in facts or not path.exists():
            raise RunError(
                f"{folder}: this run is not finished, so there is no model to use yet. "
                f"Go on with: regard resume {folder}"
            )
        _check_whole(folder, facts, task.recipe)
        network = network_of(task)
        load_weights(network, read_weights(path), str(path))
        return cls(folder, task, network.to(pick_device(device)).eval(), facts)

    @property
    def recipe(self) -> Recipe:
        return self.task.recipe

    def predictor(self, **decoding: Any) -> Predictor:
        """The network as a predictor; `beam=4` and the like replace the recipe's settings."""
        return self.task.predictor(self.network, **decoding)

    def predict(self, inputs: Sequence[str], **decoding: Any) -> list[str]:
        """One output an input. Keywords replace the recipe's decode settings, as in beam=4; for
        scores and several outputs see `stream`."""
        if isinstance(inputs, str):
            raise TextError(f"predict takes a list of texts, as in run.predict([{inputs[:40]!r}]).")
        return [p.output for p in self.predictor(**decoding, n=1).predict(inputs)]

    def stream(self, inputs: Iterable[str], **decoding: Any) -> Iterator[Prediction]:
        """Predictions in order, a chunk at a time: a million inputs do not grow memory. An input
        that the model can not take is answered by an empty output and its `problem`."""
        rest = iter(inputs)
        return self.stream_chunks(iter(lambda: list(islice(rest, CHUNK)), []), **decoding)

    def stream_chunks(
        self, chunks: Iterable[Sequence[str]], **decoding: Any
    ) -> Iterator[Prediction]:
        """The same for inputs that arrive in chunks; each is answered before the next is taken."""
        predictor = self.predictor(**decoding)
        for chunk in chunks:
            yield from predict_fitting(self.task, predictor, chunk)

    def evaluate(
        self,
        data: Data | None = None,
        columns: Sequence[str | None] | None = None,
        **decoding: Any,
    ) -> Tree:
        """Scores on a file (or two with matching lines), or on the run's own test part, beside
        the baselines'. A file may hold training examples: how many is in the result. `columns`
        are its source and target, where they have other names than in the training file."""
        if data is None:
            sides = read_splits(self.task, self.facts, self.folder)
            part, name = Part(sides.test, sides.notes, 0), "test part"
        else:
            recipe = with_columns(self.recipe, columns)
            part = type(self.task).read_file(recipe, _paths(data))
            name = " ".join(map(str, _paths(data)))
        baselines = self.task.load_baselines(self.folder / "baseline")
        scored = self._scored(part.examples, name, baselines, decoding)
        return {**scored, "skipped_rows": part.skipped, "notes": list(part.notes)}

    def _scored(
        self, examples: list[Any], data: str, baselines: dict[str, Predictor], decoding: Tree
    ) -> Tree:
        task = self.task
        inputs = task.inputs(examples)
        answers = predict_fitting(task, self.predictor(**decoding), inputs)
        scores = {**task.score(answers, examples), **task.network_scores(self.network, examples)}
        beside = {p.name: task.score(p.predict(inputs), examples) for p in baselines.values()}
        best, *others = beside
        for name in others:
            best = name if task.better(beside[name], beside[best]) else best
        return {
            "run": str(self.folder),
            "task": self.recipe.task,
            "data": data,
            "examples": len(inputs),
            "too_long": sum(not task.fits(text) for text in inputs),  # counted as wrong
            "not_measured": task.prepare(examples).count(None),  # by scores of the network alone
            "unknown_inputs": sum(bool(task.unknown(text)) for text in inputs),
            "in_training": sum(task.known(baselines, inputs)),
            "scores": _plain(scores),
            "baseline": {"name": best, "scores": _plain(beside[best])},
            "beats_baseline": task.better(scores, beside[best]),
            "baselines": [{"name": name, "scores": _plain(s)} for name, s in beside.items()],
        }

    def look(self, text: str) -> Picture:
        """What every head of every layer looked at while answering `text`."""
        return look(self.task, self.network, text)

    def check(
        self, *, cases: int = CASES, seed: int = 0, heard: Callable[[Finding], object] = id
    ) -> Report:
        """Prove that the model is honest: no future leaks, padding changes nothing, ... `heard` is
        told of every finding as soon as it is there."""
        return check_task(self.task, self.network, cases=cases, seed=seed, heard=heard)

    def _repr_html_(self) -> str:
        return summary_html(self.folder.name, self.facts)

    def __repr__(self) -> str:
        return f"<Run {self.folder}: {self.recipe.task}, {self.facts['parameters']:,} parameters>"


def finish(training: Training) -> Run:
    """Turn a finished training into a run: final weights, test scores, samples, pictures, card.
    run.json comes last: without its scores a run counts as unfinished, and can be resumed."""
    folder, task, network = training.folder, training.task, training.network
    give_back_memory()  # what training needed does not fit what scoring needs
    load_weights(network, training.final_weights(), "the checkpoint")
    facts = read_table(folder / "run.json")
    splits = read_splits(task, facts, folder)
    baselines = task.baselines(splits.train)
    run = Run(folder, task, network.eval(), facts)
    scored = run._scored(splits.test, "test part", baselines, {})
    facts |= {
        "weights": training.settings.keep,
        "steps": training.progress.step,
        "seconds": round(training.progress.seconds, 1),
        "tokens_per_second": round(training.progress.tokens / max(training.progress.seconds, 1e-9)),
        "memory": peak_memory(),
        "validation": training.progress.validation,
        "test": {k: v for k, v in scored.items() if k != "run"},  # no path: a run may move
        "samples": _samples(run, baselines, splits.test),
    }
    picture = run.look(facts["samples"][0]["input"])
    picture.only(name=picture.maps[-1].name).save(folder / "attention.png")  # the last to look
    picture.save(folder / "attention.html")  # all of it
    for name, baseline in baselines.items():
        baseline.save(folder / "baseline" / name)
    run.predictor().save(folder)
    facts["files"] = {name: file_hash(folder / name) for name in SEALED}
    facts["model"] = run.recipe.model_dump(mode="json").get("model")
    write_text(folder / "README.md", card(run.recipe, facts))
    recipe = relative_to(run.recipe, folder).model_dump(mode="json")
    write_text(folder / "report.html", report_page(folder.name, facts, training.log(), recipe))
    write_json(folder / "run.json", facts)
    return run


def _samples(run: Run, baselines: dict[str, Predictor], test: list[Any]) -> list[Tree]:
    """Predictions to show, each with what was wanted, where that is known, and with whether it
    was among the training inputs."""
    inputs, right = run.task.samples(test), run.task.answers(test)
    found = zip(run.predictor().predict(inputs), run.task.known(baselines, inputs), strict=True)
    return [
        {**prediction.as_json(), "wanted": right.get(prediction.input, []), "in_training": known}
        for prediction, known in found
    ]


def _check_whole(folder: Path, facts: Tree, recipe: Recipe) -> None:
    """Refuse parts of another run: they may fit in shape and still answer nonsense."""
    sealed = facts.get("files", {})
    for name in SEALED:
        if sealed.get(name) != file_hash(folder / name):
            raise RunError(
                f"{folder / name}: not the file that this run was finished with. Was it damaged, "
                "or copied from another run? Copy the whole run again."
            )
    shape = recipe.model_dump(mode="json").get("model", {})
    # Only what was written then: settings that came later have the value they had without a name.
    if any(shape.get(key) != value for key, value in facts.get("model", {}).items()):
        raise RunError(
            f"{folder / 'recipe.toml'}: its [model] is not the one that was trained. Put it back."
        )


def load(folder: str | Path, device: str = "auto") -> Run:
    """Open a finished run."""
    return Run.load(folder, device)


def check(model: nn.Module | Run | str | Path, *, cases: int = CASES, **said: Any) -> Report:
    """Prove that a model is honest: a run, its folder, or any module that takes token ids.

    A module is called as its signature suggests, or as you say:

    >>> report = regard.check(  # doctest: +SKIP
    ...     module, vocabulary=1000, kind="decoder", call=lambda m, ids, mask: m(ids)
    ... )
    >>> report.passed  # doctest: +SKIP
    True

    See `regard.check.guess.subject_of` for everything that can be said about a module.
    """
    if isinstance(model, nn.Module):
        return check_module(model, cases=cases, **said)
    run = model if isinstance(model, Run) else Run.load(model)
    return run.check(cases=cases, **said)


def train(
    task: str | Path | Recipe,
    data: Data | Tree | None = None,
    *,
    columns: tuple[str, str] | None = None,
    budget: str | None = None,
    out: str | Path | None = None,
    **settings: Any,
) -> Run:
    """Train a task on a file, or a recipe, into a new run folder; returns the finished run.

    task      "translate", "pronounce", ...: settings are chosen from the data; or a recipe: a
              TOML file, the name of a shipped one, or a checked `Recipe`
    data      one file, or two with matching lines, or the whole section as a dict, as in
              {"path": "train.tsv", "test": "test.tsv"}; a recipe has its own
    columns   names or numbers of the source and the target column; guessed by default
    budget    time to train, as in "90s" or "20m"
    out       run folder; runs/TASK by default, or the next free runs/TASK-2, ...
    settings  any other setting by section: model={"width": 64}, train={"rate": 0.001}, seed=1

    >>> run = regard.train("translate", "pairs.tsv", budget="2m")  # doctest: +SKIP
    """
    if isinstance(task, Recipe):
        recipe, name = task, task.task
    else:
        tree = asked(columns, budget)
        tree = fill(tree, {"data": dict(data)} if isinstance(data, Mapping) else {})
        paths = () if data is None or isinstance(data, Mapping) else _paths(data)
        recipe, _ = make_recipe(task, paths, tree=fill(tree, settings))
        name = Path(task).stem
    training = new_training(recipe, Path(out) if out else free_folder(Path("runs") / name))
    with locked(training.folder):
        return _to_the_end(training)


def resume(folder: str | Path) -> Run:
    """Go on with a run exactly where it stopped; a finished one is opened."""
    folder = Path(folder)
    with locked(folder):
        if is_finished(folder):
            return Run.load(folder)
        return _to_the_end(resume_training(folder))


def is_finished(folder: Path) -> bool:
    facts, _ = open_task(folder)
    return "test" in facts


def _to_the_end(training: Training) -> Run:
    for _ in training.run():
        pass
    return finish(training)


def _paths(data: Data) -> list[Path]:
    paths = [data] if isinstance(data, str | Path) else list(data)
    if not all(isinstance(path, str | Path) for path in paths):
        raise ConfigError(
            f"data: expected a file, or two with matching lines, found {str(data)[:60]}. "
            "Write the pairs into a file first, as in source<TAB>target lines."
        )
    return [Path(path) for path in paths]


def _plain(scores: Scores) -> Tree:
    return {name: asdict(score) for name, score in scores.items()}
