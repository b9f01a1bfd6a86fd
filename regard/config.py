"""Settings: frozen, checked values. There is no other configuration than a recipe of these.

Every setting is documented by the string under it; `regard init` writes the same words into a
recipe. `toml.py` reads and writes them.
"""

import re
from typing import Annotated, Any, Literal, Self, get_args, get_origin

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationInfo,
    field_validator,
    model_validator,
)

Tree = dict[str, Any]
# A single text will do for a list of one.
Texts = Annotated[tuple[str, ...], BeforeValidator(lambda v: [v] if isinstance(v, str) else v)]

DEFAULT_BUDGET = "5m"  # of training, where nobody said how long


class Settings(BaseModel):
    """Base of every settings class: frozen, no unknown keys, and no text where a number goes."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", use_attribute_docstrings=True, allow_inf_nan=False
    )

    @field_validator("*", mode="before")
    @classmethod
    def numbers_are_numbers(cls, value: Any, info: ValidationInfo) -> Any:
        kind = cls.model_fields[info.field_name or ""].annotation
        kinds = () if get_origin(kind) is tuple else get_args(kind)  # of shares there are three
        if not {int, float}.isdisjoint({kind, *kinds}) and isinstance(value, str | bool):
            raise ValueError(f"expected a number, found {value!r}.")
        return value


class TokenizerSettings(Settings):
    kind: Literal["character", "word", "wordpunct", "bpe", "bytes", "wordpiece"]
    """character: one piece a character; word: split at blanks; wordpunct: words and punctuation
    marks, so that "great." holds the word great; bpe: frequent strings within words become pieces;
    bytes: the same over bytes, so nothing is unknown; wordpiece: as in BERT."""
    size: int = Field(default=8000, ge=260)
    """Ids at most, specials included; the rarest pieces are left out (character keeps all). 260 of
    kind bytes are the bytes alone."""
    min_count: int = Field(default=1, ge=1)
    """Characters or words met fewer times than this are unknown (character, word and wordpunct
    only)."""
    lowercase: bool = False
    """Fold capitals before splitting; offsets still point into the text as typed."""


class TrainSettings(Settings):
    steps: int | None = Field(default=None, ge=1)
    """Optimizer steps. Give this or `budget`."""
    budget: str | None = None
    """Training time, as in "90s", "5m" or "1h30m"; timed once and turned into `steps`."""
    passes: int | None = Field(default=None, ge=1)
    """With a budget: at most so many passes over the training data, even if time is left."""
    batch_tokens: int = Field(default=2000, ge=1)
    """Source and target tokens in one step, padding included."""
    accumulate: int = Field(default=1, ge=1)
    """Pieces a step is split into to save memory; the result equals the whole step."""
    optimizer: Literal["adamw", "muon"] = "adamw"
    """muon: fewer, dearer steps; pays with large batches (Jordan et al. 2024)."""
    rate: float = Field(default=2e-3, gt=0, le=1000)
    """Peak learning rate."""
    schedule: Literal["cosine", "inverse_sqrt"] = "cosine"
    """How the rate falls after warming up."""
    warmup: float = Field(default=0.03, ge=0, lt=1)
    """Share of the steps during which the rate rises from zero."""
    weight_decay: float = Field(default=0.01, ge=0)
    """Pull of the weights towards zero."""
    beta2: float = Field(default=0.98, gt=0, lt=1)
    """How long the optimizer remembers squared gradients."""
    clip: float = Field(default=1.0, gt=0)
    """Longest gradient; longer ones are shortened to this."""
    label_smoothing: float = Field(default=0.1, ge=0, lt=1)
    """Share of the target's probability spread over all tokens."""
    validate_every: int | None = Field(default=None, ge=1)
    """Steps between validations (each also saves); without it, a tenth of the steps."""
    patience: int | None = Field(default=None, ge=1)
    """Stop after this many validations without a lower loss; without it, go on to the end."""
    keep: Literal["best", "last", "averaged"] = "best"
    """Which weights the finished run holds: those of the lowest validation loss, the last ones, or
    a mean of the last few validations'."""
    average: int = Field(default=5, ge=2)
    """How many of the last checkpoints `keep = "averaged"` averages."""

    @model_validator(mode="after")
    def steps_or_budget(self) -> Self:
        if (self.steps is None) == (self.budget is None):
            raise ValueError('give either steps or budget, as in steps = 5000 or budget = "5m".')
        if self.passes is not None and self.budget is None:
            raise ValueError("passes: goes with a budget; steps say already when to stop.")
        return self

    @field_validator("budget")
    @classmethod
    def budget_is_a_time(cls, budget: str | None) -> str | None:
        if budget is not None:
            seconds(budget)
        return budget


