"""Recurrent networks over rows of unequal lengths, against torch.nn run on each row alone."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError
from torch import nn

from regard.errors import ShapeError
from regard.nn.recurrent import CELLS, LAYERS, Recurrent
from regard.shapes import RecurrentSettings

B, T, INPUTS, WIDTH = 4, 6, 3, 5
SHAPES = {
    "one layer": {},
    "stacked": {"layers": 2},
    "both ways": {"bidirectional": True},
    "stacked, both ways": {"layers": 2, "bidirectional": True},
}
LSTMS = {
    "projected": {"projection": 2},
    "projected, stacked, both ways": {"projection": 2, "layers": 2, "bidirectional": True},
}
EVERY = [(cell, name) for cell in LAYERS for name in (*SHAPES, *(LSTMS if cell == "lstm" else ()))]


def made(cell, shape, seed=0):
    torch.manual_seed(seed)
    chosen = RecurrentSettings(cell=cell, width=WIDTH, **{**SHAPES, **LSTMS}[shape])
    return Recurrent(chosen, INPUTS).double()


def first_state(reader, scale=1.0):
    """A random state, in the shape that torch wants."""
    s = reader.settings
    many = s.layers * (2 if s.bidirectional else 1)
    hidden = scale * torch.randn(many, B, s.projection or s.width, dtype=torch.float64)
    cell = scale * torch.randn(many, B, s.width, dtype=torch.float64)
    return (hidden, cell) if s.cell == "lstm" else hidden


def parts(state):
    return state if isinstance(state, tuple) else (state,)


def row(state, b):
    found = tuple(one[:, b : b + 1].contiguous() for one in parts(state))
    return found if isinstance(state, tuple) else found[0]


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(EVERY),
    st.lists(st.integers(0, T), min_size=B, max_size=B),
    st.booleans(),
    st.integers(0, 2**31),
)
def test_each_row_is_read_as_if_it_were_alone_and_an_empty_one_not_at_all(
    which, lengths, given_state, seed
):
    reader = made(*which, seed)
    x = torch.randn(B, T, INPUTS, dtype=torch.float64)
    state = first_state(reader, scale=1.0 if given_state else 0.0)
    outputs, last = reader(x, torch.tensor(lengths), state if given_state else None)
    for b, length in enumerate(lengths):
        after = row(state, b)
        if length:
            expected, after = reader.layers(x[b : b + 1, :length], after)
            torch.testing.assert_close(outputs[b : b + 1, :length], expected, rtol=0, atol=1e-12)
        assert outputs[b, length:].eq(0).all()
        for one, other in zip(parts(row(last, b)), parts(after), strict=True):
            torch.testing.assert_close(one, other, rtol=0, atol=1e-12)


@pytest.mark.parametrize(("cell", "shape"), EVERY)
def test_without_lengths_it_is_torchs_own(cell, shape):
    reader = made(cell, shape)
    x, state = torch.randn(B, T, INPUTS, dtype=torch.float64), first_state(reader)
    outputs, last = reader(x, None, state)
    expected, after = reader.layers(x, state)
    assert torch.equal(outputs, expected)
    assert all(torch.equal(*both) for both in zip(parts(last), parts(after), strict=True))


@pytest.mark.parametrize(("cell", "shape"), EVERY)
def test_what_padding_holds_changes_nothing_bit_for_bit(cell, shape):
    reader, lengths = made(cell, shape), torch.tensor([T, 2, 0, 4])
    x = torch.randn(B, T, INPUTS, dtype=torch.float64)
    outputs, last = reader(x, lengths)
    x[torch.arange(T) >= lengths[:, None]] = 1e6
    again, after = reader(x, lengths)
    assert torch.equal(outputs, again)
    assert all(torch.equal(*both) for both in zip(parts(last), parts(after), strict=True))


@pytest.mark.parametrize(("cell", "shape"), EVERY)
def test_the_last_state_of_the_top_layer_is_one_vector_for_all_that_was_read(cell, shape):
    reader, lengths = made(cell, shape), torch.tensor([T, 2, 1, 4])
    outputs, last = reader(torch.randn(B, T, INPUTS, dtype=torch.float64), lengths)
    found = reader.last(last)
    wide = reader.settings.projection or WIDTH
    assert found.shape == (B, reader.settings.width_of_output) == (B, outputs.size(-1))
    assert torch.equal(found[:, :wide], outputs[range(B), lengths - 1, :wide])
    if reader.settings.bidirectional:  # the way back ends at the first position
        assert torch.equal(found[:, wide:], outputs[:, 0, wide:])


@pytest.mark.parametrize("cell", CELLS)
def test_a_layer_is_its_cell_stepped_along_the_sequence(cell):
    reader = made(cell, "one layer")
    stepped = CELLS[cell](INPUTS, WIDTH).double()
    weights = reader.layers.state_dict().items()
    stepped.load_state_dict({name.removesuffix("_l0"): tensor for name, tensor in weights})
    x, state = torch.randn(B, T, INPUTS, dtype=torch.float64), None
    outputs, _ = reader(x)
    for t in range(T):
        state = stepped(x[:, t], state)
        torch.testing.assert_close(parts(state)[0], outputs[:, t], rtol=0, atol=1e-12)


def test_the_shapes_of_an_lstm_are_those_of_the_course():
    lstm, x = nn.LSTM(10, 20, 2), torch.randn(5, 3, 10)
    state = torch.randn(2, 3, 20), torch.randn(2, 3, 20)
    outputs, (hidden, cell) = lstm(x, state)
    assert outputs.shape == (5, 3, 20) and hidden.shape == cell.shape == (2, 3, 20)
    ours = Recurrent(RecurrentSettings(cell="lstm", width=20, layers=2), 10)
    ours.layers.load_state_dict(lstm.state_dict())
    swapped, (same, _) = ours(x.transpose(0, 1), None, state)  # batch first
    assert swapped.shape == (3, 5, 20) and same.shape == (2, 3, 20)
    torch.testing.assert_close(swapped.transpose(0, 1), outputs)
    torch.testing.assert_close(same, hidden)
    hidden, cell = CELLS["lstm"](10, 20)(x[0], (torch.zeros(3, 20), torch.zeros(3, 20)))
    assert hidden.shape == cell.shape == (3, 20)


@pytest.mark.parametrize("cell", LAYERS)
def test_dropout_goes_between_layers_and_only_in_training(cell):
    torch.manual_seed(0)
    reader = Recurrent(RecurrentSettings(cell=cell, width=WIDTH, layers=2, dropout=0.5), INPUTS)
    x, lengths = torch.randn(B, T, INPUTS), torch.full((B,), T)
    assert not torch.equal(reader(x, lengths)[0], reader(x, lengths)[0])
    reader.eval()
    assert torch.equal(reader(x, lengths)[0], reader(x, lengths)[0])
    alone = Recurrent(RecurrentSettings(cell=cell, width=WIDTH, dropout=0.5), INPUTS)
    assert torch.equal(alone(x)[0], alone(x)[0])


@pytest.mark.parametrize("cell", LAYERS)
def test_gradients_are_finite_beside_an_empty_row(cell):
    reader = made(cell, "stacked, both ways")
    x = torch.randn(B, T, INPUTS, dtype=torch.float64, requires_grad=True)
    outputs, last = reader(x, torch.tensor([T, 0, 3, 0]))
    (outputs.sum() + sum(one.sum() for one in parts(last))).backward()
    assert x.grad.isfinite().all() and x.grad[[1, 3]].eq(0).all() and x.grad[2, 3:].eq(0).all()


@pytest.mark.parametrize("cell", LAYERS)
def test_texts_without_any_position_come_out_empty(cell):
    reader = made(cell, "stacked")
    outputs, last = reader(torch.zeros(2, 0, INPUTS).double(), torch.tensor([0, 0]))
    assert outputs.shape == (2, 0, WIDTH) and all(one.eq(0).all() for one in parts(last))


def test_lengths_that_do_not_fit_are_named():
    reader, x = made("gru", "one layer"), torch.zeros(B, T, INPUTS, dtype=torch.float64)
    with pytest.raises(ShapeError, match="lengths from 1 to 7 do not fit an input of 6 positions"):
        reader(x, torch.tensor([1, 7, 2, 3]))
    with pytest.raises(ShapeError, match="lengths from -1 to 6"):
        reader(x, torch.tensor([-1, 6, 2, 3]))
    with pytest.raises(ShapeError, match=r"lengths has shape \(3,\), expected \(4,\): one a row"):
        reader(x, torch.tensor([1, 2, 3]))


def test_only_an_lstm_is_projected_and_only_to_something_narrower():
    with pytest.raises(ValidationError, match='projection goes with cell = "lstm" only, found'):
        RecurrentSettings(cell="gru", projection=2)
    with pytest.raises(ValidationError, match=r"projection \(8\) must be smaller than width \(8\)"):
        RecurrentSettings(cell="lstm", width=8, projection=8)
