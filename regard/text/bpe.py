"""BPE: frequent strings within words become pieces. Over characters ("bpe") or over "bytes".

Both give back every text they know as it was typed, whatever blanks it holds: a blank belongs to
the word after it, and further blanks are words of their own. Over characters, one that was never
met is UNKNOWN; over bytes any text at all can be encoded.

The `tokenizers` library learns the merges and applies them. It is given no special tokens, and
its vocabulary starts at FIRST_PIECE: whatever a person types, "<stop>" included, stays text.
"""

import re
from collections.abc import Iterable, Sequence
from itertools import accumulate, chain, islice
from typing import TYPE_CHECKING, Any, Self

from regard.config import TokenizerSettings
from regard.names import FIRST_PIECE, SPECIALS, UNKNOWN
from regard.text.learn import (
    BLANK,
    LONGEST_WORD,
    Merges,
    checked,
    learn_pieces,
    letter_counts,
    most_frequent,
    no_panic,
    nothing_to_learn,
)
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
    unknown_pieces,
    visible,
)

if TYPE_CHECKING:
    from tokenizers import Encoding as LibraryEncoding
    from tokenizers import Tokenizer as Library

# The last blank before a word is part of it.
WORDS = rf" ?[^{BLANK}]+|[{BLANK}]+(?![^{BLANK}])|[{BLANK}]+"
NO_PIECE = ""  # what the library calls UNKNOWN: it asks for a string, and no text holds this one


def byte_letters() -> dict[str, int]:
    """The letter that stands for each byte in a stored piece (Radford et al. 2019, GPT-2).

    Printable Latin-1 stands for itself; the other bytes take the letters from U+0100 on.
    """
    plain = [b for b in range(256) if chr(b).isprintable() and chr(b) != " "]
    others = [b for b in range(256) if b not in plain]
    return {chr(b): b for b in plain} | {chr(256 + n): b for n, b in enumerate(others)}


LETTERS = byte_letters()
BATCH = 10_000  # texts handed to the library at once
PART = 10_000  # characters of them: the library's time grows faster than a text
WORD_END = re.compile(r"\w(?= )")


class Bpe:
    def __init__(
        self, kind: str, pieces: list[str], merges: Merges, lowercase: bool = False
    ) -> None:
        """Merges are pairs of pieces, first joined first. Bytes are spelled in `byte_letters`."""
        self.kind = kind
        self.lowercase = lowercase
        self._pieces = pieces
        self._merges = merges
        spelled = [_bytes(piece) if kind == "bytes" else piece.encode() for piece in pieces]
        self._bytes = [b"", b"", b"", UNKNOWN_TEXT.encode(), *spelled]
        self._library = _library(kind, pieces, merges)

    @classmethod
    def fit(cls, settings: TokenizerSettings, texts: Iterable[str]) -> Self:
        """Join pieces until there are `settings.size` ids, specials included, or no pair recurs.

        Should there be more characters than ids, the rarest of them stay unknown.
        """
        kind, room = settings.kind, settings.size - FIRST_PIECE
        seen: Iterable[str] = checked(texts, settings.lowercase)
        if kind == "bytes":
            alphabet = list(LETTERS)
        else:
            seen = list(seen)  # read twice
            alphabet = most_frequent(letter_counts(seen), room)
        if not alphabet:
            raise nothing_to_learn("character")
        short = (part for text in seen for part in parts(text))  # long ones take much memory
        pieces, merges = learn_pieces(short, _splitter(kind), alphabet, room)
        return cls(kind, pieces, merges, settings.lowercase)

    @classmethod
    def load(cls, data: dict[str, Any]) -> Self:
        kind, pieces, lowercase = data["kind"], stored_pieces(data), stored_lowercase(data)
        known = set(pieces)
        if kind == "bytes":
            if missing := LETTERS.keys() - known:
                raise broken(f"{len(missing)} of the 256 bytes have no piece")
            if strange := next((p for p in pieces if not set(p) <= LETTERS.keys()), None):
                raise broken(f"the piece {strange!r} is not spelled in byte letters")
        merges = data.get("merges")
        if not isinstance(merges, list):
            raise broken('"merges" should be a list of pairs of pieces')
        return cls(kind, pieces, [_stored_merge(merge, known) for merge in merges], lowercase)

    @property
    def size(self) -> int:
        return len(self._bytes)

    def ids(self, text: str) -> list[int]:
        return _ids([encoding for _, encoding in self._apply(text)])

    def ids_of(self, texts: Sequence[str]) -> list[list[int]]:
        found: list[list[int]] = []
        for start in range(0, len(texts), BATCH):
            batch = [parts(t) for t in checked(texts[start : start + BATCH], self.lowercase)]
            with no_panic(f"encoding {batch[0][0][:60]!r} ..."):
                encoded = iter(self._library.encode_batch_fast([*chain(*batch)]))
            found += [_ids([*islice(encoded, len(text))]) for text in batch]
        return found

    def encode(self, text: str) -> Encoding:
        ids: list[int] = []
        offsets: list[tuple[int, int]] = []
        for place, found in self._apply(text):
            ids += found.ids
            offsets += [(place + start, place + end) for start, end in found.offsets]
        if self.lowercase:
            typed = origins(text)
            offsets = [(typed[start], typed[end - 1] + 1) for start, end in offsets]
        return Encoding(ids, offsets)

    def _apply(self, text: str) -> "list[tuple[int, LibraryEncoding]]":
        """What the library makes of each part, after where the part begins."""
        require_utf8(text)
        cut = parts(fold(text) if self.lowercase else text)
        with no_panic(f"encoding {text[:60]!r}"):
            encoded = [self._library.encode(part) for part in cut]
        return [*zip(accumulate(map(len, cut), initial=0), encoded, strict=False)]

    def unknown(self, text: str) -> list[str]:
        if self.kind == "bytes":
            require_utf8(text)
            return []
        return unknown_pieces(self, text)

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
            "kind": self.kind,
            "lowercase": self.lowercase,
            "pieces": list(self._pieces),
            "merges": [list(merge) for merge in self._merges],
        }


