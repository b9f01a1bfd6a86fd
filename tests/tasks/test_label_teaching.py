"""What texts without labels are worth, and what they must not do."""

import json
import random
from pathlib import Path
from time import sleep

import numpy as np
import pytest

from regard.build import draft, new_training, resume_training
from regard.data.labels import Labelled
from regard.data.splits import Splits
from regard.errors import ConfigError, DataError, RunError
from regard.label_shapes import BagSettings
from regard.models.bag import Bag
from regard.run import Run, finish
from regard.run.choosing import which_model
from regard.tasks import label_teaching
from regard.tasks.label_baselines import fitting_bag
from regard.tasks.label_recipe import LabelData
from regard.tasks.label_teaching import labelled, taught, unlabelled, with_unlabelled
from regard.tasks.recipe import check_recipe
from regard.tasks.teacher import said_by
from regard.train.estimate import estimate_memory

KNOWN = {"good": "fine great lovely".split(), "bad": "poor awful sad".split()}
NEW = {"good": "superb divine".split(), "bad": "dire wretched".split()}  # in no labelled text
FILLER = "the a film plot was is it and of so".split()
BAG = {"model": {"kind": "bag"}, "train": {"steps": 0}}
NETWORK = {
    "tokens": {"kind": "word"},
    "model": {"kind": "mean", "width": 16},
    "train": {"steps": 60, "batch_tokens": 400, "rate": 0.02, "validate_every": 30},
}


def text(dice, *words):
    found = [*dice.sample(FILLER, 6), *words]
    dice.shuffle(found)
    return " ".join(found)


@pytest.fixture
def files(tmp_path):
    """Labelled texts; test texts that only the new words tell apart; and unlabelled texts, which
    have known and new words side by side."""
    dice = random.Random(0)
    known = {text(dice, dice.choice(KNOWN[one])): one for _ in range(60) for one in KNOWN}
    asked = {text(dice, dice.choice(NEW[one])): one for _ in range(40) for one in NEW}
    more = [text(dice, *KNOWN[one], dice.choice(NEW[one])) for _ in range(150) for one in NEW]
    for name, rows in (("known", known), ("asked", asked)):
        lines = "".join(f"{row},{label}\n" for row, label in rows.items())
        (tmp_path / f"{name}.csv").write_text(f"text,label\n{lines}")
    (tmp_path / "more.txt").write_text("".join(f"{row}\n" for row in more))
    return tmp_path


@pytest.fixture
def recipe(files):
    def make(tree, unlabelled="more.txt", **data):
        named = {"path": "known.csv", "test": "asked.csv", "unlabelled": unlabelled}
        paths = {name: str(files / file) for name, file in named.items() if file}
        return check_recipe({"task": "classify", "data": {**paths, **data}, **tree}, "here")

    return make


def trained(recipe, folder):
    training = new_training(recipe, folder)
    for _ in training.run():
        pass
    return finish(training)


@pytest.mark.parametrize("tree", [BAG, NETWORK], ids=["bag", "network"])
def test_words_that_only_unlabelled_texts_have_are_learned(recipe, files, tree):
    def right(run):
        return run.facts["test"]["scores"]["accuracy"]["value"]

    alone = trained(recipe(tree, unlabelled=None), files / "alone")
    helped = trained(recipe(tree), files / "helped")
    assert right(alone) < 70
    assert right(helped) > 80


def test_the_baselines_learn_from_labelled_texts_alone(recipe, files):
    run = trained(recipe(BAG), files / "run")
    bag, majority = run.baselines()["bag"], run.baselines()["majority"]
    assert "superb" in run.task.grams.words
    assert "superb" not in bag.bag.grams.words
    assert sum(majority.shares) == pytest.approx(1)


def test_an_unlabelled_text_counts_as_one_that_was_trained_on(recipe, files):
    run = trained(recipe(BAG), files / "run")
    some = (files / "more.txt").read_text().splitlines()[:2]
    assert run.task.known(run.baselines(), [*some, "a new text"]) == [True, True, False]


