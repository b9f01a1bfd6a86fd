"""Work done in a forked process, which may fail, hang or be killed, and may say how far it is.

A child starts in a few milliseconds with all modules loaded. It computes in one thread: those of
its parent do not survive a fork.
"""

import json
import os
import select
import signal
import sys
import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch

from regard.errors import RegardError

Say = Callable[[Any], None]
PATIENCE = 60.0  # seconds of silence after which a child counts as hung


@dataclass(frozen=True)
class Ended:
    """How a child ended: with a value, with an error, or killed, and then with neither."""

    value: Any = None
    error: str = ""  # the name of its type; "hung" when it never ended
    message: str = ""
    ours: bool = False  # is the error a RegardError?
    warned: list[str] = field(default_factory=list)

    @property
    def told(self) -> str:
        return f"{self.error or 'no error'}: {self.message[-300:]}"


class Child:
    """`work(say)` in a process of its own; `say` sends its parent what JSON can hold."""

    def __init__(self, work: Callable[[Say], Any]) -> None:
        ours, theirs = os.pipe()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # later Pythons warn of threads
            self.pid = os.fork()
        if not self.pid:
            _live(work, theirs)
        os.close(theirs)
        self._pipe, self._rest = ours, b""
        self._ended: Ended | None = None

    def hear(self) -> Any:
        """The next thing that the child says; None when it says no more."""
        while b"\n" not in self._rest and self._ended is None:
            ready, _, _ = select.select([self._pipe], [], [], PATIENCE)
            if not ready:
                self._ended = Ended(error="hung", message=f"no word for {PATIENCE:.0f} seconds")
                self.kill()
            elif data := os.read(self._pipe, 1 << 16):
                self._rest += data
            else:
                return None
        if self._ended is not None:
            return None
        line, _, self._rest = self._rest.partition(b"\n")
        said = json.loads(line)
        if isinstance(said, dict) and "ended" in said:
            self._ended = Ended(**said["ended"])
            return None
        return said

    def kill(self) -> None:
        os.kill(self.pid, signal.SIGKILL)

    def end(self) -> Ended:
        """Wait for it; what it still says is thrown away."""
        while self.hear() is not None:
            pass
        os.close(self._pipe)
        _, status = os.waitpid(self.pid, 0)
        if self._ended is not None:
            return self._ended
        by = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
        return KILLED if by == signal.SIGKILL else Ended(error=f"ended by signal {by}")


KILLED = Ended(message="killed")


def ask(work: Callable[[], Any]) -> Ended:
    """What `work` gives, in a child."""
    return Child(lambda say: work()).end()


def succeed(ended: Ended, what: str) -> Any:
    """The value; an error breaks the campaign."""
    if ended.error:
        raise RuntimeError(f"{what} fails: {ended.told}")
    return ended.value


def _live(work: Callable[[Say], Any], pipe: int) -> None:
    """The whole life of a child, which never returns."""

    def say(value: Any) -> None:
        os.write(pipe, json.dumps(value).encode() + b"\n")

    try:
        torch.set_num_threads(1)
        nowhere = os.open(os.devnull, os.O_RDWR)
        for stream in range(3):  # what it prints is for nobody
            os.dup2(nowhere, stream)
        say({"ended": _outcome(work, say)})
    finally:
        os._exit(0)


def _outcome(work: Callable[[Say], Any], say: Say) -> dict[str, Any]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found: dict[str, Any] = {}
        try:
            found["value"] = work(say)
        except BaseException as error:  # noqa: BLE001
            where = traceback.extract_tb(sys.exc_info()[2])[-1]
            found["error"], found["ours"] = type(error).__name__, isinstance(error, RegardError)
            found["message"] = f"{error} ({os.path.basename(where.filename)}:{where.lineno})"
        found["warned"] = [str(warning.message) for warning in caught]
    return found
