"""The word "date" in three sentences: one embedding, three contextual vectors."""

import textwrap
from collections.abc import Sequence
from random import Random
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from regard.course.draw import COLOURS, FONT, SIGNS, heat, label, panels
from regard.course.lesson import Drawing, Lesson, Number, Table
from regard.course.masked import MaskedWords, teach
from regard.course.tiny import repeatable

TITLE = 'One word "date", three meanings, three vectors'
IDEA = """
A date is a day in the calendar, a fruit of a palm, or an evening with somebody one likes. In a
table of embeddings the word has one row, whatever is meant: it has to be a compromise.

An encoder gives every word a second vector, made by looking at the other words of the sentence.
This one was taught nothing about meanings. Words were hidden from it and it had to guess them from
their neighbours, as BERT learns. To guess well it has to tell apart what kind of sentence it is
in, and so the vector of "date" comes to lie near other fruits, near other days or near other
meetings.
"""
TRY = (
    'Write a fourth sentence in which "date" could mean two things: where does its vector lie?',
    "Set STEPS to 1: the vectors of an untrained encoder follow the neighbouring words, not the "
    "meaning.",
    "regard course self_attention: how a word takes something from its neighbours.",
)
QUESTIONS = (
    (
        'How many embeddings does "date" have, and how many contextual vectors?',
        "One embedding; and as many contextual vectors as there are sentences with the word.",
    ),
    (
        "Nobody told the network that there are three meanings. How does it know?",
        "It had to guess hidden words, and which words fit depends on what is meant; vectors that "
        "tell the meanings apart make better guesses.",
    ),
    (
        "When is a fixed embedding enough?",
        "When words mean the same wherever they stand, or when only the topic of a whole text "
        "matters; it is also far cheaper.",
    ),
)
WORD = "date"
MEANINGS = {
    "day": (
        ("date", "day", "deadline", "hour"),
        (
            "the * of the exam/match/trial/meeting is in march/april/june/july",
            "we/they/she/he wrote the * on the letter/form/ticket/page",
            "please check the * in the calendar/diary/contract/letter",
            "what is the * of the exam/match/trial/meeting",
        ),
    ),
    "fruit": (
        ("date", "fig", "plum", "apricot"),
        (
            "we/they/she/he ate a sweet/ripe/dried/sticky * after lunch/supper/school",
            "the sweet/ripe/dried/sticky * fell from the tree/palm/bowl/plate",
            "cut the * and add nuts/honey/sugar to the cake/bread/salad",
            "a * with nuts/honey/cheese makes a good dessert/snack/cake",
        ),
    ),
    "meeting": (
        ("date", "dance", "dinner", "walk"),
        (
            "their first * was at the cinema/park/beach/theatre",
            "she was nervous/happy/shy/late before the * with tom/paul/anna/mary",
            "he asked her/mary/anna for a * on friday/saturday/sunday",
            "the * with tom/paul/anna/mary was romantic/lovely/awkward",
        ),
    ),
}
BEGINNINGS = ("", "well ", "i think ", "so then ")  # so that a place gives no meaning away
SENTENCES, STEPS = 1200, 350
HELD_OUT = 90  # with the word, and as many without


class Said(NamedTuple):
    text: str
    meaning: str
    noun: str
    pattern: str  # sentences of one pattern differ in a word or two


SHOWN = (
    Said("what is the date of the exam", "day", WORD, "day 4"),
    Said("she ate a sweet date after lunch", "fruit", WORD, "fruit 1"),
    Said("their first date was at the cinema", "meeting", WORD, "meeting 1"),
)


