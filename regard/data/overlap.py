"""Which rows repeat each other, inside a file and across training, validation and test.

Memory holds 38 bytes a row: hashes of the source, of the source without what is easily changed
(two ways), and of the target; a line, a file and a side.

N rows of all files, those of the first file first
"""

from array import array
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from regard.data.duplicates import (
    Hashes,
    Mask,
    Prints,
    Rows,
    both,
    crossing,
    distinct,
    fold,
    loosen,
    repeats,
    varied,
)
from regard.data.findings import FEW, Finding, Level, found
from regard.data.pairs import Pair
from regard.data.splits import side_finder

SHARES = (90.0, 5.0, 5.0)  # what training takes unless told otherwise
SIDES = ("training", "validation", "test")
FEW_TEXTS = "too few different texts"
FEWEST = 20  # different sources: fewer can not be shared out so that 5 percent is one of them
TOLERATED = 0.02  # share of held-out rows from which on near duplicates make a score lie


class Overlap:
    """Takes the pairs of up to three files (training, validation, test), those of one after those
    of another. Without a file of its own, a side gets what training would give it of the first."""

    def __init__(self, paths: Sequence[Path | None]) -> None:
        self.paths = paths
        _, *held_out = (0.0 if path else share for path, share in zip(paths, SHARES, strict=True))
        self.shares = (100 - sum(held_out), *held_out)
        self._side_of = side_finder((self.shares[0], self.shares[1], self.shares[2]), "")
        self.files, self.sides, self.lines = bytearray(), bytearray(), array("I")
        self.source, self.target, self.folded, self.loose = (Prints() for _ in range(4))

    def add(self, file: int, line: int, pair: Pair) -> None:
        self.files.append(file)
        self.sides.append(file or self._side_of(pair.source))
        self.lines.append(line)
        folded = fold(pair.source)
        self.source.add(pair.source)
        self.folded.add(folded)
        self.loose.add(loosen(folded))
        self.target.add(pair.target)

    @property
    def rows(self) -> int:
        """Of the first file; a row with several targets is several pairs."""
        lines = np.frombuffer(self.lines, dtype=np.uint32)[: self.files.count(0)]
        return len(np.unique(lines))

    def findings(self, *, labels: bool, whole: bool = True) -> Iterator[Finding]:
        """`labels`: the targets are labels, which all sides share. `whole`: no file broke off."""
        source, target = self.source.hashes(), self.target.hashes()
        own = self.files.count(0)
        if not own:
            yield Finding(FEW_TEXTS, "problem", 0, (), "training refuses: no row can be used")
            return
        if whole:
            yield self._variety(source[:own], target[:own])
        yield from self._inside(source[:own], target[:own])
        yield from self._across(source, target)
        if not labels:
            held = self._sides > 0
            shared = crossing(target, held, ~held)
            note = f"{_percent(shared, held, 'held-out')}; kept: sources may share a target"
            yield found("held-out targets in training", "note", len(shared), (), note)

    def _inside(self, source: Hashes, target: Hashes) -> Iterator[Finding]:
        note = "kept: a row that is there twice counts twice"
        yield self._found("duplicate rows", "note", repeats(both(source, target)), note)
        note = "sources with more than one target: kept, and every target counts as right"
        yield self._found("several targets", "note", varied(source, target), note)
        folded = self.folded.hashes()[: len(source)]
        note = (
            "sources that differ only in case, blanks or Unicode normalisation: kept as different"
        )
        yield self._found("nearly equal sources", "note", varied(folded, source), note)

    def _variety(self, source: Hashes, target: Hashes) -> Finding:
        """Whether there is enough of everything to learn and to divide."""
        sources, own = distinct(source), self._sides[: len(source)]
        empty = [s for i, s in enumerate(SIDES) if self.shares[i] and not (own == i).any()]
        if distinct(both(source, target)) == 1:
            note = "all rows are equal: there is nothing to learn"
        elif empty:
            note = "different sources only (is it the right column?), and none of them is on the "
            note += f"{empty[0]} side: training refuses"
        elif sources < FEWEST and self.shares[0] < 100:
            note = "different sources only: too few to divide, so scores would say little"
        elif distinct(target) == 1:
            note = "all targets are equal: any model scores 100 %"
        else:
            return Finding(FEW_TEXTS, "ok")
        return Finding(FEW_TEXTS, "problem", sources, (), note)

    def _across(self, source: Hashes, target: Hashes) -> Iterator[Finding]:
        for side in (1, 2):
            if self.paths[side]:
                yield from self._leaks(source, target, side)
        # Without a file a hash of the source decides, so only unequal sources can be on two sides.
        divided = np.isin(self._sides, [side for side in (1, 2) if not self.paths[side]])
        if divided.any():
            near = crossing(self.loose.hashes(), divided, self._side(0))
            yield self._near("held-out", near, divided)
        if self.paths[1] and self.paths[2]:
            note = "training leaves such rows out of the validation part"
            twice = crossing(source, self._side(2), self._side(1))
            yield self._found("test sources in validation", "note", twice, note)

    def _leaks(self, source: Hashes, target: Hashes, side: int) -> Iterator[Finding]:
        """From a file of its own into the first one, all of it."""
        name, here = SIDES[side], self._side(side)
        first = np.frombuffer(self.files, dtype=np.uint8) == 0
        exact = crossing(source, here, first)
        note = f"{_percent(exact, here, name)}; training leaves them out of its own part"
        yield self._found(f"{name} sources in training", "problem", exact, note)
        same = crossing(both(source, target), here, first)
        note = f"{_percent(same, here, name)}: who only remembers gets these right"
        yield self._found(f"{name} pairs in training", "problem", same, note)
        near = np.setdiff1d(crossing(self.loose.hashes(), here, first), exact)
        yield self._near(name, near, here)

    def _near(self, name: str, rows: Rows, part: Mask) -> Finding:
        level: Level = "problem" if len(rows) >= TOLERATED * part.sum() else "note"
        note = f"{_percent(rows, part, name)} differ from one in training only in case, blanks, "
        note += "punctuation or Unicode normalisation; kept"
        return self._found(f"{name} sources nearly in training", level, rows, note)

    @property
    def _sides(self) -> NDArray[np.uint8]:
        return np.frombuffer(self.sides, dtype=np.uint8)

    def _side(self, side: int) -> Mask:
        return np.equal(self._sides, side)

    def _found(self, name: str, level: Level, rows: Rows, note: str) -> Finding:
        return found(name, level, len(rows), [self._place(row) for row in rows[:FEW]], note)

    def _place(self, row: int) -> str:
        return f"{self.paths[self.files[row]]}:{self.lines[row]}"


def _percent(part: Rows, whole: Mask, name: str) -> str:
    """'0.3 % of the test rows'; never 0 for something, never 100 for not all.

    >>> _percent(np.arange(1), np.ones(10_000, dtype=bool), "test")
    'below 0.1 % of the test rows'
    """
    percent = 100 * len(part) / max(1, whole.sum())
    shown = "below 0.1 %" if 0 < percent < 0.1 else f"{percent:.1f} %"
    return f"{'nearly all' if 99.9 < percent < 100 else shown} of the {name} rows"
