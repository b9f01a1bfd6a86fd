"""How language models are scored: with what context, by which bytes, and on whose text."""

import numpy as np
import pytest
import torch

from regard.config import TokenizerSettings
from regard.errors import ConfigError
from regard.models.recurrent import RecurrentNetwork
from regard.run import Run, compare
from regard.shapes import RecurrentSettings
from regard.tasks import language_model, memorised, text_scores
from regard.tasks.text_data import tokens_of
from regard.tasks.text_scores import Context, guess
from regard.text import fit_tokenizer

WORDS = {"tokens": {"kind": "word", "size": 300}}


# With what context


@pytest.fixture
def network():
    torch.manual_seed(0)
    return RecurrentNetwork(RecurrentSettings(cell="lstm", width=8, layers=2), 20).double()


@torch.no_grad()
def in_one_go(network, row):
    ids = torch.from_numpy(row)[None]
    logs = network(ids[:, :-1]).log_softmax(-1)[0]
    return -logs.gather(1, ids[0, 1:, None])[:, 0].numpy()


@pytest.mark.parametrize(("count", "streams"), [(47, 2), (64, 4), (71, 4), (300, 8)])
def test_a_network_that_reads_on_begins_as_many_streams_as_it_says(network, count, streams):
    row = np.random.default_rng(0).integers(4, 20, size=count + 1)
    context = Context(4, None, across=True)
    assert context.name(count) == f"all-before-in-{streams}-streams-that-begin-empty"
    each = count // streams
    cuts = [*range(0, streams * each, each), count]
    parts = [row[a : b + 1] for a, b in zip(cuts, cuts[1:], strict=False)]
    expected = np.concatenate([in_one_go(network, part) for part in parts])
    np.testing.assert_allclose(guess(network, row, context).losses, expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize("stride", [4, 3])
def test_with_a_stride_every_window_begins_with_nothing(network, stride):
    row = np.random.default_rng(0).integers(4, 20, size=30)
    expected, done = [], 0
    for start in range(0, 29 - 4 + stride, stride):
        losses = in_one_go(network, row[start : start + 5])
        expected += losses[done - start :].tolist()
        done = start + len(losses)
    found = guess(network, row, Context(4, stride, across=True)).losses
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)


def test_a_run_can_be_scored_both_ways(language_run):
    run = language_run("rnn")
    read_on, windows = run.evaluate(), run.evaluate(stride=16)
    assert "all-before-in-6-streams" in read_on["scores"]["loss"]["signature"]
    assert "windows-of-16-every-16" in windows["scores"]["loss"]["signature"]
    assert read_on["scores"]["loss"]["value"] != windows["scores"]["loss"]["value"]
    with pytest.raises(ConfigError, match="expected 1 to 16"):
        run.evaluate(stride=17)


@pytest.mark.parametrize("stride", [None, 4])
def test_the_scores_of_a_large_vocabulary_are_made_in_parts(network, monkeypatch, stride):
    row = np.random.default_rng(0).integers(4, 20, size=200)
    context, seen = Context(4, stride, across=True), []
    whole = guess(network, row, context).losses
    monkeypatch.setattr(text_scores, "SCORES_AT_ONCE", 20 * 8)
    network.judge.register_forward_hook(lambda judge, given, scores: seen.append(scores.numel()))
    np.testing.assert_allclose(guess(network, row, context).losses, whole, rtol=0, atol=1e-9)
    assert max(seen) <= 20 * 8


# By which bytes


@pytest.mark.parametrize("kind", ["character", "bytes", "bpe", "word"])
def test_bytes_of_tokens_add_up_to_the_text_and_what_loses_some_of_it_is_told(kind):
    texts = ["To be, or not to be: that is the question.", "Ÿes – 24 €", "a  b"] * 3
    tokens = tokens_of(texts, fit_tokenizer(TokenizerSettings(kind=kind, size=300), texts))
    assert tokens.sizes().sum() == pytest.approx(tokens.bytes)
    assert tokens.lossy is (kind == "word")
    if not tokens.lossy:
        assert set(tokens.sizes().tolist()) <= set(range(20)), "as they are, not shared out"


@pytest.mark.parametrize(
    "settings", [{"kind": "character", "lowercase": True}, {"kind": "character", "min_count": 3}]
)
def test_folded_capitals_and_unknown_letters_are_lost(settings):
    texts = ["aaa Bbb ccc x"]
    assert tokens_of(texts, fit_tokenizer(TokenizerSettings(**settings), texts)).lossy


def test_bits_per_byte_are_not_compared_where_text_was_lost(language_run):
    letters, words, read_on = language_run(), language_run(**WORDS), language_run("rnn")
    found = compare(letters, words)
    assert not found["scores"]
    assert "Bits per byte are left out: the tokens of the second lose" in found["notes"][-1]
    same = compare(words, words)
    assert {"loss", "perplexity", "token_accuracy"} == set(same["scores"])
    other = compare(letters, read_on)
    assert "bits_per_byte" in other["scores"]
    assert "windows-of-16-every-16, and all-before-in-6-streams" in other["notes"][-1]


# On whose text


def test_a_text_that_was_trained_on_is_noticed(language_run, language_text, tmp_path):
    run, new, part = language_run(), tmp_path / "new.txt", tmp_path / "part.txt"
    new.write_text("Some other words about a quite different matter, said here once.\n" * 5)
    part.write_text("".join(language_text.read_text().splitlines(keepends=True)[10:40]))
    assert run.evaluate(language_text)["in_training"] == 1
    assert run.evaluate(part)["in_training"] == 1
    assert run.evaluate(new)["in_training"] == run.evaluate()["in_training"] == 0
    assert compare(run, run, language_text)["in_training"] == {"a": 1, "b": 1}


def test_a_run_that_kept_nothing_of_its_text_says_that_it_does_not_know(language_run, tmp_path):
    run = Run.load(language_run().folder)
    run.baselines()["ngram"].seen = None
    found = run.evaluate()
    assert "in_training" not in found and found["may_be_in_training"] == 1
    assert compare(run, run)["in_training"] == {"a": None, "b": None}


def test_a_baseline_of_a_part_of_the_text_says_so_also_when_it_is_loaded(
    language_run, monkeypatch, tmp_path
):
    run = language_run()
    train = run.task.read(run.recipe).train
    monkeypatch.setattr(language_model, "COUNTED", 1000)
    some = run.task.baselines(train)["ngram"]
    some.save(tmp_path / "ngram")
    assert some.name == "3-gram, Kneser-Ney, of the first 1,000 tokens"
    assert run.task.load_baselines(tmp_path)["ngram"].name == some.name
    assert run.baselines()["ngram"].name == "3-gram, Kneser-Ney"


@pytest.mark.parametrize("rest", [1, 24, 25, 30, 48, 49, 60])
def test_a_text_that_is_longer_than_the_last_part_is_not_in_it(monkeypatch, rest):
    monkeypatch.setattr(memorised, "AT_ONCE", 100)
    row = np.full(100 + rest, 7)
    asked = [np.full(50, 7), np.array([*[7] * 49, 8])]
    assert memorised.contained(row, asked) == [True, False]
