"""A time budget becomes a number of steps, once: a few throw-away steps are timed, the answer is
written into the run's recipe, and the clock is never consulted again."""

import copy
import time

from regard.config import TrainSettings
from regard.train.loop import fit
from regard.train.memory import keep_freed_memory
from regard.train.optim import make_optimizer
from regard.train.state import random_tensors, restore_random
from regard.train.training import Training

WARM, TIMED = 2, 10  # steps thrown away untimed, and timed
FOR_STEPS = 0.85  # the rest is for validation, and for a machine that slows down under load
BETWEEN_VALIDATIONS = 40  # seconds, at least


def with_steps(training: Training, budget: float) -> TrainSettings:
    """The training's settings with `budget` seconds turned into steps on this machine."""
    steps = max(1, int(FOR_STEPS * budget / seconds_per_step(training)))
    often = max(steps // 10, round(steps * BETWEEN_VALIDATIONS / budget))
    every = training.settings.validate_every or max(1, min(steps, often))
    chosen = {"steps": steps, "budget": None, "validate_every": every}
    return training.settings.model_copy(update=chosen)


def seconds_per_step(training: Training) -> float:
    """Time some steps on a copy of the network. Leaves network and random state alone."""
    keep_freed_memory()  # as in the training itself
    before = random_tensors()
    spare = copy.deepcopy(training.network)
    epoch = training.plan.steps_per_epoch
    stride = max(1, epoch // (WARM + TIMED))  # batches differ in length: sample them all
    steps = fit(
        spare,
        make_optimizer(spare, training.settings),
        lambda step: training.pieces_of(step * stride % epoch),
        training.loss_of,
        lambda step: 0.0,
        steps=WARM + TIMED,
    )
    for _ in range(WARM):
        next(steps)
    start = time.perf_counter()
    taken = sum(1 for _ in steps)
    each = (time.perf_counter() - start) / taken
    restore_random(before)
    return each
