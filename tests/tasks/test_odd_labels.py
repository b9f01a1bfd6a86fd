"""Labelled texts that are few, rare or strange: what can be learned from is, what can not is
refused before a training, never after it."""

import json

import numpy as np
import pytest
import torch

from regard.build import new_training
from regard.data.label_doubts import DoubtfulLabels
from regard.data.labels import Labelled
from regard.data.splits import place_of, side_of
from regard.errors import ConfigError, DataError
from regard.label_shapes import BagSettings
from regard.models.bag import Bag
from regard.run import Run, finish
from regard.tasks.classify import Classify
from regard.tasks.judging import predicted
from regard.tasks.label_baselines import Bags
from regard.tasks.label_choices import _batch
from regard.tasks.label_data import input_of
from regard.tasks.label_loss import loss_of_several
from regard.tasks.named_labels import label_counts
from regard.tasks.recipe import check_recipe, make_recipe


def recipe_of(table, **more):
    tree = {
        "task": "classify",
        "data": {"path": str(table), "text": "text", "label": "label"},
        "tokens": {"kind": "character"},
        "model": {"kind": "mean", "width": 4, "max_length": 16},
        "train": {"steps": 2, "batch_tokens": 100},
    }
    for name, value in more.items():
        merged = isinstance(value, dict) and "kind" not in value
        tree[name] = {**tree.get(name, {}), **value} if merged else value
    return check_recipe(tree, "here")


def written(path, rows):
    path.write_text("text,label\n" + "".join(f"{text},{label}\n" for text, label in rows))
    return path


def fitted(recipe, train):
    return Classify.fit(recipe, [Labelled(*row) for row in train])


# The bag beside every classifier


def test_texts_without_blanks_become_a_run_all_the_same(tmp_path):
    rows = [(f"{'好坏'[n % 2]}电影{chr(0x4E00 + n)}", "ab"[n % 2]) for n in range(60)]
    training = new_training(recipe_of(written(tmp_path / "x.csv", rows)), tmp_path / "run")
    for _ in training.run():
        pass
    names = [one["name"] for one in finish(training).facts["test"]["baselines"]]
    assert len(names) == 2 and "bag" in names[1], "grams that are in one text count"
    assert Run.load(tmp_path / "run").evaluate()["baselines"][1]["name"] == names[1]


def test_without_any_word_there_is_no_bag_to_beat(tmp_path):
    train = [("+ +", "a"), ("- -", "b")] * 20
    task = fitted(recipe_of(tmp_path / "x.csv"), train)
    found = task.baselines([Labelled(*row) for row in train])
    assert list(found) == ["majority"]
    found["majority"].save(tmp_path / "majority")
    assert list(task.load_baselines(tmp_path)) == ["majority"]


def test_of_many_classes_the_bag_keeps_as_many_grams_as_it_has_room_for(monkeypatch):
    """The most frequent ones; a thousand classes of a million grams would take 8 GB."""
    texts, labels = [f"often w{n} w{n}x" for n in range(12)] * 2, "abcdef"
    wanted = np.arange(24) % 6
    monkeypatch.setattr("regard.tasks.label_baselines.WEIGHTS", 30)
    bag = Bags.fit(texts, wanted, labels, several=False, pairs=False).bag
    assert bag.weights.shape == (5, 6) and "often" in bag.grams.known
    monkeypatch.setattr("regard.tasks.label_baselines.WEIGHTS", 30_000)
    bag = Bags.fit(texts, wanted, labels, several=False, pairs=False).bag
    assert np.array_equal(bag.weights, Bag.fit(BagSettings(), texts, wanted, 6).weights)


# Labels that fall on one side


def sided(side):
    """Texts whose hash puts them there."""
    texts = (f"text {n}" for n in range(10_000))
    return (text for text in texts if side_of(place_of(text), (80, 10, 10)) == side)


@pytest.mark.parametrize(
    ("labels", "separator"), [("aab", None), ("aba", None), (("a;b", "b;a", "c"), ";")]
)
def test_one_class_in_the_training_part_is_refused_before_training(tmp_path, labels, separator):
    sides = [zip(sided(side), [label] * 30, strict=False) for side, label in enumerate(labels)]
    table = written(tmp_path / "x.csv", [row for side in sides for row in side])
    with pytest.raises(DataError, match="every row of the training part has the label"):
        Classify.read(recipe_of(table, data={"separator": separator}))


