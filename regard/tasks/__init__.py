"""What the work is. Adding a job: one new file here, and one line in this table."""

from typing import Any

from regard.errors import ConfigError, did_you_mean
from regard.tasks.task import Task
from regard.tasks.transduce import Transduce

TASKS: dict[str, type[Task[Any]]] = {
    "transduce": Transduce,
}


def find_task(name: str) -> type[Task[Any]]:
    if name not in TASKS:
        raise ConfigError(f'there is no task "{name}".{did_you_mean(name, TASKS)}')
    return TASKS[name]
