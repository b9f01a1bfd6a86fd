"""`regard runs`: the runs in a folder, newest first, and how far each is.

Only small files are read and torch is not loaded, so a hundred runs take a moment.
"""

import os
import tomllib
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import click
import filelock

from regard.cli.console import columns, command, echo_json, say
from regard.errors import RegardError, RunError
from regard.files import read_facts, read_table

HOME = Path("runs")
HEADING = ("run", "task", "steps", "parameters", "test scores", "last written", "state")
NUMBERS = (2, 3)  # columns of HEADING that stand on the right
STATES = {
    "finished": "finished",
    "training": "training now",
    "stopped": "stopped, resumable",
    "broken": "broken: ",
    "foreign": "not a run: ",
}


@dataclass(frozen=True)
class Row:
    """What is known of one folder; a finished run has taken all its steps."""

    folder: Path
    written: float  # seconds since 1970; 0 when unknown
    state: str  # a key of STATES
    reason: str = ""  # why it is broken
    task: str | None = None
    step: int | None = None
    steps: int | None = None
    parameters: int | None = None
    scores: dict[str, Any] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        return {
            "run": click.format_filename(self.folder),
            "task": self.task,
            "state": self.state,
            "reason": self.reason,
            "step": self.step,
            "steps": self.steps,
            "parameters": self.parameters,
            "scores": self.scores,
            "written": datetime.fromtimestamp(self.written).astimezone().isoformat(),
        }

    def cells(self) -> list[str]:
        done = "" if self.step is None else f"{self.step:,}"
        scores = [f"{name} {s['value']:.2f}" for name, s in list(self.scores.items())[:2]]
        return [
            click.format_filename(self.folder),
            self.task or "",
            done if self.state == "finished" or not done else f"{done} of {self.steps:,}",
            "" if self.parameters is None else f"{self.parameters:,}",
            ", ".join(scores),
            f"{datetime.fromtimestamp(self.written):%Y-%m-%d %H:%M}" if self.written else "",
            STATES[self.state] + self.reason,
        ]


@click.command()
@click.argument("folder", required=False, type=click.Path(file_okay=False, path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a run.")
def runs(folder: Path | None, as_json: bool) -> None:
    """List the runs in FOLDER [default: runs], newest first.

    \b
    regard runs
    regard runs experiments
    regard runs --json | head -1
    """
    found = sorted(map(describe, folders_in(folder)), key=lambda r: (-r.written, r.folder))
    if not found:
        say(f"No runs in {folder or HOME} yet. Make one with:  {command('demo')}")
        say(f"or, from a recipe of your own:  {command('train', 'recipe.toml')}")
    elif as_json:
        for row in found:
            echo_json(row.as_json())
    else:
        click.echo("\n".join(columns([HEADING, *(row.cells() for row in found)], NUMBERS)))
        if stopped := next((row for row in found if row.state == "stopped"), None):
            say(f"\nGo on with a stopped run:  {command('resume', stopped.folder)}")


def folders_in(folder: Path | None) -> list[Path]:
    """The folders that may be runs; the folder itself when it is one."""
    place = folder or HOME
    if not place.is_dir():
        if folder is None and not place.exists():
            return []
        what = "this is a file, not a folder of runs" if place.exists() else "no such folder"
        raise RunError(f"{place}: {what}. Runs are usually under {HOME}/.")
    if (place / "run.json").exists():
        return [place]
    try:
        return [p for p in place.iterdir() if p.is_dir() and not p.name.startswith(".")]
    except OSError as error:
        raise RunError(f"{place}: can not be read: {error.strerror or error}.") from error


def describe(folder: Path) -> Row:
    """A row for any folder whatever: what can not be read is said in the row."""
    written = last_written(folder)
    try:
        if not (folder / "run.json").exists():
            return Row(folder, written, "foreign", "it has no run.json")
        return _row(folder, written)
    except RegardError as error:
        return Row(folder, written, "broken", str(error).removeprefix(f"{folder}{os.sep}"))
    except Exception as error:  # a strange run.json may hold anything, and is no reason to stop
        what = f"run.json or recipe.toml is not as Regard writes it: {error!r}."
        return Row(folder, written, "broken", what)


def last_written(folder: Path) -> float:
    """When something in the folder last changed; 0 when it can not be looked into. Hidden files
    are left out: the lock, and parts that may be renamed while we look."""
    try:
        times = [p.lstat().st_mtime for p in folder.iterdir() if not p.name.startswith(".")]
        return max(times, default=folder.stat().st_mtime)
    except OSError:
        return 0.0


def _row(folder: Path, written: float) -> Row:
    facts = read_facts(folder)
    task, parameters = str(facts["task"]), int(facts["parameters"])
    if "test" in facts:
        if not (folder / "model.safetensors").exists():
            raise RunError("model.safetensors: missing. Was the folder copied whole?")
        steps, found = int(facts["steps"]), facts["test"]["scores"].items()
        scores = {name: {**score, "value": float(score["value"])} for name, score in found}
        return Row(folder, written, "finished", "", task, steps, steps, parameters, scores)
    recipe = tomllib.loads((folder / "recipe.toml").read_text(encoding="utf-8"))
    state = "training" if is_held(folder) else "stopped"
    step, steps = last_step(folder / "checkpoints"), int(recipe["train"]["steps"])
    return Row(folder, written, state, "", task, step, steps, parameters)


def last_step(checkpoints: Path) -> int:
    """The step of the newest checkpoint that can be read; 0 before the first one."""
    state = newest_state(checkpoints)
    return int(state["step"]) if state else 0


def newest_state(checkpoints: Path) -> dict[str, Any] | None:
    """The progress in the newest checkpoint that can be read; None before the first one."""
    saved = sorted(checkpoints.glob("step-*/state.json"), reverse=True)
    for path in saved:
        try:
            state = read_table(path)
            int(state["step"])
            return state
        except (RunError, KeyError, TypeError, ValueError):
            continue  # as `regard resume` does: the one before may be whole
    if saved:
        raise RunError(f"none of its {len(saved)} checkpoints can be read.")
    return None


def is_held(folder: Path) -> bool:
    """Is a process writing this run? Nothing is left behind where there was no lock."""
    lock = folder / ".lock"
    try:
        if lock.exists():
            with filelock.FileLock(lock, timeout=0):
                return False
    except filelock.Timeout:
        return True
    except OSError:
        pass  # no permission to ask
    return False
