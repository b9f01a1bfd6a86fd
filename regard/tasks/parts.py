"""Training, validation and test, where some of them have files of their own."""

from collections.abc import Callable, Mapping
from typing import Protocol, TypeVar

from regard.data.splits import Shares, Splits
from regard.errors import DataError
from regard.tasks.task import Part

Item = TypeVar("Item")


class _Data(Protocol):
    @property
    def split(self) -> Shares: ...
    @property
    def validation(self) -> object: ...
    @property
    def test(self) -> object: ...


def shares_left(data: _Data) -> Shares:
    """The shares of the first file: a part with a file of its own leaves it to training."""
    _, validation, test = data.split
    validation, test = 0 if data.validation else validation, 0 if data.test else test
    return 100 - validation - test, validation, test


def parted(
    sides: Splits[Item], own: Mapping[str, Part[Item]], key: Callable[[Item], str]
) -> tuple[dict[str, list[Item]], int]:
    """Each side without the keys that a file of its own holds for another, and how many went."""
    shared = {"test": sides.test, "validation": sides.validation, "train": sides.train}
    kept = {side: list(part.examples) for side, part in own.items()}
    kept |= {side: examples for side, examples in shared.items() if side not in own}
    before = sum(map(len, kept.values()))
    taken: set[str] = set()
    for side in kept if own else ():
        kept[side] = [one for one in kept[side] if key(one) not in taken]
        if not kept[side]:
            raise DataError(
                f"nothing is left on the {side} side: the files of the other sides hold all of "
                "its sources. Give each side sources of its own."
            )
        taken |= {key(one) for one in kept[side]}
    return kept, before - sum(map(len, kept.values()))
