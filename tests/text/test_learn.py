"""How pieces are learned, whichever tokenizer asks."""

import json
import os
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path
from select import select
from string import ascii_letters

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.config import TokenizerSettings
from regard.errors import TextError
from regard.text import TOKENIZERS, fit_tokenizer
from regard.text.learn import BLANK, LONGEST_PIECE, checked, most_frequent

ROOT = Path(__file__).parents[2]
JOINING = ["bpe", "bytes", "wordpiece"]

FIT_ALL = """
import json, sys
from regard.config import TokenizerSettings
from regard.errors import TextError
from regard.text import TOKENIZERS, fit_tokenizer
texts = json.load(sys.stdin)
for kind in TOKENIZERS:
    print(json.dumps(fit_tokenizer(TokenizerSettings(kind=kind, size=400), texts).as_json()))
"""


def texts_full_of_ties():
    dice = random.Random(1)
    words = [
        "".join(dice.choices("abcdefghijklmnopqrst", k=dice.randint(1, 6))) for _ in range(400)
    ]
    return [" ".join(words[n : n + 8]) for n in range(0, 400, 8)]


def fit_elsewhere(texts, **environment):
    done = subprocess.run(
        [sys.executable, "-c", FIT_ALL],
        input=json.dumps(texts),
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
        env=os.environ | environment,
    )
    return done.stdout


def test_another_process_order_hash_seed_and_number_of_threads_learn_the_same_file():
    texts = texts_full_of_ties()
    first = fit_elsewhere(texts, PYTHONHASHSEED="1", RAYON_NUM_THREADS="1")
    second = fit_elsewhere(texts[::-1], PYTHONHASHSEED="2", RAYON_NUM_THREADS="4")
    assert first == second
    assert len(first.splitlines()) == len(TOKENIZERS)


def pieces_of(kind, texts):
    return fit_tokenizer(TokenizerSettings(kind=kind, size=400), texts).as_json()["pieces"]


@pytest.mark.parametrize("kind", JOINING)
@pytest.mark.parametrize("letter", ["a", "日"])
def test_no_piece_is_longer_than_the_longest_allowed(kind, letter):
    pieces = pieces_of(kind, [letter * 3000] * 3)
    assert LONGEST_PIECE / 2 < max(map(len, pieces)) <= LONGEST_PIECE + 2  # 2 for a ##


@pytest.mark.parametrize("kind", JOINING)
def test_a_word_of_49_letters_may_become_a_piece_and_one_of_50_may_not(kind):
    assert ascii_letters[:49] in pieces_of(kind, [ascii_letters[:49]] * 2)
    assert max(map(len, pieces_of(kind, [ascii_letters[:50]] * 2))) < 50


@pytest.mark.parametrize(("kind", "mark"), [("bpe", ""), ("bytes", ""), ("wordpiece", "##")])
def test_nothing_is_joined_across_the_thousandth_letter_of_a_word(kind, mark):
    assert f"{mark}ab" in pieces_of(kind, ["x" * 998 + "ab"] * 2)
    across = pieces_of(kind, ["x" * 999 + "ab"] * 2)
    assert [piece for piece in across if "b" in piece] == [*([mark + "b"] if mark else []), "b"]


@pytest.mark.parametrize("kind", JOINING)
def test_only_what_is_met_twice_is_joined(kind):
    assert "ab" in pieces_of(kind, ["ab ab c"])
    assert "ab" not in pieces_of(kind, ["ab c"])


def test_letters_get_the_first_ids_and_what_is_joined_the_next_in_the_order_of_joining():
    learned = fit_tokenizer(TokenizerSettings(kind="bpe"), ["zebra zebra zoo"]).as_json()
    joined = ["".join(merge) for merge in learned["merges"]]
    assert learned["pieces"] == [*sorted(set("zebra zoo")), *joined]
    assert learned["pieces"] != sorted(learned["pieces"])


def test_texts_are_checked_as_typed_and_seen_as_the_tokenizer_sees_them():
    assert list(checked(["ΟΔΟΣ", "A"], lowercase=True)) == ["οδοσ", "a"]
    assert list(checked(["ΟΔΟΣ", "A"], lowercase=False)) == ["ΟΔΟΣ", "A"]
    for lowercase in (False, True):
        with pytest.raises(TextError, match=r"position 2 of the text holds '\\udc80'"):
            list(checked(["fine", "İİ\udc80"], lowercase))


class PanicException(BaseException):  # what a fault inside the Rust library looks like
    pass


def test_a_panic_while_learning_becomes_our_error():
    def texts():
        yield "fine"
        raise PanicException("out of bounds")

    told = "broke down while learning pieces: out of bounds. That is a fault of the library"
    with pytest.raises(TextError, match=told) as caught:
        fit_tokenizer(TokenizerSettings(kind="bytes"), texts())
    assert isinstance(caught.value.__cause__, PanicException)


def test_learning_draws_no_progress_bar_on_a_terminal():
    terminal, ours = os.openpty()
    errors = os.dup(2)
    os.dup2(ours, 2)
    try:
        fit_tokenizer(TokenizerSettings(kind="bytes"), ["hello there"] * 3)
    finally:
        os.dup2(errors, 2)
    drawn, _, _ = select([terminal], [], [], 0)
    assert drawn == []
    for handle in (terminal, ours, errors):
        os.close(handle)


def test_a_blank_is_the_same_to_the_library_as_to_python():
    from tokenizers import Regex
    from tokenizers.normalizers import Replace

    every = "".join(chr(n) for n in range(0x110000) if not 0xD800 <= n < 0xE000)
    seen_by_the_library = Replace(Regex(f"[^{BLANK}]+"), "").normalize_str(every)
    assert list(seen_by_the_library) == [c for c in every if c.isspace()]


@given(st.dictionaries(st.text(max_size=3), st.integers(1, 4)), st.integers(0, 8))
def test_the_most_frequent_are_kept_and_of_equals_the_alphabetically_first(counts, limit):
    kept = most_frequent(Counter(counts), limit)
    assert len(kept) == min(limit, len(counts)) and kept == sorted(kept)
    left = [key for key in counts if key not in kept]
    assert all((-counts[k], k) < (-counts[other], other) for k in kept for other in left)
