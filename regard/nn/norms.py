"""Norms: bring numbers to a common size, so that deep networks train.

layer   over the features of one position: nothing else is looked at
rms     the same without the mean (Zhang & Sennrich 2019)
batch   over all positions of all rows, for each feature: an item depends on its neighbours

B batch   T positions   E model width
"""

import torch
from torch import Tensor, nn

from regard.shapes import StackSettings


def norm_of(s: StackSettings) -> nn.Module:
    """The norm that a stack asks for."""
    if s.norm == "layer":
        return nn.LayerNorm(s.width, eps=s.norm_epsilon or 1e-5, bias=s.bias)
    return nn.RMSNorm(s.width, eps=s.norm_epsilon)


class SequenceBatchNorm(nn.Module):
    """Batch norm (Ioffe & Szegedy 2015) over sequences of unequal lengths: padding is not counted.

    Beware: while training, a position sees later ones through the mean, so a network that writes
    text must not use it; `regard check` says so.
    """

    mean: Tensor
    variance: Tensor

    def __init__(self, width: int, *, momentum: float = 0.1, small: float = 1e-5) -> None:
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.ones(width)), nn.Parameter(torch.zeros(width))
        self.momentum, self.small = momentum, small
        self.register_buffer("mean", torch.zeros(width))
        self.register_buffer("variance", torch.ones(width))

    def forward(self, x: Tensor, real: Tensor | None = None) -> Tensor:
        """x (B, T, E), real (B, T) bool: which positions are no padding -> (B, T, E)"""
        mean, variance = self.mean, self.variance
        counted = x.flatten(0, 1) if real is None else x[real]  # (positions, E)
        if self.training and len(counted):
            mean, variance = counted.mean(dim=0), counted.var(dim=0, correction=0)
            self._remember(mean.detach(), variance.detach(), len(counted))
        return (x - mean) / (variance + self.small).sqrt() * self.weight + self.bias

    @torch.no_grad()
    def _remember(self, mean: Tensor, variance: Tensor, counted: int) -> None:
        unbiased = variance * counted / max(1, counted - 1)  # as torch.nn.BatchNorm1d has it
        self.mean.lerp_(mean, self.momentum)
        self.variance.lerp_(unbiased, self.momentum)
