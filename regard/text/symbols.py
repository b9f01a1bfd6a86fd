"""Tokenizers that look pieces up in a list: every character, or every word between blanks."""

import re
from collections.abc import Iterable
from typing import Any, Self

from regard.config import TokenizerSettings
from regard.errors import TextError
from regard.names import FIRST_PIECE, SPECIALS, UNKNOWN
from regard.text.tokenizer import (
    SILENT,
    UNKNOWN_TEXT,
    Encoding,
    broken,
    check_ids,
    fold,
    origins,
    require_utf8,
    stored_lowercase,
    stored_pieces,
    visible,
)

WORD = re.compile(r"\S+")  # the same words as str.split() gives


class Symbols:
    """Characters or words that were met when fitted; every other one is UNKNOWN.

    >>> letters = Symbols("character", ["a", "b"])
    >>> letters.encode("abx")
    Encoding(ids=[4, 5, 3], offsets=[(0, 1), (1, 2), (2, 3)])
    >>> letters.decode([1, 5, 4, 2])
    'ba'
    """

    def __init__(self, kind: str, pieces: list[str], lowercase: bool = False) -> None:
        self.kind = kind
        self.lowercase = lowercase
        self._pieces = pieces
        self._texts = [*SPECIALS[:UNKNOWN], UNKNOWN_TEXT, *pieces]
        self._ids = {piece: i for i, piece in enumerate(pieces, start=FIRST_PIECE)}

    @classmethod
    def fit(cls, settings: TokenizerSettings, texts: Iterable[str]) -> Self:
        """Keep every piece of the texts, sorted, so that the order of the texts never matters."""
        known: set[str] = set()
        for text in texts:
            known.update(_split(text, settings.kind, settings.lowercase))
        if not known:
            raise TextError(
                f"no {settings.kind} to learn a vocabulary from: every text is empty. "
                "Is the data file the right one?"
            )
        for piece in known:
            require_utf8(piece)
        return cls(settings.kind, sorted(known), settings.lowercase)

    @classmethod
    def load(cls, data: dict[str, Any]) -> Self:
        kind, pieces, lowercase = data["kind"], stored_pieces(data), stored_lowercase(data)
        for piece in pieces:
            if list(_split(piece, kind, lowercase=False)) != [piece]:
                raise broken(f"the piece {piece!r} is not one {kind}")
        return cls(kind, pieces, lowercase)

    @property
    def size(self) -> int:
        return len(self._texts)

    def ids(self, text: str) -> list[int]:
        pieces = _split(text, self.kind, self.lowercase)
        try:
            return list(map(self._ids.__getitem__, pieces))  # three times faster than asking twice
        except KeyError:
            return [self._ids.get(piece, UNKNOWN) for piece in pieces]

    def encode(self, text: str) -> Encoding:
        if self.kind == "word":  # folding never makes or removes a blank, so the words line up
            offsets = [word.span() for word in WORD.finditer(text)]
        else:
            offsets = [(i, i + 1) for i in (origins(text) if self.lowercase else range(len(text)))]
        return Encoding(self.ids(text), offsets)

    def decode(self, ids: Iterable[int]) -> str:
        between = " " if self.kind == "word" else ""
        return between.join(self._texts[i] for i in check_ids(ids, self.size) if i not in SILENT)

    def pieces(self, ids: Iterable[int]) -> list[str]:
        return [
            SPECIALS[i] if i < FIRST_PIECE else visible(self._texts[i])
            for i in check_ids(ids, self.size)
        ]

    def as_json(self) -> dict[str, Any]:
        return {"kind": self.kind, "lowercase": self.lowercase, "pieces": list(self._pieces)}


def _split(text: str, kind: str, lowercase: bool) -> Iterable[str]:
    text = fold(text) if lowercase else text
    return text.split() if kind == "word" else text
