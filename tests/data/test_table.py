import csv
import gzip
import io
import json
import os
import re
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.data.headers import is_header
from regard.data.table import Flaw, Row, Table, open_table
from regard.errors import DataError

relaxed = settings(deadline=None, max_examples=100)
character = st.one_of(
    st.sampled_from([*'",;|\t\n\r \\', "\r\n", "\v", "\u2028", "é", "🙂"]),
    st.characters(exclude_characters="\0", exclude_categories=["Cs"]),
)
text = st.lists(character, max_size=8).map("".join)
side = st.text(st.characters(exclude_characters="\t\r\n\0", codec="utf-8")).filter(str.strip)
LONG = "é," * 500_000


def written(folder: Path, content: str | bytes, name: str) -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def cells(table: Table) -> list[tuple]:
    """The rows, none of which may be a flaw."""
    return [row.cells for row in table.rows()]


def flaws(table: Table) -> list[Flaw]:
    return [row for row in table.rows() if isinstance(row, Flaw)]


def problem(*paths: Path, names: tuple[str, ...] = ()) -> str:
    with pytest.raises(DataError) as caught:
        list(open_table(paths, names).rows())
    return str(caught.value)


def count_lines(written: str) -> int:
    return len(re.findall("\r\n|\r|\n", written))


# Round trips


@relaxed
@given(
    rows=st.lists(st.tuples(text, text), min_size=1),
    delimiter=st.sampled_from(",;|\t"),
    style=st.sampled_from(
        [
            {},
            {"quoting": csv.QUOTE_ALL},
            {"quoting": csv.QUOTE_ALL, "lineterminator": "\n"},
            {"quoting": csv.QUOTE_ALL, "lineterminator": "\r"},
        ]
    ),
)
def test_what_csv_writes_is_read_back_exactly_with_the_line_of_each_row(
    tmp_path_factory, rows, delimiter, style
):
    whole, expected = io.StringIO(), []
    writer = csv.writer(whole, delimiter=delimiter, **style)
    writer.writerow(["source", "target"])
    for row in rows:
        expected.append(Row(count_lines(whole.getvalue()) + 1, row))
        writer.writerow(row)
    path = written(tmp_path_factory.getbasetemp(), whole.getvalue(), "some.csv")
    table = open_table([path])
    assert (table.format, table.delimiter, table.columns) == (
        "csv",
        delimiter,
        ("source", "target"),
    )
    assert list(table.rows()) == expected


@relaxed
@given(
    rows=st.lists(st.tuples(text, text), min_size=1),
    ascii_only=st.booleans(),
    end=st.sampled_from(["\n", "\r\n", "\r", "\n\n"]),
)
def test_what_json_writes_is_read_back_exactly(tmp_path_factory, rows, ascii_only, end):
    lines = [json.dumps({"a": a, "b": b}, ensure_ascii=ascii_only) for a, b in rows]
    path = written(tmp_path_factory.getbasetemp(), end.join(lines), "some.jsonl")
    step = count_lines(end)
    expected = [Row(1 + step * i, row) for i, row in enumerate(rows)]
    assert list(open_table([path]).rows()) == expected


@relaxed
@given(st.lists(st.tuples(side, side, side), min_size=1), st.sampled_from(["\n", "\r\n", "\r"]))
def test_tabs_are_the_only_thing_that_matters_in_tsv(tmp_path_factory, rows, end):
    content = end.join("\t".join(row) for row in [("source", "target", "note"), *rows])
    path = written(tmp_path_factory.getbasetemp(), content, "some.tsv")
    expected = [Row(number, row) for number, row in enumerate(rows, start=2)]
    assert list(open_table([path]).rows()) == expected


