"""How surprised a network is by the tokens that came: F.cross_entropy's sum, with its gradient
written over the scores themselves. With a large vocabulary the scores are the largest thing that a
step makes, and torch makes it three times.

N tokens   V vocabulary
"""

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from regard.names import PAD

AT_ONCE = 128  # tokens


def cross_entropy(scores: Tensor, wanted: Tensor, smoothing: float = 0.0) -> Tensor:
    """The sum over the tokens `wanted` (...), PAD left out, of minus the logarithm of what
    `scores` (..., V) make of them. `smoothing` spreads that share of the target over all tokens.

    Going back, the scores are overwritten. Where another part of a graph still needs them, torch
    raises an error.

    >>> wanted = torch.tensor([[2, 3, PAD]])
    >>> cross_entropy(torch.zeros(1, 3, 10), wanted).item()  # 2 log 10
    4.605170249938965
    """
    total: Tensor = CrossEntropy.apply(scores.flatten(0, -2), wanted.flatten(), smoothing)
    return total


class CrossEntropy(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, scores: Tensor, wanted: Tensor, smoothing: float) -> Tensor:
        some = scores.split(AT_ONCE)  # a copy of all of them would be as large again
        whole = torch.cat([part.logsumexp(dim=-1, keepdim=True) for part in some])  # (N, 1)
        ctx.save_for_backward(scores, whole, wanted)
        ctx.smoothing = smoothing
        hit = scores.gather(-1, wanted[:, None])  # (N, 1)
        if smoothing:
            hit = hit.lerp(scores.mean(dim=-1, keepdim=True), smoothing)
        return (whole - hit).masked_fill(wanted[:, None] == PAD, 0).sum()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None]:
        """What the network expects less what came, of every token (N, V)."""
        scores, whole, wanted = ctx.saved_tensors
        chances = scores.detach().sub_(whole).exp_()
        if ctx.smoothing:
            chances.sub_(ctx.smoothing / scores.size(-1))
        came = wanted[:, None]
        chances.scatter_add_(-1, came, torch.full_like(whole, ctx.smoothing - 1))
        return chances.mul_((came != PAD) * gradient), None, None
