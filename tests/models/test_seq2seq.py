"""Recurrent sequence to sequence: Sutskever, Bahdanau, Luong (the course, sections 2 and 3)."""

import numpy as np
import pytest
import torch
from pydantic import ValidationError

import regard
from regard.errors import ShapeError
from regard.models.encoder import Source
from regard.models.seq2seq import Seq2Seq, reversed_rows
from regard.shapes import Seq2SeqSettings

V = 11
KINDS = {
    "sutskever": {"attention": "none", "cell": "lstm", "layers": 2, "reverse_source": True},
    "bahdanau": {"attention": "additive", "bidirectional": True},
    "bahdanau, lstm with projection": {"cell": "lstm", "projection": 5, "bidirectional": True},
    "luong dot": {"attention": "dot", "cell": "rnn"},
    "luong scaled, side by side": {"attention": "scaled", "input_feeding": False},
    "luong general": {"attention": "general", "bidirectional": True, "layers": 2},
    "luong concat": {"attention": "concat", "cell": "lstm", "input_feeding": False},
    "local-m": {"attention": "general", "scope": "local-m", "reach": 2},
    "local-p": {"attention": "dot", "scope": "local-p", "reach": 2, "reverse_source": True},
    "local-p, additive": {"attention": "additive", "scope": "local-p", "reach": 2},
    "copying": {"bidirectional": True, "copying": True},
    "copying, without attention": {"attention": "none", "reverse_source": True, "copying": True},
}
SOURCE = [[4, 5, 6, 7, 8], [9, 10, 4], [5]]
TARGET = torch.tensor([[1, 4, 5, 6, 7, 8, 9], [1, 9, 8, 7, 6, 5, 4], [1, 5, 5, 4, 4, 6, 6]])


@pytest.fixture(params=KINDS)
def network(request):
    torch.manual_seed(0)
    settings = Seq2SeqSettings(**{"width": 8, **KINDS[request.param]})
    return Seq2Seq(settings, V, V).double().eval()


def source(rows=SOURCE):
    return Source.of(rows)


@torch.no_grad()
def test_a_step_at_a_time_equals_teacher_forcing(network):
    whole = network(source(), TARGET).log_softmax(dim=-1)
    state = network.start(source())
    for t in range(TARGET.size(1)):
        scores, state = network.step(state, TARGET[:, t])
        torch.testing.assert_close(scores, whole[:, t], rtol=0, atol=1e-12)


@torch.no_grad()
def test_a_row_alone_gets_what_it_gets_in_a_batch(network):
    together = network(source(), TARGET)
    for row, ids in enumerate(SOURCE):
        alone = network(source([ids]), TARGET[row : row + 1])
        torch.testing.assert_close(together[row], alone[0], rtol=0, atol=1e-12)


@torch.no_grad()
def test_later_target_tokens_change_nothing_before_them(network):
    other = TARGET.clone()
    other[:, 4:] = 10
    before, after = network(source(), TARGET), network(source(), other)
    assert torch.equal(before[:, :4], after[:, :4])


@torch.no_grad()
def test_rows_can_be_dropped_and_repeated_on_the_way(network):
    rows = torch.tensor([2, 0, 0])
    state = network.start(source())
    _, state = network.step(state, TARGET[:, 0])
    mixed, _ = network.step(network.reorder(state, rows), TARGET[rows, 1])
    plain, _ = network.step(state, TARGET[:, 1])
    torch.testing.assert_close(mixed, plain[rows], rtol=0, atol=1e-12)


@torch.no_grad()
def test_a_beam_moves_within_its_sources_and_out_of_them(network):
    state, paths = network.start(source()), torch.full((3, 1), 1)  # what each row has written
    about = torch.arange(3)  # and the source it writes about
    for rows in ([0, 0, 1, 1, 2], [1, 0, 3, 3, 4], [1, 0, 3, 2, 4], [4, 0, 1], [0, 2, 1]):
        step, state = network.step(state, paths[:, -1])
        whole = network(source([SOURCE[n] for n in about]), paths)[:, -1].log_softmax(-1)
        torch.testing.assert_close(step, whole, rtol=0, atol=1e-9)
        before = state
        state, about, paths = network.reorder(state, torch.tensor(rows)), about[rows], paths[rows]
        within = before.origins.tolist() == state.origins.tolist()
        assert (before.memory is state.memory) == within, "only sources that moved are copied"
        paths = torch.cat([paths, torch.randint(4, V, (len(rows), 1))], dim=1)


