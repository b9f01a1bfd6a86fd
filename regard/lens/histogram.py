"""How long the texts of a column are, and how often each label occurs, as bars: in the terminal, or
as a PNG."""

import warnings
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from itertools import chain, count, islice, pairwise
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
MOST_LETTERS = 18  # of a title, or a label
MOST_LABELS = 15  # with a bar of their own
BLUE = "#31688e"


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


def save_histograms(
    columns: Sequence[tuple[str, Lengths]],
    path: Path,
    classes: Sequence[tuple[str, Mapping[str, int]]] = (),
) -> Path:
    """One panel for each (name, lengths), and then each (name, rows of each label, the most
    frequent first), side by side. The file appears whole or not at all."""
    if path.suffix.lower() != ".png":
        raise ConfigError(f"{path}: histograms are saved as .png. Try {path.stem}.png.")
    if not columns:
        raise ConfigError(f"{path}: there is no column of texts to draw. Name one with --source.")
    if not path.parent.is_dir():
        raise ConfigError(f"{path}: there is no folder {path.parent}. Make it first.")
    from matplotlib.backends.backend_agg import FigureCanvasAgg  # slow, and only for pictures
    from matplotlib.figure import Figure

    number = len(columns) + len(classes)
    figure = Figure(figsize=(PANEL[0] * number, PANEL[1]), layout="constrained")
    FigureCanvasAgg(figure)  # a canvas of its own: no pyplot, no global state
    for place, (name, lengths) in enumerate(columns, start=1):
        _panel(figure.add_subplot(1, number, place), name, lengths)
    for place, (name, counts) in enumerate(classes, start=len(columns) + 1):
        _labels_panel(figure.add_subplot(1, number, place), name, counts)
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
        axes.stairs([bin.count for bin in found], edges, fill=True, color=BLUE)
    if has_long_tail(lengths):
        axes.set_xscale("symlog", linthresh=10)
        axes.set_xlim(edges[0], edges[-1])
    else:
        axes.locator_params(axis="x", integer=True, min_n_ticks=1)  # 7, not 7 7 7, if all have 7
    _mark(axes, lengths)
    axes.set_xlabel("characters in a text", fontsize=9)
    axes.set_ylabel("texts", fontsize=9)
    axes.yaxis.set_major_formatter("{x:,.0f}")
    _finish(axes, name)


def _labels_panel(axes: "Axes", name: str, counts: Mapping[str, int]) -> None:
    """A bar for each label, the most frequent on top. How many have none is told below."""
    shown = [(_short(label), count) for label, count in islice(counts.items(), MOST_LABELS)]
    sizes, places = [count for _, count in shown], range(len(shown))
    axes.bar_label(axes.barh(places, sizes, color=BLUE), fmt="{:,.0f}", fontsize=8, padding=2)
    axes.set_yticks(places, [label for label, _ in shown], parse_math=False)
    axes.invert_yaxis()
    axes.margins(x=0.15)
    axes.locator_params(axis="x", integer=True, min_n_ticks=1)
    rest = [*counts.values()][MOST_LABELS:]
    more = f" (and {sum(rest):,} with {len(rest):,} other labels)" if rest else ""
    axes.set_xlabel(f"texts{more}", fontsize=9)
    _finish(axes, name)


def _finish(axes: "Axes", name: str) -> None:
    axes.set_title(_short(name), fontsize=10, loc="left", parse_math=False)
    axes.tick_params(labelsize=8)
    axes.xaxis.set_major_formatter("{x:,.0f}")
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def _short(name: str) -> str:
    seen = visible(name, blank=" ")
    return seen if len(seen) <= MOST_LETTERS else seen[: MOST_LETTERS - 1] + "…"


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
