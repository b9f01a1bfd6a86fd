"""Text that grows: what is told is what the whole decodes to, and never more than is sure."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.config import TokenizerSettings
from regard.text import fit_tokenizer
from regard.text.growing import Growing, first_stop

TEXTS = [
    "the cat sat on the mat.",
    "Ein Bär fraß Öl 🐻 und 漢字.",
    "  two  blanks\n\nand lines\n",
] * 3
KINDS = {
    kind: fit_tokenizer(TokenizerSettings(kind=kind, size=320), TEXTS)
    for kind in ("character", "word", "wordpunct", "bpe", "bytes", "wordpiece")
}


def told(tokenizer, tokens, stops=()):
    growing = Growing(tokenizer, stops)
    pieces = []
    for token in tokens:
        pieces.append(growing.add(token))
        if growing.ended:
            break
    return [*pieces, growing.close()]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("text", TEXTS[:3])
def test_the_pieces_are_the_text(kind, text):
    tokenizer = KINDS[kind]
    tokens = tokenizer.ids(text)
    assert "".join(told(tokenizer, tokens)) == tokenizer.decode(tokens)


@settings(max_examples=60)
@given(data=st.data())
def test_any_tokens_are_told_as_they_decode(data):
    tokenizer = KINDS[data.draw(st.sampled_from(["character", "word", "bytes"]))]
    ids = st.integers(4, tokenizer.size - 1)
    tokens = data.draw(st.lists(ids, max_size=20))
    assert "".join(told(tokenizer, tokens)) == tokenizer.decode(tokens)


@pytest.mark.parametrize("kind", ["character", "bytes"])
@pytest.mark.parametrize("stop", ["t", "at", "cat sat", ".", "never"])
def test_it_ends_before_a_stop_that_spans_tokens_and_tells_no_part_of_it(kind, stop):
    tokenizer, text = KINDS[kind], TEXTS[0]
    pieces = told(tokenizer, tokenizer.ids(text), [stop])
    assert "".join(pieces) == text[: first_stop(text, [stop])]
    for number in range(len(pieces)):
        assert text.startswith("".join(pieces[:number]))


def test_half_a_character_waits_for_the_rest():
    tokenizer = fit_tokenizer(TokenizerSettings(kind="bytes", size=300), ["abc"])
    tokens = tokenizer.ids("ä🐻")
    growing = Growing(tokenizer)
    pieces = [growing.add(token) for token in tokens]
    assert len(tokens) == 6 and pieces == ["", "ä", "", "", "", "🐻"]
    cut = Growing(tokenizer)
    assert [cut.add(token) for token in tokens[:3]] == ["", "ä", ""] and cut.close() == "�"
