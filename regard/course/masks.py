"""Masks: who may look at whom, and why what is hidden gets minus infinity."""

import numpy as np
import torch
from matplotlib.axes import Axes
from torch import Tensor

from regard.course.draw import COLOURS, heat, label, panels
from regard.course.lesson import Drawing, Lesson, Number, Table
from regard.course.tiny import repeatable
from regard.nn.attention import attend
from regard.nn.mask import Mask

TITLE = "Who may look at whom, and why minus infinity"
IDEA = """
A network that writes must not look ahead: when it predicts the third word it may use the first two
and nothing else. All places of a sentence are computed at once, so the future is there to be seen,
and a mask has to hide it. Padding, which only makes short sentences as long as the longest of
their batch, has to be hidden too.

The mask is added to the scores before the softmax: 0 where a query may look, minus infinity where
it may not. The softmax makes e to the minus infinity of it, which is exactly 0, and shares out the
whole 1 among the rest.

Two tempting ways are wrong. A score of 0 is a score like any other, and gets a weight. And weights
set to 0 after the softmax leave rows that do not sum to 1, by an amount that depends on what was
hidden: it still shows.
"""
TRY = (
    "Draw your own: Mask(causal=True, window=2).draw(6, 6), or any bool tensor as Mask(dense=...).",
    "Hide everything from a query: softmax of a row of minus infinities is NaN. What does attend "
    "give instead?",
    "regard.check(your_module) tries to catch it: does any position see the tokens after it?",
)
QUESTIONS = (
    (
        "Why minus infinity and not 0?",
        "e to the 0 is 1, so a score of 0 still gets a weight; e to the minus infinity is exactly "
        "0.",
    ),
    (
        "Why is the mask applied before the softmax?",
        "So that the weights that remain sum to 1, and nothing of what is hidden is in that sum.",
    ),
    (
        "How many of the 16 pairs may look in a causal mask for four words?",
        "10: one for the first word, two for the second, then three and four.",
    ),
    (
        "Does an encoder need a causal mask?",
        "No, it may read the whole text; it needs the padding mask only.",
    ),
)
HIDDEN = -torch.inf
CAUSAL = [
    [0.0, HIDDEN, HIDDEN, HIDDEN],
    [0.0, 0.0, HIDDEN, HIDDEN],
    [0.0, 0.0, 0.0, HIDDEN],
    [0.0, 0.0, 0.0, 0.0],
]
WORDS = ("I", "am", "very", "calm")
SCORES = [[1.0, 0.0, 2.0, 1.0], [0.0, 1.0, 1.0, 2.0], [1.0, 0.0, 1.0, 2.0], [0.0, 1.0, 0.0, 1.0]]


def added(allowed: Tensor) -> Tensor:
    """True and False become what is added to the scores: 0 and minus infinity."""
    return torch.zeros(allowed.shape, dtype=torch.float64).masked_fill(~allowed, HIDDEN)


def three_ways(scores: Tensor, allowed: Tensor) -> dict[str, Tensor]:
    """Weights (T, T) when hidden scores become minus infinity, when they become 0, and when
    hidden weights become 0 after the softmax."""
    return {
        "minus infinity": (scores + added(allowed)).softmax(dim=-1),
        "score 0": scores.masked_fill(~allowed, 0.0).softmax(dim=-1),
        "weight 0, late": scores.softmax(dim=-1).masked_fill(~allowed, 0.0),
    }


def future_shows(way: str, scores: Tensor, allowed: Tensor) -> float:
    """How much the outputs of the first three words change when the fourth becomes another one:
    another value, and a score higher by 1 for whoever asks it."""
    values = torch.eye(4, dtype=torch.float64)  # so that the outputs are the weights
    other_scores, other_values = scores.clone(), values.clone()
    other_scores[:, -1] += 1.0
    other_values[-1] += 1.0
    before = three_ways(scores, allowed)[way] @ values
    after = three_ways(other_scores, allowed)[way] @ other_values
    return float((before - after)[:-1].abs().max())


def lesson(seed: int = 0) -> Lesson:
    allowed = Mask(causal=True).draw(4, 4)[0, 0]
    scores = torch.tensor(SCORES, dtype=torch.float64)
    ways = three_ways(scores, allowed)
    leaks = {way: future_shows(way, scores, allowed) for way in ways}
    with repeatable(seed) as dice:
        padding = padding_shows(dice)
    right, zero, late = ways
    numbers = [
        Number.equal(
            "places that differ from the matrix of 0 and -inf", differing(added(allowed)), 0
        ),
        Number.equal("pairs that may look, of 16", int(allowed.sum()), 10),
        Number.equal("am for I, minus infinity: 1 / (1 + e)", float(ways[right][1, 0]), 0.2689),
        Number.equal("am for I, score 0: 1 / (1 + e + 1 + 1)", float(ways[zero][1, 0]), 0.1749),
        Number.equal("most weight for the future, minus infinity", ahead(ways[right]), 0, 0.0),
        Number.equal("most weight for the future, score 0", ahead(ways[zero]), 0.5246),
        Number.equal("smallest sum of a row, weight 0 late", _least_sum(ways[late]), 0.1966),
        Number.equal("another last word moves earlier outputs by", leaks[right], 0, 0.0),
        Number.at_least("the same, score 0", leaks[zero], 0.1),
        Number.at_least("the same, weight 0 late", leaks[late], 0.05),
        Number.at_most("attend's weights minus those above", against_attend(ways[right]), 1e-12),
        Number.at_most("a sentence padded and alone differ by", padding["masked"], 1e-12),
        Number.at_least("the same without a padding mask", padding["open"], 1e-3),
    ]
    drawings = [_draw_masks(), _draw_ways(ways)]
    return Lesson(numbers, drawings, _says(ways, leaks), [_table(added(allowed))])


