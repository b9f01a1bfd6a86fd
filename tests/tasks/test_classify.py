"""What the classify task promises about its labels, its limits and its probabilities."""

import json
import random

import numpy as np
import pytest
import torch
from click.testing import CliRunner

from regard.build import draft, new_training, resume_training
from regard.cli.evaluate import evaluate
from regard.data.labels import Labelled
from regard.errors import ConfigError, DataError, RunError
from regard.models.bag import Bag
from regard.run import Run, compare, finish
from regard.tasks.classify import Classify
from regard.tasks.classify_bag import ClassifyByBag
from regard.tasks.labelling import Labelling
from regard.tasks.recipe import check_recipe, make_recipe
from regard.tasks.truncating import cut
from regard.train.estimate import estimate_memory

WORDS = {"good": "fine great lovely happy best".split(), "bad": "poor awful sad worst ugly".split()}
FILLER = "the a film plot was is it and of".split()
SHAPES = {
    "transformer": {"width": 16, "heads": 2, "layers": 1, "max_length": 32},
    "rnn": {"kind": "rnn", "cell": "gru", "width": 16, "max_length": 32},
    "mean": {"kind": "mean", "width": 16, "max_length": 32},
    "causal": {"width": 16, "heads": 2, "layers": 1, "max_length": 32, "causal": True,
               "pooling": "last"},
}  # fmt: skip


def review(dice, label, length=8):
    words = [dice.choice(WORDS[label] if dice.random() < 0.4 else FILLER) for _ in range(length)]
    return " ".join([*words, dice.choice(WORDS[label])])


@pytest.fixture
def table(tmp_path):
    dice = random.Random(0)
    rows = [(review(dice, label), label) for _ in range(150) for label in WORDS]
    path = tmp_path / "reviews.csv"
    path.write_text("text,label\n" + "".join(f"{text},{label}\n" for text, label in rows))
    return path


@pytest.fixture
def recipe(table):
    def make(kind="transformer", model=None, **more):
        tree = {
            "task": "classify",
            "data": {"path": str(table)},
            "tokens": {"kind": "word"},
            "model": {**SHAPES[kind], **(model or {})},
            "train": {"steps": 40, "batch_tokens": 400, "rate": 0.01, "validate_every": 20},
        }
        for name, value in more.items():
            tree[name] = {**tree.get(name, {}), **value} if isinstance(value, dict) else value
        return check_recipe(tree, "here")

    return make


@pytest.fixture
def trained(recipe, tmp_path):
    def train(*given, name="run", **more):
        training = new_training(recipe(*given, **more), tmp_path / name)
        for _ in training.run():
            pass
        return finish(training)

    return train


@pytest.mark.parametrize("kind", SHAPES)
def test_every_kind_of_network_learns_and_stands_beside_the_baselines(trained, kind):
    run = trained(kind)
    test = run.facts["test"]
    assert test["scores"]["accuracy"]["value"] > 90
    assert {"accuracy", "macro_f1", "log_loss", "calibration_error"} <= test["scores"].keys()
    names = [one["name"] for one in test["baselines"]]
    assert names[0] == "most frequent label" and "bag" in names[1] and test["unit"] == "texts"
    again = Run.load(run.folder)
    assert again.evaluate()["scores"] == test["scores"], "the temperature is remembered too"
    (one,) = again.stream(["a great film"])
    assert one.output == "good" and sum(one.probabilities.values()) == pytest.approx(1)
    assert one.as_json()["label"] == "good"
    assert run.look("a great film").maps and "calibration" in run.facts


@pytest.mark.parametrize("kind", SHAPES)
def test_it_is_honest(trained, kind):
    report = trained(kind, train={"steps": 4}).check(cases=12)
    assert report.passed, [found for found in report.findings if found.passed is False]


def test_judgements_do_not_depend_on_their_batch(trained):
    run = trained("rnn")
    texts = ["good", "a poor plot", "", "the film was fine and the plot was great", "sad"]
    together = run.predictor().probabilities(texts)
    alone = np.concatenate([run.predictor().probabilities([text]) for text in texts])
    np.testing.assert_allclose(together, alone, atol=1e-6)


@pytest.mark.parametrize(("keep", "expected"), [("head", "good"), ("tail", "bad")])
def test_of_a_long_text_the_end_that_was_asked_for_is_read_and_that_is_told(
    trained, keep, expected, tmp_path
):
    run = trained("mean", model={"max_length": 14}, keep=keep)
    long = " ".join(["great"] * 40 + ["awful"] * 40)
    assert run.predict([long]) == [expected]
    other = tmp_path / "long.csv"
    other.write_text(f"text,label\n{long},good\nfine,good\nsad,bad\n")
    assert run.evaluate(other)["cut_texts"] == 1


