import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.errors import ShapeError
from regard.nn.pooling import pool

B, T, E = 3, 5, 4
WAYS = ("mean", "max", "first")
ALONE = {"mean": lambda row: row.mean(dim=0), "max": lambda row: row.amax(dim=0)}
ALONE["first"] = lambda row: row[0]


def random(seed=0):
    dice = torch.Generator().manual_seed(seed)
    return torch.randn(B, T, E, generator=dice, dtype=torch.float64)


@settings(max_examples=40, deadline=None)
@given(
    st.sampled_from(WAYS),
    st.lists(st.integers(0, T), min_size=B, max_size=B),
    st.integers(0, 2**31),
)
def test_each_row_is_pooled_as_if_it_were_alone_and_padding_changes_nothing(how, lengths, seed):
    x, real = random(seed), torch.tensor(lengths)
    pooled = pool(x, how, real)
    for b, length in enumerate(lengths):
        expected = ALONE[how](x[b, :length]) if length else torch.zeros(E, dtype=torch.float64)
        torch.testing.assert_close(pooled[b], expected, rtol=0, atol=1e-12)
        x[b, length:] = torch.inf
    assert torch.equal(pool(x, how, real), pooled)


@pytest.mark.parametrize("how", WAYS)
def test_without_lengths_every_position_is_real(how):
    x = random()
    assert torch.equal(pool(x, how), pool(x, how, torch.full((B,), T)))


@pytest.mark.parametrize("how", WAYS)
def test_gradients_agree_with_finite_differences_and_are_zero_where_padding_is(how):
    x, real = random().requires_grad_(), torch.tensor([T, 2, 0])
    torch.autograd.gradcheck(lambda x: pool(x, how, real), (x,))
    pool(x, how, real).sum().backward()
    assert x.grad[1, 2:].eq(0).all() and x.grad[2].eq(0).all()


@settings(max_examples=20, deadline=None)
@given(st.sampled_from(["mean", "max"]), st.permutations(range(T)), st.integers(0, 2**31))
def test_a_mean_and_a_maximum_do_not_care_about_order(how, order, seed):
    x = random(seed)
    torch.testing.assert_close(pool(x[:, order], how), pool(x, how), rtol=0, atol=1e-12)


@pytest.mark.parametrize("how", WAYS)
def test_texts_without_any_position_become_zeros(how):
    assert pool(torch.zeros(2, 0, 3), how).tolist() == [[0.0] * 3] * 2


def test_what_can_not_be_is_named():
    with pytest.raises(ShapeError, match='pool: "mean", "max", "first" or "last", found "sum"'):
        pool(random(), "sum")
    with pytest.raises(ShapeError, match="lengths from 0 to 6 do not fit an input of 5 positions"):
        pool(random(), "mean", torch.tensor([0, 6, 2]))
    with pytest.raises(ShapeError, match=r"lengths has shape \(2,\), expected \(3,\)"):
        pool(random(), "mean", torch.tensor([1, 2]))
