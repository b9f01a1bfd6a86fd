"""Does a language model recite? The share of beginnings from the test part that it goes on with,
word for word, as the training text does somewhere (Carlini et al. 2021)."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from regard.decode.search import decode
from regard.metrics.bootstrap import Tally, percent
from regard.names import STOP, Score
from regard.tasks.continuing import Continuation
from regard.tasks.text_recipe import WritingSettings
from regard.tasks.windows import Ids, TokenRow

PROMPT, WRITTEN = 50, 50  # tokens
PROMPTS = 100
IN_SIGHT = 8192  # tokens that all texts written side by side can have in sight together
AT_ONCE = 1 << 22  # tokens of the training text that are looked through at a time


def memorised(stepper: Continuation, train: TokenRow, test: TokenRow) -> Score | None:
    """None where the test part is too short to ask."""
    beginnings = _beginnings(test)
    if not len(beginnings):
        return None
    sight = stepper.room or PROMPT + WRITTEN
    texts = list(_continued(stepper, beginnings.tolist(), max(1, IN_SIGHT // sight)))
    whole = [text for text in texts if len(text) == WRITTEN]
    recited = sum(contained(train, whole))
    rows = np.array([(n < recited, 1) for n in range(len(texts))], dtype=float)
    read = min(PROMPT, sight)
    how = f"memorised|prompt:{read}-tokens|continued-greedily:{WRITTEN}-tokens|verbatim"
    return Tally(rows, percent, how).score()


def _continued(stepper: Continuation, beginnings: list[list[int]], at_once: int) -> Iterator[Ids]:
    likeliest = WritingSettings(temperature=0.0, max_length=WRITTEN)
    for start in range(0, len(beginnings), at_once):
        some = beginnings[start : start + at_once]
        for output in decode(stepper, some, len(some), likeliest):
            yield np.array(output.tokens, dtype=np.int64)


def _beginnings(test: TokenRow) -> NDArray[np.int64]:
    """(at most PROMPTS, PROMPT), spread evenly; none of them across the end of a document."""
    places = np.linspace(1, max(1, len(test) - PROMPT - 1), PROMPTS).astype(int)
    rows = [test[place : place + PROMPT] for place in dict.fromkeys(places.tolist())]
    fitting = [row for row in rows if len(row) == PROMPT and STOP not in row]
    return np.array(fitting, dtype=np.int64).reshape(-1, PROMPT)


def contained(tokens: TokenRow, wanted: Sequence[Ids]) -> list[bool]:
    """Which of these runs of tokens stand somewhere in the row? It may be long: it is gone through
    once.

    >>> contained(np.array([5, 6, 7, 8]), [np.array([6, 7]), np.array([7, 6])])
    [True, False]
    """
    found, longest = [False] * len(wanted), max(map(len, wanted), default=1)
    for start in range(0, len(tokens), AT_ONCE):
        part = tokens[start : start + AT_ONCE + longest - 1]
        found = [yes or _in(part, one) for yes, one in zip(found, wanted, strict=True)]
    return found


def _in(part: Ids, wanted: Ids) -> bool:
    room = max(0, len(part) - len(wanted) + 1)  # places where it could begin
    places = np.flatnonzero(part[:room] == wanted[0])
    for shift in range(1, len(wanted)):
        places = places[part[places + shift] == wanted[shift]]
    return bool(len(places))