@relaxed
@given(st.lists(st.tuples(side, side), min_size=1), st.sampled_from(["\n", "\r\n", "\r"]))
def test_two_files_are_read_side_by_side(tmp_path_factory, rows, end):
    folder = tmp_path_factory.getbasetemp()
    paths = [
        written(folder, "\ufeff" + "".join(row[i] + end for row in rows), f"some.{suffix}")
        for i, suffix in enumerate(("de", "en"))
    ]
    table = open_table(paths)
    assert (table.format, table.columns, table.header) == ("parallel", ("de", "en"), False)
    assert list(table.rows()) == [Row(number, row) for number, row in enumerate(rows, start=1)]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("x.tsv", f"{LONG}\tb\nc\t{LONG}\n"),
        ("x.csv", f'"{LONG}",b\nc,"{LONG}"\n'),
        ("x.jsonl", f'{{"a": "{LONG}", "b": "b"}}\n{{"a": "c", "b": "{LONG}"}}\n'),
    ],
)
def test_a_line_of_a_megabyte_is_read_in_every_format(tmp_path, name, content):
    table = open_table([written(tmp_path, content, name)])
    assert cells(table) == [(LONG, "b"), ("c", LONG)]
    sides = [written(tmp_path, f"{LONG}\nc\n", "x.1"), written(tmp_path, f"b\n{LONG}\n", "x.2")]
    assert cells(open_table(sides)) == [(LONG, "b"), ("c", LONG)]


def test_a_cell_that_outgrows_the_sample_is_no_flaw(tmp_path):
    article = "one line, and another\n" * 80_000  # 1.7 MB
    path = written(tmp_path, f'id,article,summary\n1,"{article}",short\n', "x.csv")
    table = open_table([path])
    assert table.columns == ("id", "article", "summary")
    assert list(table.rows()) == [Row(2, ("1", article, "short"))]


@pytest.mark.parametrize("format", ["csv", "tsv", "jsonl"])
def test_memory_does_not_grow_with_the_table(tmp_path, format):
    row = {"csv": b'a,"b ""c"""\n', "tsv": b"a\tb c\n", "jsonl": b'{"a": "a", "b": "c"}\n'}
    path = written(tmp_path, gzip.compress(row[format] * 100_000), f"big.{format}.gz")
    table = open_table([path])
    tracemalloc.start()
    try:
        assert sum(1 for _ in table.rows()) == 100_000
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 2_500_000


# Which format


@pytest.mark.parametrize(
    ("name", "content", "format", "delimiter"),
    [
        ("x.tsv", "a\tb\n", "tsv", "\t"),
        ("x.tab", "a\tb\n", "tsv", "\t"),
        ("x.TSV.gz", gzip.compress(b"a\tb\n", mtime=0), "tsv", "\t"),
        ("x.txt", "a, c\tb\na\tb\n", "tsv", "\t"),
        ("x", "a\tb\nstray\na\tb\n", "tsv", "\t"),
        ("x.csv", "a,b\n", "csv", ","),
        ("x.csv.gz", gzip.compress(b"a,b\n", mtime=0), "csv", ","),
        ("x.csv", "a\tb\nc, d\te\n", "csv", "\t"),
        ("x.csv", 'source;target\n"a, b";"c, d"\ne, f;g, h\n', "csv", ";"),
        ("x.csv", "a|b\nc|d, e\n", "csv", "|"),
        ("x.csv", "a,b\nc,d,e,f\ng,h,i\nj,k\n", "csv", ","),
        ("x.txt", "a;b\nc;d\n", "csv", ";"),
        ("x.data", '\n\n{"a": "b", "c": "d"}\n', "jsonl", "\t"),
        ("x.csv", '{"a": "b", "c": "d"}\n', "jsonl", "\t"),
        ("x.txt", '{"a": "b", "c": "d"\n{"a": "b", "c": "d"}\n', "jsonl", "\t"),
        ("x.tsv", '{"a"}\tb\n', "tsv", "\t"),
        ("x.txt", "{name} is here\tb\n", "tsv", "\t"),
        ("x.txt", "[Music]\tb\n", "tsv", "\t"),
    ],
)
def test_the_content_tells_the_format_and_then_the_name(tmp_path, name, content, format, delimiter):
    table = open_table([written(tmp_path, content, name)])
    assert (table.format, table.delimiter) == (format, delimiter)
    assert len(table.columns) == 2


