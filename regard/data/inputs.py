"""Inputs for a model out of a table: the cells of one column."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from regard.data.columns import column_place, column_places
from regard.data.sniff import (
    TABLES,
    TABS,
    OneColumn,
    inner_suffix,
    is_jsonl,
    json_columns,
    read_head,
)
from regard.data.table import Flaw, Table, as_text, open_table
from regard.errors import DataError


def is_table(path: Path) -> bool:
    """Does its name say so? A plain text file holds one input a line."""
    return inner_suffix(path) in TABLES


def read_column(path: Path, column: str | None, *, fallback: bool) -> tuple[Iterator[str], str]:
    """The cells of a column, in order, and a sentence that says which column it is.

    With `fallback` the first column stands in for one that the file does not have. The only
    column of a file is taken whatever its name is.
    """
    table = _open(path, column)
    names = f'"{table.columns[0]}"' if table.header else "the first column"
    place = 0
    missing = column is None or not column_places(table, column)
    if column is not None and len(table.columns) > 1 and not (fallback and missing):
        place = column_place(table, column)
        names = f'"{table.columns[place]}"' if table.header else f"column {place + 1}"
    return _cells(table, place), f"{path}: the inputs are {names}."


def _cells(table: Table, place: int) -> Iterator[str]:
    for found in table.picked(lambda cells: (cells[place],)):
        if isinstance(found, Flaw):
            raise DataError(f"{table.name}:{found.line}: {found.problem}")
        yield as_text(found[1][0])


def _open(path: Path, column: str | None) -> Table:
    """Also a table of a single column, which `open_table` refuses, since it looks for pairs."""
    try:
        return open_table([path], [column] if column else [])
    except OneColumn:
        head = read_head(path)
    if is_jsonl(head):
        keys, _ = json_columns(head, least=1)
        return Table((path,), "jsonl", tuple(keys), header=True)
    kind = "tsv" if head.suffix in TABS else "csv"
    table = Table((path,), kind, ("1",), header=False, delimiter=",")
    if column is not None and _first_cell(table) == column:
        return replace(table, columns=(column,), header=True)
    return table


def _first_cell(table: Table) -> str | None:
    return next((as_text(row.cells[0]) for row in table.rows() if not isinstance(row, Flaw)), None)
