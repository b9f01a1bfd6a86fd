"""The three parts of someone's pairs never mix, wherever they come from."""

import pytest

from regard.data.pairs import Pair
from regard.errors import ConfigError, DataError
from regard.tasks.pair_data import read_splits
from regard.tasks.pair_recipe import PairData
from regard.toml import check

WORDS = [f"{a}{b}{c}" for a in "abcdefgh" for b in "abcdefgh" for c in "abcd"]


def key(pair):
    return pair.source.lower()


@pytest.fixture
def write(tmp_path):
    def made(name, rows):
        path = tmp_path / name
        path.write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")
        return str(path)

    return made


def test_all_pairs_land_on_one_side_and_keep_their_order(write):
    path = write("pairs.tsv", [(w, w[::-1]) for w in WORDS])
    sides = read_splits(PairData(path=path, split=(60, 20, 20)), key)
    every = sides.train + sides.validation + sides.test
    assert sorted(p.source for p in every) == sorted(WORDS)
    assert [p.source for p in sides.train] == [w for w in WORDS if w in {*map(key, sides.train)}]


def test_a_test_file_takes_its_sources_out_of_training_and_validation(write):
    path = write("train.tsv", [(w, "x") for w in WORDS])
    test = write("test.tsv", [(w.upper(), "y") for w in WORDS[::3]] + [("new", "z")])
    sides = read_splits(PairData(path=path, test=test, split=(80, 10, 10)), key)
    held = {key(pair) for pair in sides.test}
    assert sides.test[-1] == Pair("new", "z") and len(sides.test) == len(WORDS[::3]) + 1
    assert not held & {key(p) for p in sides.train + sides.validation}
    assert sides.overlapping == len(WORDS[::3])
    assert len(sides.train) + len(sides.validation) + sides.overlapping == len(WORDS)


def test_files_for_both_held_out_parts_leave_the_whole_first_file_to_training(write):
    path = write("train.tsv", [(w, "x") for w in WORDS])
    parts = {name: write(f"{name}.tsv", [(f"{name}{i}", "x") for i in range(5)])
             for name in ("validation", "test")}  # fmt: skip
    sides = read_splits(PairData(path=path, **parts), key)
    assert len(sides.train) == len(WORDS) and not sides.overlapping
    assert [p.source[:4] for p in sides.validation] == ["vali"] * 5


def test_a_source_in_both_held_out_files_is_tested_only(write):
    path = write("train.tsv", [(w, "x") for w in WORDS])
    validation = write("v.tsv", [("both", "x"), ("only", "x")])
    test = write("t.tsv", [("both", "x")])
    sides = read_splits(PairData(path=path, validation=validation, test=test), key)
    assert [p.source for p in sides.validation] == ["only"]


def test_bad_rows_are_refused_or_left_out_and_counted(write):
    rows = [(w, w) for w in WORDS]
    path = write("pairs.tsv", [*rows[:5], ("three", "col", "umns"), *rows[5:], ("empty", "")])
    with pytest.raises(DataError, match=r"pairs.tsv:6: .*3 columns"):
        read_splits(PairData(path=path), key)
    sides = read_splits(PairData(path=path, bad_rows="skip", split=(60, 20, 20)), key)
    assert sides.skipped == 2
    assert len(sides.train + sides.validation + sides.test) == len(WORDS)


@pytest.mark.parametrize("path", [3, ["a"], ["a", "b", "c"], [1, 2]])
def test_a_path_is_one_file_or_two(path):
    with pytest.raises(ConfigError, match="expected a file, .* or two with matching lines"):
        check(PairData, {"path": path})


def test_a_validation_file_keeps_its_sources_out_of_a_shared_test_part(write):
    path = write("train.tsv", [(w, "x") for w in WORDS])
    validation = write("v.tsv", [(w, "x") for w in WORDS[::4]])
    sides = read_splits(PairData(path=path, validation=validation, split=(80, 10, 10)), key)
    held = {key(pair) for pair in sides.validation}
    assert len(held) == len(WORDS[::4]) and sides.test
    assert not held & {key(p) for p in sides.train + sides.test}


@pytest.mark.parametrize("side", ["validation", "test"])
def test_a_file_that_leaves_nothing_to_train_on_is_refused(write, side):
    path = write("train.tsv", [(w, "x") for w in WORDS])
    with pytest.raises(DataError, match="nothing is left on the .* side"):
        read_splits(PairData(path=path, **{side: path}), key)


def test_what_was_guessed_about_each_file_is_told(write):
    path = write("train.tsv", [("english", "german"), *((w, w) for w in WORDS)])
    test = write("test.tsv", [("one", "eins"), ("two", "zwei")])
    data = PairData(path=path, test=test, source="english", target="german")
    assert any("test.tsv has no column" in note for note in read_splits(data, key).notes)


def test_rows_skipped_in_any_file_are_counted(write):
    path = write("train.tsv", [*((w, w) for w in WORDS), ("bad", "")])
    test = write("test.tsv", [("one", "eins"), ("worse", "")])
    assert read_splits(PairData(path=path, test=test, bad_rows="skip"), key).skipped == 2


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        ({"split": [90, 5]}, "three shares"),
        ({"split": [80, 10, 5]}, "must sum to 100"),
        ({"split": [80, 70, -50], "test": "t.tsv"}, "must sum to 100"),
        ({"split": [95, 5, 0]}, "each need a share"),
    ],
)
def test_shares_are_checked_whatever_files_there_are(tree, message):
    with pytest.raises(ConfigError, match=message):
        check(PairData, {"path": "p.tsv", **tree})


def test_a_side_with_a_file_needs_no_share_and_a_column_may_be_a_number():
    data = check(PairData, {"path": "p.tsv", "test": "t.tsv", "split": [95, 5, 0], "source": 2})
    assert data.source == "2"
