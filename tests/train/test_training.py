"""Trainings that stop and go on, split and add up, and never apply a bad number."""

import json
from itertools import islice

import pytest
import torch

from regard.build import new_training, resume_training
from regard.errors import RunError, TrainingError
from regard.models.weights import weights_of
from regard.run import finish
from regard.tasks.recipe import read_recipe
from regard.train import checkpoints
from regard.train.optim import optimizer_tensors
from regard.train.schedules import rate_at
from regard.train.state import random_tensors
from regard.train.training import Stopped, Validated


def train_to_the_end(training):
    return [event for event in training.run() if isinstance(event, Validated)]


def everything(training):
    """All that must be equal for two trainings to be the same."""
    state = {k: v for k, v in training.progress.as_json().items() if k != "seconds"}
    tensors = weights_of(training.network) | optimizer_tensors(training.network, training.optimizer)
    return state, {k: v.clone() for k, v in tensors.items()}, random_tensors()


def same(a, b):
    return a[0] == b[0] and all(
        x.keys() == y.keys() and all(torch.equal(x[k], y[k]) for k in x)
        for x, y in zip(a[1:], b[1:], strict=True)
    )


@pytest.mark.parametrize(
    "sets",
    [
        [],
        ["train.accumulate=3", "model.dropout=0.1"],
        ["train.schedule=inverse_sqrt", "train.keep=averaged", "train.average=2"],
    ],
    ids=["plain", "dropout and accumulation", "averaged"],
)
def test_a_run_stopped_anywhere_and_resumed_equals_one_never_stopped(small, tmp_path, sets):
    whole = new_training(small(*sets), tmp_path / "whole")
    train_to_the_end(whole)
    expected, final = everything(whole), whole.final_weights()
    log = (tmp_path / "whole" / "metrics.jsonl").read_text()
    for stop in (1, 4, 7, 11):
        folder = tmp_path / f"stopped-{stop}"
        first = new_training(small(*sets), folder)
        events = list(first.run(lambda t=first, stop=stop: t.progress.step >= stop))
        assert events[-1] == Stopped(stop)
        torch.manual_seed(999)  # whatever happened in between must not matter
        second = resume_training(folder)
        assert second.progress.step == stop
        train_to_the_end(second)
        assert same(everything(second), expected), f"stopped at {stop}"
        assert all(torch.equal(w, final[k]) for k, w in second.final_weights().items())
        assert (folder / "metrics.jsonl").read_text() == log


def test_two_runs_with_one_seed_are_equal_and_another_seed_differs(small, tmp_path):
    found = []
    for name, seed in (("a", 0), ("b", 0), ("c", 1)):
        training = new_training(small(f"seed={seed}"), tmp_path / name)
        train_to_the_end(training)
        found.append(everything(training))
    assert same(found[0], found[1]) and not same(found[0], found[2])


def test_accumulation_equals_the_big_batch(small, tmp_path):
    weights = []
    for pieces in (1, 2, 5):
        training = new_training(small(f"train.accumulate={pieces}"), tmp_path / str(pieces))
        training.network.double()
        for _ in islice(training.run(), 6):
            pass
        weights.append(weights_of(training.network))
    for other in weights[1:]:
        for name, value in weights[0].items():
            torch.testing.assert_close(other[name], value, rtol=0, atol=1e-9)


@pytest.mark.parametrize("poison", ["weight", "gradient"])
def test_a_number_that_is_not_finite_is_caught_before_it_is_applied(small, tmp_path, poison):
    training = new_training(small(), tmp_path / "run")
    steps = training.run()
    next(steps)
    before = {k: v.clone() for k, v in weights_of(training.network).items()}
    target = training.network.encoder.blocks[0].feed.up.weight
    if poison == "weight":
        target.data[0, 0] = before["encoder.blocks.0.feed.up.weight"][0, 0] = float("nan")
    else:
        target.register_hook(lambda gradient: gradient * float("inf"))
    with pytest.raises(TrainingError, match=rf"step 2: the {poison} of .*not applied") as caught:
        next(steps)
    assert caught.value.exit_code == 3
    for name, value in weights_of(training.network).items():
        torch.testing.assert_close(value, before[name], rtol=0, atol=0, equal_nan=True)


