"""B7: a training whose numbers go wrong stops at once, says where it began and what to do, and what
it saved is good."""

import random
import re
import shutil
import warnings
from collections import Counter
from pathlib import Path
from typing import Any
from unittest.mock import patch

from regard.build import new_training, resume_training
from regard.errors import TrainingError
from regard.train import checkpoints
from regard.train.training import Training
from soak.campaign import Campaign, Outcome
from soak.children import ask, succeed
from soak.diverging import DIVERGING
from soak.poison import KINDS, Poison
from soak.rehearsal import command
from soak.trainings import digest, quickly, set_ups, small, small_file

STEPS, EVERY = 10, 4


def poison(cases: int, dice: random.Random, folder: Path) -> Outcome:
    """One bad number in one place of one step, every third time through the command line."""
    outcome, counted = Outcome(), Counter[str]()
    clean: dict[tuple[str, ...], str] = {}  # how a set-up ends without any poison
    with quickly():
        for number in range(cases):
            home, sets = folder / str(number), (*dice.choice(set_ups()), *_short())
            kind = [*KINDS][number % len(KINDS)]
            value = float(dice.choice(["nan", "inf", "inf" if kind == "activation" else "-inf"]))
            step, seed = dice.randint(2, STEPS), dice.randrange(2**32)
            if kind == "update":  # which a validation, or the next step, finds
                step = dice.choice([step, EVERY, STEPS])
            drop = Poison(kind, step, value, random.Random(seed))
            wrong = _caught(drop, home, sets, through_cli=number % 3 == 0)
            if sets not in clean:
                clean[sets] = _ended(new_training(small("transduce", home, *sets), home / "clean"))
            wrong = wrong or _left(home / "run", clean[sets])
            counted[kind] += 1
            outcome.saw(
                not wrong,
                f"{value} in {kind}, step {step}, seed {seed}, {' '.join(sets)}: {wrong}",
            )
            shutil.rmtree(home)
    outcome.notes.append(", ".join(f"{count} in {kind}" for kind, count in counted.items()))
    return outcome


def _short() -> tuple[str, ...]:
    return f"train.steps={STEPS}", f"train.validate_every={EVERY}"


def _caught(drop: Poison, home: Path, sets: tuple[str, ...], *, through_cli: bool) -> str:
    """Train with the poison; what is wrong with how it was found."""
    if through_cli:
        ended = ask(lambda: [*_command(drop, home, sets), drop.named])
        code, said, named = succeed(ended, "regard train")
    else:
        (code, said), named = _directly(drop, home, sets), drop.named
    found = re.search(r"^(?:regard: )?step (\d+): .*", said, re.MULTILINE)
    steps = {drop.step}
    if drop.kind == "update":
        steps = {drop.step, drop.step + 1}
    elif drop.kind == "validation":
        steps = {min(s for s in (EVERY, 2 * EVERY, STEPS) if s >= drop.step)}
    if code != 3:
        return f"exit code {code}: {said[-200:]}"
    if not found or int(found[1]) not in steps:
        return f"found in another step: {said[-300:]}"
    if not any(name in found[0] for name in named):
        return f"the place is {named[0]}, but the report says: {found[0]}"
    return "" if "smaller rate" in found[0] else f"no advice: {found[0]}"


def _command(drop: Poison, home: Path, sets: tuple[str, ...]) -> tuple[int, str]:
    real = Training.run

    def run(training: Training, *rest: Any) -> Any:
        drop.plant(training)
        return real(training, *rest)

    options = [word for setting in sets for word in ("--set", setting)]
    with patch.object(Training, "run", run):
        recipe = str(small_file("transduce", home))
        return command("train", recipe, "--out", str(home / "run"), *options)


def _directly(drop: Poison, home: Path, sets: tuple[str, ...]) -> tuple[int, str]:
    """The same in this process, where the weights can be compared: a step that went wrong was not
    applied."""
    training = new_training(small("transduce", home, *sets), home / "run")
    drop.plant(training)
    try:
        for _ in training.run():
            pass
    except TrainingError as error:
        if drop.kind not in ("update", "validation") and drop.applied():
            return 3, f"the step was applied: {error}"
        return error.exit_code, str(error)
    return 0, "nothing was found"


def _left(run: Path, clean: str) -> str:
    """What is wrong with what the run left behind."""
    home = run / "checkpoints"
    for step in checkpoints.steps_in(home):
        saved = checkpoints.load(checkpoints.folder_of(home, step))
        for tensors in saved.tensors.values():
            if not all(bool(t.double().isfinite().all()) for t in tensors.values()):
                return f"the checkpoint of step {step} holds a number that is not finite"
    if (run / "model.safetensors").exists():
        return "a model was written"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # where nothing was saved yet it begins again
        found = _ended(resume_training(run))
    return "" if found == clean else "resumed without the poison, it ends otherwise"


def _ended(training: Training) -> str:
    for _ in training.run():
        pass
    return digest(training)


CAMPAIGNS: tuple[Campaign, ...] = (
    Campaign(
        "B7",
        "a number that is not finite is found in its step, named, never applied, never saved",
        full=14 * len(KINDS),
        short=len(KINDS),
        run=poison,
    ),
    DIVERGING,
)
