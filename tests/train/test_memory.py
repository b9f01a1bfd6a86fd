"""Memory: what this process takes, what a run will take, and trainings that are refused in time."""

import json
import mmap

import pytest
import torch
from click.testing import CliRunner

from regard.build import draft, new_training
from regard.cli.train import draw, train
from regard.errors import ConfigError
from regard.models.weights import weights_of
from regard.train import memory, room
from regard.train.budget import try_steps
from regard.train.estimate import estimate_memory, stopping_at
from regard.train.memory import available_memory, forget_peak, held_memory, peak_memory
from regard.train.state import random_tensors

MEGABYTE = 10**6


def take(megabytes):
    """Hold so much, for a moment; it comes from the kernel and goes back there."""
    with mmap.mmap(-1, megabytes * MEGABYTE) as held:
        for _ in range(megabytes):
            held.write(b"x" * MEGABYTE)


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """A function that makes the files by which a system tells of its memory."""

    def made(meminfo="", cgroup="", **limits):
        files = {"proc/meminfo": meminfo, "proc/self/cgroup": cgroup}
        files |= {f"groups/{path.replace('__', '/')}": limit for path, limit in limits.items()}
        for path, text in files.items():
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).write_text(text)
        monkeypatch.setattr(memory, "PROC", tmp_path / "proc")
        monkeypatch.setattr(memory, "GROUPS", tmp_path / "groups")
        monkeypatch.setattr(memory, "held_memory", lambda: 1000)

    return made


def test_the_peak_remembers_what_was_held_and_can_be_forgotten():
    if not forget_peak():
        pytest.skip("this system can not forget it")
    before = peak_memory()
    take(200)
    assert peak_memory() > before + 190 * MEGABYTE
    forget_peak()
    assert held_memory() <= peak_memory() < before + 190 * MEGABYTE


def test_what_is_available_is_what_is_held_and_what_is_free(machine):
    machine(meminfo="MemTotal: 999 kB\nMemAvailable:    50 kB\n")
    assert available_memory() == 1000 + 50 * 1024


@pytest.mark.parametrize(
    ("cgroup", "limits"),
    [
        ("0::/outer/inner\n", {"outer__memory.max": "3000", "outer__inner__memory.max": "max"}),
        (
            "3:cpu:/a\n4:memory:/b\n",
            {"memory__b__memory.limit_in_bytes": "3000", "cpu__a__memory.limit_in_bytes": "1"},
        ),
        ("4:memory:/not/there\n", {"memory__memory.limit_in_bytes": "3000"}),
    ],
    ids=["version 2, the group above", "version 1", "version 1, seen from within"],
)
def test_a_container_has_no_more_than_it_may(machine, cgroup, limits):
    machine("MemAvailable: 50 kB\n", cgroup, **limits)
    assert available_memory() == 3000


def test_other_work_gives_large_blocks_back_at_once_and_steps_keep_theirs():
    if not memory.free_large_memory():
        pytest.skip("the C library is not glibc")

    def left_by_a_block():
        before = held_memory()
        torch.ones(25 * MEGABYTE)  # 100 MB, and free again
        return held_memory() - before

    try:
        with memory.other_work():
            assert left_by_a_block() < 20 * MEGABYTE
        assert left_by_a_block() > 80 * MEGABYTE
        with memory.other_work():
            assert left_by_a_block() < 20 * MEGABYTE
    finally:
        memory.free_large_memory()
        memory.give_back_memory()


def test_a_system_that_tells_nothing_has_no_known_memory(machine, monkeypatch):
    machine()
    monkeypatch.setattr(memory, "_free_pages", lambda: 0)
    assert available_memory() is None


def test_the_heaviest_steps_hold_the_most_tokens_of_each_side_and_the_longest_row(small, tmp_path):
    training = new_training(small(), tmp_path / "run")
    padded = []
    for step in range(training.batches.steps_per_pass):
        rows = [training.task.lengths(row) for piece in training.pieces_of(step) for row in piece]
        padded.append([len(rows) * max(side) for side in zip(*rows, strict=True)])
    chosen = training.batches.heaviest()
    assert 1 <= len(chosen) <= 4
    for side in range(2):
        most = max(sizes[side] for sizes in padded)
        assert most in [padded[step][side] for step in chosen]


