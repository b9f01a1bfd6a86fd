"""How a network knows the order of its tokens. One setting switches between the schemes:
`add` works on the embeddings (sinusoidal, learned), `turn` on queries and keys (rotary).

B batch   T positions   E model width   D head width
"""

import torch
from torch import Tensor, nn

from regard.config import TransformerSettings
from regard.errors import ShapeError


class Positions(nn.Module):
    """No positions: without help, attention sees a bag of tokens. The other schemes extend this."""

    def __init__(self, s: TransformerSettings) -> None:
        super().__init__()

    def add(self, x: Tensor, start: int = 0) -> Tensor:
        """x (B, T, E), whose first position is `start`."""
        return x

    def turn(self, x: Tensor, start: int = 0) -> Tensor:
        """Queries or keys (B, heads, T, D), whose first position is `start`."""
        return x


class Sinusoidal(Positions):
    """PE(pos, 2i) = sin(pos / 10000^(2i/E)), PE(pos, 2i+1) = cos(same).
    Vaswani et al. 2017, 3.5."""

    table: Tensor

    def __init__(self, s: TransformerSettings) -> None:
        super().__init__(s)
        table = sinusoids(min(s.max_length, 512), s.width)
        self.register_buffer("table", table, persistent=False)

    def add(self, x: Tensor, start: int = 0) -> Tensor:
        end = start + x.size(1)
        if end > self.table.size(0):  # computed once, extended when a longer input comes
            self.table = sinusoids(2 * end, x.size(-1)).to(self.table)
        return x + self.table[start:end].to(x.dtype)


class Learned(Positions):
    """One trained vector for each position; there are `max_length` of them and no more."""

    def __init__(self, s: TransformerSettings) -> None:
        super().__init__(s)
        self.table = nn.Parameter(torch.randn(s.max_length, s.width) * 0.02)

    def add(self, x: Tensor, start: int = 0) -> Tensor:
        end = start + x.size(1)
        if end > self.table.size(0):
            raise ShapeError(
                f"position {end - 1} asked for, but learned positions end at "
                f"{self.table.size(0) - 1}: shorten the input or train with a larger max_length."
            )
        return x + self.table[start:end]


class Rotary(Positions):
    """Turn each pair of features by an angle that grows with the position, so that a query and a
    key match by their distance. Su et al. 2021, 3.2; pairs are (i, i + D/2)."""

    cos: Tensor
    sin: Tensor

    def __init__(self, s: TransformerSettings) -> None:
        super().__init__(s)
        self.head_width = s.width_of_head
        for name, table in self._tables(min(s.max_length, 512)).items():
            self.register_buffer(name, table, persistent=False)

    def _tables(self, length: int) -> dict[str, Tensor]:
        angles = _angles(length, self.head_width)  # (length, D/2)
        return {"cos": angles.cos().repeat(1, 2), "sin": angles.sin().repeat(1, 2)}

    def turn(self, x: Tensor, start: int = 0) -> Tensor:
        end = start + x.size(2)
        if end > self.cos.size(0):
            longer = self._tables(2 * end)
            self.cos, self.sin = longer["cos"].to(self.cos), longer["sin"].to(self.sin)
        cos, sin = self.cos[start:end].to(x.dtype), self.sin[start:end].to(x.dtype)
        left, right = x.chunk(2, dim=-1)
        return x * cos + torch.cat([-right, left], dim=-1) * sin


class Both(Sinusoidal, Rotary):
    """Sinusoidal embeddings and rotary queries and keys: where a token is, and how far off."""


def sinusoids(length: int, width: int) -> Tensor:
    """(length, width) table, sines and cosines in turn.

    >>> [round(x, 4) for x in sinusoids(2, 512)[1, :4].tolist()]
    [0.8415, 0.5403, 0.8219, 0.5697]
    """
    angles = _angles(length, width)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)


def _angles(length: int, width: int) -> Tensor:
    """(length, width / 2) in float64, so that far positions stay exact when cast down."""
    rates = 10000.0 ** (-torch.arange(0, width, 2, dtype=torch.float64) / width)
    return torch.arange(length, dtype=torch.float64)[:, None] * rates


POSITIONS: dict[str, type[Positions]] = {
    "none": Positions,
    "sinusoidal": Sinusoidal,
    "learned": Learned,
    "rotary": Rotary,
    "both": Both,
}