def test_a_validation_part_of_strange_labels_alone_is_refused(tmp_path):
    rows = [*zip(sided(0), "ab" * 40, strict=False), *zip(sided(2), "ab" * 5, strict=False)]
    rows += zip(sided(1), "c" * 9, strict=False)
    with pytest.raises(DataError, match="no row of the validation part .* only such as 'c'"):
        Classify.read(recipe_of(written(tmp_path / "x.csv", rows)))


# Rare labels


MANY_AND_FEW = [("+ one", "a"), ("- two", "a"), ("* three", "a"), ("/ two", "b")] * 12


def test_one_setting_lets_the_classes_of_a_bag_count_the_same_too(tmp_path):
    train = [Labelled(*row) for row in MANY_AND_FEW]
    chosen = {"model": {"kind": "bag"}, "train": {"steps": 0}, "tokens": None}
    table = tmp_path / "x.csv"
    task = fitted(recipe_of(table, balanced=True, **chosen), MANY_AND_FEW)
    wanted = np.array([["a", "b"].index(e.label) for e in train])
    bag = Bag.fit(BagSettings(balanced=True), [e.text for e in train], wanted, 2)
    network = task.network()
    task.begin(network, train)
    texts = ["two", "one"]
    assert np.array_equal(task.predictor(network).scores(texts), bag.scores(texts))
    plain = Bag.fit(BagSettings(), [e.text for e in train], wanted, 2)
    assert not np.allclose(bag.scores(texts), plain.scores(texts))


def test_of_several_labels_yes_and_no_weigh_the_same(tmp_path):
    recipe = recipe_of(tmp_path / "x.csv", data={"separator": ";"}, balanced=True)
    task = fitted(recipe, [("x", "a;b"), ("y", "a"), ("z", "a;c"), ("x", "b")] * 10)
    assert task._weights.tolist() == pytest.approx([10 / 30, 20 / 20, 30 / 10])
    again = Classify.load(recipe, task.as_json())
    assert torch.equal(again._weights, task._weights), "a resumed training weighs them alike"


def test_rare_labels_are_talked_about_whoever_made_the_recipe(tmp_path):
    with pytest.warns(DoubtfulLabels, match=r"1 label has fewer than 10 examples \('b': 4\)"):
        fitted(recipe_of(tmp_path / "x.csv"), MANY_AND_FEW[:16])


def test_five_strange_labels_are_named(tmp_path):
    task = fitted(recipe_of(tmp_path / "x.csv"), MANY_AND_FEW)
    strange = [Labelled("x", label) for label in ["a", *"zzyxwvu"]]
    assert task.doubt(strange, {}) == (
        "6 labels were never trained on, which counts as wrong: 'z' (2), 'y' (1), 'x' (1), "
        "'w' (1), 'v' (1), ..."
    )
    assert task.doubt(strange[:1], {}) == ""


def test_labels_like_ids_are_refused_where_the_column_was_guessed_alone(tmp_path):
    """A column that was named is trained on, and talked about."""
    rows = [(f"a text of some words {n}", f"label-{n // 2 if n < 40 else n}") for n in range(100)]
    table, quick = written(tmp_path / "x.csv", rows), ["model.kind=bag"]
    with pytest.raises(DataError, match="80 different labels, given 100 times .* with --target"):
        make_recipe("classify", [table], quick)
    recipe, _ = make_recipe("classify", [table], [*quick, "data.label=label"])
    train = Classify.read(recipe).train
    with pytest.warns(DoubtfulLabels, match="looks like an id or free text. If so, name another"):
        Classify.fit(recipe, train)


# Two texts


