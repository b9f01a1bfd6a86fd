"""C1, C2, C3: a file gives exactly the texts that are in it, or a sentence about what is wrong.

Every file goes through every door (see doors.py) and is compared with a reader of our own (see
hostile.py). Small files are also read in chunks of a few bytes, so that every place in them is
once the place where a chunk ends.
"""

import random
import resource
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any
from unittest import mock

from regard.data import lines
from regard.errors import DataError
from soak import doors
from soak.campaign import Campaign, Outcome
from soak.corrupt import corrupted, first_wrong
from soak.hostile import (
    ENDS,
    FORMATS,
    LONGEST,
    MARK,
    PACKS,
    Hostile,
    Pairs,
    hostile_files,
    lines_of,
    pairs_of,
    words,
)

SMALL = 10_000  # bytes
GIGABYTE = 10**9
CHUNKS = (1, 2, 3, 5, 8, 2**16)
SEPARATORS = "\x85\u2028\u2029"
CONTROLS = "\v\f\x1c\x1d\x1e\0"

Case = tuple[Hostile, str, str]  # file, format, door


def through(door: str, paths: Sequence[Path], chunk: int) -> Any:
    """What came in, or the sentence that refused it."""
    try:
        with mock.patch.object(lines, "CHUNK", chunk):
            return getattr(doors, door)(paths)
    except DataError as error:
        return str(error)


# C1


def read_hostile_files(cases: int, dice: random.Random, folder: Path) -> Outcome:
    outcome = Outcome()
    full = cases == HOSTILE
    files = list(hostile_files(full))
    every: list[Case] = [
        case for case in product(files, FORMATS, doors.DOORS) if not _too_much(*case)
    ]
    for case in every if full else dice.sample(every, cases):
        _read_one(case, dice, folder, outcome)
    outcome.notes.append(f"{len(files)} files in {len(FORMATS)} formats through 4 doors")
    if full:
        _read_a_gigabyte(folder / "gigabyte.txt", outcome)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1000
        outcome.notes.append(
            f"the longest line has {GIGABYTE:,} bytes; to read it took at most {peak:,} MB in all"
        )
    return outcome


