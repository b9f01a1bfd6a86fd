"""What a training takes, step by step: a pure function of the data, the seed and the step's number,
so that a resumed run meets what the uninterrupted one would have met."""

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Generic, Protocol, TypeVar

from regard.data.plan import Plan
from regard.errors import DataError

Prepared = TypeVar("Prepared")


class Batches(Protocol[Prepared]):
    """`batches.of(step)` for any step, in any order."""

    examples: int
    """How many there are to learn from."""
    left_out: int
    """How many can not be learned from: empty, or longer than the model takes."""
    steps_per_pass: int

    def of(self, step: int) -> list[Prepared]:
        """The examples that optimizer step number `step` (from 0) takes."""
        ...

    def heaviest(self) -> list[int]:
        """The steps of a pass that may take the most memory."""
        ...


class AtOnce(Generic[Prepared]):
    """For a model that learns without steps: nothing is made ready, unless a proof asks for it."""

    steps_per_pass = 1

    def __init__(self, examples: int, left_out: int, make: Callable[[], "Rows[Prepared]"]) -> None:
        self.examples, self.left_out, self._make = examples, left_out, make

    @cached_property
    def _rows(self) -> "Rows[Prepared]":
        return self._make()

    def of(self, step: int) -> list[Prepared]:
        return self._rows.of(step)

    def heaviest(self) -> list[int]:
        return self._rows.heaviest()


class Rows(Generic[Prepared]):
    """Batches of examples (`rows`) that have lengths of their own: short ones with short ones."""

    def __init__(
        self,
        prepared: Sequence[Prepared | None],
        lengths: Callable[[Prepared], tuple[int, ...]],
        tokens: int,
        seed: int,
    ) -> None:
        self.rows = [row for row in prepared if row is not None]
        self._lengths = [lengths(row) for row in self.rows]
        self.examples, self.left_out = len(self.rows), len(prepared) - len(self.rows)
        if not self.rows:
            raise DataError(
                f"all {len(prepared)} training examples are empty or longer than model.max_length: "
                "raise it, or look at the data."
            )
        self._plan = Plan(self._lengths, tokens, seed)
        self.steps_per_pass = self._plan.steps_per_epoch

    def of(self, step: int) -> list[Prepared]:
        return [self.rows[i] for i in self._plan.batch(step)]

    def heaviest(self) -> list[int]:
        """Those with the most tokens, padding included, on each side and together, and the one
        with the longest sequences."""
        sizes: list[tuple[float, ...]] = []
        for step in range(self.steps_per_pass):
            rows = [self._lengths[i] for i in self._plan.batch(step)]
            longest = [max(side) for side in zip(*rows, strict=True)]
            padded = [len(rows) * length for length in longest]
            sizes.append((*padded, sum(padded), len(rows) * max(longest) ** 2))
        return sorted({side.index(max(side)) for side in zip(*sizes, strict=True)})
