"""What attention costs: time and memory against the length, counted and measured."""

import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
import torch
from torch.utils.flop_counter import FlopCounterMode

from regard.course.draw import COLOURS, label, lines, panels
from regard.course.lesson import Drawing, Lesson, Number, Table
from regard.course.tiny import repeatable
from regard.nn.attention import attend
from regard.nn.block import Block
from regard.nn.watch import tensors_in
from regard.shapes import StackSettings
from regard.train.memory import forget_peak, give_back_memory, held_memory, peak_memory
from regard.train.room import size_of

TITLE = "Time and memory grow with the square of the length"
IDEA = """
Every word is scored against every word. 100 words make 10,000 scores, 200 words make 40,000: twice
the length, four times the work. With T words and a width of d, the scores take T x T x d
multiplications, and mixing the values as many again.

The weights of a head are T x T numbers as well. Written down plainly they need four times the
memory for twice the length. A fused kernel (code that does several steps at once, and nothing like
kernel regression) computes the same result piece by piece and never has the whole matrix in memory;
the time stays quadratic.

The rest of a layer, its projections and its feed-forward part, looks at each word by itself and
grows only in proportion to the length. So for short texts attention is the smaller part of the
work, and for long ones nearly all of it.
"""
TRY = (
    "Measure 4,096 words: the plain form needs more than a gigabyte.",
    "At which length does attention become the larger part for a width of 128?",
    "Give the stack a window (regard.shapes.StackSettings(window=128)) and read what it hides.",
)
QUESTIONS = (
    (
        "A text becomes ten times as long. How much more do its scores cost?",
        "A hundred times as much, in multiplications and, written down plainly, in memory.",
    ),
    (
        "What does a recurrent network cost for ten times the length?",
        "Ten times as much, but one step after the other; attention does all places at once.",
    ),
    (
        "Does a fused kernel make attention linear?",
        "Only in memory. It multiplies as often, so its time still grows with the square.",
    ),
    (
        "From which length on is attention most of the work of a layer of width 512?",
        "From 3,072 words: 2 T x T x d for attention equals 12 T x d x d for the rest at T = 6 d.",
    ),
)
HEADS, HEAD_WIDTH = 8, 64
WIDTH = HEADS * HEAD_WIDTH
LENGTHS = (128, 256, 512, 1024, 2048)
REPEATS = 3


class Cost(NamedTuple):
    seconds: float  # of the quickest run
    bytes: int  # on top of what was held before


class Count(NamedTuple):
    """Multiplications of one layer of width 512."""

    attention: int  # scores and mixing
    rest: int  # projections and feed-forward


def lesson(seed: int = 0) -> Lesson:
    with repeatable(seed) as dice, torch.no_grad():
        plain, fused = compared(dice)
        gap = difference(dice)
    counts = {T: counted(T) for T in (*LENGTHS, 6 * WIDTH)}
    attention, rest = (
        counts[2048][part] / counts[1024][part] for part in range(len(Count._fields))
    )
    even = counts[6 * WIDTH]
    matrix = bytes_of_weights(2048)
    numbers = [
        Number.equal("multiplications, 1,024 words", counts[1024].attention, 2 * 1024**2 * WIDTH),
        Number.equal("twice the words: attention, times", attention, 4),
        Number.equal("twice the words: rest of the layer, times", rest, 2),
        Number.equal("3,072 words: attention against the rest", even.attention / even.rest, 1),
        Number.equal("bytes of the weights, 8 heads, 2,048 words", matrix, 4 * HEADS * 2048**2),
        Number.at_least("memory of the plain form, 2,048 words, bytes", plain[-1].bytes, matrix),
        Number.measured("memory of the fused kernel, bytes", fused[-1].bytes),
        Number.measured("seconds of the plain form, 2,048 words", plain[-1].seconds),
        Number.measured("seconds of the fused kernel", fused[-1].seconds),
        *(
            Number.measured(f"exponent of the {name}", found)
            for name, found in _slopes(plain, fused)
        ),
        Number.at_most("results of the two forms differ by", gap, 1e-4),
    ]
    drawings = [_draw_measured(plain, fused), _draw_share(counts)]
    return Lesson(numbers, drawings, _says(plain, fused), [_table(plain, fused, counts)])


def compared(dice: torch.Generator) -> tuple[list[Cost], list[Cost]]:
    """The plain form, which writes its weights down, and the fused kernel, for every length."""
    plain, fused = [], []
    for T in LENGTHS:
        q, k, v = torch.randn(3, 1, HEADS, T, HEAD_WIDTH, generator=dice)
        plain.append(measured(partial(attend, q, k, v, weights=True)))
        fused.append(measured(partial(attend, q, k, v)))
    return plain, fused


def difference(dice: torch.Generator, T: int = 512) -> float:
    q, k, v = torch.randn(3, 1, HEADS, T, HEAD_WIDTH, generator=dice)
    return float((attend(q, k, v, weights=True)[0] - attend(q, k, v)[0]).abs().max())


def bytes_of_weights(T: int) -> int:
    """Of all heads, in float32, as they come out of `attend`."""
    q = torch.empty(1, HEADS, T, HEAD_WIDTH, device="meta")
    _, weights = attend(q, q, q, weights=True)
    assert weights is not None
    return weights.nbytes


