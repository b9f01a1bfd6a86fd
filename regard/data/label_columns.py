"""Which column of a table holds the texts and which their labels: as named, or guessed aloud."""

import re
from collections.abc import Collection, Sequence
from itertools import islice
from typing import NamedTuple

from regard.data.columns import ID, NO_TEXT, NUMBER, URL, column_place
from regard.data.formats import Flaw, short
from regard.data.sniff import SAMPLE_ROWS
from regard.data.sources import TEXTS
from regard.data.table import Table, as_text
from regard.errors import DataError

Cells = Sequence[Sequence[str]]  # the first ones of each column

# What people call a label and a text to judge; where several are there, the first counts.
LABELS = tuple(
    """
    label labels class classes category categories sentiment polarity emotion emotions intent topic
    topics tag tags genre quality coarse target stars rating verdict y score
    """.split()
)
JUDGED = (*TEXTS, *"question utterance tweet query phrase string headline title".split())
LONGEST = 60  # characters of a label, where its name does not say that it is one
OPTIONS = {"text": "--source", "label": "--target"}  # how a person names them
ALIKE = 0.8  # texts that are so long beside the longest ones may be meant as well
DATE = re.compile(
    r"(?=.*\d)(?:(?:mon|tue|wed|thu|fri|sat|sun|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)"
    r"[a-z]*+|[ap]m|utc|gmt|[pmce][sd]t|[tz]|[\s\d:.,/+-])++",
    re.IGNORECASE,
)


class Columns(NamedTuple):
    text: int
    label: int
    other: int | None
    notes: tuple[str, ...]
    """What was guessed, to be said aloud."""


def choose_label_columns(
    table: Table, text: str | None, label: str | None, other: str | None
) -> Columns:
    """The places of the text, of its label, and of a second text where one is named."""
    names = {"text": text, "label": label, "other": other}
    given = {side: name for side, name in names.items() if name is not None}
    named = {side: column_place(table, name) for side, name in given.items()}
    _refuse_twins(table, given, named)
    cells = _samples(table)
    first, judged = _guess(table.columns, cells, named)
    if first is None or judged is None:
        raise _ask(table, cells, first, judged)
    notes = _say(table, cells, named, first, judged)
    return Columns(first, judged, named.get("other"), notes)


def _refuse_twins(table: Table, given: dict[str, str], named: dict[str, int]) -> None:
    first: dict[int, str] = {}
    for side, place in named.items():
        if place in first:
            raise DataError(
                f'{table.name}: "{first[place]}" and "{given[side]}" are one column. '
                "Name another for one of them."
            )
        first[place] = given[side]


def _samples(table: Table) -> Cells:
    rows = (row.cells for row in table.rows() if not isinstance(row, Flaw))
    columns = zip(*islice(rows, SAMPLE_ROWS), strict=True)
    cells = [[as_text(cell).strip() for cell in column] for column in columns]
    return cells or [[] for _ in table.columns]


# Guessed


def _guess(
    names: Sequence[str], cells: Cells, named: dict[str, int]
) -> tuple[int | None, int | None]:
    """Text and label, keeping those that are given: by their names, then by what is in them; of
    two columns, the label is the one that is not the text."""
    text, label = named.get("text"), named.get("label")
    free = set(range(len(names))) - set(named.values())
    if label is None:
        label = _label_by_name(names, cells, free)
    if text is None:
        text = _text_by_name(names, cells, free - {label})
    if label is None:
        label = _label_by_cells(names, cells, free - {text})
    if text is None:
        text = next(iter(_longest(names, cells, free - {label})), None)
    rest = free - {text, label}
    if len(rest) == 1 and len(names) - ("other" in named) == 2:
        (last,) = rest
        label = last if label is None and _are_short(cells[last]) else label
        text = last if text is None else text
    return text, label


def _label_by_name(names: Sequence[str], cells: Cells, free: Collection[int]) -> int | None:
    """A column that repeats itself is taken if a part of its name says what it is, as in
    airline_sentiment; any other, if the whole name does."""
    sure = _called(names, LABELS, free)
    words = {place: _words(names[place]) for place in sorted(free)}
    parts = [
        place for word in LABELS if word not in NO_TEXT for place in words if word in words[place]
    ]
    fitting = [place for place in (*sure, *parts) if _repeats(cells[place])]
    return next(iter([*fitting, *sure]), None)


