"""Any file of texts in columns as one thing: a `Table` of rows, however it is written down.

What a file does not say of itself (its format, its delimiter, whether it has a header) is found
from its first rows; `notes` says aloud what was guessed.
"""

import os
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from regard.data.formats import (
    DELIMITERS,
    Cell,
    Flaw,
    Found,
    Pick,
    read_csv,
    read_parallel,
    read_tsv,
    short,
)
from regard.data.headers import header_note, is_header
from regard.data.json_lines import read_jsonl
from regard.data.lines import read_raw_lines
from regard.data.sniff import (
    TABLES,
    Head,
    find_cut,
    inner_suffix,
    is_jsonl,
    json_columns,
    no_rows,
    read_head,
)
from regard.errors import DataError

__all__ = ["Flaw", "Row", "Table", "as_text", "open_table"]


@dataclass(frozen=True, slots=True)
class Row:
    line: int
    """Where the row begins."""
    cells: tuple[Cell, ...]
    """Texts as typed; a JSON list of texts stays a list."""


def as_text(cell: Cell) -> str:
    """A cell as one text: the parts of a list are joined by blanks."""
    return cell if isinstance(cell, str) else " ".join(cell)


@dataclass(frozen=True)
class Table:
    paths: tuple[Path, ...]
    format: str
    """tsv, csv, jsonl or parallel."""
    columns: tuple[str, ...]
    """From the header, the JSON keys or the suffixes of parallel files; else "1", "2", ..."""
    header: bool
    """Whether the columns have names of their own inside the file."""
    notes: tuple[str, ...] = ()
    """What was guessed, each one sentence, to be said aloud."""
    delimiter: str = "\t"

    @property
    def name(self) -> str:
        """The files as a person would write them."""
        return " ".join(map(str, self.paths))

    def rows(self) -> Iterator[Row | Flaw]:
        for found in self.picked(tuple):
            yield found if isinstance(found, Flaw) else Row(*found)

    def picked(self, pick: Pick) -> Iterator[Found]:
        """Rows as bare (line, cells), of which `pick` takes some. What is wrong with cells that
        nobody picks (an object beside the texts, in JSON) does not matter."""
        path, width = self.paths[0], len(self.columns)
        if self.format == "parallel":
            return read_parallel(self.paths, pick)
        if self.format == "jsonl":
            return read_jsonl(path, pick(self.columns))
        if self.format == "tsv":
            rows = read_tsv(path, width, pick)
        else:
            rows = read_csv(read_raw_lines(path), self.delimiter, width, pick)
        return islice(rows, 1 if self.header else 0, None)


def open_table(paths: Sequence[Path], names: Collection[str] = ()) -> Table:
    """Find out how one file, or two parallel ones, are written. A first row that holds one of
    `names` is a header."""
    for path in paths:
        if os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path):
            raise DataError(
                f"{path}: a pipe or a device can be read only once, and a table is looked at "
                "before it is read. Save it in a file first."
            )
    if len(paths) == 2:
        if os.path.realpath(paths[0]) == os.path.realpath(paths[1]):
            raise DataError(f"{paths[0]}: the same file twice. Name the file with the targets too.")
        return _open_parallel(tuple(paths))
    if len(paths) != 1:
        raise DataError(
            f"{len(paths)} files: expected one table, or two text files with matching lines."
        )
    head = read_head(paths[0])
    return _open_jsonl(head) if is_jsonl(head) else _open_cut(head, names)


def _open_parallel(paths: tuple[Path, ...]) -> Table:
    suffixes = [inner_suffix(path) for path in paths]
    for path, suffix in zip(paths, suffixes, strict=True):
        if suffix in TABLES:
            raise DataError(
                f"{path}: the name ends in {suffix}, and of two files each should hold one text "
                "a line. Give one table, or two text files: line n of one goes with line n of the "
                "other."
            )
    named = len({"", *suffixes}) == 3
    columns = tuple(suffix[1:] for suffix in suffixes) if named else ("1", "2")
    table = Table(paths, "parallel", columns, header=False)
    if next(table.rows(), None) is None:
        raise DataError(f"{table.name}: no rows in them: every line is blank.")
    return table


def _open_jsonl(head: Head) -> Table:
    columns, nested = json_columns(head)
    notes = []
    if head.suffix in TABLES and not head.suffix.startswith((".json", ".nd")):
        notes.append(f"the name ends in {head.suffix}, but each line is a JSON object: read so.")
    if nested:
        notes.append(f"left out, since they hold no texts: {', '.join(nested)}.")
    return Table((head.path,), "jsonl", tuple(columns), header=True, notes=tuple(notes))


def _open_cut(head: Head, names: Collection[str]) -> Table:
    cut = find_cut(head)
    first = cut.rows[0]
    header = is_header(first, names, cut.rows[1:])
    if header and len(cut.rows) == 1 and head.whole:
        raise no_rows(head.path, f"there is only a header, {short(', '.join(first))}")
    notes = [header_note(cut.rows, header, names)]
    if cut.delimiter != "," and cut.format == "csv":
        notes.append(f"the columns are separated by {DELIMITERS[cut.delimiter]}.")
    cells = first if header else [""] * cut.width
    columns = [cell.strip() or str(number) for number, cell in enumerate(cells, start=1)]
    return Table(
        paths=(head.path,),
        format=cut.format,
        columns=tuple(columns),
        header=header,
        notes=tuple(note for note in notes if note),
        delimiter=cut.delimiter,
    )
