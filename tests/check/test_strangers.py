"""Modules as people write them, checked with as little said as possible."""

import json

import pytest
import torch
from torch import nn

import regard
from regard.errors import ConfigError


class Recurrent(nn.Module):
    def __init__(self, cell=nn.LSTM):
        super().__init__()
        self.embed, self.cell = nn.Embedding(30, 12), cell(12, 16, num_layers=2, batch_first=True)
        self.out = nn.Linear(16, 30)

    def forward(self, ids):
        return self.out(self.cell(self.embed(ids))[0])

    def step(self, state, tokens):
        x, state = self.cell(self.embed(tokens[:, None]), state)
        return self.out(x)[:, 0], state


class Torchs(nn.Module):
    """torch's own encoder, with its own idea of a mask."""

    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(30, 12)
        layer = nn.TransformerEncoderLayer(12, 2, 20, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)

    def forward(self, ids, src_key_padding_mask=None):
        return self.encoder(self.embed(ids), src_key_padding_mask=src_key_padding_mask)


class Pooled(Torchs):
    """One answer for a whole text, inside something that has .logits."""

    def forward(self, ids, attention_mask):
        x = super().forward(ids, ~attention_mask.bool())
        real = attention_mask[..., None].to(x)
        mean = (x * real).sum(dim=1) / real.sum(dim=1).clamp(min=1)
        return type("Output", (), {"logits": mean})


class Both(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(30, 12)
        self.inner = nn.Transformer(12, 2, 1, 1, 20, batch_first=True)

    def forward(self, ids, padding_mask, target):
        later = nn.Transformer.generate_square_subsequent_mask(target.size(1)).bool()
        return self.inner(
            self.embed(ids),
            self.embed(target),
            tgt_mask=later,
            src_key_padding_mask=padding_mask,
            memory_key_padding_mask=padding_mask,
        )


@pytest.mark.parametrize("cell", [nn.RNN, nn.GRU, nn.LSTM])
def test_a_recurrent_network_needs_nothing_said(cell):
    report = regard.check(Recurrent(cell), cases=12, step=lambda m, s, t: m.step(s, t))
    assert report.passed, str(report)
    assert report["cache"].passed and report["causality"].passed
    assert report["attention"].passed is None
    assert "Guessed vocabulary=30" in str(report) and "called as module(ids)" in str(report)


@pytest.mark.filterwarnings("ignore::UserWarning")  # torch's own, about its prototypes
def test_torchs_encoder_is_called_with_its_own_mask_turned_round():
    report = regard.check(Torchs(), cases=12)
    assert "called as module(ids, src_key_padding_mask=~mask)" in str(report)
    assert report["padding_right"].passed and report["attention"].passed
    assert report["causality"].passed is None


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_one_answer_for_a_whole_text_is_checked_too():
    report = regard.check(Pooled(), cases=12)
    assert report["alone"].passed and report["padding_left"].passed
    assert 'Guessed kind="encoder"' in str(report)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_two_inputs_make_an_encoder_decoder():
    report = regard.check(Both(), cases=12)
    assert report["causality"].passed and report["padding_right"].passed
    assert 'Guessed kind="encoder-decoder"' in str(report)


def test_the_callers_module_and_random_state_are_left_alone():
    model = Recurrent()
    model.train()
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    state = torch.get_rng_state()
    regard.check(model, cases=6)
    assert model.training and torch.equal(torch.get_rng_state(), state)
    assert all(torch.equal(before[name], tensor) for name, tensor in model.state_dict().items())
    assert all(p.grad is None and p.dtype == torch.float32 for p in model.parameters())


def test_equal_seeds_find_equal_numbers():
    first, second = (regard.check(Recurrent(), cases=6, seed=3) for _ in range(2))
    names = [finding.cases for finding in first.findings]
    assert names == [finding.cases for finding in second.findings]


def test_a_network_with_float32_written_into_it_is_checked_in_float32():
    class Stubborn(Recurrent):
        def forward(self, ids):
            return self.out(self.cell(self.embed(ids).float())[0])

    report = regard.check(Stubborn(), cases=6)
    assert report.passed and "Run in float32" in str(report)


def test_the_json_has_the_keys_of_the_contract():
    found = json.loads(json.dumps(regard.check(Recurrent(), cases=6).as_json()))
    assert found["passed"] is True
    for one in found["checks"]:
        assert {"name", "cases", "worst", "passed", "note"} <= one.keys()
        assert one["passed"] in (True, None) and one["meaning"]


@pytest.mark.parametrize(
    ("module", "said", "message"),
    [
        (nn.Linear(3, 3), {}, "it has no nn.Embedding: say vocabulary="),
        (nn.Linear(3, 3), {"vocabulary": 9}, "could not be called with ids .* call=lambda m, ids"),
        (Recurrent(), {"kind": "decode"}, 'no kind "decode".* Did you mean "decoder"'),
        (Recurrent(), {"call": lambda m, ids, mask: m(ids).sum()}, "expected a tensor"),
        (
            Recurrent(),
            {"kind": "decoder", "call": lambda m, ids, mask: m(ids)[:, -1]},
            'Is it kind="encoder"',
        ),
    ],
)
def test_what_can_not_be_called_is_explained(module, said, message):
    with pytest.raises(ConfigError, match=message):
        regard.check(module, **said)
