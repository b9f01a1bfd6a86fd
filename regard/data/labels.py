"""Read texts and their labels from a table."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path
from typing import Literal, NamedTuple

from regard.data.formats import short
from regard.data.label_columns import choose_label_columns
from regard.data.label_table import in_our_words, open_label_table
from regard.data.lines import count_lines
from regard.data.table import Flaw, Table, as_text
from regard.errors import DataError
from regard.progress import heard, tell

TOLD = 1000  # rows after which it is told how far it is
WITHOUT_LABEL = "no label"


@dataclass(frozen=True, slots=True)
class Labelled:
    text: str
    label: str
    """The cell as it stands, without blanks around it: see `labels_of`."""
    other: str = ""
    """The second text, where two are judged together."""


class LabelledPart(NamedTuple):
    """The examples of one file, what was guessed about it, and how many rows were left out."""

    examples: list[Labelled]
    notes: tuple[str, ...]
    skipped: int


@dataclass(frozen=True)
class LabelTable:
    """Columns of a table: texts, their labels, and perhaps a second text."""

    table: Table
    text: int
    label: int
    other: int | None
    notes: tuple[str, ...]
    """What was guessed about the file and its columns, to be said aloud."""

    def rows(self, separator: str | None = None) -> Iterator[tuple[int, Labelled] | Flaw]:
        """Every example in order, its texts as typed, after the line where its row begins. The
        parts of a list are joined, those of a text by blanks, labels by the separator."""
        second = () if self.other is None else (self.other,)
        for found in self.table.picked(itemgetter(self.text, self.label, *second)):
            if isinstance(found, Flaw):
                yield found
                continue
            line, (text, cell, *others) = found
            label = cell.strip() if isinstance(cell, str) else self._joined(line, cell, separator)
            example = Labelled(as_text(text), label, *map(as_text, others))
            flaw = _missing(line, example, separator, bool(others))
            yield flaw or (line, example)

    def _joined(self, line: int, labels: list[str], separator: str | None) -> str:
        """A list without a separator is no bad row: somebody must say what is meant."""
        labels = [label.strip() for label in labels if label.strip()]
        if not labels:
            return ""
        place = f"{self.table.name}:{line}: the label is the list {short(str(labels))}"
        if not separator:
            raise DataError(
                f"{place}, and one label is expected. If a text may have several, name a mark that "
                "is in none of them, as in --set data.separator='|'."
            )
        if inside := [label for label in labels if separator in label]:
            raise DataError(
                f"{place}, and {short(inside[0])} holds {separator!r}, which stands between "
                "labels. Choose another mark for data.separator."
            )
        return separator.join(labels)

    def refusal(self, flaw: Flaw) -> DataError:
        problem = in_our_words(flaw.problem) if flaw.kind == "json" else flaw.problem
        return DataError(
            f"{self.table.name}:{flaw.line}: {problem} Mend it, or leave such rows out by training "
            f"with --set data.bad_rows=skip{self._learned_from(flaw)}."
        )

    def _learned_from(self, flaw: Flaw) -> str:
        if not flaw.problem.startswith(WITHOUT_LABEL):
            return ""
        return (
            f"; with --set data.unlabelled={self.table.name} too, texts without a label are "
            "learned from, with labels that bags of words give them"
        )


def _missing(line: int, example: Labelled, separator: str | None, two: bool) -> Flaw | None:
    if not example.text.strip():
        what = f"the text is empty; the label is {short(example.label)}."
    elif not labels_of(example.label, separator):
        what = f"{WITHOUT_LABEL}; the text is {short(example.text)}."
    elif two and not example.other.strip():
        what = f"the second text is empty; the first is {short(example.text)}."
    else:
        return None
    return Flaw(line, "empty", what)


def labels_of(cell: str, separator: str | None) -> tuple[str, ...]:
    """The labels in a cell, each once: without a separator it holds one.

    >>> labels_of(" red; blue ;; red", ";"), labels_of("red; blue", None), labels_of(" ", None)
    (('red', 'blue'), ('red; blue',), ())
    """
    labels = cell.split(separator) if separator else [cell]
    return tuple(dict.fromkeys(label for label in map(str.strip, labels) if label))


# Files


def open_labels(
    path: Path, text: str | None = None, label: str | None = None, other: str | None = None
) -> LabelTable:
    """Find the columns of a table that hold the texts and their labels."""
    table = open_label_table(path, [name for name in (text, label, other) if name is not None])
    chosen = choose_label_columns(table, text, label, other)
    notes = (*table.notes, *chosen.notes)
    return LabelTable(table, chosen.text, chosen.label, chosen.other, notes)


def read_labels(
    path: Path,
    text: str | None = None,
    label: str | None = None,
    other: str | None = None,
    *,
    bad_rows: Literal["refuse", "skip"] = "refuse",
    separator: str | None = None,
) -> LabelledPart:
    """All examples of a file. A row without a text or without a label is a bad row."""
    table = open_labels(path, text, label, other)
    examples: list[Labelled] = []
    flaws: list[Flaw] = []
    for found in followed(table.rows(separator), path):
        if not isinstance(found, Flaw):
            examples.append(found[1])
        elif bad_rows == "refuse":
            raise table.refusal(found)
        else:
            flaws.append(found)
    if not examples:
        why = f" Line {flaws[0].line}: {flaws[0].problem}" if flaws else ""
        raise DataError(f"{path}: none of its {len(flaws):,} rows can be used.{why}")
    return LabelledPart(examples, table.notes, len(flaws))


def followed(
    rows: Iterable[tuple[int, Labelled] | Flaw], path: Path
) -> Iterator[tuple[int, Labelled] | Flaw]:
    """The rows, while it is told how many lines of the file are read."""
    if not heard():
        yield from rows
        return
    whole = count_lines(path)
    for number, found in enumerate(rows):
        if number % TOLD == 0:
            tell("Reading", min(whole, found.line if isinstance(found, Flaw) else found[0]), whole)
        yield found
    tell("Reading", whole, whole)
