"""How to call a network with made-up ids: all that `check` has to know about a model.

B batch   T positions
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from regard.names import FIRST_PIECE


@dataclass(frozen=True)
class Side:
    """One of the sequences that go into a network."""

    name: str
    vocabulary: int  # ids are below this
    longest: int  # positions
    causal: bool = False
    """May a position see only itself and those before it?"""
    pads: tuple[str, ...] = ("right",)
    """Where padding may stand: "right", "left"; empty where rows must be equally long."""
    first: int = FIRST_PIECE  # ids below this are special


@dataclass(frozen=True)
class Probe:
    """
    sides  what goes in; what comes out has a place for each position of the last side
    call   (network, ids (B, T), mask (B, T), and again for a second side) -> (B, T, ...) or, when
           a sequence is judged as a whole, (B, ...). The mask is True at real positions.
    step   (network, state, tokens (B,), ids and mask of the sides before the last) -> scores
           (B, V) of the next token, and the new state; the first state is None. For networks
           that write, with whatever they remember between steps.
    """

    sides: tuple[Side, ...]
    call: Callable[..., Tensor]
    step: Callable[..., tuple[Tensor, Any]] | None = None
