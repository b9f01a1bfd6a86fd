"""Many vectors become one: what a whole text means, out of what its tokens mean.

B batch   T positions   E model width
"""

import torch
from torch import Tensor

from regard.errors import ShapeError
from regard.nn.padding import require_lengths


def pool(x: Tensor, how: str, lengths: Tensor | None = None) -> Tensor:
    """x (B, T, E) -> (B, E). how: "mean" or "max" over the real positions, "first", the place of
    [CLS], or "last". `lengths` (B,): real positions of each row; a row without any becomes zeros.

    >>> x = torch.tensor([[[1.0], [3.0], [99.0]]])
    >>> [pool(x, how, torch.tensor([2])).item() for how in ("mean", "max", "first", "last")]
    [2.0, 3.0, 1.0, 3.0]
    """
    if how not in ("mean", "max", "first", "last"):
        raise ShapeError(f'pool: "mean", "max", "first" or "last", found "{how}".')
    if lengths is None:
        lengths = torch.full((x.size(0),), x.size(1), device=x.device)
    require_lengths(lengths, x.size(0), x.size(1))
    if not x.size(1):
        return x.new_zeros(x.size(0), x.size(2))
    lengths = lengths.to(x.device)
    real = (torch.arange(x.size(1), device=x.device) < lengths[:, None])[..., None]  # (B, T, 1)
    if how == "first":
        return x.masked_fill(~real, 0.0)[:, 0]
    if how == "last":
        places = (lengths - 1).clamp(min=0)
        return x.masked_fill(~real, 0.0)[torch.arange(x.size(0), device=x.device), places]
    if how == "mean":
        return x.masked_fill(~real, 0.0).sum(dim=1) / lengths.clamp(min=1)[:, None]
    highest = x.masked_fill(~real, -torch.inf).amax(dim=1)
    return highest.masked_fill((lengths == 0)[:, None], 0.0)
