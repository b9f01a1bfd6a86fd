"""Two pictures of a classifier: what it takes for what, and whether its probabilities hold."""

import warnings
from io import BytesIO
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from regard.config import Tree
from regard.lens.picture import visible

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DOTS = 150
WRITTEN = 12  # classes up to which the numbers stand in the cells
MOST_LETTERS = 24  # of a label beside the table
TOO_MANY = "What is taken for what is not drawn: {:,} labels are too many."


def judgements_png(details: Tree) -> bytes:
    """`details` as tasks/label_details.py makes them."""
    table = details.get("confusion")  # of too many classes None, of several labels not there
    rows = len(table or ())
    size = 5.0 + (max(4.0, 0.35 * rows + 2) if rows else 0), max(4.5, 0.3 * rows + 2)
    figure = Figure(figsize=size, layout="constrained")
    FigureCanvasAgg(figure)
    panels = figure.subplots(1, 1 if table is None else 2, squeeze=False)[0]
    if table is not None:
        _confusion(panels[0], np.array(table), details["labels"])
    _reliability(panels[-1], details["reliability"])
    if "confusion" in details and table is None:
        figure.suptitle(TOO_MANY.format(len(details["labels"])), fontsize=9, wrap=True)
    file = BytesIO()
    with warnings.catch_warnings():
        # Where the font lacks a script its labels become empty boxes; the numbers still read.
        warnings.filterwarnings("ignore", message=r"Glyph .* missing from font")
        figure.savefig(file, format="png", dpi=DOTS, metadata={"Software": None})
    return file.getvalue()


def _confusion(axes: "Axes", table: "np.ndarray[tuple[int, int], np.dtype[np.int64]]",
               labels: list[str]) -> None:  # fmt: skip
    """Each row: the texts of one class, and what they were taken for."""
    shares = table / np.maximum(1, table.sum(axis=1, keepdims=True))
    axes.imshow(shares, cmap="cividis", vmin=0, vmax=1)
    places = range(len(labels))
    names = [_name(label) for label in labels]
    # parse_math: a label such as "$x$" is not a formula
    axes.set_xticks(places, names, rotation=90, parse_math=False)
    axes.set_yticks(places, names, parse_math=False)
    axes.set_xlabel("judged as")
    axes.set_ylabel("is")
    axes.set_title("what is taken for what")
    for row in places if len(labels) <= WRITTEN else ():
        for column in places:
            dark = shares[row, column] < 0.6
            axes.text(column, row, f"{table[row, column]:,}", ha="center", va="center",
                      color="white" if dark else "black", fontsize=8)  # fmt: skip


def _name(label: str) -> str:
    name = visible(label, blank=" ")
    return name if len(name) <= MOST_LETTERS else name[: MOST_LETTERS - 1] + "…"


def _reliability(axes: "Axes", points: list[list[float]]) -> None:
    """On the diagonal, a judgement is as often right as its probability says."""
    sure, right, counts = (np.array(column) for column in zip(*points, strict=True))
    axes.plot([0, 1], [0, 1], color="grey", linewidth=1, linestyle="--")
    axes.plot(sure, right, marker="o", color="C0")
    axes.bar(sure, counts / counts.sum(), width=0.03, color="C0", alpha=0.2)
    axes.set_xlim(0, 1.02)
    axes.set_ylim(0, 1.02)
    axes.set_aspect("equal")
    axes.set_xlabel("probability of the label given")
    axes.set_ylabel("share that is right")
    axes.set_title("can probabilities be believed?")
