"""Which column of a table is the source and which the target: as named, or guessed aloud."""

import re
from collections.abc import Sequence
from itertools import islice

from regard.data.formats import Flaw, short
from regard.data.headers import LANGUAGES
from regard.data.sniff import SAMPLE_ROWS
from regard.data.table import Table, as_text
from regard.errors import DataError, did_you_mean

# What people call a source and its target; where several are there, the first counts.
PAIRS = tuple(
    tuple(pair.split("/"))
    for pair in """
    source/target src/tgt src/trg instruction/output instruction/response input/output
    question/answer question/answers query/answer query/response prompt/response prompt/completion
    prompt/reply utterance/reply utterance/response message/reply context/response context/reply
    article/highlights article/summary document/summary dialogue/summary text/summary body/subject
    email/subject article/headline article/title document/title abstract/title body/title text/title
    word/pronunciation word/pronunciations word/phonemes word/phones word/ipa spelling/pronunciation
    grapheme/phoneme graphemes/phonemes sentence/translation text/translation original/translation
    """.split()
)
NO_TEXT = frozenset("date id idx index lang language licence license link score split url".split())
NUMBER = re.compile(r"[-+]?[\d.,]*\d(?:e[-+]?\d+)?%?", re.IGNORECASE)
URL = re.compile(r"(?:https?://|www\.)\S+", re.IGNORECASE)
LICENCE = re.compile(r"\bCC[- ](?:BY|0)\b|\blicen[cs]e|attribution:|©|\(c\) \d{4}", re.IGNORECASE)
ID = re.compile(r"(?=\S*\d)[\w.:/#-]+")
SIDES = ("source", "target")


def choose_columns(
    table: Table, source: str | None, target: str | None, fallback: bool = False
) -> tuple[int, int, tuple[str, ...]]:
    """The places of source and target, and what to say aloud about them.

    With `fallback`, names that are missing in two columns without a header mean the first and the
    second of them: such a file can not say otherwise.
    """
    wanted = [name for name in (source, target) if name is not None]
    if fallback and not table.header and len(table.columns) == 2:
        if missing := [name for name in wanted if not column_places(table, name)]:
            note = f"{table.name} has no column {' or '.join(missing)}: its first is the source"
            return 0, 1, (f"{note} and its second the target.",)
    named = [None if name is None else column_place(table, name) for name in (source, target)]
    if named[0] is not None and named[0] == named[1]:
        raise DataError(
            f'{table.name}: "{source}" and "{target}" are one column. Name another for one of them.'
        )
    guess = _guess(table, named[0], named[1])
    if guess is None:
        raise _ask(table, named)
    return *guess, _say(table, named, guess)


# Named


def column_place(table: Table, name: str) -> int:
    places = column_places(table, name)
    if len(places) == 1:
        return places[0]
    if places:
        raise DataError(
            f'{table.name}: {len(places)} columns are named "{name}". Give a number: '
            f"{' or '.join(str(place + 1) for place in places)}."
        )
    raise DataError(
        f'{table.name}: there is no column "{name}".{did_you_mean(name, table.columns)}'
        f"{'' if table.header else ' The file has no header.'}\n{_listing(table)}"
    )


def column_places(table: Table, name: str) -> list[int]:
    """Columns of exactly this name, else of this name in other capitals, else of this number."""
    folded = [column.casefold() for column in table.columns]
    numbers = [str(number) for number in range(1, len(folded) + 1)]
    for names, wanted in ((table.columns, name), (folded, name.casefold()), (numbers, name)):
        if found := [place for place, column in enumerate(names) if column == wanted]:
            return found
    return []


# Guessed


def _guess(table: Table, source: int | None, target: int | None) -> tuple[int, int] | None:
    """Both places, keeping those that are given."""
    if source is not None and target is not None:
        return source, target
    if pair := _known_pair(table.columns, source, target):
        return pair
    useful = range(2) if len(table.columns) == 2 else _with_texts(table)
    others = [place for place in useful if place not in (source, target)]
    if source is not None:
        return (source, others[0]) if len(others) == 1 else None
    if target is not None:
        return (others[0], target) if len(others) == 1 else None
    return (others[0], others[1]) if len(others) == 2 else None


