"""Every campaign of `make soak`, with few cases."""

import random

import pytest

from soak import CAMPAIGNS
from soak.repeating import _cases as cases_of_b10
from soak.trainings import AT_ONCE, RECIPES, small


@pytest.mark.parametrize("campaign", CAMPAIGNS, ids=lambda campaign: campaign.name)
def test_a_short_campaign_loses_nothing(campaign, tmp_path):
    outcome = campaign.run(campaign.short, random.Random(1), tmp_path)
    assert outcome.cases and not outcome.losses, "\n".join(outcome.losses)


def test_equal_seeds_are_tried_with_settings_that_each_recipe_has(tmp_path):
    tried = {(what, sets) for what, sets in cases_of_b10() if what in {*RECIPES, *AT_ONCE}}
    assert {what for what, _ in tried} == {*RECIPES, *AT_ONCE}
    for number, (what, sets) in enumerate(sorted(tried)):
        assert small(what, tmp_path / str(number), *sets).task == what.split()[0]


def test_names_are_unique_and_a_full_campaign_is_longer_than_its_short_form():
    names = [campaign.name for campaign in CAMPAIGNS]
    assert len(set(names)) == len(names)
    assert all(campaign.full > campaign.short > 0 for campaign in CAMPAIGNS)
