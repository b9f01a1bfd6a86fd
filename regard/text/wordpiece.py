"""WordPiece, as in BERT (Devlin et al. 2019): the longest piece that fits, then the next.

Words are what stands between blanks. A piece that continues a word is marked with ##; a word of
which some part has no piece is UNKNOWN as a whole. Decoding puts one blank between words.

The `tokenizers` library learns the pieces. They are looked up here, because the library makes
every word of more than 100 characters unknown, and without that limit its time grows faster than
the square of a word's length. Here a megabyte without blanks takes seconds: what we learn has no
piece longer than `learn.LONGEST_PIECE`, so the time grows with the text.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, Self

from regard.config import TokenizerSettings
from regard.names import FIRST_PIECE, SPECIALS, UNKNOWN
from regard.text.learn import (
    BLANK,
    checked,
    learn_pieces,
    letter_counts,
    most_frequent,
    nothing_to_learn,
)
from regard.text.tokenizer import (
    SILENT,
    UNKNOWN_TEXT,
    WORD,
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

MARK = "##"
INNER_MARK = " "  # while learning: unlike ## no word can hold it


class WordPiece:
    """Pieces of words.

    >>> words = WordPiece(["un", "##able", "##a", "able"])
    >>> words.encode("unable  able")
    Encoding(ids=[4, 5, 7], offsets=[(0, 2), (2, 6), (8, 12)])
    >>> words.decode([4, 5, 7])
    'unable able'
    """

    def __init__(self, pieces: list[str], lowercase: bool = False) -> None:
        self.lowercase = lowercase
        self._pieces = pieces
        self._texts = [*SPECIALS[:UNKNOWN], UNKNOWN_TEXT, *pieces]
        self._starts: dict[str, int] = {}
        self._continues: dict[str, int] = {}
        for i, piece in enumerate(pieces, start=FIRST_PIECE):
            if _is_marked(piece):
                self._continues[piece.removeprefix(MARK)] = i
            else:
                self._starts[piece] = i
        self._longest = max(map(len, [*self._starts, *self._continues]), default=0)

    @classmethod
    def fit(cls, settings: TokenizerSettings, texts: Iterable[str]) -> Self:
        """Learn until there are `settings.size` ids, specials included, or no pair recurs.

        Every letter may start a word and continue one, so a word is unknown only for a letter
        never met, or one of the rarest when there are more letters than ids for them.
        """
        from tokenizers import Regex
        from tokenizers.pre_tokenizers import Split

        room, seen = settings.size - FIRST_PIECE, list(checked(texts, settings.lowercase))
        counts = Counter({c: n for c, n in letter_counts(seen).items() if not c.isspace()})
        letters = most_frequent(counts, room // 2)
        if not letters:
            raise nothing_to_learn("word")
        splitter = Split(Regex(f"[{BLANK}]+"), "removed")
        learned, _ = learn_pieces(seen, splitter, letters, room, mark=INNER_MARK)
        # A word's own ## must not look like our mark: such a piece is left out.
        kept = [piece for piece in learned if not _is_marked(piece)]
        return cls([piece.replace(INNER_MARK, MARK) for piece in kept], settings.lowercase)

    @classmethod
    def load(cls, data: dict[str, Any]) -> Self:
        pieces, lowercase = stored_pieces(data), stored_lowercase(data)
        if strange := next((piece for piece in pieces if piece.split() != [piece]), None):
            raise broken(f"the piece {strange!r} holds a blank")
        return cls(pieces, lowercase)

    @property
    def size(self) -> int:
        return len(self._texts)

    def ids(self, text: str) -> list[int]:
        require_utf8(text)
        found: list[int] = []
        for word in (fold(text) if self.lowercase else text).split():
            if (i := self._starts.get(word)) is not None:
                found.append(i)
            else:
                found.extend(i for i, _, _ in self._cut(word))
        return found

    def ids_of(self, texts: Sequence[str]) -> list[list[int]]:
        return [self.ids(text) for text in texts]

    def encode(self, text: str) -> Encoding:
        require_utf8(text)
        ids, offsets = [], []
        for match in WORD.finditer(text):
            typed, at = match[0], match.start()
            where = origins(typed) if self.lowercase else range(len(typed))
            for i, start, end in self._cut(fold(typed) if self.lowercase else typed):
                ids.append(i)
                offsets.append((at + where[start], at + where[end - 1] + 1))
        return Encoding(ids, offsets)

    def _cut(self, word: str) -> list[tuple[int, int, int]]:
        """Id, start and end of each piece of a word."""
        found: list[tuple[int, int, int]] = []
        start, known = 0, self._starts
        while start < len(word):
            for end in range(min(start + self._longest, len(word)), start, -1):
                if (i := known.get(word[start:end])) is not None:
                    break
            else:
                return [(UNKNOWN, 0, len(word))]
            found.append((i, start, end))
            start, known = end, self._continues
        return found

    def unknown(self, text: str) -> list[str]:
        return unknown_pieces(self, text)

    def decode(self, ids: Iterable[int]) -> str:
        pieces = [self._texts[i] for i in check_ids(ids, self.size) if i not in SILENT]
        spaced = [p.removeprefix(MARK) if _is_marked(p) else " " + p for p in pieces]
        return "".join(spaced).removeprefix(" ")

    def pieces(self, ids: Iterable[int]) -> list[str]:
        return shown(ids, self._texts)

    def as_json(self) -> dict[str, Any]:
        return {"kind": "wordpiece", "lowercase": self.lowercase, "pieces": list(self._pieces)}


def _is_marked(piece: str) -> bool:
    """Whether a piece continues a word. A lone ## does not: it is a word's own text."""
    return piece.startswith(MARK) and piece != MARK
