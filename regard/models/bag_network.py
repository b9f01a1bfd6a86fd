"""The judge of a bag of words as a network, so that it is saved, loaded and proved like any other:
one row of numbers for each gram, summed up.

B texts   N grams of a text   F grams that are known   C classes
"""

import torch
from torch import Tensor, nn

from regard.models.encoder import Source


class BagNetwork(nn.Module):
    """In float64: it answers exactly as scikit-learn does."""

    def __init__(self, features: int, classes: int) -> None:
        super().__init__()
        self.weights = nn.Parameter(torch.zeros(features, classes, dtype=torch.float64))
        self.intercept = nn.Parameter(torch.zeros(classes, dtype=torch.float64))

    def forward(self, source: Source, values: Tensor | None = None) -> Tensor:
        """Numbers of grams (B, N), and what each counts (B, N), 1 by default -> scores (B, C)"""
        rows = self.weights[source.ids]  # (B, N, C)
        if source.lengths is not None:
            real = torch.arange(rows.size(1), device=rows.device) < source.lengths[:, None]
            rows = rows.masked_fill(~real[..., None], 0.0)
        if values is not None:
            rows = rows * values[..., None]
        return rows.sum(dim=1) + self.intercept
