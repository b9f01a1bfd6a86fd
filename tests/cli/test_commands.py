"""The command line as a person meets it: results on stdout, talk on stderr, errors in sentences."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from regard.build import new_training
from regard.files import locked
from regard.run import finish


def regard(*args, stdin=None, cwd=None, env=None):
    return subprocess.run(
        [sys.executable, "-m", "regard", *map(str, args)],
        input=stdin,
        capture_output=True,
        text=True,
        encoding="utf-8",
        cwd=cwd,
        env={**os.environ, **(env or {})},
    )


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A finished tiny run with its data beside it: (run folder, data file)."""
    home = tmp_path_factory.mktemp("home")
    data = home / "pairs.tsv"
    words = sorted({a + b + c for a in "abcd" for b in "abcde" for c in "abc"})
    data.write_text("".join(f"{w}\t{' '.join(w)}\n" for w in words))
    (home / "spell.toml").write_text(RECIPE)
    done = regard("train", "spell.toml", "--json", cwd=home)
    assert done.returncode == 0, done.stderr
    return home / "runs" / "spell", data, done


RECIPE = """\
task = "transduce"
metrics = ["per", "wer"]
[data]
path = "pairs.tsv"
split = [70, 15, 15]
[source]
kind = "character"
[target]
kind = "word"
[model]
width = 16
heads = 2
encoder_layers = 1
decoder_layers = 1
max_length = 12
[train]
steps = 30
rate = 0.01
batch_tokens = 200
[decode]
max_length = 8
"""


def test_train_prints_json_lines_and_ends_with_the_contract(finished):
    folder, _, done = finished
    *steps, last = [json.loads(line) for line in done.stdout.splitlines()]
    assert [s["step"] for s in steps if "loss" in s] == list(range(1, 31))
    assert last["run"] == "runs/spell" and last["steps"] == 30
    assert set(last) == {"run", "steps", "seconds", "tokens_per_second", "scores"}
    assert set(last["scores"]["per"]) == {"value", "low", "high", "signature"}
    assert "spell" in done.stderr and (folder / "README.md").exists()


def test_evaluate_prints_the_contract_beside_the_baseline(finished):
    folder, data, _ = finished
    own = json.loads(regard("evaluate", folder, "--json").stdout)
    assert set(own) >= {"run", "task", "data", "examples", "scores", "baseline"}
    assert own["task"] == "transduce" and set(own["baseline"]) == {"name", "scores"}
    card = json.loads((folder / "run.json").read_text())
    assert own["scores"] == card["test"]["scores"]
    other = json.loads(regard("evaluate", folder, "--data", data, "--json").stdout)
    assert other["examples"] == 60 and other["data"] == str(data)
    shown = regard("evaluate", folder).stdout
    assert "95 % bootstrap" in shown and "nearest training source" in shown


def test_predict_answers_arguments_files_and_pipes_alike(finished, tmp_path):
    folder, _, _ = finished
    words = ["abc", "", "ddd", "a"]
    (tmp_path / "in.txt").write_text("\n".join(words) + "\n")
    by_argument = regard("predict", folder, *words).stdout
    assert by_argument == regard("predict", folder, "--file", tmp_path / "in.txt").stdout
    assert by_argument == regard("predict", folder, stdin="\n".join(words)).stdout
    assert len(by_argument.splitlines()) == 4 and by_argument.splitlines()[1] == ""
    lines = regard("predict", folder, "abc", "--beam", 3, "--json").stdout.splitlines()
    assert json.loads(lines[0]).keys() >= {"input", "output", "score"}


def test_sampling_follows_its_seed(finished):
    folder, _, _ = finished
    hot = ("predict", folder, *["abc"] * 6, "--temperature", 3, "--top-k", 5, "--seed")
    first = regard(*hot, 1).stdout
    assert first == regard(*hot, 1).stdout != regard(*hot, 2).stdout
    assert len(set(first.splitlines())) > 1


def test_look_prints_the_weights_as_json(finished):
    found = json.loads(regard("look", finished[0], "abc", "--json", "--attention", "cross").stdout)
    (cross,) = found["maps"]
    assert cross["columns"] == ["a", "b", "c"] and len(cross["weights"]) == 2
    assert sum(cross["weights"][0][0]) == pytest.approx(1, abs=1e-4)


