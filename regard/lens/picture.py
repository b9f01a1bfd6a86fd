"""Attention as plain data: which token looked at which, and how hard. Drawn by the files beside.

H heads   T query tokens (who looks)   S key tokens (what is looked at)
"""

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from regard.errors import ConfigError, ShapeError, TrainingError, did_you_mean
from regard.files import write_bytes, write_text
from regard.text import tokenizer

Weights = npt.NDArray[np.floating[Any]]

TITLES = {
    "encoder": "encoder self-attention",
    "decoder": "decoder self-attention",
    "cross": "cross-attention",
    "copy": "copying",
    "influence": "influence of the source, by gradients",
    "weights": "what each gram adds to the label",
    "tokens": "what each token adds to the label",
}


class Words(NamedTuple):
    """What the parts of a map are called, in every picture of it."""

    rows: str
    columns: str
    number: str
    """What stands in a cell."""
    link: str
    """row LINK column: number."""
    how: str


ATTENTION = Words(
    rows="looking",
    columns="looked at",
    number="attention weight",
    link="looks at",
    how="Each row is a token that looks; the stronger a cell, the more it looks at that column's "
    "token.",
)
ADDED = "Two rows: what speaks for the label, and what speaks against it. The stronger a cell, the "
OTHERS = {  # by the names of maps that are no attention
    "influence": Words(
        rows="written",
        columns="read",
        number="share of a row",
        link="depends on",
        how="Each row is a token that was written; the stronger a cell, the more it depends on "
        "that column's token.",
    ),
    "weights": Words(
        rows="the label",
        columns="grams of the text, the strongest first",
        number="share of all that is added",
        link="has",
        how=f"{ADDED}more that column's gram adds to the score, as a share of what all grams add.",
    ),
    "tokens": Words(
        rows="the label",
        columns="tokens of the text",
        number="share of all that is added",
        link="has",
        how=f"{ADDED}more that column's token adds to the score, as a share of what all tokens add "
        "to their mean.",
    ),
}


@dataclass(frozen=True, eq=False)
class AttentionMap:
    """The weights of one layer's attention over one input."""

    name: str
    """encoder or decoder (the self-attention of each), cross or copy; or one of OTHERS."""
    layer: int
    """Counted from 0 here; people are shown it from 1."""
    rows: tuple[str, ...]
    """Query tokens, T of them."""
    columns: tuple[str, ...]
    """Key tokens, S of them."""
    weights: Weights
    """(H, T, S); a row sums to 1 over what its token may see, or to 0 if that is nothing."""
    heads: tuple[int, ...]
    """Which heads of the layer these are, from 0; H of them."""

    def __post_init__(self) -> None:
        shape = (len(self.heads), len(self.rows), len(self.columns))
        if self.weights.shape != shape or 0 in shape:
            raise ShapeError(
                f"weights of shape {self.weights.shape} do not fit {shape[0]} heads, {shape[1]} "
                f"rows and {shape[2]} columns: expected {shape}, and none of them 0."
            )
        if not np.isfinite(self.weights).all():
            raise TrainingError(
                f"{', '.join(self.labels)}: a weight is not a finite number. Did training diverge?"
            )

    @property
    def whole(self) -> bool:
        """Not what one attention looked at, but what the output of the network comes from."""
        return self.name in OTHERS

    @property
    def words(self) -> Words:
        return OTHERS.get(self.name, ATTENTION)

    @property
    def peak(self) -> float:
        """Where colours end. What is no attention is spread over many tokens: its largest."""
        return float(self.mean.max()) or 1.0 if self.whole else 1.0

    @property
    def labels(self) -> tuple[str, ...]:
        """('cross-attention', 'layer 2', 'head 3'), with 'mean of 4 heads' for several."""
        if self.name == "influence":
            return TITLES[self.name], "all layers", "the whole network"
        if self.whole:
            return (TITLES[self.name],)
        one = len(self.heads) == 1
        heads = f"head {self.heads[0] + 1}" if one else f"mean of {len(self.heads)} heads"
        return TITLES.get(self.name, f"{self.name} attention"), f"layer {self.layer + 1}", heads

    @property
    def mean(self) -> Weights:
        """(T, S): what the heads look at on average."""
        return np.asarray(self.weights.mean(axis=0, dtype=np.float64))

    def only_head(self, head: int) -> "AttentionMap":
        """The same map with one of its heads, counted from 0 as in `heads`."""
        at = self.heads.index(head)
        return replace(self, heads=(head,), weights=self.weights[at : at + 1])


