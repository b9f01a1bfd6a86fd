"""Hidden words guessed from their neighbours: how two chapters teach a small encoder, BERT's way.

B sentences   T positions   E model width   V vocabulary
"""

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from regard.course.tiny import train
from regard.models.encoder import Encoder, Source
from regard.names import FIRST_PIECE, SPECIALS
from regard.shapes import EncoderSettings
from regard.tasks.task import Loss

CLS, MASK = FIRST_PIECE, FIRST_PIECE + 1
HIDDEN = 0.25  # share of the words that have to be guessed; half of them are not there at all,
SWAPPED, KEPT = 0.25, 0.25  # the others stand there wrong or right, so that no word is trusted


class MaskedWords(nn.Module):
    """An encoder over the words of some sentences, each with [CLS] in front."""

    def __init__(self, sentences: Sequence[str], *, width: int = 48, layers: int = 2) -> None:
        super().__init__()
        words = sorted({word for sentence in sentences for word in sentence.split()})
        self.words = [*SPECIALS, "[CLS]", "[MASK]", *words]
        self.ids = {word: number for number, word in enumerate(self.words)}
        longest = 1 + max(len(sentence.split()) for sentence in sentences)
        settings = EncoderSettings(
            width=width, heads=4, feed=2 * width, layers=layers, max_length=longest
        )
        self.encoder = Encoder.of(settings, len(self.words))

    def source(self, sentences: Sequence[str]) -> Source:
        rows = [[CLS, *(self.ids[word] for word in text.split())] for text in sentences]
        return Source.of(rows)

    def embedded(self, source: Source) -> Tensor:
        """(B, T, E): the same row of the table wherever a word stands."""
        return self.encoder.embed.table(source.ids)

    def forward(self, source: Source) -> Tensor:
        """(B, T, E): a vector for every word, that knows its sentence."""
        return self.encoder(source)

    def guesses(self, vectors: Tensor) -> Tensor:
        """(..., E) -> (..., V): a score for every word that could stand there."""
        return self.encoder.embed.scores(vectors)


def teach(
    network: MaskedWords,
    sentences: Sequence[str],
    dice: torch.Generator,
    *,
    steps: int,
    common: float = 1.0,
    batch: int = 64,
    rate: float = 3e-3,
) -> list[float]:
    """The loss of every step, a mean over guesses. Words that stand in more than this share of all
    sentences (`common`) are never hidden: to guess them says little about what a text is about."""
    spared = spare(network, sentences, common)

    def batch_of(step: int) -> list[str]:
        chosen = torch.randint(len(sentences), (batch,), generator=dice).tolist()
        return [sentences[number] for number in chosen]

    def loss_of(network: MaskedWords, batch: list[str]) -> Loss:
        source = network.source(batch)
        return _loss(network, source, *hide(source.ids, spared, dice))

    return train(network, batch_of, loss_of, steps=steps, rate=rate)


def spare(network: MaskedWords, sentences: Sequence[str], common: float) -> Tensor:
    """(V,) bool: what is never hidden, the specials and the commonest words."""
    counts = torch.zeros(len(network.words))
    for text in sentences:
        counts[[network.ids[word] for word in set(text.split())]] += 1
    spared = counts > common * len(sentences)
    spared[: MASK + 1] = True
    return spared


def hide(ids: Tensor, spared: Tensor, dice: torch.Generator) -> tuple[Tensor, Tensor]:
    """ids (B, T), spared (V,) -> which words are to be guessed, and what is shown: in their places
    stands [MASK], any word, or the word itself."""
    hidden = (torch.rand(ids.shape, generator=dice) < HIDDEN) & ~spared[ids]
    choice = torch.rand(ids.shape, generator=dice)
    other = torch.randint(MASK + 1, len(spared), ids.shape, generator=dice)
    shown = torch.where(choice < SWAPPED, other, MASK)
    shown = torch.where(choice > 1 - KEPT, ids, shown)
    return hidden, torch.where(hidden, shown, ids)


def _loss(network: MaskedWords, source: Source, hidden: Tensor, given: Tensor) -> Loss:
    """Each hidden word is guessed twice: from its own place, and from [CLS], which has nothing but
    the sentence to go by and so becomes a summary of it."""
    vectors = network(Source(given, source.lengths))
    wanted = source.ids[hidden]
    own = network.guesses(vectors[hidden])
    whole = network.guesses(vectors[:, :1].expand_as(vectors)[hidden])
    total = F.cross_entropy(torch.cat([own, whole]), wanted.repeat(2), reduction="sum")
    return Loss(total, 2 * len(wanted))
