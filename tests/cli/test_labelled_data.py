"""`regard data` about texts with labels: what a person reads, and what a script reads."""

import csv
import json
import re

import pytest
from click.testing import CliRunner

from regard.cli.completion import TASKS
from regard.cli.data import PAIRS, data

ROWS = [(f"text of some words {n}", f"kind {n % 3}") for n in range(300)]


def run(*args):
    runner = CliRunner(env={"COLUMNS": "100"})
    return runner.invoke(data, [str(arg) for arg in args], catch_exceptions=False)


def plain(done):
    return " ".join(done.output.split())


@pytest.fixture
def reviews(tmp_path):
    rows = [*ROWS, ROWS[4], (ROWS[5][0], "kind 0"), ("nothing", ""), ("", "kind 1")]
    path = tmp_path / "reviews.csv"
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([("text", "label"), *rows])
    return path


def test_check_speaks_of_texts_and_labels(reviews):
    done = run("check", reviews)
    shown = plain(done)
    assert done.exit_code == 1 and "2 problems, 2 notes." in done.output
    assert "rows without a text 1 line 305" in shown
    assert "rows without a label 1 line 304" in shown
    assert "texts with different labels 1 line 7 as in lines 7 and 303: kept." in shown
    assert "scoring takes every source once" not in shown
    assert "every target counts as right" not in shown and "held-out targets" not in shown


def test_a_task_says_what_the_table_does_not(reviews):
    assert "every target counts as right" in plain(run("check", reviews, "--task", "translate"))
    found = json.loads(run("check", reviews, "--task", "classify", "--json").output)
    assert found["read_as"] == "labels" and found["passed"] is False
    assert run("check", reviews, "--task", "gpt").exit_code == 2
    assert {*PAIRS, "classify"} <= {*TASKS}


def test_stats_count_rows_labels_and_lengths_of_texts(reviews):
    done = run("stats", reviews)
    assert "304 rows, 3 labels, 1 row without a label, 1 row without a text; csv" in done.output
    assert re.search(r"^ *102  33\.7 %  kind 1$", done.output, re.MULTILINE)
    lengths = done.output.partition("lengths")[2].partition("different")[0]
    assert "characters" in lengths and "words" in lengths and "label" not in lengths
    assert "61 texts with a label for each word of a text (5 on average)" in plain(done)
    assert "expects a bag of words to do best (it changes at 1,500)" in plain(done)


def test_stats_say_how_many_labels_are_left_out_of_the_list(tmp_path):
    path = tmp_path / "intents.tsv"
    rows = [f"some words {n}\tintent {min(n % 20, 15)}" for n in range(400)]
    path.write_text("\n".join(["text\tintent", *rows]))
    done = run("stats", path)
    assert "16 labels" in done.output
    assert re.search(r"^ *100  25\.0 %  intent 15\n +20 +5\.0 %  intent 0$", done.output, re.M)
    assert re.search(r"^ *80  20\.0 %  \.\.\. and 4 others$", done.output, re.MULTILINE)


def test_a_picture_of_labelled_texts_has_their_lengths_and_the_labels(reviews, monkeypatch):
    drawn = []
    monkeypatch.setattr(
        "regard.lens.histogram.save_histograms", lambda *args: drawn.append(args) or args[1]
    )
    picture = reviews.parent / "a.png"
    assert run("stats", reviews, "--png", picture).exit_code == 0
    ((lengths, path, classes),) = drawn
    assert [name for name, _ in lengths] == ["text"] and path == picture
    assert classes == [("label", {"kind 1": 102, "kind 0": 101, "kind 2": 100})]