def test_gradients_reach_every_parameter(network):
    network(source(), TARGET).square().sum().backward()
    silent = [n for n, p in network.named_parameters() if p.grad is None or not p.grad.any()]
    assert not silent


def test_only_the_last_state_crosses_over_where_there_is_no_attention():
    network = Seq2Seq(Seq2SeqSettings(width=8, attention="none"), V, V).double().eval()
    state = network.start(source([[4, 5, 6]]))
    torch.testing.assert_close(state.hidden[-1], state.memory[:, -1])
    assert network.align is None and network.decide is None


# Against the papers' equations, one row and one step at a time

BY_HAND = {
    "sutskever": {"attention": "none", "reverse_source": True},
    "sutskever, lstm": {"attention": "none", "cell": "lstm", "layers": 2, "reverse_source": True},
    "bahdanau": {"attention": "additive", "bidirectional": True},
    "bahdanau, one way": {"attention": "additive", "layers": 2},
    "luong general": {"attention": "general", "bidirectional": True, "layers": 2},
    "luong general, lstm": {"attention": "general", "cell": "lstm", "bidirectional": True},
    "luong dot": {"attention": "dot", "input_feeding": False},
    "luong concat": {"attention": "concat", "bidirectional": True},
    "luong concat, side by side": {"attention": "concat", "input_feeding": False},
    "local-m": {"attention": "dot", "scope": "local-m", "reach": 2, "reverse_source": True},
}


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def cell(s, w, name, x, state):
    """The equations in torch's documentation of GRU and LSTM: the state (h,) or (h, c) after x."""
    x = w[name.format("weight_ih")] @ x + w[name.format("bias_ih")]
    h = w[name.format("weight_hh")] @ state[0] + w[name.format("bias_hh")]
    if s.cell == "gru":
        (xr, xz, xn), (hr, hz, hn) = np.split(x, 3), np.split(h, 3)
        z = sigmoid(xz + hz)
        return ((1 - z) * np.tanh(xn + sigmoid(xr + hr) * hn) + z * state[0],)
    i, f, g, o = np.split(x + h, 4)
    c = sigmoid(f) * state[1] + sigmoid(i) * np.tanh(g)
    return sigmoid(o) * np.tanh(c), c


def one_way(s, w, name, xs):
    """The outputs of a layer that reads xs from the first to the last, and its last state."""
    state, outputs = (np.zeros(s.width),) * (2 if s.cell == "lstm" else 1), []
    for x in xs:
        state = cell(s, w, name, x, state)
        outputs.append(state[0])
    return outputs, state


def read(s, w, xs):
    """What is kept of each place, and the state in which each layer of the writer begins."""
    states = []
    for layer in range(s.layers):
        name = f"reader.layers.{{}}_l{layer}"
        outputs, last = one_way(s, w, name, xs)
        if s.bidirectional:
            back, first = one_way(s, w, name + "_reverse", xs[::-1])
            outputs = [np.concatenate(both) for both in zip(outputs, back[::-1], strict=True)]
            ends = [np.concatenate(both) for both in zip(last, first, strict=True)]
            last = [np.tanh(linear(w, f"bridges.{n}", end)) for n, end in enumerate(ends)]
        xs = outputs
        states.append(last)
    return xs, states


def linear(w, name, x):
    return w[f"{name}.weight"] @ x + w[f"{name}.bias"]


def score(s, w, q, k):
    """Luong et al. 2015, eq. 8; Bahdanau et al. 2015, A.1.2."""
    w = {n.removeprefix("align.score."): one for n, one in w.items() if "align.score" in n}
    match s.attention:
        case "dot":
            return q @ k
        case "general":
            return q @ w["turn.weight"] @ k
        case "additive":
            return w["weigh.weight"][0] @ np.tanh(w["query.weight"] @ q + w["key.weight"] @ k)
        case "concat":
            return w["weigh.weight"][0] @ np.tanh(w["both.weight"] @ np.concatenate([q, k]))