def _known_pair(
    columns: Sequence[str], source: int | None, target: int | None
) -> tuple[int, int] | None:
    """Two columns that go by the names of a source and its target."""
    names = [_plain(column) for column in columns]
    spoken = [name for name in names if name in LANGUAGES]
    english = [("english", name) for name in spoken if name != "english"]
    extra = english if len(names) > 2 and len(english) == 1 else []
    for one, other in [*PAIRS, *extra]:
        if one in names and other in names:
            pair = names.index(one), names.index(other)
            if source in (None, pair[0]) and target in (None, pair[1]):
                return pair
    return None


def _plain(column: str) -> str:
    """'Source Text' and 'source_text' are both source."""
    words = re.split(r"[\s_-]+", column.strip().casefold())
    return "_".join(words[:-1] if len(words) > 1 and words[-1] in ("text", "sentence") else words)


def _with_texts(table: Table) -> list[int]:
    """The columns that hold something to learn from."""
    names = [_plain(column) for column in table.columns]
    columns = zip(*_samples(table), strict=True)
    return [
        place
        for place, values in enumerate(columns)
        if names[place] not in NO_TEXT and not _is_no_text(values)
    ]


def _is_no_text(values: Sequence[str]) -> bool:
    """Whether a column is nearly empty, constant, or numbers, links, licences or ids."""
    filled = [value.strip() for value in values if value.strip()]
    if len(filled) <= len(values) / 10 or len(filled) > 2 and len(set(filled)) == 1:
        return True
    most = 0.9 * len(filled)
    if any(sum(map(bool, map(kind, filled))) >= most for kind in (NUMBER.fullmatch, URL.fullmatch)):
        return True
    if sum(LICENCE.search(value) is not None for value in filled) >= most:
        return True
    return len(set(filled)) == len(filled) and all(map(ID.fullmatch, filled))


def _samples(table: Table) -> list[list[str]]:
    rows = islice((row for row in table.rows() if not isinstance(row, Flaw)), SAMPLE_ROWS)
    return [[as_text(cell) for cell in row.cells] for row in rows]


# Said


def _say(table: Table, named: Sequence[int | None], guess: tuple[int, int]) -> tuple[str, ...]:
    """Nothing where little was guessed: all named, or one of two, or the first and the second."""
    two, free = len(table.columns) == 2, named.count(None)
    if not free or two and (free == 1 or guess == (0, 1)):
        return ()
    source, target = (_title(table, place) for place in guess)
    if two:
        return (f"{source} is the source and {target} the target, as their names say.",)
    return (
        f"of {len(table.columns)} columns, {source} is the source and {target} the target: "
        "--source and --target choose others.",
    )


def _title(table: Table, place: int) -> str:
    name = table.columns[place]
    return f"column {name}" if name == str(place + 1) else f'"{name}"'


def _ask(table: Table, named: Sequence[int | None]) -> DataError:
    sides = [side for side, place in zip(SIDES, named, strict=True) if place is None]
    which = f"{'is' if len(sides) == 1 else 'are'} the {' and the '.join(sides)}"
    options = " and ".join(f"--{side} COLUMN" for side in sides)
    return DataError(
        f"{table.name}: which of its {len(table.columns)} columns {which}?\n"
        f"{_listing(table)}\nSay it with {options}: a name or a number."
    )


def _listing(table: Table) -> str:
    """Every column with its number and the first text in it."""
    samples = _samples(table)
    firsts = [next(filter(str.strip, column), "") for column in zip(*samples, strict=True)]
    return "\n".join(
        f"  {place + 1}  {name}: {short(first)}"
        for place, (name, first) in enumerate(
            zip(table.columns, firsts or [""] * len(table.columns), strict=True)
        )
    )