def test_held_out_texts_are_not_learned_from_without_their_labels_either(recipe, files):
    asked = [row.split(",")[0] for row in (files / "asked.csv").read_text().splitlines()[1:]]
    with (files / "more.txt").open("a") as more:
        more.writelines(f"{row}\n" for row in [*asked, "", asked[0]])
    splits = draft(recipe(BAG), files / "run").splits
    assert f"{len(asked) + 2} others were empty or there already" in splits.notes[-1]
    held_out = {e.text for e in [*splits.validation, *splits.test]}
    learned = [e.text for e in splits.train]
    assert set(asked) <= held_out
    assert not held_out & set(learned)
    assert len(set(learned)) == len(learned)
    assert "" not in learned


@pytest.mark.parametrize("suffix", ["csv", "txt"])
@pytest.mark.parametrize("header", [True, False])
def test_rows_without_a_label_of_the_same_table_can_be_learned_from(files, suffix, header):
    rows = (files / "more.txt").read_text().splitlines()
    known = (files / "known.csv").read_text().replace(",", "\t").splitlines()[0 if header else 1 :]
    path = files / f"table.{suffix}"
    broken = "one\tcell\ttoo many"
    path.write_text("\n".join([*known, *(f"{row}\t" for row in rows), broken, ""]))
    if suffix == "csv":
        path = path.rename(files / "table.tsv")
    data = {"path": str(path), "unlabelled": str(path), "bad_rows": "skip"}
    ready = draft(check_recipe({"task": "classify", "data": data, **BAG}, "here"), files / "r")
    found = [e.text for e in unlabelled(ready.splits.train)]
    assert sorted(found) == sorted(set(rows))
    assert ready.splits.skipped == len(rows) - len(set(rows)) + 1


def test_the_column_of_texts_is_the_one_of_the_labelled_table(recipe, files):
    lines = (files / "known.csv").read_text().splitlines()[1:]
    swapped = [",".join(reversed(line.split(","))) for line in lines]
    (files / "known.csv").write_text("".join(f"{line}\n" for line in ["topic,words", *swapped]))
    (files / "asked.csv").write_text("topic,words\ngood,a divine film\nbad,a dire film\n")
    (files / "more.csv").write_text("id,words\n1,a new film\n2,a new plot\n")
    splits = draft(recipe(BAG, "more.csv"), files / "run").splits
    assert [e.text for e in unlabelled(splits.train)] == ["a new film", "a new plot"]


def test_a_pair_with_a_held_out_text_is_not_learned_from(files):
    data = LabelData(path="x.csv", text="a", other="b", unlabelled=str(files / "more.csv"))
    (files / "more.csv").write_text("a,b\none,new\nnew,two\ntwo,new\nnew,newer\n")
    sides = Splits([Labelled("red", "yes", "blue")], [], [Labelled("one", "yes", "two")])
    found = unlabelled(with_unlabelled(sides, data).train)
    assert [(e.text, e.other) for e in found] == [("new", "newer")]


def test_a_changed_file_of_unlabelled_texts_is_noticed(recipe, files):
    new_training(recipe(NETWORK), files / "run")
    with (files / "more.txt").open("a") as more:
        more.write("one more text\n")
    with pytest.raises(RunError, match="the data changed since this run began"):
        resume_training(files / "run")


def test_a_resumed_training_is_taught_the_same(recipe, files):
    whole = trained(recipe(NETWORK), files / "whole")
    stopped = new_training(recipe(NETWORK), files / "stopped")
    for _ in stopped.run():
        if stopped.progress.step == 45:
            break
    resumed = resume_training(files / "stopped")
    for _ in resumed.run():
        pass
    finish(resumed)
    weights = [(files / name / "model.safetensors").read_bytes() for name in ("whole", "stopped")]
    assert weights[0] == weights[1]
    assert whole.facts["data"]["train"] > 300


