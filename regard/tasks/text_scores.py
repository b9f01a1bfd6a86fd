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

from regard.metrics.bootstrap import Tally
from regard.metrics.likelihood import likelihood
from regard.models.ngram import NGram
from regard.names import STOP, Scores
from regard.tasks.text_data import Tokens
from regard.tasks.windows import TokenRow

TOKENS_AT_ONCE = 8000  # judged in one batch, at most
SCORES_AT_ONCE = 32_000_000  # and so many tokens times the vocabulary: 128 MB
STREAMS = 8  # that a network with a carried state reads side by side


class Context(NamedTuple):
    """What a token is judged with: windows of `length` tokens that begin `stride` apart. Without a
    stride a network reads on, in a few streams that begin with nothing."""

    length: int
    stride: int | None
    across: bool  # whether a text is seen from the one after it

    def streams(self, count: int) -> int:
        return max(1, min(STREAMS, count // max(1, 4 * self.length)))

    def name(self, count: int) -> str:
        """For a signature, of so many tokens."""
        if self.stride is None:
            return f"all-before-in-{self.streams(count)}-streams-that-begin-empty"
        return f"windows-of-{self.length}-every-{self.stride}"


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
def guess(network: Any, row: TokenRow, context: Context) -> Guesses:
    """Judge every token of a row; in windows, each where it has the most context. A recurrent
    network may read on, or begin every window with nothing."""
    network.eval()
    by = _by_streams if context.stride is None else _by_windows
    found = list(by(network, row, context))
    losses, right = zip(*found, strict=True)
    return Guesses(np.concatenate(losses).astype(np.float64), np.concatenate(right))


Judged = tuple[NDArray[np.float64], NDArray[np.bool_]]


def _judge(logits: Tensor, wanted: Tensor) -> tuple[Tensor, Tensor]:
    """logits (B, T, V), tokens (B, T) -> losses (B, T), and which were the likeliest."""
    losses = F.cross_entropy(logits.flatten(0, 1), wanted.flatten(), reduction="none")
    return losses.view_as(wanted).cpu(), (logits.argmax(dim=-1) == wanted).cpu()


def _at_once(network: Any) -> int:
    """Tokens whose scores fit into memory together."""
    return min(TOKENS_AT_ONCE, SCORES_AT_ONCE // len(network.embed.table.weight))


def _by_windows(network: Any, row: TokenRow, context: Context) -> Iterator[Judged]:
    """Every window but the first judges only its last `stride` tokens: the others are judged by
    the one before."""
    length, stride = context.length, context.stride or context.length
    count = len(row) - 1  # tokens to guess
    starts = list(range(0, max(1, count - length + stride), stride))
    size = max(1, _at_once(network) // length)
    whole = [start for start in starts if start + length <= count]
    batches = [whole[i : i + size] for i in range(0, len(whole), size)]
    batches += [[start] for start in starts[len(whole) :]]  # the end may be shorter
    for batch in batches:
        ids = np.stack([row[start : start + length + 1] for start in batch])
        tokens = torch.from_numpy(ids).to(network.embed.table.weight.device)  # (B, T + 1)
        texts = {} if context.across else {"texts": texts_in(tokens[:, :-1])}
        losses, right = _judge(network(tokens[:, :-1], **texts), tokens[:, 1:])
        for place, start in enumerate(batch):
            new = 0 if start == 0 else length - stride  # judged already
            yield losses[place, new:].double().numpy(), right[place, new:].numpy()


def _by_streams(network: Any, row: TokenRow, context: Context) -> Iterator[Judged]:
    """Equal parts of the row side by side, each from its own beginning to its end; what is left
    over is read on by the last of them."""
    count = len(row) - 1
    streams = context.streams(count)
    each = count // streams
    rows = np.stack([row[s * each : s * each + each + 1] for s in range(streams)])
    judged, state = _read(network, rows, None, context.length)
    yield judged
    if count % streams:
        last = network.reorder(state, torch.tensor([streams - 1]))
        yield _read(network, row[streams * each :][None], last, context.length)[0]


def _read(network: Any, rows: NDArray[np.int64], state: Any, length: int) -> tuple[Judged, Any]:
    """Rows (B, T + 1) a part at a time -> what was judged, row after row, and the last state."""
    device, found = network.embed.table.weight.device, []
    length = max(1, min(length, _at_once(network) // len(rows)))
    for start in range(0, rows.shape[1] - 1, length):
        tokens = torch.from_numpy(rows[:, start : start + length + 1]).to(device)
        logits, state = network.read(tokens[:, :-1], state)
        found.append(_judge(logits, tokens[:, 1:]))
    losses, right = (torch.cat(columns, dim=1) for columns in zip(*found, strict=True))
    return (losses.flatten().double().numpy(), right.flatten().numpy()), state


def tallies_of(network: Any, tokens: Tokens, context: Context) -> dict[str, Tally]:
    judged, how = guess(network, tokens.row, context), context.name(len(tokens.row) - 1)
    return likelihood(judged.losses, tokens.sizes(), how, judged.right, lossy=tokens.lossy)


def beside_it(model: NGram, tokens: Tokens) -> Scores:
    """What an n-gram model scores on the same tokens."""
    losses, how = model.losses(tokens.row[:]), f"{model.order - 1}-tokens-before"
    found = likelihood(losses, tokens.sizes(), how, lossy=tokens.lossy)
    return {name: tally.score() for name, tally in found.items()}
