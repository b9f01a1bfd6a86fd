"""Dropout drops as many as it should, and its chance is torch's."""

import pytest
import torch

from regard.nn.dropout import Dropout, dropout


@pytest.mark.parametrize("p", [0.1, 0.5, 0.9])
def test_a_share_is_dropped_and_the_sum_stays_on_average(p):
    torch.manual_seed(0)
    found = dropout(torch.ones(1000, 1000), p, training=True)
    assert (found == 0).double().mean().item() == pytest.approx(p, abs=0.002)
    assert found.mean().item() == pytest.approx(1, abs=0.005 / (1 - p))
    assert len(found.unique()) == 2, "what stays is equally large"


def test_the_gradient_is_what_the_number_was_multiplied_by():
    x = torch.ones(50, 40, dtype=torch.float64, requires_grad=True)
    found = dropout(x, 0.3, training=True)
    found.backward(torch.full_like(found, 2.0))
    assert torch.equal(x.grad, 2 * found.detach())


def test_neighbours_are_dropped_independently():
    torch.manual_seed(1)
    kept = (dropout(torch.ones(2, 500_000), 0.5, training=True) != 0).double()
    ahead = (kept[:, 1:] * kept[:, :-1]).mean().item()
    assert ahead == pytest.approx(0.25, abs=0.003)
    assert (kept[0] * kept[1]).mean().item() == pytest.approx(0.25, abs=0.003)


def test_nothing_is_dropped_outside_training_or_at_zero():
    x = torch.randn(4, 5)
    assert dropout(x, 0.5, training=False) is x and dropout(x, 0.0, training=True) is x
    assert Dropout(0.5).eval()(x) is x


@pytest.mark.parametrize("shape", [(0, 5), (1,), (7,), (3, 2, 5)])
def test_any_shape_will_do(shape):
    assert dropout(torch.ones(shape), 0.5, training=True).shape == shape


def test_equal_states_of_torch_drop_the_same_and_the_next_draw_differs():
    layer, x = Dropout(0.5), torch.ones(100)
    state = torch.get_rng_state()
    first, second = layer(x), layer(x)
    torch.set_rng_state(state)
    assert torch.equal(layer(x), first) and torch.equal(layer(x), second)
    assert not torch.equal(first, second)
