"""Where in a text its pieces stand: the tokens that a network reads, the grams that a bag knows."""

import re
from collections.abc import Sequence
from itertools import chain
from typing import Any

from regard.models.grams import LETTERS, MARKS, WORD
from regard.tasks.label_data import BETWEEN, texts_of

Place = tuple[int, int]  # the characters [start, stop) of an input, as it was typed
BOTH, FIRST, SECOND = MARKS


def places_of_tokens(task: Any, text: str) -> list[tuple[Place, ...]]:
    """Of each token that is read; nothing for the marks that stand around texts."""
    first, second = texts_of(text, task.pairs)
    one, other = (task.tokenizer.encode(part).offsets for part in (first, second))
    later = len(first) + len(BETWEEN)
    head, tail = task._arranged(one, [(a + later, b + later) for a, b in other], None, None)
    return [() if place is None else (place,) for place in (*head, *tail)]


def places_of_grams(task: Any, text: str, grams: Sequence[str]) -> list[tuple[Place, ...]]:
    """Of each gram, all words that it stands on; nothing of letters and overlaps."""
    first, second = texts_of(text, task.pairs)
    lowercase = task.recipe.model.lowercase
    one = _words(first, 0, lowercase=lowercase)
    other = _words(second, len(first) + len(BETWEEN), lowercase=lowercase)
    sides = {BOTH: [one, other], FIRST: [one], SECOND: [other]} if task.pairs else {"": [one]}
    return [tuple(_of_gram(gram, sides)) for gram in grams]


def _of_gram(gram: str, sides: dict[str, list[list[tuple[str, Place]]]]) -> Sequence[Place]:
    mark = next((mark for mark in sides if gram.startswith(mark)), None)
    if mark is None or gram.startswith(LETTERS):
        return ()
    wanted = gram.removeprefix(mark).split(" ")
    return list(chain.from_iterable(_found(wanted, words) for words in sides[mark]))


def _found(wanted: list[str], words: list[tuple[str, Place]]) -> list[Place]:
    """
    >>> _found(["a", "b"], [("a", (0, 1)), ("b", (2, 3)), ("b", (4, 5))])
    [(0, 1), (2, 3)]
    """
    size, found = len(wanted), []
    for start in range(len(words) - size + 1):
        part = words[start : start + size]
        if [word for word, _ in part] == wanted:
            found += [place for _, place in part]
    return found


def _words(text: str, later: int, *, lowercase: bool) -> list[tuple[str, Place]]:
    """Each word as a bag reads it, and where it was typed: small letters may be more than the
    capitals they come from.

    >>> _words("A cat", 10, lowercase=True)
    [('a', (10, 11)), ('cat', (12, 15))]
    """
    told = text.lower() if lowercase else text
    at = list(range(len(text) + 1))
    if len(told) != len(text):
        parts = [letter.lower() for letter in text]
        told = "".join(parts)
        at = [i for i, part in enumerate(parts) for _ in part] + [len(text)]
    return [
        (match[0], (later + at[match.start()], later + at[match.end() - 1] + 1))
        for match in re.finditer(WORD, told)
    ]
