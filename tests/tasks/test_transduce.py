"""What the transduce task promises about its data, its limits and its scores."""

import itertools
import json
from pathlib import Path

import pytest
import torch

from regard.build import new_training
from regard.data.named import read_named
from regard.errors import ConfigError, DataError, TextError
from regard.names import Prediction
from regard.run import finish
from regard.tasks.transduce import Transduce


def done(training):
    for _ in training.run():
        pass
    return finish(training)


def three(splits):
    return splits.train, splits.validation, splits.test


def test_no_word_of_the_dictionary_is_on_two_sides():
    from regard.tasks.recipe import read_recipe

    splits = Transduce.read(read_recipe("demo"))
    sides = [{pair.source for pair in side} for side in three(splits)]
    assert not (sides[0] & sides[1] or sides[0] & sides[2] or sides[1] & sides[2])
    assert sum(map(len, three(splits))) == len(list(read_named("cmudict")))
    assert 0.045 < len(sides[2]) / sum(map(len, sides)) < 0.055


def test_sources_that_look_alike_to_the_model_are_never_split(small, pairs_file):
    pairs_file.write_text("".join(f"Word{i}\tx\nWORD{i}\ty\nword{i}\tz\n" for i in range(200)))
    splits = Transduce.read(small("source.lowercase=true"))
    sides = [{pair.source.lower() for pair in side} for side in three(splits)]
    assert not (sides[0] & sides[1] or sides[0] & sides[2] or sides[1] & sides[2])


def test_an_overlong_row_is_counted_not_cut_and_does_not_end_the_run(small, pairs_file, tmp_path):
    endings = [c + d for c in "abcde" for d in "abcde"]
    long = "".join(f"{'ab' * 20}{ending}\tx\n" for ending in endings)
    pairs_file.write_text(pairs_file.read_text() + long)
    training = new_training(small(), tmp_path / "run")
    assert training.batches.left_out > 0
    run = done(training)
    test = run.facts["test"]
    assert test["too_long"] > 0 and test["examples"] > test["too_long"]
    assert test["not_measured"] == test["too_long"]
    left = f"Left out: {training.batches.left_out} training"
    assert left in (run.folder / "README.md").read_text()
    with pytest.raises(TextError, match="has 42 tokens, but this model was trained for at most 16"):
        run.predict(["ab" * 21])


@pytest.mark.parametrize("limit", [5, 8])
def test_outputs_never_outgrow_the_model_whatever_the_limits_say(small, tmp_path, limit):
    sets = [f"model.max_length={limit}", "decode.max_length=99", "train.steps=1"]
    run = done(new_training(small(*sets, "model.positions=learned"), tmp_path / "run"))
    assert all(len(s["output"]) <= limit for s in run.facts["samples"])


def test_a_share_of_nothing_is_refused_before_training(small):
    with pytest.raises(ConfigError, match="each need a share above 0"):
        small("data.split=[95, 5, 0]")


