"""What holds for every tokenizer, whatever its kind, and the room's front door."""

import json
import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.config import TokenizerSettings
from regard.errors import RunError, TextError
from regard.names import FIRST_PIECE, PAD, SPECIALS, START, STOP, UNKNOWN
from regard.text import TOKENIZERS, fit_tokenizer, load_tokenizer
from regard.text.symbols import Symbols
from regard.text.tokenizer import MARKS, fold, origins, require_utf8, symbol, visible
from regard.text.wordpiece import WordPiece

ROOT = Path(__file__).parents[2]
TEXTS = ["The cat sat.", "the café: 日本語 🙂🙂", "İstanbul <stop> <|endoftext|>", "ΟΔΟΣ οδος"]
KINDS = list(TOKENIZERS)
relaxed = settings(deadline=None, max_examples=25)  # for each of ten tokenizers
anything = st.text(max_size=30) | st.lists(
    st.sampled_from("aİΣß🙂é \t\n\x1c\u2028<#日▁"), max_size=12
).map("".join)
# Half characters are so few among all that they would hardly ever be drawn.
halves = st.sampled_from(["", "\ud800", "\udc80", "\udfff"])
with_halves = st.tuples(anything, halves, anything).map("".join)


def fitted(kind, lowercase=False, texts=TEXTS):
    return fit_tokenizer(TokenizerSettings(kind=kind, lowercase=lowercase, size=300), texts)


ALL = {(kind, low): fitted(kind, low) for kind in KINDS for low in (False, True)}
each_tokenizer = pytest.mark.parametrize(
    "tokenizer", ALL.values(), ids=[kind + "-lowercase" * low for kind, low in ALL]
)


@each_tokenizer
@relaxed
@given(text=anything)
def test_the_fast_ids_are_those_of_the_full_encoding(tokenizer, text):
    ids, offsets = tokenizer.encode(text)
    assert tokenizer.ids(text) == ids
    assert len(ids) == len(offsets)


@each_tokenizer
@relaxed
@given(texts=st.lists(anything, max_size=4))
def test_many_texts_at_once_get_the_ids_that_each_gets_alone(tokenizer, texts):
    assert tokenizer.ids_of(texts) == [tokenizer.ids(text) for text in texts]


@each_tokenizer
@relaxed
@given(text=anything)
def test_ids_fit_the_vocabulary_and_no_text_can_become_pad_start_or_stop(tokenizer, text):
    for i in tokenizer.ids("<pad><start><stop><unknown> <stop> <|endoftext|> " + text):
        assert UNKNOWN <= i < tokenizer.size


@each_tokenizer
@relaxed
@given(text=anything)
def test_offsets_cut_out_of_the_typed_text_what_the_piece_stands_for(tokenizer, text):
    whole = 0
    for i, (start, end) in zip(*tokenizer.encode(text), strict=True):
        assert 0 <= start < end <= len(text)
        typed = fold(text[start:end]) if tokenizer.lowercase else text[start:end]
        piece = tokenizer.decode([i])
        if "\N{REPLACEMENT CHARACTER}" not in piece:  # neither unknown nor part of a character
            assert piece in typed if "İ" in text[start:end] else piece == typed
        assert text[whole:start].strip() == ""  # only blanks are left out
        whole = max(whole, end)
    assert text[whole:].isspace() or whole == len(text)


@each_tokenizer
@relaxed
@given(text=anything)
def test_offsets_go_from_left_to_right_and_share_a_character_only_where_it_is_cut(tokenizer, text):
    offsets = tokenizer.encode(text).offsets
    assert offsets == sorted(offsets)
    for (_, end), (start, _) in pairwise(offsets):
        cut = tokenizer.as_json()["kind"] == "bytes" or text[start] == "İ"
        assert end <= start or (end == start + 1 and cut)


@each_tokenizer
@relaxed
@given(text=anything)
def test_unknown_names_exactly_the_parts_that_become_unknown(tokenizer, text):
    ids, offsets = tokenizer.encode(text)
    parts = [text[start:end] for i, (start, end) in zip(ids, offsets, strict=True) if i == UNKNOWN]
    unknown = tokenizer.unknown(text)
    assert len(unknown) == len(set(unknown)) and set(unknown) == set(parts)
    assert unknown == sorted(unknown, key=parts.index)
    assert (unknown == []) == (UNKNOWN not in tokenizer.ids(text))


def ids_of_one(tokenizer):
    return lambda text: tokenizer.ids_of([text])


