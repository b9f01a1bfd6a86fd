"""Regard: train, look inside and use attention models on your own text.

    import regard

    run = regard.train("translate", "pairs.tsv")   # or regard.load("runs/translate")
    run.predict(["I am calm."])
    run.look("I am calm.").save("attention.html")
    print(regard.check(run))                       # or any nn.Module of your own

Names are imported when first used, so that `import regard` costs nothing.
"""

import os
import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from regard.errors import RegardError as RegardError
    from regard.run import Chat as Chat
    from regard.run import Run as Run
    from regard.run import check as check
    from regard.run import compare as compare
    from regard.run import load as load
    from regard.run import resume as resume
    from regard.run import train as train

# A thread that waits by spinning holds a core that another process, or its own partner, could
# use: beside busy processes a training step was seen to take ten times as long. Spinning for a
# moment only costs nothing measurable when idle. OpenMP reads this when torch is imported.
os.environ.setdefault("GOMP_SPINCOUNT", "10000")

_HOMES = {
    "Chat": "regard.run",
    "check": "regard.run",
    "compare": "regard.run",
    "load": "regard.run",
    "resume": "regard.run",
    "train": "regard.run",
    "Run": "regard.run",
    "RegardError": "regard.errors",
}
_ROOMS_AND_VERBS = ("check", "train")
__all__ = ["Chat", "RegardError", "Run", "check", "compare", "load", "resume", "train"]


class _Package(ModuleType):
    """`train` and `check` are verbs to users and rooms of the house to us. Python puts a room into
    its package when it is first imported, where it would hide the verb: so rooms can be called."""

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _ROOMS_AND_VERBS and isinstance(value, ModuleType):
            value.__class__ = _Verb
        super().__setattr__(name, value)


class _Verb(ModuleType):
    def __call__(self, *given: Any, **settings: Any) -> Any:
        """See `regard.run.train` and `regard.run.check`."""
        verb = self.__name__.rpartition(".")[2]
        return getattr(import_module("regard.run"), verb)(*given, **settings)


sys.modules[__name__].__class__ = _Package


def __dir__() -> list[str]:
    return [*__all__, "__version__"]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return import_module("importlib.metadata").version("regard")
    if name not in _HOMES:
        raise AttributeError(f"module 'regard' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
