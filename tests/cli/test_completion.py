"""The Tab key offers commands, runs and recipes, at once and in every shell we promise."""

import json
import os
import shutil
import subprocess
import sys
from importlib import resources
from pathlib import Path

import click
import pytest
from click.shell_completion import BashComplete
from click.testing import CliRunner

from regard.cli.completion import TASKS, complete_run, complete_task, completion

SHELLS = ["bash", "zsh", "fish"]


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("demo", "deep", "other"):
        (tmp_path / "runs" / name).mkdir(parents=True)
        (tmp_path / "runs" / name / "run.json").write_text("{}")
    (tmp_path / "runs" / "notes").mkdir()
    return tmp_path


@pytest.fixture
def program(tmp_path) -> Path:
    """A script called regard, as an installation makes one."""
    script = tmp_path / "bin" / "regard"
    script.parent.mkdir()
    script.write_text(f"#!{sys.executable}\nfrom regard.cli.main import main\nmain()\n")
    script.chmod(0o755)
    return script


def offered(complete, typed: str) -> list[tuple[str, str]]:
    """What Tab offers after `typed`, as click asks for it."""

    @click.command()
    @click.argument("name", shell_complete=complete)
    def command(name):
        pass

    asked = BashComplete(command, {}, "regard", "_REGARD_COMPLETE").get_completions([], typed)
    return [(item.type, item.value) for item in asked]


@pytest.mark.parametrize("shell", SHELLS)
def test_each_shell_gets_a_script_for_the_program_regard(shell):
    done = CliRunner().invoke(completion, [shell], catch_exceptions=False)
    assert done.exit_code == 0
    assert (
        f"_REGARD_COMPLETE={shell}_complete" in done.stdout and "_regard_completion" in done.stdout
    )
    as_json = CliRunner().invoke(completion, [shell, "--json"], catch_exceptions=False)
    assert json.loads(as_json.stdout) == {"shell": shell, "script": done.stdout}


@pytest.mark.parametrize("shell", SHELLS)
def test_a_shell_that_is_here_accepts_its_script(shell, tmp_path):
    if not shutil.which(shell):
        pytest.skip(f"{shell} is not installed")
    script = tmp_path / "script"
    script.write_text(CliRunner().invoke(completion, [shell]).stdout)
    subprocess.run([shell, "-n", script], check=True)


def test_help_tells_where_to_put_the_script():
    text = CliRunner().invoke(completion, ["--help"]).output
    for shell in SHELLS:
        assert f"regard completion {shell} > ~/" in text


def test_another_shell_is_refused_with_those_there_are():
    done = CliRunner().invoke(completion, ["tcsh"])
    assert done.exit_code == 2 and "'bash', 'zsh', 'fish'" in done.stderr


def test_bash_completes_a_command_through_the_script(program):
    if not shutil.which("bash"):
        pytest.skip("bash is not installed")
    script = CliRunner().invoke(completion, ["bash"]).stdout
    ask = 'COMP_WORDS=(regard pre); COMP_CWORD=1; _regard_completion regard; echo "${COMPREPLY[@]}"'
    path = f"{program.parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "--norc", "-c", f"{script}\n{ask}"],
        capture_output=True,
        text=True,
        env={**os.environ, "PATH": path},
    )
    assert done.stdout.split() == ["predict"], done.stderr


def test_completing_does_not_load_torch(program):
    words = {"_REGARD_COMPLETE": "bash_complete", "COMP_WORDS": "regard ", "COMP_CWORD": "1"}
    done = subprocess.run(
        [sys.executable, "-X", "importtime", program],
        capture_output=True,
        text=True,
        env={**os.environ, **words},
    )
    assert "plain,train" in done.stdout.splitlines(), done.stderr
    modules = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "regard.cli.main" in modules and "torch" not in modules


def test_runs_are_offered_by_path_and_by_name():
    every = [("plain", f"runs/{name}") for name in ("deep", "demo", "other")]
    assert offered(complete_run, "") == offered(complete_run, "runs/") == every
    assert offered(complete_run, "de") == offered(complete_run, "runs/de") == every[:2]
    assert offered(complete_run, "./runs/o") == [("plain", "./runs/other")]


def test_runs_elsewhere_are_offered_as_typed(here, monkeypatch):
    monkeypatch.setenv("HOME", str(here))
    assert offered(complete_run, f"{here}/runs/o") == [("plain", f"{here}/runs/other")]
    assert offered(complete_run, "~/runs/o") == [("plain", "~/runs/other")]
    assert offered(complete_run, "~nobody-of-that-name/x")[0][0] == "dir"


def test_where_no_run_fits_the_shell_completes_folders():
    assert offered(complete_run, "ru") == [("dir", "ru")]
    assert offered(complete_run, "nowhere/x") == [("dir", "nowhere/x")]


def test_tasks_and_recipes_are_offered_by_name_and_file(here):
    (here / "mine.toml").write_text("")
    shipped = [p.stem for p in Path(str(resources.files("regard") / "recipes")).glob("*.toml")]
    every = sorted([*TASKS, *shipped, "mine.toml"])
    assert offered(complete_task, "") == [("plain", name) for name in every]
    assert offered(complete_task, "dem") == [("plain", "demo")]
    assert offered(complete_task, "recipes/x") == [("file", "recipes/x")]


def test_the_tasks_offered_are_the_tasks_there_are():
    from regard.tasks import task_names

    assert sorted(TASKS) == sorted(task_names())