def test_trying_and_estimating_leave_network_and_random_state_alone(small, tmp_path):
    ready = draft(small("model.dropout=0.1"), tmp_path / "run")
    network = ready.training.network
    weights = {name: tensor.clone() for name, tensor in weights_of(network).items()}
    dice = random_tensors()
    trial = try_steps(ready.training)
    found = estimate_memory(ready.training, ready.splits, trial, lambda: draw(ready))
    assert all(torch.equal(weights[name], tensor) for name, tensor in weights_of(network).items())
    assert all(torch.equal(dice[name], tensor) for name, tensor in random_tensors().items())
    assert network.training and not {"start", "step", "reorder"} & set(vars(network))
    assert all(parameter.grad is None for parameter in network.parameters())
    assert found.peak == max(found.training, found.validating, found.scoring) > trial.kept > 0


@pytest.mark.parametrize("beam", [1, 3])
def test_outputs_written_on_trial_are_as_long_as_those_wanted(small, tmp_path, beam):
    ready = draft(small("decode.max_length=9"), tmp_path / "run")
    network, task = ready.training.network, ready.training.task
    predictor = task.predictor(network.eval(), beam=beam)
    rows = [task.source.ids(pair.source) for pair in ready.splits.train[:4]]
    with stopping_at(network, torch.tensor([1, 1, 2, 3, 5, 5, 6, 7])):  # STOP is one of them
        found = predictor.search(rows)
    assert sorted(len(outputs[0].tokens) for outputs in found.values()) == [0, 2, 4, 6]
    with stopping_at(network, torch.tensor([2, 8])):
        assert [len(outputs[0].tokens) for outputs in predictor.search(rows[:1]).values()] == [7]


def test_a_training_that_fits_is_not_refused_whoever_tells_of_no_memory(
    small, tmp_path, monkeypatch
):
    monkeypatch.setattr(room, "available_memory", lambda: None)
    assert try_steps(new_training(small(), tmp_path / "run")).seconds > 0


def test_a_network_that_can_not_be_trained_here_is_refused(small, tmp_path, monkeypatch):
    training = new_training(small(), tmp_path / "run")
    monkeypatch.setattr(room, "available_memory", lambda: held_memory() // 2)
    with pytest.raises(ConfigError, match=r"not enough memory: .* GB, and only .* model\.width"):
        try_steps(training)


@pytest.mark.parametrize("accumulate", [1, 3])
def test_a_step_that_can_not_fit_is_refused_before_it_is_tried_with_pieces_that_would(
    small, tmp_path, monkeypatch, accumulate
):
    """As if a token took 4 MB, above 500 MB; no memory is really taken."""
    tried = []

    def peak(training, network, rows):
        tokens = sum(sum(training.task.lengths(row)) for row in rows)
        tried.append((500 + 4 * tokens) * MEGABYTE)
        return tried[-1]

    monkeypatch.setattr(room, "_peak_with", peak)
    monkeypatch.setattr(room, "held_memory", lambda: 400 * MEGABYTE)
    monkeypatch.setattr(room, "available_memory", lambda: 800 * MEGABYTE)
    sets = ["train.batch_tokens=900", f"train.accumulate={accumulate}"]
    with pytest.raises(ConfigError) as refused:
        try_steps(new_training(small(*sets), tmp_path / "run"))
    said = str(refused.value)
    assert "not enough memory: a step" in said and "only 0.8 GB" in said
    assert max(tried) < 800 * MEGABYTE
    suggested = said.split("--set ")[1].split(":")[0]
    try_steps(new_training(small(*sets, suggested), tmp_path / "other"))
    assert max(tried) < 800 * MEGABYTE


def test_growth_that_may_be_chance_refuses_nothing(small, tmp_path, monkeypatch):
    training = new_training(small(), tmp_path / "run")
    monkeypatch.setattr(room, "_peak_with", lambda t, n, rows: 500_000_000 + len(rows) * 10**6)
    monkeypatch.setattr(room, "available_memory", lambda: held_memory() + 500_000_001)
    room.refuse_big_pieces(training, training.network)


@pytest.mark.parametrize("little", [False, True])
def test_a_dry_run_tells_the_peak_of_each_part_and_whether_it_fits(pairs_file, monkeypatch, little):
    if little:
        monkeypatch.setattr(memory, "available_memory", lambda: 10 * MEGABYTE)
    words = ["transduce", str(pairs_file), "--dry-run", "--set", "train.steps=5"]
    words += ["--set", "model.width=16", "--set", "model.heads=2"]
    ran = CliRunner().invoke(train, words)
    assert ran.exit_code == 0, ran.stderr
    assert "at the peak (training" in ran.stdout and "scoring" in ran.stdout
    assert ("Only 10 MB can be had here" in ran.stderr) == little
    facts = json.loads(CliRunner().invoke(train, [*words, "--json"]).stdout)
    assert facts["memory_bytes"] == max(facts["memory"].values())
    assert set(facts["memory"]) == {"training", "validating", "scoring"}
