"""How is a file of texts in columns written? Its first lines tell, and then its name.

Whatever can be nothing we read is refused here, with what to do about it.
"""

import json
import re
import shlex
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from operator import itemgetter
from pathlib import Path
from typing import Any

from regard.data.formats import DELIMITERS, Flaw, Line, read_csv, short
from regard.data.headers import is_header
from regard.data.json_lines import as_cell, parse_object
from regard.data.lines import PACKED, read_raw_lines
from regard.errors import DataError

SAMPLE_ROWS = 200
SAMPLE_SIZE = 2**20  # characters
TABS, JSON = (".tsv", ".tab"), (".jsonl", ".ndjson", ".json")
TABLES = (".csv", *TABS, *JSON)
BLANK = " \r\n"
HOW = "Expected one source<TAB>target on each line."


class OneColumn(DataError):
    """Pairs need a second column; who looks for inputs alone can do without."""


@dataclass(frozen=True)
class Head:
    """How a file begins: lines with their ends, from the first that is not blank."""

    path: Path
    lines: list[Line]
    whole: bool  # whether these are all

    @property
    def suffix(self) -> str:
        return inner_suffix(self.path)


def inner_suffix(path: Path) -> str:
    """The ending that tells the format: .csv of pairs.csv.gz."""
    return Path(path.stem if path.suffix.lower() in PACKED else path.name).suffix.lower()


def read_head(path: Path) -> Head:
    lines: list[Line] = []
    number = size = 0
    for number, line in read_raw_lines(path):
        if size >= SAMPLE_SIZE:
            return Head(path, lines, whole=False)
        if lines or line.strip(BLANK):
            lines.append((number, line))
            size += len(line)
    if not lines:
        raise no_rows(path, "every line is blank" if number else "the file is empty")
    return Head(path, lines, whole=True)


def no_rows(path: Path, why: str) -> DataError:
    return DataError(f"{path}: no rows in it: {why}. {HOW}")


# JSON


def is_jsonl(head: Head) -> bool:
    """Whether the file holds a JSON object a line. JSON of another shape is refused."""
    number, line = head.lines[0][0], head.lines[0][1].strip()
    place, named_so = f"{head.path}:{number}", head.suffix in JSON
    if re.match(r"\[" if named_so else r"\[\s*(\{|$)", line):
        raise DataError(
            f"{place}: a JSON array begins here, {short(line)}. "
            f"Write its objects one a line: {_jq(head.path, '.[]')}"
        )
    if line == "{":
        raise DataError(
            f"{place}: a JSON object over several lines. Write it on one: {_jq(head.path, '.')}"
        )
    found = parse_object(number, line)
    if named_so and isinstance(found, Flaw) and not line.startswith("{"):
        raise DataError(f"{place}: {found.problem}")
    cut_off = head.suffix not in TABLES and re.match(r'\{\s*"', line)
    return named_so or not isinstance(found, Flaw) or bool(cut_off)


def json_columns(head: Head, least: int = 2) -> tuple[list[str], list[str]]:
    """The keys of the first objects in order of appearance: those with texts, of which there must
    be so many, and those whose values are all objects or lists of such."""
    lines = ((number, line.strip()) for number, line in head.lines)
    found = [parse_object(*line) for line in islice(filter(itemgetter(1), lines), SAMPLE_ROWS)]
    values: dict[str, list[Any]] = {}
    for row in found:
        for key, value in ({} if isinstance(row, Flaw) else row).items():
            values.setdefault(key, []).append(value)
    if not values and isinstance(found[0], Flaw):
        raise DataError(f"{head.path}:{found[0].line}: {found[0].problem}")
    nested = [key for key, column in values.items() if all(as_cell(v) is None for v in column)]
    texts = [key for key in values if key not in nested]
    if len(texts) < least:
        raise OneColumn(
            f"{head.path}: two keys with texts are needed, for source and target; its objects "
            f"have {f'only {texts[0]}' if texts else 'none'}. {_inside(head.path, nested, values)}"
        )
    return texts, nested


def _inside(path: Path, nested: list[str], values: dict[str, list[Any]]) -> str:
    if not nested:
        return "Add the other one."
    plain = re.fullmatch(r"[A-Za-z_][A-Za-z_0-9]*", nested[0])
    key = nested[0] if plain else json.dumps(nested[0])
    each = "[]" if isinstance(values[nested[0]][0], list) else ""
    return f"Are they inside of {nested[0]}? Take them out: {_jq(path, f'.{key}{each}')}"


