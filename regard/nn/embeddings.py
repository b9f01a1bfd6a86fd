"""Token ids to vectors, and back to scores over the vocabulary, mostly with the same table.

B batch   T positions   E model width   V vocabulary
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from regard.errors import ShapeError

VOCABULARY = 1 << 31  # more ids than there ever are, so that each pair has a number of its own
GOLDEN = -7046029254386353131  # 2^64 over the golden ratio, as a signed number (Knuth, 6.4)


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
    do without. `pairs` and `spelling`: rows of tables of pairs, and of runs of letters, which are
    added; 0: none. `tied`: whether the table is scored with too, or another one is."""

    def __init__(
        self,
        vocabulary: int,
        width: int,
        *,
        scaled: bool = True,
        pairs: int = 0,
        spelling: int = 0,
        tied: bool = True,
    ) -> None:
        super().__init__()
        self.table = nn.Embedding(vocabulary, width)
        self.scale = width**0.5 if scaled else 1.0
        self.pairs = PairTable(pairs, width) if pairs else None
        self.spelling = SpellingTable(spelling, width) if spelling else None
        # A table, no nn.Linear: it begins as the other one does, and Muon leaves both alone.
        self.judge = None if tied else nn.Embedding(vocabulary, width)

    def forward(self, ids: Tensor, spelling: Tensor | None = None) -> Tensor:
        """(B, T), and the runs of letters of each token (B, T, K) or None -> (B, T, E)"""
        try:
            found: Tensor = self.table(ids)
        except (IndexError, RuntimeError):  # only now, since looking at every id costs time
            require_ids(ids, self.table.num_embeddings)
            raise
        found = found * self.scale if self.scale != 1 else found
        if self.spelling is not None and spelling is not None:
            found = found + self.spelling(spelling)
        return found if self.pairs is None else found + self.pairs(ids)

    def scores(self, x: Tensor) -> Tensor:
        """(B, T, E) -> logits (B, T, V)"""
        return F.linear(x, (self.judge or self.table).weight)


class PairTable(nn.Module):
    """A vector for each token and the one before it. Pairs find their row by a hash, so that a
    table of any size will do, and those that meet in a row share it (Joulin et al. 2017, 2.1). All
    begin with zeros: what was never met adds nothing."""

    def __init__(self, rows: int, width: int) -> None:
        super().__init__()
        self.vectors = nn.Parameter(torch.zeros(rows, width))

    def forward(self, ids: Tensor) -> Tensor:
        """(B, T) -> (B, T, E)"""
        before = F.pad(ids, (1, 0))[:, :-1]  # nothing, 0, stands before the first
        return F.embedding(pair_rows(before, ids, len(self.vectors)), self.vectors)


class SpellingTable(nn.Module):
    """The sum of the vectors of a token's runs of letters, as long as one of them is on average.
    Row 0 stands for none."""

    def __init__(self, rows: int, width: int) -> None:
        super().__init__()
        self.table = nn.Embedding(1 + rows, width)

    def forward(self, spelling: Tensor) -> Tensor:
        """(B, T, K) numbers of runs, 0 behind the last -> (B, T, E)"""
        flat = spelling.flatten(0, 1)  # (B T, K)
        found = F.embedding_bag(flat, self.table.weight, mode="sum", padding_idx=0)
        runs = (flat > 0).sum(dim=1, keepdim=True).clamp(min=1)
        return (found / runs.to(found.dtype).sqrt()).unflatten(0, spelling.shape[:2])


def pair_rows(before: Tensor, ids: Tensor, rows: int) -> Tensor:
    """Token ids -> whole numbers below `rows`, of the same shape. Of a pair's number times another
    one the upper half is well mixed, so that any number of rows is filled evenly."""
    mixed = (before.long() * VOCABULARY + ids) * GOLDEN  # modulo 2^64
    return (mixed >> 32 & 0xFFFFFFFF) % rows
