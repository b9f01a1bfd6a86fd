"""One pass over the files of a corpus: how much text there is, and where its documents begin."""

from array import array
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import blake2b, sha256

import numpy as np
from numpy.typing import NDArray

from regard.data.sources import Source
from regard.errors import DataError

TOLD = 1 << 20  # bytes between two words on how far it is
END = b"\xff"  # after each document, in the hash: no UTF-8 text holds this byte


@dataclass(frozen=True)
class Gathered:
    sources: tuple[Source, ...]
    """Files with at least one document."""
    firsts: NDArray[np.int64]
    """(sources + 1,) the number of the first document of each; then how many there are."""
    starts: NDArray[np.int64]
    """(documents + 1,) where each begins, counted in characters; then where the last one ends."""
    digests: NDArray[np.uint64]
    """(documents,) equal for equal texts."""
    bytes: int
    """Of the text, in UTF-8."""
    empty: int
    """Documents without anything in them, which count nowhere else."""
    sha256: str
    """Of the documents in order, with their ends."""


class Gathering:
    """`add` files, then `done`. Holds 16 bytes for each document, and nothing of the text."""

    def __init__(self) -> None:
        self._sources: list[Source] = []
        self._firsts = array("q", [0])
        self._starts = array("q", [0])
        self._digests = array("Q")
        self._bytes = self._empty = 0
        self._hash = sha256()

    def add(self, source: Source, heard: Callable[[int], object] = id) -> None:
        """Read a file to its end; `heard` is told now and then how many bytes of text were read.
        A file that can not be read leaves no trace."""
        documents, before = len(self._digests), (self._bytes, self._empty, self._hash.copy())
        try:
            self._count(source, heard)
        except DataError:
            self._bytes, self._empty, self._hash = before
            del self._starts[documents + 1 :], self._digests[documents:]
            raise
        if len(self._digests) > documents:
            self._sources.append(source)
            self._firsts.append(len(self._digests))

    def _count(self, source: Source, heard: Callable[[int], object]) -> None:
        place, document = self._starts[-1], blake2b(digest_size=8)
        first, told = self._bytes, self._bytes
        for text, ends in source.pieces():
            data = text.encode("utf-8")
            document.update(data)
            self._hash.update(data)
            self._bytes += len(data)
            place += len(text)
            if self._bytes - told >= TOLD:
                told = self._bytes
                heard(told - first)
            if not text:
                self._empty += 1
            elif ends:
                self._hash.update(END)
                self._digests.append(int.from_bytes(document.digest(), "big"))
                self._starts.append(place)
                document = blake2b(digest_size=8)

    def done(self) -> Gathered:
        return Gathered(
            tuple(self._sources),
            np.array(self._firsts, dtype=np.int64),
            np.array(self._starts, dtype=np.int64),
            np.array(self._digests, dtype=np.uint64),
            self._bytes,
            self._empty,
            self._hash.hexdigest(),
        )
