"""Loss, perplexity and bits per byte are one measure in three units."""

import numpy as np
import pytest

from regard.errors import DataError
from regard.metrics.likelihood import STRETCHES, likelihood


@pytest.mark.parametrize("count", [1, 3, 199, 200, 201, 1000])
def test_the_three_agree_with_a_plain_sum(count):
    losses = np.random.default_rng(0).exponential(2, size=count)
    sizes = np.random.default_rng(1).integers(1, 6, size=count)
    right = losses < 1
    found = {
        name: tally.score().value for name, tally in likelihood(losses, sizes, "x", right).items()
    }
    assert found["loss"] == pytest.approx(losses.mean())
    assert found["perplexity"] == pytest.approx(np.exp(losses.mean()))
    assert found["bits_per_byte"] == pytest.approx(losses.sum() / np.log(2) / sizes.sum())
    assert found["token_accuracy"] == pytest.approx(100 * right.mean())


def test_the_interval_holds_the_value_and_the_signature_says_how():
    losses = np.random.default_rng(0).exponential(2, size=5000)
    tallies = likelihood(losses, np.ones(5000), "windows-of-64-every-64")
    assert "token_accuracy" not in tallies
    score = tallies["loss"].score()
    assert score.low < score.value < score.high
    assert f"stretches:{STRETCHES}|context:windows-of-64-every-64" in score.signature


def test_neighbours_are_drawn_together():
    """A text whose second half is much harder: stretches vary more than single tokens would."""
    losses = np.repeat([1.0, 5.0] * 5, 1000)
    score = likelihood(losses, np.ones(len(losses)), "x")["loss"].score()
    shuffled = np.random.default_rng(0).permutation(losses)
    other = likelihood(shuffled, np.ones(len(losses)), "x")["loss"].score()
    assert score.high - score.low > 3 * (other.high - other.low)


def test_nothing_is_no_text():
    with pytest.raises(DataError, match="there is no token"):
        likelihood(np.zeros(0), np.zeros(0), "x")


def test_bits_are_of_the_bytes_of_each_stretch():
    """One half of the text has tokens four times as long, which are four times as hard: every
    stretch has the same bits per byte, so there is nothing to be unsure of."""
    losses = np.repeat([1.0, 4.0], 1000)
    found = likelihood(losses, losses, "x")
    bits, loss = found["bits_per_byte"].score(), found["loss"].score()
    assert bits.high - bits.low < 1e-9 < loss.high - loss.low


def test_what_lost_some_of_the_text_says_so():
    whole, less = (likelihood(np.ones(9), np.ones(9), "x", lossy=lossy) for lossy in (False, True))
    assert "lossy" not in whole["bits_per_byte"].signature
    assert "|lossy|" in less["bits_per_byte"].signature and "lossy" not in less["loss"].signature


def test_stretches_without_a_byte_do_not_divide_by_zero():
    found = likelihood(np.ones(3), np.array([0.0, 0.0, 1.0]), "x")["bits_per_byte"].score()
    assert np.isfinite([found.value, found.low, found.high]).all()
