"""Inputs out of a file that has only them."""

import pytest

from regard.data.inputs import read_column
from regard.errors import DataError


@pytest.fixture
def read(tmp_path):
    def made(name, text, column=None):
        (tmp_path / name).write_text(text, encoding="utf-8")
        cells, note = read_column(tmp_path / name, column, fallback=True)
        return list(cells), note

    return made


@pytest.mark.parametrize("column", [None, "text", "body"])
def test_the_only_key_of_json_lines_is_read_whatever_it_is_called(read, column):
    cells, note = read("x.jsonl", '{"text": "one"}\n{"text": "two"}\n', column)
    assert cells == ["one", "two"] and '"text"' in note


def test_objects_beside_the_only_text_do_not_matter(read):
    assert read("x.jsonl", '{"text": "one", "more": {"a": 1}}\n', "body")[0] == ["one"]


def test_in_a_tsv_commas_and_quotes_are_part_of_the_text(read):
    lines = ['"Hi", he said', "one, two", 'a "b" c']
    assert read("x.tsv", "".join(f"{line}\n" for line in lines))[0] == lines


def test_in_a_csv_quotes_hold_a_text_together(read):
    assert read("x.csv", 'one\n"two, three"\n')[0] == ["one", "two, three"]


@pytest.mark.parametrize("name", ["x.tsv", "x.csv"])
def test_the_name_of_the_column_is_no_input(read, name):
    assert read(name, "body\none\n", "body")[0] == ["one"]


@pytest.mark.parametrize("name", ["x.tsv", "x.csv"])
@pytest.mark.parametrize("blank", ["", " ", "   "])
def test_blank_lines_are_skipped_however_many_blanks_they_hold(read, name, blank):
    assert read(name, f"one\n{blank}\ntwo\n{blank}\n")[0] == ["one", "two"]


@pytest.mark.parametrize("text", ["source\ttarget\n", "\n", " \n  \n", ""])
def test_a_table_without_rows_is_refused_and_its_header_never_an_input(read, text):
    with pytest.raises(DataError, match="x.tsv: no rows in it: "):
        read("x.tsv", text)
    with pytest.raises(DataError, match="x.csv: no rows in it: "):
        read("x.csv", text.replace("\t", ","))


def test_json_that_is_no_list_of_objects_is_still_refused(read):
    with pytest.raises(DataError, match="a JSON array begins here"):
        read("x.jsonl", '["one", "two"]\n', "text")
    with pytest.raises(DataError, match="expected a JSON object"):
        read("x.jsonl", '"one"\n"two"\n', "text")
