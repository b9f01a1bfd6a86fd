"""What a judgement costs, and how much a class weighs in it.

B batch   C classes
"""

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor


def loss_of_one(
    logits: Tensor, classes: Sequence[int], weights: Tensor | None, smoothing: float
) -> Tensor:
    """The sum over texts with one class each; logits (B, C), weights (C,) of the classes."""
    right = torch.tensor(classes, device=logits.device)
    return F.cross_entropy(
        logits, right, weight=weights, label_smoothing=smoothing, reduction="sum"
    )


def loss_of_several(
    logits: Tensor, classes: Sequence[Sequence[int]], weights: Tensor | None, smoothing: float
) -> Tensor:
    """The sum over texts and labels, each label a yes or no; weights (C,) of yes beside no. Half of
    what smoothing takes from one goes to the other, so that 0.5 stays between them."""
    wanted = torch.full_like(logits, smoothing / 2)
    for place, row in enumerate(classes):
        wanted[place, list(row)] = 1 - smoothing / 2
    return F.binary_cross_entropy_with_logits(logits, wanted, pos_weight=weights, reduction="sum")


def weights_of_one(counts: Sequence[int]) -> Tensor:
    """(C,) so that every class counts the same, and a text 1 on average.

    >>> weights_of_one([10, 90]).tolist()
    [5.0, 0.5555555555555556]
    """
    found = torch.tensor(counts, dtype=torch.float64).clamp(min=1)
    return found.sum() / (len(found) * found)


def weights_of_several(counts: Sequence[int], texts: int) -> Tensor:
    """(C,) of each label the texts without it over those with it, so that yes and no count the same
    in all of them; as scikit-learn balances.

    >>> weights_of_several([10, 90, 100], texts=100).tolist()
    [9.0, 0.1111111111111111, 0.01]
    """
    found = torch.tensor(counts, dtype=torch.float64).clamp(min=1)
    return (texts - found).clamp(min=1) / found
