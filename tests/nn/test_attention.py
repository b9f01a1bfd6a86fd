import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn.functional import scaled_dot_product_attention

from regard.errors import ShapeError
from regard.nn.attention import attend
from regard.nn.mask import Mask


def heads(B=2, H=4, G=2, T=5, S=7, D=8):
    torch.manual_seed(0)
    make = lambda heads, length: torch.randn(B, heads, length, D, dtype=torch.float64)  # noqa: E731
    return make(H, T), make(G, S), make(G, S)


MASKS = {
    "none": None,
    "causal": Mask(causal=True),
    "window": Mask(causal=True, window=3),
    "lengths": Mask(lengths=torch.tensor([7, 4])),
    "causal and lengths": Mask(causal=True, lengths=torch.tensor([6, 3])),
    "blocks": Mask(blocks=torch.tensor([[0, 0, 0, 1, 1, 1, 2], [0, 1, 1, 1, 1, 2, 2]])),
    "dense": Mask(dense=torch.rand(2, 1, 5, 7, generator=torch.Generator().manual_seed(1)) > 0.4),
}


def by_loops(q, k, v, mask, bias):
    """Attention written as the sentence: for each query, a weighted mean of the values."""
    B, H, T, D = q.shape
    G, S = k.shape[1:3]
    allowed = np.ones((B, H, T, S), bool)
    if mask is not None:
        allowed = mask.draw(T, S).expand(B, H, T, S).numpy()
    q, k, v, bias = q.numpy(), k.numpy(), v.numpy(), bias.expand(B, H, T, S).numpy()
    out, weights = np.zeros((B, H, T, D)), np.zeros((B, H, T, S))
    for b in range(B):
        for h in range(H):
            for t in range(T):
                keys = [s for s in range(S) if allowed[b, h, t, s]]
                if keys:
                    g = h // (H // G)
                    scores = [q[b, h, t] @ k[b, g, s] / D**0.5 + bias[b, h, t, s] for s in keys]
                    parts = np.exp(scores - np.max(scores))
                    for s, part in zip(keys, parts / parts.sum(), strict=True):
                        weights[b, h, t, s] = part
                        out[b, h, t] += part * v[b, g, s]
    return torch.from_numpy(out), torch.from_numpy(weights)


@pytest.mark.parametrize("name", MASKS)
@pytest.mark.parametrize("G", [1, 2, 4], ids=["multi-query", "grouped", "multi-head"])
@pytest.mark.parametrize("biased", [False, True])
def test_attention_is_the_weighted_mean_a_plain_loop_computes(name, G, biased):
    q, k, v = heads(G=G)
    bias = torch.randn(1, 4, 5, 7, dtype=torch.float64) if biased else torch.zeros(1, 1, 1, 1)
    expected, expected_weights = by_loops(q, k, v, MASKS[name], bias.double())
    given_bias = bias if biased else None
    fast, none = attend(q, k, v, mask=MASKS[name], bias=given_bias)
    slow, weights = attend(q, k, v, mask=MASKS[name], bias=given_bias, weights=True)
    assert none is None
    torch.testing.assert_close(fast, expected, rtol=0, atol=1e-12)
    torch.testing.assert_close(slow, expected, rtol=0, atol=1e-12)
    torch.testing.assert_close(weights, expected_weights, rtol=0, atol=1e-12)


def test_the_causal_flag_of_the_kernel_is_used_when_it_is_enough():
    q, k, v = heads(T=6, S=6, G=4)
    assert Mask(causal=True).lower(6, 6, q.device) == (None, True)
    assert Mask(causal=True).lower(1, 6, q.device) == (None, False)
    mixed, _ = attend(q, k, v, mask=Mask(causal=True))
    assert torch.equal(mixed, scaled_dot_product_attention(q, k, v, is_causal=True))


def test_a_query_that_may_look_nowhere_gets_zeros_and_clean_gradients():
    q, k, v = (x.requires_grad_() for x in heads())
    for weights in (False, True):
        mixed, alpha = attend(q, k, v, mask=Mask(lengths=torch.tensor([0, 7])), weights=weights)
        assert mixed[0].eq(0).all() and mixed[1].ne(0).any()
        assert alpha is None or alpha[0].eq(0).all()
        mixed.sum().backward()
        assert all(x.grad.isfinite().all() for x in (q, k, v))


def test_what_padding_holds_changes_nothing_bit_for_bit():
    q, k, v = heads()
    mask = Mask(lengths=torch.tensor([4, 7]))
    before, _ = attend(q, k, v, mask=mask)
    k[0, :, 4:], v[0, :, 4:] = 1e6, -1e6
    after, _ = attend(q, k, v, mask=mask)
    assert torch.equal(before, after)


@pytest.mark.parametrize("name", ["none", "causal", "lengths", "dense"])
def test_gradients_agree_with_finite_differences(name):
    q, k, v = (x.requires_grad_() for x in heads(D=3))
    assert torch.autograd.gradcheck(lambda *x: attend(*x, mask=MASKS[name])[0], (q, k, v))


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 6), st.integers(0, 3), st.integers(0, 2**31), st.booleans())
def test_rows_of_weights_sum_to_one_over_what_may_be_seen(T, extra, seed, causal):
    torch.manual_seed(seed)
    S = T + extra
    q, k, v = torch.randn(2, 3, T, 4), torch.randn(2, 3, S, 4), torch.randn(2, 3, S, 4)
    mask = Mask(causal=causal, lengths=torch.randint(0, S + 1, (2,)))
    _, weights = attend(q, k, v, mask=mask, weights=True)
    allowed = mask.draw(T, S).expand_as(weights)
    assert weights[~allowed].eq(0).all()
    torch.testing.assert_close(weights.sum(-1), allowed.any(-1).float())


def test_key_heads_must_divide_query_heads():
    with pytest.raises(ShapeError, match="4 query heads cannot share 3 key heads"):
        attend(*heads(G=3))


def test_widths_that_do_not_line_up_are_named():
    q, k, v = heads()
    with pytest.raises(ShapeError, match=r"queries \(2, 4, 5, 7\), keys \(2, 2, 7, 8\)"):
        attend(q[..., :7], k, v)
