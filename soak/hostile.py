"""Text files as people really have them, and a reader of our own to compare with.

The reader here shares no code with regard/data: it takes the whole file, cuts the bytes at
\\r\\n, \\n and \\r with one regular expression, and parses each format in the plainest way.
"""

import gzip
import json
import lzma
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import cycle, product
from pathlib import Path

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

Pairs = list[tuple[str, str]]
Pack = Callable[[bytes], bytes]

MARK = b"\xef\xbb\xbf"
FORMATS = ("txt", "tsv", "csv", "jsonl")
ENDS: dict[str, tuple[bytes, ...]] = {
    "LF": (b"\n",),
    "CRLF": (b"\r\n",),
    "CR": (b"\r",),
    "mixed": (b"\r\n", b"\n", b"\r", b"\r", b"\n"),
}
ODD = "\v\f\x1c\x1d\x1e\x85\u2028\u2029\ufeff\xa0\u200b\u202e\u0301\ue000\ufffe\U0010ffff"
BOUNDARY = 80_000  # bytes, more than are read at once: a CRLF will lie across two reads
LONGEST = 100_000_000  # characters in a line


def several(pack: Pack) -> Pack:
    """Packed in three parts, one of them empty, as `cat a.gz b.gz` makes them."""

    def packed(data: bytes) -> bytes:
        cut = min(2, len(data))  # inside of a byte order mark, should there be one
        return pack(data[:cut]) + pack(b"") + pack(data[cut:])

    return packed


PACKS: dict[str, tuple[str, Pack]] = {
    "plain": ("", bytes),
    "gz": (".gz", lambda data: gzip.compress(data, 1, mtime=0)),
    "xz": (".xz", lzma.compress),
    "zst": (".zst", zstd.compress),
    "gz in parts": (".gz", several(gzip.compress)),
    "xz in parts": (".xz", several(lzma.compress)),
    "zst in parts": (".zst", several(zstd.compress)),
}


@dataclass(frozen=True)
class Hostile:
    """A file in the making. `pairs` None: `begin` is all that it holds, in any format."""

    name: str
    pairs: Pairs | None
    ends: str = "LF"
    pack: str = "plain"
    begin: bytes = b""
    last: bool = True
    """Whether the last line has an end."""
    header: bool = True

    def write(self, folder: Path, form: str) -> list[Path]:
        """The file, or for "txt" the two with matching lines."""
        suffix, pack = PACKS[self.pack]
        if form == "txt":
            sides = [(f"data.{side}.txt", side) for side in (0, 1)]
        else:
            sides = [(f"data.{form}", 0)]
        paths = []
        for name, side in sides:
            path = folder / f"{name}{suffix}"
            path.write_bytes(pack(self.content(form, side)))
            paths.append(path)
        return paths

    def content(self, form: str, side: int = 0) -> bytes:
        if self.pairs is None:
            return self.begin
        lines = [LINES[form](pair, side).encode() if pair[0] else b"" for pair in self.pairs]
        if self.header and form in ("csv", "tsv"):
            lines.insert(0, {"csv": b"source,target", "tsv": b"source\ttarget"}[form])
        ended = list(map(bytes.__add__, lines, cycle(ENDS[self.ends])))
        return self.begin + b"".join(ended if self.last else [*ended[:-1], lines[-1]])


def _quoted(cell: str) -> str:
    return '"' + cell.replace('"', '""') + '"' if re.search('[",\r\n]', cell) else cell


def _flat(cell: str) -> str:
    return re.sub("[\r\n]", " ", cell)


def _json(pair: tuple[str, str]) -> str:
    return json.dumps(dict(zip(("source", "target"), pair, strict=True)), ensure_ascii=False)


LINES: dict[str, Callable[[tuple[str, str], int], str]] = {
    "txt": lambda pair, side: _flat(pair[side]),
    "tsv": lambda pair, _: "\t".join(map(_flat, pair)),
    "csv": lambda pair, _: ",".join(map(_quoted, pair)),
    "jsonl": lambda pair, _: _json(pair),
}


