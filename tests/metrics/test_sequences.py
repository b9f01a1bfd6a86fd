from functools import cache

from hypothesis import given, settings
from hypothesis import strategies as st

from regard.metrics.sequences import common_subsequence, edit_distance

patient = settings(deadline=None, max_examples=100)  # a busy machine proves nothing

words = st.text(alphabet="abc", max_size=9)
long_words = st.text(alphabet="abcd", min_size=60, max_size=140)  # beyond a machine word


def edits_by_definition(a, b):
    @cache
    def distance(i, j):
        if i == 0 or j == 0:
            return i + j
        change = distance(i - 1, j - 1) + (a[i - 1] != b[j - 1])
        return min(change, distance(i - 1, j) + 1, distance(i, j - 1) + 1)

    return distance(len(a), len(b))


def common_by_definition(a, b):
    @cache
    def common(i, j):
        if i == 0 or j == 0:
            return 0
        if a[i - 1] == b[j - 1]:
            return common(i - 1, j - 1) + 1
        return max(common(i - 1, j), common(i, j - 1))

    return common(len(a), len(b))


@patient
@given(words, words)
def test_the_distance_agrees_with_its_recursive_definition(a, b):
    assert edit_distance(a, b) == edits_by_definition(a, b)


@patient
@given(words, words)
def test_the_common_subsequence_agrees_with_its_recursive_definition(a, b):
    assert common_subsequence(a, b) == common_by_definition(a, b)


@settings(deadline=None, max_examples=10)
@given(long_words, long_words)
def test_both_agree_with_their_definitions_beyond_64_pieces(a, b):
    assert edit_distance(a, b) == edits_by_definition(a, b)
    assert common_subsequence(a, b) == common_by_definition(a, b)


@patient
@given(words, words, words)
def test_the_distance_is_a_metric(a, b, c):
    assert (edit_distance(a, b) == 0) == (a == b)
    assert edit_distance(a, b) == edit_distance(b, a)
    assert edit_distance(a, c) <= edit_distance(a, b) + edit_distance(b, c)


@patient
@given(words, words)
def test_what_is_common_is_symmetric_and_needs_no_edit(a, b):
    common = common_subsequence(a, b)
    assert common == common_subsequence(b, a)
    assert common_subsequence(a, a) == len(a)
    assert edit_distance(a, b) <= len(a) + len(b) - 2 * common


def test_pieces_need_not_be_characters():
    assert edit_distance(["K", "AE", "T"], ["K", "T"]) == 1
    assert common_subsequence([3, (1, 2), None], [(1, 2), 3, None]) == 2
