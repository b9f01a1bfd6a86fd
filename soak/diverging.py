"""B8: a rate that is far too high is answered by a better one, and trainings that are well are left
alone."""

import random
import re
import shutil
from collections import Counter
from pathlib import Path
from typing import Any
from unittest.mock import patch

from regard.build import new_training
from regard.config import Recipe
from regard.errors import TrainingError
from regard.tasks.task import Loss
from regard.train.loop import Step
from soak.campaign import Campaign, Outcome
from soak.children import ask, succeed
from soak.rehearsal import command
from soak.trainings import quickly, set_ups, small, small_file

RATE = 2e-3  # the default
HEALTHY = (
    (),
    ("train.warmup=0.9",),
    ("train.label_smoothing=0",),
    ("train.label_smoothing=0.4",),
    ("train.rate=0.02",),
    ("train.rate=1e-6",),
    ("train.batch_tokens=1",),
    ("train.batch_tokens=2000",),
    ("train.clip=0.001",),
    ("model.dropout=0.5",),
    ("model.norm_place=post", "train.warmup=0"),
    ("model.norm=rms", "model.activation=swiglu"),
)
DATA = ("words", "chance", "few words", "a spike now and then")


def diverge(cases: int, dice: random.Random, folder: Path) -> Outcome:
    """Rates far too high are refused; where they are let in, the training stops soon after its
    losses explode; healthy trainings are left alone."""
    outcome, counted = Outcome(), Counter[str]()
    with quickly():
        for number in range(cases):
            home = folder / str(number)
            try_one = (_refused, _let_in, _healthy)[number % 3]
            sets = [f"seed={dice.randrange(1000)}", "train.validate_every=1000"]
            sets += [dice.choice(set_ups())[i] for i in (0, 1)]  # optimizer, schedule
            what, wrong = try_one(sets, home, dice)
            counted[what] += 1
            outcome.saw(not wrong, f"{' '.join(sets)}: {wrong}")
            shutil.rmtree(home)
    outcome.notes.append(", ".join(f"{count} {what}" for what, count in sorted(counted.items())))
    return outcome


def _refused(sets: list[str], home: Path, dice: random.Random) -> tuple[str, str]:
    """Before the first step, by the command line, with a rate that would do."""
    rate = RATE * dice.choice([100, 1000, 10000])
    sets += [f"model.width={dice.choice([32, 64])}", f"train.rate={rate}", "train.steps=30"]
    options = [word for setting in sets for word in ("--set", setting)]
    recipe = str(small_file("transduce", home))
    ended = ask(lambda: command("train", recipe, "--out", str(home / "run"), *options))
    code, said = succeed(ended, "regard train")
    better = re.search(r"train\.rate=([0-9.e-]+)\n", said)
    if code != 3 or not better or (home / "run").exists():
        return "refused", f"exit code {code}: {said[-300:]}"
    losses, error = _losses(small("transduce", home, *sets, f"train.rate={better[1]}"), home)
    fine = not error and losses[-1] < losses[0]
    return "refused", "" if fine else f"the rate it suggests does not train: {error or losses[-1]}"


def _let_in(sets: list[str], home: Path, dice: random.Random) -> tuple[str, str]:
    """It must stop within 50 steps, unless the losses come down again by themselves."""
    rate = RATE * dice.choice([100, 1000, 1000, 10000])
    sets += [f"train.rate={rate}", f"train.warmup={dice.choice([0, 0.03, 0.2])}"]
    sets += [f"model.width={dice.choice([8, 16])}", "train.steps=200"]
    with patch("regard.train.training.refuse_high_rate"):
        losses, error = _losses(small("transduce", home, *sets), home)
    high = [sum(losses[max(0, i - 9) : i + 1]) / 10 > 3 * losses[0] for i in range(len(losses))]
    seen = high.index(True) if True in high else len(losses)  # the last ten are three times as high
    if error:
        told = "diverges" in error or "not finite" in error
        wrong = "" if told and "smaller rate" in error else f"no advice: {error}"
        wrong = wrong or (f"seen at step {seen}: {error}" if len(losses) > seen + 50 else "")
        return "stopped" if seen < len(losses) else "stopped early", wrong
    if any(high[seen + 50 : seen + 51]):
        return "not stopped", f"the loss exploded at step {seen + 1}, and 50 steps later it is high"
    return "settled" if seen == len(losses) else "exploded and settled", ""


def _healthy(sets: list[str], home: Path, dice: random.Random) -> tuple[str, str]:
    sets += [*dice.choice(HEALTHY), "train.steps=120"]
    data = dice.choice(DATA)
    recipe = small("transduce", home, *sets, "data.split=[34, 33, 33]")
    if data in ("chance", "few words"):
        _write(home / "data.tsv", dice, 200 if data == "chance" else 30)
    spikes = {dice.randrange(120): dice.uniform(2, 100) for _ in range(10)}
    _, error = _losses(recipe, home, spikes if "spike" in data else {})
    return "healthy", f"{data}: {error}" if error else ""


def _write(path: Path, dice: random.Random, rows: int) -> None:
    """Pairs in which there is nothing to learn but themselves."""
    texts = sorted({"".join(dice.choices("abcde", k=dice.randint(3, 7))) for _ in range(2 * rows)})
    dice.shuffle(texts)
    pairs = zip(texts[:rows], texts[rows:] + texts[:rows], strict=False)
    path.write_text("".join(f"{one}\t{other}\n" for one, other in pairs), encoding="utf-8")


def _losses(
    recipe: Recipe, home: Path, spikes: dict[int, float] | None = None
) -> tuple[list[float], str]:
    """The losses of a training, and the error it ends in. `spikes`: how many times worse some
    steps are made."""
    training = new_training(recipe, home / "run")
    real = training.task.loss

    def loss(*given: Any) -> Loss:
        total, tokens = real(*given)
        return Loss(total * (spikes or {}).get(training.progress.step, 1.0), tokens)

    training.task.loss = loss  # type: ignore[method-assign]
    found: list[float] = []
    try:
        for event in training.run():
            if isinstance(event, Step):
                found.append(event.loss)
    except TrainingError as error:
        return found, str(error)
    return found, ""


DIVERGING = Campaign(
    "B8",
    "a rate far too high is refused, a training that diverges stops in 50 steps, with advice",
    full=120,
    short=6,
    run=diverge,
)
