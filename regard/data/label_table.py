"""Open a table of texts and labels. Whoever opens tables for everybody looks for pairs: here they
hear what else can be a header, and their words are turned into ours."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from statistics import median

from regard.data.headers import LONGEST, is_known
from regard.data.label_columns import JUDGED, LABELS
from regard.data.sniff import SAMPLE_ROWS
from regard.data.table import Flaw, Table, as_text, open_table
from regard.errors import DataError

OURS = {
    "source<TAB>target": "text<TAB>label",
    '{"source": "...", "target": "..."}': '{"text": "...", "label": "..."}',
    ", or give two files with matching lines: regard train translate a.txt b.txt": "",
    "source and target": "text and label",
}
ENOUGH = 10  # rows that say which labels there are
SELDOM = 0.02  # of the rows may have a label of their own, or the first row may, too


def open_label_table(path: Path, names: Sequence[str]) -> Table:
    """A first row that holds one of `names`, or both what people call a label and what they call
    a text, is a header."""
    try:
        table = open_table([path], names)
        if all(map(str.isdigit, names)) and table.format != "jsonl":
            table = _with_right_header(table)
    except DataError as error:
        raise DataError(in_our_words(str(error))) from error
    return replace(table, notes=tuple(map(in_our_words, table.notes)))


def in_our_words(message: str) -> str:
    for theirs, ours in OURS.items():
        message = message.replace(theirs, ours)
    return message


def _with_right_header(table: Table) -> Table:
    if table.header and _comes_again(table):
        return _without_header(table)
    first = set(map(str.casefold, table.columns if table.header else _first_row(table)))
    both = not first.isdisjoint(LABELS) and not first.isdisjoint(JUDGED)
    if both or table.header or not stands_above(_rows(table)):
        return open_table(table.paths, first) if both else table
    found = open_table(table.paths, first)
    note = f"the first row ({', '.join(found.columns)}) is taken for the names of the columns."
    return replace(found, notes=(*found.notes, note))


def _first_row(table: Table) -> list[str]:
    return next(iter(_rows(table)), [])


def _rows(table: Table) -> list[list[str]]:
    rows = (row.cells for row in islice(table.rows(), SAMPLE_ROWS) if not isinstance(row, Flaw))
    return [[as_text(cell).strip() for cell in cells] for cells in rows]


def stands_above(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first row names columns, in whatever language: below it labels come again and
    again, and its own never does, nor any other of its cells, which are shorter than most texts.

    >>> below = [["Wo ist mein Paket?", "Versand"], ["Ich habe zu viel bezahlt.", "Zahlung"]] * 9
    >>> stands_above([["Frage", "Kategorie"], *below])
    True
    >>> stands_above([["Hilfe!", "Zahlung"], *below])
    False
    """
    if len(rows) <= ENOUGH or len({*map(len, rows)}) > 1:
        return False
    first, columns = rows[0], list(zip(*rows[1:], strict=True))
    if not all(cell and len(cell) <= LONGEST for cell in first) or len({*first}) < len(first):
        return False
    new = all(cell not in column for cell, column in zip(first, columns, strict=True))
    texts = max(range(len(first)), key=lambda place: sum(map(len, columns[place])))
    short = 2 * len(first[texts]) <= median(map(len, columns[texts]))
    others = [column for place, column in enumerate(columns) if place != texts]
    return new and short and any(map(_are_labels, others))


def _are_labels(column: Sequence[str]) -> bool:
    counts = Counter(column)
    single = sum(number == 1 for number in counts.values())
    return 2 * len(counts) <= len(column) and single <= SELDOM * len(column)


def _comes_again(table: Table) -> bool:
    """Whether the header is data, as "question<TAB>Why?" is where another row has the label
    question. Beside a name, as in "spam<TAB>text", it is a name."""
    for row in islice(table.rows(), SAMPLE_ROWS):
        cells = () if isinstance(row, Flaw) else map(as_text, row.cells)
        named = list(zip(table.columns, cells, strict=False))
        others = [name for name, cell in named if cell.strip() != name]
        if 0 < len(others) < len(named) and not any(map(_is_name, others)):
            return True
    return False


def _is_name(cell: str) -> bool:
    return is_known(cell) or cell.casefold() in (*LABELS, *JUDGED)


def _without_header(table: Table) -> Table:
    numbers = tuple(str(number) for number, _ in enumerate(table.columns, start=1))
    notes = tuple(note for note in table.notes if not note.startswith("the first row"))
    return replace(table, columns=numbers, header=False, notes=notes)
