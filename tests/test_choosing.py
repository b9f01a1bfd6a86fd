"""Which model for my data? Trained in small, told in full."""

import json
import random
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from regard.cli.compare import compare
from regard.data.labels import Labelled, read_labels
from regard.data.splits import Splits
from regard.errors import ConfigError, TrainingError
from regard.lens.learning import verdict_of
from regard.run import Run
from regard.run.candidates import CANDIDATES, family_of
from regard.run.choosing import _held, rule_for
from regard.run.contest import LEAST, WATCHED, Entry, time_for, write_sides
from regard.tasks.label_baselines import Bags
from regard.train.training import Training

WORDS = {"good": "fine great lovely happy best".split(), "bad": "poor awful sad worst ugly".split()}


@pytest.fixture
def table(tmp_path):
    dice = random.Random(0)
    rows = [f"it was {dice.choice(WORDS[label])} {dice.random():.3f},{label}\n"
            for _ in range(150) for label in WORDS]  # fmt: skip
    path = tmp_path / "reviews.csv"
    path.write_text("text,label\n" + "".join(rows))
    return path


def invoke(*words):
    return CliRunner().invoke(compare, [str(word) for word in words])


def test_models_are_trained_on_the_same_texts_and_one_table_says_which_is_best(
    table, tmp_path, monkeypatch
):
    monkeypatch.setattr("regard.run.contest.SHARES", {30: 0.3, 100: 0.7})
    said = [table, "--budget", "6s", "--out", tmp_path / "out", "--json"]
    done = invoke(*said)
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
    assert "did best on the validation part" in page and "http" not in page
    best = max(model["validation"] for model in found["models"])
    assert found["models"][0]["validation"] == best, "the test part has no say in who is best"
    assert found["winner"] == found["models"][0]["name"]
    again = invoke(table, "--out", tmp_path / "out")
    assert "exists already" in str(again.exception)


@pytest.mark.parametrize(
    ("texts", "length", "predicts"), [(3000, 3, "bag"), (6000, 3, "sequence model")]
)
def test_the_rule_looks_at_texts_for_each_word(texts, length, predicts):
    rows = [Labelled(" ".join(["word"] * length), "x")] * texts
    rule = rule_for(rows)
    assert rule["ratio"] == texts / length and rule["predicts"] == predicts


@pytest.fixture
def few(monkeypatch):
    """A bag and a mean, on all texts."""
    for name in CANDIDATES.keys() - {"bag", "mean"}:
        monkeypatch.delitem(CANDIDATES, name)
    monkeypatch.setattr("regard.run.contest.SHARES", {100: 1.0})


def test_texts_are_written_as_they_are_read_whatever_breaks_their_lines(tmp_path):
    """Of a lone carriage return, a cell without quotes would become two rows."""
    texts = ["a\rb", 'c\r\n"d"', " e,\nf", "=g;h"]
    rows = [Labelled(text, "x y", text[::-1]) for text in texts]
    files = write_sides(tmp_path, Splits(rows, rows[:1], rows[2:]))
    for name, expected in (("train-100", rows), ("validation", rows[:1]), ("test", rows[2:])):
        assert read_labels(Path(files[name]), "text", "label", "other").examples == expected


def test_networks_are_watched_with_some_of_the_validation_part(tmp_path):
    part = [Labelled(f"text {n}", "good") for n in range(WATCHED + 50)]
    files = write_sides(tmp_path / "data", Splits(part[:3], part, part[:2]))
    rows = Path(files["validation"]).read_text(encoding="utf-8").splitlines()
    assert len(rows) == WATCHED + 1
    assert len(set(rows)) == len(rows)


def test_networks_share_what_is_left_of_the_time_less_what_is_done_beside_training():
    bags = [("bag", 10, 2.0), ("bag", 100, 4.0), ("nbsvm", 100, 8.0)]
    done = [Entry(name, share, 9, None, 50.0, 1.0, beside) for name, share, beside in bags]
    turns = [("mean", 10), ("rnn", 10), ("mean", 100), ("rnn", 100)]
    unknown = (4 + 8) / 2  # no network was seen yet: what a bag takes, with all texts
    assert time_for(turns, 120, done) == pytest.approx((120 - 4 * unknown) * 0.15 / 1.5)
    done.append(Entry("mean", 10, 9, None, 50.0, 1.0, 3.0))
    others = (4 + 8 + 3) / 3
    assert time_for(turns[1:], 100, done) == pytest.approx((100 - 2 * others - 3) * 0.15 / 1.35)
    assert time_for(turns[3:], 50, done) == 50 - others, "the last one gets all that is left"
    assert time_for(turns[3:], 2, done) == time_for(turns, -5, []) == LEAST