@each_tokenizer
@relaxed
@given(text=with_halves)
def test_half_a_character_is_refused_and_nothing_else_is(tokenizer, text):
    found = [n for n, character in enumerate(text) if "\ud800" <= character <= "\udfff"]
    for method in (tokenizer.ids, tokenizer.encode, tokenizer.unknown, ids_of_one(tokenizer)):
        if found:
            with pytest.raises(TextError, match=f"position {found[0]} of the text"):
                method(text)
        else:
            method(text)


@pytest.mark.parametrize("kind", KINDS)
@relaxed
@given(text=anything.filter(str.strip))
def test_a_text_that_was_fitted_comes_back_but_for_blanks_where_words_are_split(kind, text):
    tokenizer = fitted(kind, texts=[text])
    expected = " ".join(text.split()) if kind in ("word", "wordpiece") else text
    if kind == "wordpunct":
        apart = "".join(f" {one} " if one in MARKS else one for one in text)
        expected = " ".join(apart.split())
    assert tokenizer.unknown(text) == []
    assert tokenizer.decode(tokenizer.ids(text)) == expected


@each_tokenizer
@relaxed
@given(text=anything)
def test_what_was_saved_as_json_and_loaded_does_the_same(tokenizer, text):
    again = load_tokenizer(json.loads(json.dumps(tokenizer.as_json())))
    assert again.as_json() == tokenizer.as_json()
    assert again.size == tokenizer.size
    ids, _ = encoding = tokenizer.encode(text)
    assert again.encode(text) == encoding
    assert again.decode(ids) == tokenizer.decode(ids)
    assert again.pieces(ids) == tokenizer.pieces(ids)


@each_tokenizer
def test_every_id_has_a_readable_piece_and_specials_their_name(tokenizer):
    pieces = tokenizer.pieces(range(tokenizer.size))
    assert tuple(pieces[:FIRST_PIECE]) == SPECIALS
    assert all(piece and piece.isprintable() and " " not in piece for piece in pieces)


@each_tokenizer
def test_pad_start_and_stop_decode_to_nothing_and_unknown_shows(tokenizer):
    ids = tokenizer.ids("the cat")
    assert tokenizer.decode([START, *ids, STOP, PAD, PAD]) == tokenizer.decode(ids)
    assert tokenizer.decode([UNKNOWN]) == "\N{REPLACEMENT CHARACTER}"
    assert tokenizer.decode([]) == "" and tokenizer.pieces([]) == []


@each_tokenizer
@pytest.mark.parametrize("wrong", [-1, 10**6, True, 4.0, "4", None])
def test_a_wrong_id_is_named_together_with_the_size_and_the_range(tokenizer, wrong):
    for method in (tokenizer.decode, tokenizer.pieces):
        with pytest.raises(TextError, match=f"size {tokenizer.size}") as caught:
            method([4, wrong])
        assert repr(wrong) in str(caught.value)
        assert f"from 0 to {tokenizer.size - 1}" in str(caught.value)


def test_a_long_text_with_half_a_character_is_shown_by_its_beginning():
    for text, beginning in [("é" * 60 + "x\udc80", "\\xe9" * 60), ("e\udc80", "e\\udc80")]:
        told = f"a lone surrogate), found in '{beginning}'. Read the text as UTF-8 again"
        with pytest.raises(TextError, match=re.escape(told)):
            require_utf8(text)


@each_tokenizer
def test_the_first_id_past_the_end_is_refused_and_the_last_one_is_not(tokenizer):
    assert tokenizer.pieces([tokenizer.size - 1])
    with pytest.raises(TextError, match=f"no token id {tokenizer.size}:"):
        tokenizer.decode([tokenizer.size])


@pytest.mark.parametrize("kind", KINDS)
def test_fitting_does_not_depend_on_the_order_of_the_texts_and_takes_an_iterator(kind):
    forward, backward = fitted(kind, texts=iter(TEXTS)), fitted(kind, texts=reversed(TEXTS))
    assert forward.as_json() == backward.as_json()


@pytest.mark.parametrize("kind", KINDS)
def test_half_a_character_among_the_texts_is_refused_by_position(kind):
    with pytest.raises(TextError, match="position 2 of the text holds '\\\\udc80'"):
        fitted(kind, texts=["fine", "ab\udc80"])


