"""Whether probabilities can be believed, against plain loops and scikit-learn."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from scipy.special import logsumexp, softmax
from sklearn.metrics import log_loss

from regard.errors import DataError
from regard.metrics.bootstrap import difference
from regard.metrics.calibration import (
    COLDEST,
    HOTTEST,
    calibration_error,
    fit_temperature,
    negative_log_likelihood,
    reliability,
)

patient = settings(deadline=None, max_examples=60)  # a busy machine proves nothing

rows = st.lists(st.floats(-50, 50), min_size=3, max_size=3)
small_logits = st.lists(st.tuples(rows, st.integers(0, 2)), min_size=1, max_size=4)


def judged(n, temperature, classes=5, seed=0):
    """Logits, and classes drawn from their softmax at this temperature."""
    random = np.random.default_rng(seed)
    logits = random.normal(0, 3, size=(n, classes))
    noise = random.gumbel(size=(n, classes))  # the largest sum is a draw from the softmax
    return logits, (logits / temperature + noise).argmax(axis=1)


def error_by_definition(probabilities, wanted, bins):
    """Equation 3 of Guo et al. 2017, in percent."""
    edges, total = np.linspace(0, 1, bins + 1), 0.0
    for low, high in zip(edges, edges[1:], strict=False):
        inside = [i for i, row in enumerate(probabilities) if low < max(row) <= high]
        if inside:
            sure = sum(max(probabilities[i]) for i in inside) / len(inside)
            good = sum(np.argmax(probabilities[i]) == wanted[i] for i in inside) / len(inside)
            total += len(inside) / len(wanted) * abs(good - sure)
    return 100 * total


def value(tally):
    return float(tally.value_of(tally.rows.sum(axis=0)))


def loss_at(temperature, logits, wanted):
    """Mean log loss, by itself."""
    scaled = logits / temperature
    return (logsumexp(scaled, axis=1) - scaled[np.arange(len(wanted)), wanted]).mean()


@pytest.mark.parametrize("bins", [1, 4, 15])
@pytest.mark.parametrize("n", [1, 7, 300])
@pytest.mark.parametrize("temperature", [0.5, 2.0])
def test_the_calibration_error_is_the_one_of_its_definition(bins, n, temperature):
    logits, wanted = judged(n, temperature)
    probabilities = softmax(logits, axis=1)
    found = value(calibration_error(probabilities, wanted, bins))
    assert found == pytest.approx(error_by_definition(probabilities, wanted, bins))


def test_a_confidence_on_an_edge_belongs_to_the_bin_below():
    probabilities = [[0.5, 0.5], [0.5 + 1e-9, 0.5 - 1e-9], [1.0, 0.0]]
    found = reliability(probabilities, [1, 0, 0], bins=2)
    assert [bin.answers for bin in found] == [1, 2]
    assert [bin.accuracy for bin in found] == [0, 1]


def test_the_bins_add_up_to_the_calibration_error():
    logits, wanted = judged(400, 2.0)
    probabilities = softmax(logits, axis=1)
    bins = reliability(probabilities, wanted)
    assert sum(bin.answers for bin in bins) == 400 and len(bins) <= 15
    assert [bin.confidence for bin in bins] == sorted(bin.confidence for bin in bins)
    total = sum(bin.answers * abs(bin.confidence - bin.accuracy) for bin in bins) / 4
    assert value(calibration_error(probabilities, wanted)) == pytest.approx(total)


@pytest.mark.parametrize("temperature", [0.7, 1.0, 3.0], ids=["modest", "calibrated", "too sure"])
def test_the_interval_holds_the_value(temperature):
    """Also of a calibrated classifier, where gaps are chance and only grow in samples."""
    for seed in range(20):
        logits, wanted = judged(300, temperature, seed=seed)
        score = calibration_error(softmax(logits, axis=1), wanted).score()
        assert 0 <= score.low < score.value < score.high
    assert score.signature.startswith("calibration_error|bins:15-of-equal-width|")


def test_most_intervals_cover_the_calibration_error_of_very_many_examples():
    logits, wanted = judged(200_000, 2.0)
    truth = value(calibration_error(softmax(logits, axis=1), wanted))
    covered = 0
    for seed in range(1, 41):
        logits, wanted = judged(500, 2.0, seed=seed)
        score = calibration_error(softmax(logits, axis=1), wanted).score()
        covered += score.low <= truth <= score.high
    assert covered >= 35


@patient
@given(small_logits)
def test_the_log_loss_is_the_one_of_scikit_learn(examples):
    logits, wanted = (np.array(side) for side in zip(*examples, strict=True))
    probabilities = softmax(logits, axis=1)
    found = value(negative_log_likelihood(probabilities, wanted))
    assert found == pytest.approx(log_loss(wanted, probabilities, labels=range(3)), abs=1e-9)


def test_a_wanted_class_without_any_probability_costs_much_but_not_infinity():
    score = negative_log_likelihood([[1.0, 0.0], [1.0, 0.0]], [0, 1]).score()
    assert score.value == pytest.approx(18.02, abs=0.01)
    assert score.signature.startswith("log_loss|nats-per-example|least:2.2e-16|n:2|")
    sure = negative_log_likelihood(np.array([[1.0, 0.0]], np.float32), [0]).score()
    assert str(sure) == "0.00 (0.00 to 0.00)"


# Temperature


@pytest.mark.parametrize("temperature", [0.3, 1.0, 2.5])
def test_the_temperature_that_made_the_classes_is_found_again(temperature):
    logits, wanted = judged(20_000, temperature)
    assert fit_temperature(logits, wanted) == pytest.approx(temperature, rel=0.04)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize(("n", "temperature"), [(40, 0.4), (200, 1.7), (500, 9.0)])
def test_it_is_the_minimum_that_another_search_finds(n, temperature, kind):
    logits, wanted = judged(n, temperature)
    logits = logits.astype(kind).astype(float)
    search = {"bounds": np.log([COLDEST, HOTTEST]), "options": {"xatol": 1e-9}}
    other = minimize_scalar(lambda log: loss_at(np.exp(log), logits, wanted), **search)
    found = fit_temperature(logits.astype(kind), wanted)
    assert found == pytest.approx(np.exp(other.x), abs=1e-4)


@patient
@given(small_logits)
def test_few_examples_give_a_temperature_within_bounds_that_no_other_beats(examples):
    logits, wanted = (np.array(side) for side in zip(*examples, strict=True))
    found = fit_temperature(logits, wanted)
    assert COLDEST <= found <= HOTTEST
    if (logits[np.arange(len(wanted)), wanted] < logits.max(axis=1)).any():  # not all are right
        least = min(loss_at(t, logits, wanted) for t in np.geomspace(COLDEST, HOTTEST, 50))
        assert loss_at(found, logits, wanted) <= least * (1 + 1e-6) + 1e-9


def test_all_right_teaches_nothing_and_worse_than_chance_gives_the_highest_temperature():
    assert fit_temperature([[0.0, 3.0], [1.0, -1.0]], [1, 0]) == 1
    assert fit_temperature([[2.0, 2.0]], [1]) == 1
    assert fit_temperature([[0.0, 5.0]] * 3, [0, 0, 1]) == pytest.approx(HOTTEST, abs=1e-4)


def test_a_fitted_temperature_makes_an_overconfident_classifier_significantly_better():
    logits, wanted = judged(3000, 2.5)
    before, half = softmax(logits, axis=1), 1500
    after = softmax(logits / fit_temperature(logits[:half], wanted[:half]), axis=1)
    for score in (calibration_error, negative_log_likelihood):
        one, other = (score(p[half:], wanted[half:]) for p in (before, after))
        found = difference(one, other)
        assert found["significant"] and found["low"] > 0 and not difference(one, one)["significant"]


def test_a_change_that_is_next_to_nothing_is_not_significant():
    logits, wanted = judged(300, 1.0)
    one, other = (negative_log_likelihood(softmax(logits / t, axis=1), wanted) for t in (1.0, 1.02))
    assert not difference(one, other)["significant"]


# What is refused


@pytest.mark.parametrize(
    "score", [calibration_error, negative_log_likelihood, reliability, fit_temperature]
)
def test_what_does_not_line_up_is_refused_with_a_sentence(score):
    for table, wanted, message in [
        ([], [], "nothing to score: there is no example"),
        (np.zeros((0, 3)), [], "nothing to score: there is no example"),
        ([[0.5, 0.5]] * 2, [0], r"do not line up: .* found shapes \(2, 2\) and \(1,\)"),
        ([[0.5, 0.5]], [2], "from 0 to 1, found 2"),
        ([[0.5, 0.5]], [0.5], "whole numbers, found float64"),
        ([[0.5, np.nan]], [0], "found NaN or infinity"),
    ]:
        with pytest.raises(DataError, match=message):
            score(table, wanted)


@pytest.mark.parametrize("score", [calibration_error, negative_log_likelihood, reliability])
def test_logits_are_not_taken_for_probabilities(score):
    with pytest.raises(DataError, match="example 2 .* found a sum of 7.2. Are they logits"):
        score([[0.5, 0.5], [3.0, 4.2]], [0, 1])
    with pytest.raises(DataError, match="example 1 must be 0 or more"):
        score([[1.5, -0.5]], [0])
