"""`regard runs` says how far each run is, reads little, writes nothing, and never stumbles."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from regard.cli.console import columns
from regard.cli.runs import describe, runs
from regard.errors import RunError
from regard.files import FORMAT, locked

FACTS = {"format": FORMAT, "task": "transduce", "data": {}, "environment": {}, "parameters": 12345}
SCORES = {
    name: {"value": value, "low": 1.0, "high": 9.0, "signature": name}
    for name, value in {"per": 7.154, "wer": 29.5, "bleu": 3.0}.items()
}


def make_run(folder: Path, *, steps=500, finished=False, checkpoints=()) -> Path:
    folder.mkdir(parents=True)
    facts = FACTS | ({"steps": steps, "test": {"scores": SCORES}} if finished else {})
    (folder / "run.json").write_text(json.dumps(facts))
    (folder / "recipe.toml").write_text(f'task = "transduce"\n[train]\nsteps = {steps}\n')
    for step in checkpoints:
        (folder / "checkpoints" / f"step-{step:08d}").mkdir(parents=True)
        (folder / "checkpoints" / f"step-{step:08d}" / "state.json").write_text(
            f'{{"step": {step}}}'
        )
    if finished:
        (folder / "model.safetensors").write_bytes(b"")
    return folder


def age(folder: Path, seconds: float) -> None:
    for path in [*folder.rglob("*"), folder]:
        os.utime(path, (seconds, seconds))


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def listed(*args) -> list[dict]:
    done = CliRunner().invoke(runs, [*map(str, args), "--json"], catch_exceptions=False)
    assert done.exit_code == 0
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_every_state_is_told_and_the_newest_run_comes_first():
    make_run(Path("runs/old"), finished=True)
    make_run(Path("runs/cut"), checkpoints=[100, 250])
    make_run(Path("runs/new"))
    Path("runs/photos").mkdir()
    make_run(Path("runs/torn")).joinpath("run.json").write_text("{")
    for seconds, name in enumerate(["old", "torn", "photos", "cut", "new"], start=10**9):
        age(Path("runs") / name, seconds)
    rows = listed()
    assert [(row["run"], row["state"]) for row in rows] == [
        ("runs/new", "stopped"),
        ("runs/cut", "stopped"),
        ("runs/photos", "foreign"),
        ("runs/torn", "broken"),
        ("runs/old", "finished"),
    ]
    assert [(row["step"], row["steps"]) for row in rows[:2]] == [(0, 500), (250, 500)]
    assert rows[4]["scores"] == SCORES and rows[4]["parameters"] == 12345


def test_the_table_has_a_line_for_each_run_with_its_first_two_scores():
    make_run(Path("runs/done"), finished=True, steps=3750)
    make_run(Path("runs/cut"), checkpoints=[250])
    done = CliRunner().invoke(runs, catch_exceptions=False)
    heading, *lines = done.stdout.splitlines()
    assert heading.split() == "run task steps parameters test scores last written state".split()
    cut, finished = sorted(lines)
    assert "250 of 500" in cut and cut.endswith("stopped, resumable")
    assert "3,750" in finished and "12,345" in finished and "per 7.15, wer 29.50" in finished
    assert "bleu" not in finished and finished.endswith("finished")
    assert "resume runs/cut" in done.stderr


def test_a_run_that_is_being_written_is_training_and_asking_leaves_no_trace():
    held, free = make_run(Path("runs/held"), checkpoints=[9]), make_run(Path("runs/free"))
    with locked(held):
        assert describe(held).state == "training" and describe(held).step == 9
        assert describe(free).state == "stopped"
    assert describe(held).state == "stopped"
    assert not (free / ".lock").exists()


def test_looking_changes_neither_the_files_nor_their_times():
    run = make_run(Path("runs/cut"), checkpoints=[1])
    with locked(run):
        pass
    age(run, 10**9)
    before = {path: path.stat().st_mtime_ns for path in [run, *run.rglob("*")]}
    listed(), listed()
    assert {path: path.stat().st_mtime_ns for path in [run, *run.rglob("*")]} == before


def test_a_damaged_checkpoint_counts_as_little_as_when_resuming():
    run = make_run(Path("runs/cut"), checkpoints=[100, 250])
    (run / "checkpoints/step-00000250/state.json").write_text('{"step')
    assert describe(run).step == 100
    (run / "checkpoints/step-00000100/state.json").write_text("[]")
    assert describe(run).state == "broken" and "none of its 2 checkpoints" in describe(run).reason


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("run.json", "{", "run.json: damaged or not readable"),
        ("run.json", "[]", "expected an object"),
        ("run.json", '{"format": 99}', "run format 99"),
        ("run.json", '{"name": "another program"}', "another program's folder"),
        ("run.json", json.dumps(FACTS | {"test": 3, "steps": 3}), "not as Regard writes it"),
        ("run.json", json.dumps(FACTS | {"parameters": None}), "not as Regard writes it"),
        ("run.json", json.dumps(FACTS | {"parameters": float("inf")}), "not as Regard writes it"),
        ("run.json", "[" * 100_000, ""),
        ("run.json", "\udcff", "not readable"),
        ("recipe.toml", "steps = ", "not as Regard writes it"),
        ("recipe.toml", "steps = 3", "not as Regard writes it"),
    ],
)  # fmt: skip
def test_a_broken_run_gets_a_row_that_says_why(name, content, reason):
    run = make_run(Path("runs/broken"))
    (run / "model.safetensors").write_bytes(b"")
    (run / name).write_bytes(content.encode("utf-8", "surrogateescape"))
    (row,) = listed()
    assert row["state"] == "broken" and reason in row["reason"] and "runs/" not in row["reason"]
    done = CliRunner().invoke(runs, catch_exceptions=False)
    assert "broken: " in done.stdout and len(done.stdout.splitlines()) == 2


def test_a_finished_run_without_its_model_is_broken():
    (make_run(Path("runs/x"), finished=True) / "model.safetensors").unlink()
    assert "model.safetensors: missing" in describe(Path("runs/x")).reason


def test_files_and_hidden_folders_are_no_runs_and_a_run_can_be_named_itself():
    run = make_run(Path("runs/one"))
    make_run(Path("runs/.two.part"))
    Path("runs/notes.txt").write_text("")
    assert [row["run"] for row in listed()] == ["runs/one"]
    assert listed(run) == listed()


def test_a_name_that_is_not_utf8_is_shown_all_the_same():
    os.mkdir(b"runs")
    os.mkdir(b"runs/caf\xe9")
    done = CliRunner().invoke(runs, catch_exceptions=False)
    assert "caf" in done.stdout and "not a run" in done.stdout


def test_with_no_runs_yet_the_way_to_the_first_is_shown(here):
    for folder in ([], [str(here)]):
        done = CliRunner().invoke(runs, folder, catch_exceptions=False)
        assert done.exit_code == 0 and done.stdout == ""
        assert "demo" in done.stderr and "train" in done.stderr
    assert list(here.iterdir()) == []


def test_a_folder_that_is_not_there_is_a_mistake():
    with pytest.raises(RunError, match="nowhere: no such folder"):
        CliRunner().invoke(runs, ["nowhere"], catch_exceptions=False)
    Path("runs").write_text("")
    with pytest.raises(RunError, match="runs: this is a file"):
        CliRunner().invoke(runs, catch_exceptions=False)


def test_what_training_writes_is_what_runs_reads(small, here):
    from regard.build import new_training
    from regard.run import finish

    training = new_training(small(), here / "runs" / "small")
    assert (listed()[0]["step"], listed()[0]["steps"]) == (0, 12)
    list(training.run(lambda: training.progress.step == 5))
    assert (listed()[0]["state"], listed()[0]["step"]) == ("stopped", 5)
    list(training.run())
    run = finish(training)
    (row,) = listed()
    assert row["state"] == "finished" and row["steps"] == 12
    assert row["scores"] == run.facts["test"]["scores"]
    assert row["parameters"] == run.facts["parameters"] and row["task"] == run.facts["task"]


def test_torch_is_not_loaded():
    make_run(Path("runs/cut"), checkpoints=[3])
    code = (
        "import sys; from regard.cli.runs import runs; runs([], standalone_mode=False); "
        "sys.exit('torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0 and "3 of 500" in done.stdout, done.stderr


def test_wide_characters_keep_columns_under_each_other():
    assert columns([["a", "b"], ["注意", "c"]]) == ["a     b", "注意  c"]


def test_help_shows_examples():
    assert "regard runs --json" in CliRunner().invoke(runs, ["--help"]).output
