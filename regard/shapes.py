"""The shapes of networks: every number that decides what is built. Equal settings build equal
networks."""

from typing import Literal, Self

from pydantic import Field, model_validator

from regard.config import Settings


class StackSettings(Settings):
    """A stack of Transformer layers, whatever it is part of."""

    kind: Literal["transformer"] = "transformer"
    """The family of networks."""
    width: int = Field(default=128, ge=1)
    """Numbers that stand for a token inside the network."""
    heads: int = Field(default=4, ge=1)
    """Attention heads of a layer, each with its own view."""
    kv_heads: int | None = Field(default=None, ge=1)
    """Key/value heads: as many as `heads` by default; fewer for grouped, 1 for multi-query."""
    head_width: int | None = Field(default=None, ge=1)
    """Width of one head; width / heads by default."""
    window: int | None = Field(default=None, ge=1)
    """Sliding window: a token sees those less than this far away; without it, all of them."""
    feed: int | None = Field(default=None, ge=1)
    """Width inside the feed-forward layer; 4 * width by default (8/3 * width for swiglu)."""
    activation: Literal["relu", "gelu", "gelu_tanh", "swiglu"] = "relu"
    """The bend between the two products of the feed-forward layer. gelu_tanh: GELU as GPT-2 has it,
    by a formula that comes near it."""
    norm: Literal["layer", "rms"] = "layer"
    """LayerNorm, or RMSNorm, which leaves out the mean."""
    norm_epsilon: float | None = Field(default=None, ge=1e-12, lt=1)
    """What norms add to the variance, so that nothing is divided by 0; by default 1e-5 for layer,
    and for rms the smallest step from 1 to the next number: 1.2e-7 in float32."""
    norm_place: Literal["pre", "post"] = "pre"
    """pre: x + f(norm(x)), trains without care; post: norm(x + f(x)), as in Vaswani et al. 2017."""
    positions: Literal["sinusoidal", "learned", "rotary", "both", "relative", "alibi", "none"] = (
        "sinusoidal"
    )
    """sinusoidal and learned are added to the tokens; rotary turns queries and keys; relative (T5)
    and alibi add to the scores by distance (an encoder with alibi can not tell left from right);
    both: sinusoidal and rotary, so that cross-attention, which rotary leaves alone, has some."""
    rotary_base: float = Field(default=10000.0, gt=1)
    """How slowly the slowest pair of features turns (rotary positions only)."""
    rotary_stretch: float = Field(default=1.0, ge=1)
    """Fit this many times the length that a network was trained on, by turning more slowly (rotary
    positions only)."""
    embedding_scale: bool = True
    """Whether token vectors are multiplied by sqrt(width), as in Vaswani et al. 2017."""
    embedding_norm: bool = False
    """Whether the embeddings go through a norm before the first layer, as in BERT."""
    max_length: int = Field(default=512, ge=1)
    """Longest sequence in tokens; a longer one is refused."""
    dropout: float = Field(default=0.0, ge=0, lt=1)
    """Share of each part's output, and of the embeddings, set to zero while training."""
    bias: bool = True
    """Whether products and layer norms add a bias."""

    @model_validator(mode="after")
    def heads_fit(self) -> Self:
        if self.head_width is None and self.width % self.heads:
            near = self.heads * max(1, round(self.width / self.heads))
            raise ValueError(
                f"width ({self.width}) must be a multiple of heads ({self.heads}): "
                f"try width={near}."
            )
        if self.kv_heads is not None and self.heads % self.kv_heads:
            raise ValueError(
                f"heads ({self.heads}) must be a multiple of kv_heads ({self.kv_heads})."
            )
        turned, added = self.width_of_head, self.width
        needed = {"rotary": (turned,), "sinusoidal": (added,), "both": (turned, added)}
        for width in needed.get(self.positions, ()):
            if width % 2:
                raise ValueError(f"{self.positions} positions need an even width, found {width}.")
        return self

    @property
    def width_of_head(self) -> int:
        return self.head_width or self.width // self.heads

    @property
    def key_heads(self) -> int:
        return self.kv_heads or self.heads

    @property
    def width_of_feed(self) -> int:
        if self.feed:
            return self.feed
        return round(8 * self.width / 3) if self.activation == "swiglu" else 4 * self.width


class EncoderSettings(StackSettings):
    """A stack that reads a text, every token seeing all others."""

    layers: int = Field(default=2, ge=1)
    """Layers, each with its own attention."""
    segments: int = Field(default=0, ge=0)
    """Kinds of segments that have a vector of their own, as the two sentences of BERT; 0: none."""


class DecoderSettings(StackSettings):
    """A stack that writes: a token sees those before it."""

    layers: int = Field(default=2, ge=1)
    """Layers, each with its own attention."""
    tied: bool = True
    """Score with the table that tokens are looked up in, as GPT-2 does, instead of another one, as
    Llama does (Press & Wolf 2017): fewer parameters."""


