"""A time budget becomes a number of steps, once: a few throw-away steps are timed, the answer is
written into the run's recipe, and the clock is never consulted again."""

import copy
import time
from collections.abc import Callable, Sequence
from typing import Any

from torch import nn

from regard.config import TrainSettings
from regard.tasks.task import Loss
from regard.train.loop import fit
from regard.train.optim import make_optimizer
from regard.train.state import random_tensors, restore_random

WARM, TIMED = 4, 24  # steps thrown away untimed, and timed
FOR_STEPS = 0.93  # the rest of the budget goes to validation and saving


def steps_within(
    seconds: float,
    network: nn.Module,
    settings: TrainSettings,
    pieces_of: Callable[[int], Sequence[Any]],
    loss_of: Callable[[nn.Module, Any], Loss],
    steps_per_epoch: int,
) -> int:
    """How many steps fit in `seconds` on this machine. Leaves network and random state alone."""
    before = random_tensors()
    spare = copy.deepcopy(network)
    stride = max(1, steps_per_epoch // (WARM + TIMED))  # batches differ in length: sample them all
    steps = fit(
        spare,
        make_optimizer(spare, settings),
        lambda step: pieces_of(step * stride % steps_per_epoch),
        loss_of,
        lambda step: 0.0,
        steps=WARM + TIMED,
    )
    for _ in range(WARM):
        next(steps)
    start = time.perf_counter()
    taken = sum(1 for _ in steps)
    each = (time.perf_counter() - start) / taken
    restore_random(before)
    return max(1, int(FOR_STEPS * seconds / each))
