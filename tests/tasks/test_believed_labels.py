"""Can the probabilities of several labels be believed? Each is a yes or a no."""

import numpy as np
import pytest

from regard.metrics.calibration import calibration_error
from regard.tasks.label_details import details_of
from regard.tasks.label_scores import tallies_of


def judged(texts, labels):
    """Probabilities (n, C), and what is wanted (n, C + 1): the last label was never trained on."""
    dice = np.random.default_rng(0)
    chances, wanted = dice.random((texts, labels)), dice.random((texts, labels + 1)) < 0.4
    return chances, wanted.astype(np.int64)


def test_the_calibration_error_of_several_labels_is_that_of_all_yes_and_no():
    chances, wanted = judged(50, 3)
    found = tallies_of(chances, wanted, several=True)["calibration_error"]
    pairs = [(p, w) for p, w in zip(chances.ravel(), wanted[:, :3].ravel(), strict=True)]
    plain = calibration_error([[1 - p, p] for p, _ in pairs], [w for _, w in pairs]).score()
    assert found.score().value == pytest.approx(plain.value)
    assert len(found.rows) == 50, "texts are drawn, not labels"
    assert found.signature.endswith("all-labels-of-a-text")


def test_the_surest_mistakes_of_several_labels_are_told():
    chances = np.array([[0.9, 0.2], [0.6, 0.01], [0.3, 0.7]])
    wanted = np.array([[0, 0, 0], [1, 1, 1], [0, 1, 0]])
    found = details_of(["x" * 500, "y", "z"], chances, wanted, ["a", "b"])
    told = [tuple(one.values()) for one in found["mistakes"]]
    assert told == [("y", "not b", "b", 0.99), ("x" * 300, "a", "not a", 0.9)]
    assert sum(answers for *_, answers in found["reliability"]) == 6
    assert "confusion" not in found
