"""Sentence embeddings: the vectors of the words become one, by mean, by maximum or at [CLS]."""

from collections.abc import Sequence
from random import Random
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from regard.course.draw import FONT, bars, heat, label, panels
from regard.course.lesson import Drawing, Lesson, Number, Table
from regard.course.masked import MaskedWords, teach
from regard.course.tiny import repeatable
from regard.nn.pooling import pool

TITLE = "Many vectors become one, and sentences can be compared"
IDEA = """
Sentences have unequal numbers of words; to compare two of them, each has to become one vector. The
mean of the word vectors is the plainest way. The maximum takes the largest number of each feature,
so a single strong word can decide. Or a special word, [CLS], stands in front of every sentence,
looks at all the others, and its vector is taken for the whole.

How alike two sentences are is then the cosine of their vectors. The encoder of this chapter was
taught on sentences about four topics, but never told that there are topics: words were hidden and
it had to guess them, from their own place and from [CLS]. Common words like "the" are never hidden:
they say nothing about a topic. Words that stand in the same sentences end up with similar vectors,
and so do sentences that share no word of their topic.
"""
TRY = (
    "Set COMMON to 1, so that words like the are hidden too: now sentences of one pattern become "
    "alike, whatever they are about.",
    "Shuffle the words of a sentence: by how much does its mean change, of embeddings and of the "
    "encoder's vectors?",
    "Leave the padding in the mean on purpose: short sentences become alike for no good reason.",
    "regard course similarity: why the cosine, and what it is in many dimensions.",
)
QUESTIONS = (
    (
        "Two sentences have 4 and 9 words, the width is 48. How large are their sentence vectors?",
        "48 numbers each: a mean, a maximum and [CLS] are as wide as a word, however many there "
        "are.",
    ),
    (
        "Mean, maximum or [CLS]: which needs training?",
        "All need trained word vectors: untrained, all three guess. [CLS] must also learn by "
        "itself to collect what the words say; a mean and a maximum do that from the start.",
    ),
    (
        "What does a mean of embeddings not know?",
        "The order of the words: a mean of the same rows in another order is the same.",
    ),
)
TOPICS = {
    "weather": {
        "NOUN": "storm rain wind snow fog sun cloud thunder",
        "LIKE": "cold grey heavy wet icy",
        "DOES": "comes fades blows returns clears",
        "WHERE": "coast hills valley north",
    },
    "food": {
        "NOUN": "soup bread cheese salad stew cake rice pie",
        "LIKE": "fresh salty warm spicy sweet",
        "DOES": "cooks bakes boils cools simmers",
        "WHERE": "kitchen oven plate table",
    },
    "music": {
        "NOUN": "violin song choir piano drum band flute tune",
        "LIKE": "loud quiet slow gentle merry",
        "DOES": "plays sings sounds rings echoes",
        "WHERE": "concert stage hall studio",
    },
    "sport": {
        "NOUN": "team goal race match player ball coach trainer",
        "LIKE": "quick strong tired young brave",
        "DOES": "wins scores runs trains loses",
        "WHERE": "stadium field pitch track",
    },
}
PATTERNS = (
    "the LIKE NOUN DOES near the WHERE",
    "a NOUN DOES and the LIKE NOUN DOES too",
    "we like the NOUN and the LIKE NOUN",
    "in the WHERE a LIKE NOUN DOES",
    "there is a LIKE NOUN at the WHERE today",
)
SENTENCES, HELD_OUT, STEPS, SHOWN = 900, 80, 350, 3
COMMON = 0.1  # words in more than this share of all sentences are never hidden
WAYS = {"mean": "mean", "maximum": "max", "[CLS]": "first"}


class Said(NamedTuple):
    text: str
    topic: str


class Compared(NamedTuple):
    """Mean cosines of pairs that share none of their topic's words, and how often (in percent) a
    pair of one topic is more alike than a pair of two. Chance is 50."""

    within: float
    between: float
    right: float


def lesson(seed: int = 0) -> Lesson:
    known, held_out = sentences(Random(seed))
    with repeatable(seed) as dice:
        network = MaskedWords([said.text for said in (*known, *held_out)], layers=1)
        network.eval()
        before = compare_all(network, held_out)
        teach(network, [said.text for said in known], dice, steps=STEPS, common=COMMON)
        after, vectors = compare_all(network, held_out), embed(network, held_out, "mean")
    moved = (embed(network, held_out[:1], "mean")[0] - vectors[0]).abs().max()
    least = {"mean of embeddings": 65, "mean": 85, "maximum": 85, "[CLS]": 85}
    numbers = [
        *(
            Number.measured(f"untrained, {way}: pairs right, percent", one.right)
            for way, one in before.items()
        ),
        *(
            Number.at_least(f"trained, {way}: pairs right, percent", after[way].right, bound)
            for way, bound in least.items()
        ),
        Number.measured("mean: cosine within a topic", after["mean"].within),
        Number.measured("mean: cosine between topics", after["mean"].between),
        Number.at_least("mean: the difference", after["mean"].within - after["mean"].between, 0.4),
        Number.equal("a sentence alone minus the same beside longer ones", float(moved), 0.0),
    ]
    plain = after["mean of embeddings"].right
    says = [
        f"Measured on {HELD_OUT} sentences that were not trained on. A pair is right when two "
        "sentences of one topic, which share none of its words, are more alike than two of "
        f"different topics. By the mean {after['mean'].right:.0f} of 100 are, by the maximum "
        f"{after['maximum'].right:.0f}, by [CLS] {after['[CLS]'].right:.0f}; before training "
        f"{before['mean'].right:.0f}, {before['maximum'].right:.0f} and "
        f"{before['[CLS]'].right:.0f}, and guessing would make 50.",
        f"The mean of the embeddings alone, without the encoder, reaches {plain:.0f}: much of "
        "what is learned is in the table already, and the encoder adds what the neighbours say.",
        f"The cosines of maxima are high between topics too, {after['maximum'].between:.2f}, since "
        "a maximum over several words is mostly positive: compare them with each other, not with "
        "0.",
    ]
    rows = [(way, *_told(one)) for way, one in after.items()]
    head = ("trained, by", "cosine within a topic", "between topics", "pairs right, percent")
    drawings = [_draw_pairs(held_out, vectors), _draw_ways(before, after)]
    return Lesson(numbers, drawings, says, [Table("Ways to make one vector of many", head, rows)])


