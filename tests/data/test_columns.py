from pathlib import Path

import pytest

from regard.data.columns import choose_columns
from regard.data.table import Table, open_table
from regard.errors import DataError

TATOEBA = "CC-BY 2.0 (France) Attribution: tatoeba.org #{} (CM) & #{} (cueyayotl)"
WORDS = ("one more", "two of us", "three in a row", "four corners", "five o'clock")


def table(folder: Path, header: str, *columns: list[str] | tuple[str, ...]) -> Table:
    """A TSV table of these columns; without a header if that is empty."""
    rows = ["\t".join(row) for row in zip(*columns, strict=True)]
    path = folder / "x.tsv"
    path.write_text("\n".join([header.replace(" ", "\t"), *rows]), "utf-8")
    return open_table([path], header.split())


def named(folder: Path, header: str) -> Table:
    """A table with these columns, each of which could be source or target."""
    return table(folder, header, *[WORDS] * len(header.split()))


def problem(some: Table, source: str | None = None, target: str | None = None) -> str:
    with pytest.raises(DataError) as caught:
        choose_columns(some, source, target)
    assert str(caught.value).startswith(f"{some.name}: ")
    return str(caught.value)


# Named


@pytest.mark.parametrize(
    ("source", "target", "places"),
    [
        ("b", "c", (1, 2)),
        ("c", "a", (2, 0)),
        ("B", "C", (1, 2)),
        ("1", "3", (0, 2)),
        ("a", "2", (0, 1)),
    ],
)
def test_columns_are_found_by_name_or_by_number(tmp_path, source, target, places):
    assert choose_columns(named(tmp_path, "a b c"), source, target) == (*places, ())


def test_an_exact_name_counts_before_capitals_and_a_name_before_a_number(tmp_path):
    assert choose_columns(named(tmp_path, "A a text"), "a", "text")[:2] == (1, 2)
    assert choose_columns(named(tmp_path, "text 1 x"), "1", "text")[:2] == (1, 0)


def test_a_name_that_is_not_there_is_answered_with_the_likely_one_and_all_columns(tmp_path):
    message = problem(named(tmp_path, "context question id"), "quesion", "id")
    assert 'there is no column "quesion". Did you mean "question"?' in message
    assert "\n  2  question: 'one more'\n" in message
    message = problem(table(tmp_path, "", WORDS, WORDS), "4", "1")
    assert 'there is no column "4". Known: 1, 2. The file has no header.' in message
    assert message.endswith("\n  1  1: 'one more'\n  2  2: 'one more'")


def test_a_name_that_two_columns_share_is_answered_with_their_numbers(tmp_path):
    some = named(tmp_path, "text other text")
    assert '2 columns are named "text". Give a number: 1 or 3.' in problem(some, "text", "other")
    assert choose_columns(some, "3", "other")[:2] == (2, 1)


def test_source_and_target_can_not_be_one_column(tmp_path):
    some = named(tmp_path, "a b")
    assert '"a" and "1" are one column. Name another for one of them.' in problem(some, "a", "1")


@pytest.mark.parametrize(
    ("header", "source", "target", "places"),
    [
        ("a b", "a", None, (0, 1)),
        ("a b", "b", None, (1, 0)),
        ("a b", None, "a", (1, 0)),
        ("source target", "target", None, (1, 0)),
    ],
)
def test_of_two_columns_the_one_that_is_not_named_is_the_other(
    tmp_path, header, source, target, places
):
    assert choose_columns(named(tmp_path, header), source, target) == (*places, ())


def test_of_more_columns_the_other_one_is_guessed_aloud_or_asked_for(tmp_path):
    some = named(tmp_path, "context question answer")
    *places, (note,) = choose_columns(some, "question", None)
    assert places == [1, 2]
    assert 'of 3 columns, "question" is the source and "answer" the target: --source and' in note
    assert choose_columns(some, None, "answer")[:2] == (1, 2)
    message = problem(some, "context")
    assert "which of its 3 columns is the target?\n  1  context: 'one more'\n" in message
    assert message.endswith("\nSay it with --target COLUMN: a name or a number.")
    assert "which of its 3 columns is the source?" in problem(some, None, "context")


def test_of_more_columns_the_only_other_one_with_texts_is_taken(tmp_path):
    some = table(tmp_path, "n x y", ["1", "2", "3", "4", "5"], WORDS, WORDS)
    assert choose_columns(some, "y", None)[:2] == (2, 1)
    assert choose_columns(some, None, "x")[:2] == (2, 1)


# Guessed by name


@pytest.mark.parametrize("header", ["", "source target", "de en", "german english", "a b"])
def test_of_two_columns_the_first_is_the_source(tmp_path, header):
    assert choose_columns(table(tmp_path, header, WORDS, WORDS), None, None) == (0, 1, ())


