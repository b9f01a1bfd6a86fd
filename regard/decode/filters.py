"""What changes the probabilities of the next token before one is chosen: penalties for tokens that
are there already, a temperature, and filters that leave only some of the tokens.

`FILTERS` is the one list of them, in their order. Each takes scores and gives scores back, whatever
these add up to; a removed token has -inf.

B rows of the batch   V vocabulary
"""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from regard.config import DecodeSettings

AS_SAID = "as the network says"


class History(NamedTuple):
    """The tokens that a row has so far, for the penalties."""

    prompt: Sequence[int]
    written: list[int]


def filter_logits(
    log_probs: Tensor, settings: DecodeSettings, histories: Sequence[History] = ()
) -> Tensor:
    """Log-probabilities (B, V) -> the same after each filter that is set, in float64, made to add
    up to 1 again. The filters work in this order:

    repetition_penalty  multiplies scores below 0, and divides those above, of tokens in the prompt
                        or the output. Log-probabilities are never above 0: all are multiplied, as
                        transformers does where it is given log-probabilities. (Given logits it may
                        divide, so that the same penalty has another effect there.)
    frequency_penalty   is subtracted from a score for each time that the token was written
    temperature         divides the scores: below 1 sharpens, above 1 flattens; 0 is greedy search,
                        which takes the likeliest of what the penalties leave
    top_k               keeps the k likeliest tokens, and all that are as likely as the k-th
    top_p               keeps the fewest tokens whose probabilities reach p together, likeliest
                        first, the lower id first of equals; 1 keeps all
    min_p               keeps the tokens at least min_p times as likely as the likeliest
    typical_p           keeps the fewest tokens whose probabilities reach p together, those first
                        whose surprise, -log p, is nearest to the expected one, the entropy

    Each sees the probabilities that the one before it left. The likeliest token always stays, but
    for typical_p, which may find it too predictable.

    histories  one a row; needed by the penalties only
    """
    steps = _steps(log_probs, settings, histories)
    _, scores = deque(steps, maxlen=1).pop()  # the others are let go at once: they are large
    return scores.log_softmax(dim=-1)


def stages(
    log_probs: Tensor,
    settings: DecodeSettings,
    prompt: Sequence[int] = (),
    written: Sequence[int] = (),
) -> list[tuple[str, Tensor]]:
    """How one next token is chosen: the probabilities (V,) as the network says, then after each
    filter that is set, with its name. The last are exactly those that a `Sampler` draws from. A
    filter that would change nothing, such as a temperature of 1, is not among them.

    log_probs  (V,) as `advance` gives them, forbidden tokens at -inf

    >>> settings = DecodeSettings(temperature=0.5, top_k=40)
    >>> [name for name, _ in stages(torch.zeros(9), settings)]
    ['as the network says', 'temperature 0.5', 'top-k 40']
    """
    steps = _steps(log_probs[None], settings, [History(prompt, list(written))])
    return [(name, scores.log_softmax(dim=-1).exp()[0]) for name, scores in steps]


def _steps(
    log_probs: Tensor, settings: DecodeSettings, histories: Sequence[History]
) -> Iterator[tuple[str, Tensor]]:
    """The scores (B, V) before all filters, then after each."""
    scores = log_probs.double()
    yield AS_SAID, scores
    for setting, (name, idle, change) in FILTERS.items():
        value = getattr(settings, setting)
        if value is not None and value not in idle:
            scores = change(scores, value, histories)
            yield f"{name} {value:g}", scores


# The filters: scores (B, V), the setting's value, and a history for each row -> scores (B, V)


def _penalize_seen(scores: Tensor, penalty: float, histories: Sequence[History]) -> Tensor:
    """Keskar et al. 2019, section 4.1, with the sign minded."""
    seen = _counts([(*row.prompt, *row.written) for row in histories], scores) > 0
    lowered = torch.where(scores < 0, scores * penalty, scores / penalty)
    return torch.where(seen, lowered, scores)


def _penalize_often(scores: Tensor, penalty: float, histories: Sequence[History]) -> Tensor:
    return scores - penalty * _counts([row.written for row in histories], scores)


def _counts(rows: Sequence[Sequence[int]], scores: Tensor) -> Tensor:
    """(B, V) how many times each row holds each token."""
    counts = torch.zeros_like(scores)
    for row, tokens in enumerate(rows):
        met = torch.tensor(tokens, dtype=torch.long)
        counts[row] = torch.bincount(met, minlength=scores.size(-1))
    return counts


def _temper(scores: Tensor, temperature: float, histories: Sequence[History]) -> Tensor:
    peak = scores.amax(dim=-1, keepdim=True)
    return (scores - peak) / temperature  # the peak, 0, never overflows


def _keep_top(scores: Tensor, k: int, histories: Sequence[History]) -> Tensor:
    least = scores.topk(min(k, scores.size(-1))).values[..., -1:]
    return scores.masked_fill(scores < least, -torch.inf)


def _keep_nucleus(scores: Tensor, p: float, histories: Sequence[History]) -> Tensor:
    return _keep_until(p, scores, scores.argsort(dim=-1, descending=True, stable=True))


def _keep_near_best(scores: Tensor, p: float, histories: Sequence[History]) -> Tensor:
    probs = scores.softmax(dim=-1)
    return scores.masked_fill(probs < p * probs.amax(dim=-1, keepdim=True), -torch.inf)


def _keep_typical(scores: Tensor, p: float, histories: Sequence[History]) -> Tensor:
    log_probs = scores.log_softmax(dim=-1)
    entropy = torch.special.entr(log_probs.exp()).sum(dim=-1, keepdim=True)
    odd = (-log_probs - entropy).abs()
    return _keep_until(p, scores, odd.argsort(dim=-1, stable=True))


def _keep_until(p: float, scores: Tensor, order: Tensor) -> Tensor:
    """Keep tokens in this order (B, V), until their probabilities together reach p."""
    reached = scores.softmax(dim=-1).gather(-1, order).cumsum(dim=-1)
    before = F.pad(reached[..., :-1], (1, 0))  # 0 for the first, which always stays
    stays = torch.zeros_like(scores, dtype=torch.bool).scatter(-1, order, before < p)
    return scores.masked_fill(~stays, -torch.inf)


class Filter(NamedTuple):
    name: str
    idle: tuple[float, ...]  # values that change nothing; at 1, rounding would drop a tail
    change: Callable[[Tensor, Any, Sequence[History]], Tensor]


FILTERS = {  # settings, in the order in which they are applied
    "repetition_penalty": Filter("repetition penalty", (1.0,), _penalize_seen),
    "frequency_penalty": Filter("frequency penalty", (0.0,), _penalize_often),
    "temperature": Filter("temperature", (0.0, 1.0), _temper),  # 0 is greedy search
    "top_k": Filter("top-k", (), _keep_top),
    "top_p": Filter("top-p", (1.0,), _keep_nucleus),
    "min_p": Filter("min-p", (0.0,), _keep_near_best),
    "typical_p": Filter("typical-p", (1.0,), _keep_typical),
}
