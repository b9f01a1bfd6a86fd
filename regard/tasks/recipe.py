"""From what a person asked for (a file, a shipped recipe, or a task and data) to a recipe."""

import os
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import Any

from regard.config import DEFAULT_BUDGET, Recipe, Tree
from regard.errors import ConfigError, did_you_mean
from regard.names import FILES
from regard.tasks import TASKS, find_task, task_called, task_names
from regard.toml import check, check_part, fill, override, read_toml
from regard.zoo.presets import shape_of_preset

Reasons = list[tuple[str, str]]

EITHER = (
    ("train", "steps", "budget"),
    ("train", "budget", "steps"),
    ("train", "steps", "passes"),
    ("data", "path", "set"),
    ("data", "set", "path"),
)


def make_recipe(
    what: str | Path,
    data: Sequence[str | Path] = (),
    sets: Sequence[str] = (),
    tree: Tree | None = None,
) -> tuple[Recipe, Reasons]:
    """From what a person asked for to a checked recipe, and the reasons for what was chosen.

    what  a recipe file, the name of a shipped recipe, or the name of a task such as "translate";
          a task looks at the data and chooses what nobody set
    data  one file, or two with matching lines
    sets  'key=value' texts; `tree` holds settings that are values already; both win over all else
    """
    given = override(fill(tree or {}, {"data": {"path": _paths(data)}} if data else {}), sets)
    given = with_preset(anchored(given, Path.cwd()))
    if (task := task_called(str(what))) is None:
        path = find_recipe(what)
        found = with_preset(_one_end(anchored(read_toml(path), path.parent), given))
        given = own_columns(given, str(found.get("task")))
        return check_recipe(fill(given, found), path, given), []
    for recipe in (str(path) for path in data if str(path).endswith(".toml")):
        raise ConfigError(f"{recipe}: a recipe says itself what is trained: regard train {recipe}")
    kind = find_task(task)
    given = own_columns(given, task)
    given = fill(given, kind.face_settings.get(str(what), {}))
    check_part(kind.Recipe, {**given, "task": task}, "settings")
    if not given.get("data"):
        raise ConfigError(f"{what}: on which data? As in: regard train {what} pairs.tsv")
    if "steps" not in given.get("train", {}):
        given = fill(given, {"train": {"budget": DEFAULT_BUDGET}})
    chosen = kind.choose({**given, "task": task}, str(what))
    return check_recipe(chosen.tree, "settings"), chosen.reasons


def asked(columns: Sequence[str | None] | None, budget: str | None) -> Tree:
    """What people most often ask for, as settings.

    >>> asked(("english", None), "2m")
    {'data': {'source': 'english'}, 'train': {'budget': '2m'}}
    """
    named = dict(zip(("source", "target"), columns or (None, None), strict=True))
    data = {side: name for side, name in named.items() if name is not None}
    train = {} if budget is None else {"budget": budget}
    return {key: section for key, section in (("data", data), ("train", train)) if section}


def example_recipe(name: str, sets: Sequence[str] = (), tree: Tree | None = None) -> Recipe:
    """A task's recipe with defaults and an example where something must be filled in."""
    if (task := task_called(name)) is None:
        raise ConfigError(f'there is no task "{name}".{did_you_mean(name, task_names())}')
    basis = {"task": task, "train": {"budget": DEFAULT_BUDGET}, **find_task(task).example(name)}
    given = own_columns(anchored(override(tree or {}, sets), Path.cwd()), task)
    filled = fill(given, anchored(_one_end(basis, given), Path.cwd()))
    return check_recipe(filled, "settings")


def read_recipe(recipe: str | Path, sets: Sequence[str] = ()) -> Recipe:
    """Read and check a recipe: a TOML file, or the name of one that ships with Regard.

    Paths inside a file are relative to it; paths in `sets` are relative to here.
    """
    return make_recipe(recipe, sets=sets)[0]