def words(count: int, odd: str = "") -> Pairs:
    """Pairs that look like no header, with something odd inside of some of them."""
    return [(f"s{i}.{odd * (i % 3)}x é{i}", f"t{i} {odd * (i % 2)}日🙂") for i in range(count)]


def hostile_files(full: bool) -> Iterator[Hostile]:
    """More than seventy. In full, some are larger than what is read at once."""
    for odd, (number, ends) in zip(ODD, enumerate(cycle(ENDS)), strict=False):
        yield Hostile(f"U+{ord(odd):04X} inside", words(9, odd), ends, header=number % 2 == 0)
    for ends, pack in product(ENDS, PACKS):
        yield Hostile(f"{ends}, {pack}", words(12), ends, pack, header=pack != "gz")
    for ends in ENDS:
        yield Hostile(f"a mark, {ends}", words(7), ends, begin=MARK, header=ends != "CR")
        yield Hostile(f"no last end, {ends}", words(7), ends, last=False)
    yield Hostile("two marks", words(5), begin=MARK * 2, header=False)
    yield Hostile("blank lines first", words(5), "mixed", begin=b"\n\r\n\r  \n")
    yield Hostile("a blank line in the middle", [*words(5)[:2], ("", ""), *words(5)[2:]], "CRLF")
    yield Hostile("only a header", [])
    for nothing in (b"", MARK, b"\n", b"\r", b"\r\n\r\n", b"\n\r\n\r", b"  \n \r\n", MARK + b"\n"):
        yield Hostile(f"nothing but {nothing!r}", None, begin=nothing)
    for row in (0, 3, 6):
        broken = [(s, t + "\0" * (n == row)) for n, (s, t) in enumerate(words(7))]
        yield Hostile(f"NUL in row {row}", broken, "mixed", header=False)
    inside = [('say "a, b"', "one\r\ntwo\rthree\nfour\u2028five"), *words(4, '"'), ("x.y", ",")]
    yield Hostile("line ends inside of quotes", inside, "CRLF")
    short = [(f"{i % 7}.", "b") for i in range((BOUNDARY if full else 600) // 6)]
    for shift in range(6):
        moved = [("s" + "." * shift, "b"), *short]
        yield Hostile(f"CRLF over a boundary, {shift}", moved, "CRLF", header=False)
    for size in (2_000_000, LONGEST) if full else (100_000,):
        tall = [*words(3), (f"long {'x' * size}", "target"), *words(3)]
        yield Hostile(f"a line of {size:,} characters", tall, "CRLF", "gz")


# The reader to compare with


def lines_of(data: bytes) -> list[bytes]:
    parts = re.split(rb"\r\n|\n|\r", data.removeprefix(MARK))
    return parts[:-1] if parts[-1] == b"" else parts


def pairs_of(contents: Sequence[bytes], form: str, header: bool) -> Pairs:
    """What the file, or two, hold; blank lines and the header left out."""
    texts = [line.decode() for line in lines_of(contents[0])]
    if form == "txt":
        others = [line.decode() for line in lines_of(contents[1])]
        return [pair for pair in zip(texts, others, strict=True) if any(map(str.strip, pair))]
    if form == "jsonl":
        found = (json.loads(text) for text in texts if text.strip())
        return [(row["source"], row["target"]) for row in found]
    if form == "csv":
        rows = [tuple(row) for row in _csv_rows(contents[0].removeprefix(MARK).decode())]
    else:
        rows = [tuple(text.split("\t")) for text in texts if text.strip(" ")]
    return [(row[0], row[1]) for row in rows[1 if header else 0 :]]


def _csv_rows(text: str) -> Iterator[list[str]]:
    """Cell by cell: in quotes, or up to the next comma or line end."""
    row: list[str] = []
    for quoted, plain, end in re.findall(
        r'(?:"((?:[^"]|"")*)"|([^,\r\n]*))(,|\r\n|\r|\n|\Z)', text
    ):
        row.append(quoted.replace('""', '"') or plain)
        if end != ",":
            if any(cell.strip(" ") for cell in row):
                yield row
            row = []
