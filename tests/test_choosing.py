"""Which model for my data? Trained in small, told in full."""

import json
import random

import pytest
from click.testing import CliRunner

from regard.cli.compare import compare
from regard.data.labels import Labelled
from regard.run.choosing import rule_for

WORDS = {"good": "fine great lovely happy best".split(), "bad": "poor awful sad worst ugly".split()}


@pytest.fixture
def table(tmp_path):
    dice = random.Random(0)
    rows = [f"it was {dice.choice(WORDS[label])} {dice.random():.3f},{label}\n"
            for _ in range(150) for label in WORDS]  # fmt: skip
    path = tmp_path / "reviews.csv"
    path.write_text("text,label\n" + "".join(rows))
    return path


def test_models_are_trained_on_the_same_texts_and_one_table_says_which_is_best(table, tmp_path):
    said = [table, "--budget", "6s", "--out", tmp_path / "out", "--json"]
    done = CliRunner().invoke(compare, [str(word) for word in said])
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    names = {model["name"] for model in found["models"]}
    assert {"bag", "mean", "rnn", "transformer"} <= names and found["winner"] in names
    assert found["rule"]["predicts"] == "bag" and isinstance(found["significant"], bool)
    for model in found["models"]:
        assert model["scores"]["accuracy"]["low"] <= model["scores"]["accuracy"]["value"]
        assert model["ms_per_text"] > 0 and model["parameters"] > 0
    assert {point["texts"] for point in found["curve"] if point["name"] == "bag"} and all(
        (tmp_path / "out" / name).exists() for name in ("curve.png", "report.html")
    )
    page = (tmp_path / "out" / "report.html").read_text()
    assert "did best" in page and "http" not in page
    again = CliRunner().invoke(compare, [str(table), "--out", str(tmp_path / "out")])
    assert "exists already" in str(again.exception)


@pytest.mark.parametrize(
    ("texts", "length", "predicts"), [(3000, 3, "bag"), (6000, 3, "sequence model")]
)
def test_the_rule_looks_at_texts_for_each_word(texts, length, predicts):
    rows = [Labelled(" ".join(["word"] * length), "x")] * texts
    rule = rule_for(rows)
    assert rule["ratio"] == texts / length and rule["predicts"] == predicts