@pytest.mark.parametrize("length", range(6))
@pytest.mark.parametrize("keep", ["head", "tail", "both"])
def test_what_is_kept_is_as_long_as_it_may_be(length, keep):
    ids = list(range(5))
    kept = cut(ids, length, keep)
    assert len(kept) == min(5, length) and kept == sorted(kept)


def test_a_label_that_was_never_trained_on_is_named_and_counted_as_wrong(bagged, tmp_path):
    other = tmp_path / "other.csv"
    other.write_text("text,label\na great film,good\na sad film,bad\na film,neither\n")
    with pytest.warns(UserWarning, match=r"1 label was never trained on.* wrong: 'neither' \(1\)"):
        found = bagged().evaluate(other)
    assert found["unknown_labels"] == 1 and found["examples"] == 3
    assert found["scores"]["accuracy"]["value"] == pytest.approx(200 / 3)
    assert found["scores"]["micro_f1"]["value"] == pytest.approx(200 / 3)


def test_several_labels_of_one_text(table, trained):
    dice = random.Random(1)
    rows = []
    for _ in range(200):
        labels = [label for label in WORDS if dice.random() < 0.5]
        text = " ".join(["it", *(dice.choice(WORDS[label]) for label in labels)])
        rows.append(f'{text} {dice.choice(FILLER)},"{";".join(labels) or "none"}"\n')
    table.write_text("text,label\n" + "".join(rows))
    run = trained("mean", data={"separator": ";"}, train={"steps": 120, "rate": 0.03})
    assert run.predict(["it was great"]) == ["good"]
    assert set(run.predict(["it was great and awful"])[0].split(", ")) == {"good", "bad"}
    assert {"accuracy", "macro_f1", "micro_f1"} <= run.facts["test"]["scores"].keys()
    table.write_text('text,label\nit was great,good\nit was great,"good;odd"\nit was awful,bad\n')
    with pytest.warns(UserWarning, match="1 label was never trained on"):
        found = run.evaluate(table)
    assert found["scores"]["accuracy"]["value"] == pytest.approx(200 / 3), "odd was not found"
    assert [one["label"] for one in found["details"]["classes"]] == ["bad", "good", "none"]


def test_two_texts_judged_together(table, trained):
    dice = random.Random(2)
    lines = []
    for number in range(240):
        same = number % 2
        first = dice.choice(FILLER)
        second = first if same else dice.choice([w for w in FILLER if w != first])
        lines.append(json.dumps({"id": number, "a": f"{first} {number}", "b": second,
                                 "same": "yes" if same else "no"}) + "\n")  # fmt: skip
    table = table.with_suffix(".jsonl")
    table.write_text("".join(lines))
    columns = {"path": str(table), "text": "a", "other": "b", "label": "same"}
    run = trained("transformer", model={"segments": 2}, data=columns, train={"steps": 10})
    ids, segments, _ = run.task.encode("the plot\tthe film")
    assert len(ids) == len(segments) == 7 and segments == [0, 0, 0, 0, 1, 1, 1]
    assert run.predict(["the plot\tthe film"])[0] in ("yes", "no")


def test_every_class_counts_the_same_where_asked(recipe, tmp_path):
    plain = new_training(recipe(), tmp_path / "plain")
    even = new_training(recipe(balanced=True), tmp_path / "even")
    even.task.counts = [10, 90]
    weights = even.task._weights
    assert weights[0] / weights[1] == pytest.approx(9)
    batch = plain.batches.of(0)
    network = plain.network.double()
    assert not torch.equal(
        plain.task.loss(network, batch).total, even.task.loss(network, batch).total
    )


@pytest.mark.parametrize("kind", ["transformer", "rnn"])
def test_a_resumed_training_equals_one_never_stopped(recipe, tmp_path, kind):
    whole = new_training(recipe(kind, train={"steps": 8}), tmp_path / "whole")
    for _ in whole.run():
        pass
    parts = new_training(recipe(kind, train={"steps": 8}), tmp_path / "parts")
    for _ in parts.run(lambda: parts.progress.step == 3):
        pass
    again = resume_training(tmp_path / "parts")
    for _ in again.run():
        pass
    for name, weight in whole.network.state_dict().items():
        assert torch.equal(weight, again.network.state_dict()[name]), name


def test_two_runs_are_compared_on_the_same_texts(trained):
    one, other = trained("mean", name="one"), trained("mean", name="other", train={"steps": 1})
    found = compare(one, other)["scores"]
    assert found["accuracy"]["difference"] > 0 and found["macro_f1"]["a"] > found["macro_f1"]["b"]


