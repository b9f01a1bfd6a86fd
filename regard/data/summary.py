"""Numbers about the columns of a table: lengths, distinct values, letters, classes.

The file is read once, as a stream. Memory holds 8 bytes for each cell (a hash, to count distinct
values), and otherwise only counts: a file of 1 GB stays within some hundred MB.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from regard.data.characters import scripts
from regard.data.duplicates import Prints, distinct
from regard.data.encoding import FileFacts, inspect
from regard.data.findings import FEW
from regard.data.pairs import open_pairs
from regard.data.table import Flaw, Table, as_text, open_table
from regard.errors import DataError

MOST_LABELS, LABEL_SHARE = 50, 0.05  # a column with so few different values holds labels
MOST_COUNTED, LONGEST_LABEL = 1000, 100
LABEL_NAMES = {"label", "labels", "class", "category", "topic", "intent", "sentiment", "tag"}
SHOWN, EXAMPLE = 2, 200  # examples of each column, and the characters of one


def file_of_each_column(table: Table) -> list[Path]:
    """Parallel files hold a column each; any other table is one file."""
    paths = list(table.paths)
    return paths if len(paths) > 1 else paths * len(table.columns)


class Lengths:
    """How long texts are: a count for every length, so any percentile is exact."""

    def __init__(self) -> None:
        self.counts: Counter[int] = Counter()
        self.top: list[tuple[int, int]] = []
        """(length, line) of the few longest, the longest first."""
        self._least = -1

    def add(self, length: int, line: int) -> None:
        self.counts[length] += 1
        if length > self._least:
            self.top = sorted([*self.top, (length, line)], key=lambda found: -found[0])[:FEW]
            self._least = self.top[-1][0] if len(self.top) == FEW else -1

    @property
    def longest(self) -> int:
        return self.top[0][0] if self.top else 0

    @property
    def mean(self) -> float:
        total = sum(length * count for length, count in self.counts.items())
        return total / max(1, self.counts.total())

    def percentile(self, percent: float) -> int:
        """The least length that `percent` of the texts do not exceed; 0 when there are none."""
        needed = self.counts.total() * percent / 100
        passed = 0
        for length in sorted(self.counts):
            passed += self.counts[length]
            if passed >= needed:
                return length
        return 0

    def above(self, limit: float) -> int:
        return sum(count for length, count in self.counts.items() if length > limit)

    def as_json(self) -> dict[str, Any]:
        return {
            "mean": round(self.mean, 2),
            "median": self.percentile(50),
            "p95": self.percentile(95),
            "longest": self.longest,
            "longest_line": self.top[0][1] if self.top else None,
        }


class Values:
    """How often each value occurs, as long as these may be labels: few, and short."""

    def __init__(self, name: str) -> None:
        self.named = name.strip().lower() in LABEL_NAMES
        self.counts: Counter[str] | None = Counter()

    def add(self, text: str) -> None:
        if self.counts is not None:
            self.counts[text] += 1
            if len(self.counts) > MOST_COUNTED or len(text) > LONGEST_LABEL:
                self.counts = None

    def labels(self) -> dict[str, int] | None:
        """Counts, the most frequent first; None for a column that does not look like labels."""
        if not self.counts:
            return None
        few = len(self.counts) <= MOST_LABELS
        few = few and len(self.counts) < LABEL_SHARE * self.counts.total()
        return dict(self.counts.most_common()) if few or self.named else None


@dataclass
class Column:
    """One column, as far as it has been read."""

    name: str
    examples: list[str] = field(default_factory=list)
    characters: Lengths = field(default_factory=Lengths)
    words: Lengths = field(default_factory=Lengths)
    prints: Prints = field(default_factory=Prints)
    letters: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.values = Values(self.name)

    def add(self, text: str, line: int) -> None:
        if len(self.examples) < SHOWN:
            self.examples.append(text if len(text) <= EXAMPLE else text[: EXAMPLE - 1] + "…")
        self.characters.add(len(text), line)
        self.words.add(len(text.split()), line)
        self.prints.add(text)
        self.letters.update(text)
        self.values.add(text)

    @cached_property
    def distinct(self) -> int:
        return distinct(self.prints.hashes())

    @cached_property
    def scripts(self) -> dict[str, int]:
        return scripts(self.letters)

    @cached_property
    def labels(self) -> dict[str, int] | None:
        return self.values.labels()

    def as_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "examples": self.examples,
            "characters": self.characters.as_json(),
            "words": self.words.as_json(),
            "distinct": self.distinct,
            "distinct_characters": len(self.letters),
            "scripts": self.scripts,
            "labels": self.labels,
        }


@dataclass(frozen=True)
class Summary:
    table: Table
    files: tuple[FileFacts, ...]
    columns: tuple[Column, ...]
    chosen: dict[int, str]
    """Which columns training would take, as in {0: "source", 1: "target"}; none if unknown."""
    notes: tuple[str, ...]
    rows: int
    bad_rows: int

    def as_json(self) -> dict[str, Any]:
        return {
            "data": self.table.name,
            "rows": self.rows,
            "bad_rows": self.bad_rows,
            "format": self.table.format,
            "header": self.table.header,
            "encoding": [str(file) for file in self.files],
            "notes": list(self.notes),
            "columns": [
                {**column.as_json(), "role": self.chosen.get(place)}
                for place, column in enumerate(self.columns)
            ],
        }


def summarize(
    paths: Sequence[Path], source: str | None = None, target: str | None = None
) -> Summary:
    """Read a table, or two parallel files, once, and count. Rows that can not be cut into cells
    are left out and counted."""
    table, chosen, notes = _open(paths, source, target)
    columns = tuple(Column(name) for name in table.columns)
    rows = bad = 0
    for row in table.rows():
        if isinstance(row, Flaw):
            bad += 1
            continue
        rows += 1
        for column, cell in zip(columns, row.cells, strict=True):
            column.add(as_text(cell), row.line)
    files = tuple(inspect(path) for path in paths)
    return Summary(table, files, columns, chosen, notes, rows, bad)


def _open(
    paths: Sequence[Path], source: str | None, target: str | None
) -> tuple[Table, dict[int, str], tuple[str, ...]]:
    try:
        pairs = open_pairs(paths, source, target)
    except DataError:
        if source is not None or target is not None:
            raise
        table = open_table(paths)
        return table, {}, table.notes
    return pairs.table, {pairs.source: "source", pairs.target: "target"}, pairs.notes
