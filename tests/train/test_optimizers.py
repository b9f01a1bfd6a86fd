"""AdamW and Muon against torch's own, and Muon against a decomposition."""

import pytest
import torch
from torch import nn

from regard.build import new_training
from regard.config import TrainSettings
from regard.models.decoder import Decoder
from regard.models.recurrent import RecurrentNetwork
from regard.shapes import DecoderSettings, RecurrentSettings
from regard.train import muon
from regard.train.adamw import AdamW
from regard.train.muon import MOMENTUM, ROUNDS, Muon, orthogonal
from regard.train.optim import make_optimizer
from regard.train.training import Stopped


@pytest.mark.parametrize("shape", [(3, 8, 8), (2, 5, 20), (2, 20, 5)])
def test_orthogonal_keeps_directions_and_evens_out_their_lengths(shape):
    torch.manual_seed(0)
    matrices = torch.randn(shape, dtype=torch.float64)
    u, before, v = torch.linalg.svd(matrices, full_matrices=False)
    values = before / matrices.norm(dim=(1, 2))[:, None] / 1.01
    for a, b, c in ROUNDS:  # the same polynomials, on the singular values themselves
        values = a * values + b * values**3 + c * values**5
    expected = u @ torch.diag_embed(values) @ v
    torch.testing.assert_close(orthogonal(matrices), expected, rtol=0, atol=1e-5)
    assert values.min() > 0.1 and values.max() < 1.9  # from 0.01 to 1 before


def test_steps_agree_with_torch_within_its_bfloat16(monkeypatch):
    monkeypatch.setattr(muon, "ROUNDS", ((3.4445, -4.7750, 2.0315),) * 5)  # as torch does
    torch.manual_seed(0)
    ours, theirs = nn.Parameter(torch.randn(12, 20)), nn.Parameter(torch.empty(12, 20))
    theirs.data.copy_(ours.data)
    group = {"params": [ours], "weight_decay": 0.1, "orthogonal": True}
    settings = dict(lr=0.02, weight_decay=0.1, momentum=MOMENTUM, adjust_lr_fn="match_rms_adamw")
    optimizers = Muon([group], lr=0.02, betas=(0.9, 0.98)), torch.optim.Muon([theirs], **settings)
    start = ours.detach().clone()
    for _ in range(5):
        gradient = torch.randn(12, 20)
        for p, optimizer in zip((ours, theirs), optimizers, strict=True):
            p.grad = gradient.clone()
            optimizer.step()
    moved, difference = (theirs - start).norm(), (ours - theirs).norm()
    assert difference < 0.03 * moved


@pytest.mark.parametrize("kind", [AdamW, Muon])
def test_what_is_not_a_matrix_gets_the_adamw_of_torch_bit_for_bit(kind):
    torch.manual_seed(0)
    ours = [nn.Parameter(torch.randn(7)), nn.Parameter(torch.randn(3, 5))]
    theirs = [nn.Parameter(p.detach().clone()) for p in ours]
    mine = kind([{"params": ours, "weight_decay": 0.1}], lr=0.1, betas=(0.9, 0.98))
    plain = torch.optim.AdamW(
        theirs, lr=0.1, betas=(0.9, 0.98), weight_decay=0.1, eps=1e-9, fused=True
    )
    for step in range(5):
        for p, q in zip(ours, theirs, strict=True):
            p.grad = torch.randn_like(p)
            q.grad = p.grad.clone()
        if step == 2:
            ours[0].grad = theirs[0].grad = None  # a parameter that a step did not reach
        mine.step()
        plain.step()
        mine.zero_grad()
        assert all(torch.equal(p, q) for p, q in zip(ours, theirs, strict=True))
        assert ours[1].grad is None


def test_a_muon_run_resumes_byte_equal(small, tmp_path):
    whole = new_training(small("train.optimizer=muon"), tmp_path / "whole")
    list(whole.run())
    cut = new_training(small("train.optimizer=muon"), tmp_path / "cut")
    assert list(cut.run(lambda: cut.progress.step >= 5))[-1] == Stopped(5)
    from regard.build import resume_training

    again = resume_training(tmp_path / "cut")
    list(again.run())
    for p, q in zip(whole.network.parameters(), again.network.parameters(), strict=True):
        assert torch.equal(p, q)


def test_a_table_is_looked_up_also_where_scores_are_made_with_it():
    shape = RecurrentSettings(cell="lstm", width=6)
    settings = TrainSettings(steps=1, optimizer="muon")
    by_muon = {}
    for tied in (True, False):
        network = RecurrentNetwork(shape, 11, tied=tied)
        names = {id(p): name for name, p in network.named_parameters()}
        groups = make_optimizer(network, settings).param_groups
        held = [(names[id(p)], bool(g.get("orthogonal"))) for g in groups for p in g["params"]]
        assert sorted(name for name, _ in held) == sorted(names.values()), "each of them once"
        by_muon[tied] = [name for name, yes in held if yes]
    assert by_muon == {True: [], False: ["judge.weight"]}


def test_the_tables_of_an_untied_decoder_are_not_muons():
    network = Decoder.of(DecoderSettings(width=6, heads=2, layers=1, tied=False), 11)
    settings = TrainSettings(steps=1, optimizer="muon")
    muons, tables, _ = make_optimizer(network, settings).param_groups
    embed = network.embed
    assert {id(p) for p in tables["params"]} == {id(embed.table.weight), id(embed.judge.weight)}
    assert muons["orthogonal"] and len(muons["params"]) == 4
