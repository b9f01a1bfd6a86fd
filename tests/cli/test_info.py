"""`regard info` shows the card of any run, without loading torch."""

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import tomli_w
from click.testing import CliRunner

from regard.cli.closing import show_scores
from regard.cli.info import NETWORKS, info, show
from regard.errors import RegardError, RunError
from regard.files import FORMAT, locked
from regard.train.report import card

SCORE = {"value": 7.0, "low": 6.5, "high": 8.0, "signature": "per|n:40"}
NEAREST = {"name": "nearest", "scores": {"per": SCORE}}
BEGUN = {
    "format": FORMAT,
    "task": "transduce",
    "data": {
        "sha256": "ab12",
        "split_rule": "a hash of the source",
        "train": 1234,
        "validation": 56,
        "test": 57,
        "left_out_of_training": 0,
        "skipped_rows": 0,
        "overlapping": 0,
        "notes": [],
    },
    "vocabulary": {"both": 31},
    "parameters": 98765,
    "environment": {"torch": "2.13.0"},
}
FINISHED = BEGUN | {
    "weights": "best",
    "steps": 1500,
    "seconds": 75.2,
    "tokens_per_second": 4321,
    "memory": 345_678_901,
    "validation": {"loss": 1.25, "per": 8.0},
    "test": {
        "task": "transduce",
        "data": "test part",
        "examples": 40,
        "too_long": 0,
        "unknown_inputs": 0,
        "in_training": 0,
        "scores": {"per": SCORE},
        "baseline": NEAREST,
        "baselines": [NEAREST],
    },
    "samples": [
        {
            "input": "one",
            "output": "W AH N",
            "score": -0.25,
            "wanted": ["W AH N"],
            "in_training": True,
        }
    ],
}
RECIPE = {
    "task": "transduce",
    "data": {"path": "../pairs.tsv", "split": [80.0, 10.0, 10.0]},
    "train": {"steps": 1500},
}


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def make_run(facts, checkpoints=()):
    folder = Path("runs/mine")
    folder.mkdir(parents=True)
    (folder / "run.json").write_text(json.dumps(facts))
    (folder / "recipe.toml").write_text(tomli_w.dumps(RECIPE))
    for step in checkpoints:
        place = folder / "checkpoints" / f"step-{step:08d}"
        place.mkdir(parents=True)
        state = {"step": step, "seconds": 3.0, "validation": {"loss": 1.5}}
        (place / "state.json").write_text(json.dumps(state))
    return folder


def told(*args):
    done = CliRunner().invoke(info, [*map(str, args)], catch_exceptions=False)
    assert done.exit_code == 0
    return done.stdout


def test_a_pipe_gets_the_card_as_markdown():
    assert told(make_run(FINISHED)) == card(RECIPE, FINISHED)


def test_json_is_the_facts_with_the_run_and_its_recipe():
    found = json.loads(told(make_run(FINISHED), "--json"))
    assert found == {"run": "runs/mine", **FINISHED, "recipe": RECIPE}


def test_an_unfinished_run_tells_its_newest_checkpoint_and_how_to_go_on():
    folder = make_run(BEGUN, checkpoints=[500, 1000])
    text = told(folder)
    assert "stands at step 1,000 of 1,500" in text and "validation: loss 1.5" in text
    assert "$ regard resume runs/mine" in text and "1,234 examples" in text
    progress = json.loads(told(folder, "--json"))["progress"]
    assert progress == {"step": 1000, "seconds": 3.0, "validation": {"loss": 1.5}}


def test_a_run_without_a_checkpoint_says_so():
    folder = make_run(BEGUN)
    assert "no checkpoint is saved yet" in told(folder)
    assert json.loads(told(folder, "--json"))["progress"] is None


def test_before_a_damaged_checkpoint_the_one_before_is_told():
    folder = make_run(BEGUN, checkpoints=[500, 1000])
    (folder / "checkpoints/step-00001000/state.json").write_text("{")
    assert "stands at step 500 of 1,500" in told(folder)


def test_a_run_that_is_training_now_is_not_to_be_resumed():
    folder = make_run(BEGUN, checkpoints=[500])
    with locked(folder):
        text = told(folder)
    assert "training now, in another process" in text and "resume" not in text