def test_quotes_are_part_of_the_text_in_tsv_and_not_in_csv(tmp_path):
    assert cells(open_table([written(tmp_path, '"a"\t"b\n', "x.tsv")])) == [('"a"', '"b')]
    assert cells(open_table([written(tmp_path, '"a"\t"b"\n', "x.csv")])) == [("a", "b")]
    assert cells(open_table([written(tmp_path, 'a "b" c,"d ""e"""\n', "x.csv")])) == [
        ('a "b" c', 'd "e"')
    ]


@pytest.mark.parametrize("name", ["x.csv", "x.tsv", "x.jsonl"])
def test_blank_lines_are_skipped_and_counted(tmp_path, name):
    row = {"x.csv": "a,b", "x.tsv": "a\tb", "x.jsonl": '{"1": "a", "2": "b"}'}[name]
    path = written(tmp_path, f"\n  \n{row}\n\n   \r\n\n{row}\n\n", name)
    assert list(open_table([path]).rows()) == [Row(3, ("a", "b")), Row(7, ("a", "b"))]


@pytest.mark.parametrize(
    ("name", "content", "parts"),
    [
        ("x.tsv", "a,b\nc,d\n", ["ends in .tsv, but there is no tab", "'a,b'", "by commas: let"]),
        (
            "x.tab",
            "a;b\nc;d\n",
            ["ends in .tab", "separated by semicolons", "end in .csv, or save"],
        ),
        ("x.tsv", "a    b\n", ["Did an editor turn the tabs into several blanks? Save it"]),
        ("x.tsv", "hello\n", ["It seems to hold one column: put a tab between"]),
        ("x.txt", "Hello, you\nHi\nNo\n", ["one column: no tab, comma,", "regard train translate"]),
        ("x.csv", "\u00a0\n", ["one column", "as in '\\xa0'. Put a tab"]),
        ("x.txt", '"a\n', [":1: the quote that opens in '\"a' is never closed."]),
        ("x.csv", "hello\nyou\n", ["one column", "as in 'hello'. Put a tab between source and"]),
        ("x.csv", '"a,b\nc,d\n', [":1: the quote that opens in '\"a,b' is never closed."]),
        ("x.json", '[{"a": 1}]', [":1: a JSON array begins here", "jq -c '.[]' "]),
        ("x.txt", '\n[\n{"a": 1}]', [":2: a JSON array begins here", "> x.new.jsonl"]),
        (
            "x.json.gz",
            gzip.compress(b"[1]", mtime=0),
            ["zcat ", "x.json.gz | jq -c '.[]' > x.new.jsonl"],
        ),
        ("x.json", '{\n"a": 1}', [":1: a JSON object over several lines.", "jq -c . "]),
        ("x.jsonl", "a\tb\n", [":1: not JSON at column 1: expecting value, around 'a\\tb'."]),
        ("x.jsonl", '{"a"\n', [":1: not JSON at column 5", 'Write {"source": "...", ']),
        ("x.jsonl", '{"a": "b"}\n', ["its objects have only a. Add the other one."]),
        ("x.jsonl", "{}\n", ["its objects have none. Add the other one."]),
        (
            "x.jsonl",
            '{"translation": {"de": "a", "en": "b"}}\n',
            ["inside of translation? Take them out: jq -c .translation "],
        ),
        ("x.json", '{"the data": [{"a": 1}]}', ["jq -c '.\"the data\"[]' "]),
        ("x.tsv", "", ["no rows in it: the file is empty. Expected one source<TAB>target"]),
        ("x.csv", "\n \n", ["no rows in it: every line is blank. Expected"]),
        ("x.csv", "source,target\n\n", ["there is only a header, 'source, target'."]),
        ("x.csv", b"a,b\n\xff", [":2: not UTF-8"]),
    ],
)
def test_a_file_that_is_no_table_is_refused_with_what_to_do(tmp_path, name, content, parts):
    path = written(tmp_path, content, name)
    message = problem(path)
    assert message.startswith(str(path))
    assert [part for part in parts if part not in message] == []


