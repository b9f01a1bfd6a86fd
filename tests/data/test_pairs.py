import csv
import gzip
import io
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.data.pairs import Pair, open_pairs
from regard.data.table import Flaw
from regard.errors import DataError

relaxed = settings(deadline=None, max_examples=60)
side = st.text(st.characters(exclude_characters="\t\r\n\0", codec="utf-8")).filter(str.strip)
text = st.text(st.characters(exclude_characters="\0", codec="utf-8")).filter(str.strip)
pairs = st.lists(st.builds(Pair, side, side), min_size=1)


def written(folder: Path, content: str, name: str = "pairs.tsv") -> Path:
    path = folder / name
    path.write_bytes(content.encode())
    return path


@relaxed
@given(pairs, st.sampled_from(["\n", "\r\n", "\r"]))
def test_written_pairs_are_read_back_exactly(tmp_path_factory, pairs, end):
    content = "".join(f"{pair.source}\t{pair.target}{end}" for pair in pairs)
    path = written(tmp_path_factory.getbasetemp(), f"\ufeffsource\ttarget{end}" + content)
    table = open_pairs([path])
    assert list(table.read()) == pairs
    assert list(table.rows()) == list(enumerate(pairs, start=2))


@relaxed
@given(st.lists(st.builds(Pair, text, text), min_size=1), st.booleans())
def test_line_ends_inside_of_texts_are_kept_in_csv_and_json(tmp_path_factory, pairs, as_json):
    content = io.StringIO()
    if as_json:
        for pair in pairs:
            print(json.dumps({"source": pair.source, "target": pair.target}), file=content)
    else:
        rows = [("source", "target"), *((pair.source, pair.target) for pair in pairs)]
        csv.writer(content).writerows(rows)
    name = "pairs.jsonl" if as_json else "pairs.csv"
    path = written(tmp_path_factory.getbasetemp(), content.getvalue(), name)
    assert list(open_pairs([path]).read()) == pairs


def test_blank_lines_are_skipped_and_blanks_around_a_text_are_kept(tmp_path):
    path = written(tmp_path, "\n a\tb \n  \n\nc\td\n\n")
    assert list(open_pairs([path]).rows()) == [(2, Pair(" a", "b ")), (5, Pair("c", "d"))]


def test_two_files_make_pairs(tmp_path):
    paths = [written(tmp_path, "Hallo\nDu\n", "x.de"), written(tmp_path, "Hello\nYou\n", "x.en")]
    assert list(open_pairs(paths).read()) == [Pair("Hallo", "Hello"), Pair("Du", "You")]
    assert list(open_pairs(paths, "en", "de").read()) == [Pair("Hello", "Hallo"), Pair("You", "Du")]


def test_columns_are_chosen_and_what_was_guessed_is_noted(tmp_path):
    path = written(tmp_path, "id;answer;question\n1;no, sir;why?\n2;yes;what?\n", "x.csv")
    table = open_pairs([path])
    assert (table.source, table.target) == (2, 1)
    assert list(table.read()) == [Pair("why?", "no, sir"), Pair("what?", "yes")]
    separated, chosen = table.notes
    assert "separated by semicolons" in separated and '"question" is the source' in chosen
    named = open_pairs([path], "answer", "question")
    assert next(named.read()) == Pair("no, sir", "why?")
    assert len(named.notes) == 1


def test_a_name_of_a_column_makes_the_first_row_a_header(tmp_path):
    path = written(tmp_path, "Wort\tLaut\na\tb\n")
    assert list(open_pairs([path]).read()) == [Pair("Wort", "Laut"), Pair("a", "b")]
    assert list(open_pairs([path], source="Wort").read()) == [Pair("a", "b")]


