"""What outputs are held against.

B batch   T target tokens (STOP included)   V vocabulary
"""

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

from regard.data.pairs import Pair
from regard.decode.stepper import FORBIDDEN
from regard.names import STOP, Prediction


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


def next_tokens(
    logits: Tensor, targets: Sequence[list[int]]
) -> Iterator[tuple[list[int], list[int]]]:
    """The likeliest next tokens of each row, and the right ones. logits (B, T, V) are of each token
    when all before it are given. STOP counts too, and UNKNOWN is never right, since no output can
    hold it."""
    logits[..., list(FORBIDDEN)] = -torch.inf
    for row, target in zip(logits.argmax(dim=-1).tolist(), targets, strict=True):
        yield row[: len(target) + 1], [*target, STOP]