def test_a_pipe_is_refused_since_its_first_rows_would_be_lost():
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb"), os.fdopen(writing, "wb"):
        assert "a pipe or a device can be read only once" in problem(Path(f"/dev/fd/{reading}"))


@pytest.mark.parametrize("count", [0, 3])
def test_one_file_or_two_are_expected(tmp_path, count):
    path = written(tmp_path, "a\tb\n", "x.tsv")
    assert f"{count} files: expected one table, or two text" in problem(*[path] * count)


def test_a_name_that_is_too_long_for_a_file_is_our_error_too():
    assert "can not be read: File name too long" in problem(Path("a sentence " * 100))


# Parallel files


@pytest.mark.parametrize(
    ("names", "columns"),
    [
        (("a.de", "a.en"), ("de", "en")),
        (("a.de.gz", "a.en"), ("de", "en")),
        (("a.txt", "b.txt"), ("1", "2")),
        (("a", "b.en"), ("1", "2")),
    ],
)
def test_parallel_files_name_their_columns_when_their_endings_differ(tmp_path, names, columns):
    contents = [gzip.compress(b"x\n") if name.endswith("gz") else "x\n" for name in names]
    paths = [written(tmp_path, c, name) for c, name in zip(contents, names, strict=True)]
    table = open_table(paths)
    assert table.columns == columns
    assert table.name == f"{paths[0]} {paths[1]}"


def test_lines_without_a_partner_are_refused_with_both_counts(tmp_path):
    one, two = written(tmp_path, "a\nb\nc\n", "x.de"), written(tmp_path, "a\n", "x.en")
    assert f"{one} has 3 lines and {two} has 1: line n of one must" in problem(one, two)
    assert f"{two} has 1 lines and {one} has 3" in problem(two, one)
    assert f"{two} has 1 lines and {one} has 3" in problem(two, one)
    nothing = written(tmp_path, "", "x.fr")
    assert f"{nothing} has 0 lines and {one} has 3" in problem(nothing, one)


def test_blank_lines_at_the_end_of_one_file_do_no_harm(tmp_path):
    paths = [written(tmp_path, "a\n\n \n", "x.de"), written(tmp_path, "b", "x.en")]
    assert cells(open_table(paths)) == [("a", "b")]


def test_a_blank_line_on_one_side_is_a_flaw_and_on_both_is_none(tmp_path):
    one, two = written(tmp_path, "a\n\n\nd\n", "x.de"), written(tmp_path, "a\n\nc\n\t\n", "x.en")
    first, second = flaws(open_table([one, two]))
    assert (first.line, first.kind, second.line) == (3, "empty", 4)
    assert first.problem.startswith(f"line 3 of {one} is blank, and that of {two} is 'c'. Fill it")
    assert second.problem.startswith(f"line 4 of {two} is blank, and that of {one} is 'd'.")


def test_two_blank_files_and_two_tables_are_refused(tmp_path):
    blank = written(tmp_path, "\n\n", "x.de")
    assert "no rows in them: every line is blank" in problem(
        blank, written(tmp_path, "\n\n", "x.en")
    )
    assert "the same file twice" in problem(blank, blank)
    table = written(tmp_path, "a,b\n", "x.csv")
    message = problem(blank, table)
    assert f"{table}: the name ends in .csv, and of two files each should hold one" in message


# Flaws


