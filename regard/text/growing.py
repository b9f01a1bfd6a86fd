"""Text that grows token by token: told as soon as it is sure, and cut where it should stop."""

from collections.abc import Sequence

from regard.text.tokenizer import UNKNOWN_TEXT, Tokenizer

BEFORE = 4  # tokens decoded again with each new one: blanks depend on what stands before


class Growing:
    """`add` a token and get the new text that will not change any more. What is held back: half a
    character, and what may be the beginning of a text to stop at. The work for a token does not
    grow with the text."""

    def __init__(self, tokenizer: Tokenizer, stops: Sequence[str] = ()) -> None:
        self.tokenizer, self.stops = tokenizer, stops
        self.ended = False  # a text to stop at has come
        self._tokens: list[int] = []  # the last few that are told, then those that are not
        self._told = 0  # how many of them are told
        self._held = ""  # text that may be the beginning of a stop

    def add(self, token: int) -> str:
        self._tokens.append(token)
        before = self.tokenizer.decode(self._tokens[: self._told])
        whole = self.tokenizer.decode(self._tokens)
        if whole.endswith(UNKNOWN_TEXT):  # wait for the rest of the character
            return ""
        self._tokens = self._tokens[-BEFORE:]
        self._told = len(self._tokens)
        return self._sure(self._held + whole[len(before) :])

    def _sure(self, text: str) -> str:
        """What of the text can be told; the rest is held."""
        cut = first_stop(text, self.stops)
        if cut is not None:
            self.ended, self._held = True, ""
            return text[:cut]
        kept = max((_overlap(text, stop) for stop in self.stops), default=0)
        self._held = text[len(text) - kept :]
        return text[: len(text) - kept]

    def close(self) -> str:
        """What is left when no more comes."""
        before = self.tokenizer.decode(self._tokens[: self._told])
        rest = self.tokenizer.decode(self._tokens)[len(before) :]
        self._tokens, self._told = [], 0
        return "" if self.ended else self._sure(self._held + rest) + self._held


def first_stop(text: str, stops: Sequence[str]) -> int | None:
    """Where the first of the texts to stop at begins.

    >>> first_stop("one. two", ["two", "."]), first_stop("one", ["two"])
    (3, None)
    """
    found = [place for stop in stops if (place := text.find(stop)) >= 0]
    return min(found, default=None)


def _overlap(text: str, stop: str) -> int:
    """How many letters at the end of the text are the beginning of the stop.

    >>> _overlap("abc\\n", "\\n\\n")
    1
    """
    longest = min(len(text), len(stop) - 1)
    return next((n for n in range(longest, 0, -1) if text.endswith(stop[:n])), 0)
