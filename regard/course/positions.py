"""How a network knows which word came first: sines and cosines, and what else there is."""

from typing import Any

import torch
from torch import Tensor

from regard.course.draw import COLOURS, FONT, SIGNS, heat, label, panels
from regard.course.lesson import Drawing, Lesson, Number, Table
from regard.course.tiny import repeatable
from regard.errors import ShapeError
from regard.nn.positions import POSITIONS, Rotary, buckets, sinusoids, slopes
from regard.shapes import StackSettings

TITLE = "How a network knows which word came first"
IDEA = """
Attention compares every word (as a query) with every other (as a key) and gives each pair a score;
the chapters on attention say how. Then it adds up. A sum has no order, so "dog bites man"
and "man bites dog" would be the same to it. Something has to tell the words apart by their place.

The first Transformer added a vector to every word: sines and cosines of the position, in pairs,
the first pair turning fast like the second hand of a clock, the last one so slowly that it hardly
moves within a text. Nothing is learned, and the table goes on for any length. Two such vectors have
a dot product that depends only on how far apart the places are.

Since then there are others. Learned: one trained vector a place, and no more places than were
trained. Rotary: queries and keys are turned by an angle, so that a score knows the distance.
Relative (T5) and ALiBi add to the score itself, by distance. And none at all.
"""
TRY = (
    "Draw the table for width 16 and width 512: where does the part that hardly changes begin?",
    'Switch the scheme of a recipe with one setting: model.positions = "rotary".',
    "regard course permutation: what attention makes of shuffled words without positions.",
)
QUESTIONS = (
    (
        "What is the vector of position 0?",
        "0, 1, 0, 1, and so on: the sine of 0 is 0, its cosine is 1.",
    ),
    (
        "Why sines and cosines, and not the position itself as a number?",
        "They stay between -1 and 1 for any length, and the dot product of two places depends on "
        "their distance alone. Added to words, products of word and place come in too, and a score "
        "no longer depends on distance alone (the table says how much).",
    ),
    (
        "A text is longer than all seen in training. Which schemes can take it?",
        "All but the learned one: sines, angles and distances can be computed for any place; a "
        "table of trained vectors ends. Whether the network still does well is another matter.",
    ),
)
WIDTH, SMALL = 512, 64
FIRST = {0: 0.8415, 1: 0.5403, 2: 0.8219, 3: 0.5697, 510: 0.0001, 511: 1.0}  # PE(1), the course
FAR = 100
TELLS = {
    "sinusoidal": "the place, in every word",
    "learned": "the place, in every word",
    "rotary": "the distance, in queries and keys",
    "relative": "the distance, in the scores",
    "alibi": "the distance, in the scores",
    "none": "nothing",
}


