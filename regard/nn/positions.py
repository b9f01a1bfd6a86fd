"""How a network knows the order of its tokens. One setting switches between the schemes: `add`
works on the embeddings (sinusoidal, learned), `turn` on queries and keys (rotary), `bias` on the
scores (relative, alibi).

B batch   H heads   T positions   S positions so far   E model width   D head width
"""

import math
from typing import Any

import torch
from torch import Tensor, nn

from regard.errors import ShapeError
from regard.shapes import StackSettings

BUCKETS, FARTHEST = 32, 128  # of relative positions, as in T5


class Positions(nn.Module):
    """No positions: without help, attention sees a bag of tokens. The other schemes extend this."""

    def __init__(self, s: StackSettings, *, causal: bool = False) -> None:
        super().__init__()

    def add(self, x: Tensor, start: int = 0) -> Tensor:
        """x (B, T, E), whose first position is `start`."""
        return x

    def turn(self, x: Tensor, start: int = 0) -> Tensor:
        """Queries or keys (B, heads, T, D), whose first position is `start`."""
        return x

    def bias(self, T: int, S: int) -> Tensor | None:
        """(1, H, T, S) to add to the scores of the last T positions against all S."""
        return None


class Sinusoidal(Positions):
    """PE(pos, 2i) = sin(pos / 10000^(2i/E)), PE(pos, 2i+1) = cos(same).
    Vaswani et al. 2017, 3.5."""

    table: Tensor

    def __init__(self, s: StackSettings, *, causal: bool = False) -> None:
        super().__init__(s, causal=causal)
        table = sinusoids(min(s.max_length, 512), s.width)
        self.register_buffer("table", table, persistent=False)

    def add(self, x: Tensor, start: int = 0) -> Tensor:
        end = start + x.size(1)
        if end > self.table.size(0):  # computed once, extended when a longer input comes
            self.table = sinusoids(2 * end, x.size(-1)).to(self.table)
        return x + self.table[start:end].to(x.dtype)


class Learned(Positions):
    """One trained vector for each position; there are `max_length` of them and no more."""

    def __init__(self, s: StackSettings, *, causal: bool = False) -> None:
        super().__init__(s, causal=causal)
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
    key match by their distance. Su et al. 2021, 3.2; pairs are (i, i + D/2). Stretched, positions
    lie closer together, so that more of them fit into angles met in training (Chen et al. 2023)."""

    cos: Tensor
    sin: Tensor

    def __init__(self, s: StackSettings, *, causal: bool = False) -> None:
        super().__init__(s, causal=causal)
        self.head_width, self.base, self.stretch = s.width_of_head, s.rotary_base, s.rotary_stretch
        for name, table in self._tables(min(s.max_length, 512)).items():
            self.register_buffer(name, table, persistent=False)

    def _tables(self, length: int) -> dict[str, Tensor]:
        angles = _angles(length, self.head_width, self.base) / self.stretch  # (length, D/2)
        return {
            "cos": angles.cos().repeat(1, 2),
            "sin": torch.cat([-angles.sin(), angles.sin()], dim=1),
        }

    def turn(self, x: Tensor, start: int = 0) -> Tensor:
        end = start + x.size(2)
        if end > self.cos.size(0):
            longer = self._tables(2 * end)
            self.cos, self.sin = longer["cos"].to(self.cos), longer["sin"].to(self.sin)
        cos, sin = self.cos[start:end].to(x.dtype), self.sin[start:end].to(x.dtype)
        turned: Tensor = Turned.apply(x, cos, sin)
        return turned


class Turned(torch.autograd.Function):
    """x (B, heads, T, D) by tables (T, D), in which the first half of `sin` has a minus. A gradient
    is turned back by the same angle: told so, torch saves a tenth of an attention layer's time."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        ctx.save_for_backward(cos, sin)
        left, right = x.chunk(2, dim=-1)
        return torch.cat([right, left], dim=-1).mul_(sin).addcmul_(x, cos)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None, None]:
        cos, sin = ctx.saved_tensors
        return Turned.apply(grad, cos, -sin), None, None


