from itertools import product

import pytest
import torch

from regard.config import DecodeSettings
from regard.decode.beam import beam_search, penalty
from regard.decode.search import decode, decode_several
from regard.names import START, STOP

PIECES = (4, 5, 6)
WIDE = 4**5  # more than all paths of the exhaustive tests


def everything(network, number, limit, alpha, ends=()):
    """Every output that ends in STOP, or in one of `ends`, within the limit, best first:
    (value, tokens, score)."""
    outputs = []
    for length in range(limit + bool(ends)):
        for tokens in product(PIECES, repeat=length):
            ended = tokens[-1:] and tokens[-1] in ends
            if set(tokens[:-1]) & set(ends) or (length == limit and not ended):
                continue
            history, score = (number, START), 0.0
            for token in (*tokens, *([] if ended else [STOP])):
                score += network.log_probs(history)[token].item()
                history = (*history, token)
            outputs.append((score / ((6 + length) / 6) ** alpha, list(tokens), score))
    return sorted(outputs, key=lambda output: -output[0])


@pytest.mark.parametrize("alpha", [0.0, 0.6, 1.0, 2.5])
@pytest.mark.parametrize("stop", [-2.0, 0.0, 2.0])
@pytest.mark.parametrize("seed", range(3))
def test_a_beam_that_is_wide_enough_equals_exhaustive_search(table, seed, stop, alpha):
    network = table(seed, stop=stop)
    settings = DecodeSettings(beam=WIDE, length_penalty=alpha, max_length=5)
    for best in (1, 4):
        found = beam_search(network, range(3), 3, settings, best=best)
        for number, outputs in enumerate(found):
            truth = everything(network, number, 5, alpha)[:best]
            assert [output.tokens for output in outputs] == [tokens for _, tokens, _ in truth]
            scores = [score for _, _, score in truth]
            assert [output.score for output in outputs] == pytest.approx(scores, abs=1e-12)
            assert all(output.finished for output in outputs)


@pytest.mark.parametrize("alpha", [0.0, 0.6, 2.5])
@pytest.mark.parametrize("seed", range(3))
def test_a_wide_beam_equals_exhaustive_search_where_who_is_asked_ends_outputs(table, seed, alpha):
    network = table(seed, stop=-1.0)
    settings = DecodeSettings(beam=WIDE, length_penalty=alpha, max_length=4)
    ends = {0: (6,), 1: (4, 5), 2: (4,)}  # of each input
    found = beam_search(
        network, range(3), 3, settings, best=4, done=lambda row, tokens: tokens[-1] in ends[row]
    )
    for number, outputs in enumerate(found):
        truth = everything(network, number, 4, alpha, ends[number])[:4]
        assert [output.tokens for output in outputs] == [tokens for _, tokens, _ in truth]
        scores = [score for _, _, score in truth]
        assert [output.score for output in outputs] == pytest.approx(scores, abs=1e-12)
        assert all(output.finished for output in outputs)


@pytest.mark.parametrize("seed", range(3))
def test_a_beam_of_one_asks_as_greedy_search_does(table, seed):
    def done(row, tokens):
        return row % 2 == 0 and 6 in tokens

    settings = DecodeSettings(max_length=9)
    network = table(seed, stop=-2.0)
    found = beam_search(network, range(30), 30, settings, done=done)
    assert found == decode_several(network, range(30), 30, settings, done=done)
    assert any(output.tokens[-1:] == [6] for (output,) in found[::2])
    assert any(6 in output.tokens[:-1] for (output,) in found[1::2])


@pytest.mark.parametrize("alpha", [0.0, 1.0])
@pytest.mark.parametrize("seed", range(5))
def test_a_beam_of_one_is_greedy_search(table, seed, alpha):
    greedy = DecodeSettings(max_length=9)
    settings = greedy.model_copy(update={"length_penalty": alpha})
    found = beam_search(table(seed), range(40), 40, settings)
    assert [output for (output,) in found] == decode(table(seed), range(40), 40, greedy)