def own_columns(tree: Tree, task: str) -> Tree:
    """The tree with `data.source` and `data.target` by the names that a task has for them."""
    data = tree.get("data")
    if not isinstance(data, dict) or task not in TASKS:
        return tree
    own = dict(zip(("source", "target"), find_task(task).columns, strict=True))
    return {**tree, "data": {own.get(key, key): value for key, value in data.items()}}


def with_preset(tree: Tree) -> Tree:
    """The tree with `model.preset` replaced by what it stands for; what is set beside it wins."""
    model = tree.get("model")
    if not isinstance(model, dict) or "preset" not in model:
        return tree
    rest = {key: value for key, value in model.items() if key != "preset"}
    return {**tree, "model": fill(rest, shape_of_preset(str(model["preset"])))}


def _paths(data: Sequence[str | Path]) -> str | list[str]:
    return str(data[0]) if len(data) == 1 else [str(path) for path in data]


def check_recipe(tree: Tree, where: Path | str, given: Tree | None = None) -> Recipe:
    if not isinstance(tree.get("task"), str):
        raise ConfigError(f'{where}: a recipe needs a task, as in task = "transduce".')
    return check(find_task(tree["task"]).Recipe, tree, where, given)


def find_recipe(recipe: str | Path) -> Path:
    if Path(recipe).suffix == ".toml":
        return Path(recipe)
    shipped = Path(str(resources.files("regard") / "recipes"))
    names = [path.stem for path in shipped.glob("*.toml")]
    if str(recipe) in names:
        return shipped / f"{recipe}.toml"
    if Path(recipe).exists():
        raise ConfigError(
            f"{recipe}: is that the data? Say first what to learn from it, as in: "
            f"regard train transduce {recipe} (or {', '.join(task_names()[1:])})."
        )
    raise ConfigError(
        f'"{recipe}" is no task, no recipe file (NAME.toml) and no shipped recipe.'
        f"{did_you_mean(str(recipe), [*task_names(), *names])}"
    )


def _one_end(tree: Tree, given: Tree) -> Tree:
    """Setting train.steps replaces a recipe's train.budget, and the other way round; so do
    data.path and data.set."""
    for section, new, old in EITHER:
        there, asked = tree.get(section), given.get(section)
        if isinstance(there, dict) and isinstance(asked, dict) and new in asked:
            tree = {**tree, section: {k: v for k, v in there.items() if k != old}}
    return tree


def anchored(tree: Tree, base: Path) -> Tree:
    """The tree with the files in its data section made absolute."""
    data = tree.get("data")
    if not isinstance(data, dict):
        return tree
    found = {key: _moved(data[key], base) for key in FILES if data.get(key)}
    return {**tree, "data": {**data, **found}}


def _moved(paths: Any, base: Path, *, relative: bool = False) -> Any:
    """A path, or two of them, made absolute from `base`, or relative to it."""
    if isinstance(paths, list | tuple):
        return tuple(_moved(path, base, relative=relative) for path in paths)
    if not isinstance(paths, str):
        return paths  # a mistake, which `check` will name
    return os.path.relpath(paths, base) if relative else os.path.abspath(base / paths)


def relative_to(recipe: Recipe, home: Path) -> Recipe:
    """The recipe as it reads in the folder `home`."""
    data = getattr(recipe, "data", None)
    if data is None:
        return recipe
    found = {
        key: _moved(getattr(data, key), Path(os.path.abspath(home)), relative=True)
        for key in FILES
        if getattr(data, key, None)
    }
    return recipe.model_copy(update={"data": data.model_copy(update=found)})


def with_columns(recipe: Recipe, columns: Sequence[str | None] | None) -> Recipe:
    """The recipe for a file that calls its columns otherwise."""
    named = own_columns(asked(columns, None), recipe.task).get("data", {})
    data = getattr(recipe, "data", None)
    if data is None or not named:
        return recipe
    return recipe.model_copy(update={"data": data.model_copy(update=named)})
