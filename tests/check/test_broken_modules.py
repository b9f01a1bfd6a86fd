"""Modules that look right and are not: each is caught, and the layer at fault is named. The honest
one they are made from passes."""

import pytest
import torch
from torch import nn

import regard

V, E, H = 40, 24, 2


class Attention(nn.Module):
    """Written by hand, as people do."""

    softmax_over = -1
    shut = -1e30

    def __init__(self):
        super().__init__()
        self.query, self.key, self.value = (nn.Linear(E, E) for _ in range(3))
        self.out = nn.Linear(E, E)

    def forward(self, x, allowed, past=None):
        q, k, v = (
            part(x).unflatten(-1, (H, -1)).transpose(1, 2)
            for part in (self.query, self.key, self.value)
        )
        if past is not None:
            k, v = torch.cat([past[0], k], dim=2), torch.cat([past[1], v], dim=2)
        scores = q @ k.mT / (E // H) ** 0.5
        weights = scores.masked_fill(~allowed[:, None], self.shut).softmax(dim=self.softmax_over)
        return self.out((weights @ v).transpose(1, 2).flatten(2)), (k, v)


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention, self.norm = Attention(), nn.LayerNorm(E)
        self.feed = nn.Sequential(
            nn.Linear(E, 2 * E), nn.GELU(), nn.Dropout(0.1), nn.Linear(2 * E, E)
        )

    def forward(self, x, allowed, past=None):
        mixed, kept = self.attention(self.norm(x), allowed, past)
        return x + mixed + self.feed(x), kept


class Model(nn.Module):
    """An honest decoder, or an encoder when it is not causal. Positions count real tokens only."""

    diagonal, offset, causal = 0, 0, True

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.embed, self.positions = nn.Embedding(V, E), nn.Embedding(32, E)
        self.layers = nn.ModuleList(Layer() for _ in range(2))
        self.head = nn.Linear(E, V)

    def forward(self, ids, mask):
        places = (mask.long().cumsum(dim=1) - 1).clamp(min=0)
        x = self.embed(ids) + self.positions(places)
        allowed = self.allowed(mask)
        for layer in self.layers:
            x, _ = layer(x, allowed)
        return self.head(x)

    def allowed(self, mask):
        T = mask.size(1)
        seen = mask[:, None, :].expand(-1, T, -1)
        return (
            seen & torch.ones(T, T, dtype=torch.bool).tril(self.diagonal) if self.causal else seen
        )

    def step(self, state, tokens):
        past = state or [None] * len(self.layers)
        length = 0 if past[0] is None else past[0][0].size(2)
        x = self.embed(tokens[:, None]) + self.positions.weight[length + self.offset]
        allowed = torch.ones(len(tokens), 1, length + 1, dtype=torch.bool)
        kept = []
        for layer, one in zip(self.layers, past, strict=True):
            x, both = layer(x, allowed, one)
            kept.append(both)
        return self.head(x)[:, 0], kept


def check(model, kind="decoder", **more):
    if kind == "decoder":
        more.setdefault("step", lambda m, state, tokens: m.step(state, tokens))
    return regard.check(
        model, vocabulary=V, kind=kind, call=lambda m, ids, mask: m(ids, mask), cases=24, **more
    )


def failed(report):
    return [finding.name for finding in report.findings if finding.passed is False]


@pytest.mark.parametrize("kind", ["decoder", "encoder"])
def test_the_honest_model_passes_every_check_that_applies(kind):
    model = Model()
    model.causal = kind == "decoder"
    report = check(model, kind)
    apart = [finding.name for finding in report.findings if finding.passed is None]
    writes = ["causality", "cache", "beam_one"]
    assert report.passed, str(report)
    assert apart == [*([] if kind == "decoder" else writes), "resume"]


def test_a_mask_off_by_one_lets_the_future_in():
    model = Model()
    model.diagonal = 1
    report = check(model)
    assert {"causality", "attention"} <= set(failed(report))
    assert "first at layers.0.attention (Attention)" in report["causality"].note
    assert "lie in the future" in report["attention"].note


class NormOverTime(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(E)

    def forward(self, x):
        return self.norm(x.mT).mT


def test_a_batch_norm_over_time_lets_the_future_in_while_training():
    model = Model()
    model.layers[1].norm = NormOverTime()
    report = check(model)
    assert {"causality", "accumulation"} <= set(failed(report))
    assert "in training mode, first at layers.1.norm.norm (BatchNorm1d)" in report["causality"].note


def test_padding_that_is_looked_at_is_found():
    model = Model()
    model.causal, model.allowed = False, lambda mask: torch.ones_like(mask)[:, None].bool()
    report = check(model, "encoder")
    wanted = {"padding_right", "padding_left", "padding_content", "alone", "attention"}
    assert wanted <= set(failed(report))
    for name in ("padding_right", "padding_left", "padding_content", "alone"):
        assert "first at layers.0.attention" in report[name].note, name


def test_positions_that_count_padding_are_found():
    class Counting(Model):
        def forward(self, ids, mask):
            return (
                super().forward(ids, mask)
                + self.positions.weight[: ids.size(1)] @ self.head.weight.T
            )

    report = check(Counting(), step=None)
    assert failed(report) == ["padding_left"]
    assert "padding on the left of the text changes its answer" in report["padding_left"].note


def test_a_cache_with_a_wrong_offset_is_found():
    model = Model()
    model.offset = 1
    report = check(model)
    assert {"cache", "beam_one"} >= set(failed(report)) and "cache" in failed(report)
    blamed = "step 1 differs from the whole pass, first at the network itself (Model), in what it"
    assert f"{blamed} gives to layers.0" in report["cache"].note


def test_a_softmax_over_the_wrong_axis_is_found_and_called_that():
    model = Model()
    model.causal = False
    model.layers[1].attention.softmax_over = -2
    report = check(model, "encoder")
    assert "layers.1.attention (Attention)" in report["attention"].note
    assert "wrong axis" in report["attention"].note
    assert "first at layers.1.attention" in report["padding_right"].note


def test_a_row_without_keys_that_becomes_nan_is_found():
    model = Model()
    for layer in model.layers:
        layer.attention.shut = -torch.inf
    report = check(model)
    assert "no_nan" in failed(report)
    assert "gives NaN or inf, first at layers.0.attention" in report["no_nan"].note


def test_a_parameter_that_never_learns_is_named():
    model = Model()
    model.spare = nn.Linear(3, 3)
    report = check(model)
    assert failed(report) == ["gradients"]
    assert report["gradients"].note == "no gradient reaches spare.weight, spare.bias"


def test_layers_in_a_plain_list_are_not_saved():
    model = Model()
    layers = list(model.layers)
    del model.layers
    model.layers = layers
    report = check(model)
    assert "a Layer in layers is not saved" in report["save_load"].note


def test_a_model_that_mixes_the_texts_of_a_batch_is_found():
    class Mixing(Model):
        def forward(self, ids, mask):
            return super().forward(ids, mask) + self.embed(ids[:, :1]).mean() * len(ids)

    report = check(Mixing())
    assert "alone" in failed(report) and "accumulation" in failed(report)
