"""WordPiece: what differs from the other tokenizers."""

import random
import re
from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.config import TokenizerSettings
from regard.errors import RunError, TextError
from regard.names import FIRST_PIECE, UNKNOWN
from regard.text.wordpiece import WordPiece

relaxed = settings(deadline=None, max_examples=100)
anything = st.text(max_size=30)
few_letters = st.text("abc# \n", max_size=25)
texts = st.lists(few_letters | anything, min_size=1, max_size=6).filter(
    lambda t: "".join(t).split()
)


def fit(texts, size=300, lowercase=False):
    return WordPiece.fit(TokenizerSettings(kind="wordpiece", size=size, lowercase=lowercase), texts)


def reference_ids(data, text):
    """Of all pieces that the rest of a word begins with, the longest, until nothing is left."""
    ids = {piece: i for i, piece in enumerate(data["pieces"], start=FIRST_PIECE)}
    marked = {piece[2:]: i for piece, i in ids.items() if piece[:2] == "##" and piece != "##"}
    starts = {piece: i for piece, i in ids.items() if i not in marked.values()}
    return [i for word in text.split() for i in reference_word(word, starts, marked)]


def reference_word(word, known, later):
    fitting = sorted((piece for piece in known if word.startswith(piece)), key=len)
    if not fitting:
        return [UNKNOWN]
    rest = word[len(fitting[-1]) :]
    following = reference_word(rest, later, later) if rest else []
    return [UNKNOWN] if UNKNOWN in following else [known[fitting[-1]], *following]


@relaxed
@given(texts, few_letters | anything)
def test_words_are_cut_as_a_plain_loop_cuts_them(texts, text):
    words = fit(texts)
    assert words.ids(text) == reference_ids(words.as_json(), text)


@relaxed
@given(texts, st.text("abcde \n", max_size=40))
def test_words_are_cut_as_the_library_cuts_them(texts, text):
    from tokenizers import Tokenizer as Library
    from tokenizers.models import WordPiece as Model
    from tokenizers.pre_tokenizers import WhitespaceSplit

    words = fit(texts)
    pieces = ["[UNK]", *words.as_json()["pieces"]]
    library = Library(Model({piece: i for i, piece in enumerate(pieces)}, unk_token="[UNK]"))
    library.pre_tokenizer = WhitespaceSplit()
    found = library.encode(text)
    ids, offsets = words.encode(text)
    assert [i - UNKNOWN for i in ids] == found.ids
    assert offsets == found.offsets


@pytest.mark.parametrize("seed", range(6))
def test_pieces_are_learned_as_a_plain_loop_learns_them(seed):
    dice = random.Random(seed)
    words = ["".join(dice.sample("abcdefgh", dice.randint(1, 6))) for _ in range(150)]
    assert fit([" ".join(words)]).as_json()["pieces"] == reference_pieces(words)


def reference_pieces(words):
    """Join the most frequent pair of the whole corpus; of equals, that of the lowest ids."""
    cut = [[word[0], *("##" + letter for letter in word[1:])] for word in words]
    letters = sorted(set("".join(words)))
    pieces = ["##" + letter for letter in letters] + letters
    while True:
        counts = Counter(pair for word in cut for pair in pairwise(word))
        ranked = sorted(counts, key=lambda p: (-counts[p], *map(pieces.index, p)))
        if not ranked or counts[ranked[0]] < 2:
            return pieces
        left, right = ranked[0]
        pieces.append(left + right[2:])
        for word in cut:
            for n, pair in enumerate(pairwise(word)):
                if pair == (left, right):
                    word[n : n + 2] = [left + right[2:]]
                    break  # no letter is twice in a word


@relaxed
@given(texts)
def test_words_of_known_letters_round_trip_but_for_the_blanks_between_them(texts):
    words = fit(texts)
    assert [words.decode(words.ids(text)) for text in texts] == [" ".join(t.split()) for t in texts]


