import math

import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from regard.config import DecodeSettings
from regard.decode.filters import filter_logits

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


def sampling(**filters):
    return DecodeSettings(**{"temperature": 1.0, **filters})


def filtered(row, **filters):
    log_probs = torch.tensor([row], dtype=torch.float64)
    return filter_logits(log_probs, sampling(**filters))[0].exp().tolist()


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
    settings = sampling(temperature=temperature, top_k=top_k, top_p=top_p, min_p=min_p)
    found = filter_logits(torch.tensor(cut), settings)
    torch.testing.assert_close(found.exp().sum(-1), torch.ones(len(rows), dtype=torch.float64))
    assert (found[:, 0] > -math.inf).all()
    assert (found[:, 0] == found.amax(-1)).all()


def test_without_filters_the_log_probabilities_come_back():
    log_probs = torch.randn(3, 9, dtype=torch.float64).log_softmax(-1)
    torch.testing.assert_close(filter_logits(log_probs, sampling()), log_probs)
    settings = sampling(top_k=50, top_p=1.0, min_p=0.0, typical_p=1.0, repetition_penalty=1.0)
    torch.testing.assert_close(filter_logits(log_probs, settings), log_probs)


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
    kept = filtered([0.0, -60.0], top_k=2, top_p=1.0, min_p=0.0, typical_p=1.0)
    assert kept == pytest.approx([1.0, math.exp(-60)], rel=1e-9, abs=0)


def test_a_min_p_of_one_keeps_the_likeliest_and_its_equals():
    assert filtered([-1.0, 0.0, 0.0, -0.1], min_p=1.0) == [0, 0.5, 0.5, 0]


def test_typical_tokens_are_those_nearest_to_the_expected_surprise():
    row = [math.log(p) for p in (0.6, 0.3, 0.1)]  # surprises 0.51, 1.20 and 2.30; entropy 0.90
    assert filtered(row, typical_p=0.2) == pytest.approx([0, 1, 0])  # not the likeliest
    assert filtered(row, typical_p=0.5) == pytest.approx([2 / 3, 1 / 3, 0])
    assert filtered([0.0] * 4, typical_p=0.5) == pytest.approx([0.5, 0.5, 0, 0])


@patient
@given(rows, st.floats(1e-320, 1))
def test_something_typical_always_stays(row, typical_p):
    kept = filtered(row, typical_p=typical_p)
    assert math.fsum(kept) == pytest.approx(1)
    assert all(p == 0 for p, score in zip(kept, row, strict=True) if score == -math.inf)
