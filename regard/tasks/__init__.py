"""What the work is. Adding a job: one new file here, and one line in this table."""

from typing import Any

from regard.errors import ConfigError, did_you_mean
from regard.tasks.classify import Classify
from regard.tasks.classify_bag import ClassifyByBag  # noqa: F401  (it signs in with Classify)
from regard.tasks.language_model import LanguageModel
from regard.tasks.task import Task
from regard.tasks.transduce import Transduce

TASKS: dict[str, type[Task[Any]]] = {
    "transduce": Transduce,
    "language_model": LanguageModel,
    "classify": Classify,
}


def find_task(name: str) -> type[Task[Any]]:
    if name not in TASKS:
        raise ConfigError(f'there is no task "{name}".{did_you_mean(name, TASKS)}')
    return TASKS[name]


def task_called(name: str) -> str | None:
    """The task that goes by this name or face: "translate" is "transduce"; None for no task."""
    for task, kind in TASKS.items():
        if name == task or name in kind.faces:
            return task
    return None


def task_names() -> list[str]:
    return [name for task, kind in TASKS.items() for name in (task, *kind.faces)]
