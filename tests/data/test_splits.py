import hashlib
import re
from dataclasses import dataclass
from itertools import pairwise
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.data.pairs import Pair
from regard.data.splits import default_shares, fingerprint, groups, place_of, side_of, split
from regard.errors import ConfigError, DataError

WORDS = [f"word{n}" for n in range(3000)]
PAIRS = [Pair(word, sound) for word in WORDS for sound in ("a", "b")]
SHARES = (80.0, 15.0, 5.0)


def source(pair):
    return pair.source


def sides(examples, key=source, shares=SHARES):
    """Side of each example: {example: "train"}"""
    found = split(examples, key, shares)
    return {e: side for side in ("train", "validation", "test") for e in getattr(found, side)}


def test_every_example_lands_on_one_side_and_in_order():
    found = split(PAIRS, source, SHARES)
    rows = {pair: row for row, pair in enumerate(PAIRS)}
    lists = [[rows[pair] for pair in side] for side in (found.train, found.validation, found.test)]
    assert sorted(sum(lists, [])) == list(range(len(PAIRS)))
    assert all(side == sorted(side) for side in lists)


def test_examples_with_one_key_stay_together():
    found = sides(PAIRS)
    assert all(found[Pair(word, "a")] == found[Pair(word, "b")] for word in WORDS)


@pytest.mark.parametrize("seed", range(5))
def test_the_side_depends_neither_on_the_order_nor_on_other_rows(seed):
    some = Random(seed).sample(PAIRS, 1000 + 1000 * seed)
    assert sides(some).items() <= sides(PAIRS).items()


def test_pairs_that_hang_together_by_any_way_are_one_group():
    dice = Random(0)
    for _ in range(20):
        chains = [[f"{chain} {n}" for n in dice.sample(range(30), 30)] for chain in "ab"]
        pairs = [dice.sample(pair, 2) for chain in chains for pair in pairwise(chain)]
        dice.shuffle(pairs)
        found = zip(groups(pairs), pairs, strict=True)
        assert {(group, pair[0][0]) for group, pair in found} == {("a 0", "a"), ("b 0", "b")}


def test_sides_are_near_their_shares():
    found = list(sides(PAIRS).values())
    for side, share in zip(("train", "validation", "test"), SHARES, strict=True):
        assert abs(100 * found.count(side) / len(found) - share) < 2.5  # over three deviations


@pytest.mark.parametrize("shares", [(70.1, 29.9, 0), (100 / 3, 0, 200 / 3), (99.9, 0.0, 0.1)])
def test_a_share_of_zero_gets_nothing(shares):
    found = sides(WORDS, str, shares)
    for side, share in zip(("train", "validation", "test"), shares, strict=True):
        assert (side in found.values()) == (share > 0)


def test_everything_may_train():
    assert split(["a"], str, (100, 0, 0)).train == ["a"]


def test_the_division_is_the_same_tomorrow():
    """Frozen on purpose: runs that were trained before must find their test set again."""
    found = sides(WORDS[:40], str, (50, 25, 25))
    letters = {"train": ".", "validation": "v", "test": "t"}
    frozen = "vt......tv....v.t..v.v..vvt..t..t....t.."
    assert "".join(letters[found[word]] for word in WORDS[:40]) == frozen


def test_the_hash_is_blake2b_keyed_by_the_sha256_of_nothing():
    """Spelled out once more: whoever changes it moves the test sets of all runs there are."""
    whole = hashlib.blake2b("Größe".encode(), digest_size=8, key=hashlib.sha256(b"").digest())
    place = 100 * int(whole.hexdigest(), 16) / 2**64
    assert place_of("Größe") == pytest.approx(place, rel=1e-12)
    assert [side_of(place, (90, 5, 5)) for place in (0, 4.9, 5, 9.9, 10, 99)] == [2, 2, 1, 1, 0, 0]


@pytest.mark.parametrize("number", [0, 1, 99, 100, 1999, 2000, 10**7])
def test_smaller_files_hold_out_larger_shares(number):
    train, validation, test = default_shares(number)
    assert train + validation + test == 100 and validation == test
    assert train <= default_shares(2 * number)[0]
    assert number < 20 or number * test / 100 >= 4  # enough to judge by


@pytest.mark.parametrize(
    ("shares", "message"),
    [
        ((90, 5), "the shares 90, 5 should be three numbers"),
        ((110, -5, -5), "the shares 110, -5, -5 should be three numbers, none below 0"),
        ((float("nan"), 50, 50), "none below 0"),
        ((float("inf"), 0, 0), "none below 0"),
        ((0.9, 0.05, 0.05), "should sum to 100, not 1"),
        ((90, 5, 4), "should sum to 100, not 99"),
        ((0, 50, 50), "leave nothing to train on"),
    ],
)
def test_impossible_shares_are_refused(shares, message):
    with pytest.raises(ConfigError, match=re.escape(message)) as caught:
        split(WORDS, str, shares)
    assert "in percent, as in 90, 5, 5." in str(caught.value)


def test_a_side_that_ends_up_empty_is_an_error_that_counts_and_advises():
    with pytest.raises(DataError) as caught:
        split(PAIRS[:2], source, (50, 0, 50))
    assert "side, whose share is 50 percent" in str(caught.value)
    assert "there are 2 examples with one and the same input" in str(caught.value)
    assert "Give more data" in str(caught.value)


def test_no_examples_at_all_is_an_error():
    with pytest.raises(DataError, match="no example fell on the train side.* 0 examples"):
        split([], str, (100, 0, 0))


@dataclass(frozen=True)
class Three:
    a: str
    b: str
    c: str


texts = st.text(alphabet="a\0\x01b", max_size=3)
examples = st.lists(
    st.one_of(texts, st.builds(Pair, texts, texts), st.builds(Three, texts, texts, texts)),
    max_size=4,
)


@settings(deadline=None, max_examples=300)
@given(examples, examples)
def test_fingerprints_are_equal_exactly_when_the_examples_are(one, other):
    assert (fingerprint(one) == fingerprint(other)) == (one == other)


def test_a_fingerprint_sees_order_and_where_one_text_ends():
    assert fingerprint([Pair("ab", "c")]) != fingerprint([Pair("a", "bc")])
    assert fingerprint(["a", "b"]) != fingerprint(["b", "a"])
    assert fingerprint(["a", "b"]) != fingerprint([Pair("a", "b")])
    assert fingerprint(iter(PAIRS)) == fingerprint(PAIRS)
    assert re.fullmatch("[0-9a-f]{64}", fingerprint([]))
