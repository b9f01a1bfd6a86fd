"""Every campaign of `make soak`, with few cases."""

import random

import pytest
import torch

from soak import CAMPAIGNS


@pytest.mark.parametrize("campaign", CAMPAIGNS, ids=lambda campaign: campaign.name)
def test_a_short_campaign_loses_nothing(campaign, tmp_path):
    torch.set_num_threads(1)  # as in `make soak`
    outcome = campaign.run(campaign.short, random.Random(1), tmp_path)
    assert outcome.cases and not outcome.losses, "\n".join(outcome.losses)


def test_names_are_unique_and_a_full_campaign_is_longer_than_its_short_form():
    names = [campaign.name for campaign in CAMPAIGNS]
    assert len(set(names)) == len(names)
    assert all(campaign.full > campaign.short > 0 for campaign in CAMPAIGNS)
