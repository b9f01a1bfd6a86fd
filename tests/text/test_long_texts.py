"""BPE hands long texts to its library in parts. Nobody can tell, but by the time it takes."""

import random
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.config import TokenizerSettings
from regard.text import bpe, fit_tokenizer
from regard.text.bpe import PART, parts
from regard.text.tokenizer import fold

WORDS = [
    "the",
    "cat",
    "don't",
    "naïve",
    "日本",
    "42",
    "...",
    "İ",
    "🙂🙂",
    "a\tb",
    "x\n\ny",
    "\x1c",
    "",
]
KINDS = [(kind, low) for kind in ("bpe", "bytes") for low in (False, True)]


def prose(dice, words):
    return " ".join(dice.choices(WORDS, k=words))


def fitted(kind, lowercase):
    texts = [prose(random.Random(0), 300)]
    return fit_tokenizer(TokenizerSettings(kind=kind, lowercase=lowercase, size=400), texts)


ALL = {pair: fitted(*pair) for pair in KINDS}
each = pytest.mark.parametrize("tokenizer", ALL.values(), ids=[f"{k}-{low}" for k, low in ALL])


@each
@settings(deadline=None, max_examples=40)
@given(seed=st.integers(0, 9999), part=st.integers(30, 400))
def test_the_parts_of_a_text_have_the_ids_of_the_whole(tokenizer, seed, part):
    text = prose(random.Random(seed), 150)
    whole = tokenizer._library.encode(fold(text) if tokenizer.lowercase else text).ids
    with mock.patch.multiple(bpe, PART=part, LONGEST_WORD=min(part, 300)):
        assert len(parts(text)) > 1
        assert tokenizer.ids(text) == tokenizer.encode(text).ids == whole
        assert tokenizer.ids_of(["a", text, "", text]) == [
            tokenizer.ids("a"),
            whole,
            [],
            whole,
        ]


@each
@pytest.mark.parametrize("unit", ["a", " ", "日", "🙂", "\n", "é\u0301", "ab "])
@pytest.mark.parametrize("length", [PART - 1, PART, PART + 1, 2 * PART + 5])
def test_whatever_fills_a_long_text_comes_back_with_offsets_that_cover_it(tokenizer, unit, length):
    text = (unit * length)[:length]
    ids, offsets = tokenizer.encode(text)
    assert ids == tokenizer.ids(text) == tokenizer.ids_of([text])[0]
    reached = 0
    for start, end in offsets:
        assert start <= reached and start < end <= length
        reached = max(reached, end)
    assert reached == length
    if not tokenizer.unknown(text):
        assert tokenizer.decode(ids) == text


@given(text=st.text(st.sampled_from("ab \n日."), min_size=40, max_size=120))
def test_parts_are_the_text_and_none_is_longer_than_it_may_be(text):
    with mock.patch.multiple(bpe, PART=20, LONGEST_WORD=8):
        cut = parts(text)
    assert "".join(cut) == text and all(0 < len(part) <= 20 for part in cut)
    for left, right in zip(cut, cut[1:], strict=False):
        at_a_word = right[0] == " " and left[-1].isalnum()
        assert at_a_word or len(left) == 20


def test_short_texts_are_one_part():
    assert parts("") == [""] and parts("x" * PART) == ["x" * PART]
