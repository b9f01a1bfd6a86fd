"""A part of a corpus, read from its files whenever it is asked for."""

from collections.abc import Iterator
from functools import cached_property
from hashlib import sha256

import numpy as np
from numpy.typing import NDArray

from regard.data.gathering import Gathered
from regard.data.pieces import Piece


class Texts:
    """Whoever iterates over it reads it from disk once more, in pieces. Where the part ends, the
    last document in it ends too."""

    def __init__(
        self, whole: Gathered, first: int, last: int, left_out: NDArray[np.bool_] | None = None
    ) -> None:
        """The characters [first, last). `left_out` (documents,) marks whole documents in there."""
        self.first, self.last = first, last
        self._whole = whole
        begin = int(np.searchsorted(whole.starts, first, side="right")) - 1
        end = int(np.searchsorted(whole.starts, last)) if first < last else begin
        self._documents = slice(begin, end)  # those that have a character in it
        nothing = np.zeros(len(whole.digests), dtype=np.bool_)
        self._left_out = nothing if left_out is None else left_out
        self.overlapping = int(self._left_out.sum())
        """Documents that are left out because they are held out as well."""
        self.documents = end - begin - self.overlapping
        """One that is cut where the part begins or ends counts like any other."""
        self.characters = last - first - int(np.diff(whole.starts)[self._left_out].sum())

    def __len__(self) -> int:
        return self.characters

    @property
    def sha256(self) -> str:
        """Of the whole corpus, and of which part this is: nothing is read for it."""
        found = sha256(f"{self._whole.sha256} {self.first} {self.last} ".encode())
        found.update(np.flatnonzero(self._left_out).astype("<i8").tobytes())
        return found.hexdigest()

    @cached_property
    def bytes(self) -> int:
        """Of the text, in UTF-8. Asked for the first time, it reads the text."""
        return sum(len(piece.text.encode("utf-8")) for piece in self)

    def __iter__(self) -> Iterator[Piece]:
        if self.characters:
            firsts = self._whole.firsts
            begin = int(np.searchsorted(firsts, self._documents.start, side="right")) - 1
            end = int(np.searchsorted(firsts, self._documents.stop))
            for number in range(begin, end):
                yield from self._pieces(number)

    def _pieces(self, number: int) -> Iterator[Piece]:
        """What of a file belongs here."""
        document, after = self._whole.firsts[number : number + 2].tolist()
        place, end = self._whole.starts[[document, after]].tolist()
        left_out = set((document + np.flatnonzero(self._left_out[document:after])).tolist())
        source, stop = self._whole.sources[number], min(end, self.last)
        for text, ends in source.pieces():
            start, place = place, place + len(text)
            if text and place > self.first and document not in left_out:
                inside = text[max(0, self.first - start) : self.last - start]
                yield Piece(inside, ends or place >= self.last)
            document += bool(text) and ends
            if place >= stop:
                break
        source.require_unchanged()
        if place < stop:  # another text of the same size and date
            raise source.refusal()

    def without(self, *others: "Texts") -> "Texts":
        """The same, less the whole documents that one of the others has too, of any corpus."""
        starts, documents = self._whole.starts, self._documents
        begin = documents.start + bool(starts[documents.start] < self.first)
        end = documents.stop - bool(starts[documents.stop] > self.last)
        held_out = np.concatenate([other._whole.digests[other._documents] for other in others])
        left_out = self._left_out.copy()
        left_out[begin:end] |= np.isin(self._whole.digests[begin:end], held_out)
        return Texts(self._whole, self.first, self.last, left_out)
