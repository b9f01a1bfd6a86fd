"""The only way Regard opens text: numbered lines of a UTF-8 file, plain or packed.

A line ends at \\n, \\r\\n or \\r and nowhere else: Python's own str.splitlines would also cut at
form feeds and a dozen other characters that people keep inside their sentences.
"""

import gzip
import lzma
import os
import sys
import zlib
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from io import BufferedIOBase, BufferedReader, StringIO
from itertools import chain
from pathlib import Path

from regard.errors import DataError

BOM = b"\xef\xbb\xbf"
CHUNK = 2**16
LONG = 2**20  # bytes: a block is that large only where a line is

PACKED = {".gz": b"\x1f\x8b", ".xz": b"\xfd7zXZ\x00", ".zst": b"\x28\xb5\x2f\xfd"}

# How files begin that people mistake for UTF-8 text, and what to do about each.
MISTAKEN = {
    b"\xff\xfe": "It begins like UTF-16: convert it with iconv -f UTF-16 -t UTF-8.",
    b"\xfe\xff": "It begins like UTF-16: convert it with iconv -f UTF-16 -t UTF-8.",
    b"PK\x03\x04": "It is a ZIP archive (so are .xlsx and .docx): unpack it, or export it as text.",
    b"%PDF": "It is a PDF: export it as text.",
    b"BZh": "It is packed with bzip2: unpack it, or pack it with gzip, xz or zstd.",
    b"PAR1": "It is a Parquet file: export it as text.",
}