def test_look_draws_in_the_terminal_and_writes_pictures(finished, tmp_path):
    folder, _, _ = finished
    shown = regard("look", folder, "abc", env={"COLUMNS": "80"})
    assert (
        "cross-attention, layer 1, mean of 2 heads" in shown.stdout and "\x1b" not in shown.stdout
    )
    regard("look", folder, "abc", "--png", tmp_path / "a.png", "--html", tmp_path / "a.html")
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    assert "<html" in (tmp_path / "a.html").read_text()
    one = regard("look", folder, "abc", "--attention", "encoder", "--layer", 1, "--head", 2)
    assert "head 2" in one.stdout


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["predict", "nowhere", "x"], "nowhere: no such run"),
        (["predict", "{run}", "a", "--beam", "0"], "decode: beam: .* found 0"),
        (["predict", "{run}", "a", "--beam", "2", "--temperature", "1"], "does not sample"),
        (["predict", "{run}", "a", "--file", "f"], "give inputs or --file, not both"),
        (["predict", "{run}", "--file", "f"], "f: no such file"),
        (["evaluate", "{run}", "--data", "none.tsv"], "none.tsv: no such file"),
        (["evaluate", "{data}"], "no such run"),
        (["look", "{run}", "abc", "--layer", "9"], "layer 9"),
        (["look", "{run}", "abc", "--head", "7"], "head 7"),
        (["look", "{run}", "abc", "--png", "a.gif"], "gif"),
        (["look", "{run}", ""], "empty"),
        (["look", "{run}", "abc", "--layer", "0"], "layer 0"),
        (["look", "{run}", "abc", "--attention", "cros"], 'Did you mean "cross"'),
        (["predict", "{run}", "a", "--top-k", "3"], "are for sampling: set a temperature"),
        (["resume", "nowhere"], "nowhere: no such run"),
        (["train", "nothing.toml"], "no such recipe"),
        (["train", "demmo"], 'Did you mean "demo"'),
        (["train", "{recipe}", "--set", "model.with=3"], 'no setting "model.with". Did'),
        (["train", "{recipe}", "--set", "device=cuda:7"], 'device "cuda:7" can not be used here'),
        (["train", "{recipe}", "--out", "{run}"], "exists already. Give another name"),
        (["train", "{recipe}", "--set", "data.path=none.tsv"], "none.tsv: no such file"),
        (["train", "{recipe}", "--set", "model.max_length=1"], "examples are empty or longer"),
        (["trian", "x"], 'no command "trian". Did you mean "train"'),
        (["demo", "--budget", "soon"], 'budget "soon" is not a time'),
    ],
)  # fmt: skip
def test_a_mistake_gets_a_sentence_and_exit_code_2(finished, tmp_path, args, message):
    import re

    run, data, _ = finished
    places = {"run": run, "data": data, "recipe": run.parent.parent / "spell.toml"}
    before = sorted(p for p in run.rglob("*"))
    done = regard(*(a.format(**places) for a in args), cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr and re.search(message, done.stderr), done.stderr
    assert done.stdout == "" and sorted(p for p in run.rglob("*")) == before
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize(
    ("break_it", "message"),
    [
        (lambda f: (f / "model.safetensors").write_bytes(b"xx"), "Was it damaged"),
        (lambda f: (f / "run.json").write_text("{"), "run.json: damaged"),
        (lambda f: (f / "run.json").unlink(), "run.json: missing"),
        (lambda f: (f / "run.json").write_text('{"format": 99}'), "run format 99"),
        (lambda f: (f / "run.json").write_text('{"format": 2}'), "not as Regard writes it"),
        (lambda f: (f / "tokenizer.json").write_text("[]"), "tokenizer.json"),
        (lambda f: (f / "recipe.toml").write_text("task = 3"), "needs a task"),
        (lambda f: (f / "model.safetensors").unlink(), "model.safetensors: missing"),
        (
            lambda f: (f / "recipe.toml").write_text(
                (f / "recipe.toml").read_text().replace("width = 16", "width = 32")
            ),
            "not the one that was trained",
        ),
    ],
)
def test_a_broken_run_folder_says_which_file_is_broken(finished, tmp_path, break_it, message):
    import shutil

    copy = Path(shutil.copytree(finished[0], tmp_path / "copy"))
    break_it(copy)
    done = regard("predict", copy, "abc")
    assert done.returncode == 2 and message in done.stderr and "Traceback" not in done.stderr


def test_ctrl_c_saves_and_the_resumed_run_is_byte_equal(finished, tmp_path):
    home = finished[0].parent.parent
    sets = ["--set", "train.steps=400", "--set", "train.validate_every=100"]
    command = [sys.executable, "-u", "-m", "regard", "train", home / "spell.toml", *sets]
    whole = subprocess.run([*command, "--out", tmp_path / "whole"], capture_output=True)
    assert whole.returncode == 0, whole.stderr
    process = subprocess.Popen(
        [*command, "--json", "--out", tmp_path / "cut"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    for _ in range(20):  # let some steps pass
        assert process.stdout.readline()
    process.send_signal(signal.SIGINT)
    _, talk = process.communicate()
    assert process.returncode == 130 and b"All is saved" in talk and b"regard resume" in talk
    assert not (tmp_path / "cut" / "model.safetensors").exists()
    done = regard("resume", tmp_path / "cut")
    assert done.returncode == 0, done.stderr
    for name in ("model.safetensors", "metrics.jsonl"):
        assert (tmp_path / "cut" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


def test_a_run_killed_at_any_moment_resumes_byte_equal(finished, tmp_path):
    """kill -9 before the first save, between saves and near the end (the full count is a soak)."""
    home = finished[0].parent.parent
    sets = ["--set", "train.steps=60", "--set", "train.validate_every=7"]
    command = [sys.executable, "-u", "-m", "regard", "train", home / "spell.toml", *sets, "--json"]
    whole = subprocess.run([*command, "--out", tmp_path / "whole"], capture_output=True)
    assert whole.returncode == 0, whole.stderr
    for lines in (1, 30, 66):
        folder = tmp_path / f"killed-{lines}"
        process = subprocess.Popen(
            [*command, "--out", folder], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        for _ in range(lines):
            assert process.stdout.readline()
        process.kill()
        process.communicate()
        assert regard("resume", folder).returncode == 0
        for name in ("model.safetensors", "metrics.jsonl"):
            assert (folder / name).read_bytes() == (tmp_path / "whole" / name).read_bytes(), lines


def test_a_second_demo_does_not_pull_the_folder_from_under_the_first(tmp_path):
    (tmp_path / "runs" / "demo").mkdir(parents=True)
    (tmp_path / "runs" / "demo" / "run.json").write_text("{}")
    with locked(tmp_path / "runs" / "demo"):
        done = regard("demo", cwd=tmp_path)
    assert done.returncode == 2 and "another process is writing this run" in done.stderr
    assert (tmp_path / "runs" / "demo").is_dir()


def test_a_second_writer_is_refused(small, tmp_path):
    training = new_training(small(), tmp_path / "run")
    list(training.run(lambda: True))
    with locked(tmp_path / "run"):
        done = regard("resume", tmp_path / "run")
    assert done.returncode == 2 and "another process is writing this run" in done.stderr


def test_resuming_a_finished_run_changes_nothing(tmp_path, small):
    training = new_training(small(), tmp_path / "run")
    list(training.run())
    finish(training)
    before = {p: p.read_bytes() for p in (tmp_path / "run").rglob("*.*") if p.is_file()}
    done = regard("resume", tmp_path / "run")
    assert done.returncode == 0 and "is finished already" in done.stderr
    assert {p: p.read_bytes() for p in before} == before


@pytest.mark.parametrize("command", ["demo", "train", "resume", "evaluate", "predict", "look"])
def test_every_command_has_help_with_examples(command):
    done = regard(command, "--help")
    assert done.returncode == 0 and f"regard {command}" in done.stdout.replace("\b", "")


def test_the_python_door_has_exactly_the_intended_names(finished):
    import regard as package

    names = ["Chat", "RegardError", "Run", "check", "compare", "load", "resume", "train"]
    assert sorted(package.__all__) == names
    run = package.load(finished[0])
    assert isinstance(run, package.Run) and len(run.predict(["abc"])) == 1
    with pytest.raises(AttributeError, match="no attribute 'lod'"):
        _ = package.lod
