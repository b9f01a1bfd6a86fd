"""Which examples go into which step."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import regard.data.plan
from regard.data.plan import Plan, cut, plan

lengths = st.lists(st.tuples(st.integers(1, 9), st.integers(1, 9)), min_size=1, max_size=60)


@settings(deadline=None, max_examples=60)
@given(lengths, st.integers(1, 80), st.integers(0, 5))
def test_every_example_comes_exactly_once_and_batches_keep_to_the_budget(sides, tokens, epoch):
    table = np.array(sides)
    batches = plan(table, tokens, seed=3, epoch=epoch)
    assert sorted(i for batch in batches for i in batch) == list(range(len(sides)))
    for batch in batches:
        padded = table[batch].max(axis=0).sum() * len(batch)
        assert padded <= tokens or len(batch) == 1


@settings(deadline=None, max_examples=30)
@given(lengths, st.integers(1, 80))
def test_the_plan_is_a_pure_function_and_every_epoch_has_as_many_batches(sides, tokens):
    table = np.array(sides)
    state = np.random.get_state(legacy=True)[1].copy()
    counts = {len(plan(table, tokens, 0, epoch)) for epoch in range(4)}
    assert len(counts) == 1
    assert plan(table, tokens, 0, 2) == plan(table, tokens, 0, 2)
    assert (np.random.get_state(legacy=True)[1] == state).all()


@settings(deadline=None, max_examples=30)
@given(lengths, st.integers(1, 80), st.integers(0, 3), st.integers(0, 99))
def test_a_step_takes_its_batch_from_the_plan_of_its_epoch(sides, tokens, seed, step):
    whole = Plan(sides, tokens, seed)
    epoch, place = step // whole.steps_per_epoch, step % whole.steps_per_epoch
    assert whole.batch(step) == plan(np.array(sides), tokens, seed, epoch)[place]


@settings(deadline=None, max_examples=60)
@given(lengths, st.integers(1, 80))
def test_a_batch_ends_only_where_the_next_row_does_not_fit(sides, tokens):
    table = np.array(sorted(sides))
    batches = cut(range(len(table)), table, tokens)
    assert [row for batch in batches for row in batch] == list(range(len(table)))
    for batch, following in zip(batches, batches[1:], strict=False):
        longer = [*batch, following[0]]
        assert table[longer].max(axis=0).sum() * len(longer) > tokens


def test_a_row_without_its_lengths_is_refused():
    with pytest.raises(ValueError, match="argument 2 is shorter"):
        cut([0, 1, 2], np.array([[1, 1], [1, 1]]), 10)


def test_an_epoch_is_planned_once_and_no_more_than_two_are_remembered(monkeypatch):
    planned = []

    def noted(lengths, tokens, seed, epoch):
        planned.append(epoch)
        return plan(lengths, tokens, seed, epoch)

    monkeypatch.setattr(regard.data.plan, "plan", noted)
    whole = Plan([(1, 1)] * 8, tokens=4, seed=0)
    for step in (0, 1, 3, 4, 3, 5, 2):  # to and fro over the end of the first epoch
        whole.batch(step)
    assert planned == [0, 1]
    whole.batch(8)  # of the third epoch: now the second, asked for longest ago, is forgotten
    whole.batch(4)
    assert planned == [0, 1, 2, 1]


def test_epochs_and_seeds_differ_and_steps_may_be_asked_in_any_order():
    sides = [(i % 7 + 1, i % 3 + 1) for i in range(200)]
    one, other = Plan(sides, 40, seed=0), Plan(sides, 40, seed=1)
    n = one.steps_per_epoch
    forward = [one.batch(step) for step in range(3 * n)]
    assert [one.batch(step) for step in reversed(range(3 * n))] == forward[::-1]
    assert forward[:n] != forward[n : 2 * n] and forward[:n] != [other.batch(i) for i in range(n)]


def test_most_batches_need_no_mask():
    dice = np.random.default_rng(0)
    table = dice.integers(2, 9, (50_000, 2))
    batches = plan(table, 2000, 0, 0)
    even = sum(len(set(table[batch, 0])) == 1 for batch in batches)
    assert even > 0.9 * len(batches)
    padded = sum(table[batch].max(axis=0).sum() * len(batch) for batch in batches)
    assert table.sum() > 0.97 * padded
