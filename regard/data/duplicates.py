"""Which texts are equal, or nearly so, without keeping one of them in memory.

A text is remembered as 8 bytes of its hash. Equal texts are always found; that two different ones
among ten million are taken for equal happens in one file of 300,000. All questions about
duplicates and leaks are then questions about arrays of such numbers.

N rows
"""

import unicodedata
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

Hashes = NDArray[np.uint64]  # (N,): equal where the texts are
Rows = NDArray[np.int64]  # row numbers, ascending
Marks = NDArray[np.bool_]  # (N,): True for some of the rows

ODD = np.uint64(0x9E3779B97F4A7C15)  # 2^64 divided by the golden ratio: mixes well
PUNCTUATION = ".,;:!?¡¿…'\"‘’“”„«»‹›()[]-–—。、，！？"


class Prints:
    """The hashes of texts, in the order in which they came."""

    def __init__(self) -> None:
        self._digests = bytearray()

    def add(self, text: str) -> None:
        data = text.encode("utf-8", "surrogatepass")
        self._digests += blake2b(data, digest_size=8).digest()

    def hashes(self) -> Hashes:
        return np.frombuffer(self._digests, dtype=np.uint64)


def even_out(text: str) -> str:
    """Without what people seldom mean: capitals, blanks, ways to write an accent.

    >>> even_out("  Cafe\\u0301  AU lait ") == even_out("café au lait")
    True
    """
    return " ".join(unicodedata.normalize("NFC", text).casefold().split())


def loosen(evened: str) -> str:
    """An evened text without the punctuation around its words, unless there is nothing else.

    >>> loosen("(go on, don't stop: 1.5)"), loosen("?!")
    ("go on don't stop 1.5", '?!')
    """
    words = (word.strip(PUNCTUATION) for word in evened.split())
    return " ".join(filter(None, words)) or evened


def both(first: Hashes, second: Hashes) -> Hashes:
    """Equal where both are."""
    return first * ODD + second


def distinct(hashes: Hashes) -> int:
    """How many different ones there are. (np.unique would take several times the memory.)"""
    ordered = np.sort(hashes)
    return min(1, len(ordered)) + int(np.count_nonzero(ordered[1:] != ordered[:-1]))


def repeats(hashes: Hashes) -> Rows:
    """Rows that an earlier row already holds.

    >>> repeats(np.array([7, 5, 7, 7], dtype=np.uint64)).tolist()
    [2, 3]
    """
    order = np.argsort(hashes, kind="stable")  # the first of equal ones stays the first
    ordered = hashes[order]
    return np.sort(order[1:][ordered[1:] == ordered[:-1]])


def varied(hashes: Hashes, finer: Hashes) -> Rows:
    """The first row of every text to which more than one of the finer ones belong.

    >>> sources, targets = np.array([[7, 7, 5, 5], [1, 2, 3, 3]], dtype=np.uint64)
    >>> varied(sources, targets).tolist()
    [0]
    """
    order = np.lexsort((finer, hashes))
    texts, kinds = hashes[order], finer[order]
    changes = (texts[1:] == texts[:-1]) & (kinds[1:] != kinds[:-1])
    rows = np.flatnonzero(_among(hashes, texts[1:][changes]))
    return np.setdiff1d(rows, rows[repeats(hashes[rows])])


def outvoted(hashes: Hashes, finer: Hashes) -> int:
    """How many rows are wrong at least, where every text is given one of the finer ones.

    >>> texts, labels = np.array([[7, 7, 7, 5, 5], [1, 2, 1, 3, 3]], dtype=np.uint64)
    >>> outvoted(texts, labels)
    1
    """
    if not len(hashes):
        return 0
    order = np.lexsort((finer, hashes))
    texts, kinds = hashes[order], finer[order]
    new = texts[1:] != texts[:-1]
    runs = np.flatnonzero(np.append(True, new | (kinds[1:] != kinds[:-1])))
    sizes = np.diff(np.append(runs, len(order)))  # rows of one text and one kind
    firsts = np.searchsorted(runs, np.flatnonzero(np.append(True, new)))  # of each text
    return len(order) - int(np.maximum.reduceat(sizes, firsts).sum())


def crossing(hashes: Hashes, here: Marks, there: Marks) -> Rows:
    """Rows marked in `here` whose text is also in a row marked in `there`.

    >>> test = np.array([False, False, True, True])
    >>> crossing(np.array([4, 5, 5, 6], dtype=np.uint64), test, ~test).tolist()
    [2]
    """
    return np.flatnonzero(here)[_among(hashes[here], np.sort(hashes[there]))]


def _among(hashes: Hashes, known: Hashes) -> Marks:
    """Which are in `known`, which is sorted."""
    place = np.searchsorted(known, hashes)
    inside = place < len(known)
    inside[inside] = known[place[inside]] == hashes[inside]
    return inside