def test_the_card_says_how_many_texts_have_no_label(recipe, files):
    trained(recipe(BAG), files / "run")
    card = (files / "run" / "README.md").read_text()
    assert "300 of the training texts have no labels" in card
    assert str(files) not in card
    assert "/" not in json.loads((files / "run" / "run.json").read_text())["data"]["notes"][-1]


def test_nothing_is_learned_from_a_text_that_gets_none_of_several_labels():
    train = [Labelled("red sun", "red|hot"), Labelled("red ice", "red"), Labelled("blue ice", "")]
    train += [Labelled("hot sun", "hot"), Labelled("cold sea", "cold"), Labelled("red sun now", "")]
    wanted = np.array([[0, 1, 1], [0, 0, 1], [0, 1, 0], [1, 0, 0]])  # cold, hot, red
    found = taught(train, wanted, ["cold", "hot", "red"], "|", pairs=False).examples
    assert found[:4] == labelled(train)
    assert {e.text: e.label for e in found[4:]} == {"red sun now": "hot|red"}


@pytest.mark.parametrize("classes", [2, 3])
def test_the_label_is_the_one_that_both_teachers_say_together(classes):
    dice = random.Random(classes)
    names = [f"label {n}" for n in range(classes)]
    words = {name: [f"{name[-1]}{n}" for n in range(8)] for name in names}

    every = [word for some in words.values() for word in some]
    known = [Labelled(text(dice, *dice.sample(words[n], 2)), n) for n in names for _ in range(20)]
    others = [Labelled(text(dice, *dice.choices(every, k=5)), "") for _ in range(50)]
    wanted = np.array([names.index(e.label) for e in known])
    scores = 0.0
    for weights, strength in (("binary", None), ("tfidf", 3.0)):
        settings = BagSettings(judge="nbsvm", grams=3, weights=weights, strength=strength)
        bag = Bag.fit(settings, [e.text for e in known], wanted, classes)
        said = bag.scores([e.text for e in others])
        scores = scores + said / said.std()
    found = taught([*known, *others], wanted, names, None, pairs=False).examples
    expected = [names[n] for n in scores.argmax(axis=1)]
    assert [e.label for e in found[len(known) :]] == expected
    assert set(expected) == set(names)


def test_two_texts_that_are_judged_together_can_be_without_a_label():
    train = [Labelled("a cat", "yes", "a cat sat"), Labelled("a dog", "no", "the sea")] * 3
    new = [Labelled("a red cat", "", "a red cat ran"), Labelled("blue", "", "one house")]
    found = taught([*train, *new], np.array([1, 0] * 3), ["no", "yes"], None, pairs=True)
    assert [e.label for e in found.examples[6:]] == ["yes", "no"]


@pytest.mark.parametrize("rows", ["", "\n  \n"])
def test_a_file_without_texts_is_refused_with_its_name(recipe, files, rows):
    (files / "more.txt").write_text(rows)
    with pytest.raises(DataError, match="no text to learn from") as error:
        draft(recipe(BAG), files / "run")
    assert "more.txt" in str(error.value)


def test_it_is_told_which_column_of_a_table_is_read(recipe, files):
    (files / "more.csv").write_text("id,text\n1,a new film\n2,a new plot\n")
    splits = draft(recipe(BAG, "more.csv", text="text", label="label"), files / "run").splits
    assert [e.text for e in unlabelled(splits.train)] == ["a new film", "a new plot"]
    assert splits.notes[-1].endswith('more.csv: the inputs are "text".')
    assert str(files) not in splits.notes[-1]


def test_a_table_without_the_column_of_texts_is_refused(recipe, files):
    (files / "more.csv").write_text("id,words\n1,a film\n2,a plot\n")
    with pytest.raises(DataError, match=r"more\.csv"):
        draft(recipe(BAG, "more.csv", text="text", label="label"), files / "run")