def look(s, w, q, memory, t):
    if s.scope == "local-m":
        memory = memory[max(0, t - s.reach) : t + s.reach + 1]
    parts = np.exp([score(s, w, q, k) for k in memory])
    return sum(part * k for part, k in zip(parts / parts.sum(), memory, strict=True))


def by_hand(s, w, source, target):
    """One source and one target -> logits (T, V)."""
    turn = -1 if s.reverse_source else 1
    memory, states = read(s, w, w["source.table.weight"][source][::turn])
    memory, decided, logits = memory[::turn], np.zeros(s.width), []
    for t, x in enumerate(w["target.table.weight"][target]):
        if s.attention == "additive":  # look first, then step
            seen = look(s, w, states[-1][0], memory, t)
            x = np.concatenate([x, seen])
        elif s.attention != "none" and s.input_feeding:
            x = np.concatenate([x, decided])
        for layer, state in enumerate(states):
            states[layer] = cell(s, w, f"writer.layers.{{}}_l{layer}", x, state)
            x = states[layer][0]
        if s.attention not in ("additive", "none"):  # step first, then look
            seen = look(s, w, x, memory, t)
        if s.attention != "none":
            x = decided = np.tanh(linear(w, "decide", np.concatenate([x, seen])))
        logits.append(w["target.table.weight"] @ x)
    return np.stack(logits)


@pytest.mark.parametrize("kind", BY_HAND)
@torch.no_grad()
def test_logits_are_what_the_equations_say_written_as_loops(kind):
    torch.manual_seed(0)
    s = Seq2SeqSettings(**{"width": 6, **BY_HAND[kind]})
    network = Seq2Seq(s, V, V).double().eval()
    for weight in network.parameters():
        weight.normal_(std=0.6)  # biases too, which begin as zeros
    w = {name: weight.numpy() for name, weight in network.state_dict().items()}
    target = TARGET[:2, :5]
    logits = network(source(SOURCE[:2]), target)  # rows of 5 and of 3
    for row, ids in enumerate(SOURCE[:2]):
        expected = torch.from_numpy(by_hand(s, w, ids, target[row].numpy()))
        torch.testing.assert_close(logits[row], expected, rtol=0, atol=1e-12)


def test_rows_are_turned_around_up_to_their_own_length():
    x, lengths = torch.arange(24).view(2, 4, 3), torch.tensor([4, 2])
    turned = reversed_rows(x, lengths)
    assert turned[0].equal(x[0].flip(0))
    assert turned[1].equal(torch.stack([x[1, 1], x[1, 0], x[1, 2], x[1, 3]]))
    assert reversed_rows(turned, lengths).equal(x)


def test_a_source_that_is_too_long_is_refused():
    network = Seq2Seq(Seq2SeqSettings(width=8, max_length=4), V, V)
    with pytest.raises(ShapeError, match="5 tokens is longer than this model's max_length of 4"):
        network.start(source([[4] * 5]))


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"attention": "none", "scope": "local-m"}, 'scope = "local-m" needs an attention'),
        ({"attention": "dot", "bidirectional": True}, "found 16 and 8: try general or additive"),
        ({"cell": "gru", "projection": 4}, 'projection goes with cell = "lstm" only, found "gru"'),
        ({"cell": "lstm", "projection": 8}, r"projection \(8\) must be smaller than width \(8\)"),
    ],
)
def test_settings_that_do_not_go_together_are_refused(wrong, said):
    with pytest.raises(ValidationError, match=said):
        Seq2SeqSettings(**{"width": 8, **wrong})


@pytest.mark.parametrize("kind", ["sutskever", "bahdanau", "luong dot", "local-p"])
def test_an_honest_network_passes_the_check(kind):
    network = Seq2Seq(Seq2SeqSettings(**{"width": 8, **KINDS[kind]}), V, V)

    def call(network, ids, mask, target, target_mask):
        order = (~mask).int().argsort(dim=1, stable=True)  # padding behind, wherever it stood
        return network(Source(ids.gather(1, order), mask.sum(dim=1)), target)

    report = regard.check(network, vocabulary=V, kind="encoder-decoder", call=call, cases=5)
    assert report.passed, str(report)
