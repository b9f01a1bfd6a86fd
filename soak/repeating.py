"""B10: one seed, two fresh processes, one result."""

import os
import random
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib import resources
from pathlib import Path

from regard.config import TokenizerSettings
from soak.campaign import Campaign, Outcome
from soak.rehearsal import content, difference
from soak.trainings import AT_ONCE, RECIPES, choices, fitting, small_file

STEPS = 100
# Less of the demo: few words to learn from and to test on, and small steps.
SHIPPED = {"demo": ("data.split=[5, 94.9, 0.1]", "train.batch_tokens=500")}
VARIANTS = ((), ("train.optimizer=adamw", "train.accumulate=3", "model.dropout=0.1", "seed=1"))
TRAIN = """
import sys
from pathlib import Path
from regard.build import new_training
from regard.tasks.recipe import read_recipe

recipe, run, *sets = sys.argv[1:]
for event in new_training(read_recipe(recipe, sets), Path(run)).run():
    pass
"""
Case = tuple[str, tuple[str, ...]]  # a recipe, or a task with a small one; settings


def twice(cases: int, dice: random.Random, folder: Path) -> Outcome:
    """Two processes whose sets and dicts are ordered differently: every file of the two runs is
    equal, but for the time it took."""
    outcome = Outcome()
    every = [*_cases()]
    for number, (what, sets) in enumerate(every[:cases]):
        home, seed = folder / str(number), dice.randrange(2**32)
        home.mkdir()
        said = _train_both(what, fitting(what, (*sets, f"train.steps={STEPS}")), home, seed)
        wrong = said or difference(content(home / "one"), content(home / "other"))
        outcome.saw(
            not wrong, f"{what} {' '.join(sets)}, PYTHONHASHSEED=0 and {seed}: differ in {wrong}"
        )
        shutil.rmtree(home)
    names = sorted({what for what, _ in every[:cases]})
    outcome.notes.append(f"{STEPS} steps each of {', '.join(names)}; every file of the runs")
    return outcome


def _cases() -> Iterator[Case]:
    """Every task with every tokenizer, what learns at once, and every recipe that ships."""
    shipped = sorted(p.name.removesuffix(".toml") for p in _recipes() if p.name.endswith(".toml"))
    for task, recipe in RECIPES.items():
        section = "source" if "source.kind" in recipe else "tokens"
        for kind in choices("kind", TokenizerSettings):
            yield task, (f"{section}.kind={kind}", f"{section}.size=300")
    for sets in VARIANTS:
        yield from ((task, fitting(task, sets)) for task in (*RECIPES, *AT_ONCE))
        yield from ((name, (*SHIPPED.get(name, ()), *sets)) for name in shipped)


def _recipes() -> list[Path]:
    return [Path(str(path)) for path in (resources.files("regard") / "recipes").iterdir()]


def _train_both(what: str, sets: tuple[str, ...], home: Path, seed: int) -> str:
    """Train at the same time; what went wrong, where something did."""
    processes = [
        subprocess.Popen(
            [sys.executable, *_words(what, sets, home, home / name)],
            env={**os.environ, "PYTHONHASHSEED": str(hash_seed), "OMP_NUM_THREADS": "1"},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        for name, hash_seed in (("one", 0), ("other", seed))
    ]
    ended = [(process.communicate()[1], process.returncode) for process in processes]
    return "".join(f"exit code {code}: {said[-300:]}" for said, code in ended if code)


def _words(what: str, sets: tuple[str, ...], home: Path, run: Path) -> list[str]:
    """A recipe that ships is trained, scored and drawn as a person would; a small one is only
    trained, since that is where chance could come in."""
    if what in {*RECIPES, *AT_ONCE}:
        return ["-c", TRAIN, str(small_file(what, home)), str(run), *sets]
    options = [word for setting in sets for word in ("--set", setting)]
    return ["-m", "regard", "train", what, "--out", str(run), *options]


REPEATING = Campaign(
    "B10",
    "two fresh processes with one seed end in the same bytes",
    full=len([*_cases()]),
    short=1,
    run=twice,
)
