"""Copying: a decoder may take a token from the source instead of its own vocabulary (See et al.
2017, 2.2). Names and rare words need not be spelled from memory then. There the decoder copies by
its own attention; here copying has one for itself, so that it is the same for every decoder, also
for one that has several heads and layers, or no attention at all.

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

    def ready(self, memory: Tensor) -> Tensor:
        """What was read (B, S, K), made ready to be copied from, once."""
        return self.align.ready(memory)

    def forward(
        self, x: Tensor, scores: Tensor, ready: Tensor, ids: Tensor, lengths: Tensor | None
    ) -> Tensor:
        """ready: see above; ids (B, S): the tokens it was read from."""
        values = ids[..., None].to(x.dtype)  # a place is wanted, no mean of values: one will do
        _, weights = self.align(x, ready, values, lengths, ready=ready)  # (B, T, S)
        own = self.gate(x)  # (B, T, 1)
        log_probs = scores.log_softmax(dim=-1) + nn.functional.logsigmoid(own)
        copied = torch.zeros_like(scores).scatter_add(
            -1, ids[:, None].expand_as(weights), weights * (-own).sigmoid()
        )  # eq. 9: a token that stands in the source twice gets both shares
        least = torch.finfo(copied.dtype).tiny  # no log of 0, and nothing added where none is
        return torch.logaddexp(log_probs, copied.clamp_min(least).log())
