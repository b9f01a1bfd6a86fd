"""The three parts of someone's pairs never mix, wherever they come from."""

import pytest

from regard.data.pairs import Pair
from regard.errors import ConfigError, DataError
from regard.tasks.pair_data import PairData, read_splits
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
