import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.metrics.error_rates import best_reference, piece_error_rate, whole_error_rate
from regard.metrics.sequences import edit_distance

patient = settings(deadline=None, max_examples=60)  # a busy machine proves nothing

words = st.text(alphabet="abc", max_size=7)
lines = st.lists(st.sampled_from(["AA", "B", "CH"]), max_size=5).map(" ".join)
examples = st.lists(st.tuples(lines, st.lists(lines, min_size=1, max_size=3)), min_size=1)


@patient
@given(words, st.lists(words, min_size=1, max_size=4))
def test_the_best_reference_has_the_fewest_edits_and_is_the_longest_of_those(output, references):
    edits, length = best_reference(output, references)
    assert edits == min(edit_distance(output, r) for r in references)
    assert length == max(len(r) for r in references if edit_distance(output, r) == edits)


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


def test_the_signatures_say_what_a_piece_and_what_wrong_is():
    outputs, references = ["K AE T", "D AO G", "B"] * 20, [["K AE T"], ["D AA G"], ["P IY"]] * 20
    piece, whole = piece_error_rate(outputs, references), whole_error_rate(outputs, references)
    assert piece.signature.startswith("per|pieces:blank-separated|references:best-of-all|n:60|")
    assert whole.signature.startswith("wer|wrong:any-piece|references:best-of-all|n:60|")


def test_an_empty_reference_is_scored_without_dividing_by_zero():
    assert piece_error_rate([""], [[""]]).value == 0
    assert piece_error_rate(["K AE"], [[""]]).value == 200
    assert whole_error_rate(["K AE"], [[""]]).value == 100
