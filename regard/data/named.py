"""Data sets that have a name instead of a path."""

from collections.abc import Callable, Iterator

from regard.data.cmudict import read_cmudict
from regard.data.pairs import Pair
from regard.errors import DataError, did_you_mean

NAMED: dict[str, Callable[[], Iterator[Pair]]] = {"cmudict": read_cmudict}


def read_named(name: str) -> Iterator[Pair]:
    """The pairs of a named data set."""
    if name not in NAMED:
        raise DataError(f'there is no data set named "{name}".{did_you_mean(name, NAMED)}')
    return NAMED[name]()
