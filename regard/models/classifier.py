"""What is this text? A network reads it, one vector stands for all of it, and that one is judged.

B batch   T positions   E width of what stands for a text   C classes
"""

from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

from regard.label_shapes import MeanSettings, ReadingRnnSettings, ReadingStackSettings
from regard.models.decoder import Decoder
from regard.models.encoder import Encoder, Source
from regard.models.wide import Wide
from regard.names import FIRST_PIECE, PAD, UNKNOWN
from regard.nn.dropout import Dropout
from regard.nn.embeddings import TokenEmbedding
from regard.nn.init import init_weights
from regard.nn.pooling import pool
from regard.nn.recurrent import Recurrent

ReadingSettings = MeanSettings | ReadingRnnSettings | ReadingStackSettings


def embedding_of(s: MeanSettings | ReadingRnnSettings, vocabulary: int) -> TokenEmbedding:
    return TokenEmbedding(vocabulary, s.width, scaled=False, pairs=s.pairs, spelling=s.spelling)


class MeanReader(nn.Module):
    """A vector for every token, whatever else stands in the text."""

    def __init__(self, s: MeanSettings, vocabulary: int) -> None:
        super().__init__()
        self.embed = embedding_of(s, vocabulary)
        self.apply(init_weights)

    def forward(self, source: Source) -> tuple[Tensor, Tensor]:
        """-> vectors (B, T, E), and the mean of each row's (B, E)"""
        x = self.embed(source.ids, source.spelling)
        return x, pool(x, "mean", source.lengths)


class RnnReader(nn.Module):
    def __init__(self, s: ReadingRnnSettings, vocabulary: int) -> None:
        super().__init__()
        self.pooling = s.pooling
        self.embed = embedding_of(s, vocabulary)
        self.reader = Recurrent(s, s.width)
        self.drop = Dropout(s.dropout)
        self.embed.apply(init_weights)  # the cells begin as torch has them

    def forward(self, source: Source) -> tuple[Tensor, Tensor]:
        x, state = self.reader(self.drop(self.embed(source.ids, source.spelling)), source.lengths)
        if self.pooling == "last":
            return x, self.reader.last(state)
        return x, pool(x, self.pooling, source.lengths)


class StackReader(nn.Module):
    """A Transformer: an encoder, or a decoder, of which each token knows only those before it."""

    def __init__(self, s: ReadingStackSettings, vocabulary: int) -> None:
        super().__init__()
        self.pooling = s.pooling
        stack = (
            Decoder.of(s, vocabulary)
            if s.causal
            else Encoder.of(s, vocabulary, s.pairs, s.spelling)
        )
        self.stack: Any = stack

    def forward(self, source: Source) -> tuple[Tensor, Tensor]:
        """Padding behind a text is not seen from it: the mask of an encoder hides it, and in a
        decoder nothing looks ahead."""
        causal = isinstance(self.stack, Decoder)
        x = self.stack.states(source.ids) if causal else self.stack(source)
        return x, pool(x, self.pooling, source.lengths)


READERS: dict[type[Any], Any] = {
    MeanSettings: MeanReader,
    ReadingRnnSettings: RnnReader,
    ReadingStackSettings: StackReader,
}


class WordDropout(nn.Module):
    """While training, a share p of the tokens is taken for unknown."""

    def __init__(self, p: float) -> None:
        super().__init__()
        self.p = p

    def forward(self, source: Source) -> Source:
        if not self.training or self.p == 0:
            return source
        return replace(source, ids=source.ids.masked_fill(some(source.ids, self.p), UNKNOWN))


class Skipping(nn.Module):
    """While training, a share p of the tokens is left out, in runs of so many."""

    def __init__(self, p: float, run: int = 1) -> None:
        super().__init__()
        self.p, self.run = p, run

    def forward(self, source: Source) -> Source:
        if not self.training or self.p == 0:
            return source
        return without(source, some(source.ids, self.p, self.run))


def some(ids: Tensor, share: float, run: int = 1) -> Tensor:
    """(B, T) True at a share of the tokens; marks and padding are never among them. Each row is
    cut into runs, the first of which begins anywhere within it, and a run is taken as a whole."""
    (B, T), device = ids.shape, ids.device
    begun = torch.randint(run, (B, 1), device=device) if run > 1 else 0
    runs = (torch.arange(T, device=device).expand(B, T) + begun) // run  # the run that each is in
    taken = torch.rand(B, (T + run - 2) // run + 1, device=device) < share
    return taken.gather(1, runs) & (ids >= FIRST_PIECE)


def without(source: Source, gone: Tensor) -> Source:
    """The tokens that are not `gone` (B, T), moved together; what is longest says how many columns
    are left."""
    B, T = source.ids.shape
    whole = torch.full((B,), T, device=gone.device) if source.lengths is None else source.lengths
    lengths = whole - gone.sum(dim=1)
    order = gone.to(torch.uint8).argsort(dim=1, stable=True)[:, : int(lengths.max())]
    padding = torch.arange(order.size(1), device=gone.device) >= lengths[:, None]  # (B, T left)

    def moved(values: Tensor) -> Tensor:
        places, hidden = (x.view(*x.shape, *[1] * (values.dim() - 2)) for x in (order, padding))
        return values.gather(1, places.expand(-1, -1, *values.shape[2:])).masked_fill(hidden, PAD)

    segments = None if source.segments is None else moved(source.segments)
    spelling = None if source.spelling is None else moved(source.spelling)
    return Source(moved(source.ids), lengths, segments, spelling)


class Classifier(nn.Module):
    def __init__(self, s: ReadingSettings, vocabulary: int, classes: int) -> None:
        super().__init__()
        self.words = nn.Sequential(Skipping(s.skipping, s.skipped_run), WordDropout(s.word_dropout))
        self.body = READERS[type(s)](s, vocabulary)
        width = s.width_of_output if isinstance(s, ReadingRnnSettings) else s.width
        self.drop = Dropout(s.judge_dropout)
        self.judge = nn.Linear(width, classes)
        self.judge.apply(init_weights)
        self.wide = Wide(s.wide, vocabulary, classes) if s.wide else None

    def forward(self, source: Source) -> Tensor:
        """-> scores (B, C). The linear judge keeps quiet while the network learns: it knows the
        training texts by heart, and would leave nothing to be learned."""
        _, whole = self.body(self.words(source))
        scores: Tensor = self.judge(self.drop(whole))
        if self.wide is None or self.training:
            return scores
        return scores + self.wide.share * self.wide(source)
