"""B3: a disk that fails is told loudly, and costs nothing that was saved before.

Each call that changes the disk fails in turn, with each error: once in a single save, and once in
a whole run through the command line. A full disk stays full until the command is over; the other
errors come once.
"""

import errno
import os
import random
import shutil
import sys
import warnings
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from regard.errors import RunError
from regard.train.checkpoints import Checkpoint, folder_of, load, load_latest, prune, save
from soak.campaign import Campaign, Outcome
from soak.children import ask, succeed
from soak.disk import Call, tapped
from soak.rehearsal import (
    EVERY,
    STEPS,
    command,
    content,
    difference,
    draw_nothing,
    equal,
    left_behind,
    load_modules,
    small_recipe,
)

CODES = errno.ENOSPC, errno.EIO, errno.EACCES
SHARE = 4  # when not all cases are asked for, one in so many is a whole run


@dataclass
class Fault:
    """Makes the call of a number fail."""

    number: int
    code: int
    call: str = ""  # the one that failed
    needed: bool = False  # does it matter that it failed?
    seen: int = field(default=0, repr=False)

    def listen(self, call: Call) -> None:
        self.seen += 1
        full = self.code == errno.ENOSPC
        if self.seen <= self.number or (self.call and not full):
            return
        if full and call.name in ("unlink", "rmdir"):
            return  # what makes room can be done
        self.call = self.call or str(call)
        self.needed = self.needed or call.needed
        call.half()
        raise OSError(self.code, os.strerror(self.code), call.path)

    def __str__(self) -> str:
        return f"call {self.number} fails with {errno.errorcode[self.code]} ({self.call})"


def no_fault() -> Fault:
    return Fault(sys.maxsize, errno.EIO)


def fail_every_call(cases: int, dice: random.Random, folder: Path) -> Outcome:
    load_modules()
    small_recipe(folder)
    sound = folder / "sound"
    sound.mkdir()
    calls = succeed(ask(lambda: regard(sound, no_fault())), "a run without fault")
    outcome, saves, runs = Outcome(), single_saves(sound / "run", folder), calls["seen"]
    trials = [(again, number, code) for again, n in saves for number in range(n) for code in CODES]
    whole = [(number, code) for number in range(runs) for code in CODES]
    if cases < len(trials) + len(whole):
        trials = dice.sample(trials, cases - cases // SHARE)
        whole = dice.sample(whole, cases // SHARE)
    for again, number, code in trials:
        fault = Fault(number, code)
        problem = try_save(sound / "run", folder / "save", fault, again=again)
        outcome.saw(not problem, f"one save{', again' * again}: {fault}: {problem}")
    expected, known = content(sound / "run"), set[str]()
    for number, code in whole:
        fault = Fault(number, code)
        problem = try_run(folder / "failing", fault, expected, known)
        outcome.saw(not problem, f"a run: {fault}: {problem}")
    outcome.notes.append(f"{len(trials)} in one save, {len(whole)} in a run of {runs} calls")
    return outcome


# One save


def single_saves(run: Path, folder: Path) -> list[tuple[bool, int]]:
    """How many calls a save makes, and one that replaces a damaged checkpoint."""
    found = []
    for again in (False, True):
        fault = no_fault()
        try_save(run, folder / "save", fault, again=again)
        found.append((again, fault.seen))
    return found


def try_save(run: Path, home: Path, fault: Fault, *, again: bool) -> str:
    """Save the last checkpoint of `run` beside the one before; -> what went wrong"""
    old, new = STEPS - EVERY, STEPS
    shutil.copytree(folder_of(run / "checkpoints", old), folder_of(home, old))
    if again:
        folder_of(home, new).mkdir()
        folder_of(home, new + 1).mkdir()
    kept = {step: load(folder_of(run / "checkpoints", step)) for step in (old, new)}
    try:
        return _try_save(kept, home, fault)
    finally:
        shutil.rmtree(home)


def _try_save(kept: dict[int, Checkpoint], home: Path, fault: Fault) -> str:
    loud = False
    with tapped(home, fault.listen), suppress(RunError):
        loud = True
        save(home, kept[STEPS])
        prune(home, set())
        loud = False
    if fault.needed and not loud:
        return "it was not told"
    if loud and not fault.call:
        return "it complains about nothing"
    if not is_one_of(home, list(kept.values())):
        return "the checkpoint before can not be loaded"
    save(home, kept[STEPS])
    prune(home, set())
    if not is_one_of(home, [kept[STEPS]]) or any(home.glob(".*")):
        return "it can not be saved afterwards"
    return ""


def is_one_of(home: Path, wanted: list[Checkpoint]) -> bool:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # there may be a damaged one
        found = load_latest(home)
    return found is not None and any(equal(found, checkpoint) for checkpoint in wanted)


# A whole run


def regard(home: Path, fault: Fault) -> dict[str, Any]:
    """Train, or go on, by the command line; -> how that ended. In a child."""
    draw_nothing()
    run = home / "run"
    train = ["train", str(home.parent / "small.toml"), "--out", str(run)]
    with tapped(home, fault.listen):
        code, said = command(*(["resume", str(run)] if run.exists() else train))
    found = {"call": fault.call, "needed": fault.needed, "seen": fault.seen}
    return {"code": code, "said": said, **found}


def try_run(home: Path, fault: Fault, expected: dict[str, Any], known: set[str]) -> str:
    """-> what went wrong. Equal remains are resumed once: `known` holds what was seen before."""
    home.mkdir()
    try:
        failed = ask(lambda: regard(home, fault))
        if failed.error:
            return failed.told
        fault.call, fault.needed = failed.value["call"], failed.value["needed"]
        return loudness(failed.value, fault) or _try_again(home, expected, known)
    finally:
        shutil.rmtree(home)


def loudness(told: dict[str, Any], fault: Fault) -> str:
    said: str = told["said"]
    if told["code"] == 0:
        return "exit code 0" if fault.needed else ""
    lines = [line for line in said.splitlines() if line.startswith("regard: ")]
    reason = os.strerror(fault.code)
    if told["code"] != 2 or len(lines) != 1 or reason not in lines[0] or "a fault inside" in said:
        return f"exit code {told['code']}, and it says: {said[-300:]}"
    return ""


def _try_again(home: Path, expected: dict[str, Any], known: set[str]) -> str:
    problem, _ = left_behind(home / "run")
    remains = repr(content(home / "run"))
    if problem or remains in known:
        return problem
    known.add(remains)
    ended = ask(lambda: regard(home, no_fault()))
    if ended.error or ended.value["code"]:
        return f"not resumed: {ended.told} {ended.value and ended.value['said'][-300:]}"
    names = difference(content(home / "run"), expected)
    return names and f"resumed, but not equal in {names}"


CAMPAIGNS = (
    Campaign(
        "B3",
        "a disk that fails is told loudly, and costs nothing that was saved before",
        full=2000,  # at most: all there are
        short=16,
        run=fail_every_call,
    ),
)
