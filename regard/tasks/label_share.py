"""How much the linear judge beside a network counts.

n texts   C classes
"""

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from regard.data.labels import Labelled
from regard.metrics.calibration import negative_log_likelihood
from regard.models.wide import Wide
from regard.tasks.judging import probabilities_of
from regard.tasks.label_scores import temperature_of, yes_or_no

SHARES = np.concatenate([[0.0], np.geomspace(0.05, 20, 37)])  # tried, of judges equally far apart


@torch.no_grad()
def settle_share(task: Any, network: nn.Module, examples: Sequence[Labelled]) -> None:
    """The one by which validation texts are judged best, by their log loss; without any of those
    it stays what it is."""
    known = [e for e in examples if -1 not in task.classes_of(e)]
    wide = cast(Wide, network.get_submodule("wide"))
    if not known:
        return
    inputs, wanted = task.inputs(known), task.trained(known)
    by_share = []
    for share in (0.0, 1.0):
        wide.share.fill_(share)
        by_share.append(task.judge(network).scores(inputs))
    alone, added = by_share[0], by_share[1] - by_share[0]  # (n, C) each
    equal = alone.std() / max(added.std(), 1e-12)
    losses = [_loss(alone + share * equal * added, wanted, task.several) for share in SHARES]
    wide.share.fill_(float(SHARES[int(np.argmin(losses))] * equal))


def _loss(scores: NDArray[np.float64], wanted: NDArray[np.int64], several: bool) -> float:
    """Of scores that are calibrated, so that only their order and their spacing count."""
    chances = probabilities_of(scores / temperature_of(scores, wanted), several=several)
    asked = yes_or_no(chances, wanted) if several else (chances, wanted)
    return float(negative_log_likelihood(*asked).rows[:, 0].mean())
