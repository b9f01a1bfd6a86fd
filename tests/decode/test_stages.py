"""Penalties and filters against those of transformers, in float64, and one by one."""

import math

import pytest
import torch
from transformers.generation.logits_process import (
    MinPLogitsWarper,
    RepetitionPenaltyLogitsProcessor,
    TemperatureLogitsWarper,
    TopKLogitsWarper,
    TopPLogitsWarper,
    TypicalLogitsWarper,
)

from regard.config import DecodeSettings
from regard.decode.filters import FILTERS, History, filter_logits, stages
from regard.decode.sampling import Sampler

B, V = 40, 30
BEFORE = torch.randint(V, (B, 12), generator=torch.Generator().manual_seed(1))  # prompt, output
HISTORIES = [History(row[:5], row[5:]) for row in BEFORE.tolist()]
THEIRS = {
    "repetition_penalty": RepetitionPenaltyLogitsProcessor,
    "temperature": TemperatureLogitsWarper,
    "top_k": TopKLogitsWarper,
    "top_p": TopPLogitsWarper,
    "min_p": MinPLogitsWarper,
    "typical_p": TypicalLogitsWarper,
}
CASES = [
    {"repetition_penalty": 1.3},
    {"repetition_penalty": 0.7},
    {"temperature": 0.3},
    {"temperature": 4.0},
    {"top_k": 1},
    {"top_k": 7},
    {"top_k": 99},
    {"top_p": 0.05},
    {"top_p": 0.9},
    {"min_p": 0.04},
    {"min_p": 1.0},
    {"typical_p": 0.05},
    {"typical_p": 0.5},
    {"typical_p": 0.95},
    {"repetition_penalty": 2.0, "temperature": 1.7, "top_k": 20, "top_p": 0.95, "min_p": 0.01},
    {"repetition_penalty": 1.1, "temperature": 0.6, "top_p": 0.99, "typical_p": 0.8},
]


def sampling(**filters):
    return DecodeSettings(**{"temperature": 1.0, **filters})


def random_log_probs(seed, forbidden=True):
    dice = torch.Generator().manual_seed(seed)
    log_probs = (3 * torch.randn(B, V, dtype=torch.float64, generator=dice)).log_softmax(dim=-1)
    log_probs[:, : 2 * forbidden] = -torch.inf  # as `advance` leaves them
    return log_probs


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("seed", range(5))
def test_filters_do_what_those_of_transformers_do(case, seed):
    theirs = log_probs = random_log_probs(seed)
    for name in FILTERS:
        if name in case:
            theirs = THEIRS[name](case[name])(BEFORE, theirs)
    found = filter_logits(log_probs, sampling(**case), HISTORIES).exp()
    torch.testing.assert_close(found, theirs.softmax(dim=-1), rtol=1e-12, atol=1e-15)
    assert torch.equal(found > 0, theirs.softmax(dim=-1) > 0)


def test_a_repetition_penalty_divides_scores_above_zero_as_transformers_does():
    scores = torch.randn(B, V, dtype=torch.float64)
    theirs = RepetitionPenaltyLogitsProcessor(1.5)(BEFORE, scores)
    found = filter_logits(scores, sampling(repetition_penalty=1.5), HISTORIES)
    torch.testing.assert_close(found, theirs.log_softmax(dim=-1))


@pytest.mark.parametrize("penalty", [0.4, -0.4, 2.0])
def test_a_frequency_penalty_counts_what_was_written_and_not_the_prompt(penalty):
    log_probs = random_log_probs(0, forbidden=False)
    found = filter_logits(log_probs, sampling(frequency_penalty=penalty), HISTORIES)
    for row, history, kept in zip(log_probs.tolist(), HISTORIES, found.tolist(), strict=True):
        lower = [math.exp(x - penalty * history.written.count(i)) for i, x in enumerate(row)]
        total = math.fsum(lower)
        assert [math.exp(x) for x in kept] == pytest.approx([x / total for x in lower])


def test_without_a_history_penalties_change_nothing():
    log_probs = random_log_probs(0, forbidden=False)
    settings = sampling(repetition_penalty=3.0, frequency_penalty=2.0)
    for histories in ([], [History([], [])] * B):
        torch.testing.assert_close(filter_logits(log_probs, settings, histories), log_probs)


@pytest.mark.parametrize("penalties", [{"repetition_penalty": 1000}, {"frequency_penalty": 2.0}])
def test_a_certain_token_stays_possible_under_any_penalty(penalties):
    certain = torch.tensor([[-math.inf, 0.0, -math.inf]])
    found = filter_logits(certain, sampling(**penalties), [History([1], [1] * 1000)])
    assert found.exp().tolist() == [[0, 1, 0]]


EVERY = {
    "repetition_penalty": 1.2,
    "frequency_penalty": 0.5,
    "temperature": 0.8,
    "top_k": 20,
    "top_p": 0.95,
    "min_p": 0.01,
    "typical_p": 0.9,
}


def test_stages_are_named_in_the_order_of_the_filters_and_each_adds_up_to_one():
    found = stages(random_log_probs(2)[0], DecodeSettings(**EVERY), *HISTORIES[0])
    assert [name for name, _ in found] == [
        "as the network says",
        "repetition penalty 1.2",
        "frequency penalty 0.5",
        "temperature 0.8",
        "top-k 20",
        "top-p 0.95",
        "min-p 0.01",
        "typical-p 0.9",
    ]
    for _, probs in found:
        assert probs.shape == (V,) and probs.sum().item() == pytest.approx(1)
        assert probs[:2].tolist() == [0, 0]  # forbidden ones
    assert len({tuple(probs.tolist()) for _, probs in found}) > 5


def test_each_stage_is_what_its_filters_alone_would_do():
    log_probs = random_log_probs(3)
    found = stages(log_probs[0], DecodeSettings(**EVERY), *HISTORIES[0])
    for count, (_, probs) in enumerate(found[3:], start=3):  # a temperature is there from 3 on
        settings = DecodeSettings(**dict(list(EVERY.items())[:count]))
        alone = filter_logits(log_probs[:1], settings, HISTORIES[:1])[0].exp()
        assert torch.equal(probs, alone)


def test_a_filter_that_changes_nothing_is_no_stage():
    idle = sampling(top_p=1.0, min_p=0.0, typical_p=1.0)
    assert [name for name, _ in stages(torch.zeros(9), idle)] == ["as the network says"]
    greedy = DecodeSettings(frequency_penalty=1.0)
    assert [name for name, _ in stages(torch.zeros(9), greedy)][1:] == ["frequency penalty 1"]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_the_last_stage_is_exactly_what_the_sampler_draws_from(dtype, monkeypatch):
    log_probs = random_log_probs(4).to(dtype)
    sampler = Sampler(DecodeSettings(**EVERY), range(B), [row.prompt for row in HISTORIES])
    for mine, history in zip(sampler.histories, HISTORIES, strict=True):
        mine.written.extend(history.written)
    drawn_from, draw = [], sampler._draw
    monkeypatch.setattr(
        sampler, "_draw", lambda kept, rows: drawn_from.append(kept) or draw(kept, rows)
    )
    sampler(log_probs, range(B))
    for row, kept in zip(range(B), drawn_from[0].exp(), strict=True):
        _, last = stages(log_probs[row], DecodeSettings(**EVERY), *HISTORIES[row])[-1]
        assert torch.equal(last, kept)
