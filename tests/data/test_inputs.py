"""Inputs out of a table: the cells of the column that the model was trained on."""

import pytest

from regard.data.inputs import is_table, read_column, read_two_columns
from regard.errors import DataError


@pytest.fixture
def read(tmp_path):
    def made(name, text, column, fallback=True):
        (tmp_path / name).write_text(text, encoding="utf-8")
        cells, note = read_column(tmp_path / name, column, fallback=fallback)
        return list(cells), note

    return made


def test_the_named_column_is_read_with_its_line_breaks(read):
    cells, note = read("m.csv", 'id,body,subject\n1,"a, ""b""\nc",x\n2,d,y\n', "body")
    assert cells == ['a, "b"\nc', "d"] and '"body"' in note


def test_without_a_header_the_first_column_stands_in_and_is_told(read):
    cells, note = read("p.tsv", "ein Haus\ta house\nein Hund\ta dog\n", "german")
    assert cells == ["ein Haus", "ein Hund"] and "first column" in note


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("b.csv", 'body\n"one, two"\nthree\n'),
        ("b.csv", '"one, two"\nthree\n'),
        ("b.jsonl", '{"body": "one, two"}\n{"body": "three"}\n'),
    ],
)
def test_a_table_of_one_column_will_do(read, name, text):
    assert read(name, text, "body")[0] == ["one, two", "three"]


def test_a_column_that_was_asked_for_must_be_there(read):
    with pytest.raises(DataError, match='no column "boddy".* Did you mean "body"'):
        read("m.csv", "body,subject\na,b\n", "boddy", fallback=False)


def test_a_bad_row_is_named(read):
    with pytest.raises(DataError, match="m.csv:3: "):
        read("m.csv", "body,subject\na,b\nc,d,e\n", "body")


def test_a_missing_file_is_a_sentence(tmp_path):
    with pytest.raises(DataError, match="no such file"):
        read_column(tmp_path / "none.csv", "body", fallback=True)


def test_only_names_of_tables_are_tables(tmp_path):
    assert is_table(tmp_path / "a.csv.gz") and not is_table(tmp_path / "words.txt")


@pytest.mark.parametrize(
    ("text", "first", "cells"),
    [
        ("id,b,a\n1,x,y\n", "a", ("y", "x")),
        ("b,a\n1,2\n", None, ("2", "1")),
        ("one,two\n1,2\n", "a", ("1", "2")),
        ("1,2\n1,2\n", "a", ("1", "2")),
    ],
)
def test_two_columns_are_read_side_by_side(tmp_path, text, first, cells):
    path = tmp_path / "m.csv"
    path.write_text(text)
    rows, note = read_two_columns(path, first, "b")
    assert list(rows)[-1] == cells and "the inputs are" in note


@pytest.mark.parametrize(
    ("first", "problem"), [("c", 'no column "c"'), (None, 'goes with "b"? It has id, b, a. Name')]
)
def test_of_three_columns_nothing_is_guessed(tmp_path, first, problem):
    path = tmp_path / "m.csv"
    path.write_text("id,b,a\n1,x,y\n")
    with pytest.raises(DataError) as caught:
        read_two_columns(path, first, "b")
    assert problem in str(caught.value)