def test_a_time_that_was_not_enough_is_told_and_so_are_texts_that_were_cut(
    few, table, tmp_path, monkeypatch
):
    monkeypatch.setattr("regard.run.choosing.TOLERATED", 0.1)
    words = ("--set", "model.max_length=4", "--set", "keep=tail", "--out", tmp_path / "out")
    done = invoke(table, "--budget", "1s", *words, "--json")
    assert done.exit_code == 0, done.output
    told = done.stderr.splitlines()
    assert told[0] == f"Reading {table} ..."
    names = [line.split(",")[0] for line in told if line.endswith("% of the texts ...")]
    assert names == ["bag", "mean"], "bags come first: they tell what is left"
    assert told[-1].startswith("It took ") and told[-1].endswith("cut short.")
    cut = r"  \d+ training texts are longer than the model takes: only their ends were read"
    assert any(re.fullmatch(cut, line) for line in told)
    found = json.loads(done.stdout)
    rows = {model["name"]: model for model in found["models"]}
    assert rows["bag"]["passes"] == 0 < rows["mean"]["passes"]
    assert found["seconds"] > 0.1 and rows["bag"]["cut_texts"] == 0
    assert rows["mean"]["cut_texts"] > 0 and rows["mean"]["kept"] == "tail"


def test_candidates_share_their_baselines_and_one_that_hardly_trained_is_told(
    few, table, tmp_path, monkeypatch
):
    fitted, fit = [], Bags.fit
    monkeypatch.setattr(
        Bags, "fit", lambda *given, **named: fitted.append(1) or fit(*given, **named)
    )
    monkeypatch.setattr("regard.train.budget.FOR_STEPS", 1e-9)  # time for one step
    words = ("--set", "train.batch_tokens=100", "--budget", "1s", "--out", tmp_path / "out")
    done = invoke(table, *words)
    assert done.exit_code == 0, done.output
    assert len(fitted) == 1, "the mean stands beside the bag that learned for the bag"
    one, other = (Run.load(tmp_path / "out" / f"{name}-100") for name in ("bag", "mean"))
    found = [run.facts["test"]["baselines"] for run in (one, other)]
    assert found[0] == found[1]
    assert re.search(
        r"  it had time for \d+ % of these texts: give it a larger --budget", done.stderr
    )


def test_a_model_that_diverges_is_left_out_and_the_others_go_on(table, tmp_path, monkeypatch):
    for name in CANDIDATES.keys() - {"bag", "bag by naive Bayes and SVM", "mean"}:
        monkeypatch.delitem(CANDIDATES, name)
    monkeypatch.setattr("regard.run.contest.SHARES", {100: 1.0})

    def diverged(self):
        raise TrainingError("step 3: the loss is NaN.")

    monkeypatch.setattr(
        "regard.train.training.Training.run",
        lambda self, run=Training.run: diverged(self) if self.steps else run(self),
    )
    done = invoke(table, "--budget", "1s", "--out", tmp_path / "out", "--json")
    assert done.exit_code == 0, done.output
    assert "  left out: step 3: the loss is NaN." in done.stderr
    names = {model["name"] for model in json.loads(done.stdout)["models"]}
    assert names == {"bag", "bag by naive Bayes and SVM"}


def test_pairs_are_compared_with_the_settings_that_each_model_has(few, tmp_path):
    table = tmp_path / "pairs.csv"
    rows = [f"{n},it rains {n},{['it rains', 'no'][n % 2]} {n},{'yn'[n % 2]}\n" for n in range(90)]
    table.write_text("id,a,b,same\n" + "".join(rows))
    names = ("data.text=a", "data.other=b", "data.label=same")
    sets = (*names, "model.width=8", "model.grams=1", "train.batch_tokens=900", "seed=3")
    options = [word for one in sets for word in ("--set", one)]
    done = invoke(table, *options, "--budget", "2s", "--out", tmp_path / "out", "--json")
    assert done.exit_code == 0, done.output
    assert {model["name"] for model in json.loads(done.stdout)["models"]} == {"bag", "mean"}
    bag, mean = (Run.load(tmp_path / "out" / f"{name}-100") for name in ("bag", "mean"))
    assert bag.recipe.model.grams == 1 and mean.recipe.model.width == 8
    assert mean.recipe.train.batch_tokens == 900 and mean.recipe.seed == bag.recipe.seed == 3
    assert mean.task.pairs and bag.predict(["it rains 1\tit rains 1"]) == ["y"]


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("--set", "model.kind=rnn"), "model.kind: every kind is tried"),
        (("--set", "train.steps=5"), "train.steps: the models share the time that --budget gives"),
        (("--set", "train.budget=5m"), "train.budget: give the time for all models with --budget"),
        (("--set", "model.widht=5"), 'no setting "model.widht" .* Did you mean "width"'),
        (("--set", "train.rate=-1"), "train.rate: input should be greater than 0"),
        (("--budget", "soon"), '--budget: budget "soon" is not a time'),
    ],
)
def test_what_can_not_hold_for_all_models_is_refused_before_any_is_trained(
    table, tmp_path, words, problem
):
    done = invoke(table, *words, "--out", tmp_path / "out")
    assert isinstance(done.exception, ConfigError) and re.search(problem, str(done.exception))
    assert not (tmp_path / "out").exists()


