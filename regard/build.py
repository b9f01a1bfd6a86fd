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
import platform
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import metadata, resources
from pathlib import Path
from typing import Any

import filelock
import tomli_w
import torch
from torch import nn

from regard.config import Recipe, Tree, check, override, read_toml, seconds
from regard.data.splits import Splits, fingerprint
from regard.errors import ConfigError, RunError, did_you_mean
from regard.files import read_table, write_json, write_text
from regard.tasks import find_task
from regard.tasks.task import Task
from regard.train import checkpoints
from regard.train.budget import steps_within
from regard.train.state import seed_everything
from regard.train.training import Training

SECONDS_BETWEEN_VALIDATIONS = 25  # at least, under a time budget
FORMAT = 1  # of the run folder; a reader refuses a newer one


# Recipes


def read_recipe(recipe: str | Path, sets: Sequence[str] = ()) -> Recipe:
    """Read and check a recipe: a TOML file, or the name of one that ships with Regard.

    Paths inside a file are relative to it; paths in `sets` are relative to here.
    """
    path = find_recipe(recipe)
    tree = override(_anchored(read_toml(path), path.parent), list(sets))
    return check_recipe(_anchored(tree, Path.cwd()), path)


def check_recipe(tree: Tree, where: Path) -> Recipe:
    if not isinstance(tree.get("task"), str):
        raise ConfigError(f'{where}: a recipe needs a task, as in task = "transduce".')
    return check(find_task(tree["task"]).Recipe, tree, where)


def find_recipe(recipe: str | Path) -> Path:
    if Path(recipe).exists() or Path(recipe).suffix == ".toml":
        return Path(recipe)
    shipped = Path(str(resources.files("regard") / "recipes"))
    names = [path.stem for path in shipped.glob("*.toml")]
    if str(recipe) not in names:
        raise ConfigError(
            f'"{recipe}" is neither a recipe file nor the name of a shipped recipe.'
            f"{did_you_mean(str(recipe), names)}"
        )
    return shipped / f"{recipe}.toml"


def _anchored(tree: Tree, base: Path) -> Tree:
    """The tree with data.path made absolute."""
    data = tree.get("data")
    if isinstance(data, dict) and isinstance(data.get("path"), str):
        tree = {**tree, "data": {**data, "path": str((base / data["path"]).resolve())}}
    return tree


def _write_recipe(recipe: Recipe, folder: Path) -> None:
    """Fully resolved, with data.path relative to the run, so that both can move together."""
    tree = recipe.model_dump(exclude_none=True)
    if tree.get("data", {}).get("path"):
        tree["data"]["path"] = os.path.relpath(tree["data"]["path"], folder.resolve())
    write_text(folder / "recipe.toml", tomli_w.dumps(tree))


# Runs


def new_training(recipe: Recipe, folder: Path) -> Training:
    """Read the data, learn the tokenizers, make the network and the run folder."""
    if folder.exists():
        raise RunError(
            f"{folder}: exists already. Continue it with: regard resume {folder}, "
            "or give another name with --out."
        )
    kind = find_task(recipe.task)
    splits = kind.read(recipe)
    seed_everything(recipe.seed)
    task = kind.fit(recipe, splits.train)
    network = task.network().to(pick_device(recipe.device))
    training = Training(task, network, splits.train, splits.validation, folder)
    if recipe.train.budget is not None:
        _spend_budget(training, seconds(recipe.train.budget))
    try:
        folder.mkdir(parents=True)
    except OSError as error:
        raise RunError(f"{folder}: can not be made: {error.strerror or error}.") from error
    _write_recipe(task.recipe, folder)
    write_json(folder / "tokenizer.json", task.as_json())
    write_json(folder / "run.json", _facts(task, splits, training))
    return training


def resume_training(folder: Path) -> Training:
    """The training of a run folder, as its newest whole checkpoint left it."""
    facts, task = open_task(folder)
    splits = read_splits(task, facts, folder)
    _warn_if_elsewhere(facts)
    seed_everything(task.recipe.seed)
    network = task.network().to(pick_device(task.recipe.device))
    training = Training(task, network, splits.train, splits.validation, folder)
    if checkpoint := checkpoints.load_latest(folder / "checkpoints"):
        training.restore(checkpoint)
    return training


def open_task(folder: Path) -> tuple[Tree, Task[Any]]:
    """run.json and the task of a run folder, checked."""
    if not folder.is_dir():
        raise RunError(f"{folder}: no such run. Finished runs are folders, usually under runs/.")
    facts = read_table(folder / "run.json")
    if facts.get("format") != FORMAT:
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


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the run for writing; a second writer is refused at once."""
    lock = filelock.FileLock(folder / ".lock", timeout=0)
    try:
        lock.acquire()
    except filelock.Timeout as error:
        raise RunError(
            f"{folder}: another process is writing this run; wait for it or stop it."
        ) from error
    try:
        yield
    finally:
        lock.release()


def pick_device(name: str) -> torch.device:
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as error:
        raise ConfigError(f'device "{name}" can not be used here: try auto or cpu.') from error
    return device


def environment() -> Tree:
    """What exact resume depends on."""
    return {
        "regard": metadata.version("regard"),
        "python": platform.python_version(),
        "torch": str(torch.__version__),
        "machine": platform.machine(),
        "threads": torch.get_num_threads(),
    }


def _spend_budget(training: Training, budget: float) -> None:
    steps = steps_within(
        budget,
        training.network,
        training.settings,
        training.pieces_of,
        training.loss_of,
        training.plan.steps_per_epoch,
    )
    often = max(steps // 10, round(steps * SECONDS_BETWEEN_VALIDATIONS / budget))
    every = training.settings.validate_every or max(1, min(steps, often))
    chosen = {"steps": steps, "budget": None, "validate_every": every}
    train = training.settings.model_copy(update=chosen)
    training.task.recipe = training.task.recipe.model_copy(update={"train": train})


def _facts(task: Task[Any], splits: Splits[Any], training: Training) -> Tree:
    return {
        "format": FORMAT,
        "task": task.recipe.task,
        "data": {
            "sha256": _fingerprint(splits),
            "train": len(splits.train),
            "validation": len(splits.validation),
            "test": len(splits.test),
            "left_out_of_training": training.left_out,
        },
        "parameters": count_parameters(training.network),
        "environment": environment(),
    }


def _fingerprint(splits: Splits[Any]) -> str:
    return fingerprint([*splits.train, *splits.validation, *splits.test])


def _warn_if_elsewhere(facts: Tree) -> None:
    now, then = environment(), facts["environment"]
    changed = [f"{key} {then.get(key)} -> {now[key]}" for key in now if now[key] != then.get(key)]
    if changed:
        warnings.warn(
            f"resumed in another environment ({', '.join(changed)}): "
            "valid, but not bit-exact to an uninterrupted run.",
            stacklevel=2,
        )


def count_parameters(network: nn.Module) -> int:
    """Trained numbers in a network, shared tables counted once."""
    return sum(p.numel() for p in network.parameters())
