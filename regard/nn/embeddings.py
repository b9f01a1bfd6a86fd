"""Token ids to vectors, and back to scores over the vocabulary with the same table.

B batch   T positions   E model width   V vocabulary
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from regard.errors import ShapeError


def one_hot(ids: Tensor, vocabulary: int) -> Tensor:
    """ids of any shape -> (..., V): a 1 at the place of the id, 0 elsewhere. Times a table it gives
    the row of that id, which is all that an embedding does.

    >>> one_hot(torch.tensor([2, 0]), 3).tolist()
    [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]
    """
    require_ids(ids, vocabulary)
    return F.one_hot(ids.long(), vocabulary).to(torch.get_default_dtype())


def require_ids(ids: Tensor, vocabulary: int) -> None:
    """A ShapeError names the first id that a table of this size does not hold."""
    if ids.dtype not in (torch.int64, torch.int32):
        raise ShapeError(f"token ids are whole numbers (torch.int64), found {ids.dtype}.")
    if ids.numel() and (int(ids.min()) < 0 or int(ids.max()) >= vocabulary):
        wrong = int(ids[(ids < 0) | (ids >= vocabulary)][0])
        raise ShapeError(
            f"token id {wrong} is outside the vocabulary of {vocabulary:,} (ids 0 to "
            f"{vocabulary - 1:,}): were the ids made by another tokenizer?"
        )


class TokenEmbedding(nn.Module):
    """A table of V vectors. Looked up it is scaled by sqrt(E), as in Vaswani et al. 2017, 3.4,
    so that a table small enough to score with is large enough to add positions to. BERT and GPT
    do without."""

    def __init__(self, vocabulary: int, width: int, *, scaled: bool = True) -> None:
        super().__init__()
        self.table = nn.Embedding(vocabulary, width)
        self.scale = width**0.5 if scaled else 1.0

    def forward(self, ids: Tensor) -> Tensor:
        """(B, T) -> (B, T, E)"""
        try:
            found: Tensor = self.table(ids)
        except (IndexError, RuntimeError):  # only now, since looking at every id costs time
            require_ids(ids, self.table.num_embeddings)
            raise
        return found * self.scale if self.scale != 1 else found

    def scores(self, x: Tensor) -> Tensor:
        """(B, T, E) -> logits (B, T, V)"""
        return F.linear(x, self.table.weight)