def test_a_sample_that_does_not_fit_is_refused_before_training(small, tmp_path):
    with pytest.raises(
        ConfigError, match="samples: 'aaaaaaaaaaaaaaaaaaaaaaaa' is empty or too long"
    ):
        new_training(small('samples=["abc", "aaaaaaaaaaaaaaaaaaaaaaaa"]'), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_all_rows_too_long_is_an_error_that_says_so(small, tmp_path):
    with pytest.raises(DataError, match="training examples are empty or longer"):
        new_training(small("model.max_length=1"), tmp_path / "run")


def test_the_nearest_reference_counts_and_an_example_without_answer_is_wrong(small, tmp_path):
    from regard.data.pairs import Pair

    task = new_training(small(), tmp_path / "run").task
    pairs = [Pair("ab", "a b c"), Pair("ab", "a b"), Pair("cd", "c d")]
    assert task.inputs(pairs) == ["ab", "cd"]
    scores = task.score([Prediction("ab", "a b"), Prediction("cd", "")], pairs)
    assert scores["per"].value == 50 and scores["wer"].value == 50


def test_loss_counts_real_tokens_only(small, tmp_path):
    training = new_training(small(), tmp_path / "run")
    task, network = training.task, training.network.double().eval()
    short, long = training.batches.rows[0], max(training.batches.rows, key=lambda e: len(e.target))
    together = task.loss(network, [short, long])
    alone = [task.loss(network, [one]) for one in (short, long)]
    assert together.tokens == sum(one.tokens for one in alone)
    torch.testing.assert_close(together.total, alone[0].total + alone[1].total, rtol=0, atol=1e-9)


def test_predictions_do_not_depend_on_their_batch(small, tmp_path):
    run = done(new_training(small(), tmp_path / "run"))
    words = ["abc", "e", "", "dcbaabc", "aa"]
    for decoding in ({}, {"beam": 3}):
        together = run.predict(words, **decoding)
        assert together == [run.predict([word], **decoding)[0] for word in words]


def test_a_saved_and_loaded_network_gives_the_same_logits(small, tmp_path):
    training = new_training(small(), tmp_path / "run")
    run = done(training)
    again = type(run).load(run.folder)
    batch = training.batches.rows[:7]
    training.network.eval()
    assert torch.equal(
        run.task.loss(training.network, batch).total, again.task.loss(again.network, batch).total
    )


def test_samples_say_whether_they_were_trained_on(small, tmp_path, pairs_file):
    known = [line.split("\t")[0] for line in pairs_file.read_text().splitlines()]
    run = done(new_training(small(f"samples={json.dumps(known[:20])}"), tmp_path / "run"))
    marks = {s["input"]: s["in_training"] for s in run.facts["samples"]}
    train = {pair.source for pair in Transduce.read(run.recipe).train}
    assert marks == {word: word in train for word in known[:20]}
    assert Path(run.folder / "README.md").read_text().count("\n| \\* |") == sum(marks.values())


def test_the_longest_target_that_is_trained_on_can_be_written(small, tmp_path, pairs_file):
    """START and 4 letters, or 4 letters and STOP: 5 tokens either way."""
    words = ["".join(w) for n in (2, 3, 4) for w in itertools.product("ab", repeat=n)]
    pairs_file.write_text("".join(f"{word}\t{word}\n" for word in words * 9))
    sets = ["model.max_length=5", "model.width=32", "train.steps=150", "train.rate=0.01",
            "train.validate_every=150", "data.split=[60,20,20]"]  # fmt: skip
    run = done(new_training(small(*sets), tmp_path / "run"))
    predictor = run.predictor(max_length=99)
    assert predictor.settings.max_length == 5
    found = predictor.search([run.task.source.ids(word) for word in words])
    assert all(outputs[0].finished for outputs in found.values())


def test_a_recipe_that_samples_is_validated_greedily(small, tmp_path):
    sets = ["decode.temperature=0.8", "decode.top_k=5", "train.steps=4"]
    run = done(new_training(small(*sets), tmp_path / "run"))
    assert run.predictor().settings.top_k == 5
    assert run.predictor(temperature=0.0).settings.top_k is None


def test_a_next_token_that_is_unknown_is_never_right(small, tmp_path, pairs_file):
    """All targets are rare, so all are unknown; a model that says so has learned nothing."""
    words = sorted({"".join(w) for w in itertools.product("abcd", repeat=3)})
    pairs_file.write_text("".join(f"{word}\t{word}\n" for word in words + ["x", "x"]))
    sets = ["target.kind=word", "target.min_count=2", "train.steps=30", "train.rate=0.01"]
    run = done(new_training(small(*sets, "data.split=[60,20,20]"), tmp_path / "run"))
    assert run.facts["test"]["scores"]["token_accuracy"]["value"] <= 50


def test_samples_in_other_capitals_were_trained_on_too(small, tmp_path, pairs_file):
    known = [line.split("\t")[0] for line in pairs_file.read_text().splitlines()][:20]
    shout = json.dumps([word.upper() for word in known])
    recipe = small("source.lowercase=true", f"samples={shout}")
    run = done(new_training(recipe, tmp_path / "run"))
    train = {pair.source for pair in Transduce.read(run.recipe).train}
    assert [s["in_training"] for s in run.facts["samples"]] == [w in train for w in known]