def test_a_language_model_is_begun_with(trained, table, tmp_path):
    text = tmp_path / "text.txt"
    text.write_text(table.read_text())
    shape = {"width": 16, "heads": 2, "layers": 1, "max_length": 32}
    tree = {"task": "language_model", "data": {"path": str(text)}, "tokens": {"kind": "word"},
            "model": shape, "train": {"steps": 4, "batch_tokens": 64}, "order": 2}  # fmt: skip
    training = new_training(check_recipe(tree, "here"), tmp_path / "gpt")
    for _ in training.run():
        pass
    gpt = finish(training)
    found, reasons = make_recipe(
        "classify", [table], [f"begin={gpt.folder}", "train.steps=2", "train.rate=0.000001"]
    )
    assert found.model.causal and found.model.width == 16
    begun = new_training(found, tmp_path / "begun")
    assert begun.task.tokenizer.as_json() == gpt.task.tokenizer.as_json()
    ours = dict(begun.network.get_submodule("body.stack").named_parameters())
    for name, weight in gpt.network.named_parameters():
        assert torch.equal(weight, ours[name]), name


def test_mistakes_are_told(recipe, table, tmp_path):
    with pytest.raises(ConfigError, match="first token has seen nothing"):
        recipe("causal", model={"pooling": "first"})
    table.write_text("text,label\n" + "a film,good\n" * 30)
    with pytest.raises(DataError):
        Classify.read(recipe())


def test_settings_are_chosen_with_reasons(table):
    found, reasons = make_recipe("classify", [table], ["train.steps=5"])
    assert found.model.kind == "transformer" and found.model.max_length >= 16
    told = dict(reasons)
    assert told["data"].startswith('CSV with a header, text "text", label "label"; ')
    assert "2 classes" in told["data"] and set(told) == {"data", "tokens", "lengths", "model",
                                                         "training"}  # fmt: skip


def test_of_long_texts_a_step_leaves_out_half_unless_someone_says_otherwise(table):
    short, _ = make_recipe("classify", [table], ["train.steps=5"])
    dice = random.Random(0)
    rows = [f"{review(dice, label, 200)},{label}\n" for _ in range(20) for label in WORDS]
    table.write_text("text,label\n" + "".join(rows))
    long, reasons = make_recipe("classify", [table], ["train.steps=5"])
    assert (short.model.skipping, long.model.skipping) == (0, 0.5)
    assert dict(reasons)["lengths"].endswith("; a step leaves out 50 % of them, others each time")
    asked, reasons = make_recipe("classify", [table], ["train.steps=5", "model.skipping=0"])
    assert asked.model.skipping == 0 and "leaves out" not in dict(reasons)["lengths"]


# By a bag


BAG = {"model": {"kind": "bag"}, "train": {"steps": 0}}


def bag_recipe(table, **model):
    tree = {"task": "classify", "data": {"path": str(table)}, **BAG}
    return check_recipe({**tree, "model": {"kind": "bag", **model}}, "here")


@pytest.fixture
def bagged(table, tmp_path):
    def train(name="bag", **model):
        training = new_training(bag_recipe(table, **model), tmp_path / name)
        for _ in training.run():
            pass
        return finish(training)

    return train


@pytest.mark.parametrize("judge", ["logistic", "svm", "nbsvm"])
def test_a_bag_is_a_run_like_any_other(bagged, judge):
    run = bagged(judge=judge)
    assert run.facts["test"]["scores"]["accuracy"]["value"] > 90 and run.facts["steps"] == 0
    assert run.predict(["a great film"]) == ["good"] and run.predict([]) == []
    again = Run.load(run.folder)
    texts = ["a great film", "", "awful awful", "never met"]
    same = [one.predictor().probabilities(texts) for one in (run, again)]
    assert np.array_equal(*same)
    assert again.evaluate()["scores"] == run.facts["test"]["scores"]
    assert run.look("a great film").maps[0].columns[0] == "great"


def test_a_run_answers_as_its_bag_does(bagged):
    """Which is held against scikit-learn in tests/models/test_bag.py."""
    run = bagged(strength=1.0)
    train = Classify.read(run.recipe).train
    wanted = np.array([["bad", "good"].index(e.label) for e in train])
    bag = Bag.fit(run.recipe.model, [e.text for e in train], wanted, 2)
    texts = ["a great film", "the plot was sad", ""]
    assert np.array_equal(run.predictor().scores(texts), bag.scores(texts))
    assert bag.scores(texts)[0].argmax() == 1


