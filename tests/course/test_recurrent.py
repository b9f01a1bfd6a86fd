"""The course, section 2, RNN, LSTM, GRU and sequence shapes."""

import pytest
import torch
from torch import nn

from regard.course import recurrent


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_all_shapes_and_numbers_are_as_expected(seed):
    assert recurrent.lesson(seed).ok


def test_lstm_10_20_2_on_5_3_10_has_the_shapes_of_the_course(values_of):
    values = values_of("recurrent")
    output = [values[f"output: {what}"] for what in ("steps", "texts", "width")]
    last = [values[f"last state: {what}"] for what in ("layers", "texts", "width")]
    memory = [values[f"last cell state: {what}"] for what in ("layers", "texts", "width")]
    assert output == [5, 3, 20] and last == memory == [2, 3, 20]
    cell = [values[f"LSTMCell, state: {what}"] for what in ("texts", "width")]
    assert cell == [3, 20]


@pytest.mark.parametrize(("name", "products"), [("RNN", 1), ("GRU", 3), ("LSTM", 4)])
def test_weights_are_counted_as_by_hand(values_of, name, products):
    first, second = products * 20 * (10 + 20 + 2), products * 20 * (20 + 20 + 2)
    prefix = "numbers to learn, " if name == "LSTM" else "the same for "
    assert values_of("recurrent")[f"{prefix}{name}(10, 20, 2)"] == first + second


@pytest.mark.parametrize("layers", [1, 3])
def test_our_loop_is_what_torch_computes(layers):
    lstm, x = nn.LSTM(4, 6, layers).double(), torch.randn(7, 2, 4).double()
    torch.testing.assert_close(recurrent.by_hand(lstm, x), lstm(x)[0])


def test_stacked_bidirectional_and_projected_shapes_stand_in_the_table():
    rows = {name: (output, last) for name, output, last in recurrent.kinds()}
    assert rows["RNN"] == rows["GRU"] == ("(3, 5, 20)", "(1, 3, 20)")
    assert rows["LSTM, two layers"] == ("(3, 5, 20)", "(2, 3, 20) and (2, 3, 20)")
    both = rows["LSTM, two layers, both directions"]
    assert both == ("(3, 5, 40)", "(4, 3, 20) and (4, 3, 20)")
    assert rows["LSTM, projected to 7"] == ("(3, 5, 7)", "(1, 3, 7) and (1, 3, 20)")


def test_many_to_one_many_to_many_and_one_to_many_have_their_shapes():
    assert [row[1:] for row in recurrent.uses()] == [
        ("(3, 5)", "(3, 2)"),
        ("(3, 5)", "(3, 5, 26)"),
        ("(3,)", "(3, 7)"),
    ]


def test_a_text_comes_out_the_same_beside_a_longer_one():
    torch.manual_seed(4)
    assert recurrent.padding_moves() < 1e-12
