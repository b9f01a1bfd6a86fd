"""Small trainings for the chapters: seconds on one core, the same result every time."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import nn

from regard.config import TrainSettings
from regard.tasks.task import Loss
from regard.train.loop import fit
from regard.train.optim import make_optimizer
from regard.train.schedules import rate_at


def train(
    network: nn.Module,
    batch_of: Callable[[int], Any],
    loss_of: Callable[[Any, Any], Loss],
    *,
    steps: int,
    rate: float = 3e-3,
) -> list[float]:
    """The loss of every step. `loss_of` gives a sum and how many things it is the sum of."""
    settings = TrainSettings(steps=steps, rate=rate, weight_decay=0.0)
    taken = fit(
        network,
        make_optimizer(network, settings),
        lambda step: [batch_of(step)],
        loss_of,
        lambda step: rate_at(step, steps, settings),
        steps=steps,
    )
    losses = [step.loss for step in taken]
    network.eval()
    return losses


@contextmanager
def repeatable(seed: int) -> Iterator[torch.Generator]:
    """Random numbers that are the same every time, and one thread: networks this small only wait
    for each other with more. Leaves no trace. The generator is for data."""
    threads = torch.get_num_threads()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        torch.set_num_threads(1)
        try:
            yield torch.Generator().manual_seed(seed)
        finally:
            torch.set_num_threads(threads)
