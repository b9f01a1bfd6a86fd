import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.errors import DataError
from regard.metrics.matches import exact_match, perplexity, token_accuracy

patient = settings(deadline=None, max_examples=60)  # a busy machine proves nothing

ids = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=6)


def test_any_reference_counts_and_only_outer_blanks_do_not():
    outputs = ["a cat", " a cat\n", "a  cat", "A cat", "a cat.", ""]
    score = exact_match(outputs, [["the cat", "a cat\t"]] * 6)
    assert score.value == pytest.approx(100 * 2 / 6)
    assert score.signature.startswith("exact_match|blanks:outer-stripped|references:any|n:6|")


def test_an_empty_output_is_right_where_nothing_is_wanted():
    assert exact_match(["", " "], [[" "], ["x"]]).value == 50


@patient
@given(st.lists(ids, min_size=1).filter(any))
def test_positions_are_counted_over_all_rows(rows):
    predicted = [[p for p, _ in row] for row in rows]
    wanted = [[w for _, w in row] for row in rows]
    pairs = [pair for row in rows for pair in row]
    right = sum(p == w for p, w in pairs)
    score = token_accuracy(predicted, wanted).score()
    assert score.value == pytest.approx(100 * right / len(pairs))
    assert 0 <= score.low <= score.high <= 100
    assert score.signature.endswith(f"|n:{len(rows)}|bootstrap:1000|seed:0")


def test_tokens_that_do_not_line_up_are_refused_with_a_sentence():
    with pytest.raises(DataError, match="do not line up: .* found 2 and 1 rows"):
        token_accuracy([[1], [2]], [[1]])
    with pytest.raises(DataError, match="example 2 do not line up: found 1 and 2. Leave padding"):
        token_accuracy([[1], [2]], [[1], [2, 0]])


@pytest.mark.parametrize("rows", [[], [[], []]], ids=["no rows", "empty rows"])
def test_no_token_at_all_is_refused(rows):
    with pytest.raises(DataError, match="nothing to score: there is no token"):
        token_accuracy(rows, rows)


def test_perplexity_is_e_to_the_mean_loss_of_a_token():
    found = perplexity([4.0, 1.0, 3.0], [3, 1, 2]).score()
    assert found.value == pytest.approx(math.exp(8 / 6))
    assert found.low <= found.value <= found.high
    assert perplexity([math.log(5.0) * 7], [7]).score().value == pytest.approx(5)


def test_perplexity_of_nothing_is_refused():
    with pytest.raises(DataError, match="there is no token"):
        perplexity([], [])
