"""What is true of every metric of texts."""

import inspect

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.errors import DataError
from regard.metrics import LOWER_IS_BETTER, METRICS
from regard.names import SCORE_TITLES

patient = settings(deadline=None, max_examples=40)  # a busy machine proves nothing

VARIETY = {"distinct1", "distinct2"}  # do not look at references
every_metric = pytest.mark.parametrize("name", METRICS)
of_right_answers = pytest.mark.parametrize("name", sorted(METRICS.keys() - VARIETY))
lines = st.lists(st.sampled_from(["the", "cat", "sat", "on", "a"]), max_size=7).map(" ".join)
examples = st.lists(
    st.tuples(lines, st.lists(lines, min_size=1, max_size=2)), min_size=1, max_size=6
)


def split(examples):
    return [output for output, _ in examples], [known for _, known in examples]


def gain(name, before, after):
    """How much better the examples in `after` score."""
    difference = METRICS[name](*split(after)).value - METRICS[name](*split(before)).value
    return -difference if name in LOWER_IS_BETTER else difference


def test_the_names_are_those_that_every_table_knows():
    known = {"exact_match", "per", "wer", "bleu", "chrf", "rouge1", "rouge2", "rougeL", *VARIETY}
    assert METRICS.keys() == known <= SCORE_TITLES.keys()
    assert LOWER_IS_BETTER <= SCORE_TITLES.keys()


@every_metric
def test_a_metric_says_what_it_measures(name):
    assert len(inspect.getdoc(METRICS[name])) > 40


@every_metric
@patient
@given(examples, st.randoms())
def test_the_order_of_the_examples_does_not_matter(name, examples, random):
    shuffled = random.sample(examples, len(examples))
    value = METRICS[name](*split(examples)).value
    assert METRICS[name](*split(shuffled)).value == pytest.approx(value, abs=1e-9)


@of_right_answers
@patient
@given(examples, lines)
def test_one_more_right_answer_never_lowers_a_score(name, examples, line):
    if name == "chrf":  # leaves out the n-grams that no output is long enough for: have them all
        examples = [*examples, ("a cat sat", ["a cat sat"])]
    more = [*examples, (f"the {line} sat", [f"the {line} sat"])]
    assert gain(name, examples, more) >= -1e-9


# The others choose a reference for each example by itself, and so may lose over all of them.
@pytest.mark.parametrize("name", ["exact_match", "wer", "rouge1", "rouge2", "rougeL"])
@patient
@given(examples, st.data())
def test_one_more_reference_never_makes_it_worse(name, examples, data):
    more = [(output, [*known, data.draw(lines)]) for output, known in examples]
    assert gain(name, examples, more) >= -1e-9


@of_right_answers
def test_outputs_that_equal_a_reference_get_the_best_score(name):
    outputs = ["the cat sat on a mat", "a dog sat on the cat today"]
    score = METRICS[name](outputs, [["x", outputs[0]], [outputs[1]]])
    best = 0 if name in LOWER_IS_BETTER else 100
    assert (score.value, score.low, score.high) == pytest.approx((best, best, best))


@every_metric
def test_the_interval_surrounds_the_value_and_the_signature_says_how_it_was_made(name):
    outputs = ["the cat sat on a mat", "a dog", "the dog sat on a cat today"] * 20
    references = [["the cat sat on a mat"], ["the cat"], ["the dog sat on the cat"]] * 20
    score = METRICS[name](outputs, references)
    assert 0 < score.low < score.value < score.high < 100
    assert score.signature.endswith("|n:60|bootstrap:1000|seed:0")
    assert score == METRICS[name](outputs, references)


@every_metric
def test_the_tally_behind_a_score_has_a_row_for_every_example(name):
    outputs, references = ["the cat", "", "a"], [["the cat"], ["a", "b"], ["a"]]
    tally = METRICS[name].tally(outputs, references)
    assert len(tally.rows) == 3 and tally.rows.ndim == 2
    assert tally.score() == METRICS[name](outputs, references)


@every_metric
def test_what_can_not_be_scored_is_refused_with_a_sentence(name):
    metric = METRICS[name]
    with pytest.raises(DataError, match="nothing to score: there is no output"):
        metric([], [])
    with pytest.raises(DataError, match="do not line up: .* found 2 outputs and 1 lists"):
        metric(["A", "B"], [["A"]])
    with pytest.raises(DataError, match=r"nothing to score example 2 against: .* found \[\]"):
        metric(["A", "B"], [["A"], []])
    with pytest.raises(DataError, match="example 1 against: expected a list .* found 'K AE T'"):
        metric.tally(["K AE T"], ["K AE T"])
