"""What `summarize` counts in texts with labels."""

import csv
import json

import pytest

from regard.data.labels import read_labels
from regard.data.summary import summarize
from regard.data.values import Values
from regard.run import choosing

LABELS = ["good", " good ", "bad", "", " ", "Good"]
ROWS = [(f"{'word ' * (n % 5)}text {n}", LABELS[n % 6]) for n in range(120)]


def table(folder, rows, names=("text", "label")):
    path = folder / "rows.csv"
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([names, *rows])
    return path


def test_labels_are_counted_as_training_takes_them_and_none_is_empty(tmp_path):
    path = table(tmp_path, [*ROWS, ("", "bad")])
    found = summarize([path])
    part = read_labels(path, bad_rows="skip")
    assert found.label.labels == {"good": 40, "bad": 21, "Good": 20}
    assert {example.label for example in part.examples} == found.label.labels.keys()
    assert (found.rows, found.label.blank, found.text.blank) == (121, 40, 1)
    assert (found.text.name, found.label.name) == ("text", "label")


def test_an_empty_cell_is_no_class_in_any_column():
    values = Values("label")
    for cell in ["a", "", "  ", "a", "b"]:
        values.add(cell)
    assert values.labels() == {"a": 2, "b": 1}


def test_many_labels_are_all_counted(tmp_path):
    rows = [(f"text {n}", f"intent {n % 90}") for n in range(200)]
    found = summarize([table(tmp_path, rows, ("utterance", "intent"))])
    assert len(found.label.labels) == 90 and list(found.label.labels.values())[0] == 3


def test_each_label_of_a_list_is_counted(tmp_path):
    rows = [{"text": f"text {n}", "labels": ["a", "b"][: 1 + n % 2]} for n in range(60)]
    path = tmp_path / "rows.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    assert summarize([path]).label.labels == {"a": 60, "b": 30}


def test_texts_for_a_word_are_those_of_the_rule_that_compare_knows(tmp_path):
    path = table(tmp_path, [row for row in ROWS if row[1].strip()])
    rule = choosing.rule_for(read_labels(path).examples)
    assert summarize([path]).texts_for_a_word == pytest.approx(rule["ratio"])


def test_the_json_of_a_summary_tells_of_labels(tmp_path):
    found = summarize([table(tmp_path, ROWS)]).as_json()
    assert json.loads(json.dumps(found)) == found
    assert found["read_as"] == "labels" and found["labels"] == {"good": 40, "bad": 20, "Good": 20}
    assert (found["rows_without_label"], found["rows_without_text"]) == (40, 0)
    assert found["texts_for_a_word"] == pytest.approx(80 / (2 + 2), abs=0.1)
    assert [column["role"] for column in found["columns"]] == ["text", "label"]
    pairs = summarize([table(tmp_path, ROWS)], labels=False).as_json()
    assert [column["role"] for column in pairs["columns"]] == ["source", "target"]
    assert pairs["read_as"] == "pairs" and "labels" not in pairs


def test_line_ends_inside_of_cells_are_not_those_of_the_file(tmp_path):
    found = summarize([table(tmp_path, [(f"a\n{text}", label) for text, label in ROWS])])
    assert str(found.files[0]) == r"UTF-8, \r\n line ends, 241 lines"
