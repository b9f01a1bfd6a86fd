"""Rows of different length as one tensor."""

from itertools import chain

import torch
from torch import Tensor

from regard.errors import ShapeError
from regard.names import PAD


def padded(rows: list[list[int]]) -> Tensor:
    """(B, longest), PAD behind the short ones.

    >>> padded([[7, 8, 9], [5]]).tolist()
    [[7, 8, 9], [5, 0, 0]]
    """
    _require_ids(rows)
    longest = max(map(len, rows))
    return torch.tensor([row + [PAD] * (longest - len(row)) for row in rows])


def boxed(rows: list[list[tuple[int, ...]]]) -> Tensor:
    """Several numbers at each position: (B, longest, most), 0 behind the short ones.

    >>> boxed([[(7, 8), (9,)], [(5,)]]).tolist()
    [[[7, 8], [9, 0]], [[5, 0], [0, 0]]]
    """
    longest = max(map(len, rows))
    most = max((len(numbers) for row in rows for numbers in row), default=0)
    return torch.tensor(
        [
            [[*numbers, *[0] * (most - len(numbers))] for numbers in row]
            + [[0] * most] * (longest - len(row))
            for row in rows
        ]
    )


def require_lengths(lengths: Tensor, B: int, T: int) -> None:
    """A ShapeError where lengths are not those of B rows, each of at most T positions."""
    if lengths.shape != (B,):
        raise ShapeError(f"lengths has shape {tuple(lengths.shape)}, expected ({B},): one a row.")
    if B and (int(lengths.max()) > T or int(lengths.min()) < 0):
        raise ShapeError(
            f"lengths from {int(lengths.min())} to {int(lengths.max())} do not fit an input "
            f"of {T} positions."
        )


def _require_ids(rows: list[list[int]]) -> None:
    """torch would take True for 1, and 1.5 for the type of all."""
    if not set(map(type, chain.from_iterable(rows))) <= {int}:
        odd = next(i for i in chain.from_iterable(rows) if type(i) is not int)
        raise ShapeError(f"{odd!r} is not a token id but a {type(odd).__name__}: ids are ints.")
    if (most := max(map(max, filter(None, rows)), default=0)) >= 2**63:
        raise ShapeError(f"there is no token id {most}: it is larger than any vocabulary.")
