"""Whole conversations as pairs: which reply answers what, and what is no conversation."""

import json

import pytest

from regard.data.conversations import Reply, read_conversations, replies, turns_column, turns_of
from regard.data.formats import Flaw
from regard.data.pairs import Pair
from regard.data.splits import fingerprint
from regard.errors import DataError
from regard.tasks.pair_data import read_part, read_splits
from regard.tasks.pair_recipe import PairData

TURNS = ["Hi!", "Hello.", "How are you?", "Fine, and you?"]


@pytest.fixture
def write(tmp_path):
    def made(*rows, name="talk.jsonl"):
        path = tmp_path / name
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        return path

    return made


@pytest.mark.parametrize("history", [1, 2, 9])
def test_every_turn_but_the_first_answers_those_before_it(history):
    found = list(replies(TURNS, history))
    assert [pair.target for pair in found] == TURNS[1:]
    for place, pair in enumerate(found, start=1):
        assert pair.source.split("\n") == TURNS[max(0, place - history) : place]
    assert len({pair.group for pair in found}) == 1


def test_a_turn_is_a_text_or_several_or_an_object_that_holds_one():
    said = ["Hi\nthere!", ["So.", "  How are  you?"], {"role": "user", "content": "Fine."}]
    assert turns_of(1, said, "turns") == ["Hi there!", "So. How are you?", "Fine."]
    unheard = [{"role": "system", "content": "Be kind."}, {"content": None}, {"role": "tool"}]
    assert turns_of(1, [*unheard, "Hi!"], "turns") == ["Hi!"]
    assert turns_of(1, ["Hi!", "  ", [], "Hello."], "turns") == ["Hi!", "Hello."]


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ("Hi!", "not a list of turns"),
        (None, "not a list of turns but 'null'"),
        (["Hi!", True], "turn 2 of .* is 'true'"),
        (["Hi!", {"role": "user"}], "turn 2"),
        (["Hi!", [["nested"]]], "turn 2"),
        (["Hi!", "\ud83d"], "half of a character"),
    ],
)
def test_what_is_no_conversation_is_told_with_its_line(write, value, problem):
    path = write({"turns": TURNS}, {"turns": value})
    with pytest.raises(DataError, match=rf"talk\.jsonl:2: .*{problem}"):
        read_part(PairData(path=str(path), turns="turns"), [path])
    part = read_part(PairData(path=str(path), turns="turns", bad_rows="skip"), [path])
    assert len(part.examples) == 3 and part.skipped == 1


def test_a_line_that_is_not_json_is_a_flaw(tmp_path):
    path = tmp_path / "talk.jsonl"
    path.write_text('{"turns": ["a", "b"]}\n\nnonsense\n', encoding="utf-8")
    first, second = read_conversations(path, "turns", 3)
    assert isinstance(first, Reply) and isinstance(second, Flaw) and second.line == 3


def test_a_file_in_which_nobody_answers_is_refused(write):
    path = write({"turns": ["Hi!"]}, {"turns": []})
    with pytest.raises(DataError, match='nobody answers in it: no "turns" has two turns'):
        read_part(PairData(path=str(path), turns="turns"), [path])
    with pytest.raises(DataError, match="from one file, not from two"):
        read_part(PairData(path=str(path), turns="turns"), [path, path])


def test_a_conversation_stays_on_one_side(write):
    rows = [{"turns": [f"{i}", "yes", f"no {i}", "well"]} for i in range(200)]
    data = PairData(path=str(write(*rows)), turns="turns", split=(60, 20, 20))
    sides = read_splits(data, lambda pair: pair.group)
    parts = (sides.train, sides.validation, sides.test)
    groups = [{pair.group for pair in part} for part in parts]
    assert sum(map(len, groups)) == 200 and all(groups)
    assert len(sides.train) == 3 * len(groups[0]) and not sides.overlapping


def test_what_the_test_holds_is_not_trained_on_though_others_said_it_too(write):
    rows = [{"turns": ["Hi!", "Hello.", f"I am {i}.", "So?"]} for i in range(200)]
    data = PairData(path=str(write(*rows)), turns="turns", split=(60, 20, 20), history=1)
    sides = read_splits(data, lambda pair: pair.group)
    parts = (sides.train, sides.validation, sides.test)
    pairs = [{(pair.source, pair.target) for pair in part} for part in parts]
    assert not (pairs[0] & pairs[1] or pairs[0] & pairs[2] or pairs[1] & pairs[2])
    assert ("Hi!", "Hello.") in pairs[2]
    assert sum(map(len, parts)) + sides.overlapping == 600


@pytest.mark.parametrize("more", [{"source": "a"}, {"set": "cmudict", "path": None}])
def test_conversations_have_no_columns(more):
    with pytest.raises(ValueError, match="turns: whole conversations have no"):
        PairData(**{"path": "talk.jsonl", "turns": "turns", **more})


def test_history_without_conversations_is_a_mistake():
    with pytest.raises(ValueError, match="history goes with turns"):
        PairData(path="pairs.tsv", history=2)


@pytest.mark.parametrize(
    ("row", "found"),
    [
        ({"id": "1", "turns": TURNS}, "turns"),
        ({"Messages": [{"content": "Hi!"}]}, "Messages"),
        ({"turns": "Hi!"}, None),
        ({"source": "a", "target": "b"}, None),
    ],
)
def test_the_key_of_the_turns_is_found_by_its_name(write, row, found):
    assert turns_column(write(row)) == found


def test_files_without_objects_have_no_turns(tmp_path):
    (path := tmp_path / "pairs.tsv").write_text("a\tb\n", encoding="utf-8")
    assert turns_column(path) is None
    path.write_text("\n", encoding="utf-8")
    assert turns_column(path) is None


def test_the_fingerprint_of_pairs_did_not_change_when_replies_came():
    """A run of an earlier version knows its data by this hash."""
    known = "ebaae79dd1575696"
    assert fingerprint([Pair("a", "b")]).startswith(known)
    assert fingerprint([Reply("a", "b", "c")]) != fingerprint([Pair("a", "b")])
