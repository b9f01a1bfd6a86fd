"""Kneser-Ney: against the formulas written out with dictionaries, and what callers rely on."""

import math
from collections import Counter

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.numpy import load_file, save_file

from regard.config import DecodeSettings
from regard.decode.search import decode
from regard.errors import ConfigError, DataError, RunError
from regard.models import ngram
from regard.models.ngram import SAFE_DISCOUNTS, NGram, discounts
from regard.names import FIRST_PIECE, PAD, START, STOP, UNKNOWN

patient = settings(deadline=None, max_examples=40)  # a busy machine proves nothing


class Slow:
    """Interpolated modified Kneser-Ney, straight from Chen & Goodman 1999."""

    def __init__(self, ids, vocabulary, order):
        self.vocabulary, self.order = vocabulary, order
        met = Counter()
        for end in range(1, len(ids)):
            for start in range(max(0, end - order + 1), end + 1):
                if STOP not in (gram := tuple(ids[start : end + 1]))[1:-1]:
                    met[gram] += 1
        self.counts = {gram: self.count(gram, met) for gram in met}
        self.discounts = [self.estimate(length) for length in range(1, order + 1)]

    def count(self, gram, met):
        """How often the longest n-grams and those that begin a text; else after how many tokens."""
        if len(gram) == self.order or (len(gram) > 1 and gram[0] == STOP):
            return met[gram]
        return sum((token, *gram) in met for token in range(self.vocabulary))

    def estimate(self, length):
        n = Counter(count for gram, count in self.counts.items() if len(gram) == length)
        if not (n[1] and n[2] and n[3]):
            return {1: 0.5, 2: 1.0, 3: 1.5}
        y = n[1] / (n[1] + 2 * n[2])
        found = {c: c - (c + 1) * y * n[c + 1] / n[c] for c in (1, 2, 3)}
        return found if min(found.values()) > 0 else {1: 0.5, 2: 1.0, 3: 1.5}

    def probability(self, context, token):
        """`context` as long as the order allows, and from the last STOP on."""
        shorter = self.probability(context[1:], token) if context else 1 / (self.vocabulary - 2)
        after = {g[-1]: count for g, count in self.counts.items() if g[:-1] == context}
        if not after:
            return shorter
        discount = {t: self.discounts[len(context)][min(count, 3)] for t, count in after.items()}
        own = after[token] - discount[token] if token in after else 0
        return (own + sum(discount.values()) * shorter) / sum(after.values())

    def losses(self, ids):
        found = []
        for end in range(1, len(ids)):
            context = ids[max(0, end - self.order + 1) : end]
            while STOP in context[1:]:
                context = context[1:]
            found.append(-math.log(self.probability(tuple(context), ids[end])))
        return found


def stream(length, vocabulary, seed=0, stop=0.1):
    """Texts of tokens of which some are frequent, each depending on the one before."""
    dice = np.random.default_rng(seed)
    ids = [STOP]
    while len(ids) < length:
        jump = int(dice.exponential(2))
        ids.append(FIRST_PIECE + (ids[-1] + jump) % (vocabulary - FIRST_PIECE))
        if dice.random() < stop:
            ids.append(STOP)
    return np.array([*ids, STOP])


@pytest.mark.parametrize("order", [1, 2, 3, 4, 6])
@pytest.mark.parametrize(("vocabulary", "length"), [(5, 40), (9, 250), (40, 300)])
def test_it_agrees_with_the_formulas_written_out(order, vocabulary, length):
    ids = stream(length, vocabulary, seed=order)
    unseen = np.array([STOP, UNKNOWN, STOP, STOP, *stream(60, vocabulary, seed=99)])
    model, slow = NGram.fit(ids, vocabulary, order), Slow(ids.tolist(), vocabulary, order)
    for text in (ids, unseen):
        np.testing.assert_allclose(model.losses(text), slow.losses(text.tolist()), rtol=1e-10)


def test_the_formulas_were_put_to_the_test_with_discounts_of_their_own():
    model = NGram.fit(stream(300, 40, seed=3), 40, 3)
    assert all(level.discounts.tolist() != list(SAFE_DISCOUNTS) for level in model.levels[1:])
    slow = Slow(stream(300, 40, seed=3).tolist(), 40, 3)
    for level, expected in zip(model.levels, slow.discounts, strict=True):
        np.testing.assert_allclose(level.discounts, [0, *expected.values()], rtol=1e-12)


