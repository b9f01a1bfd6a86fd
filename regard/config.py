"""Settings: TOML or a dict in, a frozen and checked value out. There is no other configuration.

Every setting is documented by the string under it. Unknown keys are refused with the likely
spelling, all mistakes are reported at once, and those in a file carry its line.
"""

import re
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, Self, TypeVar, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from regard.errors import ConfigError, did_you_mean

S = TypeVar("S", bound="Settings")
Tree = dict[str, Any]


class Settings(BaseModel):
    """Base of every settings class: frozen, and no unknown keys."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", use_attribute_docstrings=True, allow_inf_nan=False
    )


class TokenizerSettings(Settings):
    kind: Literal["character", "word", "bytes"]
    """character: one piece a character; word: split at blanks; bytes: byte-level BPE."""
    size: int = Field(default=8000, ge=300)
    """Ids at most, specials included (bytes only; the others keep every piece they meet)."""
    lowercase: bool = False
    """Fold capitals before splitting; offsets still point into the text as typed."""


class TransformerSettings(Settings):
    """Everything that decides a Transformer's shape. Equal settings build the same network."""

    kind: Literal["transformer"] = "transformer"
    width: int = Field(default=128, ge=1)
    encoder_layers: int = Field(default=2, ge=1)
    decoder_layers: int = Field(default=2, ge=1)
    heads: int = Field(default=4, ge=1)
    kv_heads: int | None = Field(default=None, ge=1)
    """Key/value heads: as many as `heads` by default; fewer for grouped, 1 for multi-query."""
    head_width: int | None = Field(default=None, ge=1)
    """Width of one head; width / heads by default."""
    feed: int | None = Field(default=None, ge=1)
    """Width inside the feed-forward layer; 4 * width by default (8/3 * width for swiglu)."""
    activation: Literal["relu", "gelu", "swiglu"] = "relu"
    norm: Literal["layer", "rms"] = "layer"
    norm_place: Literal["pre", "post"] = "pre"
    """pre: x + f(norm(x)), trains without care; post: norm(x + f(x)), as in Vaswani et al. 2017."""
    positions: Literal["sinusoidal", "learned", "rotary", "both", "none"] = "sinusoidal"
    """both: sinusoidal and rotary, so that cross-attention, which rotary leaves alone, has some."""
    max_length: int = Field(default=512, ge=1)
    """Longest sequence in tokens; a longer one is refused."""
    dropout: float = Field(default=0.0, ge=0, lt=1)
    """Share of each part's output, and of the embeddings, set to zero while training."""
    bias: bool = True
    """Whether the products add a bias."""

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


class TrainSettings(Settings):
    steps: int | None = Field(default=None, ge=1)
    """Optimizer steps. Give this or `budget`."""
    budget: str | None = None
    """Training time, as in "90s", "5m" or "1h30m"; timed once and turned into `steps`."""
    batch_tokens: int = Field(default=2000, ge=1)
    """Source and target tokens in one step, padding included."""
    accumulate: int = Field(default=1, ge=1)
    """Pieces a step is split into to save memory; the result equals the whole step."""
    optimizer: Literal["adamw", "muon"] = "adamw"
    """muon: fewer, dearer steps; pays with large batches (Jordan et al. 2024)."""
    rate: float = Field(default=2e-3, gt=0)
    """Peak learning rate."""
    schedule: Literal["cosine", "inverse_sqrt"] = "cosine"
    warmup: float = Field(default=0.03, ge=0, lt=1)
    """Share of the steps during which the rate rises from zero."""
    weight_decay: float = Field(default=0.01, ge=0)
    beta2: float = Field(default=0.98, gt=0, lt=1)
    clip: float = Field(default=1.0, gt=0)
    """Longest gradient; longer ones are shortened to this."""
    label_smoothing: float = Field(default=0.1, ge=0, lt=1)
    validate_every: int | None = Field(default=None, ge=1)
    """Steps between validations (each also saves); a tenth of the steps by default."""
    patience: int | None = Field(default=None, ge=1)
    """Stop after this many validations without a better one; never by default."""
    keep: Literal["best", "last", "averaged"] = "best"
    """Which weights the finished run holds."""
    average: int = Field(default=5, ge=2)
    """How many of the last checkpoints `keep = "averaged"` averages."""

    @model_validator(mode="after")
    def steps_or_budget(self) -> Self:
        if (self.steps is None) == (self.budget is None):
            raise ValueError('give either steps or budget, as in steps = 5000 or budget = "5m".')
        if self.budget is not None:
            seconds(self.budget)
        return self


