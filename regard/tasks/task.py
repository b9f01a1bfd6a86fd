"""What a job is: the one interface between a recipe and everything above (train, check, lens, run).

A task says which columns come in, what the network and its loss are, what a prediction is, how
it is scored, and which baseline stands beside it. Nothing above this room knows more about a
job than these methods.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any, ClassVar, Generic, NamedTuple, Protocol, Self, TypeVar

from torch import Tensor, nn

from regard.config import Tree
from regard.data.splits import Splits
from regard.errors import TextError
from regard.models.predictor import Predictor
from regard.names import Prediction, Scores
from regard.tasks.batches import Batches
from regard.tasks.probe import Probe

Example = Any  # what the task's reader yields, such as data.pairs.Pair
Examples = Any  # a list of them, or a text that is read from its files (data.corpus.Texts)
Item = TypeVar("Item")
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
    run: Callable[[], Tensor]
    """Scores (T, V) of each token that was written."""
    chosen: tuple[int, ...]
    """The tokens that were written."""
    axes: dict[str, tuple[tuple[str, ...], tuple[str, ...]]]
    """What the rows and columns of each attention stand for: {"cross": (written, source), ...}."""


class Step(NamedTuple):
    """How one token of an output was chosen."""

    before: tuple[str, ...]  # what was written already, START first
    piece: str
    probability: float
    others: tuple[tuple[str, float], ...]  # the runners-up, the likeliest first
    filters: tuple[tuple[str, tuple[float, ...]], ...] = ()
    """After each filter of sampling, by its name: the probabilities of `piece` and `others`."""


class Part(NamedTuple, Generic[Item]):
    """The examples of one file, what was guessed about it, and how many rows were left out."""

    examples: list[Item]
    notes: tuple[str, ...]
    skipped: int


class Choice(NamedTuple):
    """Settings that fit some data, and why: (what, reason) to show to a person."""

    tree: Tree
    reasons: list[tuple[str, str]]


class Evaluation(NamedTuple):
    scores: Scores
    baselines: dict[str, Scores]
    """By the baselines' names; the first is the one to beat where none is better."""
    counts: Tree
    """"examples", and what a reader of the scores must know: see `names.REMARKS`."""
    unit: str = "inputs"
    """What the examples are."""
    details: Tree | None = None
    """What the scores do not tell: see tasks/label_details.py."""


class Trained(NamedTuple):
    """A network with all that is needed to use it."""

    task: "Task[Any]"
    network: nn.Module
    baselines: Mapping[str, Any]


class Compared(NamedTuple):
    examples: int
    in_training: tuple[int | None, int | None]
    """How many of them (of texts: documents) each of the two was trained on; None: not known."""
    scores: dict[str, Tree]
    """{"bleu": {"a", "b", "difference", "low", "high", "significant"}, ...}"""
    too_long: tuple[int, int] = (0, 0)
    """How many of them each can not take, which count as wrong."""
    notes: tuple[str, ...] = ()
    """What could not be compared, and why, in sentences."""