def test_early_stopping_stops_after_patience_and_keeps_the_best(small, tmp_path, monkeypatch):
    training = new_training(small("train.steps=50", "train.patience=2"), tmp_path / "run")
    losses = iter([3.0, 2.0, 2.5, 2.4])
    monkeypatch.setattr(training.task, "validate", lambda *_: {"loss": next(losses)})
    train_to_the_end(training)
    assert training.progress.step == 16 and training.progress.best_step == 8
    best = checkpoints.load(checkpoints.folder_of(tmp_path / "run" / "checkpoints", 8))
    assert all(
        torch.equal(w, best.tensors["model"][k]) for k, w in training.final_weights().items()
    )


def test_averaged_weights_are_the_mean_of_the_last_checkpoints(small, tmp_path):
    training = new_training(small("train.keep=averaged", "train.average=3"), tmp_path / "run")
    train_to_the_end(training)
    home = tmp_path / "run" / "checkpoints"
    assert checkpoints.steps_in(home) == [4, 8, 12]
    sets = [checkpoints.load(checkpoints.folder_of(home, s)).tensors["model"] for s in (4, 8, 12)]
    for name, value in training.final_weights().items():
        torch.testing.assert_close(value, sum(s[name] for s in sets) / 3)


def test_a_time_budget_becomes_steps_once_and_moves_no_random_state(small, tmp_path):
    timed = new_training(small("train.budget=2s", unset=["train.steps"]), tmp_path / "timed")
    steps = timed.steps
    assert steps > 0 and timed.settings.budget is None
    text = (tmp_path / "timed" / "recipe.toml").read_text()
    assert f"steps = {steps}" in text and "# budget =" in text
    fixed = new_training(small(f"train.steps={steps}"), tmp_path / "fixed")
    assert same(everything(timed), everything(fixed))


def test_the_log_is_json_lines_of_losses_and_validations(small, tmp_path):
    train_to_the_end(new_training(small(), tmp_path / "run"))
    lines = [json.loads(s) for s in (tmp_path / "run" / "metrics.jsonl").read_text().splitlines()]
    assert [x["step"] for x in lines if "loss" in x] == list(range(1, 13))
    assert [x["step"] for x in lines if "validation" in x] == [4, 8, 12]


def test_the_schedules_rise_and_fall(small):
    settings = small("train.warmup=0.1", "train.rate=1").train
    cosine = [rate_at(i, 100, settings) for i in range(100)]
    assert cosine.index(max(cosine)) == 9 and max(cosine) == 1 and cosine[-1] == 0
    root = settings.model_copy(update={"schedule": "inverse_sqrt"})
    assert rate_at(39, 100, root) == pytest.approx(0.5) and rate_at(9, 100, root) == 1


def test_a_finished_run_is_whole_and_moves(small, tmp_path):
    training = new_training(small(), tmp_path / "run")
    train_to_the_end(training)
    run = finish(training)
    names = {p.name for p in run.folder.iterdir()}
    assert names >= {"recipe.toml", "run.json", "tokenizer.json", "model.safetensors", "README.md"}
    assert names >= {"baseline", "metrics.jsonl", "checkpoints", "attention.png", "attention.html"}
    outputs = run.predict(["abc", "b"])
    for path in run.folder.glob("*.*"):
        assert str(tmp_path).encode() not in path.read_bytes(), f"{path.name} holds a path"
    moved = run.folder.rename(tmp_path / "elsewhere")
    assert type(run).load(moved).predict(["abc", "b"]) == outputs


def test_resuming_with_changed_data_is_refused(small, tmp_path, pairs_file):
    training = new_training(small(), tmp_path / "run")
    for event in training.run(lambda: True):
        assert event
    pairs_file.write_text(pairs_file.read_text() + "new\twen\n")
    with pytest.raises(RunError, match="the data changed since this run began"):
        resume_training(tmp_path / "run")


def test_resuming_elsewhere_warns_that_it_is_not_bit_exact(small, tmp_path):
    training = new_training(small(), tmp_path / "run")
    list(training.run(lambda: True))
    facts = json.loads((tmp_path / "run" / "run.json").read_text())
    facts["environment"]["torch"] = "1.0"
    (tmp_path / "run" / "run.json").write_text(json.dumps(facts))
    with pytest.warns(UserWarning, match=r"torch 1\.0 -> .* valid, but not bit-exact"):
        assert resume_training(tmp_path / "run").progress.step == 1


def test_a_recipe_written_by_a_run_reads_back_equal(small, tmp_path):
    training = new_training(small(), tmp_path / "run")
    again = read_recipe(tmp_path / "run" / "recipe.toml")
    assert again == training.task.recipe
