"""Two signs that a training is lost: a rate that no network survives, seen before the first step,
and losses far above those of the untrained network, seen soon after they begin.

A loss that falls to a plateau and stays there is not one of them: `train.patience` is for that.
"""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from torch import nn

from regard.errors import TrainingError

if TYPE_CHECKING:  # it counts with what is below
    from regard.train.state import Progress

TOO_MANY = 20  # bad steps more than good ones
FIRST = 3  # steps that tell how high the loss of the untrained network is


def refuse_high_rate(network: nn.Module, rate: float) -> None:
    """A step moves a weight by about the rate, whatever the gradient: AdamW and Muon both see to
    that. In 24 short trainings on the demo's data (widths 16 and 64, both optimizers) a rate of
    more than the size of the weights never learned anything but how often each token occurs; a
    rate of 0.03 to 0.14 of it did best."""
    matrices = [p.detach() for p in network.parameters() if p.dim() > 1]
    size = max((float(m.norm()) / math.sqrt(m.numel()) for m in matrices), default=math.inf)
    if rate > size:
        raise TrainingError(
            f"train.rate = {rate:g} is too high: each step moves a weight by about that much, and "
            f"the weights of this network are only {size:.2g} large, so nothing it learns would "
            f"last. Try a smaller one, as in --set train.rate={size / 40:.1g}"
        )


def start_loss(so_far: float | None, step: int, loss: float) -> float:
    """The loss of the untrained network: the first one. It may come from an easy batch, so the
    next two can raise it, but not by much, since the training may explode at once.

    >>> start_loss(None, 1, 3.0), start_loss(3.0, 2, 3.5), start_loss(3.0, 2, 800.0)
    (3.0, 3.5, 4.0)
    """
    if so_far is None or step > FIRST:
        return loss if so_far is None else so_far
    return max(so_far, min(loss, so_far + abs(so_far) / 3))


def worst_loss(start: float) -> float:
    """A loss above this is bad: twice that of the untrained network, and at least 1 more, since a
    network that knows its work already starts near 0.

    >>> worst_loss(4.0), worst_loss(0.25)
    (8.0, 1.25)
    """
    return start + max(abs(start), 1.0)


def bad_steps(so_far: int, loss: float, start: float) -> int:
    """How many steps were bad, less those that were not, from 0 on: a spike is soon forgotten, a
    loss that jumps up and down is not.

    >>> from itertools import accumulate
    >>> list(accumulate([3, 9, 9, 9, 3, 9], lambda n, loss: bad_steps(n, loss, 4.0), initial=0))
    [0, 0, 1, 2, 3, 2, 3]
    """
    return max(0, so_far + (1 if loss > worst_loss(start) else -1))


def refuse_divergence(progress: "Progress", loss: float, rate: float) -> None:
    """The last step had this loss and this rate."""
    start = progress.start_loss
    if start is not None and progress.bad_steps >= TOO_MANY:
        raise TrainingError(
            f"step {progress.step}: the training diverges: from step {progress.calm_step + 1} on "
            f"most losses are above {worst_loss(start):.4g}, and the untrained network had "
            f"{start:.4g}; this one is {loss:.4g}, at a rate of {rate:.4g}."
        )


def way_on(folder: Path, saved: Sequence[int], until: int, rate: float) -> str:
    """How to go on after a failure: from the newest of the `saved` steps up to step `until`, with
    a smaller rate; or from the beginning."""
    good = [step for step in saved if step <= until]
    if not good:
        return f"Begin again with a smaller rate, as in --set train.rate={rate / 10:.3g}"
    delete = ", delete the checkpoints after it" if len(good) < len(saved) else ""
    return (
        f"The checkpoint of step {good[-1]} is good. To go on from it, put a smaller rate into "
        f"{folder / 'recipe.toml'}, as in rate = {rate / 10:.3g}{delete}, then: "
        f"regard resume {folder}"
    )
