"""A picture as a PNG: heat maps in a grid, a layer a line and a head a panel.

Lengths are in inches, fonts in points (72 to the inch).
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO
from itertools import accumulate, zip_longest
from math import ceil
from textwrap import wrap
from typing import TypeVar

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.cm import ScalarMappable
from matplotlib.figure import Figure

from regard.lens.picture import AttentionMap, Picture, visible

MOST_PANELS = 24  # above this, a panel for each layer: the mean of its heads
HEADS_ACROSS, MEANS_ACROSS = 8, 4
MOST_LETTERS = 16  # of a token beside an axis
LARGEST_CELL, SMALLEST_PANEL, LARGEST_FIGURE = 0.6, 2.4, 26.0
LARGEST_FONT, SMALLEST_FONT = 9.0, 5.0
TITLE, TITLE_LINE, TITLE_FONT = 0.65, 0.18, 11.0  # room above all panels, and for more lines
BAR = 0.9  # room to the right of all panels
DOTS = 150  # pixels to the inch
COLOURS = "cividis"  # even in lightness, and the same to colour-blind eyes

Grid = list[list[AttentionMap]]
Thing = TypeVar("Thing")


@dataclass(frozen=True)
class Scale:
    """What all panels of a figure share."""

    cell: float
    font: float
    step: int
    """1 where every token is named; 2, 3 ... where only every second, third would be readable."""
    beside: float
    """Room for the longest row name and the axis title beyond it."""
    below: float
    """The same for column names."""


def png(picture: Picture) -> bytes:
    """Every map of the picture, drawn. Equal pictures give equal bytes."""
    figure, file = _draw(picture), BytesIO()
    with warnings.catch_warnings():
        # Where the font lacks a script its tokens become empty boxes; the weights still read.
        warnings.filterwarnings("ignore", message=r"Glyph .* missing from font")
        figure.savefig(file, format="png", dpi=DOTS, metadata={"Software": None})
    return file.getvalue()


def _draw(picture: Picture) -> Figure:
    grid = _grid(picture)
    scale = _scale(grid)
    wide = [max(SMALLEST_PANEL, n * scale.cell) + scale.beside for n in _most_columns(grid)]
    high = [n * scale.cell + scale.below + 0.4 for n in _most_rows(grid)]
    width = sum(wide) + BAR
    title = _title(picture, grid, width)
    room = TITLE + TITLE_LINE * title.count("\n")
    height = sum(high) + room
    figure = Figure(figsize=(width, height))
    FigureCanvasAgg(figure)  # a canvas of its own: no pyplot, no global state
    for line, top in zip(grid, accumulate(high, initial=room), strict=False):
        for m, left in zip(line, accumulate(wide, initial=0.0), strict=False):
            w, h = len(m.columns) * scale.cell, len(m.rows) * scale.cell
            x, y = left + scale.beside, height - top - h
            place = (x / width, y / height, w / width, h / height)  # matplotlib counts in figures
            _panel(figure.add_axes(place), m, scale)
    _bar(figure, room, picture.maps[0])
    figure.suptitle(title, y=1 - 0.12 / height, fontsize=TITLE_FONT, parse_math=False)
    return figure


def _grid(picture: Picture) -> Grid:
    """The panels, line by line: a layer's heads side by side, or the means of one layer."""
    if _heads(picture) <= MOST_PANELS:
        return [
            [m.only_head(head) for head in heads]
            for m in picture.maps
            for heads in _cut(m.heads, HEADS_ACROSS)
        ]
    if len({m.name for m in picture.maps}) == 1:
        return _cut(picture.maps, MEANS_ACROSS)
    layers = sorted({m.layer for m in picture.maps})
    return [[m for m in picture.maps if m.layer == layer] for layer in layers]


def _cut(things: Sequence[Thing], size: int) -> list[list[Thing]]:
    return [list(things[i : i + size]) for i in range(0, len(things), size)]


def _heads(picture: Picture) -> int:
    return sum(len(m.heads) for m in picture.maps)


def _most_columns(grid: Grid) -> list[int]:
    return [max(len(m.columns) for m in place if m) for place in zip_longest(*grid)]


def _most_rows(grid: Grid) -> list[int]:
    return [max(len(m.rows) for m in line) for line in grid]


def _scale(grid: Grid) -> Scale:
    """Cells as large as the figure allows, and names as large as the cells allow."""
    wide, high = _most_columns(grid), _most_rows(grid)
    cell = max(0.26, SMALLEST_PANEL / max(wide + high))
    cell = min(cell, LARGEST_CELL, LARGEST_FIGURE / max(sum(wide), sum(high)))
    font = 0.75 * 72 * cell
    step = max(1, ceil(SMALLEST_FONT / font))
    font = min(LARGEST_FONT, font * step)
    beside = max(len(_name(t)) for line in grid for m in line for t in m.rows)
    below = max(len(_name(t)) for line in grid for m in line for t in m.columns)
    margins = (_length(letters, font) + 0.45 for letters in (beside, below))
    return Scale(cell, font, step, *margins)


def _panel(axes: Axes, m: AttentionMap, scale: Scale) -> None:
    axes.imshow(m.mean, cmap=COLOURS, vmin=0, vmax=m.peak, interpolation="nearest", aspect="auto")
    axes.set_title(" · ".join(m.labels), fontsize=9, loc="left")
    note = "" if scale.step == 1 else f" (one token in {scale.step} is named)"
    axes.set_xlabel(f"{m.words.columns}{note}", fontsize=8, color="dimgray")
    axes.set_ylabel(f"{m.words.rows}{note}", fontsize=8, color="dimgray")
    axes.tick_params(length=0, labelsize=scale.font)
    columns, rows = range(0, len(m.columns), scale.step), range(0, len(m.rows), scale.step)
    # parse_math: a token such as "$x$" is not a formula
    axes.set_xticks(columns, [_name(m.columns[i]) for i in columns], parse_math=False)
    axes.set_yticks(rows, [_name(m.rows[i]) for i in rows], parse_math=False)
    for label in axes.get_xticklabels():
        if _length(len(label.get_text()), scale.font) > scale.cell * scale.step:
            label.set_rotation(90)


def _bar(figure: Figure, top: float, m: AttentionMap) -> None:
    width, height = figure.get_size_inches()
    long = min(3.5, height - top - 0.6)
    place = (1 - 0.75 / width, 1 - (top + long) / height, 0.16 / width, long / height)
    colours = ScalarMappable(cmap=COLOURS)
    colours.set_clim(0, m.peak)
    bar = figure.colorbar(colours, cax=figure.add_axes(place))
    bar.set_label(m.words.number, fontsize=8)
    bar.ax.tick_params(labelsize=8)


def _title(picture: Picture, grid: Grid, width: float) -> str:
    """What went in and came out, in lines that fit the figure."""
    texts = [visible(text, blank=" ") for text in (picture.source, picture.output)]
    title = " → ".join(text if len(text) <= 60 else text[:59] + "…" for text in texts)
    letters = int(width / _length(1, TITLE_FONT))
    lines = wrap(title, letters)
    if sum(map(len, grid)) < _heads(picture):
        lines += wrap("Too many heads to show one by one: these are the means of layers.", letters)
    return "\n".join(lines)


def _name(token: str) -> str:
    name = visible(token)
    return name if len(name) <= MOST_LETTERS else name[: MOST_LETTERS - 1] + "…"


def _length(letters: int, font: float) -> float:
    return letters * font * 0.65 / 72  # most letters are narrower than 0.65 of their size
