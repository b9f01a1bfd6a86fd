"""Attention without parameters: the loop, the products and torch say the same."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn.functional import scaled_dot_product_attention

from regard.nn.plain import attention, attention_loop, self_attention


def random(*shapes, seed=0):
    dice = torch.Generator().manual_seed(seed)
    return [torch.randn(*shape, generator=dice, dtype=torch.float64) for shape in shapes]


@settings(max_examples=30, deadline=None)
@given(*[st.integers(1, 6)] * 4, st.integers(0, 2**31))
def test_the_loop_and_the_products_and_torch_agree(T, S, D, V, seed):
    q, k, v = random((T, D), (S, D), (S, V), seed=seed)
    mixed, weights = attention(q, k, v)
    torch.testing.assert_close(attention_loop(q, k, v), mixed, rtol=0, atol=1e-12)
    expected = scaled_dot_product_attention(q[None], k[None], v[None])[0]
    torch.testing.assert_close(mixed, expected, rtol=0, atol=1e-12)
    torch.testing.assert_close(weights.sum(dim=-1), torch.ones_like(q[:, 0]), rtol=0, atol=1e-12)


def test_large_scores_do_not_overflow_in_either():
    q, k, v = random((3, 2), (4, 2), (4, 5))
    for f in (attention_loop, lambda *given: attention(*given)[0]):
        assert f(1e4 * q, 1e4 * k, v).isfinite().all()


@pytest.mark.parametrize("T", [1, 4])
def test_gradients_agree_with_finite_differences(T):
    q, k, v = (x.requires_grad_() for x in random((T, 3), (5, 3), (5, 2)))
    torch.autograd.gradcheck(lambda *given: attention(*given)[0], (q, k, v))
    torch.autograd.gradcheck(self_attention, (q,))


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**31), st.permutations(range(6)))
def test_rows_in_another_order_come_out_in_that_order(seed, order):
    (x,) = random((6, 3), seed=seed)
    torch.testing.assert_close(
        self_attention(x[order]), self_attention(x)[order], rtol=0, atol=1e-12
    )


def test_self_attention_is_the_sum_of_inputs_times_pairwise_scores():
    (x,) = random((4, 3))
    torch.testing.assert_close(self_attention(x), attention_loop(x, x, x), rtol=0, atol=1e-12)
