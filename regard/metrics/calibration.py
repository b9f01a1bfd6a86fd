"""Can the probabilities of a classifier be believed? Of the answers it gives 80 %, four in five
should be right (Guo et al. 2017, On Calibration of Modern Neural Networks).

n examples   C classes
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from regard.errors import DataError
from regard.metrics.bootstrap import Counts, Tally, percent
from regard.metrics.classes import Numbers, check_classes, class_numbers

BINS = 15  # as Guo et al. have them
COLDEST, HOTTEST = 0.05, 20.0
HALVINGS = 25  # leave less than a millionth of a temperature
LEAST = float(np.finfo(np.float64).eps)  # a probability of 0 would cost infinitely much
ROUNDING = 0.01  # how far from 1 probabilities may add up, in half precision


class Bin(NamedTuple):
    """Answers of about the same confidence. Both shares are from 0 to 1, as a plot has them."""

    confidence: float
    accuracy: float
    answers: int


def calibration_error(probabilities: ArrayLike, wanted: ArrayLike, bins: int = BINS) -> Tally:
    """How far confidence and accuracy are apart in a bin of equal width, in percent, the mean over
    bins weighted by their answers (expected calibration error, section 2 of the paper).

    probabilities   (n, C)
    wanted          (n,) class numbers

    An example counts what it adds to the gap of its bin, with the sign that this gap has over all
    examples; the gaps are then a plain sum. Were signs taken anew in each sample, chance would
    make every gap larger, and the interval might not hold the value. The value itself is above
    the truth too while bins hold few answers: compare it on equal numbers of examples.

    >>> round(calibration_error([[0.9, 0.1], [0.9, 0.1]], [0, 1]).score().value, 6)
    40.0
    """
    confidence, right = _answers(probabilities, wanted)
    number, gap = _bins(confidence, bins), confidence - right  # (n,) each
    sign = np.where(np.bincount(number, gap, minlength=bins) < 0, -1, 1)  # (bins,)
    rows = np.stack([sign[number] * gap, np.ones(len(gap))], axis=1)
    return Tally(rows, _gap, f"calibration_error|bins:{bins}-of-equal-width|signs:of-all-examples")


def negative_log_likelihood(probabilities: ArrayLike, wanted: ArrayLike) -> Tally:
    """What the probability of the wanted class costs, in nats, the mean over examples: the log
    loss. 0 is counted as LEAST, as scikit-learn does.

    >>> round(negative_log_likelihood([[0.5, 0.5], [1.0, 0.0]], [1, 0]).score().value, 6)
    0.346574
    """
    table, numbers = _probabilities(probabilities, wanted)
    given = table[np.arange(len(numbers)), numbers].astype(float)  # (n,)
    losses = np.abs(np.log(np.clip(given, LEAST, 1)))
    rows = np.stack([losses, np.ones(len(losses))], axis=1)
    return Tally(rows, _mean, f"log_loss|nats-per-example|least:{LEAST:.1e}")


def reliability(probabilities: ArrayLike, wanted: ArrayLike, bins: int = BINS) -> list[Bin]:
    """The bins that hold answers, from the least confident on.

    >>> reliability([[0.75, 0.25], [0.75, 0.25]], [0, 1])
    [Bin(confidence=0.75, accuracy=0.5, answers=2)]
    """
    confidence, right = _answers(probabilities, wanted)
    number = _bins(confidence, bins)
    count, sure, good = (
        np.bincount(number, weights, minlength=bins) for weights in (None, confidence, right)
    )
    return [
        Bin(float(sure[i] / count[i]), float(good[i] / count[i]), int(count[i]))
        for i in np.flatnonzero(count)
    ]


def fit_temperature(logits: ArrayLike, wanted: ArrayLike) -> float:
    """What to divide logits by before their softmax, so that the log loss of these examples is
    least (section 4.2 of the paper); between COLDEST and HOTTEST.

    logits   (n, C), of validation examples

    The loss is convex in 1 / temperature, so halving finds where its slope is 0. If every example
    is right, the loss only falls as the temperature does: it tells nothing, and 1 is given.

    >>> round(fit_temperature([[0.0, 2 * np.log(3)]] * 4, [1, 1, 1, 0]), 4)  # 3 of 4 are right
    2.0
    """
    table, numbers = _checked(logits, wanted)
    gaps = table - table.max(axis=1, keepdims=True).astype(float)  # (n, C), 0 for the likeliest
    found = gaps[np.arange(len(numbers)), numbers]  # (n,)
    if not found.any():
        return 1.0
    low, high = np.log(COLDEST), np.log(HOTTEST)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        too_hot = _expected(gaps, float(np.exp(middle))).sum() < found.sum()
        low, high = (low, middle) if too_hot else (middle, high)
    return float(np.exp((low + high) / 2))


def _expected(gaps: NDArray[np.floating], temperature: float) -> NDArray[np.floating]:
    """(n, C) -> (n,): the mean logit under the probabilities. Where the wanted ones are higher
    than that, likelihood rises as the temperature falls."""
    weights = np.exp(gaps / temperature)
    mean: NDArray[np.floating] = (weights * gaps).sum(axis=1) / weights.sum(axis=1)
    return mean


def _answers(probabilities: ArrayLike, wanted: ArrayLike) -> tuple[Counts, Counts]:
    """(n,) each: how likely the likeliest class is, and 1 where it is the wanted one."""
    table, numbers = _probabilities(probabilities, wanted)
    return table.max(axis=1).astype(float), (table.argmax(axis=1) == numbers).astype(float)


def _bins(confidence: Counts, bins: int) -> NDArray[np.int64]:
    """(n,): bin m holds what is above m / bins and up to (m + 1) / bins."""
    inner = np.linspace(0, 1, bins + 1)[1:-1]
    return np.digitize(confidence, inner, right=True)


def _probabilities(table: ArrayLike, wanted: ArrayLike) -> tuple[NDArray[np.floating], Numbers]:
    given, numbers = _checked(table, wanted)
    totals = given.sum(axis=1, dtype=float)
    wrong = np.flatnonzero((np.abs(totals - 1) > ROUNDING) | (given < 0).any(axis=1))
    if len(wrong):
        raise DataError(
            f"probabilities of example {wrong[0] + 1} must be 0 or more and add up to 1, found a "
            f"sum of {totals[wrong[0]]:.4g}. Are they logits? Take their softmax."
        )
    return given, numbers


def _checked(table: ArrayLike, wanted: ArrayLike) -> tuple[NDArray[np.floating], Numbers]:
    """(n, C) of finite numbers, and (n,) of the C classes."""
    given, right = np.asarray(table), np.asarray(wanted)
    if not given.size and not right.size:
        raise DataError("nothing to score: there is no example. Is the file or the split empty?")
    if given.ndim != 2 or right.shape != given.shape[:1]:
        raise DataError(
            "classes and wanted numbers do not line up: expected a row of numbers and a class for "
            f"every example, found shapes {given.shape} and {right.shape}."
        )
    if not np.isfinite(given).all():
        raise DataError("expected finite numbers for every class, found NaN or infinity.")
    numbers = class_numbers(right)
    check_classes(numbers, given.shape[1])
    return given, numbers


def _gap(totals: Counts) -> Counts:
    return np.abs(percent(totals))


def _mean(totals: Counts) -> Counts:
    value: Counts = totals[..., 0] / totals[..., 1]
    return value
