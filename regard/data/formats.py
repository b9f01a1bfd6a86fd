"""How the rows of a table are written down: TSV, CSV, or two files side by side.
(JSON has json_lines.py.)

Each reader yields (line, cells) in order and exactly as typed, and a `Flaw` in the place of every
row that can not be used: who reads decides whether to stop there. Blank lines are skipped.
`pick` takes the wanted cells out of a row: operator.itemgetter(0, 2), or `tuple` for all of them.
"""

import csv
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain, zip_longest
from pathlib import Path
from typing import Any

from regard.data.lines import read_lines
from regard.errors import DataError

Cell = str | list[str]
Line = tuple[int, str]
Pick = Callable[[Sequence[Any]], tuple[Any, ...]]

DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
QUOTED = r'"(?:[^"]++|"")*+"'


@dataclass(frozen=True, slots=True)
class Flaw:
    """A row that can not be used. `problem` is what to say after 'file:line: '."""

    line: int
    kind: str
    problem: str


Found = tuple[int, tuple[Any, ...]] | Flaw  # the line where a row begins and its cells, or a flaw


def short(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:57] + "...")


# TSV


def read_tsv(path: Path, width: int, pick: Pick) -> Iterator[Found]:
    """Rows of `width` cells between tabs. Quote characters are part of the text."""
    for number, line in read_lines(path):
        cells = line.split("\t")
        if len(cells) == width and (width > 1 or line.strip(" ")):
            yield number, pick(cells)
        elif line.strip(" "):
            yield _ragged(number, line, width, len(cells), "\t")


def _ragged(number: int, text: str, width: int, found: int, delimiter: str) -> Flaw:
    problem = (
        f"expected {width} columns separated by {DELIMITERS[delimiter]}, found {found} column"
        f"{'s' * (found > 1)} in {short(text)}. {_guess(text, width, found, delimiter)}"
    )
    return Flaw(number, "columns", problem)


def _guess(text: str, width: int, found: int, delimiter: str) -> str:
    mark = DELIMITERS[delimiter][:-1]
    if f'{delimiter} "' in text and delimiter != "\t":
        return f"Quotes count only right after the {mark}: take out the blank between them."
    if found > width and delimiter != "\t":
        return f"Is there a {mark} inside a text? Put double quotes around that text."
    if found > width:
        keep = "Keep two columns, as with cut -f 1,2, and put" if width == 2 else "Put"
        return f"{keep} no tab inside a text."
    if found > 1 or delimiter != "\t":
        return f"Is a {mark} missing?"
    if re.search(r"\S {2,}\S", text):
        return "Did an editor turn the tab into several blanks?"
    others = (name for other, name in DELIMITERS.items() if other in text)
    if name := next(others, ""):
        return f"Is it separated by {name}? Save it with tabs."
    return "Put one tab between the columns."


# CSV


def read_csv(
    lines: Iterable[Line], delimiter: str, width: int = 0, pick: Pick = tuple
) -> Iterator[Found]:
    """Rows as in RFC 4180: a text in double quotes may hold delimiters, line ends, and quotes
    written twice. Takes lines with their ends. Without a width, rows may have any.

    After a mistake in the quotes reading goes on at the line below the wrong quote, so that one
    forgotten quote costs one row and not the rest of the file.
    """
    csv.field_size_limit(2**31 - 1)
    fresh = iter(lines)
    again: list[Line] = []
    row: list[Line] = []
    while True:
        try:
            for cells in csv.reader(_fed(fresh, again, row), delimiter=delimiter, strict=True):
                if len(cells) == width > 1:
                    yield row[0][0], pick(cells)
                elif (text := _joined(row)) and width in (0, len(cells)):
                    yield row[0][0], pick(cells)
                elif text:
                    yield _ragged(row[0][0], text, width, len(cells), delimiter)
                row.clear()
            return
        except csv.Error:
            wrong, flaw = _bad_quote(row, delimiter)
            yield flaw
            again.extend(reversed(row[wrong + 1 :]))
            row.clear()


def _fed(fresh: Iterator[Line], again: list[Line], row: list[Line]) -> Iterator[str]:
    """The lines, those to be read again first; each is noted in `row`."""
    while again:
        row.append(again.pop())
        yield row[-1][1]
    for line in fresh:
        row.append(line)
        yield line[1]


def _joined(row: list[Line]) -> str:
    return "".join(line for _, line in row).strip(" \r\n")


def _bad_quote(row: list[Line], delimiter: str) -> tuple[int, Flaw]:
    """In which of a row's lines the quote opens that makes no sense, and what to say about it."""
    text, mark = "".join(line for _, line in row), re.escape(delimiter)
    good = re.match(rf'(?:(?:{QUOTED}|(?!")[^{mark}]*+){mark})*+', text)
    start = good.end() if good else 0
    wrong = bisect_right(list(accumulate(len(line) for _, line in row)), start)
    closed = re.compile(QUOTED).match(text, start)
    if closed:
        around = text[max(start, closed.end() - 40) : closed.end() + 20]
        problem = (
            f"a text in quotes goes on after its closing quote, around {short(around)}. "
            'Inside of quotes write every quote twice, as in "She said ""no"" twice".'
        )
        return wrong, Flaw(row[0][0], "quotes", problem)
    opening = text[start : start + 100].splitlines()[0]
    problem = (
        f"the quote that opens in {short(opening)} is never closed. Close it; or, if it belongs "
        "to the text, put quotes around the whole text and write this one twice."
    )
    return wrong, Flaw(row[wrong][0], "quotes", problem)


# Two files side by side


def read_parallel(paths: Sequence[Path], pick: Pick) -> Iterator[Found]:
    """Line n of one file with line n of the other."""
    files = [read_lines(path) for path in paths]
    number = 0
    for one, other in zip_longest(*files):
        if one is None or other is None:
            longer = 0 if other is None else 1
            _check_rest(paths, number, longer, chain([one or other], files[longer]))
            return
        number, texts = one[0], (one[1], other[1])
        if all(text.strip() for text in texts):
            yield number, pick(texts)
        elif any(text.strip() for text in texts):
            yield _blank(paths, number, texts)


def _blank(paths: Sequence[Path], number: int, texts: Sequence[str]) -> Flaw:
    blank = 1 if texts[0].strip() else 0
    problem = (
        f"line {number} of {paths[blank]} is blank, and that of {paths[1 - blank]} is "
        f"{short(texts[1 - blank])}. Fill it in, or remove the line from both files."
    )
    return Flaw(number, "empty", problem)


def _check_rest(paths: Sequence[Path], number: int, longer: int, rest: Iterable[Line]) -> None:
    """Blank lines at the end do no harm; others mean that some lines have no partner."""
    counts, harm = [number, number], False
    for last, text in rest:
        counts[longer] = last
        harm = harm or bool(text.strip())
    if harm:
        raise DataError(
            f"{paths[0]} has {counts[0]} lines and {paths[1]} has {counts[1]}: line n of one must "
            "go with line n of the other. Were lines lost, or added, in one of them?"
        )
