"""Token ids to vectors, and back to scores over the vocabulary with the same table.

B batch   T positions   E model width   V vocabulary
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from regard.errors import ShapeError


class TokenEmbedding(nn.Module):
    """A table of V vectors. Looked up it is scaled by sqrt(E), as in Vaswani et al. 2017, 3.4,
    so that a table small enough to score with is large enough to add positions to."""

    def __init__(self, vocabulary: int, width: int) -> None:
        super().__init__()
        self.table = nn.Embedding(vocabulary, width)
        self.scale = width**0.5

    def forward(self, ids: Tensor) -> Tensor:
        """(B, T) -> (B, T, E)"""
        if ids.dtype not in (torch.int64, torch.int32):
            raise ShapeError(f"token ids are whole numbers (torch.int64), found {ids.dtype}.")
        try:
            return self.table(ids) * self.scale
        except IndexError as error:
            raise ShapeError(
                f"token id {int(ids.max()) if int(ids.min()) >= 0 else int(ids.min())} is outside "
                f"the vocabulary of {self.table.num_embeddings} (ids 0 to "
                f"{self.table.num_embeddings - 1}): were the ids made by another tokenizer?"
            ) from error

    def scores(self, x: Tensor) -> Tensor:
        """(B, T, E) -> logits (B, T, V)"""
        return F.linear(x, self.table.weight)
