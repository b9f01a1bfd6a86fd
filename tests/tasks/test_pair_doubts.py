"""Columns that look wrong are named before time is spent on them."""

import warnings

import pytest

from regard.data.pairs import Pair
from regard.tasks.pair_data import read_splits
from regard.tasks.pair_doubts import turned_around
from regard.tasks.pair_recipe import PairData
from regard.tasks.recipe import make_recipe

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


ENGLISH = "the dog saw|a man with hat|she went home|they are here|what is this|we think so"
SPANISH = "el perro vio|un hombre con|ella fue a casa|ellos aqui|que es esto|lo creemos asi"


def sentences(words, count):
    """Made-up ones of these phrases, none like another."""
    phrases = words.split("|")
    return [" ".join(phrases[(i * k) % 6] for k in (1, 2, 3)) + f" {i}" for i in range(count)]


def test_a_file_to_score_on_that_is_turned_around_is_noticed_in_one_alphabet_too():
    pairs = list(zip(sentences(ENGLISH, 60), sentences(SPANISH, 60), strict=True))
    trained, new = pairs[:40], [Pair(*pair) for pair in pairs[40:]]
    swapped = [Pair(pair.target, pair.source) for pair in new]
    assert turned_around(new, trained) == ""
    assert "are the columns swapped?" in turned_around(swapped, trained)
    assert turned_around(swapped[:5], trained) == "", "five rows are no evidence"


def test_a_test_file_that_is_turned_around_is_noticed_before_training(tmp_path):
    pairs = list(zip(sentences(ENGLISH, 60), sentences(SPANISH, 60), strict=True))
    for name, rows in {"train": pairs[:40], "test": [(b, a) for a, b in pairs[40:]]}.items():
        text = "".join(f"{a}\t{b}\n" for a, b in rows)
        (tmp_path / f"{name}.tsv").write_text(text, encoding="utf-8")
    data = PairData(path=str(tmp_path / "train.tsv"), test=str(tmp_path / "test.tsv"))
    with pytest.warns(UserWarning, match="data.test: in 100% of the rows"):
        read_splits(data, lambda pair: pair.group)


def test_texts_that_say_the_same_in_the_same_words_leave_no_doubt():
    pairs = [(text, text.replace("a", "e")) for text in sentences(ENGLISH, 60)]
    assert turned_around([Pair(*pair) for pair in pairs[40:]], pairs[:40]) == ""
