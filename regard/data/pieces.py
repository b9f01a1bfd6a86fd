"""Text of any length, a piece at a time: a document may be larger than memory.

A file is read in chunks, however they arrive. What cuts them into documents hands on stretches of
text with a mark where a document ends; `in_pieces` makes pieces of those. Where a piece ends
depends on the text alone, never on how it arrived: reading again gives the same pieces.
"""

from codecs import getincrementaldecoder
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from io import IncrementalNewlineDecoder
from itertools import chain
from pathlib import Path
from typing import Literal, NamedTuple

from regard.data.encoding import inspect
from regard.data.lines import BOM, CHUNK, first_bytes, told_plainly, unpacked_file
from regard.errors import DataError

PIECE = 2**20  # characters, at most
NEWLINES = partial(IncrementalNewlineDecoder, translate=True)  # knows just the three of lines.py

Documents = Literal["file", "line", "paragraph"]
Stretches = Iterable[tuple[str, bool]]
"""Texts of any length, each with whether a document ends after it."""


class Piece(NamedTuple):
    """A document, or a part of a long one."""

    text: str
    ends: bool
    """Whether a document ends here."""


def read_chunks(path: Path) -> Iterator[str]:
    r"""The text of a UTF-8 file, plain or packed, without its byte order mark; every line end is
    \n. Anything that is not text is a DataError naming its place."""
    decoder = NEWLINES(getincrementaldecoder("utf-8")())
    try:
        with told_plainly(path), unpacked_file(path) as file:
            begin = first_bytes(file).removeprefix(BOM)
            for chunk in chain([begin], iter(partial(file.read1, CHUNK), b"")):
                if 0 in chunk:
                    raise UnicodeError("a NUL byte")
                yield decoder.decode(chunk)
            yield decoder.decode(b"", final=True)
    except UnicodeError as error:
        raise DataError(inspect(path).problem or f"{path}: not UTF-8.") from error


def in_pieces(stretches: Stretches) -> Iterator[Piece]:
    """Documents in pieces. One that holds nothing but blanks is the piece ("", True)."""
    text, begun = "", False
    for more, ends in stretches:
        text += more
        while len(text) > PIECE:
            place = _place_to_cut(text)
            yield Piece(text[:place], False)
            text, begun = text[place:], True
        if ends:
            yield Piece("" if text.isspace() and not begun else text, True)
            text, begun = "", False


def _place_to_cut(text: str) -> int:
    """After the last line within the size of a piece, else after the last word, else anywhere."""
    return text.rfind("\n", 0, PIECE) + 1 or text.rfind(" ", 0, PIECE) + 1 or PIECE


# What is a document


def file_stretches(chunks: Iterable[str]) -> Iterator[tuple[str, bool]]:
    """One document."""
    for chunk in chunks:
        yield chunk, False
    yield "", True


def line_stretches(chunks: Iterable[str]) -> Iterator[tuple[str, bool]]:
    r"""Each line, without its end.

    >>> list(line_stretches(["a\nb", "c\n\n", "d"]))
    [('a', True), ('b', False), ('c', True), ('', True), ('d', False), ('', True)]
    """
    rest = ""
    for chunk in filter(None, chunks):
        *ended, rest = chunk.split("\n")
        yield from ((line, True) for line in ended)
        if rest:
            yield rest, False
    if rest:
        yield "", True


def paragraph_stretches(chunks: Iterable[str]) -> Iterator[tuple[str, bool]]:
    r"""The lines between blank ones.

    >>> list(in_pieces(paragraph_stretches(["\n\na\nb\n \n", "\nc\n"])))
    [Piece(text='a\nb', ends=True), Piece(text='c', ends=True)]
    """
    inside, fresh = False, True  # in a paragraph, at the beginning of a line
    for text, ends in in_pieces(line_stretches(chunks)):
        if text:
            yield ("\n" + text if inside and fresh else text), False
        elif inside:
            yield "", True
        inside, fresh = bool(text), ends
    if inside:
        yield "", True


CUTS: dict[Documents, Callable[[Iterable[str]], Iterator[tuple[str, bool]]]] = {
    "file": file_stretches,
    "line": line_stretches,
    "paragraph": paragraph_stretches,
}


def pieces_of_file(path: Path, documents: Documents) -> Iterator[Piece]:
    return in_pieces(CUTS[documents](read_chunks(path)))


def pieces_of_cells(cells: Iterable[str]) -> Iterator[Piece]:
    """Each cell of a table is a document."""
    return in_pieces((cell.replace("\r\n", "\n").replace("\r", "\n"), True) for cell in cells)