def against_attend(weights: Tensor) -> float:
    """What the library's attention makes of the same scores and Mask(causal=True)."""
    k = torch.eye(4, dtype=torch.float64)[None, None]
    q = torch.tensor(SCORES, dtype=torch.float64)[None, None] * 2  # it divides by the root of 4
    _, found = attend(q, k, k, mask=Mask(causal=True), weights=True)
    assert found is not None
    return float((found[0, 0] - weights).abs().max())


def differing(drawn: Tensor) -> int:
    return int((drawn != torch.tensor(CAUSAL, dtype=torch.float64)).sum())


def ahead(weights: Tensor) -> float:
    """The largest weight that a word gives to the words after it, taken together."""
    return float(weights.triu(1).sum(dim=-1).max())


def padding_shows(dice: torch.Generator) -> dict[str, float]:
    """Two words by themselves, and with two places of padding behind them."""
    x = torch.randn(1, 1, 4, 8, generator=dice, dtype=torch.float64)
    alone, _ = attend(*[x[:, :, :2]] * 3)
    masks = {"masked": Mask(lengths=torch.tensor([2])), "open": None}
    padded = {name: attend(x, x, x, mask=mask)[0][:, :, :2] for name, mask in masks.items()}
    return {name: float((found - alone).abs().max()) for name, found in padded.items()}


def _least_sum(weights: Tensor) -> float:
    return float(weights.sum(dim=-1).min())


def _says(ways: dict[str, Tensor], leaks: dict[str, float]) -> list[str]:
    right, zero, late = ways
    return [
        "The matrix that Mask(causal=True) draws is the one of the course: row by row one more 0, "
        "and minus infinity above the diagonal.",
        f'With scores of 0 in the hidden places, "I" gives {ahead(ways[zero]):.0%} of its weight '
        "to words that are not written yet. With minus infinity it is 0, not nearly 0.",
        "Weights set to 0 after the softmax look right in a picture, but the first row sums to "
        f"{ways[late][0].sum():.2f}. When the last word is exchanged, the outputs before it move "
        f"by up to {leaks[late]:.2f} (by {leaks[zero]:.2f} with scores of 0, by exactly 0 with "
        "minus infinity): the hidden words are still in the sum that everything was divided by. "
        "Dividing each row by its sum again would mend it; minus infinity needs no mending.",
        "Without a padding mask the answer for a short sentence depends on how long its neighbours "
        "in the batch are. With it, padded and alone are the same to 1e-12.",
    ]


def _table(drawn: Tensor) -> Table:
    rows: list[tuple[str, ...]] = [
        (word, *("0" if value == 0 else "-inf" for value in row))
        for word, row in zip(WORDS, drawn.tolist(), strict=True)
    ]
    return Table("The causal mask of four words, as it is added to the scores", ("", *WORDS), rows)


def _draw_masks() -> Drawing:
    figure, axes = panels(4, size=(2.05, 2.7))
    masks = {
        "causal": Mask(causal=True),
        "padding": Mask(lengths=torch.tensor([4])),
        "causal and padding": Mask(causal=True, lengths=torch.tensor([4])),
        "window of 3": Mask(causal=True, window=3),
    }
    columns = ["I", "am", "very", "calm", "–", "–"]
    for ax, (name, mask) in zip(axes, masks.items(), strict=True):
        _draw_mask(ax, added(mask.draw(6, 6)[0, 0]))
        words = columns if "padding" in name else ["I", "am", "very", "very", "calm", "."]
        ax.set_yticks(range(6), words, fontsize=9)
        ax.set_xticks(range(6), words, fontsize=9, rotation=90)
        label(ax, name, "is looked at")
    axes[0].set_ylabel("looks")
    return Drawing(
        figure,
        "What is added to the scores: 0 (bright) where a word may look, minus infinity (dark) "
        "where it may not. Dashes are padding. In the window a word sees itself and two before it.",
    )


def _draw_mask(ax: Axes, drawn: Tensor) -> None:
    ax.imshow(drawn.isinf().numpy(), cmap="Greys", vmin=-0.1, vmax=1.4, aspect="equal")
    ax.spines[:].set_visible(False)
    for (row, column), value in np.ndenumerate(drawn.numpy()):
        text, colour = ("0", "black") if value == 0 else ("-∞", "white")
        ax.text(column, row, text, ha="center", va="center", fontsize=9, color=colour)


def _draw_ways(ways: dict[str, Tensor]) -> Drawing:
    figure, axes = panels(3, size=(2.75, 2.9))
    for ax, (way, weights) in zip(axes, ways.items(), strict=True):
        rows = [
            f"{word} (sum {total:.2f})"
            for word, total in zip(WORDS, weights.sum(dim=1), strict=True)
        ]
        heat(ax, weights, rows, WORDS, numbers=True, bar=False)
        ax.plot(
            [0.5, 0.5, 1.5, 1.5, 2.5, 2.5, 3.5],
            [-0.5, 0.5, 0.5, 1.5, 1.5, 2.5, 2.5],
            color=COLOURS[1],
            linewidth=2.5,
        )
        label(ax, f"{way[0].upper()}{way[1:]}")
    return Drawing(
        figure,
        "The weights from the same scores, three ways; the future lies right of the line. Left, "
        "the right way: 0 for the future, rows sum to 1. Middle: a score of 0 gives the future "
        "weights. Right: weights set to 0 after the softmax; the rows do not sum to 1, and what is "
        "missing tells of the future.",
    )
