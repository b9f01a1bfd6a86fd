"""How long the texts of a column are, as bars: in the terminal, or as a PNG."""

import warnings
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO
from itertools import chain, count, pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from regard.data.summary import Lengths
from regard.errors import ConfigError
from regard.files import write_bytes
from regard.lens.picture import visible

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BARS = 16  # at most, where they are equally wide
LONG_TAIL = 3  # the longest is this many times the 95th percentile: bins grow with the length
BLOCKS = " ▏▎▍▌▋▊▉█"  # eighths of a cell
DOTS = 150  # pixels to the inch
PANEL = (5.2, 3.4)  # inches
MOST_LETTERS = 18  # of a title


@dataclass(frozen=True, slots=True)
class Bin:
    """How many texts are from `low` to `high` long, both included."""

    low: int
    high: int
    count: int

    def __str__(self) -> str:
        return f"{self.low:,}" if self.low == self.high else f"{self.low:,} - {self.high:,}"


def bins(lengths: Lengths) -> list[Bin]:
    """Bars that together hold every text once: equally wide, or growing where the tail is long."""
    if not lengths.counts:
        return []
    shortest, longest = min(lengths.counts), max(lengths.counts)
    growing = has_long_tail(lengths)
    endless = chain((0, 1, 2, 3, 5, 7), _series(10, 15, 20, 30, 50, 70))
    edges = _edges(endless if growing else _even(shortest, longest), shortest, longest)
    sizes: Counter[int] = Counter()
    for length, number in lengths.counts.items():
        sizes[bisect_right(edges, length) - 1] += number
    return [Bin(low, end - 1, sizes[i]) for i, (low, end) in enumerate(pairwise(edges))]


def has_long_tail(lengths: Lengths) -> bool:
    return lengths.longest > max(BARS, LONG_TAIL * lengths.percentile(95))


def _edges(endless: Iterator[int], shortest: int, longest: int) -> list[int]:
    """Of rising numbers those between which all lengths lie."""
    edges: list[int] = []
    while not edges or edges[-1] <= longest:
        edges.append(next(endless))
    return edges[bisect_right(edges, shortest) - 1 :]


def _even(shortest: int, longest: int) -> Iterator[int]:
    """Multiples of a round width."""
    width = next(n for n in _series(1, 2, 5) if (longest - shortest) // n < BARS - 1)
    return count(shortest // width * width, width)


def _series(*digits: int) -> Iterator[int]:
    """1, 2, 5, 10, 20, 50, 100, ..."""
    return (digit * 10**power for power in count() for digit in digits)


def draw_histogram(lengths: Lengths, *, width: int) -> str:
    """A line for each bin, at most `width` wide: lengths, bar, count."""
    found = bins(lengths)
    if not found:
        return "(no texts)"
    names, numbers = [str(bin) for bin in found], [f"{bin.count:,}" for bin in found]
    widest = max(map(len, names))
    room = max(8, width - widest - max(map(len, numbers)) - 3)
    most = max(bin.count for bin in found)
    return "\n".join(
        f"{name:>{widest}}  {_bar(bin.count, most, room)} {number}"
        for name, bin, number in zip(names, found, numbers, strict=True)
    )


def _bar(size: int, most: int, room: int) -> str:
    """As long as `size` is of `most`, in eighths; what is not nothing is never invisible."""
    eighths = -(-8 * room * size // most)  # rounded up
    return BLOCKS[8] * (eighths // 8) + BLOCKS[eighths % 8].strip()


def save_histograms(columns: Sequence[tuple[str, Lengths]], path: Path) -> Path:
    """One panel for each (name, lengths), side by side. The file appears whole or not at all."""
    if path.suffix.lower() != ".png":
        raise ConfigError(f"{path}: histograms are saved as .png. Try {path.stem}.png.")
    if not columns:
        raise ConfigError(f"{path}: there is no column of texts to draw. Name one with --source.")
    if not path.parent.is_dir():
        raise ConfigError(f"{path}: there is no folder {path.parent}. Make it first.")
    from matplotlib.backends.backend_agg import FigureCanvasAgg  # slow, and only for pictures
    from matplotlib.figure import Figure

    figure = Figure(figsize=(PANEL[0] * len(columns), PANEL[1]), layout="constrained")
    FigureCanvasAgg(figure)  # a canvas of its own: no pyplot, no global state
    for place, (name, lengths) in enumerate(columns, start=1):
        _panel(figure.add_subplot(1, len(columns), place), name, lengths)
    picture = BytesIO()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=r"Glyph .* missing from font")
        figure.savefig(picture, format="png", dpi=DOTS, metadata={"Software": None})
    write_bytes(path, picture.getvalue())
    return path


def _panel(axes: "Axes", name: str, lengths: Lengths) -> None:
    found = bins(lengths)
    edges = [bin.low - 0.5 for bin in found]  # so that a bar of one length stands on its number
    if found:
        edges.append(found[-1].high + 0.5)
        axes.stairs([bin.count for bin in found], edges, fill=True, color="#31688e")
    if has_long_tail(lengths):
        axes.set_xscale("symlog", linthresh=10)
        axes.set_xlim(edges[0], edges[-1])
    else:
        axes.locator_params(axis="x", integer=True)
    _mark(axes, lengths)
    title = visible(name, blank=" ")
    title = title if len(title) <= MOST_LETTERS else title[: MOST_LETTERS - 1] + "…"
    axes.set_title(title, fontsize=10, loc="left", parse_math=False)
    axes.set_xlabel("characters in a text", fontsize=9)
    axes.set_ylabel("texts", fontsize=9)
    axes.tick_params(labelsize=8)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter("{x:,.0f}")
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def _mark(axes: "Axes", lengths: Lengths) -> None:
    """Lines at the median and the 95th percentile, explained beside the title."""
    for percent, style, label in ((50, "-", "median"), (95, "--", "95 %")):
        at = lengths.percentile(percent)
        axes.axvline(at, color="#d95f02", linestyle=style, label=f"{label} {at:,}")
    axes.plot([], [], " ", label=f"longest {lengths.longest:,}")
    axes.legend(
        fontsize=8,
        frameon=False,
        ncols=3,
        handlelength=1.2,
        columnspacing=0.9,
        loc="lower right",
        bbox_to_anchor=(1.02, 1),
        borderaxespad=0,
    )