def _label_by_cells(names: Sequence[str], cells: Cells, free: Collection[int]) -> int | None:
    """The only column with few different short values."""
    found = [
        place
        for place in free
        if NO_TEXT.isdisjoint(_words(names[place]))
        and len(set(cells[place])) > 1
        and _repeats(cells[place])
    ]
    return found[0] if len(found) == 1 else None


def _text_by_name(names: Sequence[str], cells: Cells, free: Collection[int]) -> int | None:
    places = _called(names, JUDGED, free)
    return next((place for place in places if _are_texts(names[place], cells[place])), None)


def _longest(names: Sequence[str], cells: Cells, free: Collection[int]) -> list[int]:
    """The columns with the longest texts, in order."""
    lengths = {
        place: sum(map(len, cells[place]))
        for place in sorted(free)
        if _are_texts(names[place], cells[place])
    }
    most = max(lengths.values(), default=0)
    return [place for place, length in lengths.items() if length >= ALIKE * most]


def _called(names: Sequence[str], known: Sequence[str], free: Collection[int]) -> list[int]:
    """Columns of a known name, the best known first."""
    folded = {place: names[place].strip().casefold() for place in sorted(free)}
    return [place for word in known for place, name in folded.items() if name == word]


def _words(name: str) -> list[str]:
    """
    >>> _words("#1 ID"), _words("starRating"), _words("gold_label")
    (['id'], ['star', 'rating'], ['gold', 'label'])
    """
    parted = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)
    return re.findall(r"[^\W\d_]+", parted.casefold())


def _repeats(values: Sequence[str]) -> bool:
    """Few different short values, and seldom none."""
    filled = list(filter(None, values))
    return 2 * len(set(filled)) <= len(filled) > len(values) / 2 and _are_short(filled)


def _are_short(values: Sequence[str]) -> bool:
    return all(len(value) <= LONGEST for value in values)


def _are_texts(name: str, values: Sequence[str]) -> bool:
    """Whether a column is neither nearly empty nor constant, nor numbers, dates, links or ids."""
    filled = list(filter(None, values))
    if not NO_TEXT.isdisjoint(_words(name)) or len(filled) <= len(values) / 10:
        return False
    others = sum(any(kind.fullmatch(value) for kind in (NUMBER, URL, DATE)) for value in filled)
    if others >= 0.9 * len(filled) or len(filled) > 2 and len(set(filled)) == 1:
        return False
    return len(set(filled)) < len(filled) or not all(map(ID.fullmatch, filled))


# Said


def _say(
    table: Table, cells: Cells, named: dict[str, int], text: int, label: int
) -> tuple[str, ...]:
    """Nothing where little was guessed: all named, or one of two."""
    width = len(table.columns)
    if named.keys() >= {"text", "label"} or width == 2 and named:
        return ()
    what = f"{_title(table, text)} is the text and {_title(table, label)} the label"
    columns = f"of {width} columns, " if width > 2 else ""
    note = f"{columns}{what}: --source and --target choose others."
    places = set(range(width)) - {label}
    rivals = [place for place in _longest(table.columns, cells, places) if place != text]
    if not rivals or "text" in named or "other" in named:
        return (note,)
    other = _title(table, rivals[0])
    return note, f"{other} holds texts too: --set data.other=NAME has both judged together."


def _title(table: Table, place: int) -> str:
    name = table.columns[place]
    return f"column {name}" if name == str(place + 1) else f'"{name}"'


def _ask(table: Table, cells: Cells, text: int | None, label: int | None) -> DataError:
    sides = [side for side, place in (("text", text), ("label", label)) if place is None]
    which = f"{'is' if len(sides) == 1 else 'are'} the {' and the '.join(sides)}"
    options = " and ".join(f"{OPTIONS[side]} COLUMN" for side in sides)
    listing = "".join(
        f"  {number}  {name}: {short(next(filter(None, column), ''))}\n"
        for number, (name, column) in enumerate(zip(table.columns, cells, strict=True), start=1)
    )
    return DataError(
        f"{table.name}: which of its {len(table.columns)} columns {which}?\n"
        f"{listing}Say it with {options}: a name or a number."
    )
