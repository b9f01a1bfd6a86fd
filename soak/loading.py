"""B1: no file that a run is read from can run code, crash or hang who reads it.

Each hostile file is put into a copy of a whole run, which is then used in a child that an audit
hook watches: for anything executed, imported, started, sent, or written elsewhere.
"""

import os
import pickle
import random
import shutil
import sys
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any

import torch

from regard.build import new_training, resume_training
from regard.errors import RegardError
from regard.files import locked
from regard.run import Run, train
from regard.train.loop import Step
from soak.campaign import Campaign, Outcome
from soak.children import Ended, ask, succeed
from soak.payloads import BOMBS
from soak.planting import Hostile, hostile_files
from soak.rehearsal import EVERY, draw_nothing, load_modules, small_recipe

NEVER = {
    "code.__new__",
    "compile",
    "ctypes.dlopen",
    "exec",
    "import",
    "marshal.loads",
    "os.exec",
    "os.fork",
    "os.posix_spawn",
    "os.putenv",
    "os.spawn",
    "os.system",
    "pickle.find_class",
    "socket.connect",
    "socket.getaddrinfo",
    "subprocess.Popen",
}
CHANGING = {"os.chmod", "os.link", "os.mkdir", "os.remove", "os.rename", "os.rmdir", "os.symlink"}
OWN_LIBRARY = ("ctypes.dlopen", (None,))  # the C library that is loaded: training sets it up
NAMED = "Falling back to the one before", "beginning again at step 0"
GOOD = "refused", "passed over", "without effect"
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


# How a run is used


def use_finished(run: Path) -> Any:
    model = Run.load(run)
    return model.predict(["ab", "edc"]), model.evaluate()["scores"]


def use_stopped(run: Path) -> Any:
    with locked(run):
        training = resume_training(run)
        events = [e for e in islice(training.run(), EVERY) if isinstance(e, Step)]
        return events[0].number, [e.loss for e in events]


# The campaign


def load_hostile_files(cases: int, dice: random.Random, folder: Path) -> Outcome:
    load_modules()
    outcome = Outcome()
    whole = {stopped: folder / ("stopped" if stopped else "finished") for stopped in (True, False)}
    make_runs(folder, whole)
    canary = folder / "canary"
    sees = ask(lambda: watched(lambda: pickle.loads(BOMBS["a pickle"](canary)), folder))
    outcome.saw(bool(sees.value["seen"]) and canary.exists(), "the watch does not see a pickle")
    canary.unlink(missing_ok=True)
    files = hostile_files(canary)
    chosen = dice.sample(sorted(files), min(cases - 1, len(files)))
    counts = Counter[str]()
    for name in chosen:
        verdict = try_out(files[name], whole[files[name].stopped], folder / "trial", canary)
        if outcome.saw(verdict in GOOD, f"{name}: {verdict}"):
            counts[verdict] += 1
        canary.unlink(missing_ok=True)
    outcome.notes.append(", ".join(f"{n} {how}" for how, n in counts.items()))
    return outcome


def make_runs(folder: Path, whole: dict[bool, Path]) -> None:
    recipe = small_recipe(folder)

    def work() -> None:
        training = new_training(recipe, whole[True] / "run")
        for _ in training.run(lambda: training.progress.step >= EVERY + 1):
            pass
        draw_nothing()
        train(recipe, out=whole[False] / "run")

    succeed(ask(work), "the whole run")


def try_out(hostile: Hostile, whole: Path, trial: Path, canary: Path) -> str:
    """-> refused, passed over, without effect; or what went wrong"""
    use = use_stopped if hostile.stopped else use_finished
    shutil.copytree(whole, trial)
    (trial / "victim").write_text("untouched")
    try:
        hostile.plant(trial / "run")
        ended = ask(lambda: after_a_whole_one(use, whole / "run", trial / "run"))
        touched = (trial / "victim").read_text() != "untouched"
    finally:
        shutil.rmtree(trial)
    if canary.exists() or touched:
        return "ITS CODE RAN"
    return judged(ended, hostile)


def judged(ended: Ended, hostile: Hostile) -> str:
    if ended.error:
        return ended.told
    told = ended.value
    if told["seen"]:
        return f"the watch saw {told['seen'][:3]}"
    if told["error"]:
        return "refused" if told["ours"] else f"{told['error']}: {told['message'][-300:]}"
    same = told["value"] == told["expected"]
    if any(words in warning for words in NAMED for warning in ended.warned):
        return "without effect" if same else "passed over"
    if hostile.harmless:
        return "without effect" if same else "it changed what the run does"
    return "it was used without a word"


def after_a_whole_one(use: Callable[[Path], Any], whole: Path, run: Path) -> dict[str, Any]:
    """Use a whole run, so that all modules are loaded; then, watched, the hostile one."""
    torch.set_num_threads(1)
    copy = run.parent / "whole"
    shutil.copytree(whole, copy)
    expected = use(copy)
    return {**watched(lambda: use(run), run), "expected": expected}


def watched(work: Callable[[], Any], inside: Path) -> dict[str, Any]:
    """What `work` gives or raises, and what the audit hook saw. Hooks stay: in a child only."""
    seen: list[str] = []
    busy = True

    def hook(event: str, args: tuple[Any, ...]) -> None:
        if busy and is_forbidden(event, args, str(inside)):
            seen.append(f"{event} {str(args)[:120]}")

    found: dict[str, Any] = {"value": None, "error": "", "message": "", "ours": False}
    sys.addaudithook(hook)
    ended = _attempt(work)
    busy = False
    return found | ended | {"seen": seen}


def _attempt(work: Callable[[], Any]) -> dict[str, Any]:
    try:
        return {"value": work()}
    except Exception as error:  # noqa: BLE001
        ours = isinstance(error, RegardError)
        return {"error": type(error).__name__, "message": str(error), "ours": ours}


def is_forbidden(event: str, args: tuple[Any, ...], inside: str) -> bool:
    if event == "open":
        path, _, flags = args
        return bool(flags & WRITING) and isinstance(path, str) and not path.startswith(inside)
    if event in CHANGING:
        with suppress(TypeError):
            return not os.fsdecode(args[0]).startswith(inside)
    return event in NEVER and (event, args) != OWN_LIBRARY


CAMPAIGNS = (
    Campaign(
        "B1",
        "no file of a run or a checkpoint can run code, crash or hang who reads it",
        full=1000,  # at most: all there are
        short=12,
        run=load_hostile_files,
    ),
)
