"""Rows of different length as one tensor."""

import torch
from torch import Tensor

from regard.names import PAD


def padded(rows: list[list[int]]) -> Tensor:
    """(B, longest), PAD behind the short ones.

    >>> padded([[7, 8, 9], [5]]).tolist()
    [[7, 8, 9], [5, 0, 0]]
    """
    longest = max(map(len, rows))
    return torch.tensor([row + [PAD] * (longest - len(row)) for row in rows])
