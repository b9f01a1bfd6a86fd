"""Open a table of texts and labels. Whoever opens tables for everybody looks for pairs: here they
hear what else can be a header, and their words are turned into ours."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

from regard.data.headers import is_known
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
    return open_table(table.paths, first) if both else table


def _first_row(table: Table) -> list[str]:
    rows = (row.cells for row in table.rows() if not isinstance(row, Flaw))
    return [as_text(cell).strip() for cell in next(rows, ())]


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