@pytest.mark.parametrize("kind", KINDS)
def test_an_error_of_the_data_passes_through_fitting_unchanged(kind):
    def texts():
        yield "fine"
        raise TextError("from the reader")

    with pytest.raises(TextError, match="^from the reader$"):
        fitted(kind, texts=texts())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kind": "byte"}, "no tokenizer of kind 'byte' (Did you mean \"bytes\"?)"),
        (
            {"kind": None},
            "no tokenizer of kind None (Known: bpe, bytes, character, word, wordpiece, wordpunct)",
        ),
        ({"kind": ["bytes"]}, "no tokenizer of kind ['bytes']"),
        ({"pieces": None}, '"pieces" should be a list of strings'),
        ({"pieces": ["a", 3]}, '"pieces" should be a list of strings'),
        ({"pieces": ["b", "a", "b"]}, "the piece 'b' appears 2 times"),
        ({"lowercase": 1}, '"lowercase" should be true or false, found 1'),
        ({"lowercase": "no"}, "should be true or false, found 'no'"),
        ({"pieces": ["ab"]}, "the piece 'ab' is not one character"),
        ({"pieces": [""]}, "a piece is empty"),
        ({"kind": "word", "pieces": ["a b"]}, "the piece 'a b' is not one word"),
        ({"pieces": ["\udfff"]}, r"the piece '\udfff' holds half a character"),
    ],
)
def test_a_broken_tokenizer_file_is_described(change, message):
    good = {"kind": "character", "lowercase": False, "pieces": ["a", "b"]}
    with pytest.raises(RunError, match=re.escape(message)) as caught:
        load_tokenizer(good | change)
    assert str(caught.value).startswith("tokenizer.json: ")
    assert "Restore the file" in str(caught.value)


junk = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | with_halves,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=2),
    max_leaves=6,
)


@each_tokenizer
@relaxed
@given(data=st.data(), text=anything)
def test_a_damaged_tokenizer_file_is_refused_or_still_works(tokenizer, data, text):
    stored = tokenizer.as_json()
    key = data.draw(st.sampled_from(sorted(stored)))
    if isinstance(stored[key], list) and data.draw(st.booleans()):
        stored[key][data.draw(st.integers(0, len(stored[key]) - 1))] = data.draw(junk)
    else:
        stored[key] = data.draw(junk)
    try:
        again = load_tokenizer(stored)
    except RunError as error:
        assert str(error).isprintable() and str(error).startswith("tokenizer.json: ")
    else:
        assert len(again.pieces(again.ids(text))) == len(again.encode(text).offsets)


def test_a_tokenizer_file_that_holds_no_table_is_described():
    with pytest.raises(RunError, match="found a list"):
        load_tokenizer([])


@relaxed
@given(text=anything)
def test_folding_works_character_by_character_and_remembers_where_each_came_from(text):
    assert fold(text) == "".join(character.lower() for character in text)
    assert [(text[i].lower(), c) for i, c in zip(origins(text), fold(text), strict=True)] == [
        (character.lower(), part) for character in text for part in character.lower()
    ]


def test_folding_never_makes_or_removes_a_blank():
    assert all(chr(i).lower().isspace() == chr(i).isspace() for i in range(0x110000))


def test_visible_leaves_letters_alone_and_shows_blanks_and_controls():
    assert visible("é🙂日") == "é🙂日"
    assert visible(" a\tb\u2028\0") == "␣a\\tb\\u2028\\x00"


def test_symbols_are_arrows_for_the_end_of_a_line_and_a_tab_and_code_points_for_the_rest():
    assert [symbol(c) for c in "\n\t\x1b\u202e\U000e0001"] == [
        "↵",
        "⇥",
        "[U+001B]",
        "[U+202E]",
        "[U+E0001]",
    ]
    assert visible("a b\n", blank="_", stand_in=symbol) == "a_b↵"


def test_capitals_stay_unless_folding_is_asked_for():
    for plain in (Symbols("word", ["A", "a"]), WordPiece(["A", "a"])):
        assert plain.ids("A a") == [FIRST_PIECE, FIRST_PIECE + 1]


def test_neither_torch_nor_the_tokenizers_library_is_imported_before_it_is_needed():
    script = """
import sys
from regard.config import TokenizerSettings
from regard.text import fit_tokenizer, load_tokenizer
words = fit_tokenizer(TokenizerSettings(kind="word"), ["a b"])
load_tokenizer(words.as_json()).encode("b a")
assert "tokenizers" not in sys.modules and "torch" not in sys.modules
fit_tokenizer(TokenizerSettings(kind="bytes"), ["a b"])
assert "tokenizers" in sys.modules and "torch" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", script], check=True, cwd=ROOT)
