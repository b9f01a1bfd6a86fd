"""Soft attention is a mean; hard attention is a choice, learned from reward."""

from itertools import product

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.func import functional_call

from regard.nn.align import SCORES, Additive
from regard.nn.glance import Glance, Reinforce

B, R, Q, K = 3, 5, 4, 2


def made(score="additive", hard=False, seed=0, rows=B):
    torch.manual_seed(seed)
    key = Q if score in ("dot", "scaled") else K
    glance = Glance(Q, key, score=score, hard=hard).double()
    return (
        glance,
        torch.randn(rows, Q, dtype=torch.float64),
        torch.randn(rows, R, key, dtype=torch.float64),
    )


# Soft


@pytest.mark.parametrize("score", SCORES)
def test_a_soft_glance_is_the_mean_of_the_regions_weighted_by_their_scores(score):
    glance, query, regions = made(score)
    seen, weights, choice = glance(query, regions)
    assert choice is None
    for b in range(B):
        scores = [glance.score(query[b][None, None], one[None, None]) for one in regions[b]]
        shares = torch.stack([one.reshape(()) for one in scores]).softmax(dim=0)
        torch.testing.assert_close(weights[b], shares, rtol=0, atol=1e-12)
        mean = sum(share * one for share, one in zip(shares, regions[b], strict=True))
        torch.testing.assert_close(seen[b], mean, rtol=0, atol=1e-12)


@pytest.mark.parametrize("score", SCORES)
def test_gradients_of_a_soft_glance_agree_with_finite_differences(score):
    glance, query, regions = made(score)
    weights = {name: p.detach() for name, p in glance.named_parameters()}

    def seen(query, regions, *given):
        chosen = dict(zip(weights, given, strict=True))
        return functional_call(glance, chosen, (query, regions, torch.tensor([R, 2, 0])))[0]

    given = [x.clone().requires_grad_() for x in (query, regions, *weights.values())]
    torch.autograd.gradcheck(seen, given)


@settings(max_examples=30, deadline=None)
@given(
    st.booleans(),
    st.booleans(),
    st.lists(st.integers(0, R), min_size=B, max_size=B),
    st.integers(0, 2**31),
)
def test_only_real_regions_are_seen_and_a_picture_without_any_gives_zeros(
    hard, training, lengths, seed
):
    glance, query, regions = made(hard=hard, seed=seed)
    glance.train(training)
    real = torch.tensor(lengths)
    torch.manual_seed(seed)
    seen, weights, choice = glance(query, regions, real)
    shut = torch.arange(R) >= real[:, None]
    assert weights[shut].eq(0).all() and seen[real == 0].eq(0).all()
    torch.testing.assert_close(weights.sum(dim=-1), (real > 0).double(), rtol=0, atol=1e-12)
    assert choice is None or choice.isfinite().all()
    regions[shut] = 1e6
    torch.manual_seed(seed)
    assert torch.equal(glance(query, regions, real)[0], seen)


# Hard


def test_a_hard_glance_sees_one_region_and_tells_how_likely_it_was():
    glance, query, regions = made(hard=True)
    seen, weights, choice = glance(query, regions)
    for b in range(B):
        place = [torch.equal(seen[b], one) for one in regions[b]].index(True)
        torch.testing.assert_close(choice[b], weights[b, place].log())


@pytest.mark.parametrize("training", [True, False])
def test_a_hard_glance_at_few_regions_sees_one_of_them(training):
    glance, query, regions = made(hard=True)
    glance.train(training)
    seen, _, _ = glance(query, regions, torch.tensor([1, 2, R]))
    assert torch.equal(seen[0], regions[0, 0])
    assert any(torch.equal(seen[1], regions[1, r]) for r in range(2))


def test_after_training_the_likeliest_region_is_taken():
    glance, query, regions = made(hard=True)
    seen, weights, _ = glance.eval()(query, regions)
    for b in range(B):
        assert torch.equal(seen[b], regions[b, weights[b].argmax()])


def test_in_training_regions_are_drawn_as_often_as_their_weights_say():
    glance, query, regions = made(hard=True, rows=1)
    draws = 20_000
    _, weights, choice = glance(query.expand(draws, -1), regions.expand(draws, -1, -1))
    for weight in weights[0]:
        often = float((choice - weight.log()).abs().lt(1e-9).double().mean())
        assert abs(often - weight) < 4 * (weight * (1 - weight) / draws) ** 0.5


