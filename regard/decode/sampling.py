"""Draw the next token at random, from all of the distribution or from its likelier part.

B rows of the batch   V vocabulary
"""

from collections.abc import Sequence
from random import Random

import torch
import torch.nn.functional as F
from torch import Tensor

from regard.config import DecodeSettings


def filter_logits(
    log_probs: Tensor,
    *,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    min_p: float | None = None,
) -> Tensor:
    """Log-probabilities (B, V) -> the same after each filter in turn, in float64.

    temperature  divides the log-probabilities: below 1 sharpens, above 1 flattens
    top_k        keeps the k likeliest tokens, and all that are as likely as the k-th
    top_p        keeps the fewest tokens whose probabilities reach p together, likeliest
                 first, the lower id first of equals; 1 keeps all
    min_p        keeps the tokens at least min_p times as likely as the likeliest

    Each filter sees the probabilities that the one before it left, made to add up to 1 again.
    A removed token has -inf. The likeliest token always stays.
    """
    peak = log_probs.double().amax(dim=-1, keepdim=True)
    kept = ((log_probs - peak) / temperature).log_softmax(dim=-1)  # the peak, 0, never overflows
    if top_k is not None:
        least = kept.topk(min(top_k, kept.size(-1))).values[..., -1:]
        kept = _keep(kept, kept >= least)
    if top_p is not None and top_p < 1:  # at 1, rounding would drop the tail
        kept = _keep(kept, _nucleus(kept, top_p))
    if min_p is not None:
        probs = kept.exp()
        kept = _keep(kept, probs >= min_p * probs.amax(dim=-1, keepdim=True))
    return kept


def _nucleus(log_probs: Tensor, p: float) -> Tensor:
    """(B, V) True for a token when those before it, likeliest first, do not reach p yet."""
    ordered, ids = log_probs.sort(dim=-1, descending=True, stable=True)
    before = F.pad(ordered.exp().cumsum(dim=-1)[..., :-1], (1, 0))  # 0 for the likeliest
    return torch.zeros_like(log_probs, dtype=torch.bool).scatter(-1, ids, before < p)


def _keep(log_probs: Tensor, stays: Tensor) -> Tensor:
    return log_probs.masked_fill(~stays, -torch.inf).log_softmax(dim=-1)


class Sampler:
    """Draws one token a row. Every row has its own random stream, made from the seed and the
    row's number alone: what a row draws never depends on its neighbours or on who has left.
    """

    def __init__(self, settings: DecodeSettings, numbers: Sequence[int]) -> None:
        self.settings = settings
        self.streams = [Random(f"{settings.seed} {number}") for number in numbers]

    def __call__(self, log_probs: Tensor, rows: Sequence[int]) -> Tensor:
        """Log-probabilities (B, V) of these rows of the original batch -> tokens (B,)."""
        s = self.settings
        kept = filter_logits(
            log_probs, temperature=s.temperature, top_k=s.top_k, top_p=s.top_p, min_p=s.min_p
        )
        draws = [self.streams[row].random() for row in rows]
        reached = kept.exp().cumsum(dim=-1)  # (B, V); the token is the first to pass the draw
        goal = reached.new_tensor(draws)[:, None] * reached[:, -1:]
        return (reached <= goal).sum(dim=-1)
