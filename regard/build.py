"""The stairwell: a recipe becomes live objects, and a run folder is made, opened or resumed.

runs/demo/recipe.toml         fully resolved settings
          run.json            format, data fingerprint, environment, which weights, scores
          tokenizer.json      text to ids and back
          model.safetensors   the finished network
          baseline/           the model that needs no training
          metrics.jsonl       losses and validations
          README.md           the card
          checkpoints/        see train/checkpoints.py
"""

import os
import shutil
import warnings
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import Any

import tomli_w
import torch

from regard.config import Recipe, Tree, check, override, read_toml, seconds
from regard.data.splits import Splits, fingerprint
from regard.errors import ConfigError, RunError, did_you_mean
from regard.files import read_table, write_json, write_text
from regard.models.weights import count_parameters
from regard.tasks import find_task
from regard.tasks.task import Task
from regard.train import checkpoints
from regard.train.budget import with_steps
from regard.train.state import environment, seed_everything
from regard.train.training import Training

FORMAT = 1  # of the run folder; a reader refuses a newer one


# Recipes


def read_recipe(recipe: str | Path, sets: Sequence[str] = ()) -> Recipe:
    """Read and check a recipe: a TOML file, or the name of one that ships with Regard.

    Paths inside a file are relative to it; paths in `sets` are relative to here.
    """
    path = find_recipe(recipe)
    tree = override(_one_end(_anchored(read_toml(path), path.parent), sets), sets)
    return check_recipe(_anchored(tree, Path.cwd()), path)


def check_recipe(tree: Tree, where: Path) -> Recipe:
    if not isinstance(tree.get("task"), str):
        raise ConfigError(f'{where}: a recipe needs a task, as in task = "transduce".')
    return check(find_task(tree["task"]).Recipe, tree, where)


def find_recipe(recipe: str | Path) -> Path:
    if Path(recipe).suffix == ".toml":
        return Path(recipe)
    shipped = Path(str(resources.files("regard") / "recipes"))
    names = [path.stem for path in shipped.glob("*.toml")]
    if str(recipe) not in names:
        raise ConfigError(
            f'"{recipe}" is neither a recipe file (NAME.toml) nor the name of a shipped recipe.'
            f"{did_you_mean(str(recipe), names)}"
        )
    return shipped / f"{recipe}.toml"


def _one_end(tree: Tree, sets: Sequence[str]) -> Tree:
    """Setting train.steps replaces a recipe's train.budget, and the other way round."""
    train = tree.get("train")
    keys = [text.partition("=")[0].strip() for text in sets]
    for new, old in (("steps", "budget"), ("budget", "steps")):
        if isinstance(train, dict) and f"train.{new}" in keys and f"train.{old}" not in keys:
            tree = {**tree, "train": {k: v for k, v in train.items() if k != old}}
    return tree


def _anchored(tree: Tree, base: Path) -> Tree:
    """The tree with data.path made absolute."""
    data = tree.get("data")
    if isinstance(data, dict) and isinstance(data.get("path"), str):
        tree = {**tree, "data": {**data, "path": str((base / data["path"]).resolve())}}
    return tree


def _write_recipe(recipe: Recipe, folder: Path, home: Path) -> None:
    """Fully resolved, with data.path relative to the run, so that both can move together."""
    tree = recipe.model_dump(exclude_none=True)
    if tree.get("data", {}).get("path"):
        tree["data"]["path"] = os.path.relpath(tree["data"]["path"], home.resolve())
    write_text(folder / "recipe.toml", tomli_w.dumps(tree))


# Runs


def new_training(recipe: Recipe, folder: Path) -> Training:
    """Read the data, learn the tokenizers, make the network and the run folder."""
    if folder.exists():
        raise RunError(
            f"{folder}: exists already. Continue it with: regard resume {folder}, "
            "or give another name with --out."
        )
    device = pick_device(recipe.device)
    kind = find_task(recipe.task)
    splits = kind.read(recipe)
    task = kind.fit(recipe, splits.train)
    for text in task.samples(splits.test):
        if not task.fits(text):
            raise ConfigError(f"samples: {text[:40]!r} is empty or longer than model.max_length.")
    training = _training(task, splits, folder, device)
    if recipe.train.budget is not None:
        settings = with_steps(training, seconds(recipe.train.budget))
        task.recipe = recipe.model_copy(update={"train": settings})
    _make_folder(folder, task, _facts(task, splits, training))
    return training


