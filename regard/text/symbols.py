"""Tokenizers that look pieces up in a list: every character, every word between blanks, or every
word and every punctuation mark."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, Self

from regard.config import TokenizerSettings
from regard.errors import TextError
from regard.names import FIRST_PIECE, SPECIALS, UNKNOWN
from regard.text.learn import checked, most_frequent, nothing_to_learn
from regard.text.tokenizer import (
    SILENT,
    UNKNOWN_TEXT,
    WORD,
    WORD_OR_MARK,
    Encoding,
    broken,
    check_ids,
    fold,
    origins,
    require_utf8,
    shown,
    stored_lowercase,
    stored_pieces,
    unknown_pieces,
)

PATTERNS = {"word": WORD, "wordpunct": WORD_OR_MARK}


class Symbols:
    """Characters or words that were met when fitted; every other one is UNKNOWN.

    >>> letters = Symbols("character", ["a", "b"])
    >>> letters.encode("abx")
    Encoding(ids=[4, 5, 3], offsets=[(0, 1), (1, 2), (2, 3)])
    >>> letters.decode([1, 5, 4, 2])
    'ba'
    >>> Symbols("wordpunct", ["great", "so", "."]).encode("so great.").ids
    [5, 4, 6]
    """

    def __init__(self, kind: str, pieces: list[str], lowercase: bool = False) -> None:
        self.kind = kind
        self.lowercase = lowercase
        self._pieces = pieces
        self._texts = [*SPECIALS[:UNKNOWN], UNKNOWN_TEXT, *pieces]
        self._ids = {piece: i for i, piece in enumerate(pieces, start=FIRST_PIECE)}

    @classmethod
    def fit(cls, settings: TokenizerSettings, texts: Iterable[str]) -> Self:
        """Keep what was met `min_count` times: all such characters, or the `size` likeliest words.

        Sorted, and ties broken alphabetically, so that the order of the texts never matters.
        """
        kind, least = settings.kind, settings.min_count
        counts: Counter[str] = Counter()
        for text in checked(texts, settings.lowercase):
            counts.update(_split(text, kind))
        if not counts:
            raise nothing_to_learn(kind)
        kept = Counter({piece: n for piece, n in counts.items() if n >= least})
        if not kept:
            raise TextError(
                f"no {kind} is met {least} times, as min_count = {least} asks: the most frequent "
                f"is met {max(counts.values())} times. Lower min_count, or give more texts."
            )
        limit = len(kept) if kind == "character" else settings.size - FIRST_PIECE
        return cls(kind, most_frequent(kept, limit), settings.lowercase)

    @classmethod
    def load(cls, data: dict[str, Any]) -> Self:
        kind, pieces, lowercase = data["kind"], stored_pieces(data), stored_lowercase(data)
        for piece in pieces:
            if list(_split(piece, kind)) != [piece]:
                raise broken(f"the piece {piece!r} is not one {kind}")
        return cls(kind, pieces, lowercase)

    @property
    def size(self) -> int:
        return len(self._texts)

    def ids(self, text: str) -> list[int]:
        pieces = _split(fold(text) if self.lowercase else text, self.kind)
        try:
            return list(map(self._ids.__getitem__, pieces))  # three times faster than asking twice
        except KeyError:
            require_utf8(text)  # only here: no known piece holds half a character
            return [self._ids.get(piece, UNKNOWN) for piece in pieces]

    def ids_of(self, texts: Sequence[str]) -> list[list[int]]:
        return [self.ids(text) for text in texts]

    def encode(self, text: str) -> Encoding:
        if self.kind == "character":
            offsets = [(i, i + 1) for i in (origins(text) if self.lowercase else range(len(text)))]
        else:  # folding never makes or removes a blank or a mark, so the words line up
            offsets = [word.span() for word in PATTERNS[self.kind].finditer(text)]
        return Encoding(self.ids(text), offsets)

    def unknown(self, text: str) -> list[str]:
        return unknown_pieces(self, text)

    def decode(self, ids: Iterable[int]) -> str:
        between = "" if self.kind == "character" else " "
        return between.join(self._texts[i] for i in check_ids(ids, self.size) if i not in SILENT)

    def pieces(self, ids: Iterable[int]) -> list[str]:
        return shown(ids, self._texts)

    def as_json(self) -> dict[str, Any]:
        return {"kind": self.kind, "lowercase": self.lowercase, "pieces": list(self._pieces)}


def _split(text: str, kind: str) -> Iterable[str]:
    if kind == "character":
        return text
    return text.split() if kind == "word" else WORD_OR_MARK.findall(text)
