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
import time
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import nn

from regard.config import Recipe, Tree, seconds
from regard.data.splits import Splits
from regard.errors import ConfigError, DataError, RunError
from regard.files import FORMAT, read_facts, read_table, sync_folder, write_json, write_text
from regard.models.weights import count_parameters
from regard.tasks import find_task
from regard.tasks.recipe import anchored, check_recipe, relative_to
from regard.tasks.task import Task
from regard.toml import read_toml, written
from regard.train import checkpoints
from regard.train.budget import Trial, try_steps, with_steps
from regard.train.state import environment, seed_everything
from regard.train.training import Training


@dataclass
class Draft:
    """A training that is ready to begin, before anything is written."""

    training: Training
    splits: Splits[Any]
    trial: Trial | None  # how fast it is and how much memory it takes, where that was asked for


def draft(recipe: Recipe, folder: Path, *, try_out: bool = False, replacing: bool = False) -> Draft:
    """Read the data, learn the tokenizers, make the network; try it out where the budget, or the
    caller, wants to know how fast it is. `replacing`: the caller makes room before it begins."""
    if not replacing:
        refuse_existing(folder)
    device = pick_device(recipe.device)
    kind = find_task(recipe.task)
    splits = kind.read(recipe)
    clock = time.perf_counter()
    task = kind.fit(recipe, splits.train)
    training = _training(task, splits, folder, device)
    task.begin(training.network, splits.train)
    if recipe.train.steps == 0:  # that was the training
        training.progress.seconds = time.perf_counter() - clock + task.lent
    _check_samples(task, task.samples(splits.test))
    trial = try_steps(training) if try_out or recipe.train.budget is not None else None
    if trial and recipe.train.budget is not None:
        settings = with_steps(training, seconds(recipe.train.budget), trial)
        task.recipe = recipe.model_copy(update={"train": settings})
    return Draft(training, splits, trial)


def refuse_existing(folder: Path) -> None:
    if folder.exists():
        stopped = (folder / "run.json").exists() and not (folder / "model.safetensors").exists()
        resume = f"Continue it with: regard resume {folder}, or give" if stopped else "Give"
        raise RunError(f"{folder}: exists already. {resume} another name with --out.")


def _check_samples(task: Task[Any], samples: list[str]) -> None:
    """Better now than after an hour of training."""
    if not samples:
        raise DataError("every test example is empty or longer than model.max_length: raise it.")
    for text in samples:
        if not task.fits(text):
            raise ConfigError(f"samples: {text[:40]!r} is empty or too long for model.max_length.")


def new_training(recipe: Recipe, folder: Path) -> Training:
    """A training in its new run folder."""
    return begin(draft(recipe, folder))


def begin(ready: Draft) -> Training:
    """Make the run folder."""
    training = ready.training
    facts = _facts(training.task, ready.splits, training)
    _make_folder(training.folder, training.task, facts)
    return training


def resume_training(folder: Path) -> Training:
    """The training of a run folder, as its newest whole checkpoint left it."""
    facts, task = open_task(folder)
    device = pick_device(task.recipe.device)
    _warn_if_elsewhere(facts["environment"], environment(device))
    splits = read_splits(task, facts, folder)
    training = _training(task, splits, folder, device)
    if checkpoint := checkpoints.load_latest(folder / "checkpoints"):
        training.restore(checkpoint)
    else:
        task.begin(training.network, splits.train)
        if training.log():
            warnings.warn(
                f"{folder}: steps were logged, but there is no checkpoint: beginning again at step "
                "0.",
                stacklevel=2,
            )
    return training


def _training(task: Task[Any], splits: Splits[Any], folder: Path, device: torch.device) -> Training:
    seed_everything(task.recipe.seed)
    network = network_of(task).to(device)
    return Training(task, network, splits.train, splits.validation, folder)


def network_of(task: Task[Any]) -> nn.Module:
    try:
        return task.network()
    except (RuntimeError, MemoryError) as error:  # what torch says when it can not allocate
        raise ConfigError(
            f"the network does not fit into memory ({str(error).splitlines()[0]}): try a smaller "
            "model.width, fewer layers, or a smaller vocabulary."
        ) from error


def _make_folder(folder: Path, task: Task[Any], facts: Tree) -> None:
    """A new run folder, whole or not there."""
    home = Path(os.path.abspath(folder))
    part = home.with_name(f".{home.name}.{os.getpid()}.part")
    try:
        part.mkdir(parents=True)
        write_text(part / "recipe.toml", written(relative_to(task.recipe, folder)))
        write_json(part / "tokenizer.json", task.as_json())
        write_json(part / "run.json", facts)
        part.rename(home)
        sync_folder(home.parent)
    except OSError as error:
        raise RunError(f"{folder}: can not be made: {error.strerror or error}.") from error
    finally:
        shutil.rmtree(part, ignore_errors=True)  # where it was not renamed


def open_task(folder: Path) -> tuple[Tree, Task[Any]]:
    """run.json and the task of a run folder, checked."""
    facts = read_facts(folder)
    path = folder / "recipe.toml"
    recipe = check_recipe(anchored(read_toml(path), Path(os.path.abspath(folder))), path)
    saved = read_table(folder / "tokenizer.json")
    return facts, find_task(recipe.task).load(recipe, saved)


def read_splits(task: Task[Any], facts: Tree, folder: Path) -> Splits[Any]:
    """The data of a run, refused when it is not the data the run was made with."""
    try:
        splits = type(task).read(task.recipe)
    except DataError as error:
        raise RunError(
            f"{folder}: its data can not be read: {error}\nWhere did they move? Put the new place "
            f"into the data section of {folder / 'recipe.toml'}."
        ) from error
    if splits.sha256 != facts["data"].get("sha256"):
        raise RunError(
            f"{folder}: the data changed since this run began (another file or another version "
            "of it), so its splits would mix. Put the old data back, or begin a new run."
        )
    return splits


def is_of(folder: Path, recipe: Recipe) -> bool:
    """Was this run made with these settings, on data like these, wherever they lie now?"""
    facts, task = open_task(folder)
    ours, theirs = (one.model_copy(update={"data": None}) for one in (recipe, task.recipe))
    return ours == theirs and type(task).read(recipe).sha256 == facts["data"].get("sha256")


def pick_device(name: str) -> torch.device:
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
        torch.zeros(1, device=device).item()
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        raise ConfigError(f'device "{name}" can not be used here: try auto or cpu.') from error
    return device


def _facts(task: Task[Any], splits: Splits[Any], training: Training) -> Tree:
    return {
        "format": FORMAT,
        "task": task.recipe.task,
        "data": {
            "sha256": splits.sha256,
            "split_rule": task.split_rule,
            "unit": splits.unit,
            "train": len(splits.train),
            "validation": len(splits.validation),
            "test": len(splits.test),
            "left_out_of_training": training.batches.left_out,
            **task.cuts(training.batches),
            "skipped_rows": splits.skipped,
            "overlapping": splits.overlapping,
            "notes": list(splits.notes),
        },
        "vocabulary": task.vocabulary(),
        "parameters": count_parameters(training.network),
        "environment": environment(next(training.network.parameters()).device),
    }


def _warn_if_elsewhere(then: Tree, now: Tree) -> None:
    changed = [f"{key} {then.get(key)} -> {now[key]}" for key in now if now[key] != then.get(key)]
    if changed:
        warnings.warn(
            f"resumed in another environment ({', '.join(changed)}): "
            "valid, but not bit-exact to an uninterrupted run.",
            stacklevel=3,
        )
