"""B4: a damaged checkpoint is found before use, and the one before it is used instead."""

import random
import shutil
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from regard.errors import RunError
from regard.run import Run, train
from regard.train.checkpoints import Checkpoint, folder_of, load, load_latest
from soak.campaign import Campaign, Outcome
from soak.children import ask, succeed
from soak.rehearsal import EVERY, STEPS, draw_nothing, equal, load_modules, small_recipe

OLD, NEW, NEXT = STEPS - EVERY, STEPS, STEPS + 1
SEALED = "model.safetensors", "tokenizer.json"  # of a finished run
MODEL_EVERY, BOTH_EVERY = 20, 10  # so often a finished run is damaged, or both checkpoints

Files = dict[str, bytes]


# Each of these takes the files of a folder and gives them back damaged


def flip(files: Files, dice: random.Random) -> Files:
    name, data = chosen(files, dice)
    changed = bytearray(data)
    for spot in {dice.randrange(len(data) * 8) for _ in range(dice.randint(1, 3))}:
        changed[spot // 8] ^= 1 << spot % 8
    return {**files, name: bytes(changed)}


def cut(files: Files, dice: random.Random) -> Files:
    name, data = chosen(files, dice)
    return {**files, name: data[: dice.randrange(len(data))]}


def lengthen(files: Files, dice: random.Random) -> Files:
    name, data = chosen(files, dice)
    more = dice.choice([b"\n", b"\0", b" ", dice.randbytes(dice.randint(1, 4096))])
    return {**files, name: data + more}


def blank(files: Files, dice: random.Random) -> Files:
    """A block of zeros, as a disk leaves it that lost a page."""
    return overwrite(files, dice, lambda size: bytes(size))


def garble(files: Files, dice: random.Random) -> Files:
    return overwrite(files, dice, dice.randbytes)


def overwrite(files: Files, dice: random.Random, block: Callable[[int], bytes]) -> Files:
    name, data = chosen(files, dice)
    start = dice.randrange(len(data))
    size = min(dice.choice([1, 16, 512, 4096]), len(data) - start)
    return {**files, name: data[:start] + block(size) + data[start + size :]}


def exchange(files: Files, dice: random.Random) -> Files:
    one, other = dice.sample(sorted(files), 2)
    return {**files, one: files[other], other: files[one]}


def lose(files: Files, dice: random.Random) -> Files:
    lost = set(dice.sample(sorted(files), dice.randint(1, len(files))))
    return {name: data for name, data in files.items() if name not in lost}


def chosen(files: Files, dice: random.Random) -> tuple[str, bytes]:
    name = dice.choice(sorted(files))
    return name, files[name]


DAMAGES = flip, cut, lengthen, blank, garble, exchange, lose


def mix(files: Files, others: Files, dice: random.Random) -> Files:
    """Some files of another checkpoint among these."""
    names = dice.sample(sorted(files), dice.randint(1, len(files) - 1))
    return {**files, **{name: others[name] for name in names}}


# The campaign


class Bench:
    """A finished run with two checkpoints, to be damaged and mended again."""

    def __init__(self, run: Path) -> None:
        self.run, self.home = run, run / "checkpoints"
        self.whole = {step: load(folder_of(self.home, step)) for step in (OLD, NEW)}
        self.files = {step: read(folder_of(self.home, step)) for step in (OLD, NEW)}
        self.damaged: set[int] = set()
        self.sealed = {name: (run / name).read_bytes() for name in SEALED}

    def damage(self, step: int, dice: random.Random) -> str:
        """Damage a checkpoint; -> how"""
        files, damaged, how = self.files[step], self.files[step], "mix"
        while damaged == files:  # a block of zeros may have been zeros before
            if (pick := dice.randrange(len(DAMAGES) + 1)) < len(DAMAGES):
                damaged, how = DAMAGES[pick](files, dice), DAMAGES[pick].__name__
            else:
                damaged, how = mix(files, self.files[NEW + OLD - step], dice), "mix"
        write(folder_of(self.home, step), damaged)
        self.damaged.add(step)
        return how

    def mend(self) -> None:
        shutil.rmtree(folder_of(self.home, NEXT), ignore_errors=True)
        while self.damaged:
            step = self.damaged.pop()
            write(folder_of(self.home, step), self.files[step])

    def try_newest(self, dice: random.Random) -> tuple[str, str]:
        """-> how it was damaged, what went wrong"""
        if dice.random() < 0.05:
            write(folder_of(self.home, NEXT), self.files[dice.choice([OLD, NEW])])
            return "copy", self.falls_back(NEXT, self.whole[NEW])
        return self.damage(NEW, dice), self.falls_back(NEW, self.whole[OLD])

    def falls_back(self, passed_over: int, expected: Checkpoint) -> str:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found = load_latest(self.home)
        if found is None or not equal(found, expected):
            return f"step {found and found.step} is used"
        name = folder_of(self.home, passed_over).name
        if len(caught) != 1 or name not in str(caught[0].message):
            return f"{name} is not named: {[str(warning.message) for warning in caught]}"
        return ""

    def try_both(self, dice: random.Random) -> tuple[str, str]:
        how = f"both: {self.damage(OLD, dice)} and {self.damage(NEW, dice)}"
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                load_latest(self.home)
        except RunError as error:
            return how, "" if "none of its 2" in str(error) else f"it says: {error}"
        return how, "it is used"

    def try_finished(self, dice: random.Random) -> tuple[str, str]:
        damaged = self.sealed
        while damaged == self.sealed:
            pick = dice.choice(DAMAGES)
            damaged = pick(self.sealed, dice)
        try:
            write(self.run, damaged)
            for name in self.sealed.keys() - damaged.keys():
                (self.run / name).unlink()
            Run.load(self.run)
        except RunError as error:
            named = any(name in str(error) for name in SEALED) or "not finished" in str(error)
            return f"finished: {pick.__name__}", "" if named else f"it says: {error}"
        finally:
            write(self.run, self.sealed)
        return f"finished: {pick.__name__}", "it is loaded"


def damage_checkpoints(cases: int, dice: random.Random, folder: Path) -> Outcome:
    load_modules()
    bench = Bench(finished_run(folder))
    outcome, kinds = Outcome(), Counter[str]()
    for case in range(cases):
        if case % MODEL_EVERY == 0:
            how, problem = bench.try_finished(dice)
        elif case % BOTH_EVERY == 1:
            how, problem = bench.try_both(dice)
        else:
            how, problem = bench.try_newest(dice)
        bench.mend()
        outcome.saw(not problem, f"case {case}: {how}: {problem}")
        kinds[how.partition(":")[0]] += 1
    outcome.notes.append(", ".join(f"{n} {kind}" for kind, n in sorted(kinds.items())))
    return outcome


def finished_run(folder: Path) -> Path:
    recipe, run = small_recipe(folder), folder / "run"

    def work() -> None:
        draw_nothing()
        train(recipe, out=run)

    succeed(ask(work), "the run that nobody damages")
    return run


def read(folder: Path) -> Files:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def write(folder: Path, files: Files) -> None:
    """Put these files, and in a checkpoint no others, into a folder."""
    if folder.name.startswith("step-"):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
    for name, data in files.items():
        (folder / name).write_bytes(data)


CAMPAIGNS = (
    Campaign(
        "B4",
        "a damaged checkpoint is found before use, and the one before it is used and named",
        full=10_000,
        short=150,
        run=damage_checkpoints,
    ),
)
