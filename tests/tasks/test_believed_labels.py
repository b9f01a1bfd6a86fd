"""Can the probabilities of labels be believed: of the model and of the bag beside it, of one label
and of several."""

import json
import random

import numpy as np
import pytest

from regard.build import new_training
from regard.data.labels import Labelled
from regard.data.splits import Splits
from regard.errors import RunError
from regard.metrics.calibration import calibration_error
from regard.run import Run, finish
from regard.tasks.classify import Classify
from regard.tasks.label_baselines import Bags
from regard.tasks.label_details import details_of
from regard.tasks.label_scores import tallies_of, temperature_of
from regard.tasks.recipe import check_recipe

WORDS = {"good": ["great", "fine"], "bad": ["awful", "sad"], "long": ["hours", "days"]}


def reviews(number, several):
    """A word of each label that a text has; one in five texts is a lie, so that nobody can be as
    sure as a bag is."""
    dice = random.Random(0)
    for _ in range(number):
        labels = dice.sample(list(WORDS), dice.randint(1, 2) if several else 1)
        words = [dice.choice(WORDS[label]) for label in labels]
        if dice.random() < 0.2:
            labels = dice.sample(list(WORDS), len(labels))
        text = " ".join(["it", *words, dice.choice("abcdefgh"), dice.choice("stuvwxyz")])
        yield Labelled(text, ";".join(labels))


def bag_recipe(path, several):
    data = {"path": str(path), "text": "text", "label": "label"}
    data |= {"separator": ";"} if several else {}
    tree = {"task": "classify", "data": data, "model": {"kind": "bag"}, "train": {"steps": 0}}
    return check_recipe(tree, "here")


def loss_of(probabilities, wanted):
    """By its definition, of classes (n,) or of a yes or no for each label (n, C)."""
    if wanted.ndim == 1:
        return -np.log(probabilities[np.arange(len(wanted)), wanted]).mean()
    return -np.log(np.where(wanted == 1, probabilities, 1 - probabilities)).mean()


@pytest.mark.parametrize("several", [False, True])
def test_the_bag_beside_a_model_gets_a_temperature_as_the_model_does(tmp_path, several):
    texts = list(reviews(600, several))
    splits = Splits(texts[:300], texts[300:], [])
    task = Classify.fit(bag_recipe("x.csv", several), splits.train)
    baselines, network = task.baselines(splits.train), task.network()
    task.begin(network, splits.train)
    bag, inputs, wanted = baselines["bag"], task.inputs(texts[300:]), task.trained(texts[300:])
    before = loss_of(bag.probabilities(inputs), wanted)
    task.settle(network, splits, baselines)
    assert bag.temperature > 1.2, "lies had made it too sure"
    assert bag.temperature == pytest.approx(task.temperature), "it is the same bag"
    assert loss_of(bag.probabilities(inputs), wanted) < before - 0.01
    nearby = [bag.temperature * factor for factor in (0.9, 1.1)]
    least = loss_of(bag.probabilities(inputs), wanted)
    for bag.temperature in nearby:
        assert loss_of(bag.probabilities(inputs), wanted) > least


def test_a_bag_keeps_its_temperature_and_older_ones_have_none(tmp_path):
    texts, wanted = ["good film", "bad film"] * 5, np.array([0, 1] * 5)
    bag = Bags.fit(texts, wanted, "ab", several=False, pairs=False)
    bag.temperature = 2.5
    bag.save(tmp_path)
    again = Bags.load(tmp_path, "ab", several=False, pairs=False)
    assert np.array_equal(again.probabilities(texts), bag.probabilities(texts))
    for broken in ({"temperature": 0.0}, {"temperature": "hot"}, {}):
        (tmp_path / Bags.file).write_text(json.dumps(broken))
        with pytest.raises(RunError, match=r"calibration.json: not a temperature. Copy the run"):
            Bags.load(tmp_path, "ab", several=False, pairs=False)
    (tmp_path / Bags.file).unlink()
    assert Bags.load(tmp_path, "ab", several=False, pairs=False).temperature == 1.0


def test_a_run_of_several_labels_is_scored_again_as_it_was(tmp_path):
    rows = "".join(f"{e.text},{e.label}\n" for e in reviews(200, several=True))
    (tmp_path / "x.csv").write_text(f"text,label\n{rows}")
    training = new_training(bag_recipe(tmp_path / "x.csv", several=True), tmp_path / "run")
    for _ in training.run():
        pass
    run = finish(training)
    assert run.facts["calibration"]["temperature"] != 1
    found, test = Run.load(run.folder).evaluate(), run.facts["test"]
    assert found["scores"] == test["scores"] and found["baselines"] == test["baselines"]
    assert found["details"]["reliability"] and (run.folder / "judgements.png").exists()


# Several labels: each is a yes or a no


def judged(texts, labels):
    """Probabilities (n, C), and what is wanted (n, C + 1): the last label was never trained on."""
    dice = np.random.default_rng(0)
    chances, wanted = dice.random((texts, labels)), dice.random((texts, labels + 1)) < 0.4
    return chances, wanted.astype(np.int64)


def test_the_calibration_error_of_several_labels_is_that_of_all_yes_and_no():
    chances, wanted = judged(50, 3)
    found = tallies_of(chances, wanted, several=True)["calibration_error"]
    pairs = [(p, w) for p, w in zip(chances.ravel(), wanted[:, :3].ravel(), strict=True)]
    plain = calibration_error([[1 - p, p] for p, _ in pairs], [w for _, w in pairs]).score()
    assert found.score().value == pytest.approx(plain.value)
    assert len(found.rows) == 50, "texts are drawn, not labels"
    assert found.signature.endswith("all-labels-of-a-text")


def test_a_temperature_of_several_labels_makes_their_loss_least():
    scores = np.array([[4.0, -4.0]] * 4)  # 98 %, where three of four are right
    wanted = np.array([[1, 0], [1, 0], [1, 0], [0, 1]])
    assert temperature_of(scores, wanted) == pytest.approx(4 / np.log(3), rel=1e-4)
    assert temperature_of(scores, 1 - wanted[:, 0]) == pytest.approx(8 / np.log(3), rel=1e-4)


def test_the_surest_mistakes_of_several_labels_are_told():
    chances = np.array([[0.9, 0.2], [0.6, 0.01], [0.3, 0.7]])
    wanted = np.array([[0, 0, 0], [1, 1, 1], [0, 1, 0]])
    found = details_of(["x" * 500, "y", "z"], chances, wanted, ["a", "b"])
    told = [tuple(one.values()) for one in found["mistakes"]]
    assert told == [("y", "not b", "b", 0.99), ("x" * 300, "a", "not a", 0.9)]
    assert sum(answers for *_, answers in found["reliability"]) == 6
    assert "confusion" not in found
