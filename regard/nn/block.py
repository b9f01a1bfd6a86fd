"""One layer of a Transformer: attention, perhaps cross-attention, feed-forward, each with its
norm and a way around it.

B batch   T positions   E model width
"""

from collections.abc import Callable

from torch import Tensor, nn

from regard.nn.attention import CrossAttention, SelfAttention, Turn
from regard.nn.cache import KeyValues
from regard.nn.dropout import dropout
from regard.nn.feed_forward import FeedForward
from regard.nn.mask import Mask
from regard.nn.norms import norm_of
from regard.shapes import StackSettings


class Block(nn.Module):
    """pre:  x -> x + f(norm(x))      post:  x -> norm(x + f(x))      for each part f"""

    def __init__(self, s: StackSettings, *, cross: bool = False) -> None:
        super().__init__()
        self.pre, self.dropout = s.norm_place == "pre", s.dropout
        self.attention, self.norm = SelfAttention(s), norm_of(s)
        self.cross = CrossAttention(s) if cross else None
        self.cross_norm = norm_of(s) if cross else None
        self.feed, self.feed_norm = FeedForward(s), norm_of(s)

    def forward(
        self,
        x: Tensor,
        mask: Mask | None,
        turn: Turn,
        *,
        bias: Tensor | None = None,
        past: KeyValues | None = None,
        seen: tuple[Tensor, Tensor] | None = None,
        seen_mask: Mask | None = None,
    ) -> Tensor:
        """x (B, T, E) -> (B, T, E). `seen`: keys and values of the other sequence, for cross."""
        x = self._around(x, self.norm, lambda h: self.attention(h, mask, turn, bias, past))
        if self.cross is not None and self.cross_norm is not None:
            cross = self.cross
            x = self._around(x, self.cross_norm, lambda h: cross(h, seen, seen_mask))
        return self._around(x, self.feed_norm, self.feed)

    def _around(self, x: Tensor, norm: nn.Module, f: Callable[[Tensor], Tensor]) -> Tensor:
        if self.pre:
            return x + dropout(f(norm(x)), self.dropout, self.training)
        return norm(x + dropout(f(x), self.dropout, self.training))
