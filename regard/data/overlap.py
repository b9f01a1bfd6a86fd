"""Which rows repeat each other, inside a file and across training, validation and test.

Memory holds 46 bytes a row: hashes of the source, of the source without what is easily changed
(two ways), and of the target; a line, a file, a place between the sides and a side.

N rows of all files, those of the first file first
"""

from array import array
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from regard.data.duplicates import (
    Hashes,
    Marks,
    Prints,
    Rows,
    both,
    crossing,
    distinct,
    even_out,
    loosen,
    repeats,
    varied,
)
from regard.data.findings import FEW, Finding, Level, found
from regard.data.pairs import Pair
from regard.data.splits import Shares, default_shares, place_of, side_of

SIDES = ("training", "validation", "test")
LEFT_OUT = 3  # beside the sides: another file holds the source, so training does not take the row
FEW_TEXTS = "too few different texts"
FEWEST = 20  # different sources: of fewer, too few are held out to judge by
TOLERATED = 0.02  # share of held-out rows from which on near duplicates make a score lie


class Overlap:
    """Takes the pairs of up to three files (training, validation, test), those of one after those
    of another. Without a file of its own, a side gets what training would give it of the first."""

    sources: ClassVar[str] = "sources"
    rows_alike: ClassVar[str] = "pairs"
    and_all: ClassVar[str] = "target and all"

    def __init__(self, paths: Sequence[Path | None]) -> None:
        self.paths = paths
        self.files, self.lines = bytearray(), array("I")
        self.places = array("d")  # of the first file: how many share it decides the sides
        self.source, self.target, self.evened, self.loose = (Prints() for _ in range(4))

    def add(self, file: int, line: int, pair: Pair) -> None:
        self.files.append(file)
        self.lines.append(line)
        if not file:
            self.places.append(place_of(pair.source))
        evened = even_out(pair.source)
        self.source.add(pair.source)
        self.evened.add(evened)
        self.loose.add(loosen(evened))
        self.target.add(pair.target)

    @property
    def rows(self) -> int:
        """Of the first file; a row with several targets is several pairs."""
        lines = np.frombuffer(self.lines, dtype=np.uint32)[: len(self.places)]
        return len(np.unique(lines))

    @cached_property
    def sides(self) -> NDArray[np.uint8]:
        """(N,) on which side training puts each row. A source that several files hold stays in
        the test file, or else in the validation file. To be asked when all rows are here."""
        shares = self._shares()
        own = bytes(side_of(place, shares) for place in self.places)
        sides = np.array(self._files)
        sides[: len(own)] = np.frombuffer(own, dtype=np.uint8)
        source = self.source.hashes()
        for file in (1, 2):
            sides[crossing(source, self._files < file, self._files == file)] = LEFT_OUT
        return sides

    def _shares(self) -> Shares:
        """What training takes of the first file: a side with a file of its own takes nothing."""
        default = default_shares(len(self.places))
        validation, test = (0 if self.paths[side] else default[side] for side in (1, 2))
        return 100 - validation - test, validation, test

    def findings(self, *, labels: bool, whole: bool = True) -> Iterator[Finding]:
        """`labels`: the targets are labels, which all sides share. `whole`: no file broke off."""
        source, target = self.source.hashes(), self.target.hashes()
        own = len(self.places)
        if not own:
            yield Finding(FEW_TEXTS, "problem", 0, (), "training refuses: no row can be used")
            return
        if whole:
            yield from self._variety(source[:own], target[:own])
        yield from self._inside(source[:own], target[:own])
        yield from self._across(source, target)
        if not labels:
            held = np.isin(self.sides, (1, 2))
            shared = crossing(target, held, self._side(0))
            note = f"{_percent(shared, held, 'held-out')}; kept: sources may share a target"
            yield found("held-out targets in training", "note", len(shared), (), note)

    def _inside(self, source: Hashes, target: Hashes) -> Iterator[Finding]:
        note = "kept: in training they count twice; scoring takes every source once"
        yield self._found("duplicate rows", "note", repeats(both(source, target)), note)
        note = "sources with more than one target: kept, and every target counts as right"
        yield self._found("several targets", "note", varied(source, target), note)
        evened = self.evened.hashes()[: len(source)]
        note = (
            "sources that differ only in case, blanks or Unicode normalisation: kept as different"
        )
        yield self._found("nearly equal sources", "note", varied(evened, source), note)

    def _variety(self, source: Hashes, target: Hashes) -> Iterator[Finding]:
        """Whether there is enough of everything to learn and to divide."""
        sources = distinct(source)
        empty = [name for side, name in enumerate(SIDES) if not self._side(side).any()]
        if distinct(both(source, target)) == 1:
            note = "all rows are equal: there is nothing to learn"
        elif empty:
            few = " only (is it the right column?)" if sources < FEWEST else ""
            note = (
                f"different {self.sources}{few}, and none is left for {empty[0]}: training refuses"
            )
        elif sources < FEWEST and not all(self.paths):
            note = f"different {self.sources} only: too few to divide, so scores would say little"
        elif distinct(target) == 1:
            note = "all targets are equal: any model scores 100 %"
        else:
            yield Finding(FEW_TEXTS, "ok")
            return
        yield Finding(FEW_TEXTS, "problem", sources, (), note)

    def _across(self, source: Hashes, target: Hashes) -> Iterator[Finding]:
        for side in (1, 2):
            if self.paths[side]:
                yield from self._leaks(source, target, side)
        # Without a file a hash of the source decides, so only unequal sources can be on two sides.
        divided = np.isin(self.sides, [side for side in (1, 2) if not self.paths[side]])
        if divided.any():
            near = crossing(self.loose.hashes(), divided, self._side(0))
            yield self._near("held-out", near, divided)
        if self.paths[1] and self.paths[2]:
            note = f"training leaves such {self.sources} out of the validation part"
            twice = crossing(source, self._files == 2, self._files == 1)
            yield self._found(f"test {self.sources} in validation", "note", twice, note)

    def _leaks(self, source: Hashes, target: Hashes, side: int) -> Iterator[Finding]:
        """From a file of its own into the first one, all of it. Equal sources do no harm."""
        name, here, first = SIDES[side], self._files == side, self._files == 0
        exact, gone = crossing(source, here, first), crossing(source, first, here)
        note = f"{_percent(exact, here, name)}; given the file as data.{name}, training leaves out "
        note += f"its own {len(gone):,} with these {self.sources}, and says so"
        yield self._found(f"{name} {self.sources} in training", "note", exact, note)
        same = crossing(both(source, target), here, first)
        note = f"{_percent(same, here, name)}, {self.and_all}; left out with those {self.sources}"
        yield self._found(f"{name} {self.rows_alike} in training", "note", same, note)
        taken = self._side(side)
        near = crossing(self.loose.hashes(), taken, first & (self.sides != LEFT_OUT))
        yield self._near(name, near, taken)

    def _near(self, name: str, rows: Rows, part: Marks) -> Finding:
        level: Level = "problem" if len(rows) >= TOLERATED * part.sum() else "note"
        note = f"{_percent(rows, part, name)} differ from one in training only in case, blanks, "
        note += "punctuation or Unicode normalisation; kept"
        return self._found(f"{name} {self.sources} nearly in training", level, rows, note)

    @property
    def _files(self) -> NDArray[np.uint8]:
        return np.frombuffer(self.files, dtype=np.uint8)

    def _side(self, side: int) -> Marks:
        return np.equal(self.sides, side)

    def _found(self, name: str, level: Level, rows: Rows, note: str) -> Finding:
        return found(name, level, len(rows), [self._place(row) for row in rows[:FEW]], note)

    def _place(self, row: int) -> str:
        return f"{self.paths[self.files[row]]}:{self.lines[row]}"


def _percent(part: Rows, whole: Marks, name: str) -> str:
    """'0.3 % of the test rows'; never 0 for something, never 100 for not all.

    >>> _percent(np.arange(1), np.ones(10_000, dtype=bool), "test")
    'below 0.1 % of the test rows'
    """
    percent = 100 * len(part) / max(1, whole.sum())
    shown = "below 0.1 %" if 0 < percent < 0.1 else f"{percent:.1f} %"
    return f"{'nearly all' if 99.9 < percent < 100 else shown} of the {name} rows"
