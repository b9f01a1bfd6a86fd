"""A conversation with a run: what was said so far goes along with every new message."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from regard.config import DecodeSettings, Tree
from regard.data.conversations import HISTORY, one_line, said
from regard.errors import ConfigError, TextError, did_you_mean
from regard.run.opened import Run
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
        self.decoding: Tree = {"stop": [LINE]} if self.goes_on else {}
        self.predictor: Any = None
        self.set(**decoding)

    def set(self, **decoding: Any) -> None:
        """Replace decode settings, as in temperature=0.5; a wrong one changes nothing."""
        asked = {**self.decoding, **decoding}
        for name in asked.keys() - KNOWN:
            raise ConfigError(f'answers have no setting "{name}".{did_you_mean(name, KNOWN)}')
        predictor = self.run.speaker(**asked)
        if self.predictor is not None:
            predictor.answered = self.predictor.answered  # no sample is drawn twice
        self.decoding, self.predictor = asked, predictor

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
        """The last turns, as many as the model takes; the newest one always. In training nobody
        was ever silent."""
        turns = [turn for turn in turns if turn]
        count = min(self.history, len(turns))
        while count > 1 and not self.run.task.fits(said(turns, count)):
            count -= 1
        return said(turns, count)

    def undo(self) -> bool:
        """Forget the last message and its answer; False where there is none."""
        there = bool(self.turns)
        self.turns = self.turns[:-2]
        return there