def measured(work: Callable[[], object]) -> Cost:
    """The least of several runs: what is more was something else. Where the system does not tell
    the memory, that of the result counts: it takes no less."""
    size = size_of(*tensors_in(work()))
    found = []
    for _ in range(REPEATS):
        give_back_memory()
        before, known = held_memory(), forget_peak()
        begun = time.perf_counter()
        work()
        seconds = time.perf_counter() - begun
        found.append(Cost(seconds, peak_memory() - before if known else size))
    return Cost(*map(min, zip(*found, strict=True)))


def counted(T: int) -> Count:
    """On the device "meta", which computes shapes and no numbers."""
    with torch.device("meta"):
        block = Block(StackSettings(width=WIDTH, heads=HEADS))
        x, q = torch.empty(1, T, WIDTH), torch.empty(1, HEADS, T, HEAD_WIDTH)
        with FlopCounterMode(display=False) as alone:
            attend(q, q, q, weights=True)
        with FlopCounterMode(display=False) as whole:
            block(x, None, lambda x, start: x)
    attention, layer = (found.get_total_flops() // 2 for found in (alone, whole))
    return Count(attention, layer - attention)  # the counter has additions as well: halved above


def exponent(values: Sequence[float]) -> float:
    """p, where the values grow as the length to the power of p; the shortest is left out, since
    fixed costs weigh there."""
    return float(np.polyfit(np.log(LENGTHS[1:]), np.log(values[1:]), 1)[0])


def _slopes(plain: list[Cost], fused: list[Cost]) -> Iterator[tuple[str, float]]:
    for part, unit in enumerate(("time", "memory")):
        for name, costs in (("plain form", plain), ("fused kernel", fused)):
            yield f"{unit}, {name}", exponent([cost[part] for cost in costs])


def _says(plain: list[Cost], fused: list[Cost]) -> list[str]:
    slopes = dict(_slopes(plain, fused))
    return [
        "Counted, there is no doubt: twice the words, four times the multiplications for scores "
        "and mixing, twice those for the rest of the layer. At width 512 the two are level at "
        "3,072 words.",
        f"Measured on this machine, the time of the plain form grew with the length to the power "
        f"of {slopes['time, plain form']:.1f}, its memory to the power of "
        f"{slopes['memory, plain form']:.1f}; 2 is what the counts promise. Times vary with what "
        "else the machine does, and once the matrix no longer fits into the caches the time grows "
        "faster than the work.",
        f"The fused kernel gives the same result from {fused[-1].bytes / 1e6:.0f} MB where the "
        f"plain form takes {plain[-1].bytes / 1e6:.0f} MB, of which the weights alone are 134. Its "
        f"memory grew to the power of {slopes['memory, fused kernel']:.1f}, its time to the power "
        f"of {slopes['time, fused kernel']:.1f}: the square is still there.",
    ]


def _table(plain: list[Cost], fused: list[Cost], counts: dict[int, Count]) -> Table:
    rows: list[tuple[str, ...]] = [
        (
            f"{T:,}",
            f"{counts[T].attention / 1e6:,.0f}",
            f"{counts[T].rest / 1e6:,.0f}",
            *(f"{cost.seconds * 1e3:,.1f}" for cost in (one, other)),
            *(f"{cost.bytes / 1e6:,.1f}" for cost in (one, other)),
        )
        for T, one, other in zip(LENGTHS, plain, fused, strict=True)
    ]
    head = ("words", "attention, M", "rest, M", "plain, ms", "fused, ms", "plain, MB", "fused, MB")
    return Table("Millions of multiplications in a layer; time and memory of attention", head, rows)


def _draw_measured(plain: list[Cost], fused: list[Cost]) -> Drawing:
    figure, axes = panels(2, size=(4.1, 3.4))
    units = (("Time", "milliseconds", 1e3), ("Memory", "megabytes", 1e-6))
    for part, (ax, (title, unit, factor)) in enumerate(zip(axes, units, strict=True)):
        curves = {
            name: [cost[part] * factor for cost in costs]
            for name, costs in (("weights written down", plain), ("fused kernel", fused))
        }
        lines(ax, LENGTHS, curves)
        square = [curves["weights written down"][-1] * (T / LENGTHS[-1]) ** 2 for T in LENGTHS]
        ax.plot(LENGTHS, square, ":", color=COLOURS[5], label="exactly quadratic")
        ax.set_xscale("log", base=2)
        ax.set_yscale("log")
        ax.set_xticks(LENGTHS, [f"{T:,}" for T in LENGTHS])
        ax.legend(fontsize=9, frameon=False)
        label(ax, f"{title} of one attention", "words (log scale)", f"{unit} (log scale)")
    return Drawing(
        figure,
        "Eight heads of width 64, measured. A dotted line shows what exactly quadratic growth "
        "looks like. The fused kernel's time runs beside it; its memory rises only in proportion "
        "to the length.",
    )


def _draw_share(counts: dict[int, Count]) -> Drawing:
    figure, (ax,) = panels(1, size=(7.2, 3.0))
    lengths = sorted(counts)
    places = range(len(lengths))
    attention = [counts[T].attention / 1e9 for T in lengths]
    rest = [counts[T].rest / 1e9 for T in lengths]
    ax.bar(places, rest, 0.6, color=COLOURS[0], label="projections and feed-forward")
    ax.bar(places, attention, 0.6, bottom=rest, color=COLOURS[1], hatch="//", label="attention")
    ax.set_xticks(places, [f"{T:,}" for T in lengths])
    ax.legend(fontsize=9, frameon=False)
    label(ax, "One layer of width 512", "words", "billion multiplications")
    return Drawing(
        figure,
        "Where the work of a layer is. With 128 words attention is a sliver; at 3,072 it is half, "
        "and beyond that the larger part.",
    )
