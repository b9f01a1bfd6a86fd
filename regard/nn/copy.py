"""Copying: a decoder may take a token from the source instead of its own vocabulary (See et al.
2017, 2.2). Names and rare words need not be spelled from memory then.

B batch   T target positions   S source positions   E width of the writer   K width of what was read
V vocabulary, shared by both sides
"""

import torch
from torch import Tensor, nn

from regard.nn.align import Align


class Copy(nn.Module):
    """What the decoder came to (B, T, E) and its scores (B, T, V) -> log-probabilities (B, T, V),
    in which every token of the source has got a share of what is copied."""

    def __init__(self, width: int, memory: int) -> None:
        super().__init__()
        self.align = Align("general", width, memory)
        self.gate = nn.Linear(width, 1)

    def forward(
        self, x: Tensor, scores: Tensor, memory: Tensor, ids: Tensor, lengths: Tensor | None
    ) -> Tensor:
        """memory (B, S, K): what was read; ids (B, S): the tokens it was read from."""
        _, weights = self.align(x, memory, None, lengths)  # (B, T, S)
        own = self.gate(x)  # (B, T, 1)
        log_probs = scores.log_softmax(dim=-1) + nn.functional.logsigmoid(own)
        copied = torch.zeros_like(scores).scatter_add(
            -1, ids[:, None].expand_as(weights), weights * (-own).sigmoid()
        )  # eq. 9: a token that stands in the source twice gets both shares
        least = torch.finfo(copied.dtype).tiny  # no log of 0, and nothing added where none is
        return torch.logaddexp(log_probs, copied.clamp_min(least).log())
