"""What a job is: the one interface between a recipe and everything above (train, check, lens, run).

A task says which columns come in, what the network and its loss are, what a prediction is, how
it is scored, and which baseline stands beside it. Nothing above this room knows more about a
job than these methods.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Protocol, Self, TypeVar

from torch import Tensor, nn

from regard.data.splits import Splits
from regard.models.predictor import Predictor
from regard.names import Prediction, Scores

Example = Any  # what the task's reader yields, such as data.pairs.Pair
Prepared = TypeVar("Prepared")  # an example as token ids


class Loss(NamedTuple):
    """A sum, not a mean: the trainer divides by the tokens of the whole step, so that
    micro-batches and several processes add up to exactly the big batch."""

    total: Tensor
    tokens: int


@dataclass(frozen=True)
class Replay:
    """One input and its output, ready to run through the network again while `lens` looks."""

    source: str
    output: str
    run: Callable[[], object]
    axes: dict[str, tuple[tuple[str, ...], tuple[str, ...]]]
    """What the rows and columns of each attention stand for: {"cross": (written, source), ...}."""


class Task(Protocol[Prepared]):
    recipe: Any  # an instance of the next line
    Recipe: ClassVar[type[Any]]
    """The settings this task reads (a config.Recipe); a recipe file is checked against it."""
    split_rule: str
    """How examples find their side, in words, for the card."""

    # Reading
    @classmethod
    def read(cls, recipe: Any) -> Splits[Example]: ...
    @classmethod
    def read_file(cls, recipe: Any, path: Path) -> list[Example]: ...

    # What is learned before the network: tokenizers, labels
    @classmethod
    def fit(cls, recipe: Any, train: Sequence[Example]) -> Self: ...
    @classmethod
    def load(cls, recipe: Any, saved: dict[str, Any]) -> Self: ...
    def as_json(self) -> dict[str, Any]: ...

    # Training
    def network(self) -> nn.Module: ...
    def prepare(self, example: Example) -> Prepared | None:
        """Token ids, or None for an example longer than the model can take."""

    def lengths(self, prepared: Prepared) -> tuple[int, ...]: ...
    def loss(self, network: nn.Module, batch: list[Prepared], smoothing: float = 0.0) -> Loss: ...
    def validate(self, network: nn.Module, examples: Sequence[Example]) -> dict[str, float]:
        """Quick scores to watch while training; "loss" is always among them."""

    # Using
    def predictor(self, network: nn.Module, **decoding: Any) -> Predictor:
        """The network as a Predictor; keywords replace the recipe's decode settings."""

    def baseline(self, train: Sequence[Example]) -> Predictor: ...
    def load_baseline(self, folder: Path) -> Predictor: ...
    def inputs(self, examples: Sequence[Example]) -> list[str]:
        """What to predict in order to score these examples: each distinct input once."""

    def score(self, predictions: Sequence[Prediction], examples: Sequence[Example]) -> Scores: ...
    def fits(self, text: str) -> bool:
        """Can the model take this input: not empty, not too long?"""

    def samples(self, examples: Sequence[Example]) -> list[str]:
        """A dozen inputs worth showing to a person."""

    def replay(self, network: nn.Module, text: str) -> Replay: ...


def predict_fitting(
    task: Task[Any], predictor: Predictor, inputs: Sequence[str]
) -> list[Prediction]:
    """Predictions for scoring: an input that does not fit gets an empty output, so it is wrong."""
    fitting = [text for text in inputs if task.fits(text)]
    found = {p.input: p for p in predictor.predict(fitting)}
    return [found.get(text) or Prediction(text, "") for text in inputs]
