"""Which texts repeat each other, and whether they then have the same label."""

from collections.abc import Iterator
from typing import ClassVar

import numpy as np

from regard.data.duplicates import Hashes, both, crossing, distinct, outvoted, repeats, varied
from regard.data.findings import FEW, Finding
from regard.data.overlap import Overlap

SIDES_LACK = "labels that a side lacks"
CONTRADICTIONS = "texts with different labels"


class LabelOverlap(Overlap):
    """Takes texts and labels as pairs. Every row is scored, and has one right answer."""

    sources: ClassVar[str] = "texts"
    rows_alike: ClassVar[str] = "rows"
    and_all: ClassVar[str] = "label and all"

    def _variety(self, source: Hashes, target: Hashes) -> Iterator[Finding]:
        if distinct(target) > 1:
            yield from super()._variety(source, target)
            yield self._lacking()
        else:
            note = "in all rows: nothing to tell apart, so training refuses"
            yield Finding("one label only", "problem", 1, (), note)

    def _lacking(self) -> Finding:
        """Whether training would refuse for want of labels on a side."""
        target, train, validation = self.target.hashes(), self._side(0), self._side(1)
        if distinct(target[train]) == 1:
            note = "in all rows of the training part; all others are held out: training refuses"
        elif validation.any() and not len(crossing(target, validation, train)):
            note = "no row of the validation part has a label that is trained on: training refuses"
        else:
            return Finding(SIDES_LACK, "ok")
        return Finding(SIDES_LACK, "problem", 1, (), note)

    def _inside(self, source: Hashes, target: Hashes) -> Iterator[Finding]:
        again = repeats(both(source, target))
        note = "same text, same label: kept, and each of them counts, in training and in scoring"
        yield self._found("duplicate rows", "note", again, note)
        yield self._contradictions(source, target)
        evened = self.evened.hashes()[: len(source)]
        note = "texts that differ only in case, blanks or Unicode normalisation: kept as different"
        yield self._found("nearly equal texts", "note", varied(evened, source), note)

    def _contradictions(self, source: Hashes, target: Hashes) -> Finding:
        rows = varied(source, target)
        if not len(rows):
            return Finding(CONTRADICTIONS, "ok")
        others = [
            np.flatnonzero((source == source[row]) & (target != target[row]))[0]
            for row in rows[:FEW]
        ]
        lines = [
            f"{self.lines[row]} and {self.lines[o]}" for row, o in zip(rows, others, strict=False)
        ]
        wrong = outvoted(source, target)
        note = (
            f"as in lines {', '.join(lines)}{', ...' * (len(rows) > FEW)}: kept. They contradict "
            f"each other, so no model that judges by these texts alone is right about more than "
            f"{_at_most(wrong, len(source))} % of the rows"
        )
        return self._found(CONTRADICTIONS, "note", rows, note)


def _at_most(wrong: int, rows: int) -> str:
    """Rounded up, and never 100 where some rows are wrong.

    >>> _at_most(1, 3), _at_most(1, 100_000)
    ('66.7', '99.999')
    """
    for digits in range(1, 12):
        parts = 10**digits  # of a percent
        least = -(-100 * parts * (rows - wrong) // rows)
        if least < 100 * parts:
            break
    return f"{least / parts:.{digits}f}"