def test_the_names_of_a_recipe_may_be_missing_where_there_is_no_header(tmp_path):
    path = written(tmp_path, "a\tb\n")
    with pytest.raises(DataError, match='there is no column "english"'):
        open_pairs([path], "english", "german")
    table = open_pairs([path], "english", "german", fallback=True)
    assert list(table.read()) == [Pair("a", "b")]
    assert "has no column english or german" in table.notes[0]


def test_a_list_of_sources_is_one_text_and_a_list_of_targets_is_several_pairs(tmp_path):
    lines = [
        '{"question": ["how", "are you?"], "answer": ["fine", "well"]}',
        '{"question": "and you?", "answer": "too"}',
        '{"question": "why?", "answer": []}',
        '{"question": "why?", "answer": ["so", " "]}',
        '{"question": [], "answer": "so"}',
    ]
    found = list(open_pairs([written(tmp_path, "\n".join(lines), "x.jsonl")]).rows())
    assert found[:3] == [
        (1, Pair("how are you?", "fine")),
        (1, Pair("how are you?", "well")),
        (2, Pair("and you?", "too")),
    ]
    assert [(flaw.line, flaw.kind) for flaw in found[3:]] == [(n, "empty") for n in (3, 4, 5)]


def test_an_object_in_a_column_that_is_not_chosen_is_no_flaw(tmp_path):
    lines = [
        '{"source": "a", "target": "b", "note": ""}',
        '{"source": "c", "target": "d", "note": {"by": "e"}}',
    ]
    path = written(tmp_path, "\n".join(lines), "x.jsonl")
    assert list(open_pairs([path]).read()) == [Pair("a", "b"), Pair("c", "d")]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("\tb", "the source is empty; the target is 'b'."),
        ("a\t", "the target is empty; the source is 'a'."),
        ("a\t \u00a0", "the target is empty; the source is 'a'."),
        ("\t", "the source is empty; the target is ''."),
        ("a\tb\tc", "expected 2 columns separated by tabs, found 3 columns in 'a\\tb\\tc'."),
    ],
)
def test_a_bad_row_is_refused_with_how_to_go_on(tmp_path, line, problem):
    path = written(tmp_path, f"good\tgut\n\n{line}\nbetter\tbesser\n")
    table = open_pairs([path])
    with pytest.raises(DataError) as caught:
        list(table.read())
    message = str(caught.value)
    assert message.startswith(f"{path}:3: {problem} ")
    assert message.endswith(
        f"Mend it, or leave such rows out with --set data.bad_rows=skip; regard data check {path} "
        "lists them all."
    )
    assert list(table.read(skip_bad=True)) == [Pair("good", "gut"), Pair("better", "besser")]
    assert [type(row) for row in table.rows()] == [tuple, Flaw, tuple]


def test_pairs_before_a_bad_row_are_still_delivered(tmp_path):
    reader = open_pairs([written(tmp_path, "a\tb\nc\n")]).read()
    assert next(reader) == Pair("a", "b")
    with pytest.raises(DataError):
        next(reader)


@pytest.mark.parametrize(
    ("content", "why"), [("", "the file is empty"), ("\n \n", "every line is blank")]
)
def test_a_file_without_pairs_is_refused(tmp_path, content, why):
    with pytest.raises(DataError, match=rf"no rows in it: {why}\. Expected one source<TAB>target"):
        open_pairs([written(tmp_path, content)])


def test_a_file_of_bad_rows_alone_is_refused_even_when_they_are_skipped(tmp_path):
    path = written(tmp_path, "source\ttarget\na\t\n\tb\n")
    with pytest.raises(DataError) as caught:
        list(open_pairs([path]).read(skip_bad=True))
    assert str(caught.value).startswith(f"{path}: no pairs in it: every row is bad. regard data")


def test_a_packed_file_is_read_by_its_inner_name(tmp_path):
    path = tmp_path / "pairs.csv.gz"
    path.write_bytes(gzip.compress(b'"a, b",c\n'))
    assert list(open_pairs([path]).read()) == [Pair("a, b", "c")]
