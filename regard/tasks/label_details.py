"""What a score does not tell about judgements: how well each class is known, which are taken for
which, whether probabilities can be believed, and the mistakes that the model was surest of.

n texts   C classes
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from regard.config import Tree
from regard.metrics.calibration import reliability
from regard.metrics.classes import confusion, each_class
from regard.tasks.label_scores import chosen_of, yes_or_no

MOST_CLASSES = 50  # of which a table is still read
MISTAKES = 20
RATES = ("precision", "recall", "f1")  # of a class, in percent
LETTERS = 300  # of a text among the mistakes


def details_of(
    inputs: Sequence[str],
    probabilities: NDArray[np.float64],
    wanted: NDArray[np.int64],
    labels: Sequence[str],
) -> Tree:
    """`wanted` as in label_scores.py."""
    several = wanted.ndim == 2
    chosen = chosen_of(probabilities, several=several)
    *known, _ = each_class(chosen, wanted, len(labels) + 1)
    classes = [
        {"label": label, "texts": one.wanted, **dict(zip(RATES, one[1:], strict=True))}
        for label, one in zip(labels, known, strict=True)
    ]
    found = {"labels": list(labels), "classes": classes}
    kind = _of_several if several else _of_one
    return found | kind(inputs, probabilities, wanted, labels)


def _surest_mistakes(rows: NDArray[np.float64], right: NDArray[np.int64]) -> list[int]:
    sure, wrong = rows.max(axis=1), np.flatnonzero(rows.argmax(axis=1) != right)
    found: list[int] = wrong[np.argsort(-sure[wrong], kind="stable")][:MISTAKES].tolist()
    return found


def _told(
    rows: NDArray[np.float64],
    right: NDArray[np.int64],
    mistakes: Sequence[tuple[str, str, str, float]],
) -> Tree:
    return {
        "reliability": [list(one) for one in reliability(rows, right)],
        "mistakes": [
            {"input": text[:LETTERS], "output": given, "wanted": wanted, "probability": float(p)}
            for text, given, wanted, p in mistakes
        ],
    }


def _of_several(
    inputs: Sequence[str],
    probabilities: NDArray[np.float64],
    wanted: NDArray[np.int64],
    labels: Sequence[str],
) -> Tree:
    """Every label is a yes or a no; one that was never trained on is left out."""
    rows, right = yes_or_no(probabilities, wanted[:, : len(labels)])
    mistakes = []
    for i in _surest_mistakes(rows, right):
        text, label = divmod(i, len(labels))
        answers = f"not {labels[label]}", labels[label]
        mistakes.append((inputs[text], *answers[:: -1 if right[i] == 0 else 1], rows[i].max()))
    return _told(rows, right, mistakes)


def _of_one(
    inputs: Sequence[str],
    probabilities: NDArray[np.float64],
    wanted: NDArray[np.int64],
    labels: Sequence[str],
) -> Tree:
    """Of texts with one label each, those left out whose label was never trained on."""
    known = wanted < len(labels)
    rows, right = probabilities[known], wanted[known]
    if not len(right):
        return {}
    chosen = rows.argmax(axis=1)
    texts = [text for text, one in zip(inputs, known, strict=True) if one]
    mistakes = [
        (texts[i], labels[chosen[i]], labels[right[i]], rows[i].max())
        for i in _surest_mistakes(rows, right)
    ]
    found = _told(rows, right, mistakes)
    few = len(labels) <= MOST_CLASSES
    return found | {"confusion": confusion(chosen, right, len(labels)).tolist() if few else None}
