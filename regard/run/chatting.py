"""A conversation with a run: what was said so far goes along with every new message."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from regard.config import DecodeSettings, Tree
from regard.data.conversations import HISTORY, one_line, said
from regard.errors import ConfigError, TextError, did_you_mean
from regard.run.opened import Run
from regard.tasks.decoding import FILTERS, PENALTIES
from regard.tasks.speaking import say

LINE = "\n"  # a language model takes every line for a turn
KNOWN = DecodeSettings.model_fields.keys() - {"n"}


class Answer(NamedTuple):
    input: str  # what the model read: the message, and the turns before it that fit
    output: str
    score: float
    """Natural logarithm of its probability."""
    finished: bool
    """False where the longest output (decode.max_length) cut it."""


class Chat:
    """A run that was trained on conversations reads the turns before a message too, as many as in
    training and as fit into its context; one that was trained on pairs reads the message alone. A
    language model writes the next line.

    >>> chat = regard.Chat(regard.load("runs/chat"))  # doctest: +SKIP
    >>> chat.say("Hi, how are you?").output  # doctest: +SKIP
    "I'm good, how are you?"
    """

    def __init__(self, run: Run, **decoding: Any) -> None:
        data = getattr(run.recipe, "data", None)
        self.run, self.turns = run, list[str]()
        self.goes_on = run.recipe.task == "language_model"
        self.whole = self.goes_on or getattr(data, "turns", None) is not None
        self.history: int = (getattr(data, "history", None) or HISTORY) if self.whole else 1
        self.usual: Tree = {"stop": [LINE]} if self.goes_on else {}
        self.decoding: Tree = {}  # what was asked for
        self.predictor: Any = None
        self.set(**decoding)

    def set(self, /, **decoding: Any) -> list[str]:
        """Replace decode settings, as in temperature=0.5; None takes one back. The newest wish
        wins: the result names earlier settings that it ruled out. A wrong one changes nothing."""
        for name in decoding.keys() - KNOWN:
            raise ConfigError(f'answers have no setting "{name}".{did_you_mean(name, KNOWN)}')
        ruled_out = [name for name in _ruled_out(decoding) if name not in decoding]
        asked = _without(ruled_out, self.decoding) | decoding
        asked = {k: v for k, v in asked.items() if v is not None or k in FILTERS}
        predictor, before = self.run.speaker(**(self.usual | asked)), self.predictor
        self.decoding, self.predictor = asked, predictor
        if before is None:
            return []
        predictor.answered = before.answered  # no sample is drawn twice
        old, new = before.settings, predictor.settings
        return [name for name in ruled_out if getattr(old, name) != getattr(new, name)]

    def say(self, message: str, heard: Callable[[str], object] = len) -> Answer:
        """The answer; `heard` is told each new piece of it at once. A message that can not be
        answered is a TextError, and not part of the conversation."""
        if not message.strip():
            raise TextError("nothing was said: the message is empty.")
        turns = [*self.turns, one_line(message) if self.whole else message]
        text = self.fitting(turns)
        pieces: list[str] = []

        def tell(piece: str) -> None:
            pieces.append(piece)
            heard(piece)

        found = say(self.predictor, text + LINE if self.goes_on else text, tell)
        output = "".join(pieces)
        self.turns = [*turns, one_line(output) if self.whole else output]
        return Answer(text, output, found.score, found.finished)

    def fitting(self, turns: Sequence[str]) -> str:
        """What the model reads of the turns."""
        read = [turns[place] for place in self.places_read(turns)]
        return said(read, len(read))

    def places_read(self, turns: Sequence[str]) -> list[int]:
        """Of the last turns, as many as the model takes; the newest one always. In training nobody
        was ever silent."""
        places = [place for place, turn in enumerate(turns) if turn]
        spoken = [turns[place] for place in places]
        count = min(self.history, len(places))
        while count > 1 and not self.run.task.fits(said(spoken, count)):
            count -= 1
        return places[-count:]

    def undo(self) -> bool:
        """Forget the last message and its answer; False where there is none."""
        there = bool(self.turns)
        self.turns = self.turns[:-2]
        return there


def _ruled_out(wish: Tree) -> tuple[str, ...]:
    """Settings that do not go with a new one (see DecodeSettings): beams neither sample nor punish,
    the likeliest token needs no filter, and samples need no beam."""
    if wish.get("beam") not in (None, 1):
        return ("temperature", *FILTERS, *PENALTIES)
    temperature = wish.get("temperature")
    if temperature is None:
        return ()
    return ("beam",) if temperature else FILTERS


def _without(names: Sequence[str], asked: Tree) -> Tree:
    """A None stays: a filter of the recipe that was taken back does not return."""
    return {k: v for k, v in asked.items() if v is None or k not in names}
