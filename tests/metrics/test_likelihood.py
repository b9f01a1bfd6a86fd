"""Loss, perplexity and bits per byte are one measure in three units."""

import numpy as np
import pytest

from regard.errors import DataError
from regard.metrics.likelihood import STRETCHES, likelihood


@pytest.mark.parametrize("count", [1, 3, 199, 200, 201, 1000])
def test_the_three_agree_with_a_plain_sum(count):
    losses = np.random.default_rng(0).exponential(2, size=count)
    right = losses < 1
    found = {
        name: tally.score().value
        for name, tally in likelihood(losses, 3 * count, "x", right).items()
    }
    assert found["loss"] == pytest.approx(losses.mean())
    assert found["perplexity"] == pytest.approx(np.exp(losses.mean()))
    assert found["bits_per_byte"] == pytest.approx(losses.sum() / np.log(2) / (3 * count))
    assert found["token_accuracy"] == pytest.approx(100 * right.mean())


def test_the_interval_holds_the_value_and_the_signature_says_how():
    losses = np.random.default_rng(0).exponential(2, size=5000)
    tallies = likelihood(losses, 5000, "windows-of-64-every-64")
    assert "token_accuracy" not in tallies
    score = tallies["loss"].score()
    assert score.low < score.value < score.high
    assert f"stretches:{STRETCHES}|context:windows-of-64-every-64" in score.signature


def test_neighbours_are_drawn_together():
    """A text whose second half is much harder: stretches vary more than single tokens would."""
    losses = np.repeat([1.0, 5.0] * 5, 1000)
    score = likelihood(losses, len(losses), "x")["loss"].score()
    shuffled = np.random.default_rng(0).permutation(losses)
    other = likelihood(shuffled, len(losses), "x")["loss"].score()
    assert score.high - score.low > 3 * (other.high - other.low)


def test_nothing_is_no_text():
    with pytest.raises(DataError, match="there is no token"):
        likelihood(np.zeros(0), 0, "x")