def lesson(seed: int = 0) -> Lesson:
    table = sinusoids(FAR + 101, WIDTH)
    dots = {start: table[start : start + FAR + 1] @ table[start] for start in (0, 50, 100)}
    with repeatable(seed):
        scores = {name: equal_words(name) for name in TELLS}
        grown = extended()
    uneven = {name: by_distance_only(found) for name, found in scores.items()}
    relative = ("rotary", "relative", "alibi")
    numbers = [
        *(Number.equal(f"PE(0), feature {i}", float(table[0, i]), i % 2, 0.0) for i in range(4)),
        *(
            Number.equal(f"PE(1), feature {i}, width 512", float(table[1, i]), wanted)
            for i, wanted in FIRST.items()
        ),
        Number.equal("PE(p) x PE(p), width 512", float(dots[0][0]), WIDTH / 2, within=1e-9),
        Number.equal("the same from 0 and from 100: differs by", _gap(dots), 0.0, within=1e-9),
        Number.at_least("the dot product falls without a break up to distance", falls(dots[0]), 5),
        Number.at_most("share of it left at distance 100", float(dots[0][FAR] / dots[0][0]), 0.5),
        Number.equal("rows of a table made for 64", grown[0], 64),
        Number.at_least("its rows after an input of 100", grown[1], 100),
        Number.equal("change of its first 64 rows", grown[2], 0.0, within=0.0),
        *(
            Number.equal(f"{name}: spread of a score at equal distance", uneven[name], 0.0, 1e-9)
            for name in (*relative, "none")
        ),
        *(
            Number.at_least(f"{name}: spread of a score at equal distance", uneven[name], 0.01)
            for name in ("sinusoidal", "learned")
        ),
        Number.equal("T5: bucket of distance 15", bucket(15), 15),
        Number.equal("T5: bucket of distance 20", bucket(20), 17),
        Number.equal("T5: bucket of distance 500, the last", bucket(500), 31),
        Number.equal("ALiBi: slope of the first of 8 heads", float(slopes(8)[0]), 1 / 2),
        Number.equal("ALiBi: slope of the last of 8 heads", float(slopes(8)[7]), 1 / 256),
    ]
    says = [
        "Position 0 is 0, 1, 0, 1, ...; position 1 begins with the sine and cosine of 1 (0.8415, "
        "0.5403), and its last pair has turned so little that it is still 0.0001, 1.0000.",
        "The dot product of two places is the same wherever they stand, if they are equally far "
        f"apart. It is {dots[0][0]:.0f} at distance 0, {dots[0][1]:.0f} at 1, {dots[0][10]:.0f} at "
        f"10 and {dots[0][FAR]:.0f} at {FAR}. It falls without a break for {falls(dots[0])} steps; "
        "after that it falls in waves.",
        f"A table made for 64 places had {grown[1]} after an input of 100, and the first 64 rows "
        "were the same: computed once, extended when needed. Learned positions refuse instead.",
    ]
    head = ("positions", "is", "tells", "numbers to learn", "100 words, made for 64")
    drawings = [_draw_table(), _draw_dots(dots), _draw_schemes(seed)]
    return Lesson(numbers, drawings, says, [Table("One setting, six schemes", head, schemes())])


def settings(name: str, length: int = 64, heads: int = 1) -> StackSettings:
    return StackSettings.model_validate(
        {"width": 64, "heads": heads, "positions": name, "max_length": length}
    )


def equal_words(name: str, length: int = 24) -> Tensor:
    """(T, T): how the same word at every place scores itself, with these positions. Only they can
    make a difference."""
    positions = POSITIONS[name](settings(name)).double()
    word = torch.randn(64, dtype=torch.float64).expand(1, length, 64)
    with torch.no_grad():
        x = positions.add(word)
        turned = positions.turn(x[:, None])[0, 0]  # one head
        bias = positions.bias(length, length)
        scores = turned @ turned.T / 8
    return scores if bias is None else scores + bias[0, 0].detach()


def by_distance_only(scores: Tensor) -> float:
    """How far scores of equally distant places differ, at most; 0: only the distance counts."""
    diagonals = [scores.diagonal(away) for away in range(-len(scores) + 2, len(scores) - 1)]
    return max(float(one.max() - one.min()) for one in diagonals)


def falls(dots: Tensor) -> int:
    """The distance up to which each dot product is smaller than the one before."""
    rises = (dots[1:] >= dots[:-1]).nonzero()
    return int(rises[0]) if len(rises) else len(dots) - 1


def extended() -> tuple[int, int, float]:
    """Rows before and after an input longer than the table, and how far the old rows moved."""
    scheme = POSITIONS["sinusoidal"](settings("sinusoidal", length=64))
    before = scheme.get_buffer("table").clone()
    scheme.add(torch.zeros(1, 100, 64))
    after = scheme.get_buffer("table")
    return len(before), len(after), float((after[: len(before)] - before).abs().max())


def bucket(distance: int) -> int:
    """The bucket of a key this far behind."""
    return int(buckets(torch.tensor([-distance]), causal=True))


def _gap(dots: dict[int, Tensor]) -> float:
    return float((dots[0] - dots[100]).abs().max())


