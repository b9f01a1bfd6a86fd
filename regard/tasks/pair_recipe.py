"""The settings of tasks on pairs of texts."""

from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Discriminator, Field, Tag, model_validator

from regard.config import (
    DecodeSettings,
    Recipe,
    Settings,
    Texts,
    TokenizerSettings,
)
from regard.shapes import Seq2SeqSettings, TransformerSettings
from regard.tasks.fields import Column, Shares, kind_of, require_shares
from regard.text.tokenizer import WORD_OR_MARK, fold

ONE_ALPHABET = (
    "model.copying: a token can be copied only where both sides have the same tokens. "
    "Leave out the section [target], or set model.copying = false."
)
METRIC = Literal[
    "exact_match",
    "per",
    "wer",
    "bleu",
    "chrf",
    "rouge1",
    "rouge2",
    "rougeL",
    "distinct1",
    "distinct2",
]


def _one_or_two(value: Any) -> Any:
    match value:
        case None | str() | [str(), str()] | (str(), str()):
            return value
    raise ValueError(
        f'expected a file, as in "pairs.tsv", or two with matching lines, as in '
        f'["train.de", "train.en"], found {value!r}.'
    )


Paths = Annotated[str | tuple[str, str] | None, BeforeValidator(_one_or_two)]


Model = Annotated[
    Annotated[TransformerSettings, Tag("transformer")] | Annotated[Seq2SeqSettings, Tag("rnn")],
    Discriminator(kind_of),
]
Metrics = Annotated[tuple[METRIC, ...], BeforeValidator(lambda v: [v] if isinstance(v, str) else v)]


class PairData(Settings):
    set: str | None = None
    """A named data set, such as "cmudict". Give this or `path`."""
    path: Paths = None
    """A TSV, CSV or JSON Lines file, or two text files with matching lines; gz, xz or zst will do.
    Relative to the recipe's folder."""
    source: Column = None
    """Column of the source: a name from the header, or a number from 1; guessed by default."""
    target: Column = None
    """Column of the target."""
    turns: str | None = None
    """Key of a JSON Lines file that holds whole conversations, a list of turns each: every turn but
    the first is a target, those before it are its source, and a conversation stays on one side."""
    history: int | None = Field(default=None, ge=1)
    """With `turns`: how many turns before a reply its source holds at most; 3 by default."""
    split: Shares = (90, 5, 5)
    """Percent of the sources for training, validation and test, by a hash of the source."""
    validation: Paths = None
    """Validate on this file instead of a share of `path`."""
    test: Paths = None
    """Test on this file instead of a share of `path`."""
    bad_rows: Literal["refuse", "skip"] = "refuse"
    """What to do with rows that have no source, no target or a wrong number of columns."""

    @model_validator(mode="after")
    def set_or_path(self) -> Self:
        if (self.set is None) == (self.path is None):
            raise ValueError(
                'give either set or path, as in set = "cmudict" or path = "pairs.tsv".'
            )
        return self

    @model_validator(mode="after")
    def turns_stand_alone(self) -> Self:
        if self.turns and (self.set or self.source or self.target):
            raise ValueError("turns: whole conversations have no set, source or target. Leave out.")
        if self.history and not self.turns:
            raise ValueError('history goes with turns, as in turns = "messages".')
        return self

    @model_validator(mode="after")
    def shares_fit(self) -> Self:
        require_shares(self.split, self.validation, self.test)
        return self


class TransduceRecipe(Recipe):
    task: Literal["transduce"] = "transduce"
    """What the work is."""
    data: PairData
    """The pairs."""
    source: TokenizerSettings
    """How the source is cut into tokens."""
    target: TokenizerSettings | None = None
    """How the target is cut into tokens; without it both sides share the source's tokenizer."""
    model: Model = Field(default_factory=TransformerSettings)
    """The network: its kind (transformer, or rnn) and its shape."""
    decode: DecodeSettings = Field(default_factory=DecodeSettings)
    """How outputs are written."""
    metrics: Metrics = Field(default=("exact_match", "bleu", "chrf"), min_length=1)
    """Scores to report, of exact_match, per, wer, bleu, chrf, rouge1, rouge2, rougeL, distinct1 and
    distinct2; the first is watched while training and decides between baselines."""
    samples: Texts = ()
    """Inputs to show when the run is done; some of the test part by default."""

    @model_validator(mode="after")
    def copies_are_of_one_alphabet(self) -> Self:
        if self.model.copying and self.target is not None:
            raise ValueError(ONE_ALPHABET)
        return self


def as_seen(source: str, settings: TokenizerSettings) -> str:
    """The source without what its tokenizer throws away: sources that look alike to the model
    must not be on two sides of a split.

    >>> as_seen("So  great.", TokenizerSettings(kind="wordpunct", lowercase=True))
    'so great .'
    """
    source = fold(source) if settings.lowercase else source
    if settings.kind == "wordpunct":
        return " ".join(WORD_OR_MARK.findall(source))
    return " ".join(source.split()) if settings.kind in ("word", "wordpiece") else source
