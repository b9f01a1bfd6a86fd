"""Scores of classes, against scikit-learn."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import (
    accuracy_score,
    confusion_matrix,
    f1_score,
    precision_recall_fscore_support,
)

from regard.errors import DataError
from regard.metrics import classes as module
from regard.metrics.bootstrap import difference, resample
from regard.metrics.classes import (
    accuracy,
    classify_tallies,
    confusion,
    each_class,
    macro_f1,
    micro_f1,
)

patient = settings(deadline=None, max_examples=60)  # a busy machine proves nothing

C = 5
numbers = st.integers(0, C - 1)
sets = st.lists(st.integers(0, 1), min_size=C, max_size=C)
examples = st.lists(st.tuples(numbers, numbers), min_size=1, max_size=9)
examples_of_sets = st.lists(st.tuples(sets, sets), min_size=1, max_size=9)


def guesses(n, classes, right=0.7, seed=0):
    """Predictions of which most are right, and wanted classes, the first ones more frequent."""
    random = np.random.default_rng(0)
    wanted = np.minimum(random.geometric(3 / classes, size=n) - 1, classes - 1)
    random = np.random.default_rng([seed, 1])
    other = random.integers(0, classes, size=n)
    return np.where(random.random(n) < right, wanted, other), wanted


def label_sets(n, classes, seed=0):
    random = np.random.default_rng(seed)
    wanted = random.random((n, classes)) < 0.3
    return wanted ^ (random.random((n, classes)) < 0.1), wanted


def by_sklearn(average, predicted, wanted):
    """Over the labels that either holds."""
    several = wanted.ndim == 2
    labels = (predicted | wanted).any(axis=0).nonzero()[0] if several else {*predicted, *wanted}
    options = {"average": average, "labels": sorted(labels), "zero_division": 0}
    return 100 * f1_score(wanted, predicted, **options) if len(labels) else 0


def value(tally):
    return float(tally.value_of(tally.rows.sum(axis=0)))


@patient
@given(examples | examples_of_sets)
def test_the_values_are_those_of_scikit_learn(examples):
    predicted, wanted = (np.array(side) for side in zip(*examples, strict=True))
    macro, micro = (by_sklearn(average, predicted, wanted) for average in ("macro", "micro"))
    assert value(macro_f1(predicted, wanted, C)) == pytest.approx(macro)
    assert value(micro_f1(predicted, wanted)) == pytest.approx(micro)
    right = 100 * accuracy_score(wanted, predicted)
    assert value(accuracy(predicted, wanted)) == pytest.approx(right)
    options = {"labels": range(C), "average": None, "zero_division": 0}
    *rates, texts = precision_recall_fscore_support(wanted, predicted, **options)
    found = each_class(predicted, wanted, C)
    assert [one.wanted for one in found] == texts.tolist()
    assert np.array(found)[:, 1:] == pytest.approx(100 * np.stack(rates, axis=1))


@patient
@given(examples)
def test_the_confusion_is_the_one_of_scikit_learn(examples):
    predicted, wanted = (np.array(side, np.uint8) for side in zip(*examples, strict=True))
    expected = confusion_matrix(wanted, predicted, labels=range(C))
    assert np.array_equal(confusion(predicted, wanted, C), expected)


def test_numbers_of_one_byte_do_not_overflow():
    wanted = np.array([0, 99, 200], np.uint8)
    found = confusion(wanted, wanted, 201)
    assert found.sum() == 3 and found[200, 200] == found[99, 99] == 1


@pytest.mark.parametrize("several", [False, True])
def test_a_sample_is_worth_what_scikit_learn_gives_for_its_examples(several):
    predicted, wanted = label_sets(12, C) if several else guesses(12, C)
    drawn = np.random.default_rng(5).integers(0, 12, size=(20, 12))
    for average, tally in [
        ("macro", macro_f1(predicted, wanted, C)),
        ("micro", micro_f1(predicted, wanted)),
    ]:
        values = tally.value_of(resample(tally.rows, samples=20, seed=5))
        expected = [by_sklearn(average, predicted[i], wanted[i]) for i in drawn]
        assert values == pytest.approx(expected)


def test_one_label_has_two_scores_and_several_have_three():
    for some in (guesses(30, C), label_sets(30, C)):
        assert classify_tallies(*some, C).keys() == {"accuracy", "macro_f1", "micro_f1"}
    predicted, wanted = guesses(30, C)
    assert value(micro_f1(predicted, wanted)) == pytest.approx(value(accuracy(predicted, wanted)))


def test_a_class_that_nobody_names_does_not_lower_the_mean():
    predicted, wanted = guesses(40, C)
    assert value(macro_f1(predicted, wanted, C + 90)) == value(macro_f1(predicted, wanted, C))


def test_no_label_at_all_is_worth_nothing():
    nothing = np.zeros((3, C), int)
    scores = {name: t.score().value for name, t in classify_tallies(nothing, nothing, C).items()}
    assert scores == {"accuracy": 100, "macro_f1": 0, "micro_f1": 0}


def test_the_interval_holds_the_value_and_the_signature_says_how():
    for name, tally in classify_tallies(*label_sets(300, C), C).items():
        score = tally.score()
        assert 0 < score.low < score.value < score.high < 100
        assert score.signature.startswith(name)
        assert score.signature.endswith("|n:300|bootstrap:1000|seed:0")
        assert ("|interval:centred|" in score.signature) == (name == "macro_f1")
    for tally in classify_tallies(*guesses(300, C), C).values():
        assert tally.score().low < tally.score().value < tally.score().high


@pytest.mark.parametrize("texts", [1, 2])
def test_with_a_text_or_two_of_each_of_many_classes_the_interval_holds_the_value(texts):
    wanted = np.repeat(np.arange(1000), texts)
    random = np.random.default_rng(0)
    other = random.integers(0, 1000, size=len(wanted))
    predicted = np.where(random.random(len(wanted)) < 0.6, wanted, other)
    tally = macro_f1(predicted, wanted, 1000)
    score, samples = tally.score(), tally.value_of(resample(tally.rows))
    assert np.percentile(samples, 97.5) < score.value, "left alone, it would lie below"
    assert score.low < score.value < score.high
    assert score.high - score.low == pytest.approx(np.ptp(np.percentile(samples, [2.5, 97.5])))
    assert "|interval:centred|n:" in score.signature


def test_an_interval_of_percentages_ends_at_0_and_100():
    wanted = np.arange(30) % 10
    wrong = np.where(np.arange(30) < 1, wanted, (wanted + 1) % 10)
    for predicted in (wrong, np.where(wrong == wanted, (wanted + 1) % 10, wanted)):
        score = macro_f1(predicted, wanted, 10).score()
        assert 0 <= score.low <= score.value <= score.high <= 100


def test_a_better_classifier_differs_and_one_that_is_as_good_does_not():
    good, wanted = guesses(600, C)
    better, alike = guesses(600, C, right=0.9)[0], guesses(600, C, seed=1)[0]
    for name, tally in classify_tallies(good, wanted, C).items():
        found = difference(classify_tallies(better, wanted, C)[name], tally)
        assert found["significant"] and found["low"] > 0
        assert not difference(classify_tallies(alike, wanted, C)[name], tally)["significant"]


# Blocks of examples


@pytest.mark.parametrize("several", [False, True])
def test_blocks_of_examples_have_the_same_value_and_about_the_same_interval(monkeypatch, several):
    predicted, wanted = label_sets(3000, C) if several else guesses(3000, C)
    alone = macro_f1(predicted, wanted, C).score()
    monkeypatch.setattr(module, "CELLS", 4000)
    blocks = macro_f1(predicted, wanted, C).score()
    assert blocks.value == pytest.approx(alone.value)
    assert blocks.high - blocks.low == pytest.approx(alone.high - alone.low, rel=0.15)
    assert "|blocks:400-of-3000-examples|interval:centred|n:400|" in blocks.signature
    assert "blocks" not in alone.signature


def test_a_file_sorted_by_class_has_no_wider_interval(monkeypatch):
    predicted, wanted = guesses(3000, C)
    order = np.argsort(wanted, kind="stable")
    alone = macro_f1(predicted, wanted, C).score()
    monkeypatch.setattr(module, "CELLS", 4000)
    by_class = macro_f1(predicted[order], wanted[order], C).score()
    assert by_class.high - by_class.low == pytest.approx(alone.high - alone.low, rel=0.15)


def test_two_systems_share_their_blocks(monkeypatch):
    monkeypatch.setattr(module, "CELLS", 4000)
    predicted, wanted = guesses(3000, C)
    few = np.where(np.arange(3000) < 150, wanted, predicted)  # some 35 wrong ones put right
    found = difference(macro_f1(few, wanted, C), macro_f1(predicted, wanted, C))
    assert found["significant"] and found["low"] > 0


def test_many_classes_of_many_examples_take_little_memory():
    predicted, wanted = guesses(25_000, 1000)
    tally = macro_f1(predicted, wanted, 1000)
    assert tally.rows.shape == (2000, 2000) and tally.rows.nbytes <= 32_000_000
    assert value(tally) == pytest.approx(by_sklearn("macro", predicted, wanted))


def test_blocks_are_about_equally_large_and_never_more_than_examples():
    counts = np.bincount(module._deal(25_000, 2000))
    assert len(counts) == 2000 and set(counts) == {12, 13}
    assert len(np.bincount(module._deal(25_000, 10**6))) == module.FEW_BLOCKS
    assert np.array_equal(np.bincount(module._deal(7, 10**7)), np.ones(7))


# What is refused


@pytest.mark.parametrize("score", [accuracy, micro_f1, lambda p, w: macro_f1(p, w, C)])
def test_what_does_not_line_up_is_refused_with_a_sentence(score):
    with pytest.raises(DataError, match="nothing to score: there is no label"):
        score([], [])
    with pytest.raises(DataError, match=r"do not line up: .* found shapes \(2,\) and \(1,\)"):
        score([1, 2], [1])
    with pytest.raises(DataError, match=r"found shapes \(1, 2\) and \(2,\)"):
        score([[0, 1]], [0, 1])
    with pytest.raises(DataError, match="whole numbers, found float64"):
        score([0.5], [1])
    with pytest.raises(DataError, match="matrix of 0 and 1, found other"):
        score([[0, 2]], [[0, 1]])


@pytest.mark.parametrize("score", [macro_f1, confusion])
def test_a_class_that_does_not_exist_is_refused(score):
    with pytest.raises(DataError, match="from 0 to 2, found 3"):
        score([0, 3], [0, 1], 3)
    with pytest.raises(DataError, match="from 0 to 2, found -1"):
        score([0, 1], [0, -1], 3)


def test_several_labels_need_a_column_for_every_class_and_have_no_confusion():
    with pytest.raises(DataError, match="each of 3 classes, found 2"):
        macro_f1([[0, 1]], [[0, 1]], 3)
    with pytest.raises(DataError, match="one class for each example, found a matrix of 2"):
        confusion([[0, 1]], [[0, 1]], 2)
