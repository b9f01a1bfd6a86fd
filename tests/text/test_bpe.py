"""BPE over characters and over bytes: what differs from the other tokenizers."""

import json
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
from regard.text.bpe import LETTERS, NO_PIECE, WORDS, Bpe, parts
from regard.text.tokenizer import fold

relaxed = settings(deadline=None, max_examples=100)
anything = st.text(max_size=40) | st.lists(
    st.sampled_from(["日", "本", "🙂", "é", "e\u0301", " ", "\r\n", "İ", "<stop>", "'s", "\0"]),
    max_size=15,
).map("".join)
few_letters = st.text("ab▁ \t\n", max_size=25)
CORPUS = ["日本語 日本", "le café, les cafés 🙂🙃🙂🙃", "the cat's hat <stop>", "日 🙂 é İİ"] * 3


def fit(texts=CORPUS, size=340, lowercase=False, kind="bytes"):
    return Bpe.fit(TokenizerSettings(kind=kind, size=size, lowercase=lowercase), texts)


BYTES, FOLDING = fit(), fit(lowercase=True)


@pytest.mark.parametrize("kind", ["bpe", "bytes"])
@relaxed
@given(text=anything)
def test_ids_and_offsets_are_those_of_the_library_used_directly(kind, text):
    from tokenizers import Regex
    from tokenizers import Tokenizer as Library
    from tokenizers.models import BPE
    from tokenizers.pre_tokenizers import ByteLevel, Split

    bpe = fit([*CORPUS, text], kind=kind)
    data = bpe.as_json()
    vocabulary = {piece: i for i, piece in enumerate(data["pieces"])}
    library = Library(BPE(vocabulary, [tuple(merge) for merge in data["merges"]]))
    words = Split(Regex(WORDS), "isolated")
    library.pre_tokenizer = ByteLevel(add_prefix_space=False) if kind == "bytes" else words
    found, (ids, offsets) = library.encode(text), bpe.encode(text)
    assert [i - FIRST_PIECE for i in ids] == found.ids
    assert offsets == found.offsets


# Over bytes


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
    assert BYTES.decode(BYTES.ids(text)) == text
    assert FOLDING.decode(FOLDING.ids(text)) == fold(text)


@relaxed
@given(anything)
def test_offsets_are_characters_also_where_pieces_are_parts_of_one(text):
    ids, offsets = BYTES.encode(text)
    assert offsets == reference_offsets(BYTES, text, ids)


@relaxed
@given(anything)
def test_folding_changes_the_ids_but_offsets_still_point_into_the_typed_text(text):
    ids, offsets = FOLDING.encode(text)
    assert ids == FOLDING.encode(fold(text)).ids
    covered = {position for start, end in offsets for position in range(start, end)}
    assert covered == set(range(len(text)))


def test_a_character_cut_into_bytes_gives_each_of_them_its_offsets():
    ids, offsets = BYTES.encode("a\u20acb")  # the euro sign was never seen
    assert BYTES.pieces(ids) == ["a", "\\xe2", "\\x82", "\\xac", "b"]
    assert offsets == [(0, 1), (1, 2), (1, 2), (1, 2), (2, 3)]


def test_a_half_character_decodes_to_a_replacement_sign_and_nothing_worse():
    ids = BYTES.ids("\u20ac")
    assert BYTES.decode(ids[:1]) == "\N{REPLACEMENT CHARACTER}"
    assert (
        BYTES.decode([*BYTES.ids("a"), UNKNOWN, *BYTES.ids("b")]) == "a\N{REPLACEMENT CHARACTER}b"
    )


def test_frequent_strings_become_one_piece_and_blanks_are_shown():
    assert BYTES.pieces(BYTES.ids("the cat")) == ["the", "␣cat"]


def test_there_are_at_most_as_many_ids_as_asked_for_specials_included():
    long = [f"word{n} other{n % 7} " * 3 for n in range(200)]
    assert fit(long, size=300).size == 300
    assert fit(long, size=400).size == 400
    assert fit(["abc"], size=400).size == FIRST_PIECE + 256  # nothing recurs, so nothing is joined


