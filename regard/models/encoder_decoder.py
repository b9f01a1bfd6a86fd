"""The Transformer of Vaswani et al. 2017: an encoder reads, a decoder writes and looks back.

B batch   S source positions   T target positions   E model width   V vocabulary
"""

from dataclasses import dataclass
from typing import cast

import torch
from torch import Tensor, nn

from regard.config import TransformerSettings
from regard.errors import ShapeError
from regard.nn.block import NORMS, Block
from regard.nn.cache import KeyValues
from regard.nn.embeddings import TokenEmbedding
from regard.nn.init import init_weights
from regard.nn.mask import Mask
from regard.nn.padding import padded
from regard.nn.positions import POSITIONS


@dataclass(frozen=True)
class Source:
    """A batch to read. `lengths` is None when no row is padded: then no mask is needed."""

    ids: Tensor  # (B, S)
    lengths: Tensor | None = None  # (B,)

    @classmethod
    def of(cls, rows: list[list[int]], device: torch.device) -> "Source":
        lengths = torch.tensor([len(row) for row in rows], device=device)
        uneven = len({len(row) for row in rows}) > 1
        return cls(padded(rows).to(device), lengths if uneven else None)

    @property
    def mask(self) -> Mask | None:
        return None if self.lengths is None else Mask(lengths=self.lengths)


class Stack(nn.Module):
    """Embedding, positions, blocks and (when norms come first) a last norm."""

    def __init__(self, s: TransformerSettings, embed: TokenEmbedding, layers: int, cross: bool):
        super().__init__()
        self.embed, self.max_length = embed, s.max_length
        self.positions = POSITIONS[s.positions](s)
        blocks = nn.ModuleList(Block(s, cross=cross) for _ in range(layers))
        self.blocks = cast(list[Block], blocks)
        self.norm = NORMS[s.norm](s.width) if s.norm_place == "pre" else nn.Identity()
        self.dropout = nn.Dropout(s.dropout)

    def begin(self, ids: Tensor, start: int = 0) -> Tensor:
        """(B, T) -> (B, T, E), positions in place."""
        if start + ids.size(1) > self.max_length:
            raise ShapeError(
                f"a sequence of {start + ids.size(1)} tokens is longer than this model's "
                f"max_length of {self.max_length}: shorten it or train with a larger max_length."
            )
        return self.dropout(self.positions.add(self.embed(ids), start))


class Encoder(Stack):
    def __init__(self, s: TransformerSettings, embed: TokenEmbedding) -> None:
        super().__init__(s, embed, s.encoder_layers, cross=False)

    def forward(self, source: Source) -> Tensor:
        """-> memory (B, S, E)"""
        x = self.begin(source.ids)
        for block in self.blocks:
            x = block(x, source.mask, self.positions.turn)
        return self.norm(x)


@dataclass(frozen=True)
class DecoderState:
    """Between two steps of decoding: what the source said and what was written so far."""

    seen: list[tuple[Tensor, Tensor]]  # each layer's keys and values of the source
    seen_mask: Mask | None
    past: list[KeyValues]  # each layer's keys and values of the target


class Decoder(Stack):
    def __init__(self, s: TransformerSettings, embed: TokenEmbedding) -> None:
        super().__init__(s, embed, s.decoder_layers, cross=True)

    def read(self, memory: Tensor, mask: Mask | None) -> DecoderState:
        seen = [block.cross.keys_values(memory) for block in self.blocks if block.cross]
        return DecoderState(seen, mask, [KeyValues() for _ in self.blocks])

    def forward(self, ids: Tensor, state: DecoderState, *, remember: bool = False) -> Tensor:
        """Target ids (B, T) -> logits (B, T, V). With `remember`, ids holds only the positions
        after those already in `state`, and they are added to it."""
        start = state.past[0].length if remember else 0
        x = self.begin(ids, start)
        for block, seen, past in zip(self.blocks, state.seen, state.past, strict=True):
            x = block(
                x,
                Mask(causal=True),
                self.positions.turn,
                past=past if remember else None,
                seen=seen,
                seen_mask=state.seen_mask,
            )
        return self.embed.scores(self.norm(x))


class EncoderDecoder(nn.Module):
    """source ids, target ids -> logits. Source and target share one embedding table when
    `source_vocabulary` is None; the output always shares the target's."""

    def __init__(
        self, settings: TransformerSettings, source_vocabulary: int | None, vocabulary: int
    ) -> None:
        super().__init__()
        target = TokenEmbedding(vocabulary, settings.width)
        own = TokenEmbedding(source_vocabulary, settings.width) if source_vocabulary else target
        self.encoder = Encoder(settings, own)
        self.decoder = Decoder(settings, target)
        self.apply(init_weights)

    def forward(self, source: Source, target: Tensor) -> Tensor:
        """Teacher forcing: target ids (B, T) from START on -> logits (B, T, V) of what follows.
        Padding behind the target needs no mask: the causal one already hides it."""
        return self.decoder(target, self.start(source))

    # The three methods that decode/ asks for.

    def start(self, source: Source) -> DecoderState:
        return self.decoder.read(self.encoder(source), source.mask)

    def step(self, state: DecoderState, tokens: Tensor) -> tuple[Tensor, DecoderState]:
        """The newest token of each row (B,) -> log-probabilities (B, V) of the next."""
        ids = tokens.to(state.seen[0][0].device)[:, None]
        logits = self.decoder(ids, state, remember=True)[:, -1]
        return logits.log_softmax(dim=-1), state

    def reorder(self, state: DecoderState, rows: Tensor) -> DecoderState:
        mask = state.seen_mask
        if mask is not None and mask.lengths is not None:
            mask = Mask(lengths=mask.lengths[rows])
        seen = [(k[rows], v[rows]) for k, v in state.seen]
        return DecoderState(seen, mask, [past.select(rows) for past in state.past])
