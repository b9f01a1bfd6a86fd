import gzip
import json
from pathlib import Path

import pytest

from regard.data.labels import Labelled, open_labels, read_labels
from regard.errors import DataError

LONG = ("a film to see twice", "not worth the money at all", "it has its moments", "sleep instead")
OTHER = ("see this film twice", "a waste of time and money", "some of it is good", "go to bed now")
DATES = ["2020-01-02 10:00:00+00:00", "Mon Apr 06 22:19:45 PDT 2009", "3 May 2021, 9 am", "4.5.99"]
CHOOSE = ": --source and --target choose others."


def table(folder: Path, header: str, *columns: str | list[str] | tuple[str, ...]) -> Path:
    """A TSV file of these columns; names, and cells that are given as a string, end at blanks."""
    lists = [column.split() if isinstance(column, str) else column for column in columns]
    rows = ["\t".join(row) for row in zip(*lists, strict=True)]
    names = [header if "\t" in header else header.replace(" ", "\t")] if header else []
    path = folder / "x.tsv"
    path.write_text("\n".join([*names, *rows]), "utf-8")
    return path


def problem(path: Path, *names: str | None) -> str:
    with pytest.raises(DataError) as caught:
        open_labels(path, *names)
    assert str(caught.value).startswith(f"{path}: ")
    return str(caught.value)


def chosen(path: Path, *names: str | None) -> tuple[str, str]:
    found = open_labels(path, *names)
    return found.table.columns[found.text], found.table.columns[found.label]


# Files as they are


def test_reviews_with_ids_and_ratings(tmp_path):
    ids = "train/pos/0_9 train/pos/1_7 train/neg/0_1 train/neg/1_2"
    path = table(tmp_path, "id label rating text", ids, "1 1 0 0", "9 7 1 2", LONG)
    part = read_labels(path)
    assert part.examples[1] == Labelled("not worth the money at all", "1")
    assert part.notes == (f'of 4 columns, "text" is the text and "label" the label{CHOOSE}',)
    assert [example.label for example in read_labels(path, None, "rating").examples] == [*"9712"]


def test_questions_with_coarse_and_fine_classes(tmp_path):
    fine = "manner cremat reason cremat"
    path = table(tmp_path, "coarse fine question", "DESC ENTY DESC ENTY", fine, LONG)
    assert chosen(path) == ("question", "coarse")
    assert chosen(path, None, "fine") == ("question", "fine")
    assert chosen(path, "3", "2") == ("question", "fine")


def test_two_texts_with_quotes_in_them(tmp_path):
    first = ('He called him "the witness".', '"No', 'a "b" c, and so on', "Yes, sir, he said.")
    header = "Quality\t#1 ID\t#2 ID\t#1 String\t#2 String"
    path = table(tmp_path, header, "1 0 1 0", "702876 7 8 9", "1 2 3 4", first, OTHER)
    part = read_labels(path)
    assert part.examples[:2] == [Labelled(first[0], "1"), Labelled('"No', "0")]
    assert '"#1 String" is the text and "Quality" the label' in part.notes[-2]
    told = "holds texts too: --set data.other=NAME has both judged together."
    assert part.notes[-1] == f'"#2 String" {told}'
    two = read_labels(path, "#1 string", other="5")
    assert two.examples[0] == Labelled(first[0], "1", OTHER[0])
    assert not any("data.other" in note for note in two.notes)


def test_a_label_and_a_sentence(tmp_path):
    part = read_labels(table(tmp_path, "label sentence", "0 1 0 1", LONG))
    assert part.examples[0] == Labelled(LONG[0], "0")
    assert part.notes == (f'"sentence" is the text and "label" the label{CHOOSE}',)
    assert part.skipped == 0


def test_json_lines_packed(tmp_path):
    rows = [{"id": str(7 * i), "label": "alt.atheism", "text": f"Hi\n{i}"} for i in range(4)]
    path = tmp_path / "x.jsonl.gz"
    path.write_bytes(gzip.compress("\n".join(map(json.dumps, rows)).encode()))
    assert read_labels(path).examples[0] == Labelled("Hi\n0", "alt.atheism")
    assert open_labels(path).notes == (
        f'of 3 columns, "text" is the text and "label" the label{CHOOSE}',
    )


# Guessed


@pytest.mark.parametrize(
    ("header", "columns", "text", "label"),
    [
        ("Class_Index Title Description", ["1 2 1 2", OTHER, LONG], "Description", "Class_Index"),
        (
            "sentiment_confidence tweet_id airline_sentiment tweetText",
            ["1.0 0.34 0.7 0.5", "1 2 3 4", "neutral positive neutral positive", LONG],
            "tweetText",
            "airline_sentiment",
        ),
        ("Id Score Summary Text", ["1 2 3 4", "5 1 5 1", OTHER, LONG], "Text", "Score"),
        (
            "when is_spam sms_message",
            [DATES, "yes no yes no", "hi ho ha hu"],
            "sms_message",
            "is_spam",
        ),
        ("emotion tweet", ["joy fear joy fear", "ah oh oops wow"], "tweet", "emotion"),
        ("text text_label", [LONG, "a b a b"], "text", "text_label"),
        ("label sentence1 sentence2", ["a b a b", LONG, OTHER], "sentence1", "label"),
        ("label target text", ["a b a b", "a c a c", LONG], "text", "label"),
        ("target genre text", [OTHER, "a c a c", LONG], "text", "genre"),
        ("split spam text", ["a b a b", "a b b a", LONG], "text", "spam"),
    ],
)
def test_columns_are_guessed_by_their_names_and_their_cells(tmp_path, header, columns, text, label):
    assert chosen(table(tmp_path, header, *columns)) == (text, label)


