"""B2: a run that is killed, wherever that happens, is resumed and ends as if nothing had been.

save    it kills itself before or half way through a call that writes a checkpoint
other   the same in all other calls that write: the new folder, the log, the finished run
python  it kills itself at some call of a Python function, anywhere in the run
parent  another process kills it, soon after some call that writes
"""

import os
import random
import shutil
import signal
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

from regard.config import Recipe
from regard.run import resume, train
from soak.campaign import Campaign, Outcome
from soak.children import KILLED, Child, Ended, Say, ask, succeed
from soak.disk import Call, tapped
from soak.rehearsal import (
    EVERY,
    content,
    difference,
    draw_nothing,
    left_behind,
    load_modules,
    small_recipe,
)

KINDS = "save", "python", "torn", "save", "parent", "other"  # in turn: one in three inside a save
TWICE = 4  # every fourth run is killed a second time, after it was resumed


@dataclass(frozen=True)
class Kill:
    kind: str
    number: int  # of the call
    half: bool  # in the middle of it, where it has one

    def __str__(self) -> str:
        return f"{self.kind} {self.number}{' half way' if self.half else ''}"


@dataclass(frozen=True)
class Sound:
    """The run that was never stopped."""

    content: dict[str, Any]
    saving: list[int]  # numbers of the calls that write checkpoints
    torn: list[int]  # of the last write to each other file
    other: list[int]  # of all others that write
    python: int  # calls of Python functions

    def kill(self, kind: str, dice: random.Random) -> Kill:
        """A moment of this kind. The last tenth of the Python calls is left out: their number
        differs a little between runs."""
        numbers = {
            "save": self.saving,
            "torn": self.torn,
            "other": self.other,
            "parent": self.saving + self.other,
            "python": range(self.python * 9 // 10),
        }
        return Kill(kind, dice.choice(numbers[kind]), kind == "torn" or dice.random() < 0.5)


def kill_and_resume(cases: int, dice: random.Random, folder: Path) -> Outcome:
    load_modules()
    outcome, kinds, lost = Outcome(), Counter[str](), 0
    recipe = small_recipe(folder)
    sound = never_stopped(recipe, folder / "sound")
    while outcome.cases < cases:
        kinds_now = [KINDS[outcome.cases % len(KINDS)]]
        if outcome.cases % TWICE == TWICE - 1:
            kinds_now.append(dice.choice(KINDS))
        kills = [sound.kill(kind, dice) for kind in kinds_now]
        home = folder / "killed"
        happened, problem, steps = survive(recipe, home, kills, sound)
        if happened:  # a kill may come too late, when the run is over
            outcome.saw(not problem, f"killed at {' then '.join(map(str, kills))}: {problem}")
            kinds.update(kill.kind for kill in kills[:happened])
            lost = max(lost, steps)
        shutil.rmtree(home)
    counts = ", ".join(f"{n} {kind}" for kind, n in sorted(kinds.items()))
    outcome.notes.append(f"{kinds.total()} kills: {counts}")
    outcome.notes.append(f"at most {lost} steps done twice, with {EVERY} between two saves")
    return outcome


def never_stopped(recipe: Recipe, home: Path) -> Sound:
    """Train to the end and count the moments at which it could have been killed."""
    home.mkdir()

    def work() -> tuple[list[tuple[str, str]], int]:
        calls: list[tuple[str, str]] = []
        count = 0

        def note(frame: FrameType, event: str, argument: Any) -> None:
            nonlocal count
            count += 1

        with tapped(home, lambda call: calls.append((call.name, call.path))):
            sys.setprofile(note)
            begin(recipe, home)
            sys.setprofile(None)
        return calls, count

    calls, python = succeed(ask(work), "the run that nobody kills")
    saving = [i for i, (_, path) in enumerate(calls) if "checkpoints" in path]
    other = [i for i, (_, path) in enumerate(calls) if "checkpoints" not in path]
    last = {calls[i][1]: i for i in other if calls[i][0] == "write"}
    return Sound(content(home / "run"), saving, sorted(last.values()), other, python)


def begin(recipe: Recipe, home: Path) -> None:
    """Train, or go on where there is something to go on with."""
    draw_nothing()
    run = home / "run"
    resume(run) if run.exists() else train(recipe, out=run)


def survive(recipe: Recipe, home: Path, kills: list[Kill], sound: Sound) -> tuple[int, str, int]:
    """Kill and resume; -> (how many kills happened, what is wrong, steps that were done twice)"""
    home.mkdir()
    lost = 0
    for happened, kill in enumerate(kills):
        ended = killed(lambda: begin(recipe, home), home, kill)
        if ended is not KILLED:
            problem = ended.told if ended.error else unequal(home, sound)
            return (happened, problem, lost) if happened or problem else (0, "", lost)
        problem, steps = left_behind(home / "run")
        lost = max(lost, steps)
        if problem:
            return happened + 1, problem, lost
    ended = ask(lambda: begin(recipe, home))
    return len(kills), ended.told if ended.error else unequal(home, sound), lost


def unequal(home: Path, sound: Sound) -> str:
    names = difference(content(home / "run"), sound.content)
    return names and f"resumed, but not equal in {names}"


def killed(work: Callable[[], None], home: Path, kill: Kill) -> Ended:
    """Do the work in a child that is killed on the way, if it gets so far."""
    if kill.kind == "parent":
        child = Child(lambda say: reporting(work, home, say))
        for _ in range(kill.number + 1):
            if child.hear() != "call":
                return child.end()
        child.kill()
        return child.end()
    doomed = at_python_call if kill.kind == "python" else at_writing_call
    return ask(lambda: doomed(work, home, kill))


def reporting(work: Callable[[], None], home: Path, say: Say) -> None:
    with tapped(home, lambda call: say("call")):
        work()


def at_writing_call(work: Callable[[], None], home: Path, kill: Kill) -> None:
    left = kill.number

    def listen(call: Call) -> None:
        nonlocal left
        left -= 1
        if left < 0:
            if kill.half:
                call.half()
            die()

    with tapped(home, listen):
        work()


def at_python_call(work: Callable[[], None], home: Path, kill: Kill) -> None:
    left = kill.number

    def note(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal left
        left -= 1
        if left < 0:
            die()

    with tapped(home, lambda call: None):
        sys.setprofile(note)
        work()
        sys.setprofile(None)


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


CAMPAIGNS = (
    Campaign(
        "B2",
        "a run that is killed anywhere is resumed, ends byte-equal, and repeats one save at most",
        full=200,
        short=6,
        run=kill_and_resume,
    ),
)