@pytest.mark.parametrize(
    "counts",
    [[1, 1, 2], [2, 3, 4], [1, 3, 4], [1, 1, 2, 3, 3, 3], [5, 6]],
    ids=["no 3", "no 1", "no 2", "below zero", "none rare"],
)
def test_where_the_formula_breaks_safe_discounts_stand_in(counts):
    assert discounts(np.array(counts)).tolist() == list(SAFE_DISCOUNTS)


tokens = st.sampled_from([STOP, UNKNOWN, 4, 5, 6])
texts = st.lists(tokens, min_size=2, max_size=40)


@patient
@given(ids=texts, context=st.lists(tokens, max_size=6), order=st.integers(1, 5))
def test_every_distribution_sums_to_one_and_the_losses_are_taken_from_it(ids, context, order):
    model = NGram.fit(np.array(ids), 8, order)
    p = model.distribution(context)
    assert p.shape == (8,)
    assert abs(p.sum() - 1) < 1e-12
    assert p[[PAD, START]].tolist() == [0, 0]
    assert p[STOP:].min() > 0  # 7 was never met
    if context:
        losses = [model.losses(np.array([*context, token]))[-1] for token in range(STOP, 8)]
        np.testing.assert_allclose(losses, -np.log(p[STOP:]), rtol=0, atol=1e-12)


def test_a_large_vocabulary_sums_to_one():
    model = NGram.fit(stream(3000, 5000, seed=1), 5000, 3)
    for context in ([], [STOP], [4], [STOP, 4], [17, 23], [UNKNOWN, UNKNOWN]):
        assert abs(model.distribution(context).sum() - 1) < 1e-12


def test_nothing_before_the_latest_stop_is_seen():
    model = NGram.fit(stream(400, 9), 9, 5)
    for after in ([], [4], [4, 6]):
        here = model.distribution([STOP, *after])
        assert (model.distribution([5, 6, 7, STOP, *after]) == here).all()
    alone = model.losses(np.array([STOP, 4, 5, 4, STOP]))
    assert model.losses(np.array([7, 8, STOP, 4, 5, 4, STOP]))[2:].tolist() == alone.tolist()


def test_the_order_of_the_texts_does_not_matter():
    one, other = [4, 5, 6, 7], [4, 5, 4]
    first = NGram.fit(np.array([STOP, *one, STOP, *other, STOP]), 8, 4)
    second = NGram.fit(np.array([STOP, *other, STOP, *one, STOP]), 8, 4)
    ids = stream(60, 8)
    assert first.losses(ids).tolist() == second.losses(ids).tolist()


def test_a_context_sees_as_far_back_as_the_order_says():
    model = NGram.fit(stream(400, 9), 9, 3)
    assert (model.distribution([4, 5, 6]) == model.distribution([8, 5, 6])).all()
    assert (model.distribution([4, 5, 6]) != model.distribution([4, 8, 6])).any()


def test_an_order_of_one_knows_no_context():
    ids = np.array([STOP, 4, 4, 5, STOP])
    model = NGram.fit(ids, 6, 1)
    # 4 was met twice, 5 and STOP once: discounts of 1, 0.5 and 0.5 go to the 4 tokens alike
    expected = np.array([0, 0, 0.5, 0, 1, 0.5]) / 4 + np.array([0, 0, 1, 1, 1, 1]) / 4 * 2 / 4
    for context in ([], [4], [5, STOP]):
        np.testing.assert_allclose(model.distribution(context), expected, rtol=1e-15)
    np.testing.assert_allclose(model.losses(ids), -np.log(expected[ids[1:]]), rtol=1e-15)


@pytest.mark.parametrize("token", [STOP, 4])
@pytest.mark.parametrize("order", [1, 2, 4])
def test_a_single_token_again_and_again_is_expected_but_not_certain(token, order):
    ids = np.full(30, token)
    model = NGram.fit(ids, 6, order)
    p = model.distribution([token] * 5)
    assert p.argmax() == token
    assert 0 < p[5] < p[token] < 1
    np.testing.assert_allclose(model.losses(ids)[order:], -np.log(p[token]), rtol=1e-12)


def test_texts_shorter_than_the_order_are_no_problem():
    ids = np.array([STOP, 4, STOP, 5, STOP])
    long, enough = NGram.fit(ids, 6, 9), NGram.fit(ids, 6, 4)
    assert long.losses(ids).tolist() == enough.losses(ids).tolist()
    assert long.name == "9-gram, Kneser-Ney"


