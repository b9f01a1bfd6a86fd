"""The front desk: a run is trained, resumed, opened, checked and compared here."""

from regard.run.chatting import Answer, Chat
from regard.run.comparing import compare
from regard.run.finishing import finish
from regard.run.opened import CHUNK, Run
from regard.run.verbs import check, is_finished, load, resume, train

__all__ = [
    "CHUNK",
    "Answer",
    "Chat",
    "Run",
    "check",
    "compare",
    "finish",
    "is_finished",
    "load",
    "resume",
    "train",
]
