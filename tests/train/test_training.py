"""Trainings that stop and go on, split and add up, and never apply a bad number."""

import json
import shutil
from itertools import islice

import pytest
import torch

from regard.build import new_training, resume_training
from regard.errors import RunError, TrainingError
from regard.models.weights import weights_of
from regard.run import finish
from regard.tasks.recipe import read_recipe
from regard.tasks.task import Loss
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


def test_the_layer_where_a_number_stopped_being_finite_is_named(small, tmp_path):
    sets = ["train.accumulate=3", "model.dropout=0.1"]
    training = new_training(small(*sets), tmp_path / "run")
    steps = training.run()
    next(steps)
    feed = training.network.decoder.blocks[0].feed
    feed.register_forward_hook(lambda module, args, output: output * float("nan"))
    with pytest.raises(TrainingError, match="step 2: the output of decoder.blocks.0.feed is not"):
        next(steps)


@pytest.mark.parametrize("seed", range(3))
def test_a_layer_that_fails_by_chance_fails_again_when_it_is_looked_for(small, tmp_path, seed):
    training = new_training(small(f"seed={seed}", "model.dropout=0.1"), tmp_path / "run")
    training.network.decoder.blocks[0].feed.register_forward_hook(
        lambda module, args, output: output / (torch.rand(()) > 0.2) if module.training else output
    )
    with pytest.raises(TrainingError, match="the output of decoder.blocks.0.feed is not finite"):
        for _ in training.run():
            pass


def test_of_several_bad_gradients_the_one_nearest_to_the_loss_is_named(small, tmp_path):
    training = new_training(small(), tmp_path / "run")
    norm = training.network.encoder.norm

    def spoil(module, args, output):
        if output.requires_grad:
            output.register_hook(lambda gradient: gradient * float("inf"))

    norm.register_forward_hook(spoil)
    with pytest.raises(
        TrainingError, match=r"step 1: the gradient of encoder\.norm\.weight is not"
    ):
        next(training.run())


def test_gradients_too_long_to_be_measured_are_refused(small, tmp_path):
    training = new_training(small(), tmp_path / "run")
    training.network.encoder.norm.weight.register_hook(lambda g: torch.full_like(g, 1e30))
    with pytest.raises(TrainingError, match="step 1: the length of all gradients.* is not finite"):
        next(training.run())


def test_an_optimizer_that_would_stand_still_for_ever_is_caught(small, tmp_path):
    training = new_training(small(), tmp_path / "run")
    steps = training.run()
    next(steps)
    weight = training.network.encoder.norm.weight
    training.optimizer.state[weight]["exp_avg_sq"][3] = float("inf")  # then its updates are 0
    with pytest.raises(TrainingError, match="optimizer's exp_avg_sq of encoder.norm.weight is not"):
        next(steps)


@pytest.mark.parametrize("stop", [3, 4], ids=["when stopped", "before a validation"])
def test_an_update_that_goes_too_far_is_neither_judged_nor_saved(small, tmp_path, stop):
    training = new_training(small(), tmp_path / "run")
    real = training.optimizer.step

    def step():
        real()
        if training.progress.step == stop - 1:
            training.network.encoder.norm.weight.data[0] = float("inf")

    training.optimizer.step = step
    with pytest.raises(TrainingError, match=f"step {stop}: the weight of encoder.norm.weight"):
        list(training.run(lambda: training.progress.step == stop))
    assert checkpoints.steps_in(tmp_path / "run" / "checkpoints") == []


@pytest.mark.parametrize("name", ["loss", "per"])
def test_a_validation_score_that_is_not_a_number_stops_the_training(
    small, tmp_path, monkeypatch, name
):
    training = new_training(small(), tmp_path / "run")
    scores = {"loss": 1.0, "per": 2.0, name: float("nan")}
    monkeypatch.setattr(training.task, "validate", lambda *_: scores)
    with pytest.raises(TrainingError, match=f"step 4: the validation {name} is nan. Begin again"):
        train_to_the_end(training)
    assert checkpoints.steps_in(tmp_path / "run" / "checkpoints") == []


def test_a_network_that_can_choose_no_output_names_the_step(small, tmp_path):
    training = new_training(small(), tmp_path / "run")
    training.network.decoder.register_forward_hook(
        lambda module, args, output: output if module.training else output * float("nan")
    )
    with pytest.raises(TrainingError, match="step 4, validating: .* can not choose a next token"):
        train_to_the_end(training)


def explode(training, first):
    """From step `first` on the losses are a hundred times as high."""
    real = training.task.loss

    def loss(*given):
        total, tokens = real(*given)
        return Loss(total * (100 if training.progress.step >= first - 1 else 1), tokens)

    training.task.loss = loss


