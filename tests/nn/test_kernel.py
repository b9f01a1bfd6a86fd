"""Kernel regression, against the formula written as loops."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.nn.kernel import KernelRegression, kernel_regression

T, S = 4, 6


def random(*sizes, seed=0):
    dice = torch.Generator().manual_seed(seed)
    return [torch.randn(size, generator=dice, dtype=torch.float64) for size in sizes]


def by_loops(queries, keys, values, width):
    answers = []
    for q in queries.tolist():
        parts = [math.exp(-(((q - k) / width) ** 2)) for k in keys.tolist()]
        answers.append(sum(p * v for p, v in zip(parts, values.tolist(), strict=True)) / sum(parts))
    return torch.tensor(answers, dtype=torch.float64)


@pytest.mark.parametrize("width", [0.3, 1.0, 2.5])
def test_an_answer_is_the_mean_of_what_is_known_weighted_by_nearness(width):
    queries, keys, values = random(T, S, S)
    answers, weights = kernel_regression(queries, keys, values, width)
    torch.testing.assert_close(answers, by_loops(queries, keys, values, width), rtol=0, atol=1e-12)
    torch.testing.assert_close(weights @ values, answers, rtol=0, atol=1e-12)
    learned, same = KernelRegression(width).double()(queries, keys, values)
    torch.testing.assert_close(learned, answers, rtol=0, atol=1e-6)
    torch.testing.assert_close(same, weights, rtol=0, atol=1e-6)


def test_unless_told_the_width_is_one():
    queries, keys, values = random(T, S, S)
    expected, _ = kernel_regression(queries, keys, values, 1.0)
    assert torch.equal(kernel_regression(queries, keys, values)[0], expected)
    assert KernelRegression().width == 1.0


def test_far_away_from_all_that_is_known_the_nearest_answers():
    keys, values = torch.tensor([0.0, 1.0]), torch.tensor([3.0, 8.0])
    answers, weights = kernel_regression(torch.tensor([1e6, -1e6]), keys, values)
    assert answers.tolist() == [8.0, 3.0] and weights.tolist() == [[0.0, 1.0], [1.0, 0.0]]


def test_gradients_agree_with_finite_differences():
    inputs = [x.requires_grad_() for x in random(T, S, S)]
    width = torch.tensor(0.8, dtype=torch.float64, requires_grad=True)
    torch.autograd.gradcheck(lambda *given: kernel_regression(*given)[0], (*inputs, width))
    model = KernelRegression().double()

    def hidden(keys, values, log_width):
        return torch.func.functional_call(
            Hidden(model), {"model.log_width": log_width}, (keys, values)
        )

    torch.autograd.gradcheck(hidden, (*inputs[1:], model.log_width.detach().requires_grad_()))


class Hidden(torch.nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, keys, values):
        return self.model.leave_one_out(keys, values)


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 5), st.integers(1, 7), st.floats(0.01, 100), st.integers(0, 2**31))
def test_rows_sum_to_one_and_an_answer_lies_between_the_least_and_the_most(T, S, width, seed):
    queries, keys, values = random(T, S, S, seed=seed)
    answers, weights = kernel_regression(queries, keys, values, width)
    torch.testing.assert_close(weights.sum(dim=-1), torch.ones_like(queries), rtol=0, atol=1e-12)
    assert (answers >= values.min() - 1e-9).all() and (answers <= values.max() + 1e-9).all()


@settings(max_examples=20, deadline=None)
@given(st.permutations(range(S)), st.integers(0, 2**31))
def test_the_order_in_which_things_are_known_does_not_matter(order, seed):
    queries, keys, values = random(T, S, S, seed=seed)
    torch.testing.assert_close(
        kernel_regression(queries, keys[order], values[order])[0],
        kernel_regression(queries, keys, values)[0],
        rtol=0,
        atol=1e-12,
    )


def test_a_hidden_value_is_answered_from_the_others():
    keys, values = random(S, S)
    found = KernelRegression(0.7).double().leave_one_out(keys, values)
    for i in range(S):
        others = [j for j in range(S) if j != i]
        expected = by_loops(keys[i : i + 1], keys[others], values[others], 0.7)
        torch.testing.assert_close(found[i : i + 1], expected, rtol=0, atol=1e-6)


def test_the_only_value_there_is_is_answered_by_zero_when_hidden():
    model = KernelRegression()
    found = model.leave_one_out(torch.tensor([2.0]), torch.tensor([5.0]))
    found.sum().backward()
    assert found.tolist() == [0.0] and model.log_width.grad.isfinite()


def test_a_width_is_learned_and_stays_above_zero():
    keys = torch.linspace(0, 6, 25)
    model = KernelRegression(3.0)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.3)
    losses = []
    for _ in range(40):
        optimizer.zero_grad()
        loss = (model.leave_one_out(keys, keys.sin()) - keys.sin()).square().mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert 0 < model.width < 1 and losses[-1] < losses[0] / 10
