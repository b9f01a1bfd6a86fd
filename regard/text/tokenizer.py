"""What every tokenizer can do, and the few things they all share.

A tokenizer turns text into ids and back. Its offsets count characters of the text as the
person typed it, so a picture or an answer can point at the very letters that were meant.
"""

import re
import string
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, Protocol

from regard.errors import RunError, TextError
from regard.names import FIRST_PIECE, PAD, SPECIALS, START, STOP, UNKNOWN

SILENT = frozenset({PAD, START, STOP})  # specials that decode to nothing
UNKNOWN_TEXT = "\N{REPLACEMENT CHARACTER}"
WORD = re.compile(r"\S+")  # the same words as str.split() gives
MARKS = (
    string.punctuation
    + "¡¿«»‹›‘’‚“”„†‡•…·‐‑‒–—―′″،؛؟।॥"
    + "、。〈〉《》「」『』【】！（），．：；？"
)
"""Punctuation that no word holds. Lowercasing makes none of them, nor a blank."""
WORD_OR_MARK = re.compile(rf"[{re.escape(MARKS)}]|[^\s{re.escape(MARKS)}]+")
HALF = re.compile(r"[\ud800-\udfff]")


class Encoding(NamedTuple):
    """Ids, and for each the characters [start, end) of the typed text that it stands for."""

    ids: list[int]
    offsets: list[tuple[int, int]]


class Tokenizer(Protocol):
    @property
    def size(self) -> int:
        """How many ids there are, specials included."""

    def ids(self, text: str) -> list[int]:
        """Just the ids, for training. No specials are added: callers add START and STOP."""

    def ids_of(self, texts: Sequence[str]) -> list[list[int]]:
        """The ids of many texts, as fast as they come."""

    def encode(self, text: str) -> Encoding:
        """The same ids, with their offsets."""

    def unknown(self, text: str) -> list[str]:
        """The parts of the text that become UNKNOWN, as typed, each once, in order."""

    def decode(self, ids: Iterable[int]) -> str:
        """Back to text. PAD, START and STOP vanish; UNKNOWN shows as U+FFFD."""

    def pieces(self, ids: Iterable[int]) -> list[str]:
        """One readable piece for each id, for pictures; specials as in `names.SPECIALS`."""

    def as_json(self) -> dict[str, Any]:
        """All that `load_tokenizer` needs to build this tokenizer again."""


def fold(text: str) -> str:
    """Lowercase each character by itself: str.lower() would look at what stands around a sigma.

    >>> fold("ΟΔΟΣ")
    'οδοσ'
    """
    return text.lower() if text.isascii() else text.replace("Σ", "σ").lower()


def origins(text: str) -> list[int]:
    """Where in `text` each character of `fold(text)` comes from.

    >>> origins("xİy")  # the dotted capital folds to two characters, an i and a dot above
    [0, 1, 1, 2]
    """
    return [i for i, character in enumerate(text) for _ in character.lower()]


def escape(character: str) -> str:
    return character.encode("unicode_escape").decode()


def symbol(character: str) -> str:
    """↵ and ⇥ for the two that have one, the code point for all others, as in [U+001B]."""
    return {"\n": "↵", "\t": "⇥"}.get(character, f"[U+{ord(character):04X}]")


def visible(text: str, *, blank: str = "␣", stand_in: Callable[[str], str] = escape) -> str:
    r"""`text` with a stand-in for whatever would be invisible, or drive a terminal or the bidi
    algorithm: controls, escapes, overrides, odd blanks, lone surrogates.

    >>> print(visible(" the\n"), visible("\x1b[31m", stand_in=symbol))
    ␣the\n [U+001B][31m
    """
    return "".join(blank if c == " " else c if c.isprintable() else stand_in(c) for c in text)


def shown(ids: Iterable[int], texts: Sequence[str]) -> list[str]:
    """A readable piece for each id, given the text of every one; specials by their name."""
    return [
        SPECIALS[i] if i < FIRST_PIECE else visible(texts[i]) for i in check_ids(ids, len(texts))
    ]


def unknown_pieces(tokenizer: Tokenizer, text: str) -> list[str]:
    """What `Tokenizer.unknown` returns, for any of them. Offsets are asked for only if needed."""
    if UNKNOWN not in tokenizer.ids(text):
        return []
    found = zip(*tokenizer.encode(text), strict=True)
    return list(dict.fromkeys(text[start:end] for i, (start, end) in found if i == UNKNOWN))


def require_utf8(text: str) -> None:
    """Refuse half characters (lone surrogates): no file and no other program can take them."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise TextError(
            f"position {error.start} of the text holds {ascii(text[error.start])}, half a "
            f"character (a lone surrogate), found in {ascii(text[:60])}. "
            "Read the text as UTF-8 again, or remove it."
        ) from error


def check_ids(ids: Iterable[int], size: int) -> list[int]:
    """The ids as a list, or a TextError that names the first one that is none of ours."""
    ids = list(ids)
    for i in ids:
        if type(i) is not int:  # a bool is an int to isinstance
            raise TextError(
                f"{i!r} is not a token id but a {type(i).__name__}: ids are ints from 0 to "
                f"{size - 1} (this tokenizer has size {size}). An array needs .tolist() first."
            )
        if not 0 <= i < size:
            raise TextError(
                f"there is no token id {i}: this tokenizer has size {size}, so ids go from 0 to "
                f"{size - 1}. Do the ids come from a model trained with another tokenizer?"
            )
    return ids


def stored_pieces(data: dict[str, Any]) -> list[str]:
    """The "pieces" of a tokenizer.json: strings with something in them, no two of them equal."""
    pieces = data.get("pieces")
    if not isinstance(pieces, list) or not all(isinstance(piece, str) for piece in pieces):
        raise broken('"pieces" should be a list of strings')
    if "" in pieces:
        raise broken("a piece is empty")
    if half := next((piece for piece in pieces if HALF.search(piece)), None):
        raise broken(f"the piece {half!a} holds half a character (a lone surrogate)")
    for piece, times in Counter(pieces).most_common(1):
        if times > 1:
            raise broken(f"the piece {piece!r} appears {times} times")
    return pieces


def stored_lowercase(data: dict[str, Any]) -> bool:
    lowercase = data.get("lowercase")
    if not isinstance(lowercase, bool):
        raise broken(f'"lowercase" should be true or false, found {lowercase!r}')
    return lowercase


def broken(what: str) -> RunError:
    """The error for a stored tokenizer that was damaged, or edited by hand."""
    return RunError(f"tokenizer.json: {what}. Restore the file from where the run was trained.")
