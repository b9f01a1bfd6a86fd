"""Byte-level BPE: frequent byte strings become pieces, and any text at all can be encoded.

The `tokenizers` library learns the merges and applies them. It is given no special tokens, and
our ids are its ids plus FIRST_PIECE: whatever a person types, "<stop>" included, stays text.
The library is imported only where it is used, since the other tokenizers do without it.
"""

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Self

from regard.config import TokenizerSettings
from regard.errors import TextError
from regard.names import FIRST_PIECE, SPECIALS
from regard.text.tokenizer import (
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

if TYPE_CHECKING:
    from tokenizers import Encoding as LibraryEncoding
    from tokenizers import Tokenizer as Library


def byte_letters() -> dict[str, int]:
    """The letter that stands for each byte in a stored piece (Radford et al. 2019, GPT-2).

    Printable Latin-1 stands for itself; the other bytes take the letters from U+0100 on.
    """
    plain = [b for b in range(256) if chr(b).isprintable() and chr(b) != " "]
    others = [b for b in range(256) if b not in plain]
    return {chr(b): b for b in plain} | {chr(256 + n): b for n, b in enumerate(others)}


LETTERS = byte_letters()


class ByteBpe:
    def __init__(
        self, pieces: list[str], merges: list[tuple[str, str]], lowercase: bool = False
    ) -> None:
        """Pieces are spelled in `byte_letters`; merges are pairs of pieces, most frequent first."""
        self.lowercase = lowercase
        self._pieces = pieces
        self._merges = merges
        spelled = [bytes(LETTERS[letter] for letter in piece) for piece in pieces]
        self._bytes = [b"", b"", b"", UNKNOWN_TEXT.encode(), *spelled]
        self._library = _library(pieces, merges)

    @classmethod
    def fit(cls, settings: TokenizerSettings, texts: Iterable[str]) -> Self:
        """Join pieces until there are `settings.size` ids, specials included, or no pair recurs."""
        from tokenizers.trainers import BpeTrainer

        trainer = BpeTrainer(
            vocab_size=settings.size - FIRST_PIECE,
            min_frequency=2,
            initial_alphabet=sorted(LETTERS),
            show_progress=False,
        )
        library = _library([], [])
        with _no_panic("learning pieces"):
            library.train_from_iterator(_checked(texts, settings.lowercase), trainer)
        model = json.loads(library.to_str())["model"]
        pieces = sorted(model["vocab"], key=model["vocab"].__getitem__)
        return cls(pieces, [(left, right) for left, right in model["merges"]], settings.lowercase)

    @classmethod
    def load(cls, data: dict[str, Any]) -> Self:
        pieces, lowercase = stored_pieces(data), stored_lowercase(data)
        known = set(pieces)
        if missing := LETTERS.keys() - known:
            raise broken(f"{len(missing)} of the 256 bytes have no piece")
        if strange := next((piece for piece in pieces if not set(piece) <= LETTERS.keys()), None):
            raise broken(f"the piece {strange!r} is not spelled in byte letters")
        merges = data.get("merges")
        if not isinstance(merges, list):
            raise broken('"merges" should be a list of pairs of pieces')
        return cls(pieces, [_stored_merge(merge, known) for merge in merges], lowercase)

    @property
    def size(self) -> int:
        return len(self._bytes)

    def ids(self, text: str) -> list[int]:
        return [i + FIRST_PIECE for i in self._apply(text).ids]

    def encode(self, text: str) -> Encoding:
        found = self._apply(text)
        ids = [i + FIRST_PIECE for i in found.ids]
        if not self.lowercase:
            return Encoding(ids, found.offsets)
        typed = origins(text)
        return Encoding(ids, [(typed[start], typed[end - 1] + 1) for start, end in found.offsets])

    def _apply(self, text: str) -> "LibraryEncoding":
        require_utf8(text)
        with _no_panic(f"encoding {text[:60]!r}"):
            return self._library.encode(fold(text) if self.lowercase else text)

    def decode(self, ids: Iterable[int]) -> str:
        """As all tokenizers do; bytes that are no whole character show as U+FFFD."""
        return b"".join(self._bytes[i] for i in check_ids(ids, self.size)).decode(errors="replace")

    def pieces(self, ids: Iterable[int]) -> list[str]:
        r"""As all tokenizers do; bytes that are no whole character show as in \xe2\x82."""
        return [
            SPECIALS[i] if i < FIRST_PIECE else _readable(self._bytes[i])
            for i in check_ids(ids, self.size)
        ]

    def as_json(self) -> dict[str, Any]:
        return {
            "kind": "bytes",
            "lowercase": self.lowercase,
            "pieces": list(self._pieces),
            "merges": [list(merge) for merge in self._merges],
        }


def _readable(piece: bytes) -> str:
    return visible(piece.decode(errors="backslashreplace"))


def _library(pieces: list[str], merges: list[tuple[str, str]]) -> "Library":
    from tokenizers import Tokenizer as Library
    from tokenizers.models import BPE
    from tokenizers.pre_tokenizers import ByteLevel

    with _no_panic("building the tokenizer"):
        library = Library(BPE(vocab={piece: i for i, piece in enumerate(pieces)}, merges=merges))
    library.pre_tokenizer = ByteLevel(add_prefix_space=False)
    return library


def _checked(texts: Iterable[str], lowercase: bool) -> Iterator[str]:
    for text in texts:
        require_utf8(text)
        yield fold(text) if lowercase else text


def _stored_merge(merge: Any, known: set[str]) -> tuple[str, str]:
    match merge:
        case [str(left), str(right)] if {left, right, left + right} <= known:
            return left, right
    raise broken(f'"merges" should hold pairs of pieces that join into a piece, found {merge!r}')


@contextmanager
def _no_panic(doing: str) -> Iterator[None]:
    """Turn a panic of the library into a TextError; `except Exception` would let it through."""
    try:
        yield
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        raise TextError(
            f"the tokenizers library broke down while {doing}: {error}. "
            'That is a fault of the library: try another version of it, or kind = "character".'
        ) from error