# Learning from reward


def expected_loss(teach, scores, rewards):
    """The loss of every choice there is, each as often as it would be drawn."""
    weights = scores.softmax(dim=-1)
    total = 0
    for choice in product(range(scores.size(1)), repeat=len(scores)):
        picked = weights[range(len(scores)), choice]
        reward = rewards[range(len(scores)), choice]
        total = total + picked.prod().detach() * teach(picked.log(), reward, weights)
    return total


@pytest.mark.parametrize("usual", [0.0, 1.7])
def test_on_average_it_climbs_the_expected_reward_whatever_is_usual(usual):
    torch.manual_seed(0)
    scores = torch.randn(2, 4, dtype=torch.float64, requires_grad=True)
    rewards = torch.randn(2, 4, dtype=torch.float64)
    teach = Reinforce(entropy=0.0).double().eval()
    teach.usual.fill_(usual)
    found = torch.autograd.grad(expected_loss(teach, scores, rewards), scores)[0]
    wanted = (scores.softmax(dim=-1) * rewards).sum(dim=-1).mean()  # what is to grow
    torch.testing.assert_close(-found, torch.autograd.grad(wanted, scores)[0], rtol=0, atol=1e-12)


def test_drawn_choices_climb_the_expected_reward_too():
    glance, query, regions = made(hard=True, rows=1)
    rewards, draws = torch.tensor([1.0, -1.0, 2.0, 0.0, 0.5], dtype=torch.float64), 40_000
    seen, weights, choice = glance(query.expand(draws, -1), regions.expand(draws, -1, -1))
    places = (seen[:, None] == regions).all(dim=-1).long().argmax(dim=-1)
    loss = Reinforce(entropy=0.0).double()(choice, rewards[places], weights)
    found = torch.autograd.grad(loss, [*glance.parameters()])
    _, weights, _ = glance(query, regions)
    exact = torch.autograd.grad((weights @ rewards).mean(), [*glance.parameters()])
    for one, other in zip(found, exact, strict=True):
        torch.testing.assert_close(-one, other, rtol=0, atol=0.02)


def test_a_reward_that_is_as_usual_teaches_nothing():
    teach = Reinforce(entropy=0.0).eval()
    teach.usual.fill_(2.0)
    choice = torch.tensor([-1.0, -3.0], requires_grad=True)
    teach(choice, torch.tensor([2.0, 5.0]), torch.ones(2, 1)).backward()
    assert choice.grad.tolist() == [0.0, -1.5]  # the second was worth 3 more, of two


def test_entropy_is_rewarded():
    even, sure = torch.full((3, 4), 0.25), torch.eye(4)[:3]
    teach, nothing = Reinforce(entropy=0.5).eval(), torch.zeros(3)
    expected = -0.5 * torch.tensor(4.0).log()
    torch.testing.assert_close(teach(nothing, nothing, even), expected, rtol=0, atol=1e-6)
    assert teach(nothing, nothing, sure) == 0


def test_unless_told_a_glance_is_soft_and_additive_and_rewards_are_remembered_slowly():
    glance, teach = Glance(Q, K), Reinforce()
    assert isinstance(glance.score, Additive) and not glance.hard
    assert (teach.momentum, teach.entropy) == (0.1, 0.01)


def test_the_usual_reward_is_a_running_mean_that_rests_outside_training():
    teach, weights = Reinforce(momentum=0.25), torch.ones(2, 1)
    teach(torch.zeros(2), torch.tensor([3.0, 5.0]), weights)
    assert teach.usual == 1.0  # a quarter of the way from 0 to 4
    teach(torch.zeros(2), torch.tensor([5.0, 5.0]), weights)
    assert teach.usual == 2.0
    teach.eval()(torch.zeros(2), torch.tensor([9.0, 9.0]), weights)
    assert teach.usual == 2.0 and "usual" in teach.state_dict()


def test_a_reward_carries_no_gradient():
    reward = torch.ones(2, requires_grad=True)
    choice = torch.zeros(2, requires_grad=True)
    Reinforce()(choice, reward * 3, torch.ones(2, 1)).backward()
    assert reward.grad is None and choice.grad is not None
