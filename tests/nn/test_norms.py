"""Batch norm over sequences, against torch.nn.BatchNorm1d over their real positions."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from regard.nn.norms import SequenceBatchNorm, norm_of
from regard.shapes import StackSettings

B, T, E = 3, 5, 4


def made(seed=0, momentum=0.1):
    torch.manual_seed(seed)
    ours = SequenceBatchNorm(E, momentum=momentum).double()
    theirs = nn.BatchNorm1d(E, momentum=momentum).double()
    with torch.no_grad():
        for parameter, same in zip(ours.parameters(), theirs.parameters(), strict=True):
            same.copy_(parameter.normal_())
    return ours, theirs


def random(*shape):
    return 2 * torch.randn(*shape, dtype=torch.float64) + 3


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.integers(0, T), min_size=B, max_size=B).filter(lambda n: sum(n) > 1),
    st.sampled_from([0.1, 0.5]),
    st.integers(0, 2**31),
)
def test_in_training_and_after_it_real_positions_are_normed_as_torch_norms_them(
    lengths, momentum, seed
):
    ours, theirs = made(seed, momentum)
    real = torch.arange(T) < torch.tensor(lengths)[:, None]
    for _ in range(3):
        x = random(B, T, E)
        found = ours(x, real)
        torch.testing.assert_close(found[real], theirs(x[real]), rtol=0, atol=1e-12)
    torch.testing.assert_close(ours.mean, theirs.running_mean, rtol=0, atol=1e-12)
    torch.testing.assert_close(ours.variance, theirs.running_var, rtol=0, atol=1e-12)
    x = random(B, T, E)
    expected = theirs.eval()(x.transpose(1, 2)).transpose(1, 2)
    torch.testing.assert_close(ours.eval()(x, real), expected, rtol=0, atol=1e-12)


@settings(max_examples=20, deadline=None)
@given(st.lists(st.integers(0, T), min_size=B, max_size=B), st.booleans(), st.integers(0, 2**31))
def test_what_padding_holds_changes_nothing_bit_for_bit(lengths, training, seed):
    ours, _ = made(seed)
    ours.train(training)
    real, x = torch.arange(T) < torch.tensor(lengths)[:, None], random(B, T, E)
    before = ours(x, real)[real]
    x[~real] = 1e6
    assert torch.equal(ours(x, real)[real], before)


@pytest.mark.parametrize("T", [1, T])
def test_without_padding_it_is_torchs_own_over_all_positions(T):
    ours, theirs = SequenceBatchNorm(E).double(), nn.BatchNorm1d(E).double()
    x = random(2, T, E)
    expected = theirs(x.transpose(1, 2)).transpose(1, 2)
    torch.testing.assert_close(ours(x), expected, rtol=0, atol=1e-12)
    torch.testing.assert_close(ours.mean, theirs.running_mean, rtol=0, atol=1e-12)
    torch.testing.assert_close(ours.variance, theirs.running_var, rtol=0, atol=1e-12)


def test_outside_training_nothing_is_remembered_and_a_row_does_not_see_the_others():
    ours, _ = made()
    ours(random(B, T, E))
    ours.eval()
    before, x = ours.mean.clone(), random(B, T, E)
    assert torch.equal(ours(x)[:1], ours(x[:1])) and torch.equal(ours.mean, before)


def test_a_batch_of_nothing_but_padding_uses_what_is_remembered_and_changes_nothing():
    ours, _ = made()
    ours(random(B, T, E))
    before, x = ours.mean.clone(), random(B, T, E)
    found = ours(x, torch.zeros(B, T, dtype=torch.bool))
    assert torch.equal(found, ours.eval()(x)) and torch.equal(ours.mean, before)


def test_a_single_position_gives_no_nan():
    ours, _ = made()
    assert ours(random(1, 1, E)).isfinite().all() and ours.variance.isfinite().all()


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("padded", [True, False])
def test_gradients_agree_with_finite_differences(training, padded):
    ours, _ = made()
    ours.train(training)
    real = torch.arange(T) < torch.tensor([5, 2, 0])[:, None] if padded else None
    x = random(B, T, E).requires_grad_()
    weights = {name: p.detach().clone() for name, p in ours.named_parameters()}

    def normed(x, *given):
        chosen = dict(zip(weights, given, strict=True))
        return torch.func.functional_call(ours, chosen, (x, real))

    torch.autograd.gradcheck(normed, (x, *(w.requires_grad_() for w in weights.values())))


@pytest.mark.parametrize("epsilon", [None, 0.25])
@pytest.mark.parametrize(("norm", "bias"), [("layer", True), ("layer", False), ("rms", True)])
def test_a_norm_looks_at_one_position_only(norm, bias, epsilon):
    settings = StackSettings(width=6, heads=2, norm=norm, norm_epsilon=epsilon, bias=bias)
    x = random(2, 3, 6)
    found = norm_of(settings).double()(x)
    for b in range(2):
        for t in range(3):
            row = x[b, t] - (x[b, t].mean() if norm == "layer" else 0)
            scale = row.square().mean() + (epsilon or (1e-5 if norm == "layer" else 0))
            torch.testing.assert_close(found[b, t], row / scale.sqrt(), rtol=0, atol=1e-12)
    assert len([*norm_of(settings).parameters()]) == (2 if norm == "layer" and bias else 1)


def test_without_an_epsilon_norms_are_torchs_own_to_the_bit():
    """As they were before it could be set: runs that were saved then answer the same."""
    x = 1e-3 * torch.randn(2, 3, 6)
    layer, rms = (norm_of(StackSettings(width=6, heads=2, norm=n)) for n in ("layer", "rms"))
    assert torch.equal(layer(x), nn.LayerNorm(6)(x))
    assert torch.equal(rms(x), nn.RMSNorm(6)(x))
    named = norm_of(StackSettings(width=6, heads=2, norm="rms", norm_epsilon=2**-23))
    assert torch.equal(rms(x), named(x)), "1.2e-7, as the settings say"
