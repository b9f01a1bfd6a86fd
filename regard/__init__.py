"""Regard: train, look inside and serve attention models on your own text.

    import regard

    run = regard.load("runs/demo")
    run.predict(["attention"])
    run.look("attention").save("attention.html")

Names are imported when first used, so that `import regard` costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from regard.errors import RegardError as RegardError
    from regard.run import Run as Run
    from regard.run import load as load
    from regard.run import resume as resume
    from regard.run import train as train

_HOMES = {
    "load": "regard.run",
    "resume": "regard.run",
    "train": "regard.run",
    "Run": "regard.run",
    "RegardError": "regard.errors",
}
__all__ = ["RegardError", "Run", "load", "resume", "train"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'regard' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
