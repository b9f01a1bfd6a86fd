from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.config import TokenizerSettings
from regard.errors import TextError
from regard.names import FIRST_PIECE, UNKNOWN
from regard.text.symbols import Symbols
from regard.text.tokenizer import WORD_OR_MARK, fold

relaxed = settings(deadline=None, max_examples=60)
texts = st.lists(st.text(max_size=15), min_size=1, max_size=5).filter(lambda t: "".join(t).strip())


def fit(kind, texts, lowercase=False, **options):
    return Symbols.fit(TokenizerSettings(kind=kind, lowercase=lowercase, **options), texts)


@relaxed
@given(texts)
def test_characters_that_were_fitted_round_trip(texts):
    letters = fit("character", texts)
    assert [letters.decode(letters.ids(text)) for text in texts] == texts


@relaxed
@given(texts)
def test_words_that_were_fitted_round_trip_but_for_the_blanks_between_them(texts):
    words = fit("word", texts)
    assert [words.decode(words.ids(text)) for text in texts] == [" ".join(t.split()) for t in texts]


@relaxed
@given(texts, st.text(max_size=15))
def test_a_piece_is_unknown_exactly_when_no_fitted_text_held_it(texts, new):
    letters = fit("character", texts)
    known = set("".join(texts))
    assert [i == UNKNOWN for i in letters.ids(new)] == [c not in known for c in new]


def test_the_vocabulary_is_sorted_and_starts_after_the_specials():
    words = fit("word", ["b c", "a b"])
    assert words.ids("a b c d") == [FIRST_PIECE, FIRST_PIECE + 1, FIRST_PIECE + 2, UNKNOWN]
    assert words.size == FIRST_PIECE + 3


def test_a_letter_that_folds_to_two_gives_two_ids_that_point_at_the_one_typed():
    letters = fit("character", ["İx"], lowercase=True)
    ids, offsets = letters.encode("xİX")
    assert letters.decode(ids) == "xi\u0307x"
    assert offsets == [(0, 1), (1, 2), (1, 2), (2, 3)]


def test_words_point_at_the_text_as_typed_also_when_folded_and_far_apart():
    words = fit("word", ["der hund"], lowercase=True)
    typed = "  DER\u00a0\tİ Hund\n"
    ids, offsets = words.encode(typed)
    assert [typed[start:end] for start, end in offsets] == ["DER", "İ", "Hund"]
    assert words.decode(ids) == "der \N{REPLACEMENT CHARACTER} hund"


def test_a_final_capital_sigma_folds_like_any_other_so_a_prefix_keeps_its_ids():
    letters = fit("character", ["οδοσς"], lowercase=True)
    assert letters.ids("ΟΔΟΣ") == letters.ids("ΟΔΟΣΑ")[:4]


def test_words_that_look_like_specials_are_ordinary_words():
    words = fit("word", ["<pad> <stop>"])
    assert all(i >= FIRST_PIECE for i in words.ids("<pad> <stop>"))
    assert words.decode(words.ids("<stop>")) == "<stop>"


def test_words_and_punctuation_marks_are_pieces_of_their_own():
    words = fit("wordpunct", ["So great! It's “new”."], lowercase=True)
    ids, offsets = words.encode("IT'S great.\nSO “İ”, new!")
    assert words.decode(ids) == "it ' s great . so “ \ufffd ” \ufffd new !"
    assert offsets[:5] == [(0, 2), (2, 3), (3, 4), (5, 10), (10, 11)]
    assert words.unknown("great, İ") == [",", "İ"]
    assert fit("word", ["So great!"]).unknown("great") == ["great"], "where only blanks split"


@relaxed
@given(texts)
def test_folding_neither_makes_nor_removes_a_mark(texts):
    for text in texts:
        found = [fold(word) for word in WORD_OR_MARK.findall(text)]
        assert WORD_OR_MARK.findall(fold(text)) == found


@pytest.mark.parametrize("nothing", [[], [""], [" ", "\n"]])
def test_no_words_at_all_is_an_error(nothing):
    with pytest.raises(TextError, match="no word to learn a vocabulary from"):
        fit("word", nothing)


def test_the_most_frequent_words_are_kept_and_of_equals_the_alphabetically_first():
    words = [f"w{n:03}" for n in range(400)]
    texts = [" ".join(words), "w399 w399", "w300"]
    for order in (texts, texts[::-1], [" ".join(words[::-1]), *texts[1:]]):
        kept = fit("word", order, size=300)
        assert kept.as_json()["pieces"] == [*words[:294], "w300", "w399"]
        assert kept.size == 300


def test_characters_are_all_kept_whatever_the_size():
    letters = [chr(0x4E00 + n) for n in range(500)]
    assert fit("character", letters, size=300).size == 500 + FIRST_PIECE


@relaxed
@given(st.sampled_from(["character", "word"]), texts, st.integers(1, 4))
def test_what_is_met_fewer_times_than_min_count_is_unknown(kind, texts, least):
    met = Counter(part for text in texts for part in (text.split() if kind == "word" else text))
    if max(met.values()) < least:
        return
    pieces = fit(kind, texts, min_count=least).as_json()["pieces"]
    assert pieces == sorted(piece for piece, times in met.items() if times >= least)


def test_a_min_count_that_leaves_nothing_says_how_often_the_most_frequent_is_met():
    with pytest.raises(TextError, match="no word is met 5 times.* is met 3 times. Lower min_count"):
        fit("word", ["a a b", "a"], min_count=5)


def test_words_are_counted_as_the_model_sees_them():
    words = fit("word", ["The the THE a"], lowercase=True, min_count=3)
    assert words.as_json()["pieces"] == ["the"]


def test_unknown_lists_each_strange_piece_once_as_typed():
    words = fit("word", ["der hund"], lowercase=True)
    assert words.unknown("Der HASE\tund  der Hund, HASE hase") == ["HASE", "und", "Hund,", "hase"]
    assert words.unknown("DER Hund") == []
