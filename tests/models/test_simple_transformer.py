import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.models.simple_transformer import SimpleTransformer
from regard.nn.mask import Mask

V, E, F = 7, 5, 3


def made(seed=0):
    torch.manual_seed(seed)
    return SimpleTransformer(V, E, F).double()


@settings(max_examples=20, deadline=None)
@given(st.integers(1, 3), st.integers(1, 8), st.integers(0, 2**31))
def test_it_is_attention_and_feed_forward_as_one_would_write_them(B, T, seed):
    network, ids = made(seed), torch.randint(0, V, (B, T))
    w = dict(network.named_parameters())
    x = w["embed.table.weight"][ids]
    q, k, v = (x @ w["attention.project.weight"].T + w["attention.project.bias"]).split(E, dim=-1)
    x = (q @ k.mT / math.sqrt(E)).softmax(dim=-1) @ v
    for part in ("attention.out", "feed.up", "feed.out", "judge"):
        x = x @ w[f"{part}.weight"].T + w[f"{part}.bias"]
        x = x.relu() if part == "feed.up" else x
    torch.testing.assert_close(network(ids), x, rtol=0, atol=1e-12)


@pytest.mark.parametrize("T", [1, 100, 1500])
def test_as_many_rows_come_out_as_ids_went_in_however_many(T):
    network = SimpleTransformer(V, E, F)
    assert network(torch.randint(0, V, (1, T))).shape == (1, T, V)


def test_its_sizes_are_those_of_the_course_unless_told():
    with torch.device("meta"):
        network = SimpleTransformer(10)
    shapes = {name: tuple(p.shape) for name, p in network.named_parameters()}
    assert shapes["embed.table.weight"] == (10, 2048) and shapes["judge.weight"] == (10, 2048)
    assert shapes["feed.up.weight"] == (1024, 2048) and shapes["feed.out.weight"] == (2048, 1024)
    assert network.attention.heads == 1


@settings(max_examples=20, deadline=None)
@given(st.permutations(range(6)), st.integers(0, 2**31))
def test_tokens_in_another_order_come_out_in_that_order(order, seed):
    network, ids = made(seed), torch.randint(0, V, (2, 6))
    torch.testing.assert_close(network(ids[:, order]), network(ids)[:, order], rtol=0, atol=1e-12)


def test_a_mask_hides_what_it_says():
    network, ids = made(), torch.randint(0, V, (2, 6))
    causal, changed = network(ids, Mask(causal=True)), ids.clone()
    changed[:, 4:] = (ids[:, 4:] + 1) % V
    assert torch.equal(network(changed, Mask(causal=True))[:, :4], causal[:, :4])
    lengths = torch.tensor([6, 4])
    padded = network(ids, Mask(lengths=lengths))
    torch.testing.assert_close(padded[1:, :4], network(ids[1:, :4]), rtol=0, atol=1e-12)
    assert network(ids, Mask(lengths=torch.tensor([6, 0]))).isfinite().all()
