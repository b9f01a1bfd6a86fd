"""Columns that look wrong are named before time is spent on them."""

import warnings

import pytest

from regard.config import TokenizerSettings
from regard.data.pairs import Pair
from regard.tasks.pair_doubts import turned_around
from regard.tasks.recipe import make_recipe
from regard.text import fit_tokenizer

LETTERS = "abcdefghij"
WORDS = [f"{a}{b}{c}l" for a in "bdfg" for b in "aeiou" for c in "rstvw"]
SPOKEN = [" ".join(word.upper()) for word in WORDS]


def said(tmp_path, face, pairs):
    path = tmp_path / "pairs.tsv"
    path.write_text("".join(f"{a}\t{b}\n" for a, b in pairs), encoding="utf-8")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        make_recipe(face, [path])
    return [str(warning.message) for warning in caught]


def test_two_columns_that_hold_the_same_are_named(tmp_path):
    (found,) = said(tmp_path, "translate", zip(WORDS, WORDS, strict=True))
    assert "the same text in 100% of the rows" in found and "--source" in found


@pytest.mark.parametrize(
    ("face", "pairs"),
    [
        ("pronounce", list(zip(SPOKEN, WORDS, strict=True))),
        ("summarize", [(word, f"{word} says much more than the {word}") for word in WORDS]),
    ],
)
def test_columns_the_wrong_way_round_are_named_and_the_right_way_not(tmp_path, face, pairs):
    (found,) = said(tmp_path, face, pairs)
    assert "wrong way round? Name them with --source and --target" in found
    assert not said(tmp_path, face, [(b, a) for a, b in pairs])


@pytest.mark.parametrize("kind", ["character", "word", "bytes"])
def test_a_file_to_score_on_that_is_turned_around_is_noticed(kind):
    greek = [word.translate(str.maketrans("abdefgilorstuvw", "αβδεφγιλορστυβω")) for word in WORDS]
    settings = TokenizerSettings(kind=kind, size=400)
    left, right = fit_tokenizer(settings, WORDS), fit_tokenizer(settings, greek)
    pairs = [Pair(a, b) for a, b in zip(WORDS, greek, strict=True)]
    assert turned_around(pairs, left, right) == ""
    assert "swapped?" in turned_around([Pair(p.target, p.source) for p in pairs], left, right)
    assert turned_around(pairs, left, left) == "", "one tokenizer for both can not tell"
