"""The Transformer encoder: every token sees all others, so each vector knows its context.

B batch   S source positions   E model width
"""

from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn

from regard.models.stack import Stack
from regard.nn.embeddings import TokenEmbedding
from regard.nn.init import init_weights
from regard.nn.mask import Mask
from regard.nn.padding import padded
from regard.shapes import EncoderSettings, StackSettings


@dataclass(frozen=True)
class Source:
    """A batch to read. `lengths` is None when no row is padded: then no mask is needed."""

    ids: Tensor  # (B, S)
    lengths: Tensor | None = None  # (B,)
    segments: Tensor | None = None  # (B, S): which part of the input each token belongs to
    spelling: Tensor | None = None  # (B, S, K): runs of letters of each token, see text/spelling.py

    @classmethod
    def of(cls, rows: list[list[int]], device: torch.device | str = "cpu") -> "Source":
        lengths = torch.tensor([len(row) for row in rows], device=device)
        uneven = len({len(row) for row in rows}) > 1
        return cls(padded(rows).to(device), lengths if uneven else None)

    @property
    def mask(self) -> Mask | None:
        return None if self.lengths is None else Mask(lengths=self.lengths)


class Encoder(Stack):
    def __init__(
        self, s: StackSettings, embed: TokenEmbedding, layers: int, segments: int = 0
    ) -> None:
        super().__init__(s, embed, layers)
        self.segments = nn.Embedding(segments, s.width) if segments else None

    @classmethod
    def of(
        cls, s: EncoderSettings, vocabulary: int, pairs: int = 0, spelling: int = 0
    ) -> "Encoder":
        """An encoder by itself, with a table of its own, and others of so many rows for pairs of
        tokens and for their letters."""
        scaled = s.embedding_scale
        embed = TokenEmbedding(vocabulary, s.width, scaled=scaled, pairs=pairs, spelling=spelling)
        encoder = cls(s, embed, s.layers, s.segments)
        encoder.apply(init_weights)
        return encoder

    def forward(self, source: Source) -> Tensor:
        """-> (B, S, E): a vector for every token, that knows its context"""
        more = self._segment_vectors(source)
        x = self.begin(source.ids, more=more, spelling=source.spelling)
        mask, bias = source.mask, self.bias(x)
        if self.window is not None:
            mask = replace(mask or Mask(), window=self.window)
        for block in self.blocks:
            x = block(x, mask, self.positions.turn, bias=bias)
        return self.norm(x)

    def _segment_vectors(self, source: Source) -> Tensor | None:
        if self.segments is None:
            return None
        ids = torch.zeros_like(source.ids) if source.segments is None else source.segments
        return self.segments(ids)
