"""A linear judge beside a network: words and pairs of neighbours, whose weights are learned at once
by naive Bayes and SVM, as those of a bag are. A network generalises and a linear judge remembers;
together they do better than either (wide and deep: Cheng et al. 2016). Its features are the tokens,
and behind them the rows of pairs.

B batch   T positions   n texts   C classes   V vocabulary   F features
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor, nn

from regard.label_shapes import BagSettings
from regard.models.encoder import Source
from regard.models.judges import learn, strength
from regard.nn.embeddings import pair_rows

AT_ONCE = 256  # texts whose features are held at a time
JUDGE = BagSettings(judge="nbsvm")


class Wide(nn.Module):
    """`share` says how much it counts beside the network: nothing before that is settled. No step
    of a training moves its weights."""

    def __init__(self, rows: int, vocabulary: int, classes: int) -> None:
        super().__init__()
        self.rows, self.vocabulary = rows, vocabulary
        self.weights = nn.Parameter(torch.zeros(vocabulary + rows, classes), requires_grad=False)
        self.bias = nn.Parameter(torch.zeros(classes), requires_grad=False)
        self.share = nn.Parameter(torch.zeros(()), requires_grad=False)

    def forward(self, source: Source) -> Tensor:
        """-> scores (B, C): what the text has counts once, however often it is there"""
        features, first = self.features(source)
        found = F.embedding(features, self.weights)  # (B, 2T, C)
        return (found * first[..., None]).sum(dim=1) + self.bias

    def features(self, source: Source) -> tuple[Tensor, Tensor]:
        """Sorted feature numbers (B, 2T), and whether each is there for the first time (B, 2T)."""
        before = F.pad(source.ids, (1, 0))[:, :-1]
        pairs = self.vocabulary + pair_rows(before, source.ids, self.rows)
        found = torch.cat([source.ids, pairs], dim=1)
        if source.lengths is not None:
            real = torch.arange(source.ids.size(1), device=found.device) < source.lengths[:, None]
            found = found.masked_fill(~real.repeat(1, 2), -1)  # sorted, padding comes first
        found = found.sort(dim=1).values
        first = (found >= 0) & (found != F.pad(found, (1, 0), value=-1)[:, :-1])
        return found.clamp(min=0), first

    @torch.no_grad()
    def fit(
        self, texts: Sequence[list[int]], labels: NDArray[Any], *, balanced: bool = False
    ) -> None:
        """From token ids (n) and labels, class numbers (n,) or (n, C) of 0 and 1. Where all labels
        are alike there is nothing to learn. `balanced`: every class counts the same."""
        if not len(labels) or not (labels != labels[:1]).any():
            return
        rows = self._rows(texts)
        chosen = {"strength": strength(JUDGE, rows), "balanced": balanced}
        settings = JUDGE.model_copy(update=chosen)
        weight, bias = learn(settings, rows, labels, len(self.bias), len(self.weights))
        self.weights.copy_(torch.from_numpy(weight))
        self.bias.copy_(torch.from_numpy(bias))

    def _rows(self, texts: Sequence[list[int]]) -> Any:
        """(n, F) sparse"""
        from scipy.sparse import csr_array  # type: ignore[import-untyped]

        columns, counts = [], []
        for start in range(0, len(texts), AT_ONCE):
            features, first = self.features(Source.of(list(texts[start : start + AT_ONCE])))
            columns.append(features[first].numpy().astype(np.int32))
            counts.append(first.sum(dim=1).numpy())
        starts = np.concatenate([[0], np.cumsum(np.concatenate(counts))]).astype(np.int32)
        found = np.concatenate(columns)
        shape = (len(texts), len(self.weights))
        return csr_array((np.ones(len(found)), found, starts), shape=shape)
