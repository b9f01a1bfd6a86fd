"""A run that teaches: what it says of texts that nobody has labelled.

n texts   C classes
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from regard.errors import ConfigError, DataError, RunError
from regard.files import file_hash, read_table
from regard.models.grams import Floats
from regard.models.weights import load_weights, read_weights
from regard.tasks.label_baselines import Majority
from regard.toml import read_toml

AT_ONCE = 2000  # texts that are tokens at a time


def mark_of(folder: Path) -> str:
    """A hash of what it knows: with another teacher, other things are learned."""
    return file_hash(_weights(folder))


def refuse_knowing(folder: Path, held_out: Sequence[str]) -> None:
    """A DataError where it has learned from texts that are held out here: through it, so would
    those whom it teaches."""
    task = _task(folder)
    memory = Majority.load(folder / "baseline" / "majority", task.labels, several=task.several)
    if known := sum(memory.known(held_out)):
        raise DataError(
            f"data.teachers: {folder} has learned from {known:,} of the {len(held_out):,} texts "
            "that are held out here. Train it on the same files with the same split, or name "
            "another."
        )


def said_by(folder: Path, inputs: Sequence[str], labels: Sequence[str], *, pairs: bool) -> Floats:
    """(n, C) scores of labels; of several ones, those above 0 are likelier than not."""
    task, path = _task(folder), _weights(folder)
    if task.labels != list(labels) or task.pairs != pairs:
        raise ConfigError(
            f"data.teachers: {folder} knows {_some(task.labels)}, and here are {_some(labels)}. A "
            "teacher must have learned from the same table."
        )
    network = task.network()
    load_weights(network, read_weights(path), str(path))
    judge = task.judge(network.eval())
    parts = [judge.scores(inputs[i : i + AT_ONCE]) for i in range(0, len(inputs), AT_ONCE)]
    found: Floats = np.concatenate(parts)
    return found


def _weights(folder: Path) -> Path:
    path = folder / "model.safetensors"
    if not path.is_file():
        raise RunError(f"data.teachers: {folder} is no finished run. Train it, or leave it out.")
    return path


def _task(folder: Path) -> Any:
    from regard.tasks import find_task  # it knows all tasks, and one of them knows us
    from regard.tasks.recipe import anchored, check_recipe

    path = folder / "recipe.toml"
    _weights(folder)
    recipe = check_recipe(anchored(read_toml(path), folder.absolute()), path)
    if recipe.task != "classify":
        raise ConfigError(f"data.teachers: {folder} does not classify. Name a run that does.")
    return find_task(recipe.task).load(recipe, read_table(folder / "tokenizer.json"))


def _some(labels: Sequence[str]) -> str:
    shown = ", ".join(labels[:3]) + ", ..." * (len(labels) > 3)
    return f"the labels {shown}"
