import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.errors import DataError
from regard.metrics import bootstrap
from regard.metrics.bootstrap import Tally, difference, percent, resample

patient = settings(deadline=None, max_examples=60)  # a busy machine proves nothing


def rows(*columns):
    return np.column_stack(columns).astype(float)


def interval(values, **options):
    return np.percentile(percent(resample(values, **options)), [2.5, 97.5]) / 100


def test_the_interval_of_a_mean_is_the_one_of_the_textbook():
    values = np.random.default_rng(3).normal(5, 2, size=900)
    low, high = interval(rows(values, np.ones(900)), samples=4000)
    error = values.std() / 30  # standard error of the mean
    assert low == pytest.approx(values.mean() - 1.96 * error, abs=0.1 * error)
    assert high == pytest.approx(values.mean() + 1.96 * error, abs=0.1 * error)


def test_about_95_of_100_intervals_cover_the_truth():
    covered = 0
    for seed in range(200):
        random = np.random.default_rng(seed)
        lengths = random.integers(3, 12, size=150)
        low, high = interval(rows(random.binomial(lengths, 0.2), lengths), samples=200)
        covered += low <= 0.2 <= high
    assert 180 <= covered <= 199


def test_the_totals_are_those_of_the_rows_drawn_one_by_one():
    values = rows([0, 1, 2, 5, 1], [3, 4, 5, 9, 2], [1, 0, 0, 7, 2])
    drawn = np.random.default_rng(4).integers(0, 5, size=(9, 5))
    assert np.array_equal(resample(values, samples=9, seed=4), values[drawn].sum(axis=1))


def test_the_counts_of_an_example_are_drawn_together():
    lengths = np.array([1, 10, 100, 1000])
    assert interval(rows(lengths / 4, lengths)) == pytest.approx((0.25, 0.25))


def test_two_systems_meet_the_same_samples():
    random = np.random.default_rng(0)
    ours = random.integers(0, 9, size=(40, 2)).astype(float)
    both = np.hstack([ours, random.integers(0, 9, size=(40, 3))])
    assert np.array_equal(resample(ours), resample(both)[:, :2])


def test_the_same_seed_gives_the_same_samples_and_another_seed_others():
    values = rows([0, 1, 2, 5, 1, 0, 3], [3, 4, 5, 9, 2, 1, 7])
    assert np.array_equal(resample(values, seed=1), resample(values, seed=1))
    assert not np.array_equal(resample(values, seed=1), resample(values, seed=2))


@pytest.mark.parametrize("at_once", [1, 333])
def test_drawing_in_pieces_changes_nothing(monkeypatch, at_once):
    values = rows(range(50), range(50, 100))
    whole = resample(values, samples=70)
    monkeypatch.setattr(bootstrap, "DRAWS_AT_ONCE", at_once)
    assert np.array_equal(resample(values, samples=70), whole)


def test_no_more_draws_are_held_at_once_than_allowed(monkeypatch):
    sizes, bincount = [], np.bincount
    monkeypatch.setattr(
        np, "bincount", lambda drawn, **rest: sizes.append(len(drawn)) or bincount(drawn, **rest)
    )
    monkeypatch.setattr(bootstrap, "DRAWS_AT_ONCE", 120)
    resample(np.ones((50, 2)), samples=7)
    assert sizes == [100, 100, 100, 50]


def test_ten_thousand_examples_are_resampled_within_seconds():
    values = np.random.default_rng(0).integers(0, 30, size=(10_000, 10)).astype(float)
    start = time.process_time()
    resample(values)
    assert time.process_time() - start < 5  # 0.2 on the machine this was written on


@patient
@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 2)), min_size=1, max_size=5))
def test_samples_without_a_denominator_stay_finite(examples):
    score = Tally(np.array(examples, float), percent, "x").score()
    assert 0 <= score.low <= score.high < np.inf


def test_a_score_is_the_value_of_the_sums_and_says_how_its_interval_was_made():
    def product(totals):
        return totals[..., 0] * totals[..., 1]

    score = Tally(rows([1, 2, 3, 4], [5, 0, 5, 0]), product, "product|of:sums").score()
    assert score.value == 100
    assert score.low < score.value < score.high
    assert score.signature == "product|of:sums|n:4|bootstrap:1000|seed:0"


def test_what_can_not_be_scored_is_refused():
    with pytest.raises(DataError, match="nothing to score: an interval needs"):
        Tally(np.empty((0, 2)), percent, "x").score()


def test_two_systems_are_compared_on_the_same_samples():
    """A paired interval of two means is the interval of the mean of their differences."""
    random = np.random.default_rng(5)
    common, ones = random.normal(50, 20, size=400), np.ones(400)
    better, worse = (Tally(rows(common + d, ones), percent, "x") for d in (1.0, 0.0))
    found = difference(better, worse)
    assert found["difference"] == pytest.approx(100.0) and found["significant"]
    assert found["low"] == pytest.approx(100.0) and found["high"] == pytest.approx(100.0)
    back = difference(worse, better)
    assert back["difference"] == -found["difference"] and back["a"] == found["b"]
    assert back["significant"]


def test_a_difference_that_may_be_chance_is_told_as_that():
    random, ones = np.random.default_rng(6), np.ones(300)
    one, other = (Tally(rows(random.normal(5, 2, size=300), ones), percent, "x") for _ in "ab")
    found = difference(one, other)
    assert found["low"] < 0 < found["high"] and not found["significant"]
    assert not difference(one, one)["significant"] and difference(one, one)["difference"] == 0


def test_systems_that_saw_other_examples_are_not_compared():
    one, other = (Tally(np.ones((n, 2)), percent, "x") for n in (3, 4))
    with pytest.raises(DataError, match="same examples, found 3 and 4"):
        difference(one, other)
