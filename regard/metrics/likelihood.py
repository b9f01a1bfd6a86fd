"""How surprised a language model is by a text: the mean loss of a token, and the same as perplexity
and as bits for each byte, which models with different tokens can be compared by.

Neighbouring tokens are not independent, so the bootstrap draws whole stretches of the text.

N tokens
"""

import numpy as np
from numpy.typing import NDArray

from regard.errors import DataError
from regard.metrics.bootstrap import Counts, Tally, percent

STRETCHES = 200  # equal parts of the text, drawn as wholes


def likelihood(
    losses: NDArray[np.floating],
    sizes: NDArray[np.floating],
    how: str,
    right: NDArray[np.bool_] | None = None,
    *,
    lossy: bool = False,
) -> dict[str, Tally]:
    """
    losses   (N,) of each token, natural logarithm
    sizes    (N,) bytes of the text that each token stands for, in UTF-8
    how      with what context each token was judged
    right    (N,) was the likeliest token the right one?
    lossy    whether the tokens lost some of the text: then fewer bits are needed than for all of it

    >>> text = likelihood(np.full(8, np.log(4)), np.full(8, 0.5), how="alone")
    >>> [round(text[name].score().value, 6) for name in ("perplexity", "bits_per_byte")]
    [4.0, 4.0]
    """
    if not len(losses):
        raise DataError("nothing to score: there is no token. Is the file or the split empty?")
    each = np.ones(len(losses))
    counts = each if right is None else right.astype(float)
    rows = _stretches(np.stack([losses.astype(float), each, counts, sizes.astype(float)], axis=1))
    how = f"stretches:{len(rows)}|context:{how}"
    of_what = "utf-8|lossy" if lossy else "utf-8"
    found = {
        "loss": Tally(rows, _mean, f"loss|nats-per-token|{how}"),
        "perplexity": Tally(rows, _perplexity, f"perplexity|of-tokens|{how}"),
        "bits_per_byte": Tally(rows, _bits, f"bits_per_byte|{of_what}|{how}"),
    }
    if right is not None:
        found["token_accuracy"] = Tally(rows[:, [2, 1]], percent, f"token_accuracy|{how}")
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


def _bits(totals: Counts) -> Counts:
    size = totals[..., 3]
    value: Counts = totals[..., 0] / np.log(2) / np.where(size == 0, 1, size)
    return value
