"""Inputs for a model out of a table: the cells of one column, or of two side by side."""

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
    cells = (cell for (cell,) in _cells(table, place))
    return cells, f"{path}: the inputs are {names}."


def read_two_columns(
    path: Path, first: str | None, second: str
) -> tuple[Iterator[tuple[str, ...]], str]:
    """The cells of two columns, row by row, and a sentence that says which columns these are. Of a
    table with two columns they are taken whatever their names are."""
    table = open_table([path], [name for name in (first, second) if name is not None])
    places = _two_places(table, first, second)
    names = [f'"{table.columns[i]}"' if table.header else f"column {i + 1}" for i in places]
    return _cells(table, *places), f"{path}: the inputs are {' and '.join(names)}."


def _two_places(table: Table, first: str | None, second: str) -> tuple[int, int]:
    names = [name for name in (first, second) if name is not None]
    if len(table.columns) == 2 and not any(column_places(table, name) for name in names):
        return 0, 1
    other = column_place(table, second)
    if first is not None:
        return column_place(table, first), other
    if len(table.columns) == 2:
        return 1 - other, other
    raise DataError(
        f'{table.name}: which of its columns goes with "{second}"? It has '
        f"{', '.join(table.columns)}. Name the column of the first texts with --source."
    )


def _cells(table: Table, *places: int) -> Iterator[tuple[str, ...]]:
    for found in table.picked(lambda cells: tuple(cells[place] for place in places)):
        if isinstance(found, Flaw):
            raise DataError(f"{table.name}:{found.line}: {found.problem}")
        yield tuple(map(as_text, found[1]))


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