def sentences(dice: Random) -> tuple[list[Said], list[Said]]:
    """Sentences to learn from, and others to compare; none is there twice."""
    made: dict[str, Said] = {}
    while len(made) < SENTENCES:
        said = invent(dice)
        made.setdefault(said.text, said)
    every = list(made.values())
    return every[HELD_OUT:], every[:HELD_OUT]


def invent(dice: Random) -> Said:
    topic = dice.choice(list(TOPICS))
    words = TOPICS[topic]
    slots = dice.choice(PATTERNS).split()
    text = " ".join(dice.choice(words[slot].split()) if slot in words else slot for slot in slots)
    return Said(text, topic)


@torch.no_grad()
def embed(
    network: MaskedWords, said: Sequence[Said], way: str, *, embedded: bool = False
) -> Tensor:
    """(sentences, E): one vector each. Mean and maximum are over the words alone."""
    source = network.source([one.text for one in said])
    x = network.embedded(source) if embedded else network(source)
    lengths = torch.tensor([len(one.text.split()) for one in said])
    return x[:, 0] if way == "[CLS]" else pool(x[:, 1:], WAYS[way], lengths)


def compare_all(network: MaskedWords, said: Sequence[Said]) -> dict[str, Compared]:
    plain = compare(said, embed(network, said, "mean", embedded=True))
    return {
        "mean of embeddings": plain,
        **{way: compare(said, embed(network, said, way)) for way in WAYS},
    }


def compare(said: Sequence[Said], vectors: Tensor) -> Compared:
    alike = cosines(vectors)
    same = torch.tensor([[a.topic == b.topic for b in said] for a in said])
    shared = torch.tensor([[bool(topical(a) & topical(b)) for b in said] for a in said])
    within, between = alike[same & ~shared], alike[~same]
    right = (within[:, None] > between).double().mean()
    return Compared(float(within.mean()), float(between.mean()), 100 * float(right))


def topical(said: Said) -> set[str]:
    """Its words that belong to a topic; the others are in sentences of every kind."""
    return set(said.text.split()) & set(" ".join(TOPICS[said.topic].values()).split())


def cosines(vectors: Tensor) -> Tensor:
    return F.normalize(vectors, dim=-1) @ F.normalize(vectors, dim=-1).T


def _told(one: Compared) -> tuple[str, ...]:
    return f"{one.within:.2f}", f"{one.between:.2f}", f"{one.right:.0f}"


def _draw_pairs(said: Sequence[Said], vectors: Tensor) -> Drawing:
    figure, (ax,) = panels(1, size=(8.0, 5.4))
    chosen = [
        place
        for topic in TOPICS
        for place in [i for i, one in enumerate(said) if one.topic == topic][:SHOWN]
    ]
    rows = [f"{said[i].text}   {n + 1}" for n, i in enumerate(chosen)]
    numbers = [str(n + 1) for n in range(len(chosen))]
    heat(ax, cosines(vectors[chosen]), rows, numbers, two_sided=True, numbers=True)
    for edge in range(SHOWN, len(chosen), SHOWN):
        ax.axhline(edge - 0.5, color="black", linewidth=1.2)
        ax.axvline(edge - 0.5, color="black", linewidth=1.2)
    for number, topic in enumerate(TOPICS):
        middle = number * SHOWN + (SHOWN - 1) / 2
        ax.text(middle, -0.75, topic, ha="center", va="bottom", fontsize=FONT)
    ax.set_xlabel("sentence", fontsize=FONT)
    figure.suptitle("How alike are they? The cosine of sentence vectors", fontsize=FONT + 1)
    caption = (
        "The cosine between sentence vectors (the mean of the encoder's word vectors) of "
        f"{len(chosen)} sentences that were not trained on, {SHOWN} of each topic. Lines separate "
        "the topics: the squares on the diagonal are the most alike."
    )
    return Drawing(figure, caption)


def _draw_ways(before: dict[str, Compared], after: dict[str, Compared]) -> Drawing:
    figure, (ax,) = panels(1, size=(7.4, 3.0))
    groups = {
        "untrained": [one.right for one in before.values()],
        "trained to guess hidden words": [one.right for one in after.values()],
    }
    bars(ax, list(before), groups)
    ax.axhline(50, color="#999999", linewidth=1.2, linestyle="--")
    ax.legend(fontsize=FONT - 1, frameon=False, loc="upper left", ncols=2)
    ax.set(ylim=(0, 145), yticks=range(0, 101, 25))
    label(ax, "Is a pair of one topic more alike than a pair of two?", "", "percent of pairs")
    caption = (
        "For each way to make one vector of many: how often two sentences of one topic, that share "
        "none of its words, are more alike than two of different topics. The line is guessing."
    )
    return Drawing(figure, caption)
