"""Is a table one of texts and their labels, or of pairs of texts? Whoever looks at a table before
something is trained on it has not been told: its columns say it, or else the person."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from regard.data.columns import NO_TEXT, PAIRS
from regard.data.headers import CODES, LANGUAGES
from regard.data.label_columns import LABELS, LONGEST
from regard.data.label_table import in_our_words, open_label_table
from regard.data.labels import WITHOUT_LABEL, LabelTable, open_labels
from regard.data.pairs import Pair, PairTable, open_pairs
from regard.data.table import Flaw, Table, as_text, open_table
from regard.errors import ConfigError, DataError

HEADINGS = {"summary", "highlights", "subject", "headline", "title"}  # labelled texts have one, too
MOST_DIFFERENT = 1000  # labels, where a name says that these are some
CERTAIN = {"label", "labels"}  # of columns: nobody calls texts so
FEW, ROWS_OF_ONE = 50, 5  # labels, and rows of one on average, where no name does
READ_SO = "read as texts with labels, as regard train classify does; --task transduce reads pairs."
OR_PAIRS = "If it holds pairs, say --task transduce, or name both with --source and --target."


class UnknownLabel(DataError):
    """Which column holds the labels can not be said."""


@dataclass(frozen=True)
class LabelPairs:
    """Texts and labels for who looks at sources and targets: these are texts, those labels."""

    opened: LabelTable
    notes: tuple[str, ...]
    guessed: bool
    """Whether nobody has named the column of the labels."""

    @property
    def table(self) -> Table:
        return self.opened.table

    @property
    def source(self) -> int:
        return self.opened.text

    @property
    def target(self) -> int:
        return self.opened.label

    def rows(self) -> Iterator[tuple[int, Pair] | Flaw]:
        for found in self.opened.rows():
            if isinstance(found, Flaw):
                yield _sorted(found)
            else:
                yield found[0], Pair(found[1].text, found[1].label)


def _sorted(flaw: Flaw) -> Flaw:
    """A text without a label can be learned from: it is another kind than a label alone."""
    if flaw.kind == "empty":
        return replace(flaw, kind="label" if flaw.problem.startswith(WITHOUT_LABEL) else "text")
    return replace(flaw, problem=in_our_words(flaw.problem)) if flaw.kind == "json" else flaw


Texts = PairTable | LabelPairs


def open_texts(
    paths: Sequence[Path], source: str | None, target: str | None, labels: bool | None = None
) -> Texts:
    """Texts and labels if `labels` says so, or, if it is None, the table itself; else pairs."""
    if labels:
        _refuse_several(paths)
        return _with_labels(paths[0], source, target)
    if labels is None and len(paths) == 1 and (found := _if_labelled(paths[0], source, target)):
        return replace(found, notes=(*found.notes, READ_SO))
    return open_pairs(paths, source, target)


def open_more(first: Texts, paths: Sequence[Path], source: str | None, target: str | None) -> Texts:
    """Another file with the same columns, which may stand in another order if they have names."""
    if isinstance(first, PairTable):
        return open_pairs(paths, source, target, fallback=True)
    _refuse_several(paths)
    names = first.table.columns
    if first.table.header:
        source, target = names[first.source], names[first.target]
    return _with_labels(paths[0], source, target)


def _refuse_several(paths: Sequence[Path]) -> None:
    if len(paths) != 1:
        raise ConfigError(
            f"{' '.join(map(str, paths))}: {len(paths)} files, and texts stand in one table with "
            "their labels. Name that one."
        )


def _with_labels(path: Path, text: str | None, label: str | None) -> LabelPairs:
    try:
        opened = open_labels(path, text, label)
    except DataError as error:
        raise UnknownLabel(str(error)) from error
    return LabelPairs(opened, opened.notes, guessed=label is None)


# Guessed


def _if_labelled(path: Path, text: str | None, label: str | None) -> LabelPairs | None:
    """None for pairs, and for what can not be opened: those who look for pairs say why."""
    names = [name for name in (text, label) if name is not None]
    try:
        table = open_table([path], names)
        if CERTAIN.isdisjoint(_folded(table)) and not _repeating(table):  # soon seen of most pairs
            return None
        table = open_label_table(path, names)
    except DataError:
        return None
    if are_pairs(table.columns):
        return None
    try:
        found = _with_labels(path, text, label)
    except UnknownLabel as error:
        if label is None and len(table.columns) > 2 and _several(table):
            raise UnknownLabel(f"{error}\n{OR_PAIRS}") from error
        return None
    return found if _holds_labels(found, named=label is not None) else None


def are_pairs(columns: Sequence[str]) -> bool:
    """Whether the names of columns say what is made of what. Beside a text, its heading does not:
    e-mails have subjects, whatever is to be learned of them.

    >>> are_pairs(["source", "target", "label"]), are_pairs(["German", "English", "topic"])
    (True, True)
    >>> are_pairs(["body", "subject", "queue"]), are_pairs(["text", "label"])
    (False, False)
    """
    names = {re.sub(r"[\s_-]+(text|sentence)$", "", name.strip().casefold()) for name in columns}
    roles = any({one, other} <= names and other not in HEADINGS for one, other in PAIRS)
    return roles or len(names & (LANGUAGES | CODES) - NO_TEXT) > 1


def _holds_labels(found: LabelPairs, named: bool) -> bool:
    """Whether a column that was taken for labels repeats itself to the end of the file; few rows
    of a label will do where a name says that it is one."""
    name = _folded(found.table)[found.target]
    if name in CERTAIN:
        return True
    named = named or not set(re.findall(r"[^\W\d_]+", name)).isdisjoint(LABELS)
    counts = _counts(found.table, found.target)
    if named:
        return 0 < 2 * len(counts) <= counts.total()
    return 1 < len(counts) <= FEW and ROWS_OF_ONE * len(counts) <= counts.total()


def _several(table: Table) -> bool:
    """Whether any of some columns could be the labels."""
    return sum(len(counts) > 1 for counts in _repeating(table)) > 1


def _repeating(table: Table) -> list[Counter[str]]:
    """How often each value of a column occurs, of the columns that may hold labels."""
    places = [place for place, name in enumerate(_folded(table)) if name not in NO_TEXT]
    every = [_counts(table, place) for place in places]
    return [counts for counts in every if 0 < 2 * len(counts) <= counts.total()]


def _folded(table: Table) -> list[str]:
    return [name.strip().casefold() for name in table.columns]


def _counts(table: Table, place: int) -> Counter[str]:
    """How often each value occurs; nothing where these are too many or too long for labels. A file
    that breaks off is judged by what was read: others tell of it."""
    counts: Counter[str] = Counter()
    with suppress(DataError):
        for row in table.picked(lambda cells: (cells[place],)):
            cell = "" if isinstance(row, Flaw) else as_text(row[1][0]).strip()
            counts.update([cell] if cell else [])
            if len(cell) > LONGEST or len(counts) > MOST_DIFFERENT:
                return Counter()
    return counts