def test_without_a_header_the_column_that_repeats_itself_is_the_label(tmp_path):
    path = table(tmp_path, "", "Anna Bert Cara Dirk", "female male female male")
    assert read_labels(path).examples[0] == Labelled("Anna", "female")
    found = read_labels(table(tmp_path, "", "sorted sorted sorted sorted", "a b c d"))
    assert found.examples[0] == Labelled("a", "sorted")
    assert found.notes == (f"column 2 is the text and column 1 the label{CHOOSE}",)


def test_a_first_row_whose_label_comes_again_is_no_header(tmp_path):
    path = table(tmp_path, "", "question answer question answer", "Why? So. What? This.")
    part = read_labels(path)
    assert len(part.examples) == 4 and part.examples[0] == Labelled("Why?", "question")
    assert part.notes == (f"column 2 is the text and column 1 the label{CHOOSE}",)
    assert read_labels(path, "2", "1").examples == part.examples
    spoken = table(tmp_path, "", "Sato Smith Mori Jones", "Japanese English Japanese English")
    assert read_labels(spoken).examples[0] == Labelled("Sato", "Japanese")
    mixed = table(tmp_path, "spam text", "spam ham spam ham", LONG)
    assert chosen(mixed) == ("text", "spam")
    put_together = table(tmp_path, "label text", "a a label a", "b c text d")
    assert read_labels(put_together).examples[0] == Labelled("b", "a")


def test_of_two_columns_the_one_that_is_not_named_is_the_other(tmp_path):
    path = table(tmp_path, "this text", "1 2 3 4", "5 6 7 8")
    for names in (("this", None), (None, "text")):
        found = open_labels(path, *names)
        assert (found.text, found.label, found.notes) == (0, 1, ())
    more = table(tmp_path, "text more mark", LONG, OTHER, "1 2 3 4")
    assert chosen(more, "text", None, "more") == ("text", "mark")


# Refused


def test_where_nothing_fits_the_columns_are_listed(tmp_path):
    path = table(tmp_path, "text a b", LONG, "x y x y", "u u v v")
    assert problem(path) == (
        f"{path}: which of its 3 columns is the label?\n  1  text: 'a film to see twice'\n"
        "  2  a: 'x'\n  3  b: 'u'\nSay it with --target COLUMN: a name or a number."
    )
    message = problem(table(tmp_path, "n id text", "1 2 3 4", "5 6 7 8", "9 8 7 6"))
    assert "columns are the text and the label?" in message
    assert message.endswith("with --source COLUMN and --target COLUMN: a name or a number.")
    long = [5 * text for text in LONG]
    assert "which of its 2 columns is the label?" in problem(table(tmp_path, "text b", long, long))


def test_a_table_without_one_good_row_is_asked_about_without_examples(tmp_path):
    assert "\n  2  b: ''\n" in problem(table(tmp_path, "text b c", ["ragged"], ["row"]))


def test_a_name_that_is_not_there_is_answered_with_the_likely_one(tmp_path):
    path = table(tmp_path, "id label text", "1 2 3 4", "a b a b", LONG)
    assert 'no column "lable". Did you mean "label"?' in problem(path, "text", "lable")
    assert 'no column "zzz". Known: id, label, text.' in problem(path, "zzz")


@pytest.mark.parametrize("names", [("text", "text"), ("1", "text"), ("text", "label", "Text")])
def test_one_column_can_not_be_two_things(tmp_path, names):
    path = table(tmp_path, "text label", LONG, "a b a b")
    said = f'"{names[0]}" and "{names[-1]}" are one column. Name another for one of them.'
    assert said in problem(path, *names)


BELOW = [
    "Wo ist mein Paket? Ich warte seit drei Wochen darauf.\tVersand",
    "Ich habe zweimal bezahlt und will Geld zurück.\tZahlung",
    "Seit gestern kommt mein Paket nicht an, was nun?\tVersand",
]


@pytest.mark.parametrize("first", ["Frage\tKategorie", "ticket text\tqueue", "文本\t类别"])
def test_names_in_any_language_stand_above_labels_that_come_again(tmp_path, first):
    path = tmp_path / "x.tsv"
    path.write_text("\n".join([first, *BELOW * 5]), "utf-8")
    found = read_labels(path)
    assert len(found.examples) == 15 and {e.label for e in found.examples} == {"Versand", "Zahlung"}
    names = first.replace("\t", ", ")
    assert f"the first row ({names}) is taken for the names of the columns." in found.notes


@pytest.mark.parametrize(
    "first",
    [
        "Hilfe!\tZahlung",  # its label comes again
        "Ich möchte kündigen, und zwar noch heute.\tVertrag",  # as long as the others
        "Paket\tPaket",
        "\tKategorie",
    ],
)
def test_a_first_row_that_may_be_data_is_data(tmp_path, first):
    path = tmp_path / "x.tsv"
    path.write_text("\n".join([first, *BELOW * 5]), "utf-8")
    assert not open_labels(path).table.header


def test_where_labels_seldom_come_again_a_first_row_is_data(tmp_path):
    path, rows = tmp_path / "x.tsv", [f"{BELOW[n % 3]} {n % 25}" for n in range(40)]
    path.write_text("\n".join(["Hilfe!\tanderes", *rows]), "utf-8")
    assert not open_labels(path, "1", "2").table.header