@pytest.mark.parametrize(
    ("line", "found", "guess"),
    [
        ("hello", "found 1 column in 'hello'.", "Put one tab between the columns."),
        ("hello,hallo", "found 1 column in", "Is it separated by commas? Save it with tabs."),
        ("hello;hallo", "found 1 column in", "Is it separated by semicolons?"),
        ("hello, you    hallo, du", "found 1 column in", "turn the tab into several blanks?"),
        ("a\tb\tc", "found 3 columns in 'a\\tb\\tc'.", "cut -f 1,2, and put no tab inside"),
        ("a\tb\t", "found 3 columns in 'a\\tb\\t'.", "cut -f 1,2"),
        ("x" * 500, f"in '{'x' * 57}...'.", "Put one tab"),
    ],
)
def test_a_ragged_line_is_shown_and_explained(tmp_path, line, found, guess):
    path = written(tmp_path, f"good\tgut\n\n{line}\n", "x.tsv")
    (flaw,) = flaws(open_table([path]))
    assert (flaw.line, flaw.kind) == (3, "columns")
    assert flaw.problem.startswith("expected 2 columns separated by tabs, found")
    assert found in flaw.problem and guess in flaw.problem


def test_of_more_than_two_columns_none_is_to_be_cut_off(tmp_path):
    path = written(tmp_path, "a\tb\tc\na\tb\tc\td\na\tb\n", "x.tsv")
    more, fewer = flaws(open_table([path]))
    assert "expected 3" in more.problem and more.problem.endswith(". Put no tab inside a text.")
    assert fewer.problem.endswith("Is a tab missing?")


@pytest.mark.parametrize(
    ("content", "line", "kind", "parts"),
    [
        ("a,b,c\n", 2, "columns", ["found 3 columns in 'a,b,c'. Is there a comma inside a text?"]),
        ("a\n", 2, "columns", ["found 1 column in 'a'. Is a comma missing?"]),
        ('a, "b, c"\n', 2, "columns", ["Quotes count only right after the comma"]),
        ('"a\n\nb",c,d\n', 2, "columns", ["found 3 columns in '\"a\\n\\nb\",c,d'"]),
        ('"say "hi" to",b\n', 2, "quotes", ["goes on after its closing quote", '"say "hi" to"']),
        ('x,"a\nb"c\n', 2, "quotes", ["Inside of quotes write every quote twice"]),
        ('"a\nb","c\nd,e\n', 3, "quotes", ["the quote that opens in '\"c' is never closed."]),
        ('x,"\r\n', 2, "quotes", ["the quote that opens in '\"' is never closed."]),
    ],
)
def test_a_wrong_csv_row_is_placed_shown_and_explained(tmp_path, content, line, kind, parts):
    path = written(tmp_path, "source,target\n" + content + "good,gut\n", "x.csv")
    first = flaws(open_table([path]))[0]
    assert (first.line, first.kind) == (line, kind)
    assert [part for part in parts if part not in first.problem] == []


def test_a_forgotten_quote_costs_one_row_and_not_the_rest_of_the_file(tmp_path):
    content = 'source,target\na,b\n"open,c\n"d\ne",f\ng,"h"\ni,""\n'
    rows = list(open_table([written(tmp_path, content, "x.csv")]).rows())
    assert [type(row) for row in rows] == [Row, Flaw, Row, Row, Row]
    assert [row.line for row in rows] == [2, 3, 4, 6, 7]
    assert [row.cells for row in rows if isinstance(row, Row)][1:] == [
        ("d\ne", "f"),
        ("g", "h"),
        ("i", ""),
    ]


@relaxed
@given(st.lists(st.sampled_from(['"', ",", "a", "\n", "\r", '"\n', '","', '""']), max_size=40))
def test_any_quotes_are_read_to_the_end_and_no_line_is_told_twice(tmp_path_factory, parts):
    content = "source,target\n" + "".join(parts) + "\nlast,one\n"
    rows = list(open_table([written(tmp_path_factory.getbasetemp(), content, "x.csv")]).rows())
    lines = [row.line for row in rows]
    assert lines == sorted(set(lines))
    strict = csv.reader(io.StringIO(content, newline=""), strict=True)
    try:
        expected = [tuple(row) for row in strict][1:]
    except csv.Error:
        assert any(isinstance(row, Flaw) and row.kind == "quotes" for row in rows)
    else:
        good = [row.cells for row in rows if isinstance(row, Row)]
        assert good == [row for row in expected if len(row) == 2]