def _read_a_gigabyte(path: Path, outcome: Outcome) -> None:
    """One line of it, and a short one behind."""
    piece = bytes(range(32, 127)) * 10_000
    rest = b"x" * (GIGABYTE % len(piece))
    with path.open("wb") as file:
        for _ in range(GIGABYTE // len(piece)):
            file.write(piece)
        file.write(rest + b"\nend\n")
    found = [(number, len(line), line[-3:]) for number, line in lines.read_lines(path)]
    path.unlink()
    outcome.saw(found == [(1, GIGABYTE, "xxx"), (2, 3, "end")], f"a line of 1 GB: {found}")


def _too_much(file: Hostile, form: str, door: str) -> bool:
    """The longest line of all goes through every door in one format only."""
    return f"{LONGEST:,}" in file.name and form != "tsv"


def _read_one(case: Case, dice: random.Random, folder: Path, outcome: Outcome) -> None:
    file, form, door = case
    paths = file.write(folder, form)
    contents = [file.content(form, side) for side in range(len(paths))]
    chunk = dice.choice(CHUNKS) if len(contents[0]) < SMALL else 2**16
    found = through(door, paths, chunk)
    wanted = expected(file, form, door, contents, paths)
    held = agree(found, wanted)
    outcome.saw(
        held,
        f"{file.name}, {form} through {door} in chunks of {chunk}: expected {str(wanted)[:150]}, "
        f"found {str(found)[:150]}",
    )


def expected(file: Hostile, form: str, door: str, contents: list[bytes], paths: list[Path]) -> Any:
    """Texts, or what the refusal must say, or for `check` the counts that it must give."""
    read = contents[:1] if door == "predict" else contents
    for content, path in zip(read, paths, strict=False):
        if b"\0" in content:
            line, offset, _ = first_wrong(content)
            where = f"{path}:{line}"
            return (
                {"not UTF-8": 1} if door == "check" else f"{where}: a NUL byte at offset {offset}"
            )
    if door == "predict" and form == "txt":
        return [line.decode() for line in lines_of(contents[0])]
    try:
        pairs = pairs_of(contents, form, file.header)
    except ValueError:
        return "not JSON"
    if not pairs:
        return [] if door == "predict" else "no rows"
    if door == "predict":
        return [source for source, _ in pairs]
    return _counts(pairs, contents) if door == "check" else pairs


def _counts(pairs: Pairs, contents: list[bytes]) -> dict[str, int]:
    text = "".join(source + target for source, target in pairs)
    return {
        "rows": len(pairs),
        "not UTF-8": 0,
        "byte order mark": sum(content.startswith(MARK) for content in contents),
        "mixed line ends": sum(map(_minority, contents)),
        "line separators": sum(map(text.count, SEPARATORS)),
        "control characters": sum(map(text.count, CONTROLS)),
    }


def _minority(content: bytes) -> int:
    """Line ends that are not of the most frequent kind."""
    both = content.count(b"\r\n")
    kinds = [both, content.count(b"\n") - both, content.count(b"\r") - both]
    return sum(kinds) - max(kinds)


def agree(found: Any, wanted: Any) -> bool:
    if isinstance(found, str):  # refused: where something was wanted, that is a loss
        return wanted == [] and "no rows" in found or isinstance(wanted, str) and wanted in found
    if isinstance(found, dict) and isinstance(wanted, dict):
        counts = {"rows": found["rows"]}
        for finding in found["findings"]:
            counts[finding["name"]] = counts.get(finding["name"], 0) + finding["count"]
        return all(counts.get(name, 0) == count for name, count in wanted.items())
    return bool(found == wanted)


# C2


def drop_marks(cases: int, dice: random.Random, folder: Path) -> Outcome:
    outcome = Outcome()
    kinds = list(product(FORMATS, PACKS, ENDS, (False, True), doors.DOORS))
    for form, pack, ends, header, door in dice.sample(kinds, cases):
        pairs = words(dice.randint(3, 9), dice.choice(["", '"', ",", "\u2028"]))
        file = Hostile(f"a mark, {ends}, {pack}", pairs, ends, pack, MARK, header=header)
        _read_one((file, form, door), dice, folder, outcome)
    return outcome


# C3


def refuse_other_encodings(cases: int, dice: random.Random, folder: Path) -> Outcome:
    outcome = Outcome()
    kinds: dict[str, int] = {}
    for number in range(cases):
        form, door = dice.choice(FORMATS), dice.choice(doors.DOORS)
        kind, content = corrupted(dice, form)
        suffix, pack = PACKS[dice.choice(list(PACKS))]
        paths = [folder / f"x.{form}{suffix}"]
        paths[0].write_bytes(pack(content))
        if form == "txt" and door != "predict":
            paths.append(folder / f"good.txt{suffix}")
            paths[1].write_bytes(pack(b"x\n" * len(lines_of(content))))
        found = through(door, paths, dice.choice(CHUNKS))
        kinds[kind] = kinds.get(kind, 0) + 1
        held = _placed(found, paths[0], content, door)
        what = f"case {number}, {kind}, {form}{suffix} through {door}: {content[:60]!r}"
        outcome.saw(held, f"{what}: wrong at {first_wrong(content)}, found {str(found)[:200]}")
    outcome.notes.append(", ".join(f"{kind} {count:,}" for kind, count in kinds.items()))
    outcome.notes.append("There is no option to replace what is wrong: the errors name iconv.")
    return outcome


def _placed(found: Any, path: Path, content: bytes, door: str) -> bool:
    """Whether line, byte and offset are named, and nothing was read past them."""
    line, offset, byte = first_wrong(content)
    what = f"byte 0x{byte:02x} at offset {offset} " if byte else f"a NUL byte at offset {offset} "
    if door != "check":
        return isinstance(found, str) and found.startswith(f"{path}:{line}: ") and what in found
    if isinstance(found, str):
        return False
    (finding,) = (f for f in found["findings"] if f["name"] == "not UTF-8")
    return finding["where"][0] == f"{path}:{line}" and what in finding["note"]


HOSTILE = 1204
CAMPAIGNS: tuple[Campaign, ...] = (
    Campaign(
        name="C1",
        promise="lines end at \\n, \\r\\n or \\r only: the texts of hostile files come in whole",
        full=HOSTILE,
        short=80,
        run=read_hostile_files,
    ),
    Campaign(
        name="C2",
        promise="a byte order mark never becomes part of a text",
        full=896,
        short=60,
        run=drop_marks,
    ),
    Campaign(
        name="C3",
        promise="what is not UTF-8 is refused, with its file, line and byte",
        full=2000,
        short=100,
        run=refuse_other_encodings,
    ),
)
