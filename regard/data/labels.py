"""Read texts and their labels from a table."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
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

FEW = 3  # how many labels are named
TOLD = 1000  # rows after which it is told how far it is
WITHOUT_LABEL = "no label"
MARKS = ",;|/"  # that people put between labels
ENOUGH = 10  # examples of a label; of fewer it is talked about
MOST = 0.95  # a larger share of the rows for one label is talked about


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


# Doubts


def refuse_useless(examples: Sequence[Labelled], path: Path, separator: str | None) -> None:
    """A DataError where the labels can not be what someone wants to learn."""
    if one := _only_one(examples, separator):
        raise DataError(
            f"{path}: nothing to tell apart: every row has {one}. Add rows "
            "with other labels, or name another column with --target."
        )


def refuse_ids(examples: Sequence[Labelled], path: Path, separator: str | None) -> None:
    """A DataError where the labels of a column look like ids. For a column that was guessed: who
    named it may mean it, and is told by `doubts_about`."""
    if what := _like_ids(_counts(examples, separator)):
        hint = "" if separator else " If a cell holds several labels, set data.separator."
        raise DataError(f"{path}: {what}. Name the column of the labels with --target.{hint}")


def refuse_one_sided(
    train: Sequence[Labelled], validation: Sequence[Labelled], path: Path, separator: str | None
) -> None:
    """A DataError where a rare label fell out of the training part, and nothing can be learned or
    validated without it: better now than when the training is done."""
    if one := _only_one(train, separator):
        raise DataError(
            f"{path}: nothing to tell apart: every row of the training part has {one}; all other "
            "labels fell on the sides that are held out. Add rows with them, or give the training "
            "part a larger share (data.split)."
        )
    trained = _counts(train, separator).keys()
    if validation and not any(trained >= {*labels_of(e.label, separator)} for e in validation):
        raise DataError(
            f"{path}: no row of the validation part has labels that are trained on, only such as "
            f"{_some(_counts(validation, separator))}. Add rows, or change the shares (data.split)."
        )


def _only_one(examples: Sequence[Labelled], separator: str | None) -> str:
    """What every row has, where all have the same; else nothing."""
    cells = {example.label for example in examples}
    kinds = {frozenset(labels_of(cell, separator)) for cell in cells}
    if len(kinds) != 1:
        return ""
    labels = sorted(*kinds)
    return f"the label{'s' * (len(labels) > 1)} {' and '.join(map(short, labels))}"


class DoubtfulLabels(UserWarning):
    """Labels that can be learned from, but perhaps not well."""


def doubts_about(examples: Sequence[Labelled], separator: str | None) -> list[str]:
    """What is odd about the labels, in sentences to say aloud."""
    return list(named_doubts(examples, separator).values())


def named_doubts(examples: Sequence[Labelled], separator: str | None) -> dict[str, str]:
    """The same, by what each is about: like ids, several, rare, alike, uneven. Labels that look
    like ids, or like several in one, are rare as well, and nothing is said of that."""
    counts = _counts(examples, separator)
    ids = _like_ids(counts)
    several = "" if separator else _several(counts)
    found = {
        "like ids": f"{ids}. If so, name another column with --target." if ids else "",
        "several": several,
        "rare": "" if ids or several else _rare(counts),
        "alike": _alike(counts),
        "uneven": _uneven(counts, len(examples)),
    }
    return {name: doubt for name, doubt in found.items() if doubt}


def _counts(examples: Iterable[Labelled], separator: str | None) -> Counter[str]:
    """How many examples have each label."""
    cells = Counter(example.label for example in examples)
    counts: Counter[str] = Counter()
    for cell, number in cells.items():
        counts.update(dict.fromkeys(labels_of(cell, separator), number))
    return counts


def _like_ids(counts: Counter[str]) -> str:
    """What they look like where a label is given fewer than two times on average."""
    given = counts.total()
    if 2 * len(counts) <= given:
        return ""
    return (
        f"{len(counts):,} different labels, given {given:,} times in all, such as "
        f"{_some(counts)}: that looks like an id or free text"
    )


def _rare(counts: Counter[str]) -> str:
    rare = {label: n for label, n in reversed(counts.most_common()) if n < ENOUGH}
    if not rare:
        return ""
    have = "1 label has" if len(rare) == 1 else f"{len(rare):,} labels have"
    named = ", ".join(f"{short(label)}: {n}" for label, n in list(rare.items())[:FEW])
    more = ", ..." * (len(rare) > FEW)
    return (
        f"{have} fewer than {ENOUGH} examples ({named}{more}): too few to learn from, so look at "
        "the scores of each label."
    )


def _several(counts: Counter[str]) -> str:
    """What stands between several labels in a cell, perhaps: the parts of such cells are fewer
    than the cells, since they come again in others."""
    for mark in MARKS:
        cells = [label for label in counts if mark in label]
        parts = {part for cell in cells for part in labels_of(cell, mark)}
        often = len(cells) >= FEW and sum(counts[cell] for cell in cells) >= ENOUGH
        if often and len(parts) < len(cells):
            return (
                f"labels such as {_some(cells)} look like several in one. If so, learn each by "
                f"itself with --set data.separator='{mark}'."
            )
    return ""


def _alike(counts: Counter[str]) -> str:
    groups: dict[str, list[str]] = {}
    for label in counts:
        groups.setdefault("".join(label.casefold().split()), []).append(label)
    alike = [" and ".join(map(short, group)) for group in groups.values() if len(group) > 1]
    if not alike:
        return ""
    which = "; ".join(alike[:FEW]) + "; ..." * (len(alike) > FEW)
    return (
        f"labels that differ only in capitals or blanks count as different ones: {which}. "
        "Write them alike if they mean the same."
    )


def _uneven(counts: Counter[str], rows: int) -> str:
    label, number = max(counts.items(), key=lambda item: item[1], default=("", 0))
    if number <= MOST * rows:
        return ""
    return (
        f"{number:,} of {rows:,} rows have the label {short(label)}: who always says so is seldom "
        "wrong, so look at the scores of each label."
    )


def _some(labels: Iterable[str]) -> str:
    names = list(map(short, labels))
    return ", ".join(names[:FEW]) + ", ..." * (len(names) > FEW)
