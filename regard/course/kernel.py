"""Kernel regression: attention with one number a query."""

import torch

from regard.course.draw import COLOURS, label, lines, panels
from regard.course.lesson import Drawing, Lesson, Number
from regard.course.tiny import repeatable, train
from regard.nn.kernel import KernelRegression, kernel_regression
from regard.tasks.task import Loss

TITLE = "Ask the neighbours: the first attention"
IDEA = """
A shop in a town of 60,000 people made 175,000 a year, one in a town of 70,000 made 200,000, one
in a town of 85,000 made 210,000. What will a shop make in a town of 65,000? A fair answer: a mean
of what is known, in which towns of a similar size count more.

That is kernel regression (Nadaraya and Watson, 1964), and it is attention with every part in
sight. The question is a query, the known towns are keys, their profits are values. Each key is
scored by its distance to the query: minus ((query - key) / width) squared. A softmax turns the
scores into shares of 1, and the answer is the mean of the values with these shares. Later chapters
only change how a query and a key are scored.
"""
TRY = (
    "Ask at 77,500, half-way between the last two towns: what are the weights?",
    "Divide by a width of 10,000 before squaring: now all three towns have a say.",
    "Learn the width on data of your own: regard.nn.kernel.KernelRegression.leave_one_out.",
)
QUESTIONS = (
    (
        "Why do the weights of a query sum to 1?",
        "A softmax makes them so: the answer is a mean, and stays between the smallest and the "
        "largest known value.",
    ),
    (
        "The nearest keys are 5,000 away on both sides. Why does the third get 0?",
        "Its squared distance is larger by 375 million, and e to the minus 375 million is 0 in the "
        "arithmetic of any computer.",
    ),
    (
        "What does the width decide?",
        "How far around a query looks: narrow copies the nearest neighbour, wide answers with the "
        "mean of everything.",
    ),
)
TOWNS, PROFITS = (60_000.0, 70_000.0, 85_000.0), (175_000.0, 200_000.0, 210_000.0)
NOISE = 0.3


def lesson(seed: int = 0) -> Lesson:
    towns, profits = torch.tensor(TOWNS).double(), torch.tensor(PROFITS).double()
    answer, _ = kernel_regression(torch.tensor([65_000.0]).double(), towns, profits)
    _, weights = kernel_regression(
        torch.tensor([15.0]), torch.tensor([10.0, 20.0, 30.0]), torch.zeros(3)
    )
    with repeatable(seed) as dice:
        x = torch.rand(60, generator=dice).sort().values * 6
        y = x.sin() + NOISE * torch.randn(60, generator=dice)
        model = KernelRegression(width=3.0)
        before = _error(model, x, y)
        train(model, lambda step: None, lambda m, _: _loss(m, x, y), steps=200, rate=0.05)
        after = _error(model, x, y)
    numbers = [
        Number.equal("profit expected at 65,000", float(answer), 187_500, within=1e-6),
        *(
            Number.equal(f"query 15: weight of key {key}", float(found), wanted, within=1e-6)
            for key, found, wanted in zip((10, 20, 30), weights[0], (0.5, 0.5, 0.0), strict=True)
        ),
        Number.equal("query 15: sum of the weights", float(weights.sum()), 1.0, within=1e-6),
        Number.measured("learned width, begun at 3", model.width),
        Number.measured("mean squared error with width 3, own value hidden", before),
        Number.at_most("the same with the learned width", after, before),
    ]
    says = [
        "At 65,000 the two nearest towns are equally far, so each gets one half and the third "
        "nothing: (175,000 + 200,000) / 2 = 187,500. A query of 15 between keys at 10, 20 and 30 "
        "has the weights 0.5, 0.5 and 0 for the same reason.",
        f"A width can be learned like any weight. Begun at 3, far too wide for a wave, it came to "
        f"{model.width:.2f} on 60 noisy points, and the error where a point does not see itself "
        f"fell from {before:.2f} to {after:.2f}; the noise alone makes {NOISE**2:.2f}.",
    ]
    return Lesson(numbers, [_draw_towns(towns, profits), _draw_wave(model, x, y)], says)


def _loss(model: KernelRegression, x: torch.Tensor, y: torch.Tensor) -> Loss:
    return Loss((model.leave_one_out(x, y) - y).square().sum(), len(x))


@torch.no_grad()
def _error(model: KernelRegression, x: torch.Tensor, y: torch.Tensor) -> float:
    return float(_loss(model, x, y).total) / len(x)


def _draw_towns(towns: torch.Tensor, profits: torch.Tensor) -> Drawing:
    figure, (above, below) = panels(1, 2, size=(7.0, 2.6))
    x = torch.linspace(55_000, 90_000, 400).double()
    for width, colour in ((1.0, COLOURS[5]), (6_000.0, COLOURS[0])):
        y, weights = kernel_regression(x, towns, profits, width)
        above.plot(x, y, color=colour, label=f"width {width:,.0f}")
    above.plot(towns, profits, "o", color=COLOURS[1], label="known shops")
    above.axvline(65_000, color="#999999", linewidth=0.8)
    above.legend(fontsize=9, frameon=False)
    label(above, "Expected profit for every size of town", "", "profit")
    shares = {f"town of {town:,.0f}": weights[:, i].tolist() for i, town in enumerate(TOWNS)}
    lines(below, x.tolist(), shares)
    below.axvline(65_000, color="#999999", linewidth=0.8)
    label(below, "Whom each query asks (width 6,000)", "people in the town", "weight")
    return Drawing(
        figure,
        "Above, the answers: with width 1 a staircase that copies the nearest shop, with width "
        "6,000 a curve. Below, the weights behind the curve: at each size of town they sum to 1.",
    )


def _draw_wave(model: KernelRegression, x: torch.Tensor, y: torch.Tensor) -> Drawing:
    figure, (ax,) = panels(1, size=(7.0, 3.0))
    asked = torch.linspace(0, 6, 300)
    ax.plot(x, y, ".", color=COLOURS[5], label="60 noisy points")
    for name, width, colour in (
        ("width 3", 3.0, COLOURS[1]),
        (f"learned, {model.width:.2f}", model.width, COLOURS[0]),
        ("width 0.03", 0.03, COLOURS[4]),
    ):
        ax.plot(asked, kernel_regression(asked, x, y, width)[0], color=colour, label=name)
    ax.plot(asked, asked.sin(), "--", color="#999999", label="the wave itself")
    ax.legend(fontsize=9, frameon=False, ncols=2)
    label(ax, "Too wide, learned, too narrow", "x", "y")
    return Drawing(
        figure,
        "A wave hidden in noise. Too wide flattens the wave to a slope, too narrow repeats "
        "the noise, the learned width follows the wave.",
    )
