"""What every Transformer is made of: embeddings with positions, blocks, and a last norm.

B batch   T positions   E model width
"""

from typing import cast

from torch import Tensor, nn

from regard.errors import ShapeError
from regard.nn.block import Block
from regard.nn.dropout import Dropout
from regard.nn.embeddings import TokenEmbedding
from regard.nn.norms import norm_of
from regard.nn.positions import POSITIONS
from regard.shapes import StackSettings


class Stack(nn.Module):
    """`causal`: will its tokens see only those before them? `cross`: do they look at another
    sequence as well?"""

    def __init__(
        self,
        s: StackSettings,
        embed: TokenEmbedding,
        layers: int,
        *,
        causal: bool = False,
        cross: bool = False,
    ) -> None:
        super().__init__()
        self.embed, self.max_length, self.window = embed, s.max_length, s.window
        self.positions = POSITIONS[s.positions](s, causal=causal)
        self.embed_norm = norm_of(s) if s.embedding_norm else nn.Identity()
        blocks = nn.ModuleList(Block(s, cross=cross) for _ in range(layers))
        self.blocks = cast(list[Block], blocks)
        self.norm = norm_of(s) if s.norm_place == "pre" else nn.Identity()
        self.dropout = Dropout(s.dropout)

    def begin(
        self,
        ids: Tensor,
        start: int = 0,
        more: Tensor | None = None,
        spelling: Tensor | None = None,
    ) -> Tensor:
        """(B, T) -> (B, T, E), positions in place. `more` is added to the embeddings."""
        if start + ids.size(1) > self.max_length:
            raise ShapeError(
                f"a sequence of {start + ids.size(1)} tokens is longer than this model's "
                f"max_length of {self.max_length}: shorten it or train with a larger max_length."
            )
        x = self.embed(ids, spelling)
        x = x if more is None else x + more
        return self.dropout(self.embed_norm(self.positions.add(x, start)))

    def bias(self, x: Tensor, start: int = 0) -> Tensor | None:
        """What positions add to the scores (1, H, T, S) of x (B, T, E); all layers share it."""
        bias = self.positions.bias(x.size(1), start + x.size(1))
        return None if bias is None else bias.to(x.dtype)
