"""The course, section 4, the word order / context table: measured, not asserted."""

import pytest
import torch

from regard.course import order


@pytest.fixture
def dice():
    return torch.Generator().manual_seed(7)


def test_the_order_task_is_about_order_alone(dice):
    ids, labels = order.order_task(dice, 400)
    for row, label in zip(ids.tolist(), labels.tolist(), strict=True):
        assert row.count(order.FIRST) == row.count(order.SECOND) == 1
        assert (row.index(order.FIRST) < row.index(order.SECOND)) == bool(label)
    assert 140 < int(labels.sum()) < 260


def test_the_context_task_is_about_a_pair_and_no_word_alone(dice):
    ids, labels = order.context_task(dice, 2000)
    together = {(order.FIRST, order.THIRD), (order.SECOND, order.FOURTH)}
    for row, label in zip(ids.tolist(), labels.tolist(), strict=True):
        pair = tuple(sorted(i for i in row if i >= order.FILLERS))
        assert (pair in together) == bool(label)
    for word in (order.FIRST, order.SECOND, order.THIRD, order.FOURTH):
        share = labels[(ids == word).any(dim=1)].float().mean()
        assert 0.42 < float(share) < 0.58


@pytest.mark.parametrize(
    ("model", "knows"), [("bag of unigrams", (False, False)), ("bag of bigrams", (False, False))]
)
def test_bags_know_neither_order_nor_context(dice, model, knows):
    for task, known in zip((order.order_task, order.context_task), knows, strict=True):
        right = order.MODELS[model](task(dice, 3000), task(dice, 500))
        assert (right >= 85) == known


def test_self_attention_knows_context_but_no_order_and_a_transformer_both(monkeypatch, dice):
    monkeypatch.setattr(order, "STEPS", 200)
    torch.manual_seed(0)
    tasks = [(task(dice, 3000), task(dice, 500)) for task in (order.order_task, order.context_task)]
    blind = [order.MODELS["self-attention"](*parts) for parts in tasks]
    seeing = [order.MODELS["Transformer"](*parts) for parts in tasks]
    assert blind[0] < 65 and blind[1] > 90
    assert min(seeing) > 90


def test_an_rnn_knows_order(monkeypatch, dice):
    monkeypatch.setattr(order, "STEPS", 250)
    torch.manual_seed(0)
    assert order.MODELS[order.RNN](order.order_task(dice, 3000), order.order_task(dice, 500)) > 85