# JSON


def test_columns_are_keys_in_order_of_appearance_and_values_become_texts(tmp_path):
    lines = [
        '{"b": "x", "meta": {"id": 1}, "a": ["y", "z"]}',
        '{"a": 1.50, "c": null, "meta": null}',
        '{"b": true, "a": false, "c": -1e400, "meta": {}}',
        '{"a": "", "b": [], "c": NaN, "d": [[1]]}',
    ]
    table = open_table([written(tmp_path, "\n".join(lines), "x.jsonl")])
    assert table.columns == ("b", "meta", "a", "c")
    assert table.header
    assert table.notes == ("left out, since they hold no texts: d.",)
    usable = [row for row in table.rows() if isinstance(row, Row)]
    assert usable == [Row(2, ("", "", "1.50", "")), Row(4, ([], "", "", ""))]


@pytest.mark.parametrize("missing", [float("nan"), float("inf"), -float("inf"), None])
def test_what_python_writes_for_a_missing_value_is_an_empty_cell(tmp_path, missing):
    line = json.dumps({"a": missing, "b": "Infinity", "c": "NaN"})
    table = open_table([written(tmp_path, line, "x.jsonl")])
    assert cells(table) == [("", "Infinity", "NaN")]


@pytest.mark.parametrize(
    ("line", "kind", "part"),
    [
        ('{"a": "b", "c": "d"', "json", "not JSON at column 20: expecting ',' delimiter, around"),
        ('{"a": "b"} {"c": "d"}', "json", "not JSON at column 12: extra data"),
        ('["a", "b"]', "json", 'expected a JSON object, found \'["a", "b"]\'.'),
        ('{"a": ' + "[" * 100_000, "json", "too many lists or objects inside each other in"),
        ('{"a": {"b": "c"}, "c": "d"}', "type", '"a" is an object in \'{"a"'),
        ('{"a": "b", "c": ["d", 1]}', "type", '"c" is a list of more than texts in'),
        ('{"a": "\\ud83d", "c": "d"}', "json", "half of a character, such as \\ud83d without"),
        ('{"a": ["x", "\\uDE00"], "c": "d"}', "json", "Write the whole character, or remove it."),
    ],
)
def test_a_wrong_json_line_is_placed_shown_and_explained(tmp_path, line, kind, part):
    good = '{"a": "x", "c": "\\ud83d\\ude00"}\n'
    table = open_table([written(tmp_path, f"{good}\n{line}\n{good}", "x.jsonl")])
    (flaw,) = flaws(table)
    assert (flaw.line, flaw.kind) == (3, kind)
    assert part in flaw.problem
    assert [row.cells for row in table.rows() if isinstance(row, Row)] == [("x", "😀")] * 2


def test_what_is_wrong_with_cells_that_nobody_picks_does_not_matter(tmp_path):
    lines = ['{"a": "b", "c": "d", "e": ""}', '{"a": "f", "c": "g", "e": {"id": 1}}']
    table = open_table([written(tmp_path, "\n".join(lines), "x.jsonl")])
    assert [flaw.kind for flaw in flaws(table)] == ["type"]
    assert list(table.picked(lambda row: (row[1], row[0]))) == [(1, ("d", "b")), (2, ("g", "f"))]


# Headers and notes


