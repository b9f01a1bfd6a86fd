from dataclasses import replace

import pytest
import torch

from regard.config import DecodeSettings
from regard.decode.search import decode, decode_several
from regard.errors import ShapeError, TrainingError
from regard.names import PAD, START, STOP, UNKNOWN

WAYS = {
    "greedy": DecodeSettings(max_length=12),
    "sampling": DecodeSettings(temperature=1.3, top_k=5, top_p=0.95, max_length=12, seed=4),
    "beam": DecodeSettings(beam=3, max_length=12),
    "penalized": DecodeSettings(repetition_penalty=1.5, frequency_penalty=0.5, max_length=12),
}
every_way = pytest.mark.parametrize("settings", WAYS.values(), ids=WAYS)


def score_of(network, number, output):
    """The sum of log-probabilities along an output, straight from the table."""
    history, total = (number, START), 0.0
    for token in [*output.tokens, *[STOP] * output.finished]:
        total += network.log_probs(history)[token].item()
        history = (*history, token)
    return total


@every_way
@pytest.mark.parametrize("seed", range(5))
def test_a_batch_decodes_as_each_of_its_rows_alone(table, settings, seed):
    together = decode(table(seed), range(20), 20, settings)
    alone = [decode(table(seed), [i], 1, settings, numbers=[i])[0] for i in range(20)]
    assert together == alone


@every_way
def test_the_score_is_the_log_probability_of_the_output(table, settings):
    network = table(1)
    outputs = decode(network, range(20), 20, settings)
    for number, output in enumerate(outputs):
        assert output.score == pytest.approx(score_of(network, number, output), abs=1e-12)


@every_way
def test_specials_never_come_out_even_when_they_are_the_likeliest(fixed, settings):
    network = fixed([0.3, 0.3, 0.05, 0.3, 0.02, 0.03])
    for output in decode(network, range(50), 50, settings):
        assert not {PAD, START, STOP, UNKNOWN} & set(output.tokens)


@every_way
def test_the_length_limit_ends_an_output_and_says_so(fixed, settings):
    network = fixed([0.1, 0.1, 0.0, 0.1, 0.5, 0.2])
    for output in decode(network, range(4), 4, settings):
        assert len(output.tokens) == settings.max_length
        assert not output.finished


@every_way
def test_stop_counts_towards_the_limit(table, settings):
    lengths = set()
    for output in decode(table(2), range(100), 100, settings):
        lengths.add(len(output.tokens) + output.finished)
        assert output.finished or len(output.tokens) == settings.max_length
    assert max(lengths) <= settings.max_length and len(lengths) > 2


@every_way
def test_no_inputs_give_no_outputs_without_asking_the_network(settings):
    assert decode(None, [], 0, settings) == []


@every_way
def test_decoding_leaves_no_gradients(settings):
    weights = torch.randn(7, requires_grad=True, dtype=torch.float64)

    class Learner:
        def start(self, inputs):
            return ()

        def step(self, state, tokens):
            log_probs = weights.log_softmax(dim=0).expand(len(tokens), -1)
            assert not log_probs.requires_grad
            return log_probs, state

        def reorder(self, state, rows):
            return state

    assert len(decode(Learner(), range(3), 3, settings)) == 3


@every_way
def test_the_network_s_own_tensors_are_left_alone(fixed, settings):
    network = fixed([0.1, 0.2, 0.3, 0.1, 0.1, 0.2])
    before = network.log_probs.clone()
    decode(network, range(3), 3, settings)
    assert torch.equal(network.log_probs, before)


@pytest.mark.parametrize("way", ["greedy", "sampling", "penalized"])
def test_rows_leave_the_batch_as_soon_as_they_stop(table, way):
    network = table(3, stop=1.0)
    outputs = decode(network, range(30), 30, WAYS[way])
    steps = [len(output.tokens) + output.finished for output in outputs]
    assert network.sizes == [sum(s > t for s in steps) for t in range(max(steps))]


def test_greedy_takes_the_likeliest_allowed_token_each_time(table):
    network = table(4)
    (output,) = decode(network, [9], 1, DecodeSettings(max_length=6))
    history = (9, START)
    for token in [*output.tokens, *[STOP] * output.finished]:
        allowed = network.log_probs(history)[[STOP, 4, 5, 6]]
        assert token == [STOP, 4, 5, 6][allowed.argmax()]
        history = (*history, token)


