import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.config import TokenizerSettings
from regard.errors import RunError, TextError
from regard.names import FIRST_PIECE, UNKNOWN
from regard.text.byte_bpe import LETTERS, ByteBpe
from regard.text.tokenizer import fold

relaxed = settings(deadline=None, max_examples=100)
anything = st.text(max_size=40) | st.lists(
    st.sampled_from(["日", "本", "🙂", "é", "e\u0301", " ", "\r\n", "İ", "<stop>", "'s", "\0"]),
    max_size=15,
).map("".join)
CORPUS = ["日本語 日本", "le café, les cafés 🙂🙃🙂🙃", "the cat's hat <stop>", "日 🙂 é İİ"] * 3


def fit(texts=CORPUS, size=340, lowercase=False):
    return ByteBpe.fit(TokenizerSettings(kind="bytes", size=size, lowercase=lowercase), texts)


BPE, FOLDING = fit(), fit(lowercase=True)


def reference_offsets(bpe, text, ids):
    """Walk the bytes: a piece points from the character of its first byte to that of its last."""
    character_of = [n for n, character in enumerate(text) for _ in character.encode()]
    at, offsets = 0, []
    for i in ids:
        length = len(bpe._bytes[i])
        offsets.append((character_of[at], character_of[at + length - 1] + 1))
        at += length
    assert at == len(character_of)
    return offsets


@relaxed
@given(anything)
def test_every_text_round_trips(text):
    assert BPE.decode(BPE.ids(text)) == text
    assert FOLDING.decode(FOLDING.ids(text)) == fold(text)


@relaxed
@given(anything)
def test_offsets_are_characters_also_where_pieces_are_parts_of_one(text):
    ids, offsets = BPE.encode(text)
    assert offsets == reference_offsets(BPE, text, ids)


@relaxed
@given(anything)
def test_folding_changes_the_ids_but_offsets_still_point_into_the_typed_text(text):
    ids, offsets = FOLDING.encode(text)
    assert ids == FOLDING.encode(fold(text)).ids
    covered = {position for start, end in offsets for position in range(start, end)}
    assert covered == set(range(len(text)))


def test_a_character_cut_into_bytes_gives_each_of_them_its_offsets():
    ids, offsets = BPE.encode("a\u20acb")  # the euro sign was never seen
    assert BPE.pieces(ids) == ["a", "\\xe2", "\\x82", "\\xac", "b"]
    assert offsets == [(0, 1), (1, 2), (1, 2), (1, 2), (2, 3)]


def test_a_half_character_decodes_to_a_replacement_sign_and_nothing_worse():
    ids = BPE.ids("\u20ac")
    assert BPE.decode(ids[:1]) == "\N{REPLACEMENT CHARACTER}"
    assert BPE.decode([*BPE.ids("a"), UNKNOWN, *BPE.ids("b")]) == "a\N{REPLACEMENT CHARACTER}b"


def test_frequent_strings_become_one_piece_and_blanks_are_shown():
    assert BPE.pieces(BPE.ids("the cat")) == ["the", "␣cat"]


def test_there_are_at_most_as_many_ids_as_asked_for_specials_included():
    long = [f"word{n} other{n % 7} " * 3 for n in range(200)]
    assert fit(long, size=300).size == 300
    assert fit(long, size=400).size == 400
    assert fit(["abc"], size=400).size == FIRST_PIECE + 256  # nothing recurs, so nothing is joined


def test_byte_letters_are_those_of_the_library():
    from tokenizers.pre_tokenizers import ByteLevel

    assert set(LETTERS) == set(ByteLevel.alphabet())
    assert sorted(LETTERS.values()) == list(range(256))
    text = "".join(map(chr, range(0x100)))
    [(spelled, _)] = ByteLevel(add_prefix_space=False, use_regex=False).pre_tokenize_str(text)
    assert bytes(LETTERS[letter] for letter in spelled) == text.encode()


def test_a_name_of_a_special_is_only_text_even_when_it_is_one_learned_piece():
    bpe = fit(["<stop><stop> <|endoftext|>"] * 5)
    ids = bpe.ids("<stop><|endoftext|>")
    assert min(ids) >= FIRST_PIECE
    assert bpe.decode(ids) == "<stop><|endoftext|>"


def test_fitting_twice_gives_the_same_file_byte_for_byte():
    texts = [f"{n * 7919 % 1000} {n * 104729 % 977:x} tie{n % 10}" for n in range(500)]
    first, second = (json.dumps(fit(texts, size=600).as_json()) for _ in range(2))
    assert first == second


def test_half_a_character_is_refused_by_position_before_folding_moves_it():
    for bpe in (BPE, FOLDING):
        with pytest.raises(TextError, match=r"position 3 of the text holds '\\ud83d'"):
            bpe.encode("İİx\ud83d")
        with pytest.raises(TextError, match="lone surrogate"):
            bpe.ids("\udfff")


class PanicException(BaseException):  # what a fault inside the Rust library looks like
    pass


@pytest.mark.parametrize("method", ["ids", "encode"])
def test_a_panic_of_the_library_becomes_our_error(method):
    class Panics:
        def encode(self, text):
            raise PanicException("index out of bounds")

    bpe = fit(["x"])
    bpe._library = Panics()
    with pytest.raises(TextError, match="broke down while encoding 'hello': index out of bounds"):
        getattr(bpe, method)("hello")


def test_an_interruption_by_the_user_stays_one():
    class Interrupted:
        def encode(self, text):
            raise KeyboardInterrupt

    bpe = fit(["x"])
    bpe._library = Interrupted()
    with pytest.raises(KeyboardInterrupt):
        bpe.encode("hello")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"pieces": ["a", "b"]}, "254 of the 256 bytes have no piece"),
        ({"pieces": [*LETTERS, "日"]}, "the piece '日' is not spelled in byte letters"),
        ({"merges": None}, '"merges" should be a list of pairs'),
        ({"merges": ["ab"]}, "should hold pairs of pieces that join into a piece, found 'ab'"),
        ({"merges": [["a", "b", "c"]]}, "found ['a', 'b', 'c']"),
        ({"merges": [["a", 1]]}, "found ['a', 1]"),
        ({"merges": [["q", "q"]]}, "found ['q', 'q']"),  # the library would panic at this one
    ],
)
def test_a_broken_tokenizer_file_never_reaches_the_library(change, message):
    with pytest.raises(RunError, match=re.escape(message)):
        ByteBpe.load(BPE.as_json() | change)
