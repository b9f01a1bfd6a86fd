import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.errors import DataError
from regard.metrics import bootstrap
from regard.metrics.bootstrap import ratio_interval

patient = settings(deadline=None, max_examples=60)  # a busy machine proves nothing


def test_the_interval_of_a_mean_is_the_one_of_the_textbook():
    values = np.random.default_rng(3).normal(5, 2, size=900)
    low, high = ratio_interval(values, [1] * 900, samples=4000)
    error = values.std() / 30  # standard error of the mean
    assert low == pytest.approx(values.mean() - 1.96 * error, abs=0.1 * error)
    assert high == pytest.approx(values.mean() + 1.96 * error, abs=0.1 * error)


def test_about_95_of_100_intervals_cover_the_truth():
    covered = 0
    for seed in range(200):
        random = np.random.default_rng(seed)
        lengths = random.integers(3, 12, size=150)
        edits = random.binomial(lengths, 0.2)
        low, high = ratio_interval(edits, lengths, samples=200)
        covered += low <= 0.2 <= high
    assert 180 <= covered <= 199


def test_numerator_and_denominator_of_an_example_are_drawn_together():
    lengths = [1, 10, 100, 1000]
    assert ratio_interval([n / 4 for n in lengths], lengths) == pytest.approx((0.25, 0.25))


def test_the_same_seed_gives_the_same_interval_and_another_seed_another():
    edits, lengths = [0, 1, 2, 5, 1, 0, 3], [3, 4, 5, 9, 2, 1, 7]
    assert ratio_interval(edits, lengths, seed=1) == ratio_interval(edits, lengths, seed=1)
    assert ratio_interval(edits, lengths, seed=1) != ratio_interval(edits, lengths, seed=2)


def test_drawing_in_pieces_changes_nothing(monkeypatch):
    edits, lengths = list(range(50)), list(range(50, 100))
    whole = ratio_interval(edits, lengths)
    monkeypatch.setattr(bootstrap, "DRAWS_AT_ONCE", 333)
    assert ratio_interval(edits, lengths) == whole


def test_the_number_of_samples_is_respected(monkeypatch):
    asked = []
    percentile = np.percentile
    monkeypatch.setattr(np, "percentile", lambda r, q: asked.append(len(r)) or percentile(r, q))
    monkeypatch.setattr(bootstrap, "DRAWS_AT_ONCE", 1)
    ratio_interval([1, 2], [3, 4], samples=7)
    assert asked == [7]


@patient
@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 2)), min_size=1, max_size=5))
def test_samples_without_a_denominator_stay_finite(examples):
    low, high = ratio_interval(*zip(*examples, strict=True), samples=50)
    assert 0 <= low <= high < np.inf


def test_what_can_not_be_scored_is_refused():
    with pytest.raises(DataError, match="nothing to score"):
        ratio_interval([], [])
    with pytest.raises(DataError, match="do not line up: .* found 2 and 3"):
        ratio_interval([1, 2], [1, 2, 3])