def test_a_training_that_diverges_stops_and_its_advice_works(small, tmp_path):
    folder = tmp_path / "run"
    training = new_training(small("train.steps=60", "train.validate_every=10"), folder)
    explode(training, first=15)
    with pytest.raises(
        TrainingError, match="step 34: the training diverges: from step 15"
    ) as error:
        train_to_the_end(training)
    advice = "rate = 0.0002, delete the checkpoints after it, then: regard resume"
    assert "The checkpoint of step 10 is good." in str(error.value) and advice in str(error.value)
    assert error.value.exit_code == 3

    recipe = folder / "recipe.toml"
    assert "\nrate = 0.002" in (text := recipe.read_text())
    recipe.write_text(text.replace("\nrate = 0.002", "\nrate = 0.0002"))
    for step in checkpoints.steps_in(folder / "checkpoints"):
        if step > 10:
            shutil.rmtree(checkpoints.folder_of(folder / "checkpoints", step))
    again = resume_training(folder)
    assert again.progress.step == 10 and again.settings.rate == 0.0002
    train_to_the_end(again)
    assert again.progress.step == 60


def test_divergence_is_noticed_at_the_same_step_after_a_resume(small, tmp_path):
    training = new_training(small("train.steps=60", "train.validate_every=100"), tmp_path / "run")
    explode(training, first=15)
    list(training.run(lambda: training.progress.step == 25))
    again = resume_training(tmp_path / "run")
    explode(again, first=15)
    with pytest.raises(TrainingError, match="step 34: the training diverges: from step 15"):
        train_to_the_end(again)


def test_a_rate_that_no_network_survives_is_refused_before_anything_is_written(small, tmp_path):
    with pytest.raises(TrainingError, match=r"train.rate = 0.5 is too high.* train.rate=0.00[678]"):
        new_training(small("train.rate=0.5"), tmp_path / "run")
    assert not (tmp_path / "run").exists()


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


def test_a_run_whose_best_checkpoint_is_damaged_says_how_to_end_with_the_last(
    small, tmp_path, monkeypatch
):
    folder = tmp_path / "run"
    training = new_training(small("train.steps=16"), folder)
    losses = iter([2.0, 3.0, 3.0, 3.0])
    monkeypatch.setattr(training.task, "validate", lambda *_: {"loss": next(losses)})
    train_to_the_end(training)
    (folder / "checkpoints/step-00000004/model.safetensors").write_bytes(b"damaged")
    with pytest.raises(RunError, match='damaged.* put keep = "last" into .*regard resume'):
        finish(training)
    recipe = folder / "recipe.toml"
    recipe.write_text(recipe.read_text().replace('keep = "best"', 'keep = "last"'))
    assert finish(resume_training(folder)).facts["weights"] == "last"


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


def edit(path, old, new):
    text = path.read_text()
    assert text.count(old) == 1
    path.write_text(text.replace(old, new))


def test_fewer_steps_than_are_done_is_refused_but_can_be_finished(small, tmp_path):
    folder = tmp_path / "run"
    training = new_training(small(), folder)
    list(training.run(lambda: training.progress.step == 9))
    edit(folder / "recipe.toml", "\nsteps = 12", "\nsteps = 6")
    again = resume_training(folder)
    with pytest.raises(RunError, match="9 steps are done, but train.steps .* is 6.*--finish"):
        next(again.run())
    assert finish(again).facts["steps"] == 9


@pytest.mark.parametrize("kinds", [("adamw", "muon"), ("muon", "adamw")])
def test_another_optimizer_than_the_checkpoints_is_refused(small, tmp_path, kinds):
    folder = tmp_path / "run"
    training = new_training(small(f"train.optimizer={kinds[0]}"), folder)
    list(training.run(lambda: True))
    edit(folder / "recipe.toml", f'optimizer = "{kinds[0]}"', f'optimizer = "{kinds[1]}"')
    with pytest.raises(RunError, match=r"was train.optimizer changed in recipe.toml\? Put the old"):
        resume_training(folder)


def test_a_checkpoint_of_an_older_regard_says_so(small, tmp_path):
    training = new_training(small(), tmp_path / "run")
    list(training.run(lambda: True))
    checkpoint = checkpoints.load_latest(tmp_path / "run" / "checkpoints")
    del checkpoint.state["start_loss"], checkpoint.state["bad_steps"]
    with pytest.raises(RunError, match="nothing about bad_steps, start_loss: .* older Regard"):
        training.restore(checkpoint)


def test_a_recipe_written_by_a_run_reads_back_equal(small, tmp_path):
    training = new_training(small(), tmp_path / "run")
    again = read_recipe(tmp_path / "run" / "recipe.toml")
    assert again == training.task.recipe
