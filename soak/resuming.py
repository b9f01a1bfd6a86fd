"""B5, B6: a run that is stopped and resumed is the one that was never stopped, to the last bit; and
where it can not be, it says so."""

import json
import random
import shutil
import warnings
from itertools import product
from pathlib import Path
from typing import Any

import torch

from regard.build import new_training, resume_training
from regard.tasks import TASKS
from regard.train.state import environment
from regard.train.training import Training
from soak.campaign import Campaign, Outcome
from soak.repeating import REPEATING
from soak.trainings import RECIPES, digest, drawing, quickly, scramble, set_ups, small

STEPS = 50
ALL = STEPS * len(RECIPES) * len(set_ups())
FACTS = {*"regard python torch numpy scikit-learn machine cpu device threads".split()}
SetUp = tuple[str, ...]  # settings, as in "train.optimizer=muon"
Digests = dict[tuple[int, str], str]  # after each event, a step or a validation


# B5


def resume_everywhere(cases: int, dice: random.Random, folder: Path) -> Outcome:
    """Of each set-up one run never stopped, one stopped and resumed at every step, and a few
    stopped once and resumed to the end."""
    outcome = Outcome()
    for task in TASKS.keys() - RECIPES.keys():
        outcome.saw(False, f"the task {task} has no small recipe in soak/trainings.py")
    shares = _shares(cases, dice)
    with quickly(), drawing():
        for number, (task, sets, stops) in enumerate(shares):
            home = folder / str(number)
            trial = Trial(task, sets, home, outcome)
            trial.at_every(stops)
            for stop in dice.sample(stops, max(1, len(stops) // 10)):
                trial.only_at(stop)
            shutil.rmtree(home)
    outcome.notes.append(
        f"{len({task for task, *_ in shares})} networks, {len(shares)} set-ups: compared when "
        "resumed, 1 and 2 steps later, every tenth at the end too"
    )
    return outcome


def _shares(cases: int, dice: random.Random) -> list[tuple[str, SetUp, list[int]]]:
    """Which steps to stop at: all of them where there are cases enough."""
    every = [*product(sorted(RECIPES), set_ups())]
    chosen = dice.sample(every, min(cases, len(every)))
    each = min(STEPS, cases // len(chosen))
    return [(*kind, sorted(dice.sample(range(1, STEPS + 1), each))) for kind in chosen]


class Trial:
    """One set-up: the run never stopped, and those that are compared with it."""

    def __init__(self, task: str, sets: SetUp, folder: Path, outcome: Outcome) -> None:
        self.recipe = small(task, folder, *sets, f"train.steps={STEPS}")
        self.name, self.folder, self.outcome = f"{task} {' '.join(sets)}", folder, outcome
        whole = new_training(self.recipe, folder / "whole")
        self.digests = go(whole, STEPS)
        self.after = {step: value for (step, _), value in self.digests.items()}  # the last event
        self.final = whole.final_weights()

    def at_every(self, stops: list[int]) -> None:
        """The resumed run takes a step and stops; what it saved then is resumed next."""
        home, at = self.folder / "stopped", 0
        for stop in stops:
            if at < stop:
                go(resume_training(home) if at else new_training(self.recipe, home), stop)
            scramble()
            training = resume_training(home)
            found = {"at once": digest(training) == self.after[stop]}
            found["a step later"] = self.equal(go(training, stop + 1))
            copy = shutil.copytree(home, self.folder / f"stopped-{stop}")
            found["two steps later"] = self.equal(go(training, stop + 2))
            wrong = ", ".join(when for when, equal in found.items() if not equal)
            self.saw(not wrong, f"stopped at {stop} and resumed, not equal {wrong}")
            shutil.rmtree(home)
            home, at = copy, min(stop + 1, STEPS)

    def only_at(self, stop: int) -> None:
        home = self.folder / f"once-{stop}"
        go(new_training(self.recipe, home), stop)
        scramble()
        training = resume_training(home)
        equal = self.equal(go(training, STEPS)) and digest(training) == self.after[STEPS]
        final = training.final_weights()
        equal = equal and all(torch.equal(w, self.final[name]) for name, w in final.items())
        self.saw(equal, f"stopped once at {stop} and resumed, not equal at the end")
        shutil.rmtree(home)

    def equal(self, found: Digests) -> bool:
        return found.items() <= self.digests.items()

    def saw(self, held: bool, otherwise: str) -> None:
        self.outcome.saw(held, f"{self.name}: {otherwise}")


def go(training: Training, until: int) -> Digests:
    """Train to a step, stop there, and say how it looked on the way."""
    found: Digests = {}
    for event in training.run(lambda: training.progress.step >= until):
        if (kind := type(event).__name__) != "Stopped":
            found[event.step if kind == "Validated" else event.number, kind] = digest(training)  # type: ignore[union-attr]
    return found


# B6


def resume_elsewhere(cases: int, dice: random.Random, folder: Path) -> Outcome:
    """A run of another machine: each fact that exact resume depends on is another one there."""
    outcome = Outcome()
    with quickly():
        training = new_training(small("transduce", folder, "train.steps=3"), folder / "run")
        go(training, 1)
        here = environment(torch.device("cpu"))
        for number in range(cases):
            changed = {} if number == 0 else _other(here, dice, number)
            copy = shutil.copytree(folder / "run", folder / f"run-{number}")
            _edit(copy / "run.json", changed)
            held = _resumes(copy, changed, here) and here.keys() >= FACTS
            outcome.saw(held, f"resumed where {changed} is otherwise: not told, or not trained on")
            shutil.rmtree(copy)
    outcome.notes.append(f"of {', '.join(here)}")
    return outcome


def _other(here: dict[str, Any], dice: random.Random, number: int) -> dict[str, Any]:
    """Some facts as another machine may have them, each of them alone at least once; None for a
    fact that was not written down."""
    names = [*here]
    chosen = names[number - 1 : number] or dice.sample(names, dice.randint(1, len(names)))
    return {name: dice.choice([None, "another", 7, f"{here[name]}.1"]) for name in chosen}


def _edit(path: Path, changed: dict[str, Any]) -> None:
    facts = json.loads(path.read_bytes())
    told = {**facts["environment"], **changed}
    facts["environment"] = {name: value for name, value in told.items() if value is not None}
    path.write_text(json.dumps(facts), encoding="utf-8")


def _resumes(run: Path, changed: dict[str, Any], here: dict[str, Any]) -> bool:
    """Does it warn of what is otherwise, of nothing else, and go on to the end?"""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        training = resume_training(run)
    go(training, 3)
    said = " ".join(str(warning.message) for warning in caught)
    if not changed:
        return not said and training.finished
    told = all(f"{name} {then} -> {here[name]}" in said for name, then in changed.items())
    rest = any(f"{name} " in said for name in here.keys() - changed.keys())
    return told and not rest and "valid, but not bit-exact" in said and training.finished


CAMPAIGNS: tuple[Campaign, ...] = (
    Campaign(
        "B5",
        "a run stopped at any step and resumed equals one never stopped, byte for byte",
        full=ALL,
        short=2,
        run=resume_everywhere,
    ),
    Campaign(
        "B6",
        "a run resumed in another environment says what is otherwise, and goes on",
        full=50,
        short=9,
        run=resume_elsewhere,
    ),
    REPEATING,
)
