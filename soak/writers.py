"""B15: one run folder, one writer. A second one is refused at once and changes nothing; when the
first is killed, the next one may write."""

import random
import shutil
from collections import Counter
from pathlib import Path

from regard.build import new_training
from regard.run import train
from soak.campaign import Campaign, Outcome
from soak.children import ask, succeed
from soak.meetings import MEETINGS, Gate, Scene
from soak.rehearsal import content, draw_nothing, load_modules, small_recipe


def meet(cases: int, dice: random.Random, folder: Path) -> Outcome:
    load_modules()
    outcome, kinds = Outcome(), Counter[str]()
    scene = set_up(folder)
    for case in range(cases):
        kind, gate = list(MEETINGS)[case % len(MEETINGS)], Gate()
        problem = MEETINGS[kind](scene, gate, dice)
        outcome.saw(not problem, f"case {case}, {kind}: {problem}")
        kinds[kind] += 1
        gate.close()
        shutil.rmtree(scene.place.parent)
        scene.place.parent.mkdir()
    outcome.notes.append(", ".join(f"{n} {kind}" for kind, n in kinds.items()))
    outcome.notes.append(f"refused after {max(scene.seconds):.2f} s at most")
    return outcome


def set_up(folder: Path) -> Scene:
    recipe = small_recipe(folder)
    stopped, sound, place = (folder / name / "run" for name in ("stopped", "sound", "meeting"))
    place.parent.mkdir()

    def work() -> None:
        training = new_training(recipe, stopped)
        for _ in training.run(lambda: training.progress.step >= 3):
            pass
        draw_nothing()
        train(recipe, out=sound)

    succeed(ask(work), "the run that nobody disturbs")
    return Scene(recipe, stopped, content(sound), place)


CAMPAIGNS = (
    Campaign(
        "B15",
        "a second writer of a run is refused at once, and changes nothing",
        full=100,
        short=9,
        run=meet,
    ),
)
