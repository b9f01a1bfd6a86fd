"""The training loop. It steps and reports; it never prints, plots, or decides where to save."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from regard.errors import TrainingError
from regard.tasks.task import Loss
from regard.train.adamw import AdamW
from regard.train.not_finite import in_memory, in_step, length_of, told


@dataclass(frozen=True, slots=True)
class Step:
    number: int  # 1 for the first
    loss: float  # mean over the step's target tokens
    tokens: int  # target tokens, padding not counted
    rate: float
    grad_norm: float


def fit(
    network: nn.Module,
    optimizer: AdamW,
    pieces_of: Callable[[int], Sequence[Any]],
    loss_of: Callable[[nn.Module, Any], Loss],
    rate: Callable[[int], float],
    *,
    steps: int,
    start: int = 0,
    clip: float = 1.0,
) -> Iterator[Step]:
    """Train from step `start` to `steps`, yielding one `Step` after each, so the caller decides
    what to log, when to evaluate, when to save and when to stop:

        for step in fit(network, optimizer, pieces_of, loss_of, rate, steps=1000):
            log(step)
            if step.number % 100 == 0:
                save(network, step)

    `pieces_of(step)` gives the step's batch in as many pieces as memory asks for. Their losses
    are sums, divided by the tokens of the whole step: any cut gives the same gradient.
    """
    for number in range(start, steps):
        network.train()
        optimizer.zero_grad()
        dice, pieces = torch.get_rng_state(), pieces_of(number)
        total, tokens = 0.0, 0
        for piece in pieces:
            loss = loss_of(network, piece)
            loss.total.backward()
            total, tokens = total + float(loss.total.detach()), tokens + loss.tokens
        norm = scale_gradients(network, tokens, clip)
        if not math.isfinite(total + norm + length_of(network, optimizer)):
            torch.set_rng_state(dice)  # so that dropout drops the same again
            cause = in_memory(network, optimizer) or in_step(network, pieces, loss_of)
            raise TrainingError(told(number + 1, cause, total / tokens))
        for group in optimizer.param_groups:
            group["lr"] = rate(number)
        optimizer.step()
        yield Step(number + 1, total / tokens, tokens, rate(number), norm)


def scale_gradients(network: nn.Module, tokens: int, clip: float) -> float:
    """Turn gradients of a sum into those of a mean, no longer than `clip`; return their length."""
    gradients = [p.grad for p in network.parameters() if p.grad is not None]
    norm = float(nn.utils.get_total_norm(gradients)) / tokens
    torch._foreach_mul_(gradients, min(1.0, clip / (norm + 1e-6)) / tokens)
    return norm