def lesson(seed: int = 0) -> Lesson:
    known, dates, others = sentences(Random(seed))
    with repeatable(seed) as dice:
        network = MaskedWords([said.text for said in (*known, *dates, *others)])
        network.eval()
        before = compare(dates, vectors(network, dates))
        teach(network, [said.text for said in known], dice, steps=STEPS)
        found = vectors(network, dates)
    after = compare(dates, found)
    fixed, own = cosines(embeddings(network, SHOWN)), cosines(found[: len(SHOWN)])
    closest = float((own - 2 * torch.eye(len(own))).max())
    numbers = [
        Number.equal("embedding: lowest cosine of three dates", float(fixed.min()), 1.0, 1e-6),
        Number.at_most("encoder: highest cosine of three dates", closest, 0.9),
        Number.measured("untrained: cosine, same meaning", before.within),
        Number.measured("untrained: cosine, different meanings", before.between),
        Number.measured("untrained: nearest date means the same, percent", before.nearest),
        Number.measured("trained: cosine, same meaning", after.within),
        Number.measured("trained: cosine, different meanings", after.between),
        Number.at_least("trained: the difference", after.within - after.between, 0.08),
        Number.at_least("trained: nearest date means the same, percent", after.nearest, 65),
    ]
    says = [
        "The embedding of date is one row of the table, so its cosine between any two sentences "
        "is 1. The encoder's vectors differ: in the three sentences shown no two have a cosine "
        f"above {closest:.3f}.",
        f"Measured on {len(dates)} sentences that were not trained on, and only between sentences "
        "of different patterns, so that shared words give little away: dates with the "
        f"same meaning have a cosine of {after.within:.2f}, others {after.between:.2f}. The "
        f"nearest other date has the same meaning in {after.nearest:.0f} of 100 cases; before "
        f"training it was {before.nearest:.0f}, and guessing would make 27 (3 of 11 other patterns "
        "have the same meaning).",
        "The table of neighbours holds other words, in sentences that were not trained on either.",
    ]
    nearest = Table("Whose vectors are nearest", ("sentence", "words"), near(network, others))
    return Lesson(numbers, [_draw_three(fixed, own), _draw_map(dates, found)], says, [nearest])


def sentences(dice: Random) -> tuple[list[Said], list[Said], list[Said]]:
    """Sentences to learn from; others with the word, those shown first; others without it. No
    sentence is there twice."""
    made = {said.text: said for said in SHOWN}
    while len(made) < SENTENCES:
        said = invent(dice)
        made.setdefault(said.text, said)
    dates = [said for said in made.values() if said.noun == WORD][:HELD_OUT]
    others = [said for said in made.values() if said.noun != WORD][:HELD_OUT]
    held_out = {said.text for said in (*dates, *others)}
    return [said for said in made.values() if said.text not in held_out], dates, others


def invent(dice: Random) -> Said:
    meaning = dice.choice(list(MEANINGS))
    nouns, patterns = MEANINGS[meaning]
    noun, number = dice.choice(nouns), dice.randrange(len(patterns))
    words = [dice.choice(slot.split("/")) for slot in patterns[number].split()]
    text = " ".join(noun if word == "*" else word for word in words)
    return Said(dice.choice(BEGINNINGS) + text, meaning, noun, f"{meaning} {number + 1}")


@torch.no_grad()
def vectors(network: MaskedWords, said: Sequence[Said]) -> Tensor:
    """(sentences, E): what the encoder makes of the noun of each sentence."""
    return network(network.source([one.text for one in said]))[_places(said)]


@torch.no_grad()
def embeddings(network: MaskedWords, said: Sequence[Said]) -> Tensor:
    """(sentences, E): the same nouns before the encoder has looked at their neighbours."""
    return network.embedded(network.source([one.text for one in said]))[_places(said)]


def _places(said: Sequence[Said]) -> tuple[list[int], list[int]]:
    return list(range(len(said))), [1 + one.text.split().index(one.noun) for one in said]


class Compared(NamedTuple):
    """Mean cosines, and how often (in percent) the nearest has the same meaning. Only pairs of
    different patterns count."""

    within: float
    between: float
    nearest: float


