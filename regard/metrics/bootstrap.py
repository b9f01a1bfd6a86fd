"""How sure is a score? Ask the bootstrap: draw as many examples as there are, with
replacement, score them again, repeat, and report where 95 % of those scores lie
(Efron and Tibshirani 1993, chapter 13).

Every metric here turns each example into a row of counts, and summed counts into a value. So a
sample is scored by adding up rows again; no text is read twice.

n examples   k counts of an example
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from regard.errors import DataError
from regard.names import Score

SAMPLES = 1000
SEED = 0
DRAWS_AT_ONCE = 1_000_000  # bounds the memory, about 8 MB an array, whatever the data

Counts = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Tally:
    """The counts of every example, and what they are worth together.

    rows      (n, k)
    value_of  (..., k) -> (...): the score of counts that are summed over examples
    """

    rows: Counts
    value_of: Callable[[Counts], Counts]
    signature: str
    """How the counts were made; `score` adds how the interval was."""
    centred: bool = False
    """Of percentages whose samples score lower than all examples do: whether the interval is moved
    to where the value is."""

    def score(self) -> Score:
        """The value of all examples, and its 95 % percentile interval."""
        value = self.value_of(self.rows.sum(axis=0))
        values = self.value_of(resample(self.rows))  # (samples,)
        between = np.percentile(values, [2.5, 97.5])
        if self.centred:
            between = np.clip(between + value - values.mean(), 0, 100)
        how = "|interval:centred" if self.centred else ""
        return Score(
            value=float(value),
            low=float(between[0]),
            high=float(between[1]),
            signature=f"{self.signature}{how}|n:{len(self.rows)}|bootstrap:{SAMPLES}|seed:{SEED}",
        )


def difference(one: Tally, other: Tally) -> dict[str, float | bool]:
    """How far two systems are apart on the same examples: a - b, and where 95 % of the samples
    put it (Koehn 2004). It is significant where 0 is outside."""
    if len(one.rows) != len(other.rows):
        raise DataError(
            f"two systems are compared on the same examples, found {len(one.rows)} and "
            f"{len(other.rows)}."
        )
    values = [tally.value_of(tally.rows.sum(axis=0)) for tally in (one, other)]
    apart = one.value_of(resample(one.rows)) - other.value_of(resample(other.rows))  # (samples,)
    low, high = np.percentile(apart, [2.5, 97.5])
    return {
        "a": float(values[0]),
        "b": float(values[1]),
        "difference": float(values[0] - values[1]),
        "low": float(low),
        "high": float(high),
        "significant": bool(low > 0 or high < 0),
    }


def resample(rows: Counts, *, samples: int = SAMPLES, seed: int = SEED) -> Counts:
    """(n, k) -> (samples, k): the summed counts of each sample of n examples.

    The counts of an example are always drawn together. Which examples are drawn follows from n
    and the seed alone, so that two systems tallied on the same examples meet the same samples.

    >>> resample(np.ones((3, 2)), samples=2).tolist()
    [[3.0, 3.0], [3.0, 3.0]]
    """
    n, k = rows.shape
    if n == 0:
        raise DataError("nothing to score: an interval needs at least one example.")
    random = np.random.default_rng(seed)
    totals = np.empty((samples, k))
    size = max(1, DRAWS_AT_ONCE // n)
    for start in range(0, samples, size):
        part = totals[start : start + size]
        drawn = random.integers(0, n, size=(len(part), n))  # one sample a row
        drawn += n * np.arange(len(part))[:, None]  # each sample counts in n cells of its own
        times = np.bincount(drawn.ravel(), minlength=drawn.size).reshape(drawn.shape)
        part[:] = times.astype(float) @ rows
    return totals


def percent(totals: Counts) -> Counts:
    """(..., 2) -> (...): the first count per hundred of the second.

    Where the second is zero it counts as one, so that no sample divides by zero.

    >>> percent(np.array([[1.0, 4.0], [3.0, 0.0]])).tolist()
    [25.0, 300.0]
    """
    part, whole = totals[..., 0], totals[..., 1]
    return 100 * part / np.where(whole == 0, 1, whole)
