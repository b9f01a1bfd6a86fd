"""Why the scores are divided by the root of the width."""

import math
from typing import NamedTuple

import torch
from torch import Tensor

from regard.course.draw import COLOURS, label, lines, panels
from regard.course.lesson import Drawing, Lesson, Number, Table
from regard.course.tiny import repeatable
from regard.nn.attention import attend
from regard.nn.plain import attention

TITLE = "Divide by the root of the width"
IDEA = """
A score is a sum of d_k products, one for each feature of the query and the key. If the features
are independent numbers around 0 with variance 1, every product has variance 1, and the sum of d_k
of them has variance d_k. With 64 features scores are typically 8 in size, with 512 about 23.

A softmax over such scores is nearly a choice: one weight close to 1, the others close to 0. There
it is flat. A small change of a score changes no weight, so almost no gradient comes back and
little is learned. Divided by the root of d_k, the scores have variance 1 again, whatever the width.
"""
TRY = (
    "Give attend(..., scale=1.0) and train a network of your own: how much longer does it take?",
    "Use 128 keys instead of 16. Where do the two curves part?",
    "Divide by d_k instead of its root: the weights become all alike. Why is that no better?",
)
QUESTIONS = (
    (
        "Why the root of d_k, and not d_k itself?",
        "The variance of a score is d_k, so its typical size is the root of d_k; divided by that, "
        "the size is 1.",
    ),
    (
        "What is wrong with a softmax that is nearly 0 and 1?",
        "Its gradient is nearly 0: the network can not find out that another word would have been "
        "better.",
    ),
    (
        "Which shapes go in and come out for 6 queries, 6 keys, d_k = 64 and d_v = 32?",
        "(6, 64), (6, 64) and (6, 32) go in, the weights are (6, 6), and (6, 32) comes out.",
    ),
    (
        "Does the scale still matter when the network has learned?",
        "Less: learned queries and keys can have any size. It is there so that learning begins "
        "where gradients flow.",
    ),
)
WIDTHS = (1, 4, 16, 64, 256, 1024)
KEYS, QUERIES = 16, 2000
SURE = 0.99  # a query with a weight above this has in effect chosen


class Found(NamedTuple):
    """What random queries and keys of one width showed."""

    variance: float  # of the scores
    mean: float  # size of the softmax's gradient
    median: float  # the same for the query in the middle
    chosen: float  # share of the queries with a weight above SURE


def lesson(seed: int = 0) -> Lesson:
    with repeatable(seed) as dice:
        plain, scaled = ([measure(d, dice, scale) for d in WIDTHS] for scale in (False, True))
        same = against_the_formula(dice)
        one_query = weights_of_one_query(512, dice)
    numbers = [
        *(
            Number.equal(f"variance of q.k, d_k = {d} (within a fifth)", found.variance, d, d / 5)
            for d, found in zip(WIDTHS, plain, strict=True)
        ),
        Number.equal("the same, scaled (within a tenth)", scaled[-1].variance, 1, within=0.1),
        Number.measured("gradient of the softmax, d_k = 1, mean", plain[0].mean),
        Number.at_most("the same, d_k = 1024, not scaled", plain[-1].mean, 0.1),
        Number.at_most("of the median query, d_k = 1024, not scaled", plain[-1].median, 0.01),
        Number.at_least("mean again, d_k = 1024, scaled", scaled[-1].mean, 0.25),
        Number.at_least("queries that have chosen, d_k = 1024, not scaled", plain[-1].chosen, 0.6),
        Number.at_most("queries that have chosen, d_k = 1024, scaled", scaled[-1].chosen, 0.01),
        Number.at_most("softmax(QK^T / sqrt(d_k)) V by hand minus attend", same, 1e-12),
    ]
    drawings = [_draw_growth(plain, scaled), _draw_query(one_query)]
    return Lesson(numbers, drawings, _says(plain, scaled), [_table(plain, scaled), shapes()])


def measure(d_k: int, dice: torch.Generator, scale: bool) -> Found:
    q = torch.randn(QUERIES, 1, d_k, generator=dice)
    k = torch.randn(QUERIES, KEYS, d_k, generator=dice)
    scores = (q * k).sum(dim=-1) / (math.sqrt(d_k) if scale else 1.0)
    weights = scores.softmax(dim=-1)
    sizes = softmax_gradient(weights)
    chosen = (weights.max(dim=-1).values > SURE).float().mean()
    return Found(float(scores.var()), float(sizes.mean()), float(sizes.median()), float(chosen))


def softmax_gradient(weights: Tensor) -> Tensor:
    """(..., S) -> the norm of the softmax's Jacobian, diag(w) - w w^T: how much the weights move
    when the scores do."""
    jacobian = weights.diag_embed() - weights[..., :, None] * weights[..., None, :]
    return jacobian.norm(dim=(-2, -1))