class TransformerSettings(StackSettings):
    """An encoder that reads and a decoder that writes and looks back."""

    encoder_layers: int = Field(default=2, ge=1)
    """Layers that read the source."""
    decoder_layers: int = Field(default=2, ge=1)
    """Layers that write the target."""
    copying: bool = False
    """Whether a token of the source may be copied (See et al. 2017): names need not be spelled
    then. Both sides must share their tokenizer."""


class RecurrentSettings(Settings):
    """A network that reads one token after the other and carries a state along."""

    kind: Literal["rnn"] = "rnn"
    """The family of networks."""
    cell: Literal["rnn", "gru", "lstm"] = "gru"
    """rnn: the plain one, which forgets soon; gru and lstm: with gates that keep what matters."""
    width: int = Field(default=128, ge=1)
    """Numbers in the state."""
    layers: int = Field(default=1, ge=1)
    """Cells on top of each other."""
    bidirectional: bool = False
    """Read from both ends. Only where the whole text is there already."""
    projection: int | None = Field(default=None, ge=1)
    """Width that the output of an LSTM is brought down to; the state stays as wide as it is."""
    dropout: float = Field(default=0.0, ge=0, lt=1)
    """Share of the tokens' vectors, of what goes from layer to layer and of what the last layer
    says, set to zero while training (Zaremba et al. 2014). A classifier has judge_dropout for the
    last of these."""

    @model_validator(mode="after")
    def projection_fits(self) -> Self:
        if self.projection is not None and self.cell != "lstm":
            raise ValueError(f'projection goes with cell = "lstm" only, found "{self.cell}".')
        if self.projection is not None and self.projection >= self.width:
            raise ValueError(
                f"projection ({self.projection}) must be smaller than width ({self.width})."
            )
        return self

    @property
    def width_of_output(self) -> int:
        return (2 if self.bidirectional else 1) * (self.projection or self.width)


class RecurrentWriterSettings(RecurrentSettings):
    """A network that reads a text from its beginning and writes what comes next."""

    max_length: int = Field(default=64, ge=1)
    """Tokens that a step of training goes back through; the state is carried on to the next step
    (truncated backpropagation). What is read or written may be longer."""
    tied: bool = False
    """Score with the table that tokens are looked up in, as Transformers do, instead of another one
    (Press & Wolf 2017): fewer parameters, which suits small texts of many words."""

    @model_validator(mode="after")
    def tables_fit(self) -> Self:
        if self.tied and self.projection is not None:
            raise ValueError(
                f"tied: the table has vectors of width {self.width}, the output has "
                f"{self.projection}. Leave out projection, or tied."
            )
        return self

    @model_validator(mode="after")
    def reads_forwards(self) -> Self:
        if self.bidirectional:
            raise ValueError(
                "bidirectional: a network that writes can not read from the end, which is not "
                "there yet. Leave it out."
            )
        return self


class Seq2SeqSettings(RecurrentSettings):
    """One recurrent network reads, another writes, and may look back at what was read."""

    attention: Literal["none", "additive", "dot", "scaled", "general", "concat"] = "additive"
    """How the writer looks back. none: it gets only the reader's last state (Sutskever et al.
    2014); additive: Bahdanau et al. 2015; dot, general, concat: Luong et al. 2015."""
    scope: Literal["global", "local-m", "local-p"] = "global"
    """What it sees: the whole source, or a window around its own position (m) or around one that it
    predicts (p)."""
    reach: int = Field(default=10, ge=1)
    """How many positions a local window goes to each side."""
    input_feeding: bool = True
    """Give each step what the step before decided, its look back included (Luong et al. 2015, 3.3).
    Slower: steps can not be computed side by side any more. For dot, scaled, general and concat;
    additive attention is part of each step anyway."""
    reverse_source: bool = False
    """Read the source backwards, so that its beginning is near the beginning of the target
    (Sutskever et al. 2014, 3.3)."""
    copying: bool = False
    """Whether a token of the source may be copied (See et al. 2017): names need not be spelled
    then. Both sides must share their tokenizer."""
    max_length: int = Field(default=512, ge=1)
    """Longest sequence in tokens; a longer one is refused."""

    @model_validator(mode="after")
    def attention_fits(self) -> Self:
        if self.attention == "none" and self.scope != "global":
            raise ValueError(
                f'scope = "{self.scope}" needs an attention, found attention = "none".'
            )
        if self.attention in ("dot", "scaled") and self.width_of_output != self.width_of_writer:
            raise ValueError(
                f'attention = "{self.attention}" needs a reader as wide as the writer, found '
                f"{self.width_of_output} and {self.width_of_writer}: try general or additive."
            )
        return self

    @property
    def width_of_writer(self) -> int:
        return self.projection or self.width