@relaxed
@given(texts, few_letters | anything)
def test_a_word_is_unknown_exactly_when_it_holds_a_letter_never_met(texts, text):
    words, known = fit(texts), set("".join(texts))
    strange = [word for word in text.split() if not set(word) <= known]
    assert words.unknown(text) == list(dict.fromkeys(strange))
    assert words.ids(text).count(UNKNOWN) == len(strange)


def test_frequent_words_are_one_piece_and_what_continues_a_word_is_marked():
    words = fit(["low low low lower lower newest newest widest"] * 3)
    assert words.pieces(words.ids("low lower lowest")) == ["low", "lower", "low", "##est"]
    assert words.encode(" lowest\tlow").offsets == [(1, 4), (4, 7), (8, 11)]


def test_typed_marks_are_text_of_the_word_and_not_marks():
    words = fit(["## ##a ###a a##a b a ##"] * 5)
    typed = "b ##a a ## ### b##a #### a"
    assert words.decode(words.ids(typed)) == typed
    assert WordPiece.load(words.as_json()).ids(typed) == words.ids(typed)
    assert words.pieces(words.ids("##"))[0].startswith("#")
    assert words.decode(words.ids("a") + words.ids("##a")) == "a ##a"


def test_an_unknown_word_is_one_unknown_however_long_and_only_that_word():
    words = fit(["the cat"])
    ids, offsets = words.encode("the caté" + "t" * 500 + " cat")
    assert ids.count(UNKNOWN) == 1
    assert offsets[ids.index(UNKNOWN)] == (4, 508)


def test_a_very_long_word_of_known_letters_is_not_unknown():
    words = fit(["abab" * 600, "ba"])
    ids, offsets = words.encode("ab" * 5000 + "b")
    assert UNKNOWN not in ids
    assert words.decode(ids) == "ab" * 5000 + "b"
    assert offsets[-1][1] == 10001


def test_a_letter_that_folds_to_two_points_at_the_one_typed():
    words = fit(["İx"], lowercase=True)
    ids, offsets = words.encode("  xİX")
    assert words.decode(ids) == "xi\u0307x"
    assert offsets == [(2, 3), (3, 4), (3, 4), (4, 5)]


def test_there_are_at_most_as_many_ids_as_asked_for_and_the_rarest_letters_go_first():
    many = [f"word{n} {n}other " * 3 for n in range(200)]
    assert fit(many).size == 300
    letters = [chr(0x4E00 + n) for n in range(149)]  # one more than 296 ids can start and continue
    words = fit(["".join(letters), "".join(letters[1:])])
    assert words.size == 300
    assert words.unknown(" ".join(letters)) == [letters[0]]


def test_without_pieces_every_word_is_unknown():
    nothing = WordPiece.load({"kind": "wordpiece", "lowercase": False, "pieces": []})
    assert nothing.encode("a bc") == ([UNKNOWN, UNKNOWN], [(0, 1), (2, 4)])


@pytest.mark.parametrize("nothing", [[], [""], [" ", "\n\x1c"]])
def test_no_words_at_all_is_an_error(nothing):
    with pytest.raises(TextError, match="no word to learn a vocabulary from"):
        fit(nothing)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"pieces": ["a", "b c"]}, "the piece 'b c' holds a blank"),
        ({"pieces": ["a", "## "]}, "the piece '## ' holds a blank"),
        ({"pieces": ["a", ""]}, "a piece is empty"),
        ({"pieces": ["a", "##\udc00"]}, r"the piece '##\udc00' holds half a character"),
        ({"lowercase": None}, '"lowercase" should be true or false, found None'),
    ],
)
def test_a_broken_tokenizer_file_is_described(change, message):
    good = {"kind": "wordpiece", "lowercase": False, "pieces": ["a", "##b"]}
    with pytest.raises(RunError, match=re.escape(message)):
        WordPiece.load(good | change)
