"""What decoding asks of a network, and what it gives back. It knows no model and no tokenizer:
cached Transformers, RNNs, copying decoders and n-grams all fit the three calls below.

B rows of the batch   V vocabulary
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import torch
from torch import Tensor

from regard.errors import ShapeError, TrainingError
from regard.names import PAD, START, UNKNOWN

State = TypeVar("State")

FORBIDDEN = (PAD, START, UNKNOWN)  # nothing a reader could use; never part of an output


Done = Callable[[int, list[int]], bool]
"""An input's number, and the tokens of an output for it so far -> is the output over?"""


class Stepper(Protocol[State]):
    """A network that writes one token at a time.

    Tokens and rows arrive on the CPU; a network elsewhere moves these few numbers itself. Every
    row must leave at least one token possible.
    """

    def start(self, inputs: Any) -> State:
        """Read a batch of inputs, once; the state has one row for each input."""
        ...

    def step(self, state: State, tokens: Tensor) -> tuple[Tensor, State]:
        """The newest token of each row (B,) -> log-probabilities (B, V) of the next one."""
        ...

    def reorder(self, state: State, rows: Tensor) -> State:
        """The state of the present rows that `rows` (B',) names; it may repeat or drop some."""
        ...


@dataclass(slots=True)
class Decoded:
    """One output, without START and STOP."""

    tokens: list[int]
    score: float
    """The sum of the network's log-probabilities, before any filter, STOP included if written."""
    finished: bool
    """False when only the length limit ended it."""


def never(row: int, tokens: list[int]) -> bool:
    """Only STOP and the length limit end an output."""
    return False


def advance(stepper: Stepper[State], state: State, tokens: Sequence[int]) -> tuple[Tensor, State]:
    """One step: log-probabilities (B, V), those of forbidden tokens -inf, and the new state."""
    log_probs, state = stepper.step(state, torch.tensor(tokens))
    if log_probs.dim() != 2 or log_probs.size(0) != len(tokens):
        raise ShapeError(
            f"a step with {len(tokens)} tokens must give log-probabilities of shape "
            f"({len(tokens)}, vocabulary), found {tuple(log_probs.shape)}: look at this network's "
            "start, step and reorder."
        )
    shut = torch.tensor(FORBIDDEN, device=log_probs.device)
    log_probs = log_probs.index_fill(1, shut, -torch.inf)
    if not log_probs.amax(dim=1).isfinite().all():  # a single NaN makes its row's maximum NaN
        raise TrainingError(
            "the network can not choose a next token: its probabilities are NaN, or zero for "
            "every token. The weights are broken; train again with a lower train.rate."
        )
    return log_probs, state
