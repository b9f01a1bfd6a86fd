"""What a file is made of before it is text: packing, byte order mark, line ends, broken bytes."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from regard.data.findings import FEW, Finding, found
from regard.data.lines import (
    BOM,
    PACKED,
    first_bytes,
    read_lines,
    told_plainly,
    unpacked_file,
    whole_lines,
)
from regard.errors import DataError


@dataclass(frozen=True)
class FileFacts:
    path: Path
    packed: str
    """gz, xz, zst, or nothing."""
    marked: bool
    """Whether it begins with a byte order mark."""
    lines: int
    ends: dict[str, int]
    r"""How many lines end in each of \n, \r\n and \r; a last line without an end counts nowhere."""
    broken: int
    """Lines that are not UTF-8, or hold a NUL byte."""
    broken_lines: tuple[int, ...]
    """The first few of them."""
    problem: str
    """What reading says about the first."""

    def __str__(self) -> str:
        r"""'UTF-8, \n line ends, 12 lines, gz'"""
        text = "not UTF-8" if self.broken else "UTF-8"
        mark = " with a byte order mark" if self.marked else ""
        ends = " and ".join(self.ends) or "no"
        lines = f"{self.lines:,} line{'s' * (self.lines != 1)}"
        return ", ".join([text + mark, f"{ends} line ends", lines, *filter(None, [self.packed])])

    def findings(self) -> Iterator[Finding]:
        where = [f"{self.path}:{number}" for number in self.broken_lines]
        why = self.problem.removeprefix(f"{where[0]}: ") if where else ""
        note = f"training refuses the file, and this check can not read on: {why}"
        yield found("not UTF-8", "problem", self.broken, where, note)
        note = "training never sees it: it is dropped"
        yield found("byte order mark", "note", int(self.marked), [f"{self.path}:1"], note)
        kinds = ", ".join(f"{name} {count:,}" for name, count in self.ends.items())
        note = f"training never sees a difference ({kinds}), other programs may"
        mixed = sum(self.ends.values()) - max(self.ends.values(), default=0)
        yield found("mixed line ends", "note", mixed, [str(self.path)], note)


def inspect(path: Path) -> FileFacts:
    """Read the file once, as bytes. A missing file or a broken archive is a DataError."""
    ends: Counter[str] = Counter()
    lines = broken = 0
    broken_lines: list[int] = []
    with told_plainly(path), unpacked_file(path) as file:
        begin = first_bytes(file)
        marked = begin.startswith(BOM)
        for block in whole_lines(file, begin.removeprefix(BOM)):
            if not _is_text(block):
                wrong = [n for n, line in enumerate(block.splitlines(), 1) if not _is_text(line)]
                broken += len(wrong)
                broken_lines += [lines + n for n in wrong[:FEW]]
            ends += _ends(block)
            lines += len(block.splitlines())
    return FileFacts(
        path,
        packed=_packing(path),
        marked=marked,
        lines=lines,
        ends=dict(ends),
        broken=broken,
        broken_lines=tuple(broken_lines[:FEW]),
        problem=_complaint(path) if broken else "",
    )


def _is_text(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return 0 not in data


def _ends(block: bytes) -> Counter[str]:
    both = block.count(b"\r\n")
    line_feeds, returns = block.count(b"\n") - both, block.count(b"\r") - both
    return Counter({r"\n": line_feeds, r"\r\n": both, r"\r": returns})


def _packing(path: Path) -> str:
    with path.open("rb") as file:
        begin = file.read(8)
    return next((name[1:] for name, magic in PACKED.items() if begin.startswith(magic)), "")


def _complaint(path: Path) -> str:
    try:
        for _ in read_lines(path):
            pass
    except DataError as error:
        return str(error)
    return ""