def test_longer_contexts_help_where_the_text_has_a_rule():
    ids = np.array([STOP, *[4, 5, 4, 6] * 50, STOP])
    means = [NGram.fit(ids, 8, order).losses(ids).mean() for order in (1, 2, 3, 4)]
    assert means == sorted(means, reverse=True)
    assert means[2] < 0.1


@pytest.mark.parametrize("size", [1, 2, 7])
def test_losses_in_pieces_are_the_same(monkeypatch, size):
    ids = stream(50, 9)
    models = [NGram.fit(ids, 9, order) for order in (1, 2, 5)]
    whole = [model.losses(ids).tolist() for model in models]
    monkeypatch.setattr(ngram, "AT_ONCE", size)
    assert [model.losses(ids).tolist() for model in models] == whole


def test_short_streams_have_no_losses():
    model = NGram.fit(stream(50, 9), 9)
    assert model.losses(np.array([], int)).shape == model.losses(np.array([STOP])).shape == (0,)


def test_small_integers_do_not_overflow():
    ids = stream(400, 250)
    small, large = (NGram.fit(ids.astype(kind), 250, 4) for kind in (np.uint8, np.int64))
    assert small.losses(ids.astype(np.uint8)).tolist() == large.losses(ids).tolist()
    wide = NGram.fit(ids + 60_000 * (ids >= FIRST_PIECE), 70_000, 4)  # 70,000 ** 2 > 2 ** 32
    assert [len(level.keys) for level in wide.levels][1:] == [
        len(level.keys) for level in large.levels
    ][1:]


@pytest.mark.parametrize("ids", [[], [STOP]])
def test_nothing_to_learn_from_is_refused(ids):
    with pytest.raises(DataError, match=f"nothing to learn from: found {len(ids)} tokens"):
        NGram.fit(np.array(ids, int), 9)


def test_strange_tokens_and_orders_are_refused():
    model = NGram.fit(stream(50, 9), 9)
    for wrong in (PAD, START, -1, 9, 2**40):
        with pytest.raises(DataError, match=f"ids below 9, found {wrong}. Is"):
            NGram.fit(np.array([STOP, 4, wrong]), 9)
        with pytest.raises(DataError, match=f"found {wrong}"):
            model.losses(np.array([STOP, wrong]))
    with pytest.raises(DataError, match="found 9"):
        model.distribution([9])
    with pytest.raises(ConfigError, match="found order 0: try 3 to 5"):
        NGram.fit(stream(50, 9), 9, order=0)


def test_another_token_may_end_texts():
    ids = stream(300, 9)
    swapped = np.select([ids == STOP, ids == 8], [8, STOP], ids)
    losses = NGram.fit(swapped, 9, 3, stop=8).losses(swapped)
    np.testing.assert_allclose(losses, NGram.fit(ids, 9, 3).losses(ids), rtol=1e-12)


# Writing with it


@pytest.mark.parametrize(
    "how",
    [
        DecodeSettings(max_length=8),
        DecodeSettings(max_length=8, beam=3),
        DecodeSettings(max_length=8, temperature=1.0, top_k=4, seed=2),
    ],
    ids=["greedy", "beam", "sampling"],
)
@pytest.mark.parametrize("order", [1, 2, 4])
def test_decoding_writes_on_and_scores_as_the_losses_say(how, order):
    model = NGram.fit(stream(400, 9), 9, order)
    inputs = [[STOP], [STOP, 4, 5], [7, 6, 5, 4, 8]]
    outputs = decode(model, inputs, len(inputs), how)
    for text, output in zip(inputs, outputs, strict=True):
        written = [*text, *output.tokens, *[STOP] * output.finished]
        losses = model.losses(np.array(written))[len(text) - 1 :]
        assert output.score == pytest.approx(-losses.sum(), abs=1e-9)
    alone = [decode(model, [text], 1, how, numbers=[i])[0] for i, text in enumerate(inputs)]
    assert alone == outputs


def test_greedy_writing_takes_the_likeliest_token():
    model = NGram.fit(np.array([STOP, 4, 5, 6, 7, STOP] * 3), 8, 3)
    output = decode(model, [[STOP]], 1, DecodeSettings(max_length=9))[0]
    assert (output.tokens, output.finished) == ([4, 5, 6, 7], True)


