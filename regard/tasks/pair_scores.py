"""What outputs are held against.

B batch   T target tokens (STOP included)   V vocabulary
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from regard.data.pairs import Pair
from regard.decode.stepper import FORBIDDEN
from regard.metrics.bootstrap import Tally
from regard.metrics.matches import perplexity, token_accuracy
from regard.names import PAD, STOP, Prediction
from regard.nn.padding import padded


def answers_of(examples: Sequence[Pair]) -> dict[str, list[str]]:
    """Every target of a source counts as right."""
    found: dict[str, list[str]] = {}
    for pair in examples:
        found.setdefault(pair.source, []).append(pair.target)
    return found


def judged(
    predictions: Sequence[Prediction], examples: Sequence[Pair]
) -> tuple[list[str], list[list[str]]]:
    """Outputs, and for each the targets that count as right."""
    right = answers_of(examples)
    return [p.output for p in predictions], [right[p.input] for p in predictions]


class Told(NamedTuple):
    """A row of next tokens, each when all before it are given; STOP counts too."""

    likeliest: list[int]
    right: list[int]
    loss: float  # of the right ones together


def told_tokens(logits: Tensor, targets: Sequence[list[int]]) -> Iterator[Told]:
    """logits (B, T, V) of each token. UNKNOWN is never right, since no output can hold it."""
    right = padded([[*target, STOP] for target in targets]).to(logits.device)  # (B, T)
    each = F.cross_entropy(
        logits.flatten(0, 1), right.flatten(), ignore_index=PAD, reduction="none"
    )
    losses = each.view_as(right).sum(dim=1)  # (B,)
    logits[..., list(FORBIDDEN)] = -torch.inf
    found = zip(logits.argmax(dim=-1).tolist(), targets, losses.tolist(), strict=True)
    for row, target, loss in found:
        yield Told(row[: len(target) + 1], [*target, STOP], loss)


def tallies_of(told: Sequence[Told]) -> dict[str, Tally]:
    """What only a network can be asked: how sure it was of what is right."""
    if not told:
        return {}
    likeliest, right, losses = zip(*told, strict=True)
    return {
        "token_accuracy": token_accuracy(likeliest, right),
        "perplexity": perplexity(losses, [len(row) for row in right]),
    }
