"""What `audit` finds in texts with labels, against files in which the faults are known."""

import csv
from collections import Counter, defaultdict

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from regard.data.audit import audit
from regard.data.label_doubts import doubts_about, refuse_ids
from regard.data.splits import default_shares
from regard.errors import DataError
from regard.tasks.label_data import read_part, read_sides
from regard.tasks.label_recipe import LabelData

relaxed = settings(
    deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
few_rows = st.lists(
    st.tuples(st.text("aAá b.!", min_size=1, max_size=2).filter(str.strip), st.sampled_from("xyz")),
    min_size=1,
    max_size=60,
)
FINE = [(f"text number {n}", f"label {n % 4}") for n in range(400)]


def table(path, rows):
    lines = ["text\tlabel", *("\t".join(row) for row in rows)]
    path.write_text("\n".join(lines), "utf-8")
    return path


def by_name(result):
    return {finding.name: finding for finding in result.findings}


def lines(finding):
    return [int(place.rpartition(":")[2]) for place in finding.where]


def refusal(path, **sides):
    """What `regard train classify` says to a table, if anything."""
    try:
        whole = read_part(LabelData(path=str(path)), path).examples
        refuse_ids(whole, path, None)
        read_sides(LabelData(path=str(path), split=default_shares(len(whole)), **sides))
    except DataError as error:
        return str(error)
    return ""


def test_clean_texts_with_labels_leave_neither_problems_nor_notes(tmp_path):
    result = audit([table(tmp_path / "fine.tsv", FINE)])
    assert result.passed and result.rows == 400
    assert {finding.level for finding in result.findings} == {"ok"}


def test_nothing_is_said_of_sources_targets_or_pairs(tmp_path):
    rows = [*FINE, *FINE[:3], (FINE[5][0], "label 3"), ("TEXT NUMBER 1.", "label 1"), ("no", "")]
    train, test = table(tmp_path / "train.tsv", rows), table(tmp_path / "test.tsv", FINE[:9])
    result = audit([train], test=[test])
    said = " ".join(f"{one.name} {one.note}" for one in result.findings)
    said = said.replace(str(tmp_path), "")
    for word in ("source", "target", "pair", "several"):
        assert word not in said
    assert by_name(result)["test texts in training"].count == 9
    assert "label and all" in by_name(result)["test rows in training"].note


@relaxed
@given(few_rows)
def test_duplicates_and_contradictions_are_those_that_plain_python_finds(tmp_path, rows):
    found = by_name(audit([table(tmp_path / "rows.tsv", rows)]))
    if len({label for _, label in rows}) > 1:
        assert found["duplicate rows"].count == len(rows) - len(set(rows))
    labels = defaultdict(Counter)
    for text, label in rows:
        labels[text][label] += 1
    several = [text for text, counts in labels.items() if len(counts) > 1]
    finding = found["texts with different labels"]
    assert finding.count == len(several)
    firsts = [text for text, _ in rows]
    assert lines(finding) == sorted(firsts.index(text) + 2 for text in several)[:3]
    if several:
        right = 100 * sum(max(counts.values()) for counts in labels.values()) / len(rows)
        told = float(finding.note.partition(" more than ")[2].partition(" %")[0])
        assert right <= told <= right + 0.1 and told < 100


def test_texts_with_different_labels_are_named_with_both_lines(tmp_path):
    rows = [*FINE, (FINE[7][0], "label 0"), (FINE[2][0], FINE[2][1]), (FINE[2][0], "label 1")]
    path = table(tmp_path / "rows.tsv", rows)
    finding = by_name(audit([path]))["texts with different labels"]
    assert finding.where == (f"{path}:4", f"{path}:9") and finding.level == "note"
    assert finding.note.startswith("as in lines 4 and 404, 9 and 402: kept.")
    assert "right about more than 99.6 % of the rows" in finding.note  # 401 of 403


def test_a_duplicate_is_said_to_count_in_scoring_as_well(tmp_path):
    finding = by_name(audit([table(tmp_path / "rows.tsv", [*FINE, FINE[0], FINE[0]])]))
    assert finding["duplicate rows"].count == 2 and lines(finding["duplicate rows"]) == [402, 403]
    assert "each of them counts, in training and in scoring" in finding["duplicate rows"].note


def test_rows_without_a_text_and_rows_without_a_label_are_two_problems(tmp_path):
    path = table(tmp_path / "rows.tsv", [*FINE, ("", "label 1"), ("a", ""), ("b", " "), ("c",)])
    result = audit([path])
    found = by_name(result)
    assert not result.passed and result.rows == 400
    assert lines(found["rows without a text"]) == [402]
    assert lines(found["rows without a label"]) == [403, 404]
    assert lines(found["wrong number of columns"]) == [405]
    for name in ("rows without a text", "rows without a label"):
        assert "training refuses" in found[name].note
        assert "--set data.bad_rows=skip" in found[name].note
    assert f"data.unlabelled={path}" in found["rows without a label"].note
    assert "unlabelled" not in found["rows without a text"].note


def test_what_is_odd_about_labels_is_what_training_says_of_them(tmp_path):
    rows = [(f"text {n}", "ham") for n in range(300)]
    rows += [("one", "Ham"), ("two", "h am"), ("three", "spam")]
    path = table(tmp_path / "rows.tsv", rows)
    found = by_name(audit([path]))
    names = ["rare labels", "labels that are nearly alike", "one label for nearly all rows"]
    assert [found[name].count for name in names] == [3, 3, 1]
    examples = read_part(LabelData(path=str(path)), path).examples
    assert [found[name].note for name in names] == doubts_about(examples, None)


def test_a_doubt_that_is_new_is_not_lost(tmp_path, monkeypatch):
    odd = {"odd": "labels are odd."}
    monkeypatch.setattr("regard.data.label_cells.named_doubts", lambda *_: odd)
    found = by_name(audit([table(tmp_path / "rows.tsv", FINE)]))
    assert found["labels: odd"].note == "labels are odd."


def test_labels_that_are_joined_in_a_cell_are_told(tmp_path):
    names = [f"{one},{other}" for one in "abcd" for other in "abcd" if one != other]
    rows = [(f"text {n}", names[n % len(names)]) for n in range(300)]
    found = by_name(audit([table(tmp_path / "rows.tsv", rows)], target="label", labels=True))
    assert "data.separator=','" in found["labels joined in one cell"].note


def test_labels_like_ids_are_a_problem_unless_their_column_was_named(tmp_path):
    path = table(tmp_path / "ids.tsv", [(text, f"id {n // 2}") for n, (text, _) in enumerate(FINE)])
    more = table(tmp_path / "more.tsv", [(text, f"id {n}") for n, (text, _) in enumerate(FINE)])
    assert by_name(audit([path]))["labels like ids"].level == "ok"
    assert by_name(audit([more]))["labels like ids"].level == "problem" and refusal(more)
    named = by_name(audit([more], target="label", labels=True))
    assert named["labels like ids"].level == "note"


@relaxed
@given(few_rows, st.one_of(st.none(), few_rows), st.one_of(st.none(), few_rows))
def test_a_check_says_that_training_refuses_where_it_does(tmp_path, rows, validation, test):
    path = table(tmp_path / "rows.tsv", rows)
    sides = {"validation": validation, "test": test}
    own = {n: table(tmp_path / f"{n}.tsv", some) for n, some in sides.items() if some}
    result = audit([path], **{name: [file] for name, file in own.items()})
    refuses = any("refuses" in one.note for one in result.findings if one.level == "problem")
    assert refuses == bool(refusal(path, **{name: str(file) for name, file in own.items()}))


@pytest.mark.parametrize("number", [60, 300, 2500])
def test_texts_that_nearly_cross_sides_are_those_of_the_split_that_training_makes(tmp_path, number):
    ways = ("A number {}.", "a number {}!")
    rows = [(way.format(n), f"label {n % 3}") for n in range(number) for way in ways]
    path = table(tmp_path / "near.tsv", rows)
    sides = read_sides(LabelData(path=str(path), split=default_shares(len(rows))))
    known = {example.text.lower().strip(".!") for example in sides.train}
    held_out = [example.text.lower().strip(".!") for example in (*sides.validation, *sides.test)]
    finding = by_name(audit([path]))["held-out texts nearly in training"]
    assert finding.count == sum(text in known for text in held_out) > 4
    assert finding.level == "problem"


def test_columns_of_another_file_are_found_by_their_names(tmp_path):
    train, test = table(tmp_path / "train.tsv", FINE), tmp_path / "test.tsv"
    test.write_text("label\ttext\n" + "".join(f"{label}\t{text}\n" for text, label in FINE[:7]))
    assert by_name(audit([train], test=[test]))["test rows in training"].count == 7
    test.write_text("klasse\ttext\nx\ty\n")
    with pytest.raises(DataError, match='no column "label"'):
        audit([train], test=[test])


def test_cells_of_labels_are_read_without_the_blanks_around_them(tmp_path):
    path = table(tmp_path / "rows.tsv", [*FINE, (FINE[0][0], " label 0 "), (" x ", "label 1")])
    found = by_name(audit([path]))
    assert lines(found["duplicate rows"]) == [402]
    assert lines(found["blanks around texts"]) == [403]
    assert found["texts with different labels"].level == "ok"


def test_of_long_texts_it_is_said_that_they_are_cut_and_not_left_out(tmp_path):
    path = table(tmp_path / "rows.tsv", [*FINE, ("x " * 9000, "label 1")])
    note = by_name(audit([path]))["outliers in length"].note
    assert "a network no more than model.max_length" in note and "leaves out" not in note


# Line ends, of any table


def written(path, rows, end):
    with path.open("w", newline="") as file:
        csv.writer(file, lineterminator=end, quoting=csv.QUOTE_ALL).writerows(rows)
    return path


@pytest.mark.parametrize("names", [("source", "target"), ("text", "label")])
@pytest.mark.parametrize("inner", ["\n", "\r\n", "\r", "\n\r\n\r"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_line_breaks_inside_of_cells_are_no_mixed_line_ends(tmp_path, names, inner, end):
    rows = [(f"a{inner}b {text}", label) for text, label in FINE]
    path = written(tmp_path / "cells.csv", [names, *rows], end)
    assert by_name(audit([path]))["mixed line ends"].level == "ok"
    assert by_name(audit([path], test=[path]))["mixed line ends"].level == "ok"


def test_mixed_line_ends_between_rows_are_told_beside_those_inside_of_cells(tmp_path):
    rows = [(f"a\nb {text}", label) for text, label in FINE]
    path = written(tmp_path / "cells.csv", [("text", "label"), *rows], "\r\n")
    with path.open("ab") as file:
        file.write(b"one,label 1\ntwo,label 2\n")
    finding = by_name(audit([path]))["mixed line ends"]
    assert finding.count == 2 and r"\r\n 401" in finding.note and r"\n 2" in finding.note