@pytest.mark.parametrize(
    ("first", "names", "header"),
    [
        (["source", "target"], (), True),
        (["Question ", " ANSWER"], (), True),
        (["word", "Aussprache"], (), True),
        (["source_text", "ziel"], (), True),
        (["translation.en", "translation.de"], (), True),
        (["", "text", "label"], (), True),
        (["en", "de"], (), True),
        (["id", "en", "de"], (), True),
        (["English", "Deutsch"], (), True),
        (["en", "masse"], (), False),
        (["Answer.", "Antwort."], (), False),
        (["text", "text"], (), True),
        (["Full name", "E-mail"], (), True),
        (["New year", "Neues Jahr"], (), False),
        (["text", "a" * 31], (), False),
        (["text", "a\nb"], (), False),
        (["Wort", "Laut"], (), False),
        (["Wort", "Laut"], ("wort",), True),
        (["text", "text"], ("text",), True),
        (["1", "2"], ("1",), False),
        (["source"], ("source",), False),
        ([], (), False),
    ],
)
def test_a_header_is_known_by_its_names(first, names, header):
    assert is_header(first, names) is header


def noted(tmp_path, content: str, name: str = "x.tsv", names: tuple[str, ...] = ()) -> str:
    return " ".join(open_table([written(tmp_path, content, name)], names).notes)


def test_names_that_the_user_asks_for_make_a_header(tmp_path):
    path = written(tmp_path, "Wort,Laut\na b,c\n", "x.csv")
    assert open_table([path]).columns == ("1", "2")
    table = open_table([path], names=["laut"])
    assert (table.columns, table.header, table.notes) == (("Wort", "Laut"), True, ())
    assert list(table.rows()) == [Row(2, ("a b", "c"))]


def test_columns_without_a_name_go_by_their_number(tmp_path):
    path = written(tmp_path, ",source,target\n0,a,b\n", "x.csv")
    assert open_table([path]).columns == ("1", "source", "target")


def test_a_guessed_header_is_said_aloud_unless_every_name_is_well_known(tmp_path):
    note = "the first row (answer, Antwort) is taken for the names of the columns; if it is data,"
    assert note in noted(tmp_path, "answer\tAntwort\nyes\tja\n")
    assert noted(tmp_path, "source\ttarget\nyes\tja\n") == ""
    assert "(en, de) is taken for" in noted(tmp_path, "en\tde\nyes\tja\n")


def test_a_first_row_that_may_be_a_header_is_asked_about_only_if_it_looks_unlike_the_rest(tmp_path):
    note = "no header: the first row is (Wort, Laut); if it is one, name its columns with --source"
    assert note in noted(tmp_path, "Wort\tLaut\nguten Tag\thallo du\n")
    assert noted(tmp_path, "Wort\tLaut\nTag\tTak\n") == ""
    assert noted(tmp_path, "Wort\tLaut\n") == ""
    assert noted(tmp_path, "Wort2\tLaut\nguten Tag\thallo du\n") == ""
    assert noted(tmp_path, "Wort.\tLaut\nguten Tag\thallo du\n") == ""


def test_what_separates_the_columns_is_said_when_it_is_no_comma(tmp_path):
    assert noted(tmp_path, "a b,c\n", "x.csv") == ""
    assert noted(tmp_path, "a b;c\n", "x.csv") == "the columns are separated by semicolons."
    assert "separated by tabs" in noted(tmp_path, "a b\tc\n", "x.csv")
    assert noted(tmp_path, "a b\tc\n", "x.txt") == ""


def test_json_under_the_name_of_another_format_is_said_aloud(tmp_path):
    content = '{"source": "a", "target": "b"}\n'
    assert "ends in .csv, but each line is a JSON object" in noted(tmp_path, content, "x.csv")
    assert noted(tmp_path, content, "x.ndjson") == noted(tmp_path, content, "x") == ""


def test_a_header_that_is_wider_or_narrower_than_the_rows_makes_each_of_them_a_flaw(tmp_path):
    path = written(tmp_path, "source\ttarget\na\tb\tc\nd\te\tf\n", "x.tsv")
    assert [flaw.line for flaw in flaws(open_table([path]))] == [2, 3]


def test_a_table_can_be_read_again_and_left_in_the_middle(tmp_path):
    table = open_table([written(tmp_path, "a b\tc\nd\te\n", "x.tsv")])
    assert next(table.rows()) == Row(1, ("a b", "c"))
    assert len(cells(table)) == len(cells(table)) == 2
