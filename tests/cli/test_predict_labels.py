"""`regard predict` with classifiers: whatever is not told would be taken for granted."""

import json
import subprocess

import pytest
from click.testing import CliRunner

from regard.build import new_training
from regard.cli.closing import show_result, show_scores
from regard.cli.look import look
from regard.cli.predict import predict
from regard.errors import TextError
from regard.run import finish
from regard.tasks.recipe import check_recipe

MEAN = {"model": {"kind": "mean", "width": 8, "max_length": 10}, "tokens": {"kind": "word"}}
BAG = {"model": {"kind": "bag"}}
LONG = " ".join(["great"] * 20)


@pytest.fixture(scope="module")
def run_of(tmp_path_factory):
    home, found = tmp_path_factory.mktemp("labels"), {}
    words = {"good": ["great", "fine"], "bad": ["awful", "sad"]}
    rows = [(f"it was {w} {n}", label) for n in range(30) for label in words for w in words[label]]
    table = home / "table.csv"
    table.write_text("text,label\n" + "".join(f"{text},{label}\n" for text, label in rows[2:]))
    with table.open("a") as file:
        file.writelines(f"it was {word} {LONG},good\n" for word in ("so", "such", "ever"))

    def run(name, tree, data=None, steps=0):
        if name not in found:
            tree = {"task": "classify", "data": {"path": str(table), **(data or {})}, **tree,
                    "train": {"steps": steps, "batch_tokens": 200, "rate": 0.05}}  # fmt: skip
            training = new_training(check_recipe(tree, "here"), home / name)
            for _ in training.run():
                pass
            found[name] = finish(training)
        return found[name]

    return run


@pytest.fixture(scope="module")
def cutting(run_of):
    return run_of("cutting", {**MEAN, "keep": "tail"}, steps=30)


def said(run, *words):
    return CliRunner().invoke(predict, [str(run.folder), *words])


def test_texts_that_are_cut_are_counted_and_the_end_that_was_kept_is_named(cutting):
    told = "regard: warning: 2 texts are longer than the model takes: only their ends were read.\n"
    done = said(cutting, LONG, "it was sad", f"it was sad {LONG}")
    assert done.exit_code == 0 and told in done.stderr and len(done.stdout.splitlines()) == 3
    assert "longer" not in said(cutting, "it was sad").stderr
    rows = [json.loads(line) for line in said(cutting, LONG, "sad", "--json").stdout.splitlines()]
    assert rows[0]["cut"] is True and "cut" not in rows[1]


def test_training_texts_that_are_cut_are_on_the_card(cutting, capsys):
    count = cutting.facts["data"]["cut_texts"]
    assert 0 < count <= 3 and cutting.facts["data"]["kept"] == "tail"
    told = f"{count} training texts are longer than the model takes: only their ends were read."
    assert f"- {told}\n" in (cutting.folder / "README.md").read_text()
    assert told[:-1] in (cutting.folder / "report.html").read_text()
    show_scores({**cutting.facts["test"], "cut_texts": 5})
    told = "5 texts are longer than the model takes: only their ends were read"
    assert told in capsys.readouterr().out


def test_a_picture_of_a_text_that_was_cut_says_so(cutting):
    told = "regard: warning: the text is longer than the model takes: it read only the end.\n"
    done = CliRunner().invoke(look, [str(cutting.folder), f"it was sad {LONG}"])
    assert done.exit_code == 0 and done.stderr.startswith(told)
    assert "longer" not in CliRunner().invoke(look, [str(cutting.folder), "it was sad"]).stderr


def test_an_empty_text_is_a_problem_and_no_label(cutting):
    done = said(cutting, "it was sad", "", " \t")
    assert done.exit_code == 2 and len(done.stdout.split()) == 1
    for number in (2, 3):
        assert f"input {number}: there is nothing to judge: the text is empty." in done.stderr
    with pytest.raises(TextError, match="nothing to judge"):
        cutting.predict([" "])


# Two texts judged together


@pytest.fixture(scope="module")
def pairs(run_of, tmp_path_factory):
    table = tmp_path_factory.mktemp("pairs") / "pairs.csv"
    rows = [f"{n},it rains {n},{['it rains', 'no'][n % 2]} {n},{'yn'[n % 2]}\n" for n in range(80)]
    table.write_text("id,a,b,label\n" + "".join(rows))
    columns = {"path": str(table), "text": "a", "other": "b", "label": "label"}
    return run_of("pairs", BAG, columns)


def test_both_columns_of_a_table_are_read(pairs, tmp_path):
    table = tmp_path / "new.csv"
    table.write_text("b,id,a\nit rains,1,it rains\nno,2,it rains\n")
    done = said(pairs, "--file", str(table), "--json")
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [row["input"] for row in rows] == ["it rains\tit rains", "it rains\tno"]
    assert [row["output"] for row in rows] == ["y", "n"] and '"a" and "b"' in done.stderr
    assert said(pairs, "it rains\tit rains", "it rains\tno").stdout == "y\nn\n"


def test_the_tab_between_two_texts_is_no_unknown_piece(run_of, pairs):
    columns = {"path": str(pairs.recipe.data.path), "text": "a", "other": "b", "label": "label"}
    run = run_of("pairs-mean", MEAN, columns, steps=5)
    found = run.stream(["it rains\tit rains", "it zz\tyy rains"])
    assert [one.unknown for one in found] == [(), ("zz", "yy")]


def test_what_is_printed_to_try_next_can_be_typed(pairs, capsys):
    show_result(pairs, as_json=False)
    (line,) = (line for line in capsys.readouterr().err.splitlines() if " predict " in line)
    words = subprocess.run(
        ["bash", "-c", f"printf '%s\\n' {line.strip()}"], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    assert words[-1].count("\t") == 1 and pairs.predict([words[-1]])[0] in "yn"


def test_one_text_alone_is_a_problem_where_two_are_judged(pairs):
    done = said(pairs, "it rains", "it rains\tno", "it rains\t ")
    assert done.exit_code == 2 and done.stdout == "\nn\n\n"
    assert "input 1: two texts are judged together, with a tab between them" in done.stderr
    assert "input 3: " in done.stderr


# How likely


def test_in_a_terminal_the_probability_stands_behind_the_label(cutting, monkeypatch):
    text = "it was sad"
    (label, chance), *_ = likeliest = sorted(
        next(cutting.stream([text])).probabilities.items(), key=lambda item: -item[1]
    )
    assert said(cutting, text).stdout == f"{label}\n", "a pipe gets labels alone"
    monkeypatch.setattr("regard.cli.predict._in_terminal", lambda: True)
    assert said(cutting, text).stdout == f"{label}\t{100 * chance:.0f} %\n"
    both = "\t".join(f"{label}\t{100 * chance:.0f} %" for label, chance in likeliest)
    assert said(cutting, text, "--n", "5").stdout == f"{both}\n"


def test_the_likeliest_labels_are_told_where_asked_for(cutting):
    row = json.loads(said(cutting, "it was sad", "--n", "2", "--json").stdout)
    (other,) = row["others"]
    assert {row["label"], other["output"]} == {"good", "bad"} and row["score"] > other["score"]
    assert "at least one label" in str(said(cutting, "sad", "--n", "0").exception)