def test_260_ids_are_the_bytes_alone():
    bytes_alone = fit(size=FIRST_PIECE + 256)
    assert bytes_alone.size == 260 and bytes_alone.as_json()["merges"] == []
    assert bytes_alone.ids("the é")[-2:] == [FIRST_PIECE + [*LETTERS].index(x) for x in "Ã©"]
    assert bytes_alone.decode(bytes_alone.ids("the é")) == "the é"


def test_byte_letters_are_those_of_the_library():
    from tokenizers.pre_tokenizers import ByteLevel

    assert set(LETTERS) == set(ByteLevel.alphabet())
    assert sorted(LETTERS.values()) == list(range(256))
    text = "".join(map(chr, range(0x100)))
    [(spelled, _)] = ByteLevel(add_prefix_space=False, use_regex=False).pre_tokenize_str(text)
    assert bytes(LETTERS[letter] for letter in spelled) == text.encode()


@pytest.mark.parametrize("kind", ["bpe", "bytes"])
def test_a_name_of_a_special_is_only_text_even_when_it_is_one_learned_piece(kind):
    bpe = fit(["<stop><stop> <|endoftext|>"] * 5, kind=kind)
    ids = bpe.ids("<stop><|endoftext|>")
    assert min(ids) >= FIRST_PIECE
    assert bpe.decode(ids) == "<stop><|endoftext|>"


def test_fitting_twice_gives_the_same_file_byte_for_byte():
    texts = [f"{n * 7919 % 1000} {n * 104729 % 977:x} tie{n % 10}" for n in range(500)]
    first, second = (json.dumps(fit(texts, size=600).as_json()) for _ in range(2))
    assert first == second


def test_half_a_character_is_refused_by_position_before_folding_moves_it():
    for bpe in (BYTES, FOLDING):
        with pytest.raises(TextError, match=r"position 3 of the text holds '\\ud83d'"):
            bpe.encode("İİx\ud83d")
        with pytest.raises(TextError, match="lone surrogate"):
            bpe.ids("\udfff")


class PanicException(BaseException):  # what a fault inside the Rust library looks like
    pass


class Panics:
    def encode(self, text):
        raise PanicException("index out of bounds")

    encode_batch_fast = encode


LONG = "h\tllo" * 15  # of 75 characters, 60 are shown


@pytest.mark.parametrize(
    ("method", "given_to_it", "doing"),
    [
        ("ids", "hello", "encoding 'hello'"),
        ("encode", "hello", "encoding 'hello'"),
        ("encode", LONG, f"encoding {LONG[:60]!r}"),
        ("ids_of", ["hello", "other", "third"], "encoding 'hello' ..."),
        ("ids_of", [LONG + " and on" * 5000], f"encoding {LONG[:60]!r} ..."),
    ],
)
def test_a_panic_of_the_library_becomes_our_error(method, given_to_it, doing):
    bpe = fit(["x"])
    bpe._library = Panics()
    told = f"the tokenizers library broke down while {doing}: index out of bounds. "
    with pytest.raises(TextError, match=re.escape(told)):
        getattr(bpe, method)(given_to_it)


def test_a_panic_while_building_becomes_our_error(monkeypatch):
    class Refuses:
        def __init__(self, *args, **options):
            raise PanicException("no such merge")

    stored = BYTES.as_json()
    monkeypatch.setattr("tokenizers.models.BPE", Refuses)
    with pytest.raises(TextError, match="broke down while building the tokenizer: no such merge"):
        Bpe.load(stored)


def test_an_interruption_by_the_user_stays_one():
    class Interrupted:
        def encode(self, text):
            raise KeyboardInterrupt

    bpe = fit(["x"])
    bpe._library = Interrupted()
    with pytest.raises(KeyboardInterrupt):
        bpe.encode("hello")


