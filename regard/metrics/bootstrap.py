"""How sure is a score? Ask the bootstrap: draw as many examples as there are, with
replacement, score them again, repeat, and report where 95 % of those scores lie
(Efron and Tibshirani 1993, chapter 13).
"""

from collections.abc import Sequence

import numpy as np

from regard.errors import DataError

SAMPLES = 1000
SEED = 0
DRAWS_AT_ONCE = 1_000_000  # bounds the memory, about 8 MB an array, whatever the data


def ratio_interval(
    numerators: Sequence[float],
    denominators: Sequence[float],
    *,
    samples: int = SAMPLES,
    seed: int = SEED,
) -> tuple[float, float]:
    """The 95 % percentile interval of sum(numerators) / sum(denominators).

    An example's numerator and denominator are always drawn together. Where a sample's
    denominators add up to zero they count as one, so that no sample divides by zero.

    >>> ratio_interval([1, 1, 1], [2, 2, 2])
    (0.5, 0.5)
    """
    n = len(numerators)
    if n == 0:
        raise DataError("nothing to score: an interval needs at least one example.")
    if n != len(denominators):
        raise DataError(
            "numerators and denominators do not line up: expected one of each for every example, "
            f"found {n} and {len(denominators)}."
        )
    above, below = np.asarray(numerators, float), np.asarray(denominators, float)
    random = np.random.default_rng(seed)
    ratios: list[float] = []
    while len(ratios) < samples:
        size = min(samples - len(ratios), max(1, DRAWS_AT_ONCE // n))
        drawn = random.integers(0, n, size=(size, n))  # one sample a row
        sums = below[drawn].sum(axis=1)
        ratios.extend(above[drawn].sum(axis=1) / np.where(sums == 0, 1, sums))
    low, high = np.percentile(ratios, [2.5, 97.5])
    return float(low), float(high)