class Both(Sinusoidal, Rotary):
    """Sinusoidal embeddings and rotary queries and keys: where a token is, and how far off."""


class Relative(Positions):
    """A learned number for each head and each bucket of distances, shared by all layers: near
    distances have a bucket of their own, far ones share. Raffel et al. 2020, 2.1."""

    def __init__(self, s: StackSettings, *, causal: bool = False) -> None:
        super().__init__(s, causal=causal)
        self.causal = causal
        self.table = nn.Embedding(BUCKETS, s.heads)

    def bias(self, T: int, S: int) -> Tensor:
        away = _distances(T, S, self.table.weight.device)  # (T, S)
        return self.table(buckets(away, self.causal)).permute(2, 0, 1)[None]


def buckets(away: Tensor, causal: bool) -> Tensor:
    """The bucket of each distance (key minus query). Half of them are for one distance each, the
    others grow up to FARTHEST; keys that lie ahead have buckets of their own where they are seen.

    >>> buckets(torch.tensor([0, -1, -15, -16, -20, -500]), causal=True).tolist()
    [0, 1, 15, 16, 17, 31]
    >>> buckets(torch.tensor([0, -1, 1, 500]), causal=False).tolist()
    [0, 1, 17, 31]
    """
    several = BUCKETS if causal else BUCKETS // 2
    ahead = torch.zeros_like(away) if causal else (away > 0) * several
    far = (-away).clamp(min=0) if causal else away.abs()
    single = several // 2
    growth = (far.clamp(min=1) / single).log() / math.log(FARTHEST / single)
    shared = (single + growth * (several - single)).long().clamp(max=several - 1)
    return ahead + torch.where(far < single, far, shared)


class Alibi(Positions):
    """The farther a key, the lower its score, by a fixed slope that differs from head to head.
    Press et al. 2022, 3. Where keys lie ahead as well, distance counts both ways."""

    slopes: Tensor

    def __init__(self, s: StackSettings, *, causal: bool = False) -> None:
        super().__init__(s, causal=causal)
        self.register_buffer("slopes", slopes(s.heads), persistent=False)

    def bias(self, T: int, S: int) -> Tensor:
        away = _distances(T, S, self.slopes.device).abs()
        return (-self.slopes[:, None, None] * away)[None]


def slopes(heads: int) -> Tensor:
    """(heads,) in float64: 2^(-8/n), 2^(-16/n), ... for n = a power of two; the heads beyond it get
    every second slope of twice as many.

    >>> slopes(4).tolist(), slopes(3).tolist()
    ([0.25, 0.0625, 0.015625, 0.00390625], [0.0625, 0.00390625, 0.25])
    """
    power = 2 ** int(math.log2(heads))
    whole = [2.0 ** (-8 * (i + 1) / power) for i in range(power)]
    between = [2.0 ** (-4 * (2 * i + 1) / power) for i in range(heads - power)]
    return torch.tensor(whole + between, dtype=torch.float64)


def _distances(T: int, S: int, device: torch.device) -> Tensor:
    """(T, S): how far ahead of each of the last T positions each position lies."""
    places = torch.arange(S, device=device)
    return places - places[S - T :, None]


def sinusoids(length: int, width: int) -> Tensor:
    """(length, width) table, sines and cosines in turn.

    >>> [round(x, 4) for x in sinusoids(2, 512)[1, :4].tolist()]
    [0.8415, 0.5403, 0.8219, 0.5697]
    """
    angles = _angles(length, width)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)


def _angles(length: int, width: int, base: float = 10000.0) -> Tensor:
    """(length, width / 2) in float64, so that far positions stay exact when cast down."""
    rates = base ** (-torch.arange(0, width, 2, dtype=torch.float64) / width)
    return torch.arange(length, dtype=torch.float64)[:, None] * rates


POSITIONS: dict[str, type[Positions]] = {
    "none": Positions,
    "sinusoidal": Sinusoidal,
    "learned": Learned,
    "rotary": Rotary,
    "both": Both,
    "relative": Relative,
    "alibi": Alibi,
}
