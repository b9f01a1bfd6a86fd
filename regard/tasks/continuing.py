"""A network that goes on with a text, as decoding wants it: it has read the beginning already, and
it forgets the older half when the text outgrows it.

B rows   P tokens of a beginning   V vocabulary
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from regard.models.decoder import Decoder
from regard.models.recurrent import RecurrentNetwork
from regard.names import STOP


@dataclass(frozen=True)
class Going:
    """Between two steps."""

    state: Any  # the network's
    seen: Tensor  # (B, room): the tokens it has read, `length` of them
    length: int
    next: Tensor | None  # (B, V) log-probabilities that are known already


class Continuation:
    """The three calls of `decode.stepper.Stepper`, for beginnings of equal length. `ends`: whether
    a text may end by itself, which only someone knows who has seen several of them."""

    def __init__(self, network: Decoder | RecurrentNetwork, *, ends: bool = True) -> None:
        self.network, self.ends = network, ends
        self.room = network.max_length if isinstance(network, Decoder) else None

    def start(self, beginnings: Sequence[Sequence[int]]) -> Going:
        """Of a beginning that is longer than the network has in sight, the end is read."""
        ids = torch.tensor(beginnings)  # (B, P)
        return self._read(ids[:, -self.room :] if self.room else ids)

    def _read(self, ids: Tensor) -> Going:
        device = next(self.network.parameters()).device
        if isinstance(self.network, Decoder):
            state = self.network.start(self.network.max_length)
            states = self.network.states(ids.to(device), state, remember=True)
            logits = self.network.embed.scores(states[:, -1:])  # of the others nobody asks
        else:
            logits, state = self.network.read(ids.to(device))
        seen = ids.new_zeros(len(ids), self.room or 0)
        if self.room:
            seen[:, : ids.size(1)] = ids
        return Going(state, seen, ids.size(1), logits[:, -1].log_softmax(dim=-1))

    def step(self, going: Going, tokens: Tensor) -> tuple[Tensor, Going]:
        log_probs, going = self._next(going, tokens)
        if not self.ends:
            log_probs = log_probs.index_fill(
                1, torch.tensor([STOP]).to(log_probs.device), -torch.inf
            )
        return log_probs, going

    def _next(self, going: Going, tokens: Tensor) -> tuple[Tensor, Going]:
        """What decoding hands in first is no token of the text: the beginning says what follows."""
        if going.next is not None:
            return going.next, replace(going, next=None)
        if self.room and going.length == self.room:
            kept = going.seen[:, self.room - self.room // 2 :]
            again = self._read(torch.cat([kept, tokens[:, None]], dim=1)[:, -self.room :])
            assert again.next is not None
            return again.next, replace(again, next=None)
        if self.room:
            going.seen[:, going.length] = tokens
        log_probs, state = self.network.step(going.state, tokens)
        return log_probs, replace(going, state=state, length=going.length + 1)

    def reorder(self, going: Going, rows: Tensor) -> Going:
        known = None if going.next is None else going.next[rows]
        state = self.network.reorder(going.state, rows)
        return Going(state, going.seen[rows], going.length, known)