def row(name, right=60.0):
    score = {"value": right, "low": right - 10, "high": right + 10}
    return {"name": name, "scores": {"accuracy": score}, "passes": 0.0 if "bag" in name else 2.0}


def test_of_a_mean_of_vectors_the_rule_says_nothing():
    assert [family_of(name) for name in ("bag", "mean", "rnn")] == ["bag", None, "sequence model"]
    apart = {"difference": -0.5, "low": -1.0, "high": 0.2}
    models = [{**row(name), "validation": 80.0} for name in ("mean", "rnn")]
    result = {"winner": "mean", "second": "rnn", "difference": apart, "significant": False}
    result["baseline"] = row("most frequent label", 40.0)
    verdict = verdict_of({**result, "models": models, "rule": {"held": None}})
    assert verdict.startswith("mean did best on the validation part (as well did rnn). On the test")
    assert "0.50 points behind rnn" in verdict and verdict.endswith("which may be chance.")


@pytest.mark.parametrize(
    ("low", "difference", "held", "said"),
    [(3.0, 5.0, True, "the rule was right"), (-1.0, 0.5, None, "neither right nor wrong"),
     (-9.0, -5.0, False, "the rule was wrong")],
)  # fmt: skip
def test_the_best_of_both_families_say_whether_the_rule_was_right(
    monkeypatch, low, difference, held, said
):
    """Not the best two of all, which may be two bags."""
    names = ("mean", "transformer", "bag by naive Bayes and SVM", "rnn", "bag")
    whole = [Entry(name, 100, 9, name, 90.0 - n, 1.0, 0.0) for n, name in enumerate(names)]
    apart = {"difference": difference, "low": low, "high": 2 * difference - low}
    apart["significant"] = held is not None
    asked = []
    monkeypatch.setattr(
        "regard.run.choosing.compare",
        lambda *runs: asked.append(runs) or {"scores": {"accuracy": apart}},
    )
    found = _held("bag", whole)
    assert asked == [("bag by naive Bayes and SVM", "transformer")] and found["held"] is held
    models = [{**row(e.name), "validation": e.validated} for e in whole]
    result = {"winner": "mean", "second": "rnn", "difference": apart, "significant": False}
    result["baseline"] = row("most frequent label", 40.0)
    verdict = verdict_of({**result, "models": models, "rule": {"predicts": "bag", **found}})
    assert "The rule predicted a bag: the best one, bag by naive Bayes and SVM, is" in verdict
    assert "the best sequence model, transformer (95 %" in verdict
    assert verdict.endswith(f"{said}.")
    assert "learned nothing" not in verdict
    models[1]["passes"] = 0.4
    verdict = verdict_of({**result, "models": models, "rule": {"predicts": "bag", **found}})
    assert verdict.endswith(f"{said}, but transformer had no time to read all texts once.")
    result["baseline"] = row("most frequent label", 55.0)
    verdict = verdict_of({**result, "models": models, "rule": {"held": None}})
    assert (
        "It may have learned nothing: always saying the most frequent label is right about 55.00"
        in verdict
    )
    assert _held("bag", [e for e in whole if "bag" not in e.name]) == {"held": None}


def test_pairs_are_shared_out_by_both_texts_and_what_ties_them_is_told(few, tmp_path, monkeypatch):
    """A few first texts that come with many others would all be in one share, or in none."""
    monkeypatch.setattr("regard.run.contest.SHARES", {10: 0.2, 100: 0.8})
    rows = [f"topic {n % 3},{['it rains', 'no'][n % 2]} {n},{'yn'[n % 2]}\n" for n in range(300)]
    table = tmp_path / "tied.csv"
    table.write_text("a,b,same\n" + "".join(rows) + "topic 1,,y\n")
    sets = ("data.text=a", "data.other=b", "data.label=same", "data.bad_rows=skip")
    options = [word for one in sets for word in ("--set", one)]
    done = invoke(table, *options, "--budget", "2s", "--out", tmp_path / "out", "--json")
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    texts = {point["texts"] for point in found["curve"]}
    assert len(texts) == 2 and 10 < min(texts) < 50 < max(texts)
    tied, skipped = found["notes"]
    assert "hang together" in tied and skipped.startswith("1 rows")
    page = (tmp_path / "out" / "report.html").read_text()
    for note in found["notes"]:
        assert note in done.stderr and note in page


def test_a_share_of_no_text_at_all_is_left_out(tmp_path):
    part = [Labelled("one text", "a"), Labelled("another", "b")]
    files = write_sides(tmp_path, Splits(part, part, part))
    assert "train-100" in files and "train-10" not in files