@pytest.mark.parametrize(
    ("facts", "message"),
    [
        (None, r"runs/mine: no such run. Runs are folders, under runs/"),
        ({}, r"runs/mine/run.json: run format None, but this Regard reads format \d"),
        ({**FINISHED, "format": FORMAT + 1}, rf"run format {FORMAT + 1}, .* upgrade"),
        ({**FINISHED, "test": {}}, r"runs/mine: run.json or recipe.toml is not as Regard writes"),
        ({**BEGUN, "parameters": None}, r"runs/mine: run.json or recipe.toml is not as Regard"),
    ],
)
def test_what_is_not_a_run_is_refused_in_a_sentence(facts, message):
    if facts is not None:
        make_run(facts)
    with pytest.raises(RunError, match=message):
        told("runs/mine")


@pytest.mark.parametrize("file", ["run.json", "recipe.toml"])
def test_a_missing_or_torn_file_is_named(file):
    folder = make_run(FINISHED)
    for change in (lambda path: path.write_text("{"), Path.unlink):
        change(folder / file)
        with pytest.raises(RegardError, match=f"runs/mine/{file}"):
            told(folder)


def test_a_terminal_gets_the_card_drawn(monkeypatch):
    screen = io.StringIO()
    monkeypatch.setattr(screen, "isatty", lambda: True)
    monkeypatch.setattr(sys, "stdout", screen)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("NO_COLOR", "1")
    show(card(RECIPE, FINISHED))
    drawn = screen.getvalue()
    assert "A transduce model" in drawn and "7.00 (6.50 to 8.00)" in drawn
    assert "## " not in drawn and "| per" not in drawn


# Scores in the terminal, as `train` and `evaluate` close with them


LONG = {"name": "nearest training source (character n-grams)", "scores": {"per": SCORE}}
SCORED = FINISHED["test"] | {"baselines": [LONG, {"name": "lacks it", "scores": {}}], "too_long": 3}


def test_a_pipe_gets_a_line_for_each_model_that_has_the_score(capsys):
    show_scores(SCORED)
    _, title, ours, long, remark = capsys.readouterr().out.splitlines()
    assert title.strip() == "PER, pieces wrong, %" and ours.endswith("8.00)      this model")
    assert long == ours.replace("this model", LONG["name"])
    assert remark == "  3 inputs are empty or too long: counted as wrong"


@pytest.mark.parametrize("columns", [200, 80, 60, 54])
def test_a_narrow_terminal_gets_long_names_below_each_other(columns, monkeypatch, capsys):
    show_scores(SCORED)
    words = capsys.readouterr().out.split()
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", str(columns))
    show_scores(SCORED)
    drawn = capsys.readouterr().out
    assert drawn.split() == words
    assert max(map(len, drawn.splitlines())) <= columns


def test_torch_is_not_loaded():
    make_run(FINISHED)
    code = "import sys\nfrom regard.cli.info import info\n"
    code += "info.main(['runs/mine'], standalone_mode=False)\nsys.exit('torch' in sys.modules)"
    root = str(Path(__file__).resolve().parents[2])
    subprocess.run(
        [sys.executable, "-c", code],
        check=True,
        env={**os.environ, "PYTHONPATH": root},
        stdout=subprocess.DEVNULL,
    )


# Published networks


@pytest.mark.parametrize("name", NETWORKS)
def test_a_published_network_is_told_by_its_name(name):
    title, published, blank, head, *rows = told(name).splitlines()
    assert title.startswith(f"{name}: ") and published.startswith("Published: ") and not blank
    assert head.split() == ["part", "layers", "parameters", "share"]
    assert rows[-1].startswith("all ") and all("%" in row for row in rows[:-1])


def test_the_parameters_of_gpt2_are_listed_by_parts():
    text = told("gpt2")
    assert "124,439,808" in text.splitlines()[-1] and "124,439,808" in text.splitlines()[1]
    assert [line.split()[0] for line in text.splitlines()[4:]] == [
        *("token", "positions", "layer:", "layer:", "layer:", "last", "all")
    ]
    assert "12 x 2,362,368" in text


def test_json_of_a_published_network_holds_its_shape_and_its_parts():
    found = json.loads(told("chollet-spa", "--json"))
    assert found["preset"] == "chollet-spa" and found["vocabulary"] == 15_000
    assert found["parameters"] == sum(part["total"] for part in found["parts"])
    assert found["model"]["width"] == 256 and found["model"]["decoder_layers"] == 1
    assert json.loads(told("simple-transformer", "--json"))["model"] == {}


def test_a_run_in_a_folder_of_that_name_comes_first(tmp_path):
    make_run(FINISHED).rename(tmp_path / "gpt2")
    assert told("gpt2") == card(RECIPE, FINISHED)


def test_a_name_that_is_neither_is_no_run():
    with pytest.raises(RunError, match="gtp2: no such run"):
        told("gtp2")
