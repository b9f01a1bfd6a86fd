"""The layer that thinks about each position by itself.

B batch   T positions   E model width   F width inside
"""

from collections.abc import Callable
from functools import partial

import torch.nn.functional as F
from torch import Tensor, nn

from regard.shapes import StackSettings

BENDS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": F.relu,
    "gelu": F.gelu,
    "gelu_tanh": partial(F.gelu, approximate="tanh"),  # Hendrycks & Gimpel 2016
}


class FeedForward(nn.Module):
    """relu, gelu, gelu_tanh: out(act(up(x))). swiglu (Shazeer 2020): out(silu(gate) * value), where
    one product makes both halves."""

    def __init__(self, s: StackSettings) -> None:
        super().__init__()
        self.activation = s.activation
        inside = s.width_of_feed
        self.up = nn.Linear(s.width, 2 * inside if s.activation == "swiglu" else inside, s.bias)
        self.out = nn.Linear(inside, s.width, s.bias)

    def forward(self, x: Tensor) -> Tensor:
        x = self.up(x)  # (B, T, F)
        if self.activation == "swiglu":
            gate, value = x.chunk(2, dim=-1)
            return self.out(F.silu(gate) * value)
        return self.out(BENDS[self.activation](x))
