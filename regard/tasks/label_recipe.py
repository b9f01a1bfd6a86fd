"""The settings of classifiers."""

from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Discriminator, Field, Tag, model_validator

from regard.config import Recipe, Settings, Texts, TokenizerSettings, TrainSettings
from regard.label_shapes import BagSettings, MeanSettings, ReadingRnnSettings, ReadingStackSettings
from regard.tasks.fields import Column, Shares, kind_of, require_shares


def _one_file(value: Any) -> Any:
    match value:
        case None | str():
            return value
    raise ValueError(f'expected a table, as in "reviews.csv", found {value!r}.')


def _folders(value: Any) -> Any:
    match value:
        case str():
            return (value,)
        case [*folders] if all(isinstance(folder, str) for folder in folders):
            return tuple(folders)
    raise ValueError(f'expected a run, as in "runs/lstm", or a list of them, found {value!r}.')


File = Annotated[str | None, BeforeValidator(_one_file)]
Folders = Annotated[tuple[str, ...], BeforeValidator(_folders)]
Model = Annotated[
    Annotated[ReadingStackSettings, Tag("transformer")]
    | Annotated[ReadingRnnSettings, Tag("rnn")]
    | Annotated[MeanSettings, Tag("mean")]
    | Annotated[BagSettings, Tag("bag")],
    Discriminator(kind_of),
]


class LabelData(Settings):
    path: File
    """A CSV, TSV or JSON Lines file with a column of texts and one of labels; gz, xz or zst will
    do. Relative to the recipe's folder."""
    text: Column = None
    """Column of the texts: a name from the header, or a number from 1; guessed by default."""
    other: Column = None
    """Column of second texts, where two are judged together, as in paraphrases."""
    label: Column = None
    """Column of the labels."""
    separator: str | None = Field(default=None, min_length=1)
    """What stands between several labels of one text, as in ","; without it a text has one."""
    split: Shares = (80, 10, 10)
    """Percent of the texts for training, validation and test, by a hash of the text."""
    validation: File = None
    """Validate on this file instead of a share of `path`."""
    test: File = None
    """Test on this file instead of a share of `path`."""
    unlabelled: File = None
    """A table with the same column of texts, or a plain file with a text on each line. Two bags of
    words that have learned from the labelled texts say what labels these have, and then they are
    learned from like the others. For rows of `path` that have no label, name the same file again,
    with bad_rows = "skip"."""
    teachers: Folders = ()
    """Runs that have learned from the same labelled texts: each has as much of a say in what labels
    the texts without labels have as both bags. What networks know can get into a bag so."""
    bad_rows: Literal["refuse", "skip"] = "refuse"
    """What to do with rows that have no text, no label or a wrong number of columns."""

    @model_validator(mode="after")
    def shares_fit(self) -> Self:
        if self.path is None:
            raise ValueError('path: which table? As in path = "reviews.csv".')
        require_shares(self.split, self.validation, self.test)
        if self.teachers and not self.unlabelled:
            raise ValueError("teachers: of which texts without labels? Name unlabelled, too.")
        return self


class LabelTrainSettings(TrainSettings):
    steps: int | None = Field(default=None, ge=0)
    """Optimizer steps. Give this or `budget`. 0 for a bag, which learns at once."""
    label_smoothing: float = Field(default=0.0, ge=0, lt=1)
    """Share of the probability spread over all classes."""


class ClassifyRecipe(Recipe):
    task: Literal["classify"] = "classify"
    """What the work is."""
    data: LabelData
    """The texts and their labels."""
    tokens: TokenizerSettings | None = None
    """How texts are cut into tokens; a bag needs none."""
    begin: str | None = None
    """A run to begin with, whose language model (GPT) knows texts already: its tokenizer and its
    weights are taken over. The model must have its shape, and be causal."""
    begin_with: Literal["weights", "tokens"] = "weights"
    """What is taken over of that run: tokens and weights, or the tokens alone, to see what the
    weights are worth."""
    model: Model = Field(default_factory=ReadingStackSettings)
    """The network: its kind (transformer, rnn or mean) and its shape."""
    keep: Literal["head", "tail", "both"] = "head"
    """Of a text that is longer than model.max_length: the beginning, the end, or half of each."""
    balanced: bool = False
    """Whether every class counts the same, however many examples it has: in the loss of a network,
    and for the judge of a bag."""
    train: LabelTrainSettings
    """How the network learns, and how long."""
    samples: Texts = ()
    """Texts to show when the run is done; some of the test part by default."""

    @model_validator(mode="after")
    def segments_fit(self) -> Self:
        if self.data.other and getattr(self.model, "segments", 0) == 1:
            raise ValueError(
                "model.segments: two texts are judged together, found segments = 1. Write 2, a "
                "vector for each of them, or 0, for none."
            )
        return self

    @model_validator(mode="after")
    def letters_fit(self) -> Self:
        letters = getattr(self.model, "letters", 0)
        if self.data.other and letters:
            raise ValueError(
                f"model.letters: two texts are judged together, by their words alone, found "
                f"letters = {letters}. Leave it out."
            )
        return self

    @model_validator(mode="after")
    def a_token_is_read(self) -> Self:
        """Marks stand around texts: [START] text [STOP] other [STOP]."""
        least = 5 if self.data.other else 3
        longest = getattr(self.model, "max_length", least)
        if longest < least:
            raise ValueError(
                f"model.max_length: {least} at least, with the marks around "
                f"{'two texts' if self.data.other else 'a text'}, found {longest}."
            )
        return self

    @model_validator(mode="after")
    def a_bag_learns_at_once(self) -> Self:
        bag = self.model.kind == "bag"
        if bag and self.train.steps != 0:
            raise ValueError("train: a bag learns at once: set steps = 0, and no budget.")
        if not bag and self.train.steps == 0:
            raise ValueError("train: steps = 0 would leave the network as it began.")
        if not bag and self.tokens is None:
            raise ValueError('tokens: how are texts cut? As in tokens.kind = "word".')
        return self