def test_a_run_with_letters_is_one_like_any_other(bagged):
    run = bagged(letters=4, min_count=1)
    again, texts = Run.load(run.folder), ["a great film", "", "awfully", "never met", "?"]
    assert np.array_equal(*(one.predictor().scores(texts) for one in (run, again)))
    assert run.predict(["greatest", "awfully"]) == ["good", "bad"], "of words it has never met"
    known = run.task.grams
    assert known.letters and run.facts["vocabulary"] == {"grams": len(known.known)}
    assert again.task.as_json() == run.task.as_json()
    assert run.check(cases=12).passed


def test_runs_saved_before_there_were_letters_are_loaded(bagged):
    task = bagged().task
    saved = task.as_json()
    assert saved.pop("letters") == []
    assert ClassifyByBag.load(task.recipe, saved).grams.names == task.grams.names
    for letters in (["ab"], [7], 7):
        with pytest.raises(RunError, match="not the grams of a bag"):
            ClassifyByBag.load(task.recipe, saved | {"letters": letters})


def test_a_bag_makes_no_steps_ready_before_they_are_asked_for(table, tmp_path):
    """Of long texts they take longer, and more memory, than learning does."""
    training = new_training(bag_recipe(table), tmp_path / "run")
    for _ in training.run():
        pass
    finish(training)
    batches, train = training.batches, Classify.read(training.task.recipe).train
    assert not {"rows", "_rows"} & {*vars(batches)} and batches.examples == len(train)
    assert not any(training.task.cuts(batches).values()), "whole texts are read"
    plain = Labelling.batches(training.task, train)
    assert batches.of(1) == plain.of(1) and batches.heaviest() == plain.heaviest()
    strange = training.task.batches([*train, Labelled("x", "odd")])
    assert (strange.examples, strange.left_out) == (len(train), 1)


def test_a_bag_is_honest(bagged):
    report = bagged().check(cases=12)
    assert report.passed, [found for found in report.findings if found.passed is False]


def test_a_bag_that_was_stopped_before_it_was_saved_learns_again(bagged, table, tmp_path):
    stopped = new_training(bag_recipe(table), tmp_path / "stopped")
    next(iter(stopped.run()))  # validated, not saved
    with pytest.warns(UserWarning, match="beginning again"):
        again = resume_training(tmp_path / "stopped")
    for _ in again.run():
        pass
    texts = ["a great film", "the plot was sad"]
    assert finish(again).predict(texts) == bagged().predict(texts) == ["good", "bad"]


def test_a_bag_has_no_steps_and_a_network_has_some(table, recipe):
    with pytest.raises(ConfigError, match="a bag learns at once: set steps = 0"):
        check_recipe({"task": "classify", "data": {"path": str(table)}, "model": {"kind": "bag"},
                      "train": {"steps": 5}}, "here")  # fmt: skip
    with pytest.raises(ConfigError, match="would leave the network as it began"):
        recipe(train={"steps": 0})
    found, _ = make_recipe("classify", [table], ["model.kind=bag"])
    assert found.train.steps == 0


@pytest.mark.parametrize("kind", ["mean", "bag"])
def test_a_dry_run_tells_time_and_memory(table, recipe, tmp_path, kind):
    chosen = bag_recipe(table) if kind == "bag" else recipe(kind)
    ready = draft(chosen, tmp_path / "run", try_out=True)
    found = estimate_memory(ready.training, ready.splits, ready.trial, lambda: None)
    assert found.training > 0 and found.scoring > 0


def test_what_is_taken_for_what_and_the_surest_mistakes_are_told(bagged, tmp_path):
    run = bagged()
    other = tmp_path / "other.csv"
    rows = ["a great film,good", "a fine film,bad", "a sad film,bad", "an awful plot,good"]
    other.write_text("text,label\n" + "\n".join(rows) + "\n")
    details = run.evaluate(other)["details"]
    assert details["labels"] == ["bad", "good"] and details["confusion"] == [[1, 1], [1, 1]]
    mistakes = details["mistakes"]
    assert {m["input"] for m in mistakes} == {"a fine film", "an awful plot"}
    assert mistakes[0]["probability"] >= mistakes[1]["probability"] > 0.5
    assert (run.folder / "judgements.png").stat().st_size > 1000
    png = tmp_path / "other.png"
    told = CliRunner().invoke(evaluate, [str(run.folder), "--data", str(other), "--png", str(png)])
    assert told.exit_code == 0 and "surest of" in told.stdout and png.exists()
    rates = {"precision": 50.0, "recall": 50.0, "f1": 50.0}
    assert details["classes"] == [{"label": name, "texts": 2, **rates} for name in ("bad", "good")]
    assert "class  texts  precision, %  recall, %  F1, %\nbad        2         50.00" in told.stdout
