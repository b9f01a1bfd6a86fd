"""The course, section 3, cost: time and memory against sequence length, measured; quadratic in the
number of words."""

import pytest
import torch

from regard.course import cost


def test_all_numbers_of_the_cost_are_as_expected(lesson_of):
    assert lesson_of("cost").ok


@pytest.mark.parametrize("T", [1, 7, 100])
def test_multiplications_are_those_of_the_formula(T):
    d = 512
    scores, mixing = T * T * d, T * T * d
    projections, feed = 4 * T * d * d, 2 * T * d * 4 * d
    assert cost.counted(T) == (scores + mixing, projections + feed)


@pytest.mark.parametrize("T", [3, 64])
def test_the_weights_take_four_bytes_for_every_pair_and_head(T):
    assert cost.bytes_of_weights(T) == 4 * 8 * T * T


def test_attention_and_the_rest_are_level_at_six_times_the_width(values_of):
    assert values_of("cost")["3,072 words: attention against the rest"] == 1
    assert cost.counted(3071).attention < cost.counted(3071).rest
    assert cost.counted(3073).attention > cost.counted(3073).rest


def test_memory_grows_with_the_square_only_where_the_weights_are_written_down(values_of):
    """Wide bounds: what the system counts is more than the tensors."""
    values = values_of("cost")
    assert 1.4 < values["exponent of the memory, plain form"] < 2.5
    assert values["memory of the fused kernel, bytes"] < 134_217_728


def test_memory_is_measured_as_it_is_used():
    found = cost.measured(lambda: torch.ones(40_000_000))
    assert 0.9 * 160e6 < found.bytes < 1.5 * 160e6 and found.seconds > 0


@pytest.mark.parametrize("power", [1.0, 2.0, 2.5])
def test_an_exponent_is_found_again(power):
    assert cost.exponent([3.0 * T**power for T in cost.LENGTHS]) == pytest.approx(power)
