"""When a training counts as lost, and when it must be left alone."""

import random

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from regard.errors import TrainingError
from regard.train.divergence import (
    TOO_MANY,
    refuse_divergence,
    refuse_high_rate,
    way_on,
    worst_loss,
)
from regard.train.state import Progress


def stopped_at(losses):
    """The step at which these losses end a training; None when they never do."""
    progress = Progress()
    for loss in losses:
        progress.saw(loss, tokens=1)
        try:
            refuse_divergence(progress, loss, rate=0.1)
        except TrainingError:
            return progress.step
    return None


starts = st.floats(0.01, 20)
seeds = st.integers(0, 2**32)


@given(starts, seeds)
def test_a_plateau_with_noise_and_spikes_is_left_alone(start, seed):
    dice = random.Random(seed)
    noisy = [start * dice.uniform(0.5, 1.5) for _ in range(400)]
    assert stopped_at(x * 1000 if dice.random() < 0.1 else x for x in noisy) is None


@given(starts, seeds)
def test_losses_that_only_fall_are_left_alone_even_from_an_easy_first_batch(start, seed):
    dice = random.Random(seed)
    rest = [start * (0.99**i) * dice.uniform(0.8, 1.2) for i in range(300)]
    assert stopped_at([start * 0.6, *rest]) is None


@given(starts, st.integers(0, 300), st.floats(4, 1e6), seeds)
def test_losses_that_explode_and_stay_high_stop_within_50_steps(start, calm, height, seed):
    dice = random.Random(seed)
    before = [start * dice.uniform(0.5, 1.1) for _ in range(calm)]
    after = [max(start, 1) * height * dice.uniform(1, 3) for _ in range(50)]
    found = stopped_at([start, *before, *after])
    assert found is not None and calm + 1 < found <= calm + 51


def test_a_loss_that_jumps_up_and_down_counts_slowly():
    assert stopped_at([4.0] * 5 + [80.0] * 19 + [4.0] * 100) is None
    assert stopped_at([4.0] * 5 + [80.0, 80.0, 4.0] * 30) == 5 + 3 * (TOO_MANY - 2) + 2


def test_losses_below_zero_can_diverge_too():
    assert stopped_at([-3.0] * 40) is None
    assert stopped_at([-3.0] * 5 + [1.0] * 40) == 5 + TOO_MANY
    assert worst_loss(-3.0) == 0.0


@pytest.mark.parametrize("width", [16, 64])
def test_a_rate_above_the_size_of_the_weights_is_refused_and_a_fitting_one_suggested(width):
    torch.manual_seed(0)
    network = nn.Sequential(nn.Linear(width, width), nn.Linear(width, 3 * width))
    with torch.no_grad():
        for layer in network:
            nn.init.normal_(layer.weight, std=0.1)
    refuse_high_rate(network, 0.09)
    with pytest.raises(TrainingError, match=r"only 0.1 large.* --set train.rate=0.00[23]"):
        refuse_high_rate(network, 0.11)


def test_a_network_without_matrices_may_have_any_rate():
    refuse_high_rate(nn.LayerNorm(4), 1000.0)


def test_the_way_on_is_the_newest_checkpoint_before_the_trouble(tmp_path):
    assert way_on(tmp_path, [], 5, 0.02) == (
        "Begin again with a smaller rate, as in --set train.rate=0.002"
    )
    assert "Begin again" in way_on(tmp_path, [8], 5, 0.02)
    told = way_on(tmp_path, [2, 4, 6], 5, 0.02)
    assert "The checkpoint of step 4 is good" in told and "delete the checkpoints after" in told
    assert told.endswith(f"then: regard resume {tmp_path}")
    assert "delete" not in way_on(tmp_path, [2, 4], 5, 0.02)
