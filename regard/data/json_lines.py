"""Read JSON Lines, one object a line, as the rows of a table."""

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from regard.data.formats import Cell, Flaw, Found, short
from regard.data.lines import read_lines

WANTED = 'Write {"source": "...", "target": "..."} on each line.'


class Number(str):
    """A number as it was written, so that 1.50 stays 1.50."""


SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")  # half of a character, as JSON may write it


class Repeated(ValueError):
    """A key that is there twice: one of its values would be lost."""


def _table(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [key for key, _ in pairs]
        raise Repeated(next(key for key in names if names.count(key) > 1))
    return found


DECODER = json.JSONDecoder(
    object_pairs_hook=_table,
    parse_int=Number,
    parse_float=Number,
    parse_constant=lambda _: None,  # NaN and Infinity: what Python writes where nothing is known
)


def read_jsonl(path: Path, keys: Sequence[str]) -> Iterator[Found]:
    """The values of these keys, one object a line; "" where a key is missing, null or NaN."""
    for number, line in read_lines(path):
        if line.strip():
            values = parse_object(number, line)
            yield values if isinstance(values, Flaw) else _json_row(number, line, values, keys)


def parse_object(number: int, line: str, wanted: str = WANTED) -> dict[str, Any] | Flaw:
    try:
        found = DECODER.decode(line)
    except json.JSONDecodeError as error:
        around = short(line[max(0, error.pos - 30) : error.pos + 30])
        problem = f"not JSON at column {error.colno}: {error.msg.lower()}, around {around}."
    except Repeated as error:
        problem = f'the key "{error}" is there twice in {short(line)}.'
    except RecursionError:
        problem = f"too many lists or objects inside each other in {short(line)}."
    else:
        if isinstance(found, dict):
            return found
        problem = f"expected a JSON object, found {short(line)}."
    return Flaw(number, "json", f"{problem} {wanted}")


def _json_row(number: int, line: str, values: dict[str, Any], keys: Sequence[str]) -> Found:
    cells = tuple([as_cell(values.get(key)) for key in keys])
    if None in cells:
        key = keys[cells.index(None)]
        kind = "an object" if isinstance(values[key], dict) else "a list of more than texts"
        problem = f'"{key}" is {kind} in {short(line)}. Make it a text, or a list of texts.'
        return Flaw(number, "type", problem)
    if SURROGATE.search(line) and has_half_characters(cells):
        problem = f"half of a character, such as \\ud83d without its other half, in {short(line)}."
        return Flaw(number, "json", problem + " Write the whole character, or remove it.")
    return number, cells


def as_cell(value: Any) -> Cell | None:
    """A JSON value as a text or a list of texts, or None if it is neither."""
    if type(value) is str or type(value) is list and all(type(item) is str for item in value):
        return value
    if isinstance(value, Number):
        return str(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else None


def has_half_characters(cells: Sequence[Any]) -> bool:
    texts = ("".join(cell) for cell in cells)
    try:
        "".join(texts).encode()
    except UnicodeEncodeError:
        return True
    return False
