"""Recurrent networks over ids: many to one, many to many, one to many."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError
from torch import nn

from regard.config import DecodeSettings
from regard.decode.search import decode
from regard.errors import ShapeError
from regard.label_shapes import ReadingRnnSettings
from regard.models.classifier import RnnReader
from regard.models.encoder import Source
from regard.models.recurrent import RecurrentNetwork
from regard.models.weights import load_weights, weights_of
from regard.shapes import RecurrentSettings, RecurrentWriterSettings

V, B, T, W = 11, 4, 7, 6
SETTINGS = {
    "rnn": dict(cell="rnn"),
    "gru": dict(cell="gru"),
    "lstm": dict(cell="lstm"),
    "rnn, stacked": dict(cell="rnn", layers=3),
    "gru, stacked": dict(cell="gru", layers=2),
    "lstm, stacked, projected": dict(cell="lstm", layers=2, projection=3),
}
TORCHS = {"rnn": nn.RNN, "gru": nn.GRU, "lstm": nn.LSTM}


def made(name, seed=0, outputs=None, **more):
    torch.manual_seed(seed)
    each = more.pop("each", True)
    shape = RecurrentSettings(width=W, **{**SETTINGS[name], **more})
    return RecurrentNetwork(shape, V, outputs, each=each).double().eval()


def random_ids(*shape):
    return torch.randint(0, V, shape)


@pytest.mark.parametrize("both_ways", [False, True])
@pytest.mark.parametrize("name", SETTINGS)
def test_scores_are_torchs_layers_between_a_table_and_a_product(name, both_ways):
    network, ids = made(name, outputs=3, bidirectional=both_ways), random_ids(B, T)
    s = network.reader.settings
    more = {"proj_size": s.projection} if s.projection else {}
    layers = TORCHS[s.cell](W, W, s.layers, bidirectional=both_ways, **more).double()
    layers.load_state_dict(network.reader.layers.state_dict())
    outputs, state = layers(network.embed.table.weight[ids].transpose(0, 1))  # time first
    judge = network.judge
    expected = outputs.transpose(0, 1) @ judge.weight.T + judge.bias
    torch.testing.assert_close(network(ids), expected, rtol=0, atol=1e-12)
    network.each = False
    hidden = state[0] if isinstance(state, tuple) else state
    top = torch.cat([*hidden[-2:]], dim=-1) if both_ways else hidden[-1]
    torch.testing.assert_close(network(ids), top @ judge.weight.T + judge.bias, rtol=0, atol=1e-12)


@settings(max_examples=40, deadline=None)
@given(
    st.sampled_from([*SETTINGS]),
    st.booleans(),
    st.booleans(),
    st.lists(st.integers(0, T), min_size=B, max_size=B),
    st.integers(0, 2**31),
)
def test_a_row_is_judged_as_if_it_were_alone(name, each, both_ways, lengths, seed):
    network = made(name, seed, outputs=3, each=each, bidirectional=both_ways)
    ids, real = random_ids(B, T), torch.tensor(lengths)
    together = network(ids, real)
    assert together.shape == ((B, T, 3) if each else (B, 3)) and together.isfinite().all()
    for b, n in enumerate(lengths):
        row = together[b : b + 1, :n] if each else together[b : b + 1]
        if n:
            torch.testing.assert_close(row, network(ids[b : b + 1, :n]), rtol=0, atol=1e-12)
        elif not each:  # nothing was read: the judgement on a state of zeros
            assert torch.equal(row[0], network.judge.bias)
    ids[torch.arange(T) >= real[:, None]] = 1
    assert torch.equal(network(ids, real), together)


@settings(max_examples=30, deadline=None)
@given(st.sampled_from([*SETTINGS]), st.integers(1, 12), st.integers(0, 2**31))
def test_a_step_equals_a_full_pass(name, length, seed):
    network = made(name, seed)
    ids, state = random_ids(B, length), network.start()
    whole = network(ids).log_softmax(dim=-1)
    for t in range(length):
        step, state = network.step(state, ids[:, t])
        torch.testing.assert_close(step, whole[:, t], rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", SETTINGS)
def test_reordered_rows_go_on_as_if_they_had_always_been_so(name):
    network = made(name)
    ids, rows, state = random_ids(B, 5), torch.tensor([3, 3, 0, 1, 2]), network.start()
    assert network.reorder(state, rows) is None
    for t in range(4):
        _, state = network.step(state, ids[:, t])
    step, _ = network.step(network.reorder(state, rows), ids[rows, 4])
    expected = network(ids).log_softmax(dim=-1)[rows, 4]
    torch.testing.assert_close(step, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", SETTINGS)
def test_no_token_is_judged_by_later_ones(name):
    network, ids = made(name), random_ids(2, T)
    before = network(ids)
    for t in range(1, T):
        changed = torch.cat([ids[:, :t], random_ids(2, T - t)], dim=1)
        assert torch.equal(network(changed)[:, :t], before[:, :t])


@pytest.mark.parametrize("name", SETTINGS)
def test_it_reads_on_from_a_given_state(name):
    network, ids = made(name), random_ids(B, T)
    _, state = network.reader(network.embed(ids[:, :3]))
    torch.testing.assert_close(
        network(ids[:, 3:], None, state), network(ids)[:, 3:], rtol=0, atol=1e-12
    )


class Writer:
    """What `decode` asks for: a network that begins with nothing."""

    def __init__(self, network):
        self.step, self.reorder, self.start = network.step, network.reorder, lambda _: None


def test_what_comes_out_is_fed_back_in_writing():
    network = made("gru")
    written = decode(Writer(network), None, 1, DecodeSettings(max_length=6))[0].tokens
    assert 0 < len(written) <= 6 and all(0 <= token < V for token in written)


def test_a_network_that_reads_both_ways_does_not_write():
    network = RecurrentNetwork(RecurrentSettings(width=W, bidirectional=True), V)
    with pytest.raises(ShapeError, match="can not write.*bidirectional = false"):
        network.step(network.start(), random_ids(B, 1)[:, 0])


def test_unless_told_every_token_gets_a_score_for_each_of_the_vocabulary():
    network = RecurrentNetwork(RecurrentSettings(width=W), V)
    assert network(random_ids(B, T)).shape == (B, T, V)


def test_the_table_and_the_judgement_begin_as_everywhere_else():
    torch.manual_seed(0)
    network = RecurrentNetwork(RecurrentSettings(width=64), 500)
    assert abs(float(network.embed.table.weight.detach().std()) * 8 - 1) < 0.02  # 1 / sqrt(64)
    assert network.judge.bias.eq(0).all()


def test_a_tied_network_is_one_whose_two_tables_are_equal():
    shape, ids = RecurrentSettings(cell="lstm", width=W), random_ids(B, T)
    tied = RecurrentNetwork(shape, V, tied=True).double()
    twice = RecurrentNetwork(shape, V).double()
    weights = weights_of(tied)
    assert "judge.weight" not in weights
    load_weights(twice, {**weights, "judge.weight": weights["embed.table.weight"]}, "here")
    assert torch.equal(tied(ids), twice(ids))
    for network in (tied, twice):
        network(ids).square().sum().backward()
    both = twice.embed.table.weight.grad + twice.judge.weight.grad
    torch.testing.assert_close(tied.embed.table.weight.grad, both, rtol=0, atol=1e-12)


def test_a_tied_table_must_be_as_wide_as_the_output():
    with pytest.raises(ValidationError, match="width 6, the output has 3"):
        RecurrentWriterSettings(cell="lstm", width=6, projection=3, tied=True)


@pytest.mark.parametrize("name", SETTINGS)
def test_gradients_reach_every_parameter(name):
    network = made(name, bidirectional=True)
    network(random_ids(B, T), torch.tensor([T, 0, 2, 5])).square().sum().backward()
    for path, parameter in network.named_parameters():
        assert parameter.grad is not None and parameter.grad.ne(0).any(), path


@pytest.mark.parametrize("each", [True, False])
@pytest.mark.parametrize("name", ["gru", "lstm, stacked, projected"])
def test_dropout_works_with_one_layer_too_on_the_table_and_before_the_judgement(name, each):
    network, seen = made(name, dropout=0.4, each=each), []
    for part in (network.reader, network.judge):
        part.register_forward_pre_hook(lambda part, given: seen.append(given[0]))
    ids = random_ids(200, T)
    plain = made(name, each=each)
    assert torch.equal(network(ids), plain(ids)) and all(x.ne(0).all() for x in seen)
    seen.clear()
    network.train()(ids)
    assert all(0.3 < float(x.eq(0).double().mean()) < 0.5 for x in seen)


def test_a_classifiers_reader_with_one_layer_drops_some_of_the_table():
    torch.manual_seed(0)
    source, reader = Source(random_ids(B, T)), RnnReader(ReadingRnnSettings(dropout=0.4), V)
    assert not torch.equal(reader(source)[1], reader(source)[1])
    reader.eval()
    assert torch.equal(reader(source)[1], reader(source)[1])


def test_rows_are_chosen_where_the_state_is(monkeypatch):
    """A GPU refuses numbers of rows that lie elsewhere; the meta device does not, so we do."""
    real = torch.index_select

    def strict(state, dim, rows):
        assert state.device == rows.device
        return real(state, dim, rows)

    monkeypatch.setattr(torch, "index_select", strict)
    state = torch.zeros(1, B, W, device="meta")
    assert made("gru").reorder(state, torch.tensor([1, 1, 0])).shape == (1, 3, W)
