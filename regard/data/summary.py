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
from regard.data.formats import Cell
from regard.data.line_ends import between_rows
from regard.data.reading import LabelPairs, UnknownLabel, open_texts
from regard.data.table import Flaw, Table, as_text, open_table
from regard.data.values import Labels, Values
from regard.errors import DataError

RATIO = 1500  # texts for each word of a text: below it a bag of words should do best
NO_LABEL = "which column is the label, if any is, does not show: --target names it."
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

    def add(self, cell: Cell, line: int) -> None:
        text = as_text(cell)
        if len(self.examples) < SHOWN:
            self.examples.append(text if len(text) <= EXAMPLE else text[: EXAMPLE - 1] + "…")
        self.characters.add(len(text), line)
        self.words.add(len(text.split()), line)
        self.prints.add(text)
        self.letters.update(text)
        self.values.add(cell)

    @property
    def blank(self) -> int:
        """How many cells have no word."""
        return self.words.counts[0]

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

    @property
    def text(self) -> Column | None:
        """Of texts with labels."""
        return self._called("text")

    @property
    def label(self) -> Column | None:
        return self._called("label")

    def _called(self, role: str) -> Column | None:
        places = (place for place, name in self.chosen.items() if name == role)
        return next((self.columns[place] for place in places), None)

    @property
    def texts_for_a_word(self) -> float:
        """Texts that have a label, over their mean length in words: a rule of thumb, see RATIO."""
        if self.text is None or self.label is None:
            return 0.0
        return (self.rows - self.label.blank) / max(self.text.words.mean, 1e-9)

    def as_json(self) -> dict[str, Any]:
        return {
            **self._labels_as_json(),
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

    def _labels_as_json(self) -> dict[str, Any]:
        if self.text is None or self.label is None:
            return {"read_as": "pairs" if self.chosen else ""}
        return {
            "read_as": "labels",
            "labels": self.label.labels,
            "rows_without_text": self.text.blank,
            "rows_without_label": self.label.blank,
            "texts_for_a_word": round(self.texts_for_a_word, 1),
        }


def summarize(
    paths: Sequence[Path],
    source: str | None = None,
    target: str | None = None,
    labels: bool | None = None,
) -> Summary:
    """Read a table, or two parallel files, once, and count. Rows that can not be cut into cells
    are left out and counted. `labels`: whether the targets are labels; None lets the table itself
    say it."""
    table, chosen, notes = _open(paths, source, target, labels)
    columns = tuple(Column(name) for name in table.columns)
    for place, role in chosen.items():
        if role == "label":
            columns[place].values = Labels()
    rows = bad = 0
    for row in table.rows():
        if isinstance(row, Flaw):
            bad += 1
            continue
        rows += 1
        for column, cell in zip(columns, row.cells, strict=True):
            column.add(cell, row.line)
    files = tuple(between_rows(inspect(path), table) for path in paths)
    return Summary(table, files, columns, chosen, notes, rows, bad)


def _open(
    paths: Sequence[Path], source: str | None, target: str | None, labels: bool | None
) -> tuple[Table, dict[int, str], tuple[str, ...]]:
    try:
        texts = open_texts(paths, source, target, labels)
    except DataError as error:
        if source is not None or target is not None:
            raise
        table = open_table(paths)
        asked = (NO_LABEL,) if isinstance(error, UnknownLabel) else ()
        return table, {}, (*table.notes, *asked)
    roles = ("text", "label") if isinstance(texts, LabelPairs) else ("source", "target")
    return texts.table, dict(zip((texts.source, texts.target), roles, strict=True)), texts.notes