def resume_training(folder: Path) -> Training:
    """The training of a run folder, as its newest whole checkpoint left it."""
    facts, task = open_task(folder)
    device = pick_device(task.recipe.device)
    _warn_if_elsewhere(facts["environment"], environment(device))
    training = _training(task, read_splits(task, facts, folder), folder, device)
    if checkpoint := checkpoints.load_latest(folder / "checkpoints"):
        training.restore(checkpoint)
    return training


def _training(task: Task[Any], splits: Splits[Any], folder: Path, device: torch.device) -> Training:
    seed_everything(task.recipe.seed)
    network = task.network().to(device)
    return Training(task, network, splits.train, splits.validation, folder)


def _make_folder(folder: Path, task: Task[Any], facts: Tree) -> None:
    """A new run folder, whole or not there."""
    part = folder.with_name(f".{folder.name}.part")
    try:
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir(parents=True)
        _write_recipe(task.recipe, part, folder)
        write_json(part / "tokenizer.json", task.as_json())
        write_json(part / "run.json", facts)
        part.rename(folder)
    except OSError as error:
        raise RunError(f"{folder}: can not be made: {error.strerror or error}.") from error


def open_task(folder: Path) -> tuple[Tree, Task[Any]]:
    """run.json and the task of a run folder, checked."""
    if not folder.is_dir():
        raise RunError(f"{folder}: no such run. Finished runs are folders, usually under runs/.")
    facts = read_table(folder / "run.json")
    if facts.get("format") != FORMAT or not {"data", "environment"} <= facts.keys():
        raise RunError(
            f"{folder}/run.json: run format {facts.get('format')!r}, but this Regard reads format "
            f"{FORMAT}: upgrade Regard, or is this another program's folder?"
        )
    path = folder / "recipe.toml"
    recipe = check_recipe(_anchored(read_toml(path), folder.resolve()), path)
    saved = read_table(folder / "tokenizer.json")
    return facts, find_task(recipe.task).load(recipe, saved)


def read_splits(task: Task[Any], facts: Tree, folder: Path) -> Splits[Any]:
    """The data of a run, refused when it is not the data the run was made with."""
    splits = type(task).read(task.recipe)
    if _fingerprint(splits) != facts["data"]["sha256"]:
        raise RunError(
            f"{folder}: the data changed since this run began (another file or another version "
            "of it), so its splits would mix. Put the old data back, or begin a new run."
        )
    return splits


def pick_device(name: str) -> torch.device:
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as error:
        raise ConfigError(f'device "{name}" can not be used here: try auto or cpu.') from error
    return device


def _facts(task: Task[Any], splits: Splits[Any], training: Training) -> Tree:
    return {
        "format": FORMAT,
        "task": task.recipe.task,
        "data": {
            "sha256": _fingerprint(splits),
            "split_rule": task.split_rule,
            "train": len(splits.train),
            "validation": len(splits.validation),
            "test": len(splits.test),
            "left_out_of_training": training.left_out,
        },
        "parameters": count_parameters(training.network),
        "environment": environment(next(training.network.parameters()).device),
    }


def _fingerprint(splits: Splits[Any]) -> str:
    return fingerprint([*splits.train, *splits.validation, *splits.test])


def _warn_if_elsewhere(then: Tree, now: Tree) -> None:
    changed = [f"{key} {then.get(key)} -> {now[key]}" for key in now if now[key] != then.get(key)]
    if changed:
        warnings.warn(
            f"resumed in another environment ({', '.join(changed)}): "
            "valid, but not bit-exact to an uninterrupted run.",
            stacklevel=3,
        )
