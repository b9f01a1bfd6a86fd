"""Who may look at whom. One small value, one convention: True = may look.

B batch   T query positions   S key positions (queries are the last T of the S)
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from regard.errors import ShapeError


@dataclass(frozen=True, eq=False)
class Mask:
    """Rules that all hold at once; leave out what does not apply.

    >>> Mask(causal=True).draw(3, 3)[0, 0].int().tolist()
    [[1, 0, 0], [1, 1, 0], [1, 1, 1]]
    >>> Mask(causal=True, window=2).draw(2, 4)[0, 0].int().tolist()
    [[0, 1, 1, 0], [0, 0, 1, 1]]
    """

    causal: bool = False
    """A query sees its own position and those before it."""
    lengths: Tensor | None = None
    """(B,) real keys in each row; the keys from there on are padding and are not seen."""
    window: int | None = None
    """A query sees keys less than this many positions away."""
    blocks: Tensor | None = None
    """(B, S) a number for each position; a query sees only keys with its own number."""
    dense: Tensor | None = None
    """bool, broadcasts to (B, H, T, S): any other rule, written out."""

    def draw(self, T: int, S: int, device: torch.device | str = "cpu") -> Tensor:
        """The whole mask, bool (B or 1, H or 1, T, S)."""
        self._check(T, S)
        keys = torch.arange(S, device=device)
        back = keys[S - T :, None] - keys  # (T, S): how far back each key lies
        allowed = torch.ones(1, 1, T, S, dtype=torch.bool, device=device)
        if self.causal:
            allowed = allowed & (back >= 0)
        if self.window is not None:
            allowed = allowed & (back.abs() < self.window)
        if self.lengths is not None:
            allowed = allowed & (keys < self.lengths.to(device)[:, None])[:, None, None, :]
        if self.blocks is not None:
            own = self.blocks.to(device)
            allowed = allowed & (own[:, S - T :, None] == own[:, None, :])[:, None]
        return allowed if self.dense is None else allowed & self.dense.to(device)

    def _check(self, T: int, S: int) -> None:
        """A part that does not fit is named, instead of a broadcast nobody meant."""
        beside = self.causal or self.window is not None or self.blocks is not None
        if T > S and beside:
            raise ShapeError(
                f"mask: {T} queries have no place among {S} keys. With causal, window or blocks "
                "they are the last of them."
            )
        shapes = {"lengths": (1, "(B,)"), "blocks": (2, f"(B, {S})")}
        for name, (dims, wanted) in shapes.items():
            part: Tensor | None = getattr(self, name)
            if part is not None and (part.dim() != dims or (dims == 2 and part.size(1) != S)):
                raise ShapeError(f"mask: {name} has shape {tuple(part.shape)}, expected {wanted}.")
        if self.dense is None:
            return
        fits = self.dense.dim() <= 4 and all(
            have in (1, want)
            for have, want in zip(reversed(self.dense.shape), (S, T), strict=False)
        )
        if self.dense.dtype != torch.bool or not fits:
            raise ShapeError(
                f"mask: dense is {self.dense.dtype} of shape {tuple(self.dense.shape)}, expected "
                f"torch.bool that broadcasts to (B, H, {T}, {S}); True = may look."
            )

    def lower(self, T: int, S: int, device: torch.device) -> tuple[Tensor | None, bool]:
        """The cheapest equal form: (bool mask or None, may the kernel use its causal flag)."""
        self._check(T, S)
        only_causal = (
            self.window is None
            and self.lengths is None
            and self.blocks is None
            and self.dense is None
        )
        if only_causal and (not self.causal or T == 1):
            return None, False  # nothing to hide: the one query is the newest position
        if only_causal and T == S:
            return None, True
        if self.lengths is not None and (T == 1 or not self.causal) and self._only_lengths:
            seen = torch.arange(S, device=device) < self.lengths.to(device)[:, None]
            return seen[:, None, None, :], False  # one row serves every query
        return self.draw(T, S, device), False

    @property
    def _only_lengths(self) -> bool:
        return self.window is None and self.blocks is None and self.dense is None
