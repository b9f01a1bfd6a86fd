"""`regard.check` on every network of ours that can be built without a task."""

import pytest
import torch
from torch import nn

import regard
from regard.models.decoder import Decoder
from regard.models.encoder import Encoder, Source
from regard.models.recurrent import RecurrentNetwork
from regard.models.simple_transformer import SimpleTransformer
from regard.nn.mask import Mask
from regard.nn.norms import SequenceBatchNorm
from regard.nn.pooling import pool
from regard.nn.positions import POSITIONS
from regard.nn.recurrent import LAYERS
from regard.shapes import DecoderSettings, EncoderSettings, RecurrentSettings

V, CASES = 19, 6
SIZE = {"width": 12, "heads": 2}
SETTINGS = {
    **{name: dict(positions=name) for name in POSITIONS},
    "window": dict(window=3),
    "window, relative": dict(window=3, positions="relative"),
    "grouped, normed embeddings": dict(heads=4, kv_heads=2, embedding_norm=True),
    "post, rms, swiglu": dict(norm_place="post", norm="rms", activation="swiglu", dropout=0.1),
    "gelu_tanh, epsilon": dict(activation="gelu_tanh", norm="rms", norm_epsilon=1e-6),
}
HELD = ("padding_right", "padding_content", "alone", "no_nan", "gradients", "save_load")
WRITES = (*HELD, "causality", "cache", "beam_one")


def all_hold(report, names):
    assert report.passed, str(report)
    assert [name for name in names if report[name].passed is not True] == []


def to_the_front(read):
    """A call that puts real tokens first, for networks that take padding behind a text only."""

    def call(network, ids, mask):
        order = mask.long().argsort(dim=1, descending=True, stable=True)
        output = read(network, ids.gather(1, order), mask.sum(dim=1))
        if output.dim() < 3:
            return output
        return output.gather(1, order.argsort(dim=1)[..., None].expand_as(output))

    return call


def stepped(network, state, tokens):
    return network.step(network.start() if state is None else state, tokens)


@pytest.mark.parametrize("name", [*SETTINGS, "untied"])
def test_a_decoder_is_honest(name):
    chosen = SETTINGS.get(name, {"tied": False})
    decoder = Decoder.of(DecoderSettings(**{**SIZE, **chosen}), V)
    report = regard.check(decoder, vocabulary=V, kind="decoder", step=stepped, cases=CASES)
    all_hold(report, (*WRITES, "attention"))


@pytest.mark.parametrize("name", [*SETTINGS, "segments"])
def test_an_encoder_is_honest(name):
    shape = EncoderSettings(**{**SIZE, **SETTINGS.get(name, {"segments": 2})})
    read = to_the_front(lambda m, ids, lengths: m(Source(ids, lengths, segments(m, ids))))
    report = regard.check(
        Encoder.of(shape, V), vocabulary=V, kind="encoder", call=read, cases=CASES
    )
    all_hold(report, (*HELD, "padding_left", "attention"))


def segments(encoder, ids):
    return None if encoder.segments is None else torch.arange(ids.size(1)).expand_as(ids) % 2


@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize("cell", LAYERS)
def test_a_recurrent_network_that_writes_is_honest(cell, layers):
    network = RecurrentNetwork(RecurrentSettings(cell=cell, width=7, layers=layers), V)
    report = regard.check(network, vocabulary=V, kind="decoder", step=stepped, cases=CASES)
    all_hold(report, WRITES)


@pytest.mark.parametrize("each", [True, False], ids=["tags", "one answer"])
@pytest.mark.parametrize("cell", LAYERS)
def test_a_recurrent_network_that_reads_both_ways_is_honest(cell, each):
    shape = RecurrentSettings(cell=cell, width=7, layers=2, bidirectional=True)
    network = RecurrentNetwork(shape, V, 3, each=each)
    read = to_the_front(lambda m, ids, lengths: m(ids, lengths))
    report = regard.check(network, vocabulary=V, kind="encoder", call=read, cases=CASES)
    all_hold(report, (*HELD, "padding_left"))


def test_a_simple_transformer_is_honest_as_an_encoder():
    report = regard.check(
        SimpleTransformer(V, 10, 8),
        vocabulary=V,
        kind="encoder",
        call=lambda m, ids, mask: m(ids, Mask(dense=mask[:, None, None])),
        cases=CASES,
    )
    all_hold(report, (*HELD, "padding_left", "attention"))


def test_a_simple_transformer_that_is_given_no_mask_is_caught_looking_at_padding():
    report = regard.check(
        SimpleTransformer(V, 10, 8),
        vocabulary=V,
        kind="encoder",
        call=lambda m, ids, mask: m(ids),
        cases=CASES,
    )
    assert report["padding_right"].passed is False and report["gradients"].passed
    assert "first at attention.attend" in report["padding_right"].note


class Pooled(nn.Module):
    """An encoder and one vector for a whole text."""

    def __init__(self, how):
        super().__init__()
        self.how, self.encoder = how, Encoder.of(EncoderSettings(**SIZE), V)

    def forward(self, ids, lengths):
        return pool(self.encoder(Source(ids, lengths)), self.how, lengths)


@pytest.mark.parametrize("how", ["mean", "max", "first"])
def test_a_pooled_encoder_is_honest(how):
    read = to_the_front(lambda m, ids, lengths: m(ids, lengths))
    report = regard.check(Pooled(how), vocabulary=V, kind="encoder", call=read, cases=CASES)
    all_hold(report, (*HELD, "padding_left"))


class Normed(nn.Module):
    """A network that writes, with a norm over its batch."""

    def __init__(self):
        super().__init__()
        self.decoder, self.norm = Decoder.of(DecoderSettings(**SIZE), V), SequenceBatchNorm(V)

    def forward(self, ids):
        return self.norm(self.decoder(ids))


def test_a_batch_norm_in_a_network_that_writes_is_found():
    report = regard.check(Normed(), vocabulary=V, kind="decoder", cases=CASES)
    assert report["causality"].passed is False
    assert "in training mode, first at norm" in report["causality"].note