class DecodeSettings(Settings):
    beam: int = Field(default=1, ge=1)
    """Sequences kept at each step; 1 is greedy."""
    length_penalty: float = Field(default=0.6, ge=0)
    """Wu et al. 2016, eq. 14: 0 prefers short outputs, 1 judges by the mean log-probability."""
    temperature: float = Field(default=0.0, ge=0)
    """0 takes the likeliest token; above 0 samples."""
    top_k: int | None = Field(default=None, ge=1)
    top_p: float | None = Field(default=None, gt=0, le=1)
    min_p: float | None = Field(default=None, ge=0, le=1)
    seed: int = 0
    max_length: int = Field(default=256, ge=1)
    """Longest output in tokens."""

    @model_validator(mode="after")
    def one_way_to_search(self) -> Self:
        if self.beam > 1 and self.temperature > 0:
            raise ValueError("beam search does not sample: use beam = 1 or temperature = 0.")
        if self.temperature == 0 and (self.top_k or self.top_p or self.min_p):
            raise ValueError("top_k, top_p and min_p are for sampling: set a temperature too.")
        return self


class Recipe(Settings):
    """What every task's recipe has. A task adds its own sections (see tasks/)."""

    task: str
    seed: int = Field(default=0, ge=0)
    device: str = "auto"
    """auto (a GPU when there is one), cpu, or a torch device such as cuda:0."""
    train: TrainSettings


def seconds(budget: str) -> float:
    """'1h30m' -> 5400.0

    >>> seconds("90s"), seconds("1h30m")
    (90.0, 5400.0)
    """
    found = re.fullmatch(r"(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?", budget.strip())
    total = (
        sum(int(n or 0) * unit for n, unit in zip(found.groups(), (3600, 60, 1), strict=True))
        if found
        else 0
    )
    if not total:
        raise ValueError(f'budget "{budget}" is not a time: write it as 90s, 5m or 1h30m.')
    return float(total)


def read_toml(path: Path) -> Tree:
    """The tables of a TOML file, or a ConfigError that names the line."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise ConfigError(f"{path}: no such recipe. Is the path right?") from error
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: can not be read as a recipe: {error}.") from error
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path}: not valid TOML: {error}.") from error


def override(tree: Tree, sets: Sequence[str]) -> Tree:
    """A copy of `tree` with each 'a.b=value' put in. Values are read as TOML, else as text.

    >>> override({"train": {"rate": 1.0}}, ["train.rate=0.5", "model.norm=rms"])
    {'train': {'rate': 0.5}, 'model': {'norm': 'rms'}}
    """
    tree = {k: override(v, ()) if isinstance(v, dict) else v for k, v in tree.items()}
    for text in sets:
        dotted, equals, value = text.partition("=")
        *parents, last = dotted.strip().split(".")
        if not equals or not last:
            raise ConfigError(f"--set {text}: expected KEY=VALUE, as in --set train.rate=0.001.")
        table = tree
        for name in parents:
            table = table.setdefault(name, {})
            if not isinstance(table, dict):
                raise ConfigError(f'--set {text}: "{name}" is a value, not a section.')
        table[last] = _value(value.strip())
    return tree


def _value(text: str) -> Any:
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except (tomllib.TOMLDecodeError, KeyError):
        return text


def check(cls: type[S], tree: Tree, where: Path | str = "settings") -> S:
    """Turn a tree into settings, or raise one ConfigError that lists every mistake."""
    try:
        return cls.model_validate(tree)
    except ValidationError as error:
        lines = [_explain(cls, e, where) for e in error.errors(include_url=False)]
        raise ConfigError("\n".join(lines)) from error


def _explain(cls: type[Settings], error: Any, where: Path | str) -> str:
    keys = [str(k) for k in error["loc"] if not str(k).startswith("function-")]
    place = f"{where}{_line(where, keys)}: "
    name, parent = ".".join(keys), _class_at(cls, keys[:-1])
    if error["type"] == "extra_forbidden":
        known = parent.model_fields if parent else {}
        return f'{place}there is no setting "{name}".{did_you_mean(keys[-1], known)}'
    if error["type"] == "missing":
        return f'{place}the setting "{name}" is missing.'
    if error["type"] == "value_error":  # our own sentences, from the validators above
        return f"{place}{name + ': ' if name else ''}{error['ctx']['error']}"
    return f"{place}{name}: {error['msg'][0].lower()}{error['msg'][1:]}, found {error['input']!r}."


def _class_at(cls: type[Settings] | None, keys: list[str]) -> type[Settings] | None:
    for key in keys:
        field = cls.model_fields.get(key) if cls else None
        kinds = [field.annotation, *get_args(field.annotation)] if field else []  # X, or X | None
        cls = next((k for k in kinds if isinstance(k, type) and issubclass(k, Settings)), None)
    return cls


def _line(where: Path | str, keys: list[str]) -> str:
    """':12' when `where` is a file in which the setting stands on line 12, else ''."""
    if not isinstance(where, Path) or not where.is_file() or not keys:
        return ""
    section = ""
    for number, line in enumerate(where.read_text(encoding="utf-8").splitlines(), start=1):
        if header := re.match(r"\s*\[([^\]]+)\]", line):
            section = header[1].strip()
            if section == ".".join(keys):
                return f":{number}"
        elif section == ".".join(keys[:-1]) and re.match(rf"\s*{re.escape(keys[-1])}\s*=", line):
            return f":{number}"
    return ""
