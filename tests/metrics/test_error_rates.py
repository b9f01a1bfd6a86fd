from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.errors import DataError
from regard.metrics.error_rates import (
    best_reference,
    edit_distance,
    piece_error_rate,
    whole_error_rate,
)

patient = settings(deadline=None, max_examples=60)  # a busy machine proves nothing

words = st.text(alphabet="abc", max_size=7)
lines = st.lists(st.sampled_from(["AA", "B", "CH"]), max_size=5).map(" ".join)
examples = st.lists(st.tuples(lines, st.lists(lines, min_size=1, max_size=3)), min_size=1)


def by_definition(a, b):
    @cache
    def distance(i, j):
        if i == 0 or j == 0:
            return i + j
        change = distance(i - 1, j - 1) + (a[i - 1] != b[j - 1])
        return min(change, distance(i - 1, j) + 1, distance(i, j - 1) + 1)

    return distance(len(a), len(b))


@patient
@given(words, words)
def test_the_distance_agrees_with_its_recursive_definition(a, b):
    assert edit_distance(a, b) == by_definition(a, b)


@patient
@given(words, words, words)
def test_the_distance_is_a_metric(a, b, c):
    assert (edit_distance(a, b) == 0) == (a == b)
    assert edit_distance(a, b) == edit_distance(b, a)
    assert edit_distance(a, c) <= edit_distance(a, b) + edit_distance(b, c)


def test_pieces_need_not_be_characters_or_hashable():
    assert edit_distance([["K"], ["AE"], ["T"]], [["K"], ["T"]]) == 1


@patient
@given(words, st.lists(words, min_size=1, max_size=4))
def test_the_best_reference_has_the_fewest_edits_and_is_the_longest_of_those(output, references):
    edits, length = best_reference(output, references)
    assert edits == min(by_definition(output, r) for r in references)
    assert length == max(len(r) for r in references if by_definition(output, r) == edits)


def test_edits_and_lengths_are_summed_before_they_are_divided():
    outputs = ["K AE T", "D AO G Z", ""]
    references = [["K AE T", "K AA T"], ["D AO G"], ["AH"]]
    score = piece_error_rate(outputs, references)
    assert score.value == pytest.approx(100 * (0 + 1 + 1) / (3 + 3 + 1))


def test_an_output_is_right_as_a_whole_when_it_equals_any_reference():
    score = whole_error_rate(["K AE T", "K  AA T ", "K AE"], [["K AE T", "K AA T"]] * 3)
    assert score.value == pytest.approx(100 / 3)


@patient
@given(examples)
def test_the_piece_error_rate_is_zero_exactly_when_no_output_is_wrong(examples):
    outputs, references = zip(*examples, strict=True)
    whole, piece = whole_error_rate(outputs, references), piece_error_rate(outputs, references)
    assert (piece.value == 0) == (whole.value == 0)
    assert 0 <= whole.low <= whole.value <= whole.high <= 100


def test_the_interval_surrounds_the_score_and_the_signature_says_how_it_was_made():
    outputs, references = ["K AE T", "D AO G", "B"] * 20, [["K AE T"], ["D AA G"], ["P IY"]] * 20
    piece, whole = piece_error_rate(outputs, references), whole_error_rate(outputs, references)
    for score in piece, whole:
        assert 0 < score.low < score.value < score.high < 100
        assert score.signature.endswith("|references:best-of-all|n:60|bootstrap:1000|seed:0")
    assert piece.signature.startswith("per|pieces:blank-separated|")
    assert whole.signature.startswith("wer|")
    assert piece == piece_error_rate(outputs, references)


def test_an_empty_reference_is_scored_without_dividing_by_zero():
    assert piece_error_rate([""], [[""]]).value == 0
    assert piece_error_rate(["K AE"], [[""]]).value == 200
    assert whole_error_rate(["K AE"], [[""]]).value == 100


@pytest.mark.parametrize("rate", [piece_error_rate, whole_error_rate])
def test_what_can_not_be_scored_is_refused_with_a_sentence(rate):
    with pytest.raises(DataError, match="nothing to score: there is no output"):
        rate([], [])
    with pytest.raises(DataError, match="do not line up: .* found 2 outputs and 1 lists"):
        rate(["A", "B"], [["A"]])
    with pytest.raises(DataError, match=r"nothing to score example 2 against: .* found \[\]"):
        rate(["A", "B"], [["A"], []])
    with pytest.raises(DataError, match="example 1 against: expected a list .* found 'K AE T'"):
        rate(["K AE T"], ["K AE T"])