def test_texts_are_handed_over_in_batches_and_none_is_lost(monkeypatch):
    monkeypatch.setattr("regard.text.bpe.BATCH", 3)
    sizes = []

    class Counts:
        def encode_batch_fast(self, texts):
            sizes.append(len(texts))
            return BYTES._library.encode_batch_fast(texts)

    bpe = fit()
    bpe._library = Counts()
    for n in range(8):
        texts = [f"the {i}. cat's hat" for i in range(n)]
        assert bpe.ids_of(texts) == [BYTES.ids(text) for text in texts]
    assert sizes == [1, 2, 3, 3, 1, 3, 2, 3, 3, 3, 3, 1]


def test_a_long_text_is_cut_where_a_word_ends_late_in_ten_thousand_characters_or_at_their_end():
    def lengths(text):
        assert "".join(parts(text)) == text
        return [len(part) for part in parts(text)]

    assert lengths("") == [0]
    assert lengths("a" * 10_000) == [10_000]
    assert lengths("a" * 10_001) == [10_000, 1]
    assert lengths("a" * 9_500 + " b " + "c" * 9_500 + " d") == [9_502, 9_503]
    assert lengths("a b" + "c" * 20_000) == [10_000, 10_000, 3]


@pytest.mark.parametrize("kind", ["bytes", "bpe"])
def test_a_long_text_teaches_the_same_in_parts_as_in_one(kind, monkeypatch):
    dice = random.Random(0)
    words = ["".join(dice.choices("abcdé", k=dice.randint(1, 6))) for _ in range(300)]
    text = " ".join(dice.choices([*words, "\n", "  "], k=8000))
    assert len(parts(text)) > 2
    asked = TokenizerSettings(kind=kind, size=500)
    cut = Bpe.fit(asked, [text]).as_json()
    monkeypatch.setattr("regard.text.bpe.parts", lambda text: [text])
    assert Bpe.fit(asked, [text]).as_json() == cut


def test_what_the_library_calls_unknown_can_not_be_a_piece():
    stored = fit(kind="bpe").as_json()
    with pytest.raises(RunError, match="a piece is empty"):
        Bpe.load(stored | {"pieces": [*stored["pieces"], NO_PIECE]})


def test_capitals_stay_unless_folding_is_asked_for():
    assert Bpe("bpe", ["A", "a"], []).ids("Aa") == [FIRST_PIECE, FIRST_PIECE + 1]
    assert Bpe("bpe", ["A", "a"], [], lowercase=True).ids("Aa") == [FIRST_PIECE + 1] * 2


def test_a_stored_merge_may_use_every_piece_and_a_piece_every_byte():
    good = {"kind": "bpe", "lowercase": False, "pieces": ["a", "b", "ab"], "merges": [["a", "b"]]}
    assert Bpe.load(good).ids("ab") == [FIRST_PIECE + 2]
    every = "".join(LETTERS)
    assert Bpe.load(BYTES.as_json() | {"pieces": [*LETTERS, every], "merges": []}).size == 261


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
        Bpe.load(BYTES.as_json() | change)


# Over characters


def reference_ids(data, text):
    """Join the pair that was learned first, again and again, until no learned pair is left."""
    ids = {piece: i for i, piece in enumerate(data["pieces"], start=FIRST_PIECE)}
    ranks = {tuple(merge): rank for rank, merge in enumerate(data["merges"])}
    found = []
    for word in re.findall(WORDS, text):
        parts = list(word)
        while known := [pair for pair in pairwise(parts) if pair in ranks]:
            first = min(known, key=ranks.__getitem__)
            at = next(n for n in range(len(parts)) if tuple(parts[n : n + 2]) == first)
            parts[at : at + 2] = ["".join(first)]
        found += [ids.get(part, UNKNOWN) for part in parts]
    return found


def reference_merges(texts, size):
    """Join the most frequent pair of the whole corpus; of equals, that of the lowest ids."""
    words = [list(word) for text in texts for word in re.findall(WORDS, text)]
    order = sorted({letter for word in words for letter in word})
    merges = []
    while len(order) < size:
        counts = Counter(pair for word in words for pair in pairwise(word))
        place = {piece: n for n, piece in enumerate(order)}
        ranked = sorted(counts, key=lambda p: (-counts[p], place[p[0]], place[p[1]]))
        if not ranked or counts[ranked[0]] < 2:
            break
        best = ranked[0]
        merges.append(best)
        order.append("".join(best))
        words = [joined(word, best) for word in words]
    return merges


