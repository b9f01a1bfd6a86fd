import math

import pytest
import torch

from regard.config import DecodeSettings
from regard.decode.sampling import Sampler
from regard.decode.search import decode, decode_several
from regard.names import START, STOP


@pytest.mark.parametrize("top_k", [None, 4])
def test_tokens_come_out_as_often_as_they_are_likely(fixed, top_k):
    network = fixed([0.1, 0.05, 0.3, 0.05, 0.25, 0.15, 0.07, 0.03])
    settings = DecodeSettings(temperature=1.0, top_k=top_k, max_length=1, seed=1)
    drawn = [
        o.tokens[0] if o.tokens else STOP for o in decode(network, range(5000), 5000, settings)
    ]
    expected = {STOP: 0.3, 4: 0.25, 5: 0.15, 6: 0.07} | ({} if top_k else {7: 0.03})
    share = 5000 / sum(expected.values())
    chi_square = sum((drawn.count(t) - p * share) ** 2 / (p * share) for t, p in expected.items())
    assert set(drawn) == set(expected)
    assert chi_square < 18.5  # 99.9 % quantile, 4 degrees of freedom


def test_successive_tokens_of_a_row_are_drawn_independently(fixed):
    network = fixed([0.0, 0.0, 0.0, 0.0, 0.5, 0.5])
    (output,) = decode(network, [0], 1, DecodeSettings(temperature=1.0, max_length=1000))
    pairs = list(zip(output.tokens, output.tokens[1:], strict=False))
    for pair in [(4, 4), (4, 5), (5, 4), (5, 5)]:
        assert abs(pairs.count(pair) - 250) < 50


def test_the_same_seed_draws_the_same_and_another_seed_something_else(table):
    def outputs(seed):
        settings = DecodeSettings(temperature=1.5, max_length=20, seed=seed)
        return decode(table(stop=-3.0), range(5), 5, settings)

    assert outputs(1) == outputs(1)
    assert outputs(1) != outputs(2)


def test_rows_with_the_same_input_draw_different_outputs(table):
    settings = DecodeSettings(temperature=1.5, max_length=20)
    outputs = decode(table(stop=-3.0), [0] * 10, 10, settings)
    assert len({tuple(output.tokens) for output in outputs}) == 10


def test_a_row_draws_the_same_whoever_is_in_the_batch_with_it(table):
    settings = DecodeSettings(temperature=1.5, max_length=20)
    plain = decode(table(stop=-1.0), [7, 1, 2, 3], 4, settings)
    other = decode(table(stop=-1.0), [8, 1, 9, 10], 4, settings)
    assert plain[1] == other[1]


def test_numbers_make_samples_independent_of_how_batches_are_cut(table):
    settings = DecodeSettings(temperature=1.5, max_length=20)
    whole = decode(table(), range(9), 9, settings)
    backwards = decode(table(), [8, 7, 6], 3, settings, numbers=[8, 7, 6])
    assert backwards == whole[:-4:-1]


def test_a_draw_close_to_one_still_finds_a_possible_token():
    settings = DecodeSettings(temperature=1.0)
    sampler = Sampler(settings, [0])
    sampler.streams[0].random = lambda: 1 - 2**-53
    log_probs = torch.tensor([[-math.inf, 0.3, 0.3, 0.4, -math.inf]]).log_softmax(-1)
    assert sampler(log_probs, [0]).tolist() == [3]
    sampler.streams[0].random = lambda: 0.0
    assert sampler(log_probs, [0]).tolist() == [1]


PENALIZED = {
    "greedy": DecodeSettings(repetition_penalty=1.4, frequency_penalty=0.3, max_length=15),
    "sampling": DecodeSettings(
        temperature=1.2, repetition_penalty=1.4, frequency_penalty=0.3, max_length=15
    ),
}
penalized = pytest.mark.parametrize("settings", PENALIZED.values(), ids=PENALIZED)


def test_greedy_search_with_penalties_takes_the_likeliest_of_what_they_leave(table):
    network, settings, prompt = table(5, stop=-9.0), PENALIZED["greedy"], [4, 4, 6]
    (output,) = decode(network, [9], 1, settings, prompts=[prompt])
    history, score = (9, START), 0.0
    for place, token in enumerate([*output.tokens, *[STOP] * output.finished]):
        said, written = network.log_probs(history).tolist(), output.tokens[:place]
        lower = {
            t: said[t] * (1.4 if t in [*prompt, *written] else 1) - 0.3 * written.count(t)
            for t in (STOP, 4, 5, 6)
        }
        assert token == max(lower, key=lambda t: lower[t])
        history, score = (*history, token), score + said[token]
    assert output.score == pytest.approx(score)  # what the network says, without penalties
    assert len(output.tokens) > 8


def test_a_penalty_makes_greedy_search_say_something_else(fixed):
    network = fixed([0.0, 0.0, 0.1, 0.0, 0.5, 0.25, 0.15])
    said = [
        decode(network, [0], 1, DecodeSettings(max_length=6, **penalty))[0].tokens
        for penalty in ({}, {"frequency_penalty": 1.0}, {"repetition_penalty": 50})
    ]
    assert said == [[4] * 6, [4, 5, 4, 6], [4, 5, 6]]  # STOP was never said before


def test_only_the_repetition_penalty_minds_the_prompt(fixed):
    network = fixed([0.0, 0.0, 0.1, 0.0, 0.5, 0.25, 0.15])

    def first(prompt, **penalty):
        settings = DecodeSettings(max_length=1, **penalty)
        return decode(network, [0], 1, settings, prompts=[prompt])[0].tokens

    assert first([], repetition_penalty=5) == first([6], repetition_penalty=5) == [4]
    assert first([4], repetition_penalty=5) == [5]
    assert first([4, 5, 4], repetition_penalty=5) == [6]
    assert first([4, 4, 4], frequency_penalty=2) == [4]


@penalized
def test_with_penalties_a_row_goes_the_same_way_whoever_is_in_the_batch_with_it(table, settings):
    prompts = [[4 + i % 3] * (i % 4) for i in range(12)]
    together = decode(table(1), range(12), 12, settings, prompts=prompts)
    assert len({len(output.tokens) for output in together}) > 2  # some leave before others
    for i in range(12):
        alone = decode(table(1), [i], 1, settings, numbers=[i], prompts=[prompts[i]])
        assert alone == [together[i]]


def test_each_of_several_samples_remembers_its_own_tokens_and_the_same_prompt(table):
    settings = PENALIZED["sampling"].model_copy(update={"n": 3})
    prompts = [[4], [5, 5], []]
    together = decode_several(table(2, stop=-2.0), range(3), 3, settings, prompts=prompts)
    copies = [i for i in range(3) for _ in range(3)]
    one = settings.model_copy(update={"n": 1})
    each = [prompts[i] for i in copies]
    apart = decode(table(2, stop=-2.0), copies, 9, one, prompts=each)
    assert [output for outputs in together for output in outputs] == apart


@penalized
def test_there_must_be_a_prompt_for_each_row(table, settings):
    with pytest.raises(ValueError, match="zip"):
        decode(table(), range(3), 3, settings, prompts=[[4], [5]])
