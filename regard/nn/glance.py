"""Soft and hard attention over the regions of a picture, or over any places of which one matters:
Xu et al. 2015 ("Show, Attend and Tell"), 4.1 and 4.2.

soft   a mean of all regions, weighted: differentiable, learned like everything else
hard   one region, drawn by the same weights: its choice has no gradient, so it is learned from
       reward (REINFORCE, Williams 1992)

B batch   R regions   Q query width   K region width
"""

import torch
from torch import Tensor, nn

from regard.nn.align import score_of, softmax_over


class Glance(nn.Module):
    """query (B, Q), regions (B, R, K) -> what was seen (B, K), the weights (B, R), and, when hard,
    the log-probability (B,) of the choice that was made.

    hard   in training a region is drawn; afterwards the likeliest is taken
    """

    def __init__(self, query: int, key: int, *, score: str = "additive", hard: bool = False):
        super().__init__()
        self.score, self.hard = score_of(score, query, key), hard

    def forward(
        self, query: Tensor, regions: Tensor, lengths: Tensor | None = None
    ) -> tuple[Tensor, Tensor, Tensor | None]:
        R = regions.size(1)
        real = torch.full((len(query),), R, device=query.device) if lengths is None else lengths
        allowed = torch.arange(R, device=query.device) < real[:, None]  # (B, R)
        scores = self.score(query[:, None], regions)[:, 0]  # (B, R)
        weights = softmax_over(scores, allowed)
        if not self.hard:
            return (weights[:, None] @ regions)[:, 0], weights, None
        chosen = self._choose(weights)  # (B,)
        rows = torch.arange(len(chosen), device=query.device)
        seen = regions[rows, chosen] * (real > 0)[:, None]  # nothing to see: zeros
        return seen, weights, weights[rows, chosen].clamp(min=1e-30).log()

    def _choose(self, weights: Tensor) -> Tensor:
        if not self.training:
            return weights.argmax(dim=-1)
        some = weights.detach() + (weights.detach().sum(dim=-1, keepdim=True) == 0)
        return torch.multinomial(some, 1)[:, 0]


class Reinforce(nn.Module):
    """The part of the loss that teaches a hard choice: make choices likelier that were rewarded
    more than usual. Xu et al. 2015, eq. 11: a running mean of rewards as baseline, and entropy, so
    that it goes on trying."""

    usual: Tensor

    def __init__(self, *, momentum: float = 0.1, entropy: float = 0.01) -> None:
        super().__init__()
        self.momentum, self.entropy = momentum, entropy
        self.register_buffer("usual", torch.zeros(()))

    def forward(self, log_choice: Tensor, reward: Tensor, weights: Tensor) -> Tensor:
        """log_choice, reward (B,), weights (B, R) -> loss (). The reward carries no gradient: it is
        usually the log-probability of the right answer."""
        reward = reward.detach()
        chosen = -((reward - self.usual) * log_choice).mean()
        spread = -(weights * weights.clamp(min=1e-30).log()).sum(dim=-1).mean()
        if self.training:
            self.usual.lerp_(reward.mean(), self.momentum)
        return chosen - self.entropy * spread
