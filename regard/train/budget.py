"""A time budget becomes a number of steps, once: a few throw-away steps are timed, the answer is
written into the run's recipe, and the clock is never consulted again."""

import copy
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import islice

from regard.config import TrainSettings
from regard.train.loop import fit
from regard.train.memory import (
    forget_peak,
    give_back_memory,
    held_memory,
    keep_freed_memory,
    peak_memory,
)
from regard.train.optim import make_optimizer, optimizer_tensors
from regard.train.room import refuse_big_network, refuse_big_pieces, size_of
from regard.train.state import random_tensors, restore_random
from regard.train.training import Training

WARM, TIMED = 2, 10  # steps thrown away untimed, and timed
FOR_STEPS = 0.85  # the rest is for validation, and for a machine that slows down under load
# A training takes so many times what its heaviest step takes alone, since what is freed leaves
# holes that nothing fits into; found: 1.6 to 2.6. A step in pieces has some of its holes already.
HOLES, HOLES_IN_PIECES = 2.0, 1.5
BETWEEN_VALIDATIONS = 40  # seconds, where that still leaves 8 of them


@dataclass(frozen=True)
class Trial:
    """What a few steps on this machine cost."""

    seconds: float  # a step
    memory: int  # bytes: the most that reading and training hold
    kept: int  # bytes: gradients and optimizer, which stay between steps

    def expected(self, steps: int) -> float:
        """Seconds that so many steps will take, validations and all."""
        return steps * self.seconds / FOR_STEPS


def with_steps(training: Training, budget: float, trial: Trial) -> TrainSettings:
    """The training's settings with `budget` seconds turned into steps on this machine."""
    steps = max(1, int(FOR_STEPS * budget / trial.seconds))
    if training.settings.passes is not None:
        steps = min(steps, training.settings.passes * training.batches.steps_per_pass)
    every = training.settings.validate_every or _often(steps, trial)
    chosen = {"steps": steps, "budget": None, "passes": None, "validate_every": every}
    return training.settings.model_copy(update=chosen)


def _often(steps: int, trial: Trial) -> int:
    """Validate 8 times in a short training and up to 20 times in a long one."""
    apart = round(BETWEEN_VALIDATIONS / trial.expected(1))
    return max(1, min(steps // 8, max(steps // 20, apart)))


def try_steps(training: Training) -> Trial:
    """Take some steps on a copy of the network, the heaviest ones last. Leaves network and random
    state alone. A ConfigError where this machine has not memory enough."""
    keep_freed_memory()  # as in the training itself
    before, reading = random_tensors(), peak_memory()
    refuse_big_network(training.network)
    spare = copy.deepcopy(training.network)
    refuse_big_pieces(training, spare)
    optimizer = make_optimizer(spare, training.settings)
    epoch = training.batches.steps_per_pass
    stride = max(1, epoch // (WARM + TIMED))  # batches differ in length: sample them all
    heaviest = training.batches.heaviest()
    tried = [step * stride % epoch for step in range(WARM + TIMED)] + heaviest
    steps = fit(
        spare,
        optimizer,
        lambda step: training.pieces_of(tried[step]),
        training.loss_of,
        lambda step: 0.0,
        steps=len(tried),
    )
    for _ in range(WARM):
        next(steps)
    start = time.perf_counter()
    taken = sum(1 for _ in islice(steps, TIMED))
    each = (time.perf_counter() - start) / taken
    needed = max(_held_by(partial(next, steps)) for _ in heaviest)
    restore_random(before)
    give_back_memory()
    copied = size_of(*spare.parameters())  # the training itself needs no copy
    holes = HOLES if training.settings.accumulate == 1 else HOLES_IN_PIECES
    peak = held_memory() - copied + round(holes * needed)
    gradients = [p.grad for p in spare.parameters() if p.grad is not None]
    kept = size_of(*gradients, *optimizer_tensors(spare, optimizer).values())
    return Trial(each, max(reading, peak), kept)


def _held_by(step: Callable[[], object]) -> int:
    """Bytes that a step holds at its peak beyond what stays afterwards, where all of the heap is
    free for it."""
    give_back_memory()
    before = held_memory()
    forget_peak()
    step()
    return max(0, peak_memory() - before)
