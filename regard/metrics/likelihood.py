"""How surprised a language model is by a text: the mean loss of a token, and the same as perplexity
and as bits for each byte, which models with different tokens can be compared by.

Neighbouring tokens are not independent, so the bootstrap draws whole stretches of the text.

N tokens
"""

from functools import partial

import numpy as np
from numpy.typing import NDArray

from regard.errors import DataError
from regard.metrics.bootstrap import Counts, Tally, percent

STRETCHES = 200  # equal parts of the text, drawn as wholes


def likelihood(
    losses: NDArray[np.floating], size: int, how: str, right: NDArray[np.bool_] | None = None
) -> dict[str, Tally]:
    """
    losses   (N,) of each token, natural logarithm
    size     bytes of the text that the tokens stand for, in UTF-8
    how      with what context each token was judged
    right    (N,) was the likeliest token the right one?

    >>> text = likelihood(np.full(8, np.log(4)), size=4, how="alone")
    >>> [round(text[name].score().value, 6) for name in ("perplexity", "bits_per_byte")]
    [4.0, 4.0]
    """
    if not len(losses):
        raise DataError("nothing to score: there is no token. Is the file or the split empty?")
    counts = np.ones(len(losses)) if right is None else right.astype(float)
    rows = _stretches(np.stack([losses.astype(float), np.ones(len(losses)), counts], axis=1))
    in_stretches = f"stretches:{len(rows)}|context:{how}"
    each = size / len(losses)  # bytes of a token, on average
    found = {
        "loss": Tally(rows, _mean, f"loss|nats-per-token|{in_stretches}"),
        "perplexity": Tally(rows, _perplexity, f"perplexity|of-tokens|{in_stretches}"),
        "bits_per_byte": Tally(
            rows, partial(_bits, each=each), f"bits_per_byte|utf-8|{in_stretches}"
        ),
    }
    if right is not None:
        rights = rows[:, [2, 1]]
        found["token_accuracy"] = Tally(rights, percent, f"token_accuracy|{in_stretches}")
    return found


def _stretches(counts: Counts) -> Counts:
    """(N, k) -> (at most STRETCHES, k): sums of neighbours."""
    n = min(STRETCHES, len(counts))
    starts = np.arange(n) * len(counts) // n
    summed: Counts = np.add.reduceat(counts, starts, axis=0)
    return summed


def _mean(totals: Counts) -> Counts:
    value: Counts = totals[..., 0] / totals[..., 1]
    return value


def _perplexity(totals: Counts) -> Counts:
    value: Counts = np.exp(_mean(totals))
    return value


def _bits(totals: Counts, each: float) -> Counts:
    value: Counts = _mean(totals) / np.log(2) / each
    return value
