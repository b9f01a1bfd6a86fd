"""The course, section 3, permutation: without positions the output permutes with the input, within
1e-12 in float64; with positions it does not. Errata: only a pooled output is invariant."""

import numpy as np
import pytest
import torch

from regard.course import permutation
from regard.models.encoder import Source


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_all_numbers_of_permutation_are_as_expected(seed):
    assert permutation.lesson(seed).ok


def attended(x):
    """Self-attention in NumPy."""
    parts = np.exp(x @ x.T / np.sqrt(x.shape[1]))
    return parts / parts.sum(axis=1, keepdims=True) @ x


@pytest.mark.parametrize("seed", range(5))
def test_rows_are_equivariant_and_their_mean_is_invariant(seed):
    dice = np.random.default_rng(seed)
    x, order = dice.normal(size=(7, 4)), dice.permutation(7)
    np.testing.assert_allclose(attended(x[order]), attended(x)[order], atol=1e-12)
    np.testing.assert_allclose(
        attended(x[order]).mean(axis=0), attended(x).mean(axis=0), atol=1e-12
    )


def test_all_120_orders_are_tried_and_moved_back_rightly():
    network = permutation.encoder("none", seed=0)
    found, expected = permutation.moved(network)
    assert found.shape == expected.shape == (120, 5, permutation.WIDTH)
    with torch.no_grad():
        backwards = network(Source(torch.tensor([[4, 3, 2, 1, 0]])))
    torch.testing.assert_close(backwards[0], found[0].flip(0), atol=1e-12, rtol=0)
    torch.testing.assert_close(expected[-1], found[0].flip(0))  # the last order is backwards


def test_the_rows_themselves_are_not_invariant(values_of):
    assert values_of("permutation")["no positions: first vectors differ by"] > 0.1


def test_alibi_in_an_encoder_knows_distances_and_no_direction():
    network = permutation.encoder("alibi", seed=0)
    forward, backward = (
        permutation.vectors(network, permutation.ids_of(text))[0]
        for text in ("dog bites man who sleeps", "sleeps who man bites dog")
    )
    torch.testing.assert_close(forward.flip(0), backward, atol=1e-12, rtol=0)


def test_equal_seeds_give_equal_tables_whatever_the_positions():
    one, other = (permutation.encoder(kind, seed=3) for kind in ("none", "sinusoidal"))
    torch.testing.assert_close(one.embed.table.weight, other.embed.table.weight)