def test_start_is_not_seen_and_rows_are_put_in_another_order():
    model = NGram.fit(stream(400, 9), 9, 3)
    log_probs, state = model.step(model.start([[4, 5], [], [6]]), torch.tensor([START] * 3))
    for row, context in zip(log_probs, ([4, 5], [], [6]), strict=True):
        assert row.exp().numpy() == pytest.approx(model.distribution(context), abs=1e-15)
    assert log_probs[:, [PAD, START]].eq(-torch.inf).all()
    log_probs, _ = model.step(
        model.reorder(state, torch.tensor([2, 0, 0])), torch.tensor([7, 8, 4])
    )
    for row, context in zip(log_probs, ([6, 7], [5, 8], [5, 4]), strict=True):
        assert row.exp().numpy() == pytest.approx(model.distribution(context), abs=1e-15)


# Saving


@pytest.mark.parametrize("order", [1, 3, 7])
def test_a_saved_model_predicts_exactly_as_before(tmp_path, order):
    ids = stream(300, 9)
    model = NGram.fit(ids, 9, order)
    model.save(tmp_path / "deep" / "baseline")
    again = NGram.load(tmp_path / "deep" / "baseline")
    assert again.losses(ids).tolist() == model.losses(ids).tolist()
    assert (again.distribution([4, 5]) == model.distribution([4, 5])).all()
    assert (again.name, again.vocabulary, again.stop) == (f"{order}-gram, Kneser-Ney", 9, STOP)


@pytest.fixture
def saved(tmp_path):
    NGram.fit(stream(300, 9), 9, 3).save(tmp_path)
    return tmp_path


def test_a_file_cut_short_or_missing_is_named(saved):
    path = saved / "ngram.safetensors"
    whole = path.read_bytes()
    for size in (0, 5, 100, len(whole) - 1):
        path.write_bytes(whole[:size])
        with pytest.raises(RunError, match=f"{saved}: not a saved baseline: .*\nCopy it again"):
            NGram.load(saved)
    path.unlink()
    with pytest.raises(RunError, match="not a saved baseline: .*No such file.*ngram.safetensors"):
        NGram.load(saved)


@pytest.mark.parametrize(
    "facts",
    [
        '{"order": 3, "vocabulary": 9}',
        '{"order": 3.0, "vocabulary": 9, "stop": 2}',
        '{"order": 1e999, "vocabulary": 9, "stop": 2}',
        '{"order": 2, "vocabulary": 9, "stop": 2}',
        '{"order": 3, "vocabulary": 10, "stop": 2}',
    ],
    ids=["missing", "float", "infinite", "order", "vocabulary"],
)
def test_facts_that_do_not_fit_are_refused(saved, facts):
    (saved / "ngram.json").write_text(facts)
    with pytest.raises(RunError, match="not a saved baseline"):
        NGram.load(saved)


def test_facts_that_are_no_facts_are_refused(saved):
    (saved / "ngram.json").write_text("{")
    with pytest.raises(RunError, match="ngram.json: damaged or not readable"):
        NGram.load(saved)
    (saved / "ngram.json").unlink()
    with pytest.raises(RunError, match="ngram.json: missing"):
        NGram.load(saved)


DAMAGE = {
    "unsorted": lambda a: {"keys.1": a["keys.1"][::-1].copy()},
    "twice": lambda a: {"keys.1": np.repeat(a["keys.1"][:1], len(a["keys.1"]))},
    "beyond": lambda a: {"keys.2": a["keys.2"] + 10**6},
    "below": lambda a: {"keys.2": a["keys.2"] - 10**6},
    "too few": lambda a: {"counts.1": a["counts.1"][1:]},
    "none": lambda a: {"keys.2": a["keys.2"][:0], "counts.2": a["counts.2"][:0]},
    "zero": lambda a: {"counts.1": a["counts.1"] * 0},
    "nothing": lambda a: {"counts.0": a["counts.0"] * 0},
    "negative": lambda a: {"counts.0": a["counts.0"] - 1},
    "float": lambda a: {"counts.1": a["counts.1"].astype(np.float32)},
    "square": lambda a: {name: a[name].reshape(-1, 1) for name in ("keys.1", "counts.1")},
    "number": lambda a: {"keys.1": np.array(3)},
    "foreign": lambda a: {"weight": np.zeros(3), "bias": np.zeros(3)},
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_arrays_that_do_not_fit_together_are_refused(saved, damage):
    path = saved / "ngram.safetensors"
    arrays = load_file(path)
    save_file(arrays | damage(arrays), path)
    with pytest.raises(RunError, match="not a saved baseline"):
        NGram.load(saved)
    save_file({}, path)
    with pytest.raises(RunError, match="not a saved baseline"):
        NGram.load(saved)
