import math

import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from regard.config import DecodeSettings
from regard.decode.sampling import Sampler, filter_logits
from regard.decode.search import decode
from regard.names import STOP

patient = settings(deadline=None, max_examples=60)  # a busy machine proves nothing

rows = st.lists(
    st.integers(-40, 0).map(lambda n: n / 8) | st.just(-math.inf), min_size=2, max_size=12
).filter(lambda row: max(row) > -math.inf)
temperatures = st.sampled_from([0.05, 0.5, 1.0, 1.7, 10.0])


def normal(probs):
    return [p / math.fsum(probs) for p in probs]


def after_temperature(row, temperature):
    return normal([math.exp((x - max(row)) / temperature) for x in row])


def after_top_k(probs, k):
    least = sorted(probs, reverse=True)[min(k, len(probs)) - 1]
    return normal([p if p >= least else 0.0 for p in probs])


def after_top_p(probs, top_p):
    kept, total = [0.0] * len(probs), 0.0
    for i in sorted(range(len(probs)), key=lambda i: -probs[i]):
        assume(abs(total - top_p) > 1e-9)  # nearer, and rounding decides
        if total >= top_p:
            break
        kept[i], total = probs[i], total + probs[i]
    return normal(kept)


def after_min_p(probs, min_p):
    assume(all(abs(p - min_p * max(probs)) > 1e-9 or p == max(probs) for p in probs if p))
    return normal([p if p >= min_p * max(probs) else 0.0 for p in probs])


def filtered(row, **filters):
    return filter_logits(torch.tensor([row], dtype=torch.float64), **filters)[0].exp().tolist()


@patient
@given(
    rows,
    temperatures,
    st.none() | st.integers(1, 15),
    st.none() | st.floats(0.01, 0.99),
    st.none() | st.floats(0.01, 1),
)
def test_filters_agree_with_a_plain_reference(row, temperature, top_k, top_p, min_p):
    probs = after_temperature(row, temperature)
    if top_k:
        probs = after_top_k(probs, top_k)
    if top_p:
        probs = after_top_p(probs, top_p)
    if min_p:
        probs = after_min_p(probs, min_p)
    found = filtered(row, temperature=temperature, top_k=top_k, top_p=top_p, min_p=min_p)
    assert found == pytest.approx(probs, abs=1e-9)
    assert [p > 0 for p in found] == [p > 0 for p in probs]


@patient
@given(
    st.lists(rows, min_size=2, max_size=4),
    st.floats(1e-320, 1e6),
    st.integers(1, 15),
    st.floats(1e-320, 1),
    st.floats(0, 1),
)
def test_whatever_the_filters_the_likeliest_stays_and_the_rest_adds_up_to_one(
    rows, temperature, top_k, top_p, min_p
):
    width = min(len(row) for row in rows)
    cut = [[-0.7, *(x - 0.7 for x in row[: width - 1])] for row in rows]
    found = filter_logits(
        torch.tensor(cut), temperature=temperature, top_k=top_k, top_p=top_p, min_p=min_p
    )
    torch.testing.assert_close(found.exp().sum(-1), torch.ones(len(rows), dtype=torch.float64))
    assert (found[:, 0] > -math.inf).all()
    assert (found[:, 0] == found.amax(-1)).all()


def test_without_filters_the_log_probabilities_come_back():
    log_probs = torch.randn(3, 9, dtype=torch.float64).log_softmax(-1)
    torch.testing.assert_close(filter_logits(log_probs), log_probs)
    torch.testing.assert_close(filter_logits(log_probs, top_k=50, top_p=1.0, min_p=0.0), log_probs)


def test_tokens_as_likely_as_the_kth_all_stay():
    assert filtered([0.0, -1.0, -1.0, -1.0, -2.0], top_k=2)[1:4] == pytest.approx(
        [1 / (math.e + 3)] * 3
    )
    assert filtered([0.0, -1.0, -1.0, -1.0, -2.0], top_k=2)[4] == 0


def test_a_nucleus_takes_the_lower_token_of_equals():
    assert filtered([0.0] * 4, top_p=0.5) == pytest.approx([0.5, 0.5, 0, 0])
    assert filtered([0.0] * 4, top_p=0.51) == pytest.approx([1 / 3, 1 / 3, 1 / 3, 0])
    many = filtered([0.0] * 4096, top_p=0.5)  # exact in binary
    assert [p > 0 for p in many] == [True] * 2048 + [False] * 2048


def test_filters_that_ask_for_all_keep_the_unlikeliest_too():
    kept = filtered([0.0, -60.0], top_k=2, top_p=1.0, min_p=0.0)
    assert kept == pytest.approx([1.0, math.exp(-60)], rel=1e-9, abs=0)


def test_a_min_p_of_one_keeps_the_likeliest_and_its_equals():
    assert filtered([-1.0, 0.0, 0.0, -0.1], min_p=1.0) == [0, 0.5, 0.5, 0]


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