def test_memory_can_be_estimated_where_few_of_many_texts_have_labels(recipe, files):
    with (files / "more.txt").open("a") as more:
        more.writelines(f"the film number {n}\n" for n in range(60_000))
    ready = draft(recipe(NETWORK), files / "run", try_out=True)
    found = estimate_memory(ready.training, ready.splits, ready.trial, lambda: None)
    assert found.training > 0 and found.scoring > 0


def test_rare_labels_count_as_much_as_others_among_what_is_taught(recipe, files):
    with (files / "more.txt").open("a") as more:
        more.writelines(f"a fine film number {n}\n" for n in range(900))
    ready = draft(recipe({**NETWORK, "balanced": True}), files / "run")
    task = ready.training.task
    rows = [row.classes[0] for row in ready.training.batches.rows]
    weighed = [task._weights[number].item() * rows.count(number) for number in (0, 1)]
    assert weighed[0] == pytest.approx(weighed[1])
    assert rows.count(1) > 2 * rows.count(0)


def test_all_compared_models_learn_from_unlabelled_texts(files, monkeypatch):
    told, fits = [], []

    def watched(settings, *given, **options):
        fits.append(settings.weights)
        return fitting_bag(settings, *given, **options)

    monkeypatch.setattr("regard.tasks.label_teaching.fitting_bag", watched)
    label_teaching._given.cache_clear()
    sets = [f"data.unlabelled={files / 'more.txt'}", f"data.test={files / 'asked.csv'}"]
    found = which_model(
        files / "known.csv", files / "out", budget="1s", sets=sets, heard=told.append
    )
    bags = [m for m in found["models"] if m["name"].startswith("bag")]
    shares = {point["texts"] for point in found["curve"]}
    assert fits.count("tfidf") == fits.count("binary") == len(shares), "each is taught once"
    assert found["rule"]["samples"] < 120
    assert max(point["texts"] for point in found["curve"]) == found["rule"]["samples"]
    assert all(m["scores"]["accuracy"]["value"] > 80 for m in bags)


def test_what_another_model_has_paid_for_is_in_the_time_of_a_bag_too(recipe, files, monkeypatch):
    """Models that are compared are taught together: who comes second would look faster."""
    seconds = []
    label_teaching.forget()
    learned = label_teaching.fitting_bag
    monkeypatch.setattr(
        label_teaching, "fitting_bag", lambda *a, **b: [sleep(0.4), learned(*a, **b)][1]
    )
    for name in ("first", "second"):
        seconds.append(draft(recipe(BAG), files / name).training.progress.seconds)
    assert min(seconds) > 0.8
    label_teaching.forget()


def test_it_is_told_that_texts_are_given_none_of_several_labels(recipe, files):
    """They are neither empty nor too long, and no network or bag learns from them."""
    dice = random.Random(1)
    words = ["red", "blue", "green", "grey", "pink"]  # each label is rare, so no word means none
    for name in ("known", "asked"):
        rows = [f"{text(dice, word, str(n))},{word}\n" for n in range(30) for word in words]
        (files / f"{name}.csv").write_text("text,label\n" + "".join(rows))
    (files / "more.txt").write_text("so it is\nand of the film\na red red film\n")
    for name, tree in (("bag", BAG), ("mean", NETWORK)):
        facts = trained(recipe(tree, separator="|"), files / name).facts["data"]
        assert facts["given_none"] == 2 and facts["left_out_of_training"] == 0
        card = (files / name / "README.md").read_text()
        assert "2 texts without labels were given none of several" in card


# A run that teaches


