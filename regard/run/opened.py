"""`Run`: a finished run as one object that predicts, scores and shows itself."""

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import Any, overload

from torch import nn

from regard.build import network_of, open_task, pick_device, read_splits
from regard.check.proofs import CASES, check_task
from regard.check.report import Finding, Report
from regard.config import Recipe, Tree
from regard.errors import ConfigError, RunError, TextError
from regard.files import file_hash
from regard.lens.capture import look
from regard.lens.explain import Explained, explain
from regard.lens.influence import influence
from regard.lens.picture import Picture
from regard.lens.report import summary_html
from regard.models.predictor import Predictor
from regard.models.weights import load_weights, read_weights
from regard.names import Prediction, Scores
from regard.tasks.recipe import with_columns
from regard.tasks.speaking import spoken
from regard.tasks.task import Part, Step, Task, predict_fitting

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
        self._baselines: dict[str, Predictor] | None = None

    @classmethod
    def load(cls, folder: str | Path, device: str = "auto") -> "Run":
        """Open a finished run; RunError says what is missing or broken."""
        folder = Path(folder)
        facts, task = open_task(folder)
        path = folder / "model.safetensors"
        if "test" not in facts:
            raise RunError(
                f"{folder}: this run is not finished, so there is no model to use yet. "
                f"Go on with: regard resume {folder}"
            )
        if not path.exists():
            raise RunError(f"{path}: missing, though the run is finished. Copy the run again.")
        _check_whole(folder, facts, task.recipe)
        task.recall(facts)
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

    @overload
    def stream(self, inputs: str, **decoding: Any) -> Iterator[str]: ...
    @overload
    def stream(self, inputs: Iterable[str], **decoding: Any) -> Iterator[Prediction]: ...
    def stream(self, inputs: str | Iterable[str], **decoding: Any) -> Iterator[Any]:
        """Of one text, the answer piece by piece while it is written. Of several, predictions in
        order, a chunk at a time: a million inputs do not grow memory; an input that the model can
        not take is answered by an empty output and its `problem`.

        >>> for piece in run.stream("To be"):  # doctest: +SKIP
        ...     print(piece, end="")
        """
        if isinstance(inputs, str):
            return spoken(self.speaker(**decoding), inputs)
        rest = iter(inputs)
        return self.stream_chunks(iter(lambda: list(islice(rest, CHUNK)), []), **decoding)

    def speaker(self, **decoding: Any) -> Any:
        """The predictor, where it can tell its answer while it grows."""
        predictor = self.predictor(**decoding, n=1)
        if not hasattr(predictor, "tokens_for"):
            raise ConfigError(f"{self.folder}: a {self.recipe.task} model does not write text.")
        return predictor

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
        part, name = self.part(data, columns)
        scored = self.scored(part.examples, name, self.baselines(), decoding)
        return {**scored, "skipped_rows": part.skipped, "notes": list(part.notes)}

    def part(
        self, data: Data | None, columns: Sequence[str | None] | None = None
    ) -> tuple[Part[Any], str]:
        """The examples of a file, or of the run's own test part, and what to call them."""
        if data is None:
            sides = read_splits(self.task, self.facts, self.folder)
            return Part(sides.test, sides.notes, 0), "test part"
        paths = paths_of(data)
        recipe = with_columns(self.recipe, columns)
        part = type(self.task).read_file(recipe, paths)
        if doubt := self.task.doubt(part.examples, self.baselines()):
            warnings.warn(doubt, stacklevel=3)
        return part, " ".join(map(str, paths))

    def baselines(self) -> dict[str, Predictor]:
        """Read once, and kept: some count their data again."""
        if self._baselines is None:
            self._baselines = self.task.load_baselines(self.folder / "baseline")
        return self._baselines

    def scored(
        self, examples: list[Any], data: str, baselines: dict[str, Predictor], decoding: Tree
    ) -> Tree:
        task = self.task
        found = task.evaluate(self.network, examples, baselines, decoding)
        scores, beside = found.scores, found.baselines
        best, *others = beside
        for name in others:
            best = name if task.better(beside[name], beside[best]) else best
        return {
            "run": str(self.folder),
            "task": self.recipe.task,
            "data": data,
            **found.counts,
            "unit": found.unit,
            **({"details": found.details} if found.details else {}),
            "scores": plain(scores),
            "baseline": {"name": best, "scores": plain(beside[best])},
            "beats_baseline": task.better(scores, beside[best]),
            "baselines": [{"name": name, "scores": plain(s)} for name, s in beside.items()],
        }

    def look(self, text: str) -> Picture:
        """What every head of every layer looked at while answering `text`."""
        return look(self.task, self.network, text)

    def influence(self, text: str) -> Picture:
        """How much each token of `text` moves each token of the answer, by gradients: the same
        measure for networks with and without attention."""
        return influence(self.task, self.network, text)

    def explain(self, text: str, how: str | None = None) -> Explained:
        """Which words mattered for the label of `text`: see lens/explain.py for what each way of
        asking means."""
        return explain(self.task, self.network, text, how)

    def trace(self, text: str, others: int = 4, **decoding: Any) -> list[Step]:
        """How the answer to `text` grows, token by token: each with its probability, and the
        likeliest `others` beside it."""
        return self.task.trace(self.predictor(**decoding), text, others)

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


def paths_of(data: Data) -> list[Path]:
    paths = [data] if isinstance(data, str | Path) else list(data)
    if not all(isinstance(path, str | Path) for path in paths):
        raise ConfigError(
            f"data: expected a file, or two with matching lines, found {str(data)[:60]}. "
            "Write the pairs into a file first, as in source<TAB>target lines."
        )
    return [Path(path) for path in paths]


def plain(scores: Scores) -> Tree:
    return {name: asdict(score) for name, score in scores.items()}