def joined(word, pair):
    done, rest = [], word
    while rest:
        length = 2 if tuple(rest[:2]) == pair else 1
        done, rest = [*done, "".join(rest[:length])], rest[length:]
    return done


@relaxed
@given(st.lists(few_letters, min_size=1, max_size=6).filter(any), few_letters | anything)
def test_merges_are_applied_as_a_plain_loop_applies_them(texts, text):
    bpe = fit(texts, kind="bpe")
    assert bpe.ids(text) == reference_ids(bpe.as_json(), text)


@pytest.mark.parametrize("seed", range(8))
def test_merges_are_learned_as_a_plain_loop_learns_them(seed):
    dice = random.Random(seed)
    # No letter twice in a word: where a pair overlaps itself, as in aaa, there are two ways to
    # count it.
    words = ["".join(dice.sample("abcdefgh", dice.randint(1, 6))) for _ in range(150)]
    texts = [" ".join(dice.choices(words, k=9)) for _ in range(20)]
    learned = [tuple(merge) for merge in fit(texts, kind="bpe").as_json()["merges"]]
    assert learned == reference_merges(texts, 340 - FIRST_PIECE)
    assert len(learned) > 50


@relaxed
@given(st.lists(few_letters | anything, min_size=1, max_size=5).filter(any))
def test_texts_of_known_characters_round_trip_with_all_their_blanks(texts):
    bpe = fit(texts, kind="bpe")
    assert [bpe.decode(bpe.ids(text)) for text in texts] == texts


def test_a_word_and_the_blank_before_it_become_one_piece_and_other_blanks_their_own():
    bpe = fit(["the cat and the hat\n\n\tcat"] * 4, kind="bpe")
    assert bpe.pieces(bpe.ids("the cat   cat\tcat")) == [
        "the",
        "␣cat",
        "␣",
        "␣",
        "␣cat",
        "\\t",
        "cat",
    ]


def test_a_typed_block_is_not_a_blank():
    bpe = fit(["a▁b a b"] * 3, kind="bpe")
    assert bpe.decode(bpe.ids("a▁b a b")) == "a▁b a b"


def test_every_character_never_met_is_unknown_by_itself_at_its_place():
    bpe = fit(["the cat"] * 3, kind="bpe")
    ids, offsets = bpe.encode("the 日本🙂cat x日")
    unknown = [offset for i, offset in zip(ids, offsets, strict=True) if i == UNKNOWN]
    assert unknown == [(4, 5), (5, 6), (6, 7), (11, 12), (12, 13)]
    assert bpe.unknown("the 日本🙂cat x日") == ["日", "本", "🙂", "x"]


def test_with_more_characters_than_ids_the_rarest_stay_unknown():
    letters = [chr(0x4E00 + n) for n in range(300)]
    texts = ["".join(letters)] * 2 + ["".join(letters[::-1][:299])]  # the first one is rarest
    bpe = fit(texts, size=300, kind="bpe")
    assert bpe.size == 300
    assert bpe.unknown("".join(letters)) == [letters[0], *letters[-3:]]  # and of equals, the last


@pytest.mark.parametrize("nothing", [[], [""]])
def test_no_characters_at_all_is_an_error(nothing):
    with pytest.raises(TextError, match="no character to learn a vocabulary from"):
        fit(nothing, kind="bpe")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"pieces": ["a", ""]}, "a piece is empty"),
        ({"pieces": ["a", "\ud800"]}, "the piece '\\ud800' holds half a character"),
        ({"merges": [["a", "b"]]}, "found ['a', 'b']"),
    ],
)
def test_a_broken_file_of_characters_is_described(change, message):
    good = {"kind": "bpe", "lowercase": False, "pieces": ["a", "b"], "merges": []}
    with pytest.raises(RunError, match=re.escape(message)):
        Bpe.load(good | change)
