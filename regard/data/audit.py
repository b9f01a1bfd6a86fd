"""Everything that can be wrong with a file of texts, found before a training stumbles over it.

The files are read as streams, the first of them three times. Memory holds hashes instead of
texts, at most 90 bytes a row while they are sorted: some hundred MB for a file of 1 GB.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from regard.data.cells import Cells
from regard.data.encoding import inspect
from regard.data.findings import LEVELS, Finding, Sightings
from regard.data.overlap import Overlap
from regard.data.pairs import PairTable, open_pairs
from regard.data.summary import file_of_each_column
from regard.data.table import Flaw, as_text, open_table
from regard.errors import DataError

T = TypeVar("T")
Paths = Sequence[Path]

FLAWS = {
    "columns": "wrong number of columns",
    "quotes": "wrong quotes",
    "json": "not JSON",
    "type": "neither text nor texts",
    "empty": "empty source or target",
}


@dataclass(frozen=True)
class Audit:
    data: str
    rows: int
    """Rows that can be used."""
    findings: tuple[Finding, ...]
    """Problems first, then notes, then what was looked for and not found."""
    notes: tuple[str, ...] = ()
    """What was guessed about the files, in sentences."""

    @property
    def passed(self) -> bool:
        return not any(finding.level == "problem" for finding in self.findings)

    def as_json(self) -> dict[str, Any]:
        facts = {"data": self.data, "rows": self.rows, "passed": self.passed}
        findings = [finding.as_json() for finding in self.findings]
        return {**facts, "findings": findings, "notes": list(self.notes)}


def audit(
    paths: Paths,
    *,
    source: str | None = None,
    target: str | None = None,
    validation: Paths = (),
    test: Paths = (),
) -> Audit:
    """Check a table, or two parallel files, and whether validation or test files share its rows.

    A file that is not there or has no columns is a DataError; whatever is wrong inside is a
    finding.
    """
    checking = _Checking(paths, validation, test)
    try:
        checking.read(source, target)
    except DataError as error:
        if str(error) not in checking.said:  # else its first lines are not text: a finding
            raise
    return checking.result()


class _Checking:
    """A check on its way: what has been found so far."""

    def __init__(self, *parts: Paths) -> None:
        self.parts = parts  # training, validation, test
        files = [inspect(path) for part in parts for path in part]
        self.said = {file.problem for file in files}
        self.findings = [finding for file in files for finding in file.findings()]
        self.notes: tuple[str, ...] = ()
        self.flaws = _Flaws()
        self.stops: dict[str, None] = {}  # a set that keeps its order
        self.rows = 0

    def read(self, source: str | None, target: str | None) -> None:
        pairs = self._open(source, target)
        table = pairs[0].table if pairs else open_table(self.parts[0])
        self.notes = pairs[0].notes if pairs else table.notes
        chosen = (pairs[0].source, pairs[0].target) if pairs else ()
        cells = Cells(table.columns, file_of_each_column(table), chosen)
        for row in self._readable(table.rows()):
            if not isinstance(row, Flaw):
                cells.add(row.line, [as_text(cell) for cell in row.cells])
                self.rows += 1
            elif not pairs:
                self.flaws.add(row, table.paths[0])
        if pairs:
            overlap = self._compare(pairs)
            self.rows = overlap.rows
            self.findings += overlap.findings(
                labels=cells.is_label(pairs[0].target), whole=not self.stops
            )
        self.findings += cells.findings()

    def _open(self, source: str | None, target: str | None) -> dict[int, PairTable]:
        """The pairs of every part that has files; none where nobody says which columns to take."""
        try:
            pairs = {0: open_pairs(self.parts[0], source, target)}
        except DataError as error:
            if source is not None or target is not None:
                raise
            open_table(self.parts[0])  # where it is no table at all, that error is the one to hear
            note = f"so sources, leaks and the sides of a split were not checked. {error}"
            self.findings.append(Finding("unknown source and target", "note", 1, (), note))
            return {}
        for place, part in enumerate(self.parts):
            if place and part:
                pairs[place] = open_pairs(part, source, target, fallback=True)
        return pairs

    def _compare(self, pairs: dict[int, PairTable]) -> Overlap:
        overlap = Overlap([part[0] if part else None for part in self.parts])
        for place, table in pairs.items():
            for row in self._readable(table.rows()):
                if isinstance(row, Flaw):
                    self.flaws.add(row, table.table.paths[0])
                else:
                    overlap.add(place, *row)
        return overlap

    def _readable(self, rows: Iterable[T]) -> Iterator[T]:
        """The rows up to where reading fails."""
        try:
            yield from rows
        except DataError as error:
            self.stops[str(error)] = None

    def result(self) -> Audit:
        stops = [stop for stop in self.stops if stop not in self.said]
        ends = [Finding("unreadable", "problem", 1, (), f"training refuses: {e}") for e in stops]
        flaws = list(self.flaws.findings())
        if self.rows and not flaws:
            flaws.append(Finding("rows that can not be used", "ok"))
        findings = _once([*ends, *flaws, *self.findings])
        findings.sort(key=lambda finding: LEVELS.index(finding.level))
        data = " ".join(str(path) for path in self.parts[0])
        return Audit(data, self.rows, tuple(findings), self.notes)


class _Flaws:
    """Rows that can not be used, by kind."""

    def __init__(self) -> None:
        self.seen = {kind: Sightings() for kind in FLAWS}
        self.first: dict[str, str] = {}

    def add(self, flaw: Flaw, path: Path) -> None:
        self.seen[flaw.kind].add(f"{path}:{flaw.line}")
        self.first.setdefault(flaw.kind, flaw.problem)

    def findings(self) -> Iterator[Finding]:
        for kind, first in self.first.items():
            seen = self.seen[kind]
            note = f"training refuses, or leaves them out with --set data.bad_rows=skip: {first}"
            yield Finding(FLAWS[kind], "problem", seen.count, tuple(seen.where), note)


def _once(findings: Sequence[Finding]) -> list[Finding]:
    """Of several files the bad news, and where there is none, the good news once."""
    bad = {finding.name for finding in findings if finding.level != "ok"}
    good = {f.name: f for f in findings if f.level == "ok" and f.name not in bad}
    return [*(finding for finding in findings if finding.level != "ok"), *good.values()]
