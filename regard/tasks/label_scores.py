"""How good judgements are.

n texts   C classes
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from regard.metrics.bootstrap import Counts, Tally
from regard.metrics.calibration import (
    calibration_error,
    fit_temperature,
    negative_log_likelihood,
)
from regard.metrics.classes import classify_tallies
from regard.names import Scores
from regard.tasks.judging import YES

LEAST = 1e-12  # no probability counts as less: its logarithm would be infinite


def tallies_of(
    probabilities: NDArray[np.float64], wanted: NDArray[np.int64], *, several: bool
) -> dict[str, Tally]:
    """
    probabilities   (n, C)
    wanted          (n,) class numbers, where C stands for a class that was never trained on; or
                    (n, C + 1) of zeros and ones, of which the last stands for such a label
    """
    classes = probabilities.shape[1]
    found = classify_tallies(chosen_of(probabilities, several=several), wanted, classes + 1)
    if several:
        known = wanted[:, :classes]
        return {
            **found,
            "log_loss": _each_label(probabilities, known),
            "calibration_error": _each_yes_or_no(probabilities, known),
        }
    known = wanted < classes
    if not known.any():
        return found
    return {
        **found,
        "log_loss": negative_log_likelihood(probabilities[known], wanted[known]),
        "calibration_error": calibration_error(probabilities[known], wanted[known]),
    }


def chosen_of(probabilities: NDArray[np.float64], *, several: bool) -> NDArray[np.int64]:
    """(n, C) -> the likeliest class (n,), or (n, C + 1) of zeros and ones: all that are likelier
    than not, and never a label that was not trained on."""
    if not several:
        return probabilities.argmax(axis=1)
    return np.pad((probabilities >= YES).astype(np.int64), ((0, 0), (0, 1)))


def _each_label(probabilities: NDArray[np.float64], wanted: NDArray[np.int64]) -> Tally:
    sure = np.where(wanted == 1, probabilities, 1 - probabilities).clip(LEAST)
    rows = np.stack([-np.log(sure).sum(axis=1), np.ones(len(wanted))], axis=1)
    return Tally(rows, _mean, "log_loss|nats|all-labels-of-a-text")


def _each_yes_or_no(probabilities: NDArray[np.float64], wanted: NDArray[np.int64]) -> Tally:
    """Every label is asked for by itself; what is drawn are texts, with all of their labels."""
    found = calibration_error(*yes_or_no(probabilities, wanted))
    rows = found.rows.reshape(*wanted.shape, -1).sum(axis=1)
    return Tally(rows, found.value_of, f"{found.signature}|all-labels-of-a-text")


def yes_or_no(
    probabilities: NDArray[np.float64], wanted: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """(n, C) each -> (n * C, 2) and (n * C,): as many questions of two answers, no (0) and yes."""
    yes = probabilities.reshape(-1)
    return np.stack([1 - yes, yes], axis=1), wanted.reshape(-1)


def temperature_of(scores: NDArray[np.float64], wanted: NDArray[np.int64]) -> float:
    """What scores (n, C) must be divided by; wanted (n,), or (n, C) of several labels, each of
    which is a yes or a no."""
    if wanted.ndim == 1:
        return fit_temperature(scores, wanted)
    yes = scores.reshape(-1)
    return fit_temperature(np.stack([np.zeros_like(yes), yes], axis=1), wanted.reshape(-1))


def _mean(totals: Counts) -> Counts:
    value: Counts = totals[..., 0] / totals[..., 1]
    return value


def scored(tallies: Mapping[str, Tally]) -> Scores:
    return {name: tally.score() for name, tally in tallies.items()}
