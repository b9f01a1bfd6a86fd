"""The shapes of what judges a text as a whole: networks, and the bag of words beside them."""

from typing import Any, Literal, Self

from pydantic import Field, model_validator

from regard.config import Settings
from regard.shapes import EncoderSettings, RecurrentSettings


class JudgeSettings(Settings):
    """What every network has that judges a text as a whole."""

    judge_dropout: float = Field(default=0.0, ge=0, lt=1)
    """Share of what stands for the text that is set to zero while training."""
    word_dropout: float = Field(default=0.0, ge=0, lt=1)
    """Share of the tokens that training takes for unknown ones, so that no single word decides
    (Iyyer et al. 2015)."""
    skipping: float = Field(default=0.0, ge=0, lt=1)
    """Share of the tokens that training leaves out of a text, others each time: against learning
    texts by heart, as word_dropout is, and what is left is shorter and so read faster."""
    skipped_run: int = Field(default=1, ge=1)
    """Neighbouring tokens that `skipping` leaves out together. With 12 most tokens that are left
    still stand beside those that they stood beside, which suits a network that knows the order."""
    pairs: int = Field(default=0, ge=0)
    """Rows of a table of vectors for pairs of neighbouring tokens, which are added to the tokens'
    own; 0: none. `mean` with pairs is fastText (Joulin et al. 2017)."""
    spelling: int = Field(default=0, ge=0)
    """Rows of a table of vectors for runs of 3 to 6 letters; a token's own vector gets those of its
    runs added, so that rare and unknown words resemble what is spelled alike (Bojanowski et al.
    2017). For tokens that are words; 0: none."""
    wide: int = Field(default=0, ge=0)
    """Rows of a table of weights for pairs of neighbouring tokens, beside one for tokens: a linear
    judge, learned at once by naive Bayes and SVM. What it says is added to what the network says
    when that has learned, weighed as suits the validation part; 0: the network judges alone."""


class ReadingStackSettings(JudgeSettings, EncoderSettings):
    """A stack that judges a text as a whole."""

    causal: bool = False
    """Whether a token sees only those before it, as in a GPT, which can be begun with."""
    pooling: Literal["mean", "max", "first", "last"] = "mean"
    """What stands for the whole text: the mean or the largest of all tokens' vectors, or that of
    the token before it ([CLS]) or behind it."""

    @model_validator(mode="before")
    @classmethod
    def may_be_the_shape_of_a_gpt(cls, values: Any) -> Any:
        """One that is begun with. Whether it is tied is about what it writes, and not kept."""
        if isinstance(values, dict) and values.get("causal"):
            return {name: value for name, value in values.items() if name != "tied"}
        return values

    @model_validator(mode="after")
    def pooling_fits(self) -> Self:
        if self.causal and self.pooling == "first":
            raise ValueError(
                'pooling = "first" with causal = true: the first token has seen nothing of the '
                "text. Try last or mean."
            )
        return self

    @model_validator(mode="after")
    def pairs_fit(self) -> Self:
        for name, rows in (("pairs", self.pairs), ("spelling", self.spelling)):
            if self.causal and rows:
                raise ValueError(
                    f"{name} = {rows} with causal = true: a GPT knows no {name}. Leave out one."
                )
        return self


class ReadingRnnSettings(JudgeSettings, RecurrentSettings):
    """A network that reads a text and judges it as a whole."""

    bidirectional: bool = True
    """Read from both ends."""
    pooling: Literal["last", "mean", "max"] = "last"
    """What stands for the whole text: the last state, or the mean or the largest of all."""
    max_length: int = Field(default=512, ge=1)
    """Tokens that are read of a text, at most."""


class MeanSettings(JudgeSettings):
    """The mean of the tokens' vectors, judged: no order, and almost nothing to learn."""

    kind: Literal["mean"] = "mean"
    """The family of networks."""
    width: int = Field(default=64, ge=1)
    """Numbers that stand for a token."""
    max_length: int = Field(default=2048, ge=1)
    """Tokens that are read of a text, at most."""


class BagSettings(Settings):
    """A bag of words and a linear judge over it."""

    kind: Literal["bag"] = "bag"
    """The family of models."""
    grams: int = Field(default=2, ge=1, le=3)
    """Longest gram in words. 1: words alone; 2: words and pairs of neighbours; 3: triples too."""
    letters: int = Field(default=0, ge=0, le=8)
    """Beside words, grams of 2 to so many characters of the whole text, blanks included, which know
    beginnings and endings that rare words share; 0: none. They are weighed by themselves: TF-IDF
    has length 1 for words and again for letters. For single texts only."""
    weights: Literal["binary", "counts", "tfidf"] = "tfidf"
    """What a gram of a text counts: 1, how often it is there, or TF-IDF, by which rare grams count
    more and long texts no more than short ones (of nbsvm, binary by default)."""
    judge: Literal["logistic", "svm", "nbsvm"] = "logistic"
    """logistic regression, a linear SVM, or an SVM over log-count ratios of naive Bayes (Wang &
    Manning 2012), which suits reviews."""
    strength: float | None = Field(default=None, gt=0)
    """How far the judge may go to be right about every training text: C of scikit-learn. Without
    it 30 for logistic and 1 for the others, over the mean squared length of a row."""
    min_count: int = Field(default=2, ge=1)
    """Training texts a gram must be in, be it of words or of letters."""
    size: int | None = Field(default=None, ge=1)
    """Most frequent grams that are kept, of words and as many of letters; without it, all."""
    lowercase: bool = True
    """Take capitals for small letters."""
    balanced: bool = False
    """Let a mistake weigh the more, the rarer its class is."""

    @model_validator(mode="before")
    @classmethod
    def nbsvm_is_binary(cls, values: Any) -> Any:
        """As it was published, unless other weights are asked for."""
        if isinstance(values, dict) and values.get("judge") == "nbsvm":
            return {"weights": "binary"} | values
        return values

    @model_validator(mode="after")
    def letters_fit(self) -> Self:
        if self.letters == 1:
            raise ValueError("letters = 1: their grams have 2 at least. Write 2 to 8, or 0: none.")
        return self
