"""The course, section 3, soft and hard attention on images (Show, Attend and Tell)."""

import pytest
import torch

from regard.course import glance
from regard.course.tiny import train


@pytest.fixture
def dice():
    return torch.Generator().manual_seed(3)


@pytest.mark.parametrize(("hard", "steps"), [(False, 300), (True, 700)])
def test_soft_and_hard_attention_both_learn_where_to_look(dice, hard, steps):
    torch.manual_seed(0)
    network = glance.Looker(hard=hard)
    batch = lambda step: glance.Pictures(dice, glance.ROWS)  # noqa: E731
    train(network, batch, glance.loss_of, steps=steps, rate=0.005)
    right, found = glance.scores_of(network, glance.Pictures(dice, 500))
    assert right >= 85 and found >= 85


def test_a_hard_choice_teaches_nothing_without_its_reward(dice):
    torch.manual_seed(0)
    network, pictures = glance.Looker(hard=True).train(), glance.Pictures(dice, 8)
    scores, _, _ = network(pictures.tiles, pictures.asked)
    scores.sum().backward()
    assert network.ask.weight.grad is None  # whom to ask for reaches the answer by the choice only
    glance.loss_of(network, pictures).total.backward()
    assert network.ask.weight.grad.abs().sum() > 0


def test_pictures_hold_every_colour_once_and_the_answer_is_on_the_tile_asked_for(dice):
    pictures = glance.Pictures(dice, 40)
    assert all(sorted(row) == list(range(9)) for row in pictures.colours.tolist())
    rows = torch.arange(40)
    assert pictures.colours[rows, pictures.place].equal(pictures.asked)
    assert pictures.letters[rows, pictures.place].equal(pictures.wanted)