@dataclass(frozen=True, eq=False)
class Picture:
    """What went in, what came out, and every attention in between that was looked at."""

    source: str
    output: str
    maps: tuple[AttentionMap, ...]

    def __post_init__(self) -> None:
        if not self.maps:
            raise ConfigError("there is nothing to draw: the picture holds no attention.")

    def only(
        self, *, name: str | None = None, layer: int | None = None, head: int | None = None
    ) -> "Picture":
        """The part of the picture a person asks for, layers and heads counted from 1."""
        maps = self.maps
        if name is not None:
            # what is asked of all networks is answered by linear models in their own way
            maps = tuple(m for m in maps if m.name == name or (name == "influence" and m.whole))
            if not maps:
                known = {m.name for m in self.maps}
                raise ConfigError(f'there is no attention "{name}".{did_you_mean(name, known)}')
        if layer is not None:
            there = {m.layer + 1 for m in maps}
            maps = tuple(m for m in maps if m.layer + 1 == layer)
            _require(maps, "layer", layer, there)
        if head is not None:
            there = {h + 1 for m in maps for h in m.heads}
            maps = tuple(m.only_head(head - 1) for m in maps if head - 1 in m.heads)
            _require(maps, "head", head, there)
        return replace(self, maps=maps)

    @property
    def last(self) -> "Picture":
        """The cross-attention, of all layers; where there is none, what looked last."""
        names = [m.name for m in self.maps]
        return self.only(name="cross" if "cross" in names else names[-1])

    def as_json(self) -> dict[str, Any]:
        """The numbers themselves, for a script or for the page."""
        maps = [
            {
                "name": m.name,
                "layer": m.layer + 1,
                "rows": list(m.rows),
                "columns": list(m.columns),
                "heads": [head + 1 for head in m.heads],
                "weights": m.weights.astype(float).round(6).tolist(),
            }
            for m in self.maps
        ]
        return {"source": self.source, "output": self.output, "maps": maps}

    def save(self, path: Path | str) -> Path:
        """Write a page (.html) or an image (.png). The file appears whole or not at all."""
        path = Path(path)
        kind = path.suffix.lower()
        if kind not in (".html", ".png"):
            raise ConfigError(
                f"{path}: a picture is saved as .html or .png, found "
                f'"{path.suffix or "no suffix"}". Try {path.stem}.html.'
            )
        if not path.parent.is_dir():
            raise ConfigError(f"{path}: there is no folder {path.parent}. Make it first.")
        from regard.lens.page import render  # these two draw pictures, so they import this file
        from regard.lens.plots import png

        if kind == ".png":
            write_bytes(path, png(self))
        else:
            write_text(path, render(self))
        return path

    def _repr_html_(self) -> str:
        """The page in a frame of its own, so that its style and a notebook's do not mix."""
        from regard.lens.page import render

        page = escape(render(self))
        return (
            f'<iframe sandbox="allow-scripts" width="100%" height="900" srcdoc="{page}"></iframe>'
        )


def _require(maps: tuple[AttentionMap, ...], what: str, number: int, there: Iterable[int]) -> None:
    if not maps:
        known = ", ".join(str(n) for n in sorted(there))
        raise ConfigError(f"there is no {what} {number} in this picture. Known: {known}.")


def visible(text: str, *, blank: str = "␣") -> str:
    """`text` with a sign for whatever would not be seen; a stray accent gets a ring to stand on.

    >>> visible("a b\\n"), visible("\\x1b[31m"), visible("\\u202e")
    ('a␣b↵', '[U+001B][31m', '[U+202E]')
    """
    stray = text and unicodedata.category(text[0]) in ("Mn", "Me")  # an accent with no letter
    return ("◌" if stray else "") + tokenizer.visible(text, blank=blank, stand_in=tokenizer.symbol)