def schemes() -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    for name, tells in TELLS.items():
        positions = POSITIONS[name](settings(name, length=64))
        learned = sum(weights.numel() for weights in positions.parameters())
        try:
            x = positions.add(torch.zeros(1, 100, 64))
            positions.turn(x[:, None]), positions.bias(100, 100)
            longer = "taken"
        except ShapeError:
            longer = "refused"
        kind = "learned" if learned else "-" if name == "none" else "fixed"
        rows.append((name, kind, tells, f"{learned:,}", longer))
    return rows


def _draw_table() -> Drawing:
    figure, (left, right) = panels(2, size=(4.2, 3.6))
    small = sinusoids(100, SMALL)
    heat(left, small.T, two_sided=True)
    label(left, f"Sinusoidal positions, width {SMALL}", "position", "feature")
    for row, feature in enumerate((0, 8, 16, 24)):
        right.plot(small[:, feature] - 2.6 * row, color=COLOURS[row])
    right.set_yticks([0, -2.6, -5.2, -7.8], ["0", "8", "16", "24"])
    label(right, "Four of its features as waves", "position", "feature")
    caption = (
        "Left: each column is the vector of one position. Right: four of its rows as curves, each "
        "between -1 and 1. The first features swing fast, like the last digit of a counter, the "
        "later ones ever more slowly: together they are different at every position."
    )
    return Drawing(figure, caption)


def _draw_dots(dots: dict[int, Tensor]) -> Drawing:
    figure, (left, right) = panels(2, size=(4.2, 3.2))
    for number, (start, found) in enumerate(dots.items()):
        style: dict[str, Any] = {
            "color": COLOURS[number],
            "marker": SIGNS[number],
            "markevery": (6 * number, 20),
        }
        left.plot(range(len(found)), found, label=f"from position {start}", **style)
    left.legend(fontsize=FONT - 1, frameon=False)
    left.set_ylim(0)
    label(left, "Near places are alike", "distance in positions", "dot product")
    table = sinusoids(60, WIDTH)
    heat(right, table @ table.T)
    label(right, "All pairs of 60 positions", "position", "position")
    caption = (
        "Left: the dot product of a position with those after it, from three starting places: one "
        "curve, since only the distance counts. Right: the same for all pairs; every diagonal has "
        "one value."
    )
    return Drawing(figure, caption)


def _draw_schemes(seed: int) -> Drawing:
    figure, (left, middle, right) = panels(3, size=(2.9, 3.0))
    away = torch.arange(65)
    with repeatable(seed):
        left.plot(away, rotary_scores(), color=COLOURS[0])
    left.axhline(0, color="#999999", linewidth=0.8)
    label(left, "rotary: how much of the score is left", "distance", "share of the score")
    middle.step(away, buckets(-away, causal=True), where="post", color=COLOURS[0])
    label(middle, "T5: which learned number is added to the score", "distance", "its number")
    for number, (head, slope) in enumerate(zip((1, 2, 3, 8), slopes(8)[[0, 1, 2, 7]], strict=True)):
        style: dict[str, Any] = {"color": COLOURS[number], "marker": SIGNS[number], "markevery": 16}
        right.plot(away, -slope * away, label=f"head {head}", **style)
    right.legend(fontsize=FONT - 1, frameon=False)
    label(right, "ALiBi: what is added to the score", "distance", "added to the score")
    caption = (
        "What distance does to a score. Rotary: the mean over 200 random vectors that look for "
        "themselves. T5, looking back: 16 near distances have a number each, farther ones share. "
        "ALiBi: a straight line down, steep in some heads and nearly flat in others."
    )
    return Drawing(figure, caption)


def rotary_scores() -> Tensor:
    """(65,): a vector against itself up to 64 places back, as a share, in the mean over 200."""
    rotary = Rotary(settings("rotary", length=65)).double()
    vectors = torch.randn(200, 64, dtype=torch.float64)
    vectors = vectors / vectors.norm(dim=-1, keepdim=True)
    turned = rotary.turn(vectors[:, None, None].expand(200, 1, 65, 64))[:, 0]  # (200, 65, 64)
    return (turned @ vectors[..., None])[..., 0].mean(dim=0)