class Task(Protocol[Prepared]):
    recipe: Any  # an instance of the next line
    Recipe: ClassVar[type[Any]]
    """The settings this task reads (a config.Recipe); a recipe file is checked against it."""
    faces: ClassVar[dict[str, str]]
    """Other names of the task, each with what it is for: {"translate": "text to text ..."}."""
    columns: ClassVar[tuple[str, str]]
    """What --source and --target name in its data section."""
    face_settings: ClassVar[dict[str, Tree]]
    """What a name stands for: {"lstm": {"model": {"kind": "rnn"}}}."""
    lent: float
    """Seconds of work for this training that another one has done already."""

    @property
    def split_rule(self) -> str:
        """How examples find their side, in words, for the card."""

    # Reading
    @classmethod
    def read(cls, recipe: Any) -> Splits[Example]: ...
    @classmethod
    def read_file(cls, recipe: Any, paths: Sequence[Path]) -> Part[Example]:
        """All examples of some other file with the same columns."""

    @classmethod
    def choose(cls, tree: Tree, face: str) -> Choice:
        """Fill in what a recipe leaves open, from its data and its time budget. `face` is the
        name that the task was called by."""

    @classmethod
    def example(cls, face: str) -> Tree:
        """What a recipe must have, filled in with something to replace."""

    # What is learned before the network: tokenizers, labels
    @classmethod
    def fit(cls, recipe: Any, train: Examples) -> Self: ...
    @classmethod
    def load(cls, recipe: Any, saved: dict[str, Any]) -> Self: ...
    def as_json(self) -> dict[str, Any]: ...
    def vocabulary(self) -> dict[str, int]:
        """How many ids each of its tokenizers has, for the card."""

    # Training
    def network(self) -> nn.Module: ...
    def begin(self, network: nn.Module, train: Examples) -> None:
        """Give a new network what it begins with, where that is more than chance."""

    def prepare(self, examples: Examples) -> list[Prepared | None]:
        """Token ids of each, or None for one that is empty or longer than the model takes."""

    def batches(self, train: Examples) -> Batches[Prepared]:
        """What the steps of a training take."""

    def cuts(self, batches: Any) -> Tree:
        """How many of these texts are read only in part, and which part: see `names.CUT`."""

    def lengths(self, prepared: Prepared) -> tuple[int, ...]: ...
    def loss(self, network: nn.Module, batch: list[Prepared], smoothing: float = 0.0) -> Loss: ...
    def carried(self) -> dict[str, Tensor]:
        """What goes from one step to the next beside the weights, for the checkpoint."""

    def carry_on(self, tensors: Mapping[str, Tensor]) -> None:
        """Put it back; nothing, where a training begins."""

    def validate(self, network: nn.Module, examples: Examples) -> dict[str, float]:
        """Quick scores to watch while training; "loss" is always among them."""

    # Using
    def predictor(self, network: nn.Module, **decoding: Any) -> Predictor:
        """The network as a Predictor; keywords replace the recipe's decode settings."""

    def baselines(self, train: Examples) -> dict[str, Predictor]: ...
    def load_baselines(self, folder: Path) -> dict[str, Predictor]: ...
    def known(self, baselines: dict[str, Any], inputs: Sequence[str]) -> list[bool]:
        """Which of the inputs were trained on, as the baselines remember it."""

    def better(self, one: Scores, other: Scores) -> bool:
        """Is `one` the better of two baselines?"""

    def inputs(self, examples: Examples) -> list[str]:
        """What to predict in order to score these examples: each distinct input once."""

    def evaluate(
        self,
        network: nn.Module,
        examples: Examples,
        baselines: Mapping[str, Any],
        decoding: Tree,
    ) -> Evaluation:
        """Every score of the network, and those of the baselines; `decoding` replaces settings."""

    def settle(self, network: nn.Module, splits: Any, baselines: Mapping[str, Any]) -> Tree:
        """What is still to be found out when a network is trained, by its validation part; kept in
        run.json. What the baselines want to know is told to them."""

    def recall(self, facts: Tree) -> None:
        """Use what `settle` found, out of run.json."""

    def last_scores(self, network: nn.Module, splits: Any) -> Scores:
        """Scores that look at the training part too: asked for once, when a run is finished."""

    def compare(self, one: Trained, other: Trained, examples: Examples) -> Compared:
        """By each score, how far two networks are apart on the same examples. The first is this
        task's own; the other's task may have other tokenizers."""

    def unknown(self, text: str) -> list[str]:
        """Pieces of an input that were never met in training."""

    def fits(self, text: str) -> bool:
        """Can the model take this input: not empty, not too long?"""

    def is_cut(self, text: str) -> bool:
        """Would only a part of this input be read?"""

    def doubt(self, examples: Examples, baselines: Mapping[str, Any]) -> str:
        """What looks wrong about examples of another file, in a sentence; empty where nothing."""

    def answers(self, examples: Examples) -> dict[str, list[str]]:
        """What counts as right for each input."""

    def samples(self, examples: Examples) -> list[str]:
        """A dozen inputs worth showing to a person."""

    def replay(self, network: nn.Module, text: str) -> Replay: ...
    def trace(self, predictor: Any, text: str, others: int) -> list[Step]:
        """How an output grows token by token, with so many runners-up at each."""

    # Proving
    def probe(self) -> Probe:
        """How `check` calls the network."""

    def invent(self, dice: Random, rows: int) -> list[Example]:
        """Made-up examples that the model can take, for proofs that need no data."""


def predict_fitting(
    task: Task[Any], predictor: Predictor, inputs: Sequence[str]
) -> list[Prediction]:
    """A prediction for every input: one that does not fit gets an empty output, which is wrong
    when it is scored, and the reason. Where that depends on how it decodes, the predictor knows."""
    fits = getattr(predictor, "fits", task.fits)
    places = [place for place, text in enumerate(inputs) if fits(text)]
    found = dict(zip(places, predictor.predict([inputs[i] for i in places]), strict=True))
    return [
        found[place] if place in found else _refused(predictor, text)
        for place, text in enumerate(inputs)
    ]


def _refused(predictor: Predictor, text: str) -> Prediction:
    try:
        found = predictor.predict([text])[0]
    except TextError as error:
        return Prediction(text, "", problem=str(error))
    return found if found.output else replace(found, problem="the input is empty.")