def _jq(path: Path, what: str) -> str:
    """A command that mends a JSON file."""
    unpack = {".gz": "zcat", ".xz": "xzcat", ".zst": "zstdcat"}.get(path.suffix)
    new = f"{path.name.split('.')[0]}.new.jsonl"
    jq, file, new = (shlex.quote(word) for word in (what, str(path), new))
    return f"{unpack} {file} | jq -c {jq} > {new}" if unpack else f"jq -c {jq} {file} > {new}"


# Columns between delimiters


@dataclass(frozen=True)
class Cut:
    """The first rows cut at a delimiter, in one of the two formats that have one."""

    format: str
    delimiter: str
    rows: list[Sequence[str]]

    @cached_property
    def width(self) -> int:
        """The most frequent number of columns from two on; 0 if every row has one."""
        counts = Counter(len(row) for row in self.rows if len(row) > 1)
        return counts.most_common(1)[0][0] if counts else 0

    @property
    def alike(self) -> float:
        """The share of rows that have this many columns."""
        return sum(len(row) == self.width > 0 for row in self.rows) / len(self.rows)

    @property
    def divided(self) -> float:
        """The share of rows that have columns at all."""
        return sum(len(row) > 1 for row in self.rows) / len(self.rows)

    @property
    def begins_alike(self) -> bool:
        return len(self.rows[0]) == self.width > 0


def find_cut(head: Head) -> Cut:
    """Where to cut: at tabs if the name says so, else at what cuts most first rows alike."""
    tabs = _cut_tabs(head)
    if head.suffix in TABS:
        if not tabs.width:
            raise _no_tabs(head)
        return tabs
    if head.suffix == ".csv":  # said to be cut somehow, so rows may be ragged
        cuts = [c for c in _csv_cuts(head) if c.divided > 0.5 or is_header(c.rows[0])]
    elif tabs.alike > 0.5:
        return tabs
    else:  # prose has commas too, though not the same number everywhere
        cuts = [cut for cut in _csv_cuts(head) if cut.alike >= 0.9]
    if not cuts:
        raise _one_column(head)
    return max(cuts, key=lambda cut: (cut.begins_alike, cut.alike))


def _cut_tabs(head: Head) -> Cut:
    texts = (line.rstrip("\r\n") for _, line in head.lines)
    rows = [text.split("\t") for text in texts if text.strip(" ")]
    return Cut("tsv", "\t", [*rows[:SAMPLE_ROWS]])


def _csv_cuts(head: Head) -> list[Cut]:
    return [Cut("csv", delimiter, _csv_rows(head, delimiter)) for delimiter in DELIMITERS]


def _csv_rows(head: Head, delimiter: str) -> list[Sequence[str]]:
    """A flaw counts as a row without cells."""
    rows: list[Sequence[str]] = []
    for found in islice(read_csv(head.lines, delimiter), SAMPLE_ROWS):
        if isinstance(found, Flaw) and rows and not head.whole:
            break  # it may be where the sample ends, in the middle of a cell
        rows.append(() if isinstance(found, Flaw) else found[1])
    return rows


def _no_tabs(head: Head) -> OneColumn:
    cut = max(_csv_cuts(head), key=lambda cut: cut.alike)
    first = head.lines[0][1]
    if cut.alike > 0.5:
        marks = DELIMITERS[cut.delimiter]
        guess = (
            f"It seems to be separated by {marks}: let its name end in .csv, or save it with tabs."
        )
    elif re.search(r"\S {2,}\S", first):
        guess = "Did an editor turn the tabs into several blanks? Save it with tabs."
    else:
        guess = "It seems to hold one column: put a tab between source and target."
    return OneColumn(
        f"{head.path}: the name ends in {head.suffix}, but there is no tab in its first lines, "
        f"as in {short(first.strip(BLANK))}. {guess}"
    )


def _one_column(head: Head) -> DataError:
    first = next(read_csv(head.lines, ","), None)
    if isinstance(first, Flaw):
        return DataError(f"{head.path}:{first.line}: {first.problem}")
    return OneColumn(
        f"{head.path}: one column: no tab, comma, semicolon or bar cuts its first lines alike, "
        f"as in {short(head.lines[0][1].strip(BLANK))}. Put a tab between source and target, or "
        "give two files with matching lines: regard train translate a.txt b.txt"
    )
