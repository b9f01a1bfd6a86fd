"""How the pictures of the course look: one style, and the few kinds that most chapters need."""

import textwrap
from collections.abc import Mapping, Sequence
from io import BytesIO
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

COLOURS = ("#20639b", "#d1495b", "#2e933c", "#8f5db7", "#c27c0e", "#4b5563")  # told apart by all
SIGNS = "osD^vP"
HEAT, TWO_SIDED = "cividis", "RdBu_r"
DOTS = 110  # pixels to the inch
FONT = 10
TITLE_LETTERS = 10  # an inch, before a title goes on in the next line


def panels(
    columns: int = 1, rows: int = 1, *, size: tuple[float, float] = (5.0, 3.6)
) -> tuple[Figure, list[Axes]]:
    """A figure and its panels in reading order; `size` in inches is that of one panel."""
    figure = Figure(figsize=(columns * size[0], rows * size[1]), layout="constrained")
    FigureCanvasAgg(figure)  # a canvas of its own: no pyplot, no global state
    axes = figure.subplots(rows, columns, squeeze=False).ravel().tolist()
    for ax in axes:
        ax.tick_params(labelsize=FONT - 1)
        ax.spines[["top", "right"]].set_visible(False)
    return figure, axes


def label(ax: Axes, title: str, x: str = "", y: str = "") -> None:
    inches = ax.get_position().width * ax.get_figure().get_size_inches()[0]  # type: ignore[union-attr]
    wrapped = textwrap.fill(title, max(24, int(inches * TITLE_LETTERS * 1.3)))
    ax.set_title(wrapped, fontsize=FONT + 1, loc="left")
    ax.set_xlabel(x, fontsize=FONT)
    ax.set_ylabel(y, fontsize=FONT)


def lines(ax: Axes, x: Sequence[float], curves: Mapping[str, Sequence[float]]) -> None:
    """A curve for each name, told apart by colour and by sign."""
    for number, (name, y) in enumerate(curves.items()):
        sign = SIGNS[number % len(SIGNS)] if len(x) <= 30 else None
        colour = COLOURS[number % len(COLOURS)]
        ax.plot(x, y, label=name, color=colour, marker=sign, markersize=5, linewidth=1.8)
    if len(curves) > 1:
        ax.legend(fontsize=FONT - 1, frameon=False)


def bars(ax: Axes, names: Sequence[str], groups: Mapping[str, Sequence[float]]) -> None:
    """For each name a bar of every group, side by side, with its value on top."""
    wide = 0.8 / len(groups)
    for number, (group, heights) in enumerate(groups.items()):
        places = np.arange(len(names)) + (number - (len(groups) - 1) / 2) * wide
        drawn = ax.bar(places, heights, wide * 0.95, label=group, color=COLOURS[number])
        ax.bar_label(drawn, fmt="%.3g", fontsize=FONT - 2, padding=2)
    ax.set_xticks(np.arange(len(names)), names, fontsize=FONT - 1)
    if len(groups) > 1:
        ax.legend(fontsize=FONT - 1, frameon=False)


def heat(
    ax: Axes,
    weights: Any,
    rows: Sequence[str] = (),
    columns: Sequence[str] = (),
    *,
    two_sided: bool = False,
    numbers: bool = False,
    bar: bool = True,
) -> None:
    """A matrix as colours; `two_sided` where 0 is the middle, `numbers` where they fit in."""
    values = np.asarray(weights, float)
    most = float(np.abs(values[np.isfinite(values)]).max(initial=0.0)) or 1.0
    low, high = (-most, most) if two_sided else (min(0.0, float(values.min(initial=0.0))), most)
    colours = TWO_SIDED if two_sided else HEAT
    image = ax.imshow(values, cmap=colours, vmin=low, vmax=high, aspect="auto")
    if rows:
        ax.set_yticks(range(len(rows)), rows, fontsize=FONT - 1)
    if columns:
        steep = 45 if max(map(len, columns)) > 3 else 0
        ax.set_xticks(range(len(columns)), columns, fontsize=FONT - 1, rotation=steep)
    ax.spines[:].set_visible(False)
    if numbers:
        _write_in(ax, values, low, high, two_sided)
    if bar and ax.figure is not None:
        ax.figure.colorbar(image, ax=ax, shrink=0.85).ax.tick_params(labelsize=FONT - 2)


def _write_in(ax: Axes, values: Any, low: float, high: float, two_sided: bool) -> None:
    for (row, column), value in np.ndenumerate(values):
        place = (value - low) / (high - low) if np.isfinite(value) else 0.0
        dark = abs(place - 0.5) > 0.35 if two_sided else place < 0.55
        text = f"{value:.2f}" if np.isfinite(value) else "-∞"
        colour = "white" if dark else "black"
        ax.text(column, row, text, ha="center", va="center", fontsize=FONT - 2, color=colour)


def png(figure: Figure) -> bytes:
    """Equal figures give equal bytes."""
    file = BytesIO()
    figure.savefig(file, format="png", dpi=DOTS, metadata={"Software": None})
    return file.getvalue()
