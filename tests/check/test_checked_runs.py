"""`regard check` on a run: an honest one passes; a fault planted in any part of it is found."""

import json
from random import Random

import pytest
import torch
from click.testing import CliRunner

import regard
from regard.check.proofs import CHECKS
from regard.check.subject import Subject
from regard.cli.main import regard as command
from regard.models.encoder_decoder import EncoderDecoder
from regard.nn import attention
from regard.nn.mask import Mask
from regard.run import train
from regard.shapes import TransformerSettings
from regard.tasks.pair_proof import probe_of_pairs
from regard.tasks.task import Loss
from regard.tasks.transduce import Transduce
from regard.train import training

CASES = 12


@pytest.fixture
def run(small, tmp_path):
    return train(small("model.dropout=0.1", "train.steps=4"), out=tmp_path / "run")


def failed(report):
    return {finding.name for finding in report.findings if finding.passed is False}


def test_an_honest_run_passes_and_its_network_is_left_alone(run):
    before = {name: p.clone() for name, p in run.network.named_parameters()}
    report = regard.check(run.folder, cases=CASES)
    apart = [finding.name for finding in report.findings if finding.passed is None]
    assert report.passed and apart == ["padding_left"], str(report)
    state = torch.get_rng_state()
    assert run.check(cases=CASES).passed
    assert all(torch.equal(p, before[name]) for name, p in run.network.named_parameters())
    assert torch.equal(torch.get_rng_state(), state)


@pytest.mark.parametrize("longest", [2, 5])
def test_a_model_that_takes_almost_nothing_is_checked_too(longest):
    settings = TransformerSettings(width=8, heads=2, max_length=longest)
    probe = probe_of_pairs(9, 11, longest)
    subject = Subject(EncoderDecoder(settings, 9, 11), probe)
    for name, check in CHECKS.items():
        assert check(subject, 60, Random(0)).passed is not False, name


def test_a_decoder_that_looks_ahead_is_caught_and_the_layer_named(run, monkeypatch):
    real = attention.attend

    def peeking(q, k, v, *, mask=None, **more):
        return real(q, k, v, mask=None if mask is not None and mask.causal else mask, **more)

    monkeypatch.setattr(attention, "attend", peeking)
    report = run.check(cases=CASES)
    assert {"causality", "cache", "attention"} <= failed(report)
    assert "first at decoder.blocks.0.attention.attend (Attend)" in report["causality"].note


def test_a_source_whose_padding_is_seen_is_caught(run, monkeypatch):
    monkeypatch.setattr(Mask, "lower", lambda self, T, S, device: (None, self.causal and T == S))
    report = run.check(cases=CASES)
    assert {"padding_right", "padding_content", "alone"} <= failed(report)
    assert "first at encoder.blocks.0.attention.attend (Attend)" in report["padding_right"].note


def test_a_mean_where_a_sum_belongs_breaks_accumulation(run, monkeypatch):
    real = Transduce.loss

    def mean(self, network, batch, smoothing=0.0):
        total, tokens = real(self, network, batch, smoothing)
        return Loss(total / tokens, 1)

    monkeypatch.setattr(Transduce, "loss", mean)
    assert failed(run.check(cases=CASES)) == {"accumulation"}


@pytest.mark.parametrize("forgotten", ["restore_random", "load_optimizer_tensors"])
def test_a_resume_that_forgets_something_is_caught(run, monkeypatch, forgotten):
    monkeypatch.setattr(training, forgotten, lambda *_: None)
    report = run.check(cases=CASES)
    assert failed(report) == {"resume"}
    assert "stopped at step 1, first at " in report["resume"].note


def test_the_command_prints_a_table_or_json_and_its_exit_code_is_the_verdict(run, monkeypatch):
    words = ["check", str(run.folder), "--cases", str(CASES)]
    good = CliRunner().invoke(command, words)
    assert good.exit_code == 0 and "12 hold, 0 fail, 1 can not apply" in good.stdout
    monkeypatch.setattr(training, "restore_random", lambda *_: None)
    bad = CliRunner().invoke(command, [*words, "--json"])
    found = json.loads(bad.stdout)
    assert bad.exit_code == 1 and found["passed"] is False
    (wrong,) = [one for one in found["checks"] if one["passed"] is False]
    assert wrong["name"] == "resume" and wrong["worst"] > 0 and wrong["note"]
