"""The course, section 3, Nadaraya-Watson, with the errata: the table holds for 15, not for 5."""

import math

import pytest

from regard.course import kernel


def by_hand(query, keys, values, width=1.0):
    """Answer and weights, by a loop."""
    scores = [-(((query - key) / width) ** 2) for key in keys]
    parts = [math.exp(score - max(scores)) for score in scores]
    weights = [part / sum(parts) for part in parts]
    return sum(w * v for w, v in zip(weights, values, strict=True)), weights


def test_all_numbers_of_nadaraya_watson_are_as_expected(lesson_of):
    assert lesson_of("kernel").ok


def test_a_town_of_65000_expects_187500(values_of):
    answer, _ = by_hand(65_000, [60_000, 70_000, 85_000], [175_000, 200_000, 210_000])
    assert answer == 187_500
    assert values_of("kernel")["profit expected at 65,000"] == pytest.approx(answer, abs=1e-6)


def test_query_15_among_keys_10_20_30_has_the_weights_of_the_course(values_of):
    _, weights = by_hand(15, [10, 20, 30], [0, 0, 0])
    assert weights == pytest.approx([0.5, 0.5, 0], abs=1e-12)
    for key, weight in zip((10, 20, 30), weights, strict=True):
        found = values_of("kernel")[f"query 15: weight of key {key}"]
        assert found == pytest.approx(weight, abs=1e-6)


def test_query_5_would_not_have_these_weights():
    _, weights = by_hand(5, [10, 20, 30], [0, 0, 0])
    assert weights == pytest.approx([1, 0, 0], abs=1e-12)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_learned_width_makes_smaller_errors_than_the_one_it_began_with(seed):
    lesson = kernel.lesson(seed)
    values = {number.name: number.value for number in lesson.numbers}
    assert (
        values["the same with the learned width"]
        < 0.6 * values["mean squared error with width 3, own value hidden"]
    )
    assert 0.1 < values["learned width, begun at 3"] < 1.5
