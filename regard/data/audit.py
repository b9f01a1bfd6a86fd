"""Everything that can be wrong with a file of texts, found before a training stumbles over it.

The files are read as streams, the first of them three times, and a column that looks like labels
twice more. Memory holds hashes instead of texts, at most 90 bytes a row while they are sorted: some
hundred MB for a file of 1 GB.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from regard.data.cells import Cells
from regard.data.encoding import inspect
from regard.data.findings import LEVELS, Finding, Sightings
from regard.data.label_cells import LabelCells
from regard.data.label_overlap import LabelOverlap
from regard.data.line_ends import between_rows
from regard.data.overlap import Overlap
from regard.data.reading import LabelPairs, Texts, UnknownLabel, open_more, open_texts
from regard.data.summary import file_of_each_column
from regard.data.table import Flaw, Table, as_text, open_table
from regard.errors import DataError

T = TypeVar("T")
Paths = Sequence[Path]

FLAWS = {
    "columns": "wrong number of columns",
    "quotes": "wrong quotes",
    "json": "not JSON",
    "type": "neither text nor texts",
    "empty": "empty source or target",
    "text": "rows without a text",
    "label": "rows without a label",
}
REFUSES = "training refuses, or leaves them out with --set data.bad_rows=skip"
TEACHES = "; with --set data.unlabelled={path} as well it learns from them, too"


@dataclass(frozen=True)
class Audit:
    data: str
    rows: int
    """Rows that can be used."""
    findings: tuple[Finding, ...]
    """Problems first, then notes, then what was looked for and not found."""
    notes: tuple[str, ...] = ()
    """What was guessed about the files, in sentences."""
    read_as: str = "pairs"
    """Or labels; nothing where nobody says which columns to take."""

    @property
    def passed(self) -> bool:
        return not any(finding.level == "problem" for finding in self.findings)

    def as_json(self) -> dict[str, Any]:
        facts = {"data": self.data, "rows": self.rows, "passed": self.passed}
        findings = [finding.as_json() for finding in self.findings]
        notes = list(self.notes)
        return {**facts, "findings": findings, "notes": notes, "read_as": self.read_as}


def audit(
    paths: Paths,
    *,
    source: str | None = None,
    target: str | None = None,
    validation: Paths = (),
    test: Paths = (),
    labels: bool | None = None,
) -> Audit:
    """Check a table, or two parallel files, and whether validation or test files share its rows.

    `labels`: whether the targets are labels; None lets the table itself say it. A file that is not
    there or has no columns is a DataError; whatever is wrong inside is a finding.
    """
    checking = _Checking(paths, validation, test)
    try:
        checking.read(source, target, labels)
    except DataError as error:
        if str(error) not in checking.said:  # else its first lines are not text: a finding
            raise
    return checking.result()


class _Checking:
    """A check on its way: what has been found so far."""

    def __init__(self, *parts: Paths) -> None:
        self.parts = parts  # training, validation, test
        self.files = {path: inspect(path) for part in parts for path in part}
        self.said = {file.problem for file in self.files.values()}
        self.findings: list[Finding] = []
        self.read_as = ""
        self.notes: tuple[str, ...] = ()
        self.flaws = _Flaws()
        self.stops: dict[str, None] = {}  # a set that keeps its order
        self.rows = 0

    def read(self, source: str | None, target: str | None, labels: bool | None) -> None:
        texts = self._open(source, target, labels)
        table = texts[0].table if texts else open_table(self.parts[0])
        self.notes = texts[0].notes if texts else table.notes
        self._look_between_rows(texts, table)
        cells = _cells(table, texts)
        for row in self._readable(table.rows()):
            if not isinstance(row, Flaw):
                cells.add(row.line, [as_text(cell) for cell in row.cells])
                self.rows += 1
            elif not texts:
                self.flaws.add(row, table.paths[0])
        if texts:
            overlap = self._compare(texts)
            self.rows = overlap.rows
            self.findings += overlap.findings(
                labels=self.read_as == "labels" or cells.is_label(texts[0].target),
                whole=not self.stops,
            )
        self.findings += cells.findings()

    def _open(
        self, source: str | None, target: str | None, labels: bool | None
    ) -> dict[int, Texts]:
        """The texts of every part that has files; none where nobody says which columns to take."""
        try:
            texts = {0: open_texts(self.parts[0], source, target, labels)}
        except DataError as error:
            if source is not None or target is not None:
                raise
            open_table(self.parts[0])  # where it is no table at all, that error is the one to hear
            self.findings.append(_unknown(error))
            return {}
        self.read_as = "labels" if isinstance(texts[0], LabelPairs) else "pairs"
        for place, part in enumerate(self.parts):
            if place and part:
                texts[place] = open_more(texts[0], part, source, target)
        return texts

    def _look_between_rows(self, texts: dict[int, Texts], first: Table) -> None:
        for table in (first, *(more.table for place, more in texts.items() if place)):
            for path in table.paths:
                self.files[path] = between_rows(self.files[path], table)

    def _compare(self, texts: dict[int, Texts]) -> Overlap:
        kind = LabelOverlap if self.read_as == "labels" else Overlap
        overlap = kind([part[0] if part else None for part in self.parts])
        for place, part in texts.items():
            for row in self._readable(part.rows()):
                if isinstance(row, Flaw):
                    self.flaws.add(row, part.table.paths[0])
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
        about_files = [finding for file in self.files.values() for finding in file.findings()]
        findings = _once([*ends, *flaws, *about_files, *self.findings])
        findings.sort(key=lambda finding: LEVELS.index(finding.level))
        data = " ".join(str(path) for path in self.parts[0])
        return Audit(data, self.rows, tuple(findings), self.notes, self.read_as)


def _cells(table: Table, texts: dict[int, Texts]) -> Cells:
    paths = file_of_each_column(table)
    match texts.get(0):
        case None:
            return Cells(table.columns, paths)
        case LabelPairs() as found:
            chosen = found.source, found.target
            return LabelCells(table.columns, paths, chosen, found.guessed)
        case found:
            return Cells(table.columns, paths, (found.source, found.target))


def _unknown(error: DataError) -> Finding:
    labels = isinstance(error, UnknownLabel)
    name, what = ("text and label", "texts") if labels else ("source and target", "sources")
    note = f"so {what}, leaks and the sides of a split were not checked. {error}"
    return Finding(f"unknown {name}", "note", 1, (), note)


class _Flaws:
    """Rows that can not be used, by kind."""

    def __init__(self) -> None:
        self.seen = {kind: Sightings() for kind in FLAWS}
        self.first: dict[str, str] = {}
        self.paths: dict[str, Path] = {}

    def add(self, flaw: Flaw, path: Path) -> None:
        self.seen[flaw.kind].add(f"{path}:{flaw.line}")
        self.first.setdefault(flaw.kind, flaw.problem)
        self.paths.setdefault(flaw.kind, path)

    def findings(self) -> Iterator[Finding]:
        for kind, first in self.first.items():
            seen = self.seen[kind]
            more = TEACHES.format(path=self.paths[kind]) if kind == "label" else ""
            note = f"{REFUSES}{more}: {first}"
            yield Finding(FLAWS[kind], "problem", seen.count, tuple(seen.where), note)


def _once(findings: Sequence[Finding]) -> list[Finding]:
    """Of several files the bad news, and where there is none, the good news once."""
    bad = {finding.name for finding in findings if finding.level != "ok"}
    good = {f.name: f for f in findings if f.level == "ok" and f.name not in bad}
    return [*(finding for finding in findings if finding.level != "ok"), *good.values()]
