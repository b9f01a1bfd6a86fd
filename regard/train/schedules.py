"""The learning rate as a function of the step, and nothing else."""

import math

from regard.config import TrainSettings


def rate_at(step: int, steps: int, settings: TrainSettings) -> float:
    """The rate of optimizer step number `step` (from 0) of `steps`.

    Rises in a straight line over the warm-up, then follows half a cosine down to zero, or
    falls with the inverse square root of the step (Vaswani et al. 2017, 5.3).

    >>> s = TrainSettings(steps=100, rate=1.0, warmup=0.1)
    >>> [round(rate_at(i, 100, s), 2) for i in (0, 9, 54, 99)]
    [0.1, 1.0, 0.5, 0.0]
    """
    warm = max(1, round(settings.warmup * steps))
    if step < warm:
        return settings.rate * (step + 1) / warm
    if settings.schedule == "inverse_sqrt":
        return settings.rate * math.sqrt(warm / (step + 1))
    done = (step + 1 - warm) / max(1, steps - warm)
    return settings.rate * 0.5 * (1 + math.cos(math.pi * done))
