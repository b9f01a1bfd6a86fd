"""A training that is stopped and resumed must equal one never stopped, to the last bit."""

import copy
import tempfile
from pathlib import Path
from random import Random
from typing import Any

import torch
from torch import Tensor, nn

from regard.check.report import Finding
from regard.check.subject import difference, worst
from regard.models.weights import weights_of
from regard.tasks.task import Task
from regard.train.checkpoints import load_latest
from regard.train.optim import optimizer_tensors
from regard.train.state import random_tensors, restore_random, seed_everything
from regard.train.training import Training

EXAMPLES, STEPS = 12, 6


def resume(task: Task[Any], network: nn.Module, cases: int, dice: Random) -> Finding:
    """The run's own optimizer, schedule and dropout, on a few made-up examples."""
    before = random_tensors()
    try:
        short = _short(task)
        examples = task.invent(dice, EXAMPLES)
        expected, _ = _trained(short, network, examples, stop=None)
        stops = range(1, STEPS) if cases >= STEPS else [STEPS // 2]
        found = [_trained(short, network, examples, stop=stop) for stop in stops]
    finally:
        restore_random(before)
    gaps = {stop: _gap(expected, ended) for stop, (ended, _) in zip(stops, found, strict=True)}
    wrong = [stop for stop, (gap, _) in gaps.items() if gap]
    note = f"stopped at step {wrong[0]}, first at {gaps[wrong[0]][1]}" if wrong else ""
    return Finding("resume", len(gaps), worst([gap for gap, _ in gaps.values()]), not wrong, note)


def _short(task: Task[Any]) -> Task[Any]:
    """The same task with a recipe of a few small steps."""
    few = {"steps": STEPS, "budget": None, "passes": None, "validate_every": 2, "patience": None}
    small = copy.copy(task)
    train = task.recipe.train.model_copy(update={**few, "batch_tokens": 40})
    small.recipe = task.recipe.model_copy(update={"train": train})
    return small


def _trained(
    task: Task[Any], network: nn.Module, examples: list[Any], stop: int | None
) -> tuple[dict[str, Tensor], Training]:
    """All that a training ends with, stopped and resumed once where `stop` says so."""
    with tempfile.TemporaryDirectory() as folder:
        training = _begin(task, network, examples, Path(folder))
        for _ in training.run(lambda: training.progress.step == stop):
            pass
        if stop is not None:
            seed_everything(999)  # whatever happens in between must not matter
            training = _begin(task, _scrambled(network), examples, Path(folder))
            checkpoint = load_latest(Path(folder) / "checkpoints")
            assert checkpoint is not None
            training.restore(checkpoint)
            for _ in training.run():
                pass
    states = weights_of(training.network), optimizer_tensors(training.network, training.optimizer)
    random = {f"random state of {name}": state for name, state in random_tensors().items()}
    return {name: t.clone() for d in (*states, random) for name, t in d.items()}, training


def _begin(task: Task[Any], network: nn.Module, examples: list[Any], folder: Path) -> Training:
    seed_everything(0)
    return Training(task, copy.deepcopy(network), examples, examples, folder)


@torch.no_grad()
def _scrambled(network: nn.Module) -> nn.Module:
    """A copy that remembers nothing: what is not in the checkpoint is lost."""
    other = copy.deepcopy(network)
    for tensor in (t for t in other.state_dict().values() if t.is_floating_point()):
        tensor.normal_()
    return other


def _gap(expected: dict[str, Tensor], ended: dict[str, Tensor]) -> tuple[float, str]:
    """The largest difference, and the first tensor that has one."""
    if expected.keys() != ended.keys():
        return float("inf"), f"{sorted(expected.keys() ^ ended.keys())[0]}, which only one has"
    gaps = {name: difference(expected[name].double(), ended[name].double()) for name in expected}
    return worst(list(gaps.values())), next((name for name, gap in gaps.items() if gap), "")
