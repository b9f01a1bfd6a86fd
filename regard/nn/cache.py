"""What a decoder remembers between steps, so that a step costs one position, not a re-run.

B batch   G key heads   T new positions   S positions so far   D head width
"""

import torch
from torch import Tensor


class KeyValues:
    """The keys and values one attention layer has seen. Room doubles when it runs out."""

    def __init__(self, room: int = 16) -> None:
        self.length = 0
        self._room = room
        self._keys: Tensor | None = None  # (B, G, room, D), filled up to `length`
        self._values: Tensor | None = None

    def append(self, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """Add (B, G, T, D) new positions; return all (B, G, S, D) of them."""
        new = self.length + k.size(2)
        self._keys, self._values = self._fit(self._keys, k, new), self._fit(self._values, v, new)
        self._keys[:, :, self.length : new] = k
        self._values[:, :, self.length : new] = v
        self.length = new
        return self._keys[:, :, :new], self._values[:, :, :new]

    def select(self, rows: Tensor) -> "KeyValues":
        """The same memory for other rows of the batch: some dropped, some repeated."""
        chosen = KeyValues(self._room)
        if self._keys is not None and self._values is not None:
            # With the empty room: whole rows are copied in one piece, and nothing after them.
            chosen._keys, chosen._values = self._keys[rows], self._values[rows]
            chosen.length = self.length
        return chosen

    def _fit(self, old: Tensor | None, like: Tensor, length: int) -> Tensor:
        if old is not None and old.size(2) >= length:
            return old
        while self._room < length:
            self._room *= 2
        B, G, _, D = like.shape
        grown = like.new_zeros(B, G, self._room, D)
        return grown if old is None else torch.cat([old, grown[:, :, old.size(2) :]], dim=2)