def against_the_formula(dice: torch.Generator) -> float:
    q, k = (torch.randn(6, 64, generator=dice, dtype=torch.float64) for _ in range(2))
    v = torch.randn(6, 32, generator=dice, dtype=torch.float64)
    by_hand = (q @ k.T / math.sqrt(64)).softmax(dim=-1) @ v
    fast, _ = attend(q[None, None], k[None, None], v[None, None])
    return float((fast[0, 0] - by_hand).abs().max())


def weights_of_one_query(d_k: int, dice: torch.Generator) -> dict[str, list[float]]:
    q, k = torch.randn(1, d_k, generator=dice), torch.randn(KEYS, d_k, generator=dice)
    scores = (q @ k.T)[0]
    return {
        "not scaled": scores.softmax(dim=0).tolist(),
        "scaled": (scores / math.sqrt(d_k)).softmax(dim=0).tolist(),
    }


def shapes() -> Table:
    q, k, v = torch.zeros(6, 64), torch.zeros(6, 64), torch.zeros(6, 32)
    mixed, weights = attention(q, k, v)
    parts = {"Q (T, d_q)": q, "K (T, d_k)": k, "V (T, d_v)": v, "weights (T, T)": weights}
    rows: list[tuple[str, ...]] = [(n, str(tuple(part.shape))) for n, part in parts.items()]
    rows.append(("mixed (T, d_v)", str(tuple(mixed.shape))))
    return Table("Shapes, for T = 6, d_q = d_k = 64, d_v = 32", ("", "shape"), rows)


def _says(plain: list[Found], scaled: list[Found]) -> list[str]:
    first, last = plain[0], plain[-1]
    return [
        f"The variance of a score is its number of features: at d_k = 64 it came to "
        f"{plain[3].variance:.0f}, at 1024 to {last.variance:.0f}. Divided by the root it is 1 "
        "everywhere.",
        f"Without the scale the softmax has made up its mind: at d_k = 1024, {last.chosen:.0%} of "
        f"the queries give one key more than {SURE:.0%}, and the mean gradient is "
        f"{last.mean / first.mean:.0%} of what it is at d_k = 1. With the scale it is the same for "
        f"every width, and {scaled[-1].chosen:.0%} have chosen.",
        f"The mean even flatters. A few queries have two keys that happen to be level, and keep a "
        f"gradient; the median query keeps {last.median:.0e}.",
    ]


def _table(plain: list[Found], scaled: list[Found]) -> Table:
    head = ("d_k", "variance", "gradient", "chosen", "scaled: variance", "gradient", "chosen")
    rows: list[tuple[str, ...]] = [
        (str(d), *_shown(one), *_shown(other))
        for d, one, other in zip(WIDTHS, plain, scaled, strict=True)
    ]
    return Table(f"{QUERIES:,} random queries, {KEYS} keys each", head, rows)


def _shown(found: Found) -> tuple[str, str, str]:
    return f"{found.variance:.2f}", f"{found.mean:.3f}", f"{found.chosen:.1%}"


def _draw_growth(plain: list[Found], scaled: list[Found]) -> Drawing:
    figure, (left, right) = panels(2, size=(4.0, 3.3))
    by_root = "divided by the root of d_k"
    grown = {"not scaled": [f.variance for f in plain], by_root: [f.variance for f in scaled]}
    lines(left, WIDTHS, grown)
    left.set_yscale("log")
    label(left, "Scores grow with the width", "width d_k", "variance of the scores")
    shrunk = {
        "not scaled, mean": [f.mean for f in plain],
        by_root: [f.mean for f in scaled],
        "not scaled, the median query": [f.median for f in plain],
    }
    lines(right, WIDTHS, shrunk)
    right.set_ylim(0, 0.5)
    label(right, "The gradient goes away", "width d_k", "norm of the softmax's gradient")
    for ax in (left, right):
        ax.set_xscale("log", base=2)
        ax.set_xticks(WIDTHS, [str(d) for d in WIDTHS])
    return Drawing(
        figure,
        "Random queries and keys of growing width. Left: without the scale the variance of a score "
        "is d_k. Right: a softmax over such scores hardly passes a gradient on; divided by the "
        "root of d_k it passes on the same at every width.",
    )


def _draw_query(groups: dict[str, list[float]]) -> Drawing:
    figure, axes = panels(2, size=(4.0, 2.6))
    for ax, (name, weights), colour in zip(axes, groups.items(), COLOURS, strict=False):
        ax.bar(range(1, KEYS + 1), weights, color=colour)
        ax.set_ylim(0, 1.05)
        label(ax, f"One query, d_k = 512, {name}", "key", "weight")
    return Drawing(
        figure,
        "The weights that one random query gives to 16 random keys of width 512. Without the scale "
        "a key or two take all; with it, every key has a say and can gain or lose.",
    )