def pairs_in(path, pairs):
    """Read from there, as (train, validation, test); and what is noted about them."""
    rows = [{"text": one, "b": other, "label": "yn"[n % 2]} for n, (one, other) in enumerate(pairs)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = Classify.read(recipe_of(path, data={"other": "b"}))
    return (found.train, found.validation, found.test), found.notes


def test_pairs_that_share_a_text_are_on_one_side(tmp_path):
    """Three claims about each of 200 facts, and what is said of a fact is told of the next too."""
    pairs = [(f"fact {n}", f"claim {n} {k}") for n in range(200) for k in range(3)]
    pairs += [(f"fact {n + 1}", f"claim {n} 0") for n in range(0, 200, 2)]
    sides, notes = pairs_in(tmp_path / "x.jsonl", pairs)
    texts = [{text for e in side for text in (e.text, e.other)} for side in sides]
    assert all(texts) and not any(texts[a] & texts[b] for a, b in ((0, 1), (0, 2), (1, 2)))
    assert not notes and sum(map(len, sides)) == len(pairs)


def test_few_topics_that_tie_all_pairs_do_not_decide_the_sides(tmp_path):
    pairs = [(f"text {n}", f"topic {n % 5}") for n in range(400)]
    sides, notes = pairs_in(tmp_path / "x.jsonl", pairs)
    sizes = [len(side) / 400 for side in sides]
    assert sizes == pytest.approx([0.8, 0.1, 0.1], abs=0.05)
    assert notes[-1].startswith("80 of 400 pairs hang together by texts that they share: too many")
    few, notes = pairs_in(tmp_path / "few.jsonl", [(f"one {n}", f"two {n}") for n in range(30)])
    assert not notes, "of few pairs each may be alone"


def test_texts_that_are_read_alike_are_shared_whatever_blanks_were_tabs(tmp_path):
    """A tab stands between the two texts of an input, so one inside a text is read as a blank."""
    pairs = [(f"a\t{n}", f"b\t{n}") for n in range(100)]
    pairs += [(f"a\t{n}", f"c {n}") for n in range(100)] + [
        (f"a {n}", f"b {n}") for n in range(100)
    ]
    sides, _ = pairs_in(tmp_path / "x.jsonl", pairs)
    texts = [{input_of(e).partition("\t")[0] for e in side} for side in sides]
    assert sum(map(len, texts)) == len(set.union(*texts)) == 100


def test_one_segment_for_two_texts_is_refused(tmp_path):
    shape = {"kind": "transformer", "width": 4, "heads": 2}
    with pytest.raises(ConfigError, match="model.segments: two texts .* found segments = 1. Write"):
        recipe_of(tmp_path / "x.csv", data={"other": "b"}, model={**shape, "segments": 1})
    recipe_of(tmp_path / "x.csv", model={**shape, "segments": 1})


def test_letters_of_two_texts_are_refused(tmp_path):
    bag = {"model": {"kind": "bag", "letters": 4}, "train": {"steps": 0}}
    with pytest.raises(ConfigError, match="model.letters: two texts .* letters = 4. Leave it out"):
        recipe_of(tmp_path / "x.csv", data={"other": "b"}, **bag)
    recipe_of(tmp_path / "x.csv", **bag)


def test_a_transformer_that_is_chosen_tells_two_texts_apart(tmp_path):
    table = tmp_path / "pairs.csv"
    rows = [f"it rains {n},it rains,{'yn'[n % 2]}\n" for n in range(60)]
    table.write_text("text,b,label\n" + "".join(rows))
    sets = ["data.other=b", "train.steps=1", "tokens.kind=word"]
    assert make_recipe("classify", [table], sets)[0].model.segments == 2
    assert make_recipe("classify", [table], [*sets, "model.causal=true"])[0].model.segments == 0
    alone, reasons = make_recipe("classify", [table], sets[1:])
    assert alone.model.segments == 0 and 'text "text", label "label"' in reasons[0][1]


# What is chosen for someone's texts


@pytest.mark.parametrize(
    ("texts", "tokens", "wanted"),
    [(40, 8, 500), (40, 400, 3200), (4000, 60, 2400), (4000, 300, 4000)],
    ids=["few and short", "few and long: eight a step", "a hundred steps a pass", "the most"],
)
def test_few_texts_are_learned_from_in_small_steps(texts, tokens, wanted):
    assert _batch([Labelled("word" * tokens, "a")] * texts) == wanted


def test_every_kind_of_network_has_a_rate_of_its_own(tmp_path):
    table = written(tmp_path / "x.csv", [(f"some text {n}", "ab"[n % 2]) for n in range(60)])
    rates = {
        kind: make_recipe("classify", [table], [f"model.kind={kind}"])[0].train.rate
        for kind in ("transformer", "rnn", "mean")
    }
    assert rates == {"transformer": 1e-3, "rnn": 2e-3, "mean": 1e-2}
    assert make_recipe("classify", [table], ["train.rate=0.5"])[0].train.rate == 0.5


@pytest.mark.parametrize("label", ["--5", "9" * 5000, "5-"])
def test_labels_that_are_no_numbers_are_sorted_as_words(label):
    found = label_counts([Labelled("a", label), Labelled("b", "10"), Labelled("c", "9")], None)
    assert list(found) == sorted(["10", "9", label])


def test_numbers_are_sorted_by_their_size():
    found = label_counts([Labelled("a", label) for label in ("10", "-2", "9")], None)
    assert list(found) == ["-2", "9", "10"]


def test_several_labels_are_told_in_one_order_and_one_by_one(tmp_path):
    rows = [("it rains", "b|a"), ("it snows", "c")] * 20
    recipe = recipe_of(tmp_path / "x.csv", data={"separator": "|"})
    task = fitted(recipe, rows)
    example = Labelled("it rains", "new|b|a")
    assert task.answers([example]) == {"it rains": ["a, b, new"]}
    found = predicted("x", np.array([0.9, 0.8, 0.2]), ["a, b", "c", "d"], several=True)
    assert found.as_json()["labels"] == ["a, b", "c"] and found.output == "a, b, c"


def test_a_bag_that_is_asked_for_fits_into_memory_too(tmp_path, monkeypatch):
    monkeypatch.setattr("regard.tasks.label_baselines.WEIGHTS", 30)
    rows = [(f"word{n % 20} other{n % 7}", "abc"[n % 3]) for n in range(60)]
    bag = {"model": {"kind": "bag"}, "tokens": None, "train": {"steps": 0}}
    with pytest.warns(UserWarning, match="of 3 classes only the 10 most frequent grams are kept"):
        assert len(fitted(recipe_of("x.csv", **bag), rows).grams.words) == 10
    bag["model"] = {"kind": "bag", "size": 15}
    assert len(fitted(recipe_of("x.csv", **bag), rows).grams.words) == 15, "if someone says so"


@pytest.mark.parametrize(("longest", "other"), [(2, None), (4, "more")])
def test_a_length_without_room_for_a_token_is_refused(longest, other):
    data = {"other": other} if other else {}
    with pytest.raises(ConfigError, match=f"model.max_length: .* at least, .* found {longest}"):
        recipe_of("x.csv", data=data, model={"kind": "mean", "max_length": longest})
    recipe_of("x.csv", data=data, model={"kind": "mean", "max_length": longest + 1})


@pytest.mark.parametrize("name", ["train.rate=5", "keep=tail", "tokens.kind=word"])
def test_settings_that_say_nothing_to_a_bag_are_refused(tmp_path, name):
    rows = [(f"red {n}", "a") for n in range(30)] + [(f"blue {n}", "b") for n in range(30)]
    table = written(tmp_path / "x.csv", rows)
    with pytest.raises(ConfigError, match="a bag learns whole texts at once"):
        make_recipe("classify", [table], ["model.kind=bag", name])


def test_smoothing_leaves_the_border_of_yes_and_no_where_it_is():
    """As often yes as no, nothing else known: the best score is 0, whatever the smoothing."""
    logits = torch.zeros(4, 1, dtype=torch.float64, requires_grad=True)
    loss_of_several(logits, [[0], [], [0], []], None, smoothing=0.2).backward()
    assert logits.grad.sum().item() == pytest.approx(0, abs=1e-12)
    certain = torch.tensor([[40.0]], dtype=torch.float64, requires_grad=True)
    loss_of_several(certain, [[0]], None, smoothing=0.2).backward()
    assert certain.grad.item() == pytest.approx(0.1), "0.9 is wanted, not 1"


def test_texts_without_blanks_are_read_letter_by_letter(tmp_path):
    """Of whole clauses nothing could be known about a new one."""
    rows = [
        (f"{'我很高兴' if n % 2 else '我很难过'}{chr(0x4E00 + n)}", "ab"[n % 2]) for n in range(60)
    ]
    recipe, reasons = make_recipe("classify", [written(tmp_path / "x.csv", rows)])
    assert recipe.tokens.kind == "character"
    assert dict(reasons)["tokens"] == "characters, since no blanks stand between words"
    named, _ = make_recipe("classify", [tmp_path / "x.csv"], ["tokens.kind=bpe"])
    assert named.tokens.kind == "bpe"
    spaced, _ = make_recipe("classify", [written(tmp_path / "y.csv", [
        (f"so glad 高 {n}", "a") if n % 2 else (f"so sad {n}", "b") for n in range(60)
    ])])  # fmt: skip
    assert spaced.tokens.kind == "bpe"
