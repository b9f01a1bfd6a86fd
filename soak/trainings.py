"""Trainings small enough to run by the thousand, one for each task, and all that must be equal for
two of them to be the same."""

import hashlib
import json
import random
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from typing import Any, get_args
from unittest.mock import patch

import numpy as np
import torch

from regard.config import Recipe, Settings, TrainSettings
from regard.models.weights import weights_of
from regard.tasks.recipe import read_recipe
from regard.tasks.task import Loss
from regard.train.optim import optimizer_tensors
from regard.train.state import random_tensors
from regard.train.training import Training

PAIRS = """\
task = "transduce"
metrics = ["per"]
data.path = "data.tsv"
data.source = "1"
data.target = "2"
data.split = [80, 10, 10]
source.kind = "character"
model.width = 8
model.max_length = 16
train.steps = 50
train.batch_tokens = 60
train.validate_every = 12
decode.max_length = 8
"""
TRANSFORMER = """\
model.heads = 2
model.encoder_layers = 1
model.decoder_layers = 1
"""
RECURRENT = """\
model.kind = "rnn"
model.copying = true
"""
TEXT = """\
task = "language_model"
data.path = "data.tsv"
data.split = [80, 10, 10]
data.column = "2"
tokens.kind = "character"
model.width = 8
model.max_length = 8
train.steps = 50
train.batch_tokens = 60
train.validate_every = 12
order = 2
"""
DECODER = """\
model.heads = 2
model.layers = 1
"""
CARRYING = """\
model.kind = "rnn"
model.cell = "lstm"
"""
LABELLED = """\
task = "classify"
data.path = "data.tsv"
data.split = [80, 10, 10]
data.text = "2"
data.label = "3"
"""
LABELS = f"""\
{LABELLED}
tokens.kind = "character"
model.width = 8
model.max_length = 16
train.steps = 50
train.batch_tokens = 60
train.validate_every = 12
"""
# Recipes of each task, for the data that `small_file` writes. A task that is not here is a loss.
RECIPES = {
    "transduce": PAIRS + TRANSFORMER,
    "transduce by rnn": PAIRS + RECURRENT,
    "language_model": TEXT + DECODER,
    "language_model by rnn": TEXT + CARRYING,
    "classify": LABELS + DECODER,
    "classify by rnn": LABELS + CARRYING + 'data.unlabelled = "more.txt"\n',
    "classify by mean": LABELS + 'model.kind = "mean"\n',
}
# What learns at once, so that there are no steps to stop at.
AT_ONCE = {"classify by bag": LABELLED + 'model.kind = "bag"\ntrain.steps = 0\n'}


def words(path: Path, count: int = 200) -> None:
    """Words, the same words spelled backwards, and their first letters."""
    dice = random.Random(0)
    found = sorted({"".join(dice.choices("abcde", k=dice.randint(1, 7))) for _ in range(count)})
    path.write_text("".join(f"{w}\t{w[::-1]}\t{w[0]}\n" for w in found), encoding="utf-8")


def small_file(task: str, folder: Path) -> Path:
    """A recipe file with its data beside it."""
    folder.mkdir(parents=True, exist_ok=True)
    words(folder / "data.tsv")
    more = "".join(f"{a}{b} {b}{a}\n" for a, b in product("abcde", repeat=2))
    (folder / "more.txt").write_text(more, encoding="utf-8")
    path = folder / "small.toml"
    path.write_text({**RECIPES, **AT_ONCE}[task], encoding="utf-8")
    return path


def small(task: str, folder: Path, *sets: str) -> Recipe:
    return read_recipe(small_file(task, folder), fitting(task, sets))


def fitting(task: str, sets: Iterable[str]) -> tuple[str, ...]:
    """The settings as a task has them: a mean of vectors drops out only what is judged, and what
    learns at once has neither steps nor anything to drop."""
    if task in AT_ONCE:
        return tuple(one for one in sets if not one.startswith(("train.", "model.dropout")))
    if task == "classify by mean":
        return tuple(one.replace("model.dropout", "model.judge_dropout") for one in sets)
    return tuple(sets)


def choices(setting: str, of: type[Settings] = TrainSettings) -> tuple[str, ...]:
    """All that a setting may be: a new optimizer joins by itself."""
    return get_args(of.model_fields[setting].annotation)


def set_ups() -> list[tuple[str, ...]]:
    """Every optimizer with every schedule, whole steps and steps in pieces, with and without
    dropout; what is kept takes turns."""
    axes = choices("optimizer"), choices("schedule"), ("1", "3"), ("0", "0.1")
    keeps = choices("keep")
    return [
        (
            f"train.optimizer={optimizer}",
            f"train.schedule={schedule}",
            f"train.accumulate={pieces}",
            f"model.dropout={dropout}",
            f"train.keep={keeps[number % len(keeps)]}",
            "train.average=4",
            "train.rate=0.2",  # so high that not every validation is the best one
        )
        for number, (optimizer, schedule, pieces, dropout) in enumerate(product(*axes))
    ]


def digest(training: Training) -> str:
    """Of weights, optimizer, random state of every library, progress but for the clock, log."""
    tensors: dict[str, Any] = {
        **weights_of(training.network),
        **optimizer_tensors(training.network, training.optimizer),
        **{f"random state of {name}": state for name, state in random_tensors().items()},
        **{f"carried {name}": state for name, state in training.task.carried().items()},
    }
    state = {k: v for k, v in training.progress.as_json().items() if k != "seconds"}
    found = hashlib.sha256(json.dumps([state, training.log()]).encode())
    for name, tensor in sorted(tensors.items()):
        found.update(name.encode() + tensor.cpu().numpy().tobytes())
    return found.hexdigest()


@contextmanager
def drawing() -> Iterator[None]:
    """Every step draws from every library, as a task may; normal numbers come in pairs, of which
    the second is kept."""
    real = Training.loss_of

    def loss_of(self: Training, *rest: Any) -> Loss:
        random.gauss(), np.random.standard_normal(), torch.rand(1)
        return real(self, *rest)

    with patch.object(Training, "loss_of", loss_of):
        yield


def scramble() -> None:
    """What happens between two sittings must not matter."""
    random.seed(random.random())
    np.random.seed(random.randrange(2**32))
    torch.manual_seed(random.randrange(2**32))


@contextmanager
def quickly() -> Iterator[None]:
    """One thread: the networks are so small that a second one only waits. And no waiting for the
    disk, which is for those who cut the power."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with patch("os.fsync", lambda file: None):
            yield
    finally:
        torch.set_num_threads(before)
