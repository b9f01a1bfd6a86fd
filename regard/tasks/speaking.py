"""What writers share: text that is told while it grows, and ends where it should stop."""

from collections.abc import Callable, Generator
from typing import Protocol

from regard.config import DecodeSettings
from regard.decode.stepper import Decoded
from regard.text.growing import Growing, first_stop
from regard.text.tokenizer import Tokenizer

NEAR = 8  # tokens that are looked at with those that may hold a text to stop at


class Speaker(Protocol):
    @property
    def settings(self) -> DecodeSettings: ...
    @property
    def writes(self) -> Tokenizer:
        """Of what is written."""
        ...

    def tokens_for(self, text: str) -> Generator[int, None, Decoded]:
        """The answer to one input, token by token; returns all of it."""
        ...


def spoken(speaker: Speaker, text: str) -> Generator[str, None, Decoded]:
    """The answer to one input, each new piece as soon as it is sure; returns all of it."""
    growing = Growing(speaker.writes, speaker.settings.stop)
    tokens = speaker.tokens_for(text)
    while True:
        try:
            piece = growing.add(next(tokens))
        except StopIteration as end:
            if rest := growing.close():
                yield rest
            whole: Decoded = end.value
            return whole
        if piece:
            yield piece


def say(speaker: Speaker, text: str, heard: Callable[[str], object]) -> Decoded:
    """The same for someone who listens."""
    pieces = spoken(speaker, text)
    while True:
        try:
            heard(next(pieces))
        except StopIteration as end:
            whole: Decoded = end.value
            return whole


def written(speaker: Speaker, output: Decoded) -> str:
    """What was written, up to a text to stop at."""
    whole = speaker.writes.decode(output.tokens)
    return whole[: first_stop(whole, speaker.settings.stop)]


def has_stopped(speaker: Speaker, tokens: list[int]) -> bool:
    """Has a text to stop at come? Only the end can hold a new one, so that the work does not grow
    with the text: a letter has up to four tokens."""
    stops = speaker.settings.stop
    if not stops:
        return False
    last = tokens[-NEAR - 4 * max(map(len, stops)) :]
    return first_stop(speaker.writes.decode(last), stops) is not None