@pytest.mark.parametrize("header", ["target source", "Answer Question", "target_text source_text"])
def test_two_columns_with_names_in_the_other_order_are_turned_aloud(tmp_path, header):
    *places, (note,) = choose_columns(named(tmp_path, header), None, None)
    assert places == [1, 0]
    first, second = header.split()
    assert note == f'"{second}" is the source and "{first}" the target, as their names say.'


@pytest.mark.parametrize(
    ("header", "places"),
    [
        ("id source target", (1, 2)),
        ("tgt lang src", (2, 0)),
        ("instruction input output", (0, 2)),
        ("title context question answers", (2, 3)),
        ("id article highlights", (1, 2)),
        ("body subject sender", (0, 1)),
        ("x word pronunciation", (1, 2)),
        ("x utterance reply", (1, 2)),
        ("Prompt Response Model", (0, 1)),
        ("x Source_Text Target_Text", (1, 2)),
        ("x german english", (2, 1)),
    ],
)
def test_well_known_names_are_found_among_more_columns(tmp_path, header, places):
    *found, (note,) = choose_columns(named(tmp_path, header), None, None)
    assert tuple(found) == places
    assert "--source and --target choose others" in note


def test_three_languages_are_not_guessed_between(tmp_path):
    message = problem(named(tmp_path, "english german french"))
    assert "which of its 3 columns are the source and the target?" in message
    assert message.endswith("with --source COLUMN and --target COLUMN: a name or a number.")


# Guessed by what is in them


@pytest.mark.parametrize(
    "other",
    [
        ["1", "-2.5", "3,000", "4e-3", "50%"],
        ["same words", "same words", "same words", "same words", "same words"],
        ["", "", " ", "", ""],
        ["train-001", "train-002", "train-003", "train-004", "test-001"],
        ["9f1c", "03ab", "77d0", "e4e4", "1c2d"],
        ["https://a.org/1", "http://b.org", "https://c.org", "www.d.org", "http://e"],
        [TATOEBA.format(i, i * 7) for i in range(5)],
        ["Licence: MIT", "license: BSD", "© 2020 A", "(c) 2021 B", "Creative, CC0 or CC BY 4"],
    ],
    ids=["numbers", "constant", "empty", "ids", "hashes", "links", "tatoeba", "licences"],
)
@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_column_without_texts_is_passed_over_aloud(tmp_path, other, place):
    columns = [WORDS, WORDS[::-1]]
    columns.insert(place, other)
    some = table(tmp_path, "", *columns)
    first, second, (note,) = choose_columns(some, None, None)
    assert [first, second] == [column for column in range(3) if column != place]
    assert f"of 3 columns, column {first + 1} is the source and column {second + 1} the" in note


def test_columns_with_the_names_of_other_things_are_passed_over(tmp_path):
    some = table(tmp_path, "lang erste zweite url", list("ababa"), WORDS, WORDS, list("vwxyz"))
    assert choose_columns(some, None, None)[:2] == (1, 2)


def test_short_words_and_years_in_a_text_are_texts(tmp_path):
    years = ["in 1999", "2001", "MP3", "it", "was"]
    assert "which of its 3" in problem(table(tmp_path, "", years, WORDS, ["a", "b", "c", "a", "b"]))


def test_a_table_without_one_good_row_is_asked_about_without_examples(tmp_path):
    path = tmp_path / "x.tsv"
    path.write_text("text\tone\ttwo\nragged\trow\n", "utf-8")
    assert "\n  2  one: ''\n" in problem(open_table([path]))


def test_lists_are_shown_as_texts(tmp_path):
    path = tmp_path / "x.jsonl"
    path.write_text('{"a": ["one", "two"], "b": "x", "c": "y"}\n', "utf-8")
    assert "\n  1  a: 'one two'\n" in problem(open_table([path]))


# Fallback


def test_missing_names_mean_first_and_second_where_a_file_can_not_say_otherwise(tmp_path):
    some = table(tmp_path, "", WORDS, WORDS)
    *places, (note,) = choose_columns(some, "english", "spanish", fallback=True)
    assert places == [0, 1]
    assert note == (
        f"{some.name} has no column english or spanish: its first is the source and its second "
        "the target."
    )
    assert choose_columns(some, "2", "1", fallback=True) == (1, 0, ())
    assert choose_columns(some, None, None, fallback=True) == (0, 1, ())


def test_the_fallback_is_not_for_tables_with_a_header_or_more_columns(tmp_path):
    for some in (named(tmp_path, "question answer"), table(tmp_path, "", WORDS, WORDS, WORDS)):
        with pytest.raises(DataError, match='there is no column "english"'):
            choose_columns(some, "english", "spanish", fallback=True)


def test_the_fallback_serves_parallel_files_whose_endings_are_no_names(tmp_path):
    paths = [tmp_path / "x.src", tmp_path / "x.ref"]
    for path in paths:
        path.write_text("a\n", "utf-8")
    some = open_table(paths)
    assert choose_columns(some, "de", "en", fallback=True)[:2] == (0, 1)
    assert choose_columns(some, "ref", "src", fallback=True) == (1, 0, ())