def read_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield (1, first line), (2, second line), ... without their ends.

    A byte order mark at the start is dropped. Memory holds one piece of the file at a time, or
    one line where a line is longer. A line from a pipe is handed on as soon as it is there.
    Anything that is not text is a DataError naming its place.
    """
    for number, lines in _batches(path):
        yield from enumerate([line.rstrip("\r\n") for line in lines], start=number)


def read_raw_lines(path: Path) -> Iterator[tuple[int, str]]:
    """The same lines with their ends, for readers to whom a line end can be part of a text."""
    for number, lines in _batches(path):
        yield from enumerate(lines, start=number)


def count_lines(path: Path) -> int:
    """Roughly, and quickly: how many there are to read."""
    with told_plainly(path), unpacked_file(path) as file:
        return sum(chunk.count(b"\n") for chunk in iter(partial(file.read1, LONG), b"")) + 1


def _batches(path: Path) -> Iterator[tuple[int, list[str]]]:
    """As many lines as arrived together, after the number of the first. Takes a whole piece of
    the file at a time: a line by line loop would cost more than all the reading."""
    number = 1
    with told_plainly(path), unpacked_file(path) as file:
        begin = first_bytes(file)
        offset = len(BOM) if begin.startswith(BOM) else 0
        for block in whole_lines(file, begin[offset:]):
            lines = _decoded(block)
            if lines is None:
                yield from _up_to_the_wrong_one(path, block, number, offset, begin)
            else:
                yield number, lines
                number += len(lines)
            offset += len(block)


def first_bytes(file: BufferedIOBase) -> bytes:
    """The first bytes, enough of them to know whether there is a byte order mark."""
    begin = b""
    while begin != BOM and BOM.startswith(begin) and (more := file.read1(CHUNK)):
        begin += more
    return begin


def whole_lines(file: BufferedIOBase, begin: bytes) -> Iterator[bytes]:
    """The bytes of the file in blocks that end where a line does, wherever a chunk ended."""
    pieces: list[bytes] = []  # of a line that has not ended yet, joined only once
    # read1 gives what there is; read would wait until a pipe fills the chunk.
    for chunk in chain([begin], iter(partial(file.read1, CHUNK), b"")):
        if (nul := chunk.find(0)) >= 0:  # not text: the line may never end, so do not wait for it
            yield b"".join([*pieces, chunk[: nul + 1]])
            return
        if pieces and pieces[-1].endswith(b"\r") and not chunk.startswith(b"\n"):
            yield b"".join(pieces)
            pieces = []
        # An \r at the very end waits: its \n may be still to come.
        end = max(chunk.rfind(b"\n"), chunk.rfind(b"\r", 0, -1)) + 1
        if end:
            yield b"".join([*pieces, chunk[:end]])
            pieces = []
        if end < len(chunk):
            pieces.append(chunk[end:])
    if pieces:
        yield b"".join(pieces)


def _decoded(block: bytes) -> list[str] | None:
    """Its lines with their ends, or None where something in it is not text."""
    try:
        if len(block) < LONG:  # newline="" knows just the three ends we want, and leaves them
            lines = list(StringIO(block.decode("utf-8"), newline=""))
        else:  # slower for many lines, but without StringIO's four bytes a character
            lines = [line.decode("utf-8") for line in block.splitlines(keepends=True)]
    except UnicodeDecodeError:
        return None
    return None if 0 in block else lines


def _up_to_the_wrong_one(
    path: Path, block: bytes, number: int, offset: int, begin: bytes
) -> Iterator[tuple[int, list[str]]]:
    for raw in block.splitlines(keepends=True):
        try:
            line = raw.decode("utf-8")
        except UnicodeDecodeError as error:
            raise _not_utf8(path, number, offset, error, begin) from error
        if "\0" in line:
            raise _binary(path, number, offset + raw.index(0), begin)
        yield number, [line]
        number += 1
        offset += len(raw)


@contextmanager
def unpacked_file(path: Path) -> Iterator[BufferedIOBase]:
    with path.open("rb") as file:
        begin = file.peek(8)[:8]
        suffix = next((s for s, magic in PACKED.items() if begin.startswith(magic)), "")
        if suffix:
            with _unpack(suffix, file) as unpacked:
                yield unpacked
        elif path.suffix in PACKED:
            raise DataError(
                f"{path}: the name ends in {path.suffix}, but the file does not begin like one: it "
                f"begins with {begin!r}. Rename it if it is plain text, else fetch it again."
            )
        else:
            yield file


def _unpack(suffix: str, file: BufferedReader) -> AbstractContextManager[BufferedIOBase]:
    if suffix == ".gz":
        return gzip.GzipFile(fileobj=file)
    return lzma.LZMAFile(file) if suffix == ".xz" else _zstd_file(file)


@contextmanager
def _zstd_file(file: BufferedReader) -> Iterator[BufferedIOBase]:
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd
    try:
        with zstd.ZstdFile(file) as unpacked:
            yield unpacked
    except zstd.ZstdError as error:
        raise EOFError(error) from error  # said below, which does not import zstd for it


@contextmanager
def told_plainly(path: Path) -> Iterator[None]:
    """Say in a sentence why the file can not be read."""
    try:
        yield
    except FileNotFoundError as error:
        raise DataError(
            f"{path}: no such file in {path.absolute().parent}. Is the path right?"
        ) from error
    except (IsADirectoryError, PermissionError) as error:  # to Windows they are the same
        if os.path.isdir(path):  # path.is_dir() would fail once more
            raise DataError(f"{path}: this is a folder. Name one file inside it.") from error
        raise DataError(
            f"{path}: no permission to read it. Change that with chmod u+r, or ask its owner."
        ) from error
    except (gzip.BadGzipFile, zlib.error, lzma.LZMAError, EOFError) as error:
        raise DataError(
            f"{path}: the packed file is broken ({error}). Was the download or copy cut off? "
            "Fetch it again."
        ) from error
    except OSError as error:
        raise DataError(f"{path}: can not be read: {error.strerror or error}.") from error


def _not_utf8(
    path: Path, number: int, offset: int, error: UnicodeDecodeError, begin: bytes
) -> DataError:
    return DataError(
        f"{path}:{number}: not UTF-8: byte 0x{error.object[error.start]:02x} at offset "
        f"{offset + error.start} of the text. {_cause(begin) or _latin(error)}"
    )


def _latin(error: UnicodeDecodeError) -> str:
    around = error.object[max(0, error.start - 20) : error.start + 20].rstrip(b"\r\n")
    if any(byte < 32 and byte != 9 for byte in around):
        return "There are control characters around it: is this a binary file?"
    return (
        f"As Windows-1252 (Latin-1) it reads {around.decode('cp1252', 'replace')!r}: "
        "if that is right, convert the file with iconv -f WINDOWS-1252 -t UTF-8."
    )


def _binary(path: Path, number: int, offset: int, begin: bytes) -> DataError:
    return DataError(
        f"{path}:{number}: a NUL byte at offset {offset} of the text: binary data? "
        f"{_cause(begin) or 'If it is UTF-16 text, convert it with iconv -f UTF-16LE -t UTF-8.'}"
    )


def _cause(begin: bytes) -> str:
    return next((cause for magic, cause in MISTAKEN.items() if begin.startswith(magic)), "")
