"""Read pairs of texts: one pair a line, source and target separated by a tab."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from regard.data.lines import read_lines
from regard.errors import DataError


@dataclass(frozen=True, slots=True)
class Pair:
    source: str
    target: str


def read_pairs(path: Path) -> Iterator[Pair]:
    """Yield the pairs of a file in order and exactly as typed, skipping blank lines."""
    number = pairs = 0
    for number, line in read_lines(path):
        if not line.strip(" "):
            continue
        columns = line.split("\t")
        if len(columns) != 2:
            raise DataError(
                f"{path}:{number}: expected source<TAB>target, found {len(columns)} column"
                f"{'s' * (len(columns) > 1)} in {_short(line)}. {_guess(line)}"
            )
        for side, text in zip(("source", "target"), columns, strict=True):
            if not text.strip():
                raise DataError(
                    f"{path}:{number}: the {side} is empty in {_short(line)}. "
                    "Fill it in, or remove the line."
                )
        pairs += 1
        yield Pair(*columns)
    if not pairs:
        raise DataError(
            f"{path}: no pairs in it: {'every line is blank' if number else 'the file is empty'}. "
            "Expected one source<TAB>target on each line."
        )


def _guess(line: str) -> str:
    if "\t" in line:
        return "Keep two columns, as with cut -f 1,2, and no tab inside a text."
    if re.search(r"\S {2,}\S", line):
        return "Did an editor turn the tab into several blanks?"
    for mark, name in ((",", "commas"), (";", "semicolons"), ("|", "bars")):
        if mark in line:
            return f"Is the file separated by {name}? Save it with tabs."
    return "Put one tab between source and target."


def _short(line: str) -> str:
    return repr(line if len(line) <= 60 else line[:57] + "...")
