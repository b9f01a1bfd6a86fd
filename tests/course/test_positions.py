"""The course, section 1, sinusoidal positions, and learned, rotary, relative or none."""

import math

import numpy as np
import pytest
import torch

from regard.course import positions

FIRST = {0: 0.8415, 1: 0.5403, 2: 0.8219, 3: 0.5697, 510: 0.0001, 511: 1.0000}


def by_formula(place, feature, width):
    angle = place / 10000 ** (2 * (feature // 2) / width)
    return math.cos(angle) if feature % 2 else math.sin(angle)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_all_numbers_of_the_positions_are_as_expected(seed):
    assert positions.lesson(seed).ok


def test_position_0_is_0_1_0_1(values_of):
    assert [values_of("positions")[f"PE(0), feature {i}"] for i in range(4)] == [0, 1, 0, 1]


def test_position_1_of_width_512_is_that_of_the_course_and_of_the_formula(values_of):
    for feature, wanted in FIRST.items():
        found = values_of("positions")[f"PE(1), feature {feature}, width 512"]
        assert round(found, 4) == wanted
        assert found == pytest.approx(by_formula(1, feature, 512), abs=1e-9)


def test_the_heat_map_is_the_formula(lesson_of):
    drawn = lesson_of("positions").drawings[0].figure.axes[0].images[0].get_array()  # (64, 100)
    wanted = [[by_formula(place, f, 64) for place in range(100)] for f in range(64)]
    np.testing.assert_allclose(drawn, wanted, atol=1e-9)


def test_the_dot_product_falls_with_the_distance_and_knows_no_place(values_of):
    dots = [sum(math.cos(k / 10000 ** (2 * i / 512)) for i in range(256)) for k in range(101)]
    assert dots[0] == 256 > dots[1] > dots[10] > dots[50] > dots[100]
    share = values_of("positions")["share of it left at distance 100"]
    assert share == pytest.approx(dots[100] / 256, abs=1e-9)
    fallen = next(k for k in range(100) if dots[k + 1] >= dots[k])
    assert values_of("positions")["the dot product falls without a break up to distance"] == fallen


def test_the_table_is_computed_once_and_extended_when_a_longer_input_comes():
    before, after, moved = positions.extended()
    assert (before, moved) == (64, 0) and after >= 100


def test_only_learned_positions_end():
    taken = {name: longer for name, *_, longer in positions.schemes()}
    assert [name for name, longer in taken.items() if longer == "refused"] == ["learned"]
    learned = {name: count for name, _, _, count, _ in positions.schemes() if count != "0"}
    assert learned == {"learned": "4,096", "relative": "32"}


@pytest.mark.parametrize("name", ["rotary", "relative", "alibi", "none"])
def test_relative_schemes_and_none_give_equal_words_a_score_by_distance_only(name):
    torch.manual_seed(0)
    assert positions.by_distance_only(positions.equal_words(name)) < 1e-9


def test_without_positions_equal_words_have_equal_scores():
    scores = positions.equal_words("none")
    assert float(scores.max() - scores.min()) < 1e-9


def test_scores_that_know_places_are_told_from_those_that_know_distances():
    ramp = torch.arange(6.0)
    assert positions.by_distance_only(ramp[:, None] - ramp) == 0
    assert positions.by_distance_only(ramp[:, None] + ramp) > 1
