"""Which line ends stand between the rows of a file: those inside of a text in quotes do not."""

from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace

from regard.data.encoding import FileFacts
from regard.data.table import Flaw, Table
from regard.errors import DataError


def between_rows(facts: FileFacts, table: Table) -> FileFacts:
    r"""What is known of a file, its `ends` without those inside of cells. A program that ends rows
    with \r\n writes a text of several lines as it is, with \n."""
    if table.format != "csv" or len(facts.ends) < 2:
        return facts
    inside: Counter[str] = Counter()
    with suppress(DataError):  # others tell of it
        for cell in _cells(table):
            both = cell.count("\r\n")
            found = {"\n": cell.count("\n") - both, "\r\n": both, "\r": cell.count("\r") - both}
            inside.update({repr(end)[1:-1]: number for end, number in found.items()})
    return replace(facts, ends=dict(Counter(facts.ends) - inside))


def _cells(table: Table) -> Iterator[str]:
    yield from table.columns if table.header else ()
    for row in table.rows():
        for cell in () if isinstance(row, Flaw) else row.cells:
            yield from [cell] if isinstance(cell, str) else cell
