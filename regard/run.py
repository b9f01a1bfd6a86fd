"""`Run`, the front desk: a finished run as one object that predicts, scores and shows itself."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import Any

from torch import nn

from regard.build import (
    new_training,
    open_task,
    pick_device,
    read_recipe,
    read_splits,
    resume_training,
)
from regard.config import Recipe, Tree
from regard.errors import RunError
from regard.files import locked, read_table, write_json, write_text
from regard.lens.capture import look
from regard.lens.picture import Picture
from regard.models.predictor import Predictor
from regard.models.weights import load_weights, read_weights
from regard.names import Prediction, Scores
from regard.tasks.task import Task, predict_fitting
from regard.train.report import card
from regard.train.training import Training

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
        network = task.network()
        load_weights(network, read_weights(path), str(path))
        return cls(folder, task, network.to(pick_device(device)).eval(), facts)

    @property
    def recipe(self) -> Recipe:
        return self.task.recipe

    def predictor(self, **decoding: Any) -> Predictor:
        """The network as a predictor; `beam=4` and the like replace the recipe's settings."""
        return self.task.predictor(self.network, **decoding)

    def predict(self, inputs: list[str], **decoding: Any) -> list[str]:
        """One output an input. Keywords replace the recipe's decode settings, as in beam=4."""
        return [p.output for p in self.predictor(**decoding).predict(inputs)]

    def stream(self, inputs: Iterable[str], **decoding: Any) -> Iterator[Prediction]:
        """Predictions in order, a chunk at a time: a million inputs do not grow memory."""
        predictor, rest = self.predictor(**decoding), iter(inputs)
        while chunk := list(islice(rest, CHUNK)):
            yield from predictor.predict(chunk)

    def evaluate(self, data: str | Path | None = None, **decoding: Any) -> Tree:
        """Scores on a file, or on the run's own test part, beside the baseline's."""
        if data is None:
            examples = read_splits(self.task, self.facts, self.folder).test
        else:
            examples = type(self.task).read_file(self.recipe, Path(data))
        baseline = self.task.load_baseline(self.folder / "baseline")
        return self._scored(examples, str(data or "test part"), baseline, decoding)

    def _scored(self, examples: list[Any], data: str, baseline: Predictor, decoding: Tree) -> Tree:
        inputs = self.task.inputs(examples)
        answers = predict_fitting(self.task, self.predictor(**decoding), inputs)
        scores = self.task.score(answers, examples)
        beside = self.task.score(baseline.predict(inputs), examples)
        return {
            "run": str(self.folder),
            "task": self.recipe.task,
            "data": data,
            "examples": len(inputs),
            "too_long": sum(not self.task.fits(text) for text in inputs),  # counted as wrong
            "scores": _plain(scores),
            "baseline": {"name": baseline.name, "scores": _plain(beside)},
        }

    def look(self, text: str) -> Picture:
        """What every head of every layer looked at while answering `text`."""
        return look(self.task, self.network, text)


def finish(training: Training) -> Run:
    """Turn a finished training into a run: final weights, test scores, samples, pictures, card.
    run.json comes last: without its scores a run counts as unfinished, and can be resumed."""
    folder, task, network = training.folder, training.task, training.network
    load_weights(network, training.final_weights(), "the checkpoint")
    facts = read_table(folder / "run.json")
    splits = read_splits(task, facts, folder)
    baseline = task.baseline(splits.train)
    run = Run(folder, task, network.eval(), facts)
    scored = run._scored(splits.test, "test part", baseline, {})
    facts |= {
        "weights": training.settings.keep,
        "steps": training.progress.step,
        "seconds": round(training.progress.seconds, 1),
        "tokens_per_second": round(training.progress.tokens / max(training.progress.seconds, 1e-9)),
        "validation": training.progress.validation,
        "test": {k: v for k, v in scored.items() if k != "run"},  # no path: a run may move
        "samples": _samples(run, splits.train, task.samples(splits.test)),
    }
    picture = run.look(facts["samples"][0]["input"])
    picture.only(name=picture.maps[-1].name).save(folder / "attention.png")  # the last to look
    picture.save(folder / "attention.html")  # all of it
    baseline.save(folder / "baseline")
    run.predictor().save(folder)
    write_text(folder / "README.md", card(run.recipe, facts))
    write_json(folder / "run.json", facts)
    return run


def _samples(run: Run, train: list[Any], inputs: list[str]) -> list[Tree]:
    """Predictions to show, each with whether it was among the training inputs."""
    known = set(run.task.inputs(train))
    found = run.predictor().predict(inputs)
    return [{**p.as_json(), "in_training": p.input in known} for p in found]


def load(folder: str | Path, device: str = "auto") -> Run:
    """Open a finished run."""
    return Run.load(folder, device)


def train(recipe: str | Path | Recipe, folder: str | Path, sets: Sequence[str] = ()) -> Run:
    """Train a recipe into a new run folder and return the finished run.

    >>> run = regard.train("recipe.toml", "runs/mine", ["train.steps=500"])  # doctest: +SKIP
    """
    made = recipe if isinstance(recipe, Recipe) else read_recipe(recipe, sets)
    training = new_training(made, Path(folder))
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


def _plain(scores: Scores) -> Tree:
    return {name: asdict(score) for name, score in scores.items()}
