"""The drawing of the Transformer: what lies on what, and how many parameters each part has."""

from collections.abc import Mapping
from typing import NamedTuple

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch, Rectangle

from regard.course.draw import label, panels

WIDE, HIGH = 3.0, 0.72
LEFT, RIGHT = 2.6, 7.6  # the middle of the encoder and of the decoder
LINE = "#4b5563"
TINTS = {"table": "#e5e7eb", "attention": "#f6d9a8", "feed": "#bcd7ee", "norm": "#ffffff"}


class Box(NamedTuple):
    x: float
    y: float
    text: str
    tint: str
    part: str = ""  # of the table of parameters


ENCODER = [
    Box(LEFT, 1.2, "token table", "table", "encoder token table"),
    Box(LEFT, 2.2, "+ positions", "table"),
    Box(LEFT, 3.8, "self-attention", "attention", "encoder layer: self-attention"),
    Box(LEFT, 4.8, "add, norm", "norm"),
    Box(LEFT, 6.0, "feed-forward", "feed", "encoder layer: feed-forward"),
    Box(LEFT, 7.0, "add, norm", "norm"),
]
DECODER = [
    Box(RIGHT, 1.2, "the same table", "table"),
    Box(RIGHT, 2.2, "+ positions", "table"),
    Box(RIGHT, 3.8, "causal self-attention", "attention", "decoder layer: self-attention"),
    Box(RIGHT, 4.8, "add, norm", "norm"),
    Box(RIGHT, 6.0, "cross-attention", "attention", "decoder layer: cross-attention"),
    Box(RIGHT, 7.0, "add, norm", "norm"),
    Box(RIGHT, 8.2, "feed-forward", "feed", "decoder layer: feed-forward"),
    Box(RIGHT, 9.2, "add, norm", "norm"),
    Box(RIGHT, 10.6, "the same table: scores", "table"),
]


def blueprint(parameters: Mapping[str, int], layers: int) -> Figure:
    """`parameters` of each part of one layer, by the names that zoo.parts gives them."""
    figure, (ax,) = panels(1, size=(7.2, 6.6))
    ax.set_xlim(0, 10.2)
    ax.set_ylim(-0.1, 11.9)
    ax.axis("off")
    label(ax, "The Transformer of 2017, base: parameters of each part")
    for column, last in ((ENCODER, 5), (DECODER, 7)):
        _frame(ax, column[2], column[last], f"{layers} layers")
        for box in column:
            _box(ax, box, parameters.get(box.part))
        for below, above in zip(column, column[1:], strict=False):
            _arrow(ax, (below.x, below.y + HIGH / 2), (above.x, above.y - HIGH / 2))
        for part in column[2 : last + 1 : 2]:
            _around(ax, part)
    _ends(ax)
    return figure


def _ends(ax: Axes) -> None:
    """What goes in and comes out, and the way from the encoder to the decoder."""
    for x, text in ((LEFT, "words of the source"), (RIGHT, "words written so far")):
        ax.text(x, 0.2, text, ha="center", va="center", fontsize=10, style="italic")
        _arrow(ax, (x, 0.4), (x, 1.2 - HIGH / 2))
    ax.text(RIGHT, 11.7, "the next word", ha="center", va="center", fontsize=10, style="italic")
    _arrow(ax, (RIGHT, 10.6 + HIGH / 2), (RIGHT, 11.5))
    top, cross = ENCODER[-1], DECODER[4]
    ax.plot(
        [LEFT, LEFT, 5.0, 5.0], [top.y + HIGH / 2, 8.2, 8.2, cross.y], color=LINE, linewidth=1.2
    )
    _arrow(ax, (5.0, cross.y), (RIGHT - WIDE / 2, cross.y))
    ax.text(3.8, 8.45, "keys and values", ha="center", fontsize=9)


def _box(ax: Axes, box: Box, parameters: int | None) -> None:
    corner = (box.x - WIDE / 2, box.y - HIGH / 2)
    style = "round,pad=0,rounding_size=0.12"
    tint = TINTS[box.tint]
    ax.add_patch(FancyBboxPatch(corner, WIDE, HIGH, boxstyle=style, facecolor=tint, edgecolor=LINE))
    text = box.text if parameters is None else f"{box.text}\n{parameters:,}"
    ax.text(box.x, box.y, text, ha="center", va="center", fontsize=9, linespacing=1.25)


def _frame(ax: Axes, first: Box, last: Box, text: str) -> None:
    low, high = first.y - 0.95, last.y + 0.55
    corner = (first.x - WIDE / 2 - 0.55, low)
    ax.add_patch(
        Rectangle(corner, WIDE + 0.8, high - low, fill=False, linestyle="--", edgecolor=LINE)
    )
    ax.text(first.x + WIDE / 2 + 0.2, low + 0.12, text, ha="right", va="bottom", fontsize=9)


def _around(ax: Axes, part: Box) -> None:
    """The residual: from below a part to the sum above it."""
    x = part.x - WIDE / 2
    points = [(part.x, part.y - 0.6), (x - 0.3, part.y - 0.6), (x - 0.3, part.y + 1.0)]
    ax.plot(*zip(*points, strict=True), color=LINE, linewidth=1.2)
    _arrow(ax, points[-1], (x, part.y + 1.0))


def _arrow(ax: Axes, start: tuple[float, float], end: tuple[float, float]) -> None:
    ax.add_patch(
        FancyArrowPatch(
            start, end, arrowstyle="-|>", mutation_scale=9, color=LINE, shrinkA=0, shrinkB=0
        )
    )
