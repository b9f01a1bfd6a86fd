"""`regard predict` with classifiers: whatever is not told would be taken for granted."""

import json

import pytest
from click.testing import CliRunner

from regard.build import new_training
from regard.cli.closing import show_scores
from regard.cli.predict import predict
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
