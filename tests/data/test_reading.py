"""Whether a table is taken for texts and labels, or for pairs."""

import random

import pytest

from regard.data.audit import audit
from regard.data.reading import LabelPairs, open_texts
from regard.data.summary import summarize
from regard.errors import ConfigError, DataError

DICE = random.Random(0)


def texts(words):
    return [" ".join(DICE.choices("some words of a text".split(), k=words)) + f" {n}" for n in ROWS]


ROWS = range(120)
LONG, SHORT = texts(12), texts(3)
KINDS, STATES = ([words[n % len(words)] for n in ROWS] for words in (["a", "b", "c"], ["x", "y"]))
SCORES = [f"{n / 1000}" for n in ROWS]


def table(folder, columns, header=True):
    lines = ["\t".join(row) for row in zip(*columns.values(), strict=True)]
    path = folder / "table.tsv"
    path.write_text("\n".join(["\t".join(columns), *lines] if header else lines), "utf-8")
    return path


def read(path, *names, labels=None):
    """The names of two columns, labels in brackets."""
    found = open_texts([path], *(names or (None, None)), labels=labels)
    columns = found.table.columns
    first, second = columns[found.source], columns[found.target]
    return f"{first} [{second}]" if isinstance(found, LabelPairs) else f"{first} {second}"


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ({"text": LONG, "label": KINDS}, "text [label]"),
        ({"stars": STATES, "review": LONG}, "review [stars]"),
        ({"satz": LONG, "art": KINDS}, "satz [art]"),
        ({"text": LONG, "title": SHORT, "label": KINDS}, "text [label]"),
        ({"id": SCORES, "body": LONG, "subject": SHORT, "queue": KINDS}, "body [queue]"),
        ({"text": LONG, "label": SHORT}, "text [label]"),  # one per row, but nobody calls texts so
        ({"source": LONG, "target": SHORT, "label": KINDS}, "source target"),
        ({"source": LONG, "target": KINDS}, "source target"),
        ({"question": LONG, "answer": SHORT, "topic": KINDS}, "question answer"),
        ({"body": LONG, "subject": SHORT}, "body subject"),
        ({"German": LONG, "English sentence": SHORT, "domain": KINDS}, "English sentence German"),
        ({"english": KINDS, "german": SHORT}, "english german"),
    ],
)
def test_what_columns_are_for_shows_in_their_names_or_in_what_repeats(tmp_path, columns, expected):
    assert read(table(tmp_path, columns)) == expected


def test_a_column_without_a_name_holds_labels_where_they_come_again_and_again(tmp_path):
    assert read(table(tmp_path, {"1": LONG, "2": KINDS}, header=False)) == "1 [2]"
    few = {"1": LONG, "2": [f"so {n % 30}" for n in ROWS]}  # four rows of each
    assert read(table(tmp_path, few, header=False)) == "1 2"


def test_what_repeats_only_in_the_first_rows_is_no_label(tmp_path):
    """As in pairs that are sorted by their sources."""
    columns = {"1": ["Go."] * 150 + [f"Go {n}." for n in range(900)], "2": map(str, range(1050))}
    assert read(table(tmp_path, columns, header=False)) == "1 2"


def test_a_column_that_is_named_decides(tmp_path):
    path = table(tmp_path, {"body": LONG, "subject": SHORT, "queue": KINDS, "state": STATES})
    assert read(path, None, "state") == "body [state]"
    assert read(path, "subject", "queue") == "subject [queue]"
    assert read(path, "body", "subject") == "body subject"


def test_a_task_that_is_named_decides(tmp_path):
    path = table(tmp_path, {"text": LONG, "title": SHORT, "label": KINDS})
    assert read(path, labels=False) == "text title"
    pairs = table(tmp_path, {"source": LONG, "target": KINDS})
    assert read(pairs, labels=True) == "source [target]"


def test_where_training_would_ask_which_column_is_the_label_nothing_is_guessed(tmp_path):
    path = table(tmp_path, {"body": LONG, "subject": SHORT, "queue": KINDS, "state": STATES})
    with pytest.raises(DataError, match="which of its 4 columns is the label") as caught:
        read(path)
    assert str(caught.value).endswith(
        "say --task transduce, or name both with --source and --target."
    )
    (finding,) = (one for one in audit([path]).findings if one.level != "ok")
    assert finding.name == "unknown text and label" and "--target COLUMN" in finding.note
    found = summarize([path])
    assert found.chosen == {} and "--target names it" in found.notes[-1]


def test_labels_stand_in_one_table_with_their_texts(tmp_path):
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text("one\ntwo\n")
    with pytest.raises(ConfigError, match="2 files, and texts stand in one table"):
        audit([tmp_path / "a.txt", tmp_path / "b.txt"], labels=True)


def test_it_is_said_aloud_that_a_table_was_taken_for_texts_and_labels(tmp_path):
    path = table(tmp_path, {"satz": LONG, "art": KINDS})
    for notes in (audit([path]).notes, summarize([path]).notes):
        assert any('"satz" is the text and "art" the label' in note for note in notes)
        assert notes[-1].startswith("read as texts with labels, as regard train classify does")
    assert audit([path]).as_json()["read_as"] == "labels"
    assert audit([path], labels=False).as_json()["read_as"] == "pairs"