def parts(text: str) -> list[str]:
    """A long text in parts: cut where a word ends, or, in a word or a run of blanks of more than
    a thousand characters, anywhere. No piece is that long, so little is lost there.

    >>> [len(part) for part in parts("to be or not " * 1000)]
    [9999, 3001]
    """
    found: list[str] = []
    start = 0
    while len(text) - start > PART:
        *_, last = None, *WORD_END.finditer(text, start + PART - LONGEST_WORD, start + PART)
        end = last.end() if last else start + PART
        found.append(text[start:end])
        start = end
    return [*found, text[start:]]


def _ids(encoded: "Sequence[LibraryEncoding]") -> list[int]:
    """The ids of a text out of those of its parts."""
    first, *others = encoded
    return first.ids + [i for other in others for i in other.ids]


def _bytes(piece: str) -> bytes:
    return bytes(LETTERS[letter] for letter in piece)


def _readable(piece: bytes) -> str:
    return visible(piece.decode(errors="backslashreplace"))


def _library(kind: str, pieces: list[str], merges: Merges) -> "Library":
    from tokenizers import Tokenizer as Library
    from tokenizers.models import BPE

    vocabulary = {piece: i for i, piece in enumerate(pieces, start=FIRST_PIECE)}
    with no_panic("building the tokenizer"):
        # Without an unk_token the library drops what it does not know, without a word.
        model = BPE(vocabulary | {NO_PIECE: UNKNOWN}, merges, unk_token=NO_PIECE, fuse_unk=False)
        library = Library(model)
    library.pre_tokenizer = _splitter(kind)
    return library


def _splitter(kind: str) -> Any:
    from tokenizers import Regex
    from tokenizers.pre_tokenizers import ByteLevel, Split

    if kind == "bytes":
        return ByteLevel(add_prefix_space=False)
    return Split(Regex(WORDS), "isolated")


def _stored_merge(merge: Any, known: set[str]) -> tuple[str, str]:
    match merge:
        case [str(left), str(right)] if {left, right, left + right} <= known:
            return left, right
    raise broken(f'"merges" should hold pairs of pieces that join into a piece, found {merge!r}')