def compare(said: Sequence[Said], found: Tensor) -> Compared:
    alike = cosines(found)
    same = torch.tensor([[a.meaning == b.meaning for b in said] for a in said])
    counts = torch.tensor([[a.pattern != b.pattern for b in said] for a in said])
    nearest = alike.masked_fill(~counts, -2.0).argmax(dim=1, keepdim=True)
    right = same.gather(1, nearest).double().mean()
    within, between = alike[same & counts].mean(), alike[~same].mean()
    return Compared(float(within), float(between), 100 * float(right))


def cosines(found: Tensor) -> Tensor:
    return F.normalize(found, dim=-1) @ F.normalize(found, dim=-1).T


def near(network: MaskedWords, others: list[Said], words: int = 3) -> list[tuple[str, ...]]:
    """For each sentence shown, the nouns of other sentences with the nearest vectors."""
    asked, there = vectors(network, SHOWN), vectors(network, others)
    alike = F.normalize(asked, dim=-1) @ F.normalize(there, dim=-1).T
    rows: list[tuple[str, ...]] = []
    for said, scores in zip(SHOWN, alike, strict=True):
        best: dict[str, float] = {}
        for number in scores.argsort(descending=True).tolist():
            best.setdefault(others[number].noun, float(scores[number]))
        told = [f"{noun} {score:.2f}" for noun, score in list(best.items())[:words]]
        rows.append((said.text, ", ".join(told)))
    return rows


def _draw_three(fixed: Tensor, own: Tensor) -> Drawing:
    figure, (left, right) = panels(2, size=(4.2, 2.9))
    names = [said.text.replace(WORD, WORD.upper()) for said in SHOWN]
    rows = [textwrap.fill(name, 18) for name in names]
    heat(left, fixed, rows, ["exam", "lunch", "cinema"], numbers=True, bar=False)
    label(left, 'embeddings of "date": one')
    heat(right, own, ["exam", "lunch", "cinema"], ["exam", "lunch", "cinema"], numbers=True)
    label(right, 'the encoder\'s vectors of "date": three')
    for ax in (left, right):
        ax.tick_params(axis="x", rotation=0)
    caption = (
        "The cosine between the vectors of date in three sentences. Left, the embedding: it is the "
        "same vector, 1 everywhere. Right, after the encoder has looked at the other words."
    )
    return Drawing(figure, caption)


def _draw_map(said: Sequence[Said], found: Tensor) -> Drawing:
    figure, (ax,) = panels(1, size=(7.0, 4.0))
    centred = found - found.mean(dim=0)
    flat = centred @ torch.linalg.svd(centred, full_matrices=False).Vh[:2].T  # (sentences, 2)
    for number, meaning in enumerate(MEANINGS):
        there = flat[[one.meaning == meaning for one in said]]
        style: dict[str, Any] = {
            "marker": SIGNS[number],
            "color": COLOURS[number],
            "linestyle": "none",
        }
        ax.plot(there[:, 0], there[:, 1], label=f"{WORD}, a {meaning}", alpha=0.75, **style)
    box = {"boxstyle": "round,pad=0.2", "facecolor": "white", "alpha": 0.85, "linewidth": 0.5}
    for one, place in zip(SHOWN, flat.tolist(), strict=False):
        ax.plot(*place, "o", markersize=11, fillstyle="none", color="black")
        above: dict[str, Any] = {"textcoords": "offset points", "ha": "center", "bbox": box}
        ax.annotate(one.text, place, (0, 13), fontsize=FONT - 1, **above)
    ax.margins(x=0.2, y=0.15)
    ax.legend(fontsize=FONT - 1, frameon=False)
    label(ax, f'{len(said)} vectors of "{WORD}", from {len(said)} sentences', *AXES)
    caption = (
        f'The encoder\'s vectors of "{WORD}" in {len(said)} sentences that were not trained on, '
        "flattened to the two directions in which they differ most. In a table of embeddings all "
        "of them would be a single point."
    )
    return Drawing(figure, caption)


AXES = ("direction of most difference", "direction of second most")
