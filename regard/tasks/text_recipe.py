"""The settings of language models."""

from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Discriminator, Field, Tag, model_validator

from regard.config import (
    DecodeSettings,
    Recipe,
    Settings,
    Texts,
    TokenizerSettings,
    TrainSettings,
)
from regard.shapes import DecoderSettings, RecurrentWriterSettings
from regard.tasks.fields import Column, Shares, kind_of, require_shares


def _some_files(value: Any) -> Any:
    match value:
        case None | str() | [str(), *_] | (str(), *_):
            return value
    raise ValueError(
        f'expected a text file or a folder, as in "corpus.txt", or several, as in '
        f'["a.txt", "b.txt"], found {value!r}.'
    )


Files = Annotated[str | tuple[str, ...] | None, BeforeValidator(_some_files)]
Model = Annotated[
    Annotated[DecoderSettings, Tag("transformer")] | Annotated[RecurrentWriterSettings, Tag("rnn")],
    Discriminator(kind_of),
]


class TextData(Settings):
    path: Files
    """A text file, a folder of them, or a table with a column of texts; several will do, and gz, xz
    or zst. Relative to the recipe's folder."""
    column: Column = None
    """Of a table: the column that holds the texts; guessed by default."""
    documents: Literal["file", "line", "paragraph"] = "file"
    """What is a text of its own: a whole file, a line, or what stands between blank lines. Rows of
    a table always are."""
    across: bool = False
    """Whether a text may be seen from the one after it, where both stand in one window. Recurrent
    networks always read on."""
    split: Shares = (90, 5, 5)
    """Percent for training, validation and test, in this order from the beginning to the end. Of
    more than 80 million characters less is chosen to be held out, 4 million twice."""
    validation: Files = None
    """Validate on this instead of a share of `path`."""
    test: Files = None
    """Test on this instead of a share of `path`."""

    @model_validator(mode="after")
    def shares_fit(self) -> Self:
        if self.path is None:
            raise ValueError('path: which text? As in path = "corpus.txt".')
        require_shares(self.split, self.validation, self.test)
        return self


class TextTrainSettings(TrainSettings):
    label_smoothing: float = Field(default=0.0, ge=0, lt=1)
    """Share of the target's probability spread over all tokens; above 0 it spoils perplexity."""


class WritingSettings(DecodeSettings):
    temperature: float = Field(default=0.8, ge=0)
    """0 takes the likeliest token, and soon repeats itself; above 0 samples."""
    beyond: Literal["slide", "refuse"] = "slide"
    """When a text outgrows model.max_length: forget its older half and write on, or refuse to
    begin. Recurrent networks have no such limit."""


class LanguageRecipe(Recipe):
    task: Literal["language_model"] = "language_model"
    """What the work is."""
    data: TextData
    """The text."""
    tokens: TokenizerSettings
    """How the text is cut into tokens."""
    model: Model = Field(default_factory=DecoderSettings)
    """The network: its kind (transformer, or rnn) and its shape."""
    train: TextTrainSettings
    """How it is trained."""
    decode: WritingSettings = Field(default_factory=WritingSettings)
    """How text is written."""
    order: int = Field(default=5, ge=1, le=12)
    """Tokens that the n-gram model beside it looks at: those before the next, and that one."""
    stride: int | None = Field(default=None, ge=1)
    """Tokens between the windows that scores are measured in; model.max_length by default, so that
    nothing is read twice. Fewer give every token more context. Recurrent networks read on by
    default, with all in mind that came before; with a stride each window begins with nothing."""
    samples: Texts = ()
    """Beginnings to continue when the run is done; some of the test part by default."""

    @model_validator(mode="after")
    def something_can_be_written(self) -> Self:
        sight, most = self.model.max_length, self.decode.max_length
        if self.decode.beyond == "refuse" and self.model.kind != "rnn" and most >= sight:
            raise ValueError(
                f'decode.beyond = "refuse": {most} tokens (decode.max_length) are too many for '
                f"{sight} in sight (model.max_length), a beginning among them. Try "
                f"decode.max_length = {sight // 2}."
            )
        return self

    @model_validator(mode="after")
    def windows_touch(self) -> Self:
        if self.stride is not None and self.stride > self.model.max_length:
            raise ValueError(
                f"stride ({self.stride}) must not be above model.max_length "
                f"({self.model.max_length}), or some tokens would never be scored."
            )
        return self