def test_each_run_has_as_much_of_a_say_as_both_bags(monkeypatch):
    known = [Labelled(f"red sun {n}", "hot") for n in range(4)]
    known += [Labelled(f"blue ice {n}", "cold") for n in range(4)]
    others = [Labelled(word, "") for word in ("red", "blue", "red sun", "blue ice")]
    asked = []

    def said(folder, inputs, labels, *, pairs):
        asked.append((folder, inputs, labels, pairs))
        sure = np.array([1.0, 1.0, 1.0, -1.0])  # cold, cold, cold, hot
        return np.stack([sure, -sure], axis=1)

    monkeypatch.setattr(label_teaching, "said_by", said)
    wanted, names = np.array([1] * 4 + [0] * 4), ["cold", "hot"]
    alone = taught([*known, *others], wanted, names, None, pairs=False).examples[8:]
    assert [e.label for e in alone] == ["hot", "cold", "hot", "cold"]
    found = taught(
        [*known, *others], wanted, names, None, pairs=False, teachers=("run", "other")
    ).examples[8:]
    scores = sum(
        (s := bag_of(known, wanted, one).scores([e.text for e in others])) / s.std()
        for one in label_teaching.TEACHERS
    )
    scores = scores + 4 * said("", (), (), pairs=False) / said("", (), (), pairs=False).std()
    assert [e.label for e in found] == [names[n] for n in scores.argmax(axis=1)]
    assert asked[0] == (Path("run"), ("red", "blue", "red sun", "blue ice"), tuple(names), False)
    assert asked[1] == (Path("other"), *asked[0][1:])


def bag_of(known, wanted, settings):
    return fitting_bag(settings, [e.text for e in known], wanted, 2, pairs=False)


def test_what_a_network_knows_gets_into_a_bag(recipe, files):
    network = trained(recipe(NETWORK), files / "network")
    texts = (files / "more.txt").read_text().splitlines()
    said = said_by(files / "network", texts, ["bad", "good"], pairs=False)
    output = [("bad", "good")[n] for n in said.argmax(axis=1)]
    assert output == network.predict(texts), "it says what it answers"
    run = trained(recipe(BAG, teachers=str(files / "network")), files / "bag")
    assert run.facts["test"]["scores"]["accuracy"]["value"] > 80
    card = (files / "bag" / "README.md").read_text()
    assert "bags of words and the run network give them" in card and str(files) not in card
    assert Run.load(files / "bag").evaluate()["examples"] == 80


def test_with_another_teacher_it_is_another_training(recipe, files):
    trained(recipe(NETWORK), files / "teacher")
    new_training(recipe(NETWORK, teachers=str(files / "teacher")), files / "run")
    with (files / "teacher" / "model.safetensors").open("ab") as weights:
        weights.write(b" ")
    with pytest.raises(RunError, match="the data changed since this run began"):
        resume_training(files / "run")


def test_a_teacher_that_knows_held_out_texts_is_refused(recipe, files):
    """What it has learned from them would reach the pupil."""
    rows = (files / "asked.csv").read_text().splitlines()[1:11]
    with (files / "more.txt").open("a") as more:
        more.writelines(f"{row.split(',')[0]}\n" for row in rows)
    trained(recipe(NETWORK, test=None), files / "knowing")
    with pytest.raises(DataError, match=r"knowing has learned from \d+ of the \d+ texts that are"):
        draft(recipe(BAG, teachers=str(files / "knowing")), files / "run")


def test_who_can_not_teach_is_refused(recipe, files):
    with pytest.raises(RunError, match="nobody is no finished run"):
        draft(recipe(BAG, teachers=str(files / "nobody")), files / "run")
    with pytest.raises(ConfigError, match="data.teachers: expected a run, .* found 3"):
        recipe(BAG, teachers=3)
    with pytest.raises(ConfigError, match="of which texts without labels"):
        recipe(BAG, unlabelled=None, teachers=("run", "other"))
    trained(recipe(BAG), files / "other")
    with pytest.raises(ConfigError, match="knows the labels bad, good, and here are the labels a"):
        said_by(files / "other", ["text"], ["a", "b"], pairs=False)
