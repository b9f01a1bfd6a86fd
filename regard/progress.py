"""How far is it? Work that takes a while tells whoever listens; where nobody does, nothing is lost.

with listening(lambda what, done, whole: print(f"{what} {done} of {whole}")):
    ...
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Listener = Callable[[str, int, int], object]
"""What is being done, how much of it is done, and of how much."""

_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)


def tell(what: str, done: int, whole: int) -> None:
    if listener := _listener.get():
        listener(what, done, whole)


def heard() -> bool:
    """Does anybody listen? Where nobody does, there is no need to find out how far it is."""
    return _listener.get() is not None


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Inside the `with`, `listener` is told of all work."""
    before = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(before)