@every_way
@pytest.mark.parametrize("broken", [float("nan"), 0.0], ids=["NaN", "zero"])
def test_a_network_that_can_not_choose_is_an_error_not_an_empty_output(fixed, settings, broken):
    network = fixed([0.5, 0.3, broken, 0.2, broken, broken])
    with pytest.raises(TrainingError, match="can not choose a next token.*lower train.rate"):
        decode(network, range(2), 2, settings)


@every_way
def test_a_network_with_the_wrong_number_of_rows_is_told_so(fixed, settings):
    with pytest.raises(ShapeError, match=r"shape \(3, vocabulary\), found \(2, 6\)"):
        network = fixed([1 / 6] * 6)
        network.step = lambda state, tokens: (network.log_probs.expand(2, -1), state)
        decode(network, range(3), 3, settings)


def test_n_samples_are_different_streams_and_the_first_rows_do_not_depend_on_the_batch(table):
    settings = DecodeSettings(temperature=1.0, n=4, max_length=12)
    together = decode_several(table(3, stop=-2.0), range(6), 6, settings)
    assert [len(found) for found in together] == [4] * 6
    assert any(len({tuple(o.tokens) for o in found}) > 1 for found in together)
    alone = decode_several(table(3, stop=-2.0), [5], 1, settings, numbers=[5])
    assert alone[0] == together[5]


def test_n_outputs_of_a_beam_are_ranked_and_begin_with_the_best(table):
    several = decode_several(table(4), range(5), 5, DecodeSettings(beam=4, n=3, max_length=8))
    best = decode(table(4), range(5), 5, DecodeSettings(beam=4, max_length=8))
    assert [found[0] for found in several] == best
    assert all(len({tuple(o.tokens) for o in found}) == len(found) == 3 for found in several)


# Ends that the caller decides on


@pytest.mark.parametrize("way", ["greedy", "sampling", "penalized"])
def test_who_is_asked_can_end_an_output_and_the_other_rows_go_on(table, way):
    def done(row, tokens):
        return row % 2 == 1 and 6 in tokens

    free = decode(table(3, stop=-3.0), range(20), 20, WAYS[way])
    network = table(3, stop=-3.0)
    ended = decode_several(network, range(20), 20, WAYS[way], done=done)
    for row, (before, (after,)) in enumerate(zip(free, ended, strict=True)):
        if done(row, before.tokens):
            assert (
                after.tokens == before.tokens[: before.tokens.index(6) + 1]
            )  # kept, for the asker
            assert after.finished
            without_stop = replace(after, finished=False)
            assert after.score == pytest.approx(score_of(network, row, without_stop))
        else:
            assert after == before
    steps = [
        len(output.tokens) + (output.finished and not done(row, output.tokens))
        for row, (output,) in enumerate(ended)
    ]
    assert network.sizes == [sum(s > t for s in steps) for t in range(max(steps))]
    assert len([1 for row, output in enumerate(free) if done(row, output.tokens)]) > 3


@pytest.mark.parametrize("beam", [1, 2])
@pytest.mark.parametrize(("wanted", "finished"), [(3, True), (4, False)])
def test_an_output_that_is_ended_at_the_length_limit_is_finished(fixed, wanted, finished, beam):
    network = fixed([0.0, 0.0, 0.0, 0.0, 0.9, 0.1])
    settings = DecodeSettings(max_length=3, beam=beam)
    ((output,),) = decode_several(
        network, [0], 1, settings, done=lambda row, tokens: len(tokens) == wanted
    )
    assert output.tokens == [4] * 3 and output.finished == finished


def test_every_token_but_stop_is_asked_about_by_the_number_of_its_input(table):
    asked = []

    def done(row, tokens):
        asked.append((row, tokens[-1]))
        return False

    settings = DecodeSettings(temperature=1.0, n=2, max_length=12)
    found = decode_several(table(2, stop=-1.0), range(3), 3, settings, done=done)
    assert found == decode_several(table(2, stop=-1.0), range(3), 3, settings)
    wanted = [(row, t) for row in range(3) for output in found[row] for t in output.tokens]
    assert sorted(asked) == sorted(wanted) and {row for row, _ in asked} == {0, 1, 2}
