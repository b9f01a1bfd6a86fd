"""How a classifier is put to the proof and looked at.

B batch   T tokens
"""

from random import Random
from typing import Any

import torch
from torch import Tensor

from regard.data.labels import Labelled
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
    pieces = tuple(task.pieces(text))
    chosen = task.labels.index(likeliest(found))
    axes = {"self": (pieces, pieces), "cross": ((found.output or "(no label)",), pieces)}
    return Replay(
        text, found.output, lambda: network(source_of([encoded], device)), (chosen,), axes
    )
