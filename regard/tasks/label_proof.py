"""How a classifier is put to the proof and looked at.

B batch   T tokens   E width
"""

from random import Random
from typing import Any

import torch
from torch import Tensor

from regard.data.labels import Labelled
from regard.models.classifier import MeanReader
from regard.models.encoder import Source
from regard.names import FIRST_PIECE
from regard.tasks.judging import likeliest, source_of
from regard.tasks.probe import Probe, Side
from regard.tasks.task import Replay
from regard.text.tokenizer import Tokenizer

SHORT = 8  # tokens of an invented text, at most


def probe_of_labels(vocabulary: int, longest: int) -> Probe:
    return Probe((Side("text", vocabulary, longest),), _call)


def _call(network: Any, ids: Tensor, mask: Tensor) -> Tensor:
    return network(Source(ids, None if bool(mask.all()) else mask.sum(dim=1)))


def invent_labels(
    dice: Random,
    rows: int,
    tokenizer: Tokenizer,
    labels: list[str],
    between: str | None,
    *,
    pairs: bool,
) -> list[Labelled]:
    return [
        Labelled(
            _invent(dice, tokenizer),
            (between or "").join(dice.sample(labels, min(len(labels), 2 if between else 1))),
            _invent(dice, tokenizer) if pairs else "",
        )
        for _ in range(rows)
    ]


def _invent(dice: Random, tokenizer: Tokenizer) -> str:
    length = dice.randint(1, SHORT)
    return tokenizer.decode([dice.randrange(FIRST_PIECE, tokenizer.size) for _ in range(length)])


@torch.no_grad()
def replay_of(task: Any, network: Any, text: str) -> Replay:
    """The judgement of one text once more."""
    network.eval()
    device = next(network.parameters()).device
    encoded = task.encode(text)
    (found,) = task.predictor(network).predict([text])
    pieces, source = tuple(task.pieces(text)), source_of([encoded], device)
    chosen = task.labels.index(likeliest(found))
    if isinstance(network.body, MeanReader) and network.wide is None:
        shares = shares_of(_added(network, source, chosen))
        axes = {"tokens": (rows_of(task.labels[chosen]), pieces)}
        return Replay(text, found.output, lambda: shares, (chosen,), axes)
    axes = {"self": (pieces, pieces), "cross": ((found.output or "(no label)",), pieces)}
    return Replay(text, found.output, lambda: network(source), (chosen,), axes)


def _added(network: Any, source: Source, label: int) -> Tensor:
    """(T,) exactly: the score is linear in the mean of the vectors, whose gradients say nothing,
    since they are the same for every token."""
    vectors, _ = network.body(source)  # (1, T, E)
    return vectors[0] @ network.judge.weight[label] / vectors.size(1)


def shares_of(added: Tensor) -> Tensor:
    """What pieces add to a score (N,) -> (2, N): what speaks for it, and against it, as shares of
    all together.

    >>> shares_of(torch.tensor([3.0, -1.0]))
    tensor([[0.7500, 0.0000],
            [0.0000, 0.2500]])
    """
    apart = torch.stack([added, -added]).clamp_min(0.0)
    return apart / added.abs().sum().clamp_min(1e-12)


def rows_of(label: str) -> tuple[str, ...]:
    return f"for:{label}", f"against:{label}"