class DecodeSettings(Settings):
    beam: int = Field(default=1, ge=1, le=10**6)
    """Sequences kept at each step; 1 is greedy."""
    length_penalty: float = Field(default=0.6, ge=0)
    """Wu et al. 2016, eq. 14: 0 prefers short outputs, 1 judges nearly by the mean
    log-probability of a token."""
    temperature: float = Field(default=0.0, ge=0)
    """0 takes the likeliest token; above 0 samples."""
    top_k: int | None = Field(default=None, ge=1)
    """Sample among this many likeliest tokens."""
    top_p: float | None = Field(default=None, gt=0, le=1)
    """Sample among the likeliest tokens that make up this probability."""
    min_p: float | None = Field(default=None, ge=0, le=1)
    """Sample among tokens at least this share as likely as the best."""
    typical_p: float | None = Field(default=None, gt=0, le=1)
    """Sample among the tokens that are about as surprising as one can expect here, so many that
    they make up this probability (Meister et al. 2023)."""
    repetition_penalty: float = Field(default=1.0, gt=0, le=1000)
    """Above 1, tokens of the prompt and of the output so far become less likely (Keskar et al.
    2019); 1 changes nothing."""
    frequency_penalty: float = Field(default=0.0, ge=-2, le=2)
    """Taken off a token's log-probability for each time that it is in the output so far; 0 changes
    nothing, below 0 repeats more."""
    seed: int = 0
    """Of sampling: equal seeds give equal outputs."""
    max_length: int = Field(default=256, ge=1)
    """Longest output in tokens."""
    n: int = Field(default=1, ge=1, le=1000)
    """Outputs for each input: the best ones of a beam, or so many samples."""
    stop: Texts = ()
    """Texts that end an output, as in ["\\n", "Q:"]; they are left out of it."""

    @property
    def penalized(self) -> bool:
        """Does it matter which tokens are there already?"""
        return self.repetition_penalty != 1 or self.frequency_penalty != 0

    @field_validator("stop")
    @classmethod
    def no_stop_is_empty(cls, stop: tuple[str, ...]) -> tuple[str, ...]:
        if "" in stop:
            raise ValueError("an empty text would end every output before it begins: leave it out.")
        return stop

    @model_validator(mode="after")
    def one_way_to_search(self) -> Self:
        if self.beam > 1 and self.temperature > 0:
            raise ValueError("beam search does not sample: use beam = 1 or temperature = 0.")
        if self.temperature == 0 and (self.top_k or self.top_p or self.min_p or self.typical_p):
            raise ValueError(
                "top_k, top_p, min_p and typical_p are for sampling: set a temperature too."
            )
        if self.beam > 1 and self.penalized:  # it would change the very scores that a beam ranks by
            raise ValueError(
                "repetition_penalty and frequency_penalty do not go with a beam: use beam = 1, and "
                "a temperature where n is above 1."
            )
        if self.n > self.beam and self.temperature == 0:
            raise ValueError(
                f"n = {self.n} outputs need a beam of at least {self.n}, or a temperature."
            )
        return self


class Recipe(Settings):
    """What every task's recipe has. A task adds its own sections (see tasks/)."""

    task: str
    """What the work is."""
    seed: int = Field(default=0, ge=0, lt=2**32)
    """Of everything random: equal seeds give equal runs."""
    device: str = "auto"
    """auto (a GPU when there is one), cpu, or a torch device such as cuda:0."""
    train: TrainSettings
    """How the network learns, and how long."""


def seconds(budget: str) -> float:
    """'1h30m' -> 5400.0

    >>> seconds("90s"), seconds("1h30m")
    (90.0, 5400.0)
    """
    found = re.fullmatch(r"(?:(\d{1,6})h)?(?:(\d{1,6})m)?(?:(\d{1,8})s)?", budget.strip())
    total = (
        sum(int(n or 0) * unit for n, unit in zip(found.groups(), (3600, 60, 1), strict=True))
        if found
        else 0
    )
    if not total:
        raise ValueError(f'budget "{budget}" is not a time: write it as 90s, 5m or 1h30m.')
    return float(total)
