"""The Transformer decoder: a token sees those before it, and the next one is predicted. By itself
it is GPT; with cross-attention it is the half of an encoder-decoder that writes.

B batch   T target positions   S source positions   E model width   V vocabulary
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from regard.models.encoder import Source
from regard.models.stack import Stack
from regard.nn.cache import KeyValues
from regard.nn.copy import Copy
from regard.nn.embeddings import TokenEmbedding
from regard.nn.init import init_weights
from regard.nn.mask import Mask
from regard.shapes import DecoderSettings, EncoderSettings, StackSettings

ROOM = 16  # tokens that a memory holds at first; it doubles when it runs out
Seen = tuple[Tensor, Tensor]  # keys and values of a source


@dataclass(frozen=True)
class DecoderState:
    """Between two steps of decoding: what the source said and what was written so far."""

    seen: Sequence[Seen | None]  # each layer's keys and values of the source
    seen_mask: Mask | None
    past: list[KeyValues]  # each layer's keys and values of the target
    copied: Seen | None = None  # to copy from: what was read, made ready, and its tokens
    origins: Tensor | None = None  # (B,) the source that each row writes about

    def select(self, rows: Tensor) -> "DecoderState":
        """The same for other rows of the batch: some dropped, some repeated."""
        past = [one.select(rows) for one in self.past]
        if self.origins is None or torch.equal(self.origins[rows], self.origins):
            return replace(self, past=past)  # most steps of a beam: sources need not move
        mask = self.seen_mask
        if mask is not None and mask.lengths is not None:
            mask = replace(mask, lengths=mask.lengths[rows])
        *seen, copied = [_rows(one, rows) for one in (*self.seen, self.copied)]
        return DecoderState(seen, mask, past, copied, self.origins[rows])


def _rows(pair: Seen | None, rows: Tensor) -> Seen | None:
    return None if pair is None else (pair[0][rows], pair[1][rows])


class Decoder(Stack):
    def __init__(
        self,
        s: StackSettings,
        embed: TokenEmbedding,
        layers: int,
        *,
        cross: bool = False,
        copying: bool = False,
    ) -> None:
        super().__init__(s, embed, layers, causal=True, cross=cross)
        self.copy = Copy(s.width, s.width) if copying else None

    @classmethod
    def of(cls, s: DecoderSettings | EncoderSettings, vocabulary: int) -> "Decoder":
        """A decoder by itself; what goes in and what comes out share one table, if it is tied."""
        tied = s.tied if isinstance(s, DecoderSettings) else True  # who only reads needs no other
        embed = TokenEmbedding(vocabulary, s.width, scaled=s.embedding_scale, tied=tied)
        decoder = cls(s, embed, s.layers)
        decoder.apply(init_weights)
        return decoder

    def read(self, memory: Tensor, source: Source) -> DecoderState:
        """Begin to write about a source, of which an encoder made `memory` (B, S, E)."""
        seen = [block.cross.keys_values(memory) for block in self.blocks if block.cross]
        copied = (self.copy.ready(memory), source.ids) if self.copy else None
        origins = torch.arange(len(memory))
        return DecoderState(seen, source.mask, self._memories(), copied, origins)

    def start(self, room: int = ROOM) -> DecoderState:
        """Begin to write about nothing in particular, up to `room` tokens without more memory."""
        return DecoderState([None] * len(self.blocks), None, self._memories(room))

    def _memories(self, room: int = ROOM) -> list[KeyValues]:
        return [KeyValues(room) for _ in self.blocks]

    def forward(
        self,
        ids: Tensor,
        state: DecoderState | None = None,
        *,
        remember: bool = False,
        texts: Tensor | None = None,
    ) -> Tensor:
        """Target ids (B, T) -> logits (B, T, V); where it may copy, log-probabilities. With
        `remember`, ids holds only the positions after those already in `state`, and they are added
        to it. `texts` (B, T): the number of the text each token belongs to, where a row holds
        several; none sees another."""
        state = state or self.start()
        x = self.states(ids, state, remember=remember, texts=texts)
        scores = self.embed.scores(x)
        if self.copy is None or state.copied is None:
            return scores
        lengths = None if state.seen_mask is None else state.seen_mask.lengths
        return self.copy(x, scores, *state.copied, lengths)

    def states(
        self,
        ids: Tensor,
        state: DecoderState | None = None,
        *,
        remember: bool = False,
        texts: Tensor | None = None,
    ) -> Tensor:
        """The same up to a vector for every token (B, T, E), which knows all before it."""
        state = state or self.start()
        start = state.past[0].length if remember else 0
        x = self.begin(ids, start)
        mask = Mask(causal=True, window=self.window, blocks=texts)
        bias = self.bias(x, start)
        for block, seen, past in zip(self.blocks, state.seen, state.past, strict=True):
            x = block(
                x,
                mask,
                self.positions.turn,
                bias=bias,
                past=past if remember else None,
                seen=seen,
                seen_mask=state.seen_mask,
            )
        return self.norm(x)

    def step(self, state: DecoderState, tokens: Tensor) -> tuple[Tensor, DecoderState]:
        """The newest token of each row (B,) -> log-probabilities (B, V) of the next."""
        ids = tokens.to(self.embed.table.weight.device)[:, None]
        return self(ids, state, remember=True)[:, -1].log_softmax(dim=-1), state

    def reorder(self, state: DecoderState, rows: Tensor) -> DecoderState:
        return state.select(rows)
