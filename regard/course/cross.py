"""Cross-attention: one sequence looks at another of any length."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from regard.config import DecodeSettings
from regard.course.draw import COLOURS, bars, heat, label, panels
from regard.course.french import ENGLISH, FRAMES, FRENCH, KINDS, PHRASES, Phrase, phrase
from regard.course.lesson import Drawing, Lesson, Number, Table
from regard.course.tiny import repeatable, train
from regard.decode.search import decode
from regard.lens.capture import capture
from regard.models.encoder import Source
from regard.models.encoder_decoder import EncoderDecoder
from regard.names import PAD, START, STOP
from regard.nn.attention import CrossAttention
from regard.nn.mask import Mask
from regard.nn.padding import padded
from regard.shapes import StackSettings, TransformerSettings
from regard.tasks.task import Loss

TITLE = "One sequence looks at another of any length"
IDEA = """
A decoder that translates has two texts before it: what it has written so far, and the source. It
looks at its own text by self-attention and at the source by cross-attention. The three steps are
the same; only the queries come from one sequence, the keys and values from the other.

So the weights are no longer a square. Five English words over seven French ones give five rows of
seven weights, each row a sum of 1. Any length goes with any other, since every query is answered
by itself.

When the model has learned to translate, the rows often show which source word stands behind each
written word, and that it may stand elsewhere: "the red car" is "la voiture rouge", the car before
its colour.
"""
TRY = (
    "Train with one head in place of two: are the maps sharper?",
    "Add an adjective whose place changes its meaning, as that of ancien does.",
    "regard train translate on real sentence pairs, then regard look: the same map, less tidy.",
)
QUESTIONS = (
    (
        "A French text of 7 words, an English one of 5: what shape do the weights have?",
        "(5, 7): a row for each English word, a column for each French word.",
    ),
    (
        "Where do queries, keys and values come from?",
        "Queries from the decoder, keys and values from the encoder's output.",
    ),
    (
        "Does cross-attention need a causal mask?",
        "No: the whole source is there before the first word is written. Padding must be hidden.",
    ),
    (
        "Does a high weight prove that a word was translated from there?",
        "No. It says where the values came from, and by then the encoder has mixed the words. To "
        "know, hide the place and see what changes.",
    ),
)
TESTED, BATCH, STEPS = 240, 64, 250
FRAME: dict[str, Any] = {
    "markersize": 30,
    "clip_on": False,
    "markerfacecolor": "none",
    "markeredgecolor": COLOURS[1],
    "markeredgewidth": 2.5,
}
LENGTHS = ((7, 5), (2, 9), (1, 1))  # of a source and a target
SHOWN = [phrase(FRAMES[2], "the", adjective, "car") for adjective in ("red", "small")]


def lesson(seed: int = 0) -> Lesson:
    with repeatable(seed) as dice:
        shapes, farthest = any_lengths(dice)
        rest, test = split(dice)
        model = learned(rest, dice)
        right = mean(said == one.english for said, one in translations(model, test))
        maps = weights_of(model, test)
        hit = {kind: pointing(maps, test, kind) for kind in KINDS}
        hidden = {
            "nothing": right_words(model, test, None),
            "another French word": right_words(model, test, 1),
            "its own French word": right_words(model, test, 0),
        }
    nothing, other, own = hidden.values()
    numbers = [
        Number.equal("weights of 5 English over 7 French words: 5 x 7", shapes[0].numel(), 35),
        Number.at_most("sums of rows differ from 1 by at most", farthest, 1e-6),
        Number.at_least("phrases translated without a fault", right, 0.9),
        *(
            Number.measured(f"most weight for its own word: {kind}", hit[kind])
            for kind in KINDS[1:]
        ),
        Number.at_least("most weight for its own word: changed places", hit[KINDS[0]], 0.7),
        Number.at_least("changed places, right with another word hidden", other, 0.6),
        Number.at_most("the same with its own word hidden", own, 0.5),
    ]
    drawings = [_draw_maps(maps), _draw_found(hit, hidden)]
    return Lesson(numbers, drawings, _says(right, hit, hidden), [_shapes(shapes)])


def split(dice: torch.Generator) -> tuple[list[Phrase], list[Phrase]]:
    """Phrases to train on, and others to test on, the shown ones first."""
    others = [one for one in PHRASES if one not in SHOWN]
    order = torch.randperm(len(others), generator=dice).tolist()
    return [others[i] for i in order[TESTED:]], [*SHOWN, *(others[i] for i in order[:TESTED])]


def any_lengths(dice: torch.Generator) -> tuple[list[Tensor], float]:
    """The weights (T, S) of a cross-attention with one head for several lengths, and how far the
    sum of any row is from 1."""
    attention = CrossAttention(StackSettings(width=16, heads=1))
    found = []
    for S, T in LENGTHS:
        source, target = (torch.randn(1, n, 16, generator=dice) for n in (S, T))
        with capture(attention) as seen, torch.no_grad():
            attention(target, attention.keys_values(source), None)
        found.append(seen[0].weights[0, 0])
    return found, max(float((one.sum(dim=-1) - 1).abs().max()) for one in found)


def learned(phrases: list[Phrase], dice: torch.Generator) -> EncoderDecoder:
    """French is read, English is written."""
    s = TransformerSettings(width=32, heads=2, encoder_layers=1, decoder_layers=1, max_length=16)
    model = EncoderDecoder(s, len(FRENCH), len(ENGLISH))

    def batch_of(step: int) -> list[Phrase]:
        return [phrases[i] for i in torch.randint(len(phrases), (BATCH,), generator=dice).tolist()]

    train(model, batch_of, loss_of, steps=STEPS, rate=1e-2)
    return model


def read(phrases: Sequence[Phrase]) -> Source:
    return Source.of([[FRENCH.index(word) for word in one.french] for one in phrases])


def written(phrases: Sequence[Phrase]) -> Tensor:
    """(B, T): START, the English words, STOP, padding"""
    return padded([[START, *map(ENGLISH.index, one.english), STOP] for one in phrases])


def loss_of(model: EncoderDecoder, phrases: list[Phrase]) -> Loss:
    target = written(phrases)
    scores, answers = model(read(phrases), target[:, :-1]).flatten(0, 1), target[:, 1:].flatten()
    total = F.cross_entropy(scores, answers, ignore_index=PAD, reduction="sum")
    return Loss(total, int((answers != PAD).sum()))


def translations(
    model: EncoderDecoder, phrases: list[Phrase]
) -> Iterator[tuple[tuple[str, ...], Phrase]]:
    found = decode(model, read(phrases), len(phrases), DecodeSettings(max_length=10))
    for one, said in zip(phrases, found, strict=True):
        yield tuple(ENGLISH[i] for i in said.tokens), one


@torch.no_grad()
def weights_of(model: EncoderDecoder, phrases: list[Phrase]) -> list[Tensor]:
    """For each phrase (English words and STOP, French words), a mean over the heads. The row of a
    word holds the weights with which it was chosen."""
    with capture(model) as seen:
        model(read(phrases), written(phrases)[:, :-1])
    maps = next(one.weights for one in seen if one.name == "cross").mean(dim=1)
    return [
        weights[: len(one.english) + 1, : len(one.french)]
        for weights, one in zip(maps, phrases, strict=True)
    ]


def pointing(maps: list[Tensor], phrases: list[Phrase], kind: str) -> float:
    """The share of words of a kind whose highest weight is on their own French word."""
    return mean(
        int(weights[place].argmax()) == own
        for weights, one in zip(maps, phrases, strict=True)
        for place, own in enumerate(one.places)
        if one.kind(place) == kind
    )


@torch.no_grad()
def right_words(model: EncoderDecoder, phrases: list[Phrase], hide: int | None) -> float:
    """The share of words that changed places and are chosen rightly when cross-attention may not
    look at one French word: their own (0), or the one that stands so many places behind it."""
    source, target = read(phrases), written(phrases)
    state = model.start(source)
    dense = torch.ones(len(phrases), 1, target.size(1) - 1, source.ids.size(1), dtype=torch.bool)
    for row, one in enumerate(phrases):
        for place, own in enumerate(one.places):
            if hide is not None:
                dense[row, 0, place, (own + hide) % len(one.french)] = False
    mask = replace(state.seen_mask or Mask(), dense=dense)
    chosen = model.decoder(target[:, :-1], replace(state, seen_mask=mask)).argmax(dim=-1)
    right = chosen == target[:, 1:]
    return mean(
        bool(right[row, place])
        for row, one in enumerate(phrases)
        for place in range(len(one.places))
        if one.kind(place) == KINDS[0]
    )


def mean(found: Iterable[bool]) -> float:
    values = list(found)
    return sum(values) / len(values)


def _says(right: float, hit: dict[str, float], hidden: dict[str, float]) -> list[str]:
    moved, still, determiners, rest = hit.values()
    nothing, other, own = hidden.values()
    return [
        f"On {TESTED + 2} phrases that it was not trained on, the model wrote {right:.0%} without "
        "a fault. The phrases are few and alike, so this says little about French; it is enough to "
        "look at the weights.",
        f"Nouns and adjectives that change places have their highest weight on their own French "
        f"word in {moved:.0%} of the cases; looking straight across, at the same place, would hit "
        f"none of them. For those that keep their place it is {still:.0%}, for determiners "
        f"{determiners:.0%}, for the other words {rest:.0%}. Nobody taught it where to look: it "
        "saw only pairs of phrases.",
        'Where the numbers are low the map is not wrong. After "here" comes "is" in every phrase; '
        "the model need not look anywhere to know it, and its weights there mean nothing.",
        f"Do the weights matter, or are they decoration? With the own French word hidden from it, "
        f"a word that changed places is still right in {own:.0%} of the cases; with another word "
        f"hidden, in {other:.0%}. Guessing one of ten nouns or eight adjectives "
        "would be right in about a tenth. So here what it knows does come from where it looks.",
    ]


def _shapes(found: list[Tensor]) -> Table:
    rows: list[tuple[str, ...]] = [
        (str(S), str(T), str(tuple(weights.shape)))
        for (S, T), weights in zip(LENGTHS, found, strict=True)
    ]
    head = ("source words", "target words", "weights of a head")
    return Table("Any length goes with any other", head, rows)


def _draw_maps(maps: list[Tensor]) -> Drawing:
    figure, axes = panels(2, size=(4.0, 3.6))
    for ax, one, weights in zip(axes, SHOWN, maps, strict=False):
        heat(ax, weights, [*one.english, "STOP"], one.french, numbers=True, bar=False)
        ax.plot(one.places, range(len(one.places)), "s", **FRAME)
        label(ax, " ".join(one.french), "French words that are looked at")
    axes[0].set_ylabel("English words as they are written")
    return Drawing(
        figure,
        "English rows over French columns, two phrases that were not trained on; a frame marks the "
        "French word behind each English one. Left, the two last words change places and the "
        "weights follow. Right, petite stands before its noun and the weights follow the diagonal.",
    )


def _draw_found(hit: dict[str, float], hidden: dict[str, float]) -> Drawing:
    figure, (left, right) = panels(2, size=(4.1, 3.0))
    bars(left, [kind.replace(" ", "\n") for kind in hit], {"": list(hit.values())})
    label(left, "Most weight on its own French word?", "kind of English word", "share of words")
    names = [how.replace(" word", "\nword") for how in hidden]
    bars(right, names, {"": list(hidden.values())})
    label(right, "Right, when this is hidden?", "hidden from the word", "share of words")
    for ax in (left, right):
        ax.set_ylim(0, 1.15)
    return Drawing(
        figure,
        "Left: how often a word's highest weight is on its own French word. Right: words that "
        "change places are chosen well when another French word is hidden, and badly when their "
        "own is: the weights are not decoration.",
    )
