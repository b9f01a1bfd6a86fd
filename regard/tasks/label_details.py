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
from regard.tasks.label_scores import chosen_of

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
    return found if several else found | _of_one(inputs, probabilities, wanted, labels)


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
    chosen, sure = rows.argmax(axis=1), rows.max(axis=1)
    wrong = np.flatnonzero(chosen != right)
    surest = wrong[np.argsort(-sure[wrong], kind="stable")][:MISTAKES]
    texts = [text for text, one in zip(inputs, known, strict=True) if one]
    found: Tree = {
        "reliability": [list(one) for one in reliability(rows, right)],
        "mistakes": [
            {
                "input": texts[i][:LETTERS],
                "output": labels[chosen[i]],
                "wanted": labels[right[i]],
                "probability": float(sure[i]),
            }
            for i in surest.tolist()
        ],
    }
    if len(labels) <= MOST_CLASSES:
        found["confusion"] = confusion(chosen, right, len(labels)).tolist()
    return found
