"""A network on the bench: copies to experiment on, made-up inputs, and one way to call it.

B batch   T positions
"""

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

import torch
from torch import Tensor, nn

from regard.tasks.probe import Probe, Side
from regard.tasks.task import Loss

EXACT, ROUGH = 1e-9, 1e-4  # differences that rounding explains, in float64 and in float32
LENGTHS = (13, 11, 17, 7, 9, 5, 4, 3, 2, 1)  # the first that no layer is as wide as
ROWS = 6
PADS = 4


@dataclass(frozen=True)
class Batch:
    """Ids and masks of every side: [(ids (B, T), mask (B, T)), ...]."""

    sides: tuple[tuple[Tensor, Tensor], ...]

    @property
    def flat(self) -> list[Tensor]:
        return [tensor for side in self.sides for tensor in side]

    def with_side(self, place: int, ids: Tensor, mask: Tensor) -> "Batch":
        return Batch((*self.sides[:place], (ids, mask), *self.sides[place + 1 :]))

    def row(self, number: int) -> "Batch":
        """One row by itself, its padding cut off."""
        kept = [(ids[number, mask[number]], mask[number, mask[number]]) for ids, mask in self.sides]
        return Batch(tuple((ids[None], mask[None]) for ids, mask in kept))


class Subject:
    """
    network  a copy in float64 where it can be one, in eval mode; the user's own is left alone
    probe    how it is called
    rows     (dice, number) -> examples to learn from; loss(network, examples) -> their loss
    fresh    makes a network that knows only what was saved of this one
    """

    def __init__(
        self,
        network: nn.Module,
        probe: Probe,
        *,
        rows: Callable[[Random, int], list[Any]] | None = None,
        loss: Callable[[nn.Module, list[Any]], Loss] | None = None,
        fresh: Callable[[nn.Module], nn.Module] | None = None,
    ) -> None:
        self.original, self.probe = copy.deepcopy(network).cpu().eval(), probe
        self.network, self.tolerance = copy.deepcopy(self.original).double(), EXACT
        self.rows, self.loss, self.fresh = rows or self._invent, loss or self._loss, fresh
        self.longest = min(side.longest for side in probe.sides)
        self.room = min(PADS, self.longest - 1)  # positions of padding, at most
        if not self._runs():
            self.network, self.tolerance = copy.deepcopy(self.original), ROUGH

    def _runs(self) -> bool:
        """In float64? A network with float32 tensors written into its code does not."""
        try:
            self.call(self.network, self.inputs(Random(0)))
        except (RuntimeError, TypeError, ValueError):
            return False
        return True

    # Inputs

    def lengths(self, room: int = 0) -> list[int]:
        """A length for each side, all different and unlike any width of the network, so that an
        axis can be told by its size; `room` more positions still fit."""
        widths = {size for p in self.network.parameters() for size in p.shape} | {ROWS}
        odd = [n for n in LENGTHS if n not in widths and n + room <= self.longest] or [1]
        return [odd[min(i, len(odd) - 1)] for i in range(len(self.probe.sides))]

    def inputs(self, dice: Random, *, rows: int = ROWS, room: int = 0) -> Batch:
        """Random ids without padding; `room` more positions would still fit."""
        pairs = zip(self.probe.sides, self.lengths(room), strict=True)
        return Batch(tuple(full(random_ids(dice, side, rows, T)) for side, T in pairs))

    # Calling

    @torch.no_grad()
    def call(self, network: nn.Module, batch: Batch) -> Tensor:
        """Equal dropout for equal shapes; nobody's random state moves."""
        with torch.random.fork_rng(devices=[]):
            torch.default_generator.manual_seed(0)  # torch.manual_seed visits every device
            return self.probe.call(network, *batch.flat)

    def training(self) -> nn.Module:
        """A copy in training mode, without dropout."""
        return without_dropout(copy.deepcopy(self.network)).train()

    # Learning, for a network that brings no loss of its own

    def _invent(self, dice: Random, rows: int) -> list[Any]:
        return [self.inputs(dice, rows=1) for _ in range(rows)]

    def _loss(self, network: nn.Module, examples: list[Any]) -> Loss:
        """A fixed random direction in what comes out: it reaches whatever the output does."""
        flat = zip(*(batch.flat for batch in examples), strict=True)
        output = self.probe.call(network, *[torch.cat(parts) for parts in flat])
        pull = torch.randn(output.shape[1:], generator=torch.Generator().manual_seed(0))
        return Loss((output * pull.to(output)).sum(), len(examples))


def random_ids(dice: Random, side: Side, rows: int, length: int) -> Tensor:
    first = min(side.first, side.vocabulary - 1)
    ids = [[dice.randrange(first, side.vocabulary) for _ in range(length)] for _ in range(rows)]
    return torch.tensor(ids, dtype=torch.int64).reshape(rows, length)


def full(ids: Tensor) -> tuple[Tensor, Tensor]:
    """The ids and their mask: every position is real."""
    return ids, torch.ones_like(ids, dtype=torch.bool)


def without_dropout(network: nn.Module) -> nn.Module:
    """The same network with every `p` and `dropout` of its modules at zero."""
    for module in network.modules():
        for name in ("p", "dropout"):
            if isinstance(getattr(module, name, None), float):
                setattr(module, name, 0.0)
    return network


def difference(a: Tensor, b: Tensor) -> float:
    """The largest difference, against the larger of 1 and the largest number; inf for NaN."""
    if a.shape != b.shape:
        return float("inf")
    if not a.numel() or torch.equal(a, b):
        return 0.0
    if not a.is_floating_point():
        return float("inf")  # ids and masks are equal or they are not
    gap = float((a - b).abs().max() / torch.maximum(a.abs().max(), a.new_ones(())))
    return gap if gap == gap else float("inf")


def worst(found: Sequence[float]) -> float:
    return max(found, default=0.0)
