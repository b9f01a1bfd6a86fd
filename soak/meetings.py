"""The ways in which two writers meet at one run folder. Each -> what went wrong."""

import os
import random
import shutil
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from regard.build import begin, draft
from regard.config import Recipe
from regard.errors import RegardError
from regard.files import locked
from regard.run import resume, train
from soak.children import KILLED, Child, Say, ask
from soak.disk import Call, tapped
from soak.rehearsal import command, content, difference, draw_nothing

WRITING = "another process is writing"
PAUSE = 60, 100, 140  # calls that write: the training that is disturbed waits at one of these


class Gate:
    """Children wait at it until their parent opens it for so many of them."""

    def __init__(self) -> None:
        self.inside, self.outside = os.pipe()

    def wait(self) -> None:
        os.read(self.inside, 1)

    def open(self, many: int = 1) -> None:
        os.write(self.outside, b"." * many)

    def close(self) -> None:
        os.close(self.inside)
        os.close(self.outside)


@dataclass
class Scene:
    """Where the writers meet."""

    recipe: Recipe
    stopped: Path  # a run that can be resumed
    sound: dict[str, Any]  # what becomes of it
    place: Path  # where the writers meet
    seconds: list[float] = field(default_factory=list)  # from asking to being refused

    def second_writer(self, work: Callable[[Path], object], expected: str) -> str:
        """Try to write a folder that is held; -> what went wrong"""
        before = content(self.place)
        ended = ask(lambda: refusal(lambda: work(self.place)))
        if ended.error:
            return ended.told
        self.seconds.append(ended.value["seconds"])
        if expected not in ended.value["refused"]:
            return f"not refused, but: {ended.value['refused'] or 'it went on'}"
        return changed(difference(content(self.place), before))


def refusal(work: Callable[[], object]) -> dict[str, Any]:
    begun = time.perf_counter()
    try:
        work()
        said = ""
    except RegardError as error:
        said = str(error)
    return {"refused": said, "seconds": time.perf_counter() - begun}


def changed(names: str) -> str:
    return names and f"changed by the second writer: {names}"


def hold(run: Path, gate: Gate, say: Say) -> None:
    with locked(run):
        say("held")
        gate.wait()


def held(scene: Scene, gate: Gate, work: Callable[[Path], object], expected: str) -> str:
    """The first holds the folder; the second does `work`."""
    shutil.copytree(scene.stopped, scene.place)
    first = Child(lambda say: hold(scene.place, gate, say))
    first.hear()
    problem = scene.second_writer(work, expected)
    gate.open()
    ended = first.end()
    return problem or ended.message


def as_error(*words: str) -> Callable[[Path], None]:
    """A command on a run, whose exit code 2 is as good as an error."""

    def work(run: Path) -> None:
        code, said = command(*words, str(run))
        if code == 2:
            raise RegardError(said)

    return work


def again(recipe: Recipe) -> Callable[[Path], object]:
    return lambda run: train(recipe, out=run)


def in_threads(scene: Scene, gate: Gate, dice: random.Random) -> str:
    """Two threads of one process."""

    def work(run: Path) -> None:
        heard: list[Any] = []
        with locked(run):
            second = threading.Thread(target=lambda: heard.append(refusal(lambda: resume(run))))
            second.start()
            second.join()
        raise RegardError(heard[0]["refused"])

    shutil.copytree(scene.stopped, scene.place)
    return scene.second_writer(work, WRITING)


def killed(scene: Scene, gate: Gate, dice: random.Random) -> str:
    """The first is killed; the next one gets the folder at once."""
    shutil.copytree(scene.stopped, scene.place)
    first = Child(lambda say: hold(scene.place, gate, say))
    first.hear()
    first.kill()
    if first.end() is not KILLED:
        return "the first could not be killed"
    ended = ask(lambda: refusal(lambda: finish(scene.place)))
    return ended.error and ended.told or ended.value["refused"] or unequal(scene)


def finish(run: Path) -> None:
    draw_nothing()
    resume(run)


def unequal(scene: Scene) -> str:
    return changed(difference(content(scene.place), scene.sound))


def disturbed(scene: Scene, gate: Gate, dice: random.Random) -> str:
    """A training in the middle of its work, a second one that is refused, and the first ends as
    if it had been alone."""
    left = dice.choice(PAUSE)

    def work(say: Say) -> None:
        def listen(call: Call) -> None:
            nonlocal left
            left -= 1
            if not left:
                say("here")
                gate.wait()

        draw_nothing()
        with tapped(scene.place.parent, listen):
            train(scene.recipe, out=scene.place)

    first = Child(work)
    if first.hear() != "here":
        return f"the first did not get far: {first.end().told}"
    problem = scene.second_writer(resume, WRITING)
    gate.open()
    ended = first.end()
    return problem or (ended.told if ended.error else unequal(scene))


def together(scene: Scene, gate: Gate, _: random.Random) -> str:
    """Two that start at the same moment in the same new folder."""

    def work(say: Say) -> None:
        ready = draft(scene.recipe, scene.place)
        say("ready")
        gate.wait()
        begin(ready)
        say("begun")
        finish(scene.place)

    return one_wins(scene, gate, work, many=1)


def resumed_together(scene: Scene, gate: Gate, _: random.Random) -> str:
    """Two that go on with a run at the same moment. Who comes late finds it finished."""

    def work(say: Say) -> None:
        say("ready")
        gate.wait()
        say("begun")
        finish(scene.place)

    shutil.copytree(scene.stopped, scene.place)
    return one_wins(scene, gate, work, many=2)


def one_wins(scene: Scene, gate: Gate, work: Callable[[Say], None], many: int) -> str:
    """So many of two may begin; one at least ends well, and the other with an error of ours."""
    pair = [Child(work), Child(work)]
    for child in pair:
        child.hear()
    gate.open(2)
    begun = [child.hear() == "begun" for child in pair]
    ended = [child.end() for child in pair]
    if sum(begun) != many:
        return f"{sum(begun)} began"
    if all(e.error for e in ended) or any(e.error and not e.ours for e in ended):
        return " and ".join(e.told for e in ended)
    return unequal(scene)


MEETINGS: dict[str, Callable[[Scene, Gate, random.Random], str]] = {
    "resume": lambda scene, gate, _: held(scene, gate, resume, WRITING),
    "start together": together,
    "command": lambda scene, gate, _: held(scene, gate, as_error("resume"), WRITING),
    "killed": killed,
    "train": lambda scene, gate, _: held(scene, gate, again(scene.recipe), "exists already"),
    "threads": in_threads,
    "finish": lambda scene, gate, _: held(scene, gate, as_error("resume", "--finish"), WRITING),
    "disturbed": disturbed,
    "resume together": resumed_together,
}
