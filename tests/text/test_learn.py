"""How pieces are learned, whichever tokenizer asks."""

import json
import os
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.config import TokenizerSettings
from regard.text import TOKENIZERS, fit_tokenizer
from regard.text.learn import BLANK, LONGEST_PIECE, most_frequent

ROOT = Path(__file__).parents[2]
JOINING = ["bpe", "bytes", "wordpiece"]

FIT_ALL = """
import json, sys
from regard.config import TokenizerSettings
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


@pytest.mark.parametrize("kind", JOINING)
@pytest.mark.parametrize("letter", ["a", "日"])
def test_no_piece_is_longer_than_the_longest_allowed(kind, letter):
    tokenizer = fit_tokenizer(TokenizerSettings(kind=kind, size=400), [letter * 3000] * 3)
    pieces = tokenizer.as_json()["pieces"]
    assert LONGEST_PIECE / 2 < max(map(len, pieces)) <= LONGEST_PIECE + 2  # 2 for a ##


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
