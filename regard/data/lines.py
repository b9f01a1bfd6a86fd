"""The only way Regard opens text: numbered lines of a UTF-8 file, plain or packed.

A line ends at \\n, \\r\\n or \\r and nowhere else: Python's own str.splitlines would also cut at
form feeds and a dozen other characters that people keep inside their sentences.
"""

import gzip
import lzma
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedIOBase
from pathlib import Path

from regard.errors import DataError

BOM = b"\xef\xbb\xbf"
CHUNK = 2**16

PACKED = {".gz": b"\x1f\x8b", ".xz": b"\xfd7zXZ\x00"}

# How files begin that people mistake for UTF-8 text, and what to do about each.
MISTAKEN = {
    b"\xff\xfe": "It begins like UTF-16: convert it with iconv -f UTF-16 -t UTF-8.",
    b"\xfe\xff": "It begins like UTF-16: convert it with iconv -f UTF-16 -t UTF-8.",
    b"PK\x03\x04": "It is a ZIP archive (so are .xlsx and .docx): unpack it, or export it as text.",
    b"%PDF": "It is a PDF: export it as text.",
    b"BZh": "It is packed with bzip2: unpack it, or pack it with gzip or xz.",
    b"\x28\xb5\x2f\xfd": "It is packed with zstd: unpack it, or pack it with gzip or xz.",
    b"PAR1": "It is a Parquet file: export it as text.",
}


def read_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield (1, first line), (2, second line), ... without their ends.

    A byte order mark at the start is dropped. Memory holds one piece of the file at a time, or
    one line where a line is longer. Anything that is not text is a DataError naming its place.
    """
    with _plain_errors(path), _unpacked(path) as file:
        head = file.read(len(BOM))
        offset = len(BOM) if head == BOM else 0
        begin = b"" if offset else head + file.read(8)  # enough to know other formats by
        for number, raw in enumerate(_raw_lines(file, begin), start=1):
            try:
                line = raw.decode("utf-8")
            except UnicodeDecodeError as error:
                raise _not_utf8(path, number, offset, error, begin) from error
            if "\0" in line:
                raise _binary(path, number, offset + raw.index(0), begin)
            yield number, line.rstrip("\r\n")
            offset += len(raw)


def _raw_lines(file: BufferedIOBase, rest: bytes) -> Iterator[bytes]:
    """Lines with their ends. bytes.splitlines knows just the three ends we want."""
    # Reading as much as is left over copies even a line of gigabytes only a few times.
    while chunk := file.read(max(CHUNK, len(rest))):
        *whole, rest = (rest + chunk).splitlines(keepends=True)
        yield from whole  # the last one waits: it may go on, or its \r may have a \n to come
    yield from rest.splitlines(keepends=True)


@contextmanager
def _unpacked(path: Path) -> Iterator[BufferedIOBase]:
    with path.open("rb") as file:
        begin = file.peek(8)[:8]
        if begin.startswith(PACKED[".gz"]):
            with gzip.GzipFile(fileobj=file) as unpacked:
                yield unpacked
        elif begin.startswith(PACKED[".xz"]):
            with lzma.LZMAFile(file) as unpacked:
                yield unpacked
        elif path.suffix in PACKED:
            raise DataError(
                f"{path}: the name ends in {path.suffix}, but the file does not begin like one: it "
                f"begins with {begin!r}. Rename it if it is plain text, else fetch it again."
            )
        else:
            yield file


@contextmanager
def _plain_errors(path: Path) -> Iterator[None]:
    """Say in a sentence why the file can not be read."""
    try:
        yield
    except FileNotFoundError as error:
        raise DataError(
            f"{path}: no such file in {path.absolute().parent}. Is the path right?"
        ) from error
    except (IsADirectoryError, PermissionError) as error:  # to Windows they are the same
        if path.is_dir():
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