def test_a_beam_of_one_is_greedy_search_on_equals_too(fixed):
    for probabilities in ([0, 0, 0.25, 0, 0.25, 0.25, 0.25], [0.4, 0, 0.1, 0, 0.2, 0.2, 0.1]):
        settings = DecodeSettings(max_length=4)
        found = beam_search(fixed(probabilities), [0], 1, settings)
        assert found[0] == decode(fixed(probabilities), [0], 1, settings)


def test_of_equals_the_earlier_path_and_then_the_lower_token_win(fixed):
    settings = DecodeSettings(beam=4, max_length=2, length_penalty=0.0)
    network = fixed([0.0, 0.0, 0.1, 0.0] + [0.9 / 5] * 5)  # five pieces, all alike
    (outputs,) = beam_search(network, [0], 1, settings, best=9)
    assert [output.tokens for output in outputs] == [[4, 4], [4, 5], [4, 6], [4, 7]]


def test_a_batch_searches_as_each_of_its_sentences_alone(table):
    settings = DecodeSettings(beam=4, max_length=8)
    together = beam_search(table(6), range(25), 25, settings, best=3)
    assert together == [beam_search(table(6), [i], 1, settings, best=3)[0] for i in range(25)]


@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_a_wider_beam_finds_outputs_of_higher_value_on_the_whole(table, alpha):
    def total(beam):
        settings = DecodeSettings(beam=beam, length_penalty=alpha, max_length=7)
        outputs = decode(table(0, stop=-1.0), range(30), 30, settings)
        return sum(o.score / penalty(len(o.tokens) + o.finished, alpha) for o in outputs)

    assert total(2) < total(8) <= total(32)


def test_finished_outputs_come_before_those_the_limit_cut_short(table):
    settings = DecodeSettings(beam=WIDE, length_penalty=0.6, max_length=3)
    (outputs,) = beam_search(table(1, stop=-9.0), [0], 1, settings, best=WIDE)
    finished = [output.finished for output in outputs]
    assert finished == [True] * (1 + 3 + 9) + [False] * 27
    unfinished = [output.score for output in outputs[13:]]
    assert unfinished == sorted(unfinished, reverse=True)


def test_a_sentence_leaves_when_no_live_path_can_win_any_more(fixed):
    network = fixed([0.0, 0.0, 0.9, 0.0, 0.06, 0.04])
    sizes, step = [], network.step
    network.step = lambda state, tokens: sizes.append(state) or step(state, tokens)
    settings = DecodeSettings(beam=3, length_penalty=0.0, max_length=50)
    decode(network, range(7), 7, settings)
    assert sizes == [7]  # STOP at once has 0.9, every other output less than 0.1
    sizes.clear()
    beam_search(network, range(7), 7, settings, best=2)
    assert sizes == [7, 14]  # the runner-up needs a second step: 0.06 * 0.9
    sizes.clear()
    network.log_probs = torch.tensor([0.0, 0.0, 0.5, 0.0, 0.5, 0.0]).log()
    decode(network, range(7), 7, settings)
    assert sizes == [7]  # to draw level is not to win


def test_a_live_path_that_a_long_output_could_still_save_is_searched_on():
    class Late:
        """STOP now has 0.5; the other way costs 0.4 once, and then nothing for 30 tokens."""

        def start(self, inputs):
            return 0

        def step(self, state, tokens):
            first, last = [0, 0, 0.5, 0, 0.4, 0.1], [0, 0, 1.0, 0, 0, 0]
            row = first if state == 0 else last if state == 30 else [0, 0, 0, 0, 1.0, 0]
            return torch.tensor(row).log().expand(len(tokens), -1), state + 1

        def reorder(self, state, rows):
            return state

    settings = DecodeSettings(beam=2, length_penalty=1.0, max_length=40)
    assert decode(Late(), [0], 1, settings)[0].tokens == [4] * 30
    short = settings.model_copy(update={"length_penalty": 0.0})
    assert decode(Late(), [0], 1, short)[0].tokens == []


def test_a_batch_never_holds_more_rows_than_live_paths(table):
    network = table(8)
    decode(network, range(10), 10, DecodeSettings(beam=3, max_length=10))
    assert network.sizes[0] == 10  # a path each, not three copies of it
    assert max(network.sizes) <= 30 and network.sizes[-1] < 30
