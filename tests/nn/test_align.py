"""The attentions of recurrent encoder-decoders, against their equations written as loops."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.func import functional_call

from regard.errors import ConfigError, ShapeError
from regard.nn.align import SCORES, Align

B, T, S, Q, K, V = 2, 5, 7, 3, 4, 6
SCOPES = ("global", "local-m", "local-p")


def made(score, scope="global", reach=3, seed=0):
    """An attention and its inputs; a dot product needs keys as wide as queries."""
    torch.manual_seed(seed)
    key = Q if score in ("dot", "scaled") else K
    align = Align(score, Q, key, scope=scope, reach=reach).double()
    make = lambda *shape: torch.randn(*shape, dtype=torch.float64)  # noqa: E731
    return align, make(B, T, Q), make(B, S, key), make(B, S, V)


def score_by_hand(align, name, q, k):
    """One query and one key; Luong et al. 2015, eq. 8, and Bahdanau et al. 2015, A.1.2."""
    w = {key: p.detach().numpy() for key, p in align.score.named_parameters()}
    match name:
        case "dot":
            return q @ k
        case "scaled":
            return q @ k / np.sqrt(len(k))
        case "general":
            return q @ w["turn.weight"] @ k
        case "additive":
            return w["weigh.weight"][0] @ np.tanh(w["query.weight"] @ q + w["key.weight"] @ k)
        case "concat":
            return w["weigh.weight"][0] @ np.tanh(w["both.weight"] @ np.concatenate([q, k]))


def place_by_hand(align, q, t, length):
    """Around which source position a query looks; None: it looks everywhere. Eq. 9."""
    if align.scope == "global":
        return None
    if align.scope == "local-m":
        return t
    guess, place = align.guess.weight.detach().numpy(), align.place.weight.detach().numpy()[0]
    return length / (1 + np.exp(-place @ np.tanh(guess @ q)))


def by_loops(align, name, q, k, v, lengths):
    """Eq. 7 for the shares, eq. 10 for the bell around a predicted place; what the bell leaves is
    brought back to a sum of 1."""
    q, k, v = q.numpy(), k.numpy(), v.numpy()
    mixed, weights = np.zeros((B, T, V)), np.zeros((B, T, S))
    for b in range(B):
        for t in range(T):
            place = place_by_hand(align, q[b, t], t, lengths[b])
            seen = [s for s in range(lengths[b]) if place is None or abs(s - place) <= align.reach]
            parts = np.exp([score_by_hand(align, name, q[b, t], k[b, s]) for s in seen])
            shares = parts / parts.sum()
            if align.scope == "local-p":
                shares *= [np.exp(-((s - place) ** 2) / (2 * (align.reach / 2) ** 2)) for s in seen]
                shares /= shares.sum()
            for s, share in zip(seen, shares, strict=True):
                weights[b, t, s] = share
                mixed[b, t] += share * v[b, s]
    return torch.from_numpy(mixed), torch.from_numpy(weights)


@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("lengths", [[S, S], [4, 6]], ids=["whole", "padded"])
def test_every_score_and_scope_is_what_the_equations_say(score, scope, lengths):
    align, q, k, v = made(score, scope)
    mixed, weights = align(q, k, v, torch.tensor(lengths))
    expected, expected_weights = by_loops(align, score, q, k, v, lengths)
    torch.testing.assert_close(weights, expected_weights, rtol=0, atol=1e-12)
    torch.testing.assert_close(mixed, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize("score", SCORES)
def test_gradients_agree_with_finite_differences(score, scope):
    align, q, k, v = made(score, scope)
    inputs = [q[:, :2], k[:, :5], v[:, :5, :1]]
    weights = {name: p.detach() for name, p in align.named_parameters()}

    def mixed(q, k, v, *given):
        chosen = dict(zip(weights, given, strict=True))
        return functional_call(align, chosen, (q, k, v, torch.tensor([5, 3])))[0]

    given = [x.clone().requires_grad_() for x in (*inputs, *weights.values())]
    torch.autograd.gradcheck(mixed, given)


@pytest.mark.parametrize("scope", SCOPES)
def test_keys_are_the_values_where_no_others_are_given(scope):
    align, q, k, _ = made("additive", scope)
    assert torch.equal(align(q, k)[0], align(q, k, k)[0])


@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize("score", SCORES)
def test_one_query_at_a_time_sees_what_all_at_once_see(score, scope):
    align, q, k, v = made(score, scope)
    lengths = torch.tensor([S, 4])
    whole, _ = align(q, k, v, lengths)
    steps = [align(q[:, t : t + 1], k, v, lengths, start=t)[0] for t in range(T)]
    torch.testing.assert_close(torch.cat(steps, dim=1), whole, rtol=0, atol=1e-12)


@settings(max_examples=40, deadline=None)
@given(
    st.sampled_from([*SCORES]),
    st.sampled_from(SCOPES),
    st.lists(st.integers(0, S), min_size=B, max_size=B),
    st.integers(1, 9),
    st.integers(0, 2**31),
)
def test_weights_sum_to_one_over_what_is_real_and_near_and_are_zero_elsewhere(
    score, scope, lengths, reach, seed
):
    align, q, k, v = made(score, scope, reach, seed)
    real = torch.tensor(lengths)
    mixed, weights = align(q, k, v, real)
    near = torch.ones(B, T, S, dtype=torch.bool)
    if scope != "global":
        near = (torch.arange(S) - align.centres(q, real)[..., None]).abs() <= reach
    allowed = near & (torch.arange(S) < real[:, None, None])
    assert weights[~allowed].eq(0).all() and weights.ge(0).all() and mixed.isfinite().all()
    assert mixed[~allowed.any(dim=-1)].eq(0).all()
    whole = allowed.any(dim=-1).double()
    torch.testing.assert_close(weights.sum(dim=-1), whole, rtol=0, atol=1e-12)


@settings(max_examples=20, deadline=None)
@given(st.sampled_from([*SCORES]), st.sampled_from(SCOPES), st.integers(0, 2**31))
def test_what_padding_holds_changes_nothing_bit_for_bit(score, scope, seed):
    align, q, k, v = made(score, scope, seed=seed)
    lengths = torch.tensor([3, 0])
    before = align(q, k, v, lengths)
    k[0, 3:], k[1], v[0, 3:], v[1] = 1e6, -1e6, 1e6, -1e6
    after = align(q, k, v, lengths)
    assert all(torch.equal(one, other) for one, other in zip(before, after, strict=True))


@settings(max_examples=20, deadline=None)
@given(st.sampled_from([*SCORES]), st.permutations(range(S)), st.integers(0, 2**31))
def test_a_global_query_does_not_care_about_the_order_of_keys(score, order, seed):
    align, q, k, v = made(score, seed=seed)
    mixed, weights = align(q, k, v)
    again, moved = align(q, k[:, order], v[:, order])
    torch.testing.assert_close(again, mixed, rtol=0, atol=1e-12)
    torch.testing.assert_close(moved, weights[..., order], rtol=0, atol=1e-12)


def beside_global(align, name, q, k, v):
    """Mixed values and weights of an attention, and of a global one with the same score."""
    everywhere = Align(name, Q, k.size(-1)).double()
    everywhere.score.load_state_dict(align.score.state_dict())
    lengths = torch.tensor([S, 4])
    return align(q, k, v, lengths), everywhere(q, k, v, lengths)


@pytest.mark.parametrize("score", SCORES)
def test_a_window_that_just_covers_everything_is_no_window_bit_for_bit(score):
    align, q, k, v = made(score, "local-m", reach=S - 1)
    local, whole = beside_global(align, score, q, k, v)
    assert all(torch.equal(one, other) for one, other in zip(local, whole, strict=True))
    align.reach -= 1  # the first query loses the last key
    (_, narrow), (_, whole) = beside_global(align, score, q, k, v)
    assert narrow[0, 0, -1] == 0 and not torch.equal(narrow[0, 0], whole[0, 0])
    assert torch.equal(narrow[:, 1:], whole[:, 1:])


@pytest.mark.parametrize("score", SCORES)
def test_the_bell_of_a_predicted_window_becomes_flat_as_the_window_grows(score):
    align, q, k, v = made(score, "local-p")
    gaps = []
    for reach in (S, 100 * S, 10**6):
        align.reach = reach
        local, whole = beside_global(align, score, q, k, v)
        gaps.append((local[1] - whole[1]).abs().max().item())
        lowered = 2 * (S / reach) ** 2  # how far the bell lowers a score, at most
        assert 0 < gaps[-1] <= np.expm1(lowered)
    assert gaps[0] > 1e-3
    for one, other in zip(local, whole, strict=True):
        torch.testing.assert_close(one, other, rtol=0, atol=1e-9)


def test_a_predicted_place_lies_within_the_source():
    align, q, _, _ = made("dot", "local-p")
    places = align.centres(100 * q, torch.tensor([6, 3]))
    assert places.ge(0).all() and (places <= torch.tensor([[6.0], [3.0]])).all()


def test_a_wrong_name_or_width_is_told():
    with pytest.raises(ConfigError, match='no score "genral". Did you mean "general"'):
        Align("genral", Q, K)
    with pytest.raises(ConfigError, match='no scope "local-x". Did you mean "local-'):
        Align("dot", Q, Q, scope="local-x")
    with pytest.raises(ShapeError, match="queries of width 3 and keys of width 4 have no dot"):
        Align("scaled", Q, K)
