from pathlib import Path

import pytest

from regard.data.labels import Labelled, labels_of, open_labels, read_labels
from regard.data.table import Flaw
from regard.errors import DataError
from regard.progress import listening


def written(folder: Path, content: str, name: str = "x.tsv") -> Path:
    path = folder / name
    path.write_bytes(content.encode())
    return path


def problem(path: Path, **settings) -> str:
    with pytest.raises(DataError) as caught:
        read_labels(path, **settings)
    return str(caught.value)


def test_rows_without_a_label_are_refused_with_their_line_or_skipped(tmp_path):
    path = written(tmp_path, "label\ttext\n a \t b \n\n \tc\na\t\nb\td\ne\n")
    assert problem(path) == (
        f"{path}:4: no label; the text is 'c'. Mend it, or leave such rows out by training with "
        f"--set data.bad_rows=skip; with --set data.unlabelled={path} too, texts without a label "
        "are learned from, with labels that bags of words give them."
    )
    part = read_labels(path, bad_rows="skip")
    assert part.examples == [Labelled(" b ", "a"), Labelled("d", "b")] and part.skipped == 3
    flaws = [row for row in open_labels(path).rows() if isinstance(row, Flaw)]
    assert [flaw.line for flaw in flaws] == [4, 5, 7]
    assert flaws[1].problem.startswith("the text is empty; the label is 'a'.")


def test_a_second_text_that_is_asked_for_must_be_there(tmp_path):
    path = written(tmp_path, "label\ttext\tmore\na\tb\t\nb\tc\td\n")
    assert ":2: the second text is empty; the first is 'b'." in problem(path, other="more")
    assert read_labels(path, other="more", bad_rows="skip").examples == [Labelled("c", "b", "d")]


def test_a_file_of_bad_rows_alone_is_refused(tmp_path):
    path = written(tmp_path, "label\ttext\n\tb\n\tc\n")
    message = problem(path, bad_rows="skip")
    assert message.startswith(f"{path}: none of its 2 rows can be used. Line 2: no label; the text")


def test_labels_in_json_keep_their_written_form(tmp_path):
    values = ["1", "1.50", "true", '" x "', "null", '""', "[]", '[" "]']
    lines = [f'{{"text": ["a", "b"], "label": {value}}}' for value in values]
    path = written(tmp_path, "\n".join([*lines, '{"text": "a"}']), "x.jsonl")
    part = read_labels(path, bad_rows="skip")
    assert part.examples == [Labelled("a b", label) for label in ("1", "1.50", "true", "x")]
    assert part.skipped == 5


def test_several_labels_need_a_separator(tmp_path):
    lines = ['{"text": "a", "label": "x"}', '{"text": "b", "label": ["x ", "y|z", ""]}']
    path = written(tmp_path, "\n".join(lines), "x.jsonl")
    for bad_rows in ("refuse", "skip"):
        message = problem(path, bad_rows=bad_rows)
        assert message.startswith(
            f"{path}:2: the label is the list \"['x', 'y|z']\", and one label"
        )
        assert "--set data.separator='|'" in message
    assert read_labels(path, separator=";").examples[1] == Labelled("b", "x;y|z")
    assert "and 'y|z' holds '|', which stands between labels" in problem(path, separator="|")


def test_the_labels_of_a_cell():
    assert labels_of(" b ;a;; b;a ", ";") == ("b", "a")
    assert labels_of("b;a", None) == ("b;a",)
    assert labels_of(";", ";") == labels_of("", None) == ()


def test_a_cell_of_separators_alone_has_no_label(tmp_path):
    path = written(tmp_path, "label\ttext\na;b\tc\n; ;\td\n")
    assert ":3: no label; the text is 'd'." in problem(path, separator=";")


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("x.tsv", "", "Expected one text<TAB>label on each line."),
        ("x.txt", "one\ntwo\n", "Put a tab between text and label"),
        ("x.jsonl", '{"text": "a"}\n', "two keys with texts are needed, for text and label;"),
        ("x.jsonl", '{"text": "a", "label": "b"}\n{"text', '{"text": "...", "label": "..."}'),
    ],
)
def test_what_is_said_about_files_speaks_of_labels(tmp_path, name, content, said):
    message = problem(written(tmp_path, content, name))
    assert said in message and "source" not in message and "translate" not in message


def test_a_first_row_that_could_be_a_header_is_talked_about_with_our_options(tmp_path):
    path = written(
        tmp_path, "mood\twords\n" + "".join(f"joy\t{text}\n" for text in ("one day", "a song"))
    )
    assert "name its columns with --source and --target." in read_labels(path).notes[0]


def test_it_is_told_how_far_a_long_file_is_read(tmp_path):
    rows = [f"a\ttext {n}\n" for n in range(2500)]
    path = written(tmp_path, "label\ttext\n" + "".join([*rows, *rows[:3]]))
    told = []
    with listening(lambda *now: told.append(now)):
        part = read_labels(path)
    assert len(part.examples) == 2503 and part == read_labels(path)
    assert told == [("Reading", line, 2505) for line in (2, 1002, 2002, 2505)]
