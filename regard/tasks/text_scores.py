"""How well a language model knows a text it has not seen, token by token.

B rows   T tokens of a window   N tokens to guess   V vocabulary
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from regard.metrics.likelihood import likelihood
from regard.models.decoder import Decoder
from regard.models.ngram import NGram
from regard.names import STOP, Scores
from regard.tasks.text_data import Tokens
from regard.tasks.windows import TokenRow

TOKENS_AT_ONCE = 8000  # judged in one batch
STREAMS = 8  # that a network with a carried state reads side by side


class Guesses(NamedTuple):
    """Of every token but the first."""

    losses: NDArray[np.float64]  # (N,) natural logarithm
    right: NDArray[np.bool_]  # (N,) was it the likeliest?


def texts_in(ids: Tensor) -> Tensor | None:
    """(B, T) the number of the document that each token belongs to, a STOP to the one it begins;
    None where every row has only one."""
    begins = ids == STOP
    if not bool(begins[:, 1:].any()):
        return None
    return begins.cumsum(dim=1)


@torch.no_grad()
def guess(network: Any, row: TokenRow, length: int, stride: int, *, across: bool) -> Guesses:
    """Judge every token of a row. A Decoder sees windows of `length` tokens that begin `stride`
    apart, each token judged where it has the most context; a recurrent network reads on."""
    network.eval()
    if isinstance(network, Decoder):
        found = list(_by_windows(network, row, length, stride, across))
    else:
        found = list(_by_streams(network, row, length))
    losses, right = zip(*found, strict=True)
    return Guesses(np.concatenate(losses).astype(np.float64), np.concatenate(right))


Judged = tuple[NDArray[np.float64], NDArray[np.bool_]]


def _judge(logits: Tensor, wanted: Tensor) -> tuple[Tensor, Tensor]:
    """logits (B, T, V), tokens (B, T) -> losses (B, T), and which were the likeliest."""
    losses = F.cross_entropy(logits.flatten(0, 1), wanted.flatten(), reduction="none")
    return losses.view_as(wanted).cpu(), (logits.argmax(dim=-1) == wanted).cpu()


def _by_windows(
    network: Decoder, row: TokenRow, length: int, stride: int, across: bool
) -> Iterator[Judged]:
    """Every window but the first judges only its last `stride` tokens: the others are judged by
    the one before."""
    device = network.embed.table.weight.device
    count = len(row) - 1  # tokens to guess
    starts = list(range(0, max(1, count - length + stride), stride))
    size = max(1, TOKENS_AT_ONCE // length)
    whole = [start for start in starts if start + length <= count]
    batches = [whole[i : i + size] for i in range(0, len(whole), size)]
    batches += [[start] for start in starts[len(whole) :]]  # the end may be shorter
    for batch in batches:
        ids = np.stack([row[start : start + length + 1] for start in batch])
        tokens = torch.from_numpy(ids).to(device)  # (B, T + 1)
        logits = network(tokens[:, :-1], texts=None if across else texts_in(tokens[:, :-1]))
        losses, right = _judge(logits, tokens[:, 1:])
        for place, start in enumerate(batch):
            new = 0 if start == 0 else length - stride  # judged already
            yield losses[place, new:].double().numpy(), right[place, new:].numpy()


def _by_streams(network: Any, row: TokenRow, length: int) -> Iterator[Judged]:
    """Equal parts of the row side by side, each from its own beginning to its end."""
    device = next(network.parameters()).device
    count = len(row) - 1
    streams = max(1, min(STREAMS, count // max(1, 4 * length)))
    each = count // streams
    found: list[list[tuple[Tensor, Tensor]]] = [[], []]
    rows = np.stack([row[s * each : s * each + each + 1] for s in range(streams)])
    last = row[streams * each :] if count % streams else np.zeros(0, dtype=np.int64)
    for part, ids in enumerate((rows, last[None])):
        state = None
        for start in range(0, max(0, ids.shape[1] - 1), length):
            tokens = torch.from_numpy(ids[:, start : start + length + 1]).to(device)
            logits, state = network.read(tokens[:, :-1], state)
            found[part].append(_judge(logits, tokens[:, 1:]))
    for parts in found:
        if parts:
            losses, right = (torch.cat(columns, dim=1) for columns in zip(*parts, strict=True))
            yield losses.flatten().double().numpy(), right.flatten().numpy()


def beside_it(model: NGram, tokens: Tokens) -> Scores:
    """What an n-gram model scores on the same tokens."""
    losses = model.losses(tokens.row[:])
    found = likelihood(losses, tokens.bytes, f"{model.order - 1}-tokens-before")
    return {name: tally.score() for name, tally in found.items()}
