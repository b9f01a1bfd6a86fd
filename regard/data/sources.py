"""The files of a corpus: which they are, which column of a table holds the text, and whether they
are still what they were."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from regard.data.columns import NO_TEXT, column_place
from regard.data.inputs import is_table, read_column
from regard.data.lines import CHUNK, told_plainly, unpacked_file
from regard.data.pieces import Documents, Piece, pieces_of_cells, pieces_of_file
from regard.data.sniff import SAMPLE_ROWS, OneColumn, inner_suffix
from regard.data.table import Flaw, Table, as_text, open_table
from regard.errors import DataError

# What people call a column of texts; where several are there, the first counts.
TEXTS = tuple(
    """
    text body content document article story passage paragraph review comment message post sentence
    abstract description
    """.split()
)


@dataclass(frozen=True, slots=True)
class Source:
    """A file, as it was when it was first read."""

    path: Path
    size: int
    changed: int
    """When it was last written to, in nanoseconds."""
    documents: Documents | None
    """None: the rows of a table."""
    column: str | None = None

    def pieces(self) -> Iterator[Piece]:
        """The documents in order, the empty ones too. A DataError if the file has changed."""
        self.require_unchanged()
        if self.documents is None:
            yield from pieces_of_cells(read_column(self.path, self.column, fallback=False)[0])
        else:
            yield from pieces_of_file(self.path, self.documents)
        self.require_unchanged()

    def require_unchanged(self) -> None:
        with told_plainly(self.path):
            now = os.stat(self.path)
        if (now.st_size, now.st_mtime_ns) != (self.size, self.changed):
            raise self.refusal(f": it had {self.size:,} bytes and has {now.st_size:,}")

    def refusal(self, why: str = "") -> DataError:
        return DataError(
            f"{self.path}: the file has changed since it was first read{why}. "
            "Start again once it is complete."
        )


def open_source(path: Path, column: str | None, documents: Documents) -> tuple[Source, str]:
    """A file to read, and a sentence about what was guessed, or ""."""
    with told_plainly(path):
        facts = os.stat(path)
    if not os.path.isfile(path):
        raise DataError(
            f"{path}: a pipe or a device can be read only once, and a corpus is read several "
            "times. Save it in a file first."
        )
    size, changed = facts.st_size, facts.st_mtime_ns
    if not size or not _holds_rows(path):
        return Source(path, size, changed, documents), ""
    name, note = _text_column(path, column)
    return Source(path, size, changed, None, name), note


def _holds_rows(path: Path) -> bool:
    """Is it a table? Its name says so; of .json it takes an object on the first line as well, since
    most such files hold settings and the like."""
    if inner_suffix(path) != ".json":
        return is_table(path)
    with told_plainly(path), unpacked_file(path) as file:
        first = file.read(CHUNK).removeprefix(b"\xef\xbb\xbf").lstrip().partition(b"\n")[0]
    return first.startswith(b"{") and len(first.strip()) > 1


# Folders


def find_files(paths: Sequence[Path]) -> Iterator[tuple[Path, bool]]:
    """Every file once, in order, and whether it was found in a folder."""
    seen: set[str] = set()
    for path in paths:
        inside = os.path.isdir(path)
        for file in files_below(path) if inside else [path]:
            if (real := os.path.realpath(file)) not in seen:
                seen.add(real)
                yield file, inside


def files_below(folder: Path) -> list[Path]:
    """All files of a folder and the folders in it, by name. Left out: what is hidden, links to
    folders, and pipes and devices. (A link that leads nowhere stays: reading it will say so.)"""
    found: list[Path] = []
    for where, folders, names in os.walk(folder, onerror=_refuse_folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        found += [Path(where, name) for name in names if not name.startswith(".")]
    plain = (path for path in found if path.is_file() or not path.exists())
    return sorted(plain, key=lambda path: path.parts)


def _refuse_folder(error: OSError) -> None:
    raise DataError(f"{error.filename}: can not be listed: {error.strerror}.") from error


# Columns


def _text_column(path: Path, column: str | None) -> tuple[str | None, str]:
    """The name of the column to read, as `read_column` takes it, and what to say about it."""
    try:
        table = open_table([path], [column] if column is not None else [])
    except OneColumn:
        return _only_column(path, column), ""
    if column is not None:
        column_place(table, column)  # or a DataError
        return column, ""
    names = [name.strip().casefold() for name in table.columns]
    places = [names.index(name) for name in TEXTS if name in names][:1] or _wordy(table)
    if len(places) != 1:
        raise DataError(
            f"{path}: which of its columns holds the text? It has {', '.join(table.columns)}. "
            "Say it with data.column: a name or a number."
        )
    name = table.columns[places[0]]
    called = f'in "{name}"' if table.header else f"in column {name}; there is no header"
    others = len(table.columns) - 1
    return name, f"{path}: the text is {called}; {others} other column{'s' * (others > 1)} unread."


def _only_column(path: Path, column: str | None) -> str | None:
    """What the first row of a single column is called, if it is its name."""
    first = next(read_column(path, None, fallback=True)[0], "")
    return first if first.strip().casefold() in TEXTS else column


def _wordy(table: Table) -> list[int]:
    """The columns most of whose cells hold several words."""
    rows = [row for row in islice(table.rows(), SAMPLE_ROWS) if not isinstance(row, Flaw)]
    columns = enumerate(zip(*([as_text(cell) for cell in row.cells] for row in rows), strict=True))
    return [
        place
        for place, cells in columns
        if table.columns[place].strip().casefold() not in NO_TEXT
        and sum(" " in cell.strip() for cell in cells) > len(cells) / 2
    ]
