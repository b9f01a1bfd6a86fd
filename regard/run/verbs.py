"""What people ask for: load, check, train, resume."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from torch import nn

from regard.build import new_training, open_task, resume_training
from regard.check.proofs import CASES, check_module
from regard.check.report import Report
from regard.config import Recipe, Tree
from regard.files import free_folder, locked
from regard.run.finishing import finish
from regard.run.opened import Data, Run, paths_of
from regard.tasks.recipe import asked, make_recipe
from regard.toml import fill
from regard.train.training import Training


def load(folder: str | Path, device: str = "auto") -> Run:
    """Open a finished run."""
    return Run.load(folder, device)


def check(model: nn.Module | Run | str | Path, *, cases: int = CASES, **said: Any) -> Report:
    """Prove that a model is honest: a run, its folder, or any module that takes token ids.

    A module is called as its signature suggests, or as you say:

    >>> report = regard.check(  # doctest: +SKIP
    ...     module, vocabulary=1000, kind="decoder", call=lambda m, ids, mask: m(ids)
    ... )
    >>> report.passed  # doctest: +SKIP
    True

    See `regard.check.guess.subject_of` for everything that can be said about a module.
    """
    if isinstance(model, nn.Module):
        return check_module(model, cases=cases, **said)
    run = model if isinstance(model, Run) else Run.load(model)
    return run.check(cases=cases, **said)


def train(
    task: str | Path | Recipe,
    data: Data | Tree | None = None,
    *,
    columns: tuple[str, str] | None = None,
    budget: str | None = None,
    out: str | Path | None = None,
    **settings: Any,
) -> Run:
    """Train a task on a file, or a recipe, into a new run folder; returns the finished run.

    task      "translate", "pronounce", ...: settings are chosen from the data; or a recipe: a
              TOML file, the name of a shipped one, or a checked `Recipe`
    data      one file, or two with matching lines, or the whole section as a dict, as in
              {"path": "train.tsv", "test": "test.tsv"}; a recipe has its own
    columns   names or numbers of the source and the target column; guessed by default
    budget    time to train, as in "90s" or "20m"
    out       run folder; runs/TASK by default, or the next free runs/TASK-2, ...
    settings  any other setting by section: model={"width": 64}, train={"rate": 0.001}, seed=1

    >>> run = regard.train("translate", "pairs.tsv", budget="2m")  # doctest: +SKIP
    """
    if isinstance(task, Recipe):
        recipe, name = task, task.task
    else:
        tree = asked(columns, budget)
        tree = fill(tree, {"data": dict(data)} if isinstance(data, Mapping) else {})
        paths = () if data is None or isinstance(data, Mapping) else paths_of(data)
        recipe, _ = make_recipe(task, paths, tree=fill(tree, settings))
        name = Path(task).stem
    training = new_training(recipe, Path(out) if out else free_folder(Path("runs") / name))
    with locked(training.folder):
        return _to_the_end(training)


def resume(folder: str | Path) -> Run:
    """Go on with a run exactly where it stopped; a finished one is opened."""
    folder = Path(folder)
    with locked(folder):
        if is_finished(folder):
            return Run.load(folder)
        return _to_the_end(resume_training(folder))


def is_finished(folder: Path) -> bool:
    facts, _ = open_task(folder)
    return "test" in facts


def _to_the_end(training: Training) -> Run:
    for _ in training.run():
        pass
    return finish(training)
