"""Layer norm and batch norm on three items: what is averaged with what."""

from collections.abc import Callable

import torch
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from torch import Tensor, nn

from regard.course.draw import heat, label, lines, panels
from regard.course.lesson import Drawing, Lesson, Number, Table
from regard.course.tiny import repeatable
from regard.nn.norms import SequenceBatchNorm

TITLE = "Layer norm and batch norm: what is averaged with what"
IDEA = """
Deep networks train badly when some numbers in them are huge and others tiny. A norm mends that: it
takes off the mean, divides by the standard deviation, and lets two learned numbers a feature,
gamma and beta, choose size and middle anew.

The question is which numbers share a mean. Layer norm takes the features of one item: it needs no
other item and does the same in training and in use. Batch norm takes one feature over all items of
the batch: it needs neighbours, and in use it falls back on means remembered from training. In a
text an item is a word at its place. Texts have unequal lengths, batches change, and a word that is
being written must not depend on later ones: Transformers use layer norm.
"""
TRY = (
    "Multiply one item by 1,000: which of the two results stays as it was?",
    "Make all features of an item equal: what does layer norm give, and why is it no error?",
    'RMS norm leaves the mean where it is and only divides: model.norm = "rms" in a recipe.',
)
QUESTIONS = (
    (
        "Three items with four features: how many means does each norm compute?",
        "Layer norm three, one an item; batch norm four, one a feature.",
    ),
    (
        "What does batch norm make of a single item while training?",
        "Zeros: the item is its own mean.",
    ),
    (
        "Why do Transformers use layer norm?",
        "What becomes of a word depends on that word's vector alone: not on padding, nor on other "
        "texts in the batch, nor on words that come later.",
    ),
)
ITEMS = ((1.0, 2.0, 3.0, 6.0), (10.0, 20.0, 30.0, 60.0), (1.0, 5.0, 3.0, 3.0))
# By hand. Item 1: mean 3, variance 14 / 4; item 3: mean 3, variance 8 / 4.
# Feature 1: mean 4, variance 54 / 3; feature 4: mean 23, variance 2058 / 3.
BY_LAYER = {(1, 1): -1.0690, (1, 4): 1.6036, (2, 1): -1.0690, (3, 1): -1.4142, (3, 3): 0.0}
BY_BATCH = {(1, 1): -0.7071, (2, 1): 1.4142, (3, 1): -0.7071, (1, 4): -0.6491, (2, 4): 1.4127}
SIZES, DRAWS = (2, 4, 8, 16, 32, 64, 128), 200


def layer_norm(x: Tensor) -> Tensor:
    """(items, features), each item by itself."""
    return nn.LayerNorm(x.size(-1))(x).detach()


def batch_norm(x: Tensor) -> Tensor:
    """(items, features), each feature over all items, as in training."""
    return SequenceBatchNorm(x.size(-1))(x[None])[0].detach()


NORMS: dict[str, Callable[[Tensor], Tensor]] = {
    "layer norm": layer_norm,
    "batch norm": batch_norm,
}


def lesson(seed: int = 0) -> Lesson:
    x = torch.tensor(ITEMS)
    layer, batch = layer_norm(x), batch_norm(x)
    moved = {name: neighbour_changes(x, norm) for name, norm in NORMS.items()}
    with repeatable(seed) as dice:
        spreads = {name: spread(norm, dice) for name, norm in NORMS.items()}
    by_batch = spreads["batch norm"]
    numbers = [
        *_worked("layer norm", layer, BY_LAYER),
        *_worked("batch norm", batch, BY_BATCH),
        Number.equal("layer norm: items 1 and 2 differ by", _far(layer[0], layer[1]), 0.0),
        Number.equal("item 2 changes, item 1 moves: layer norm", moved["layer norm"], 0.0, 0.0),
        Number.at_least("item 2 changes, item 1 moves: batch norm", moved["batch norm"], 0.01),
        Number.equal("one item alone, batch norm: largest", float(batch_norm(x[:1]).max()), 0.0),
        Number.equal("padding left out, batch norm moves by", padded(x, counted=False), 0.0),
        Number.at_least("padding counted, batch norm moves by", padded(x, counted=True), 0.1),
        Number.equal("spread in batches of 2: layer norm", spreads["layer norm"][0], 0.0),
        Number.at_least("spread in batches of 2: batch norm", by_batch[0], 0.3),
        Number.at_most("spread in batches of 128: batch norm", by_batch[-1], 0.2),
    ]
    says = [
        "Item 1 has the mean 3 and the variance (4 + 1 + 0 + 9) / 4 = 3.5, so layer norm makes "
        "(1 - 3) / sqrt(3.5) = -1.0690 of its first feature. Item 2 is ten times item 1 and comes "
        "out the same: layer norm forgets how large an item is.",
        "Feature 1 has the mean 4 and the variance (9 + 36 + 9) / 3 = 18, so batch norm makes "
        "(1 - 4) / sqrt(18) = -0.7071 of the same number. It keeps how items compare: "
        "item 2 is still the largest in every feature.",
        f"With a second item five times as large, item 1 moves by {moved['batch norm']:.2f} under "
        "batch norm and not at all under layer norm. If item 2 is the next word of a text, batch "
        "norm lets a network see the future while it trains.",
        "One item among random neighbours: in batches of 2 its numbers spread by "
        f"{by_batch[0]:.2f} from batch to batch, in batches of 128 by {by_batch[-1]:.2f}, under "
        "layer norm never.",
        "In use batch norm takes the means that it remembers. After one batch they are still "
        "nearly those it began with (0 and 1), so the number in the table is another one than in "
        "training; layer norm has nothing to remember.",
    ]
    table = Table(
        "Feature 1 of item 1", ("norm", "in training", "in use, one batch later"), modes(x)
    )
    return Lesson(numbers, [_draw_items(x, layer, batch), _draw_spread(spreads)], says, [table])


def _worked(name: str, found: Tensor, wanted: dict[tuple[int, int], float]) -> list[Number]:
    return [
        Number.equal(f"{name}: item {i}, feature {f}", float(found[i - 1, f - 1]), value)
        for (i, f), value in wanted.items()
    ]


def _far(a: Tensor, b: Tensor) -> float:
    return float((a - b).abs().max().detach())


def neighbour_changes(x: Tensor, norm: Callable[[Tensor], Tensor]) -> float:
    """How far item 1 moves when item 2 becomes five times as large."""
    other = x.clone()
    other[1] *= 5
    return _far(norm(x)[0], norm(other)[0])


def padded(x: Tensor, *, counted: bool) -> float:
    """How far three items move when two places of padding come behind them."""
    longer = torch.cat([x, torch.zeros(2, x.size(1))])[None]
    real = None if counted else torch.arange(longer.size(1))[None] < len(x)
    return _far(SequenceBatchNorm(x.size(1))(longer, real)[0, : len(x)], batch_norm(x))


def modes(x: Tensor) -> list[tuple[str, ...]]:
    """What each norm makes of the same number while training, and then in use."""
    rows: list[tuple[str, ...]] = []
    for name, norm in (("layer", nn.LayerNorm(4)), ("batch", SequenceBatchNorm(4))):
        trained = norm(x[None])[0, 0, 0].item()
        used = norm.eval()(x[None])[0, 0, 0].item()
        rows.append((name, f"{trained:.4f}", f"{used:.4f}"))
    return rows


def spread(norm: Callable[[Tensor], Tensor], dice: torch.Generator) -> list[float]:
    """For each size of batch: how much one item's numbers vary with the neighbours it gets."""
    item = torch.randn(1, 8, generator=dice)
    found = []
    for size in SIZES:
        company = torch.randn(DRAWS, size - 1, 8, generator=dice)
        results = torch.stack([norm(torch.cat([item, others]))[0] for others in company])
        found.append(float(results.std(dim=0).mean()))
    return found


def _draw_items(x: Tensor, layer: Tensor, batch: Tensor) -> Drawing:
    figure, axes = panels(3, size=(2.9, 2.6))
    items, features = ["item 1", "item 2", "item 3"], ["1", "2", "3", "4"]
    heat(axes[0], x, items, features, numbers=True, bar=False)
    label(axes[0], "before", "feature")
    heat(axes[1], layer, items, features, two_sided=True, numbers=True, bar=False)
    label(axes[1], "layer norm: every row has mean 0", "feature")
    heat(axes[2], batch, items, features, two_sided=True, numbers=True, bar=False)
    label(axes[2], "batch norm: every column has mean 0", "feature")
    for item in range(3):
        _frame(axes[1], -0.5, item - 0.5, 4, 1)
    for feature in range(4):
        _frame(axes[2], feature - 0.5, -0.5, 1, 3)
    caption = (
        "Three items with four features. Frames hold the numbers that share a mean and a standard "
        "deviation: for layer norm the features of an item, for batch norm a feature of all items. "
        "Items 1 and 2 come out of layer norm the same, since one is ten times the other."
    )
    return Drawing(figure, caption)


def _frame(ax: Axes, x: float, y: float, wide: float, high: float) -> None:
    inside = (x + 0.05, y + 0.05), wide - 0.1, high - 0.1
    for colour, thick in (("white", 4.5), ("black", 1.6)):  # seen on light and on dark
        ax.add_patch(Rectangle(*inside, fill=False, edgecolor=colour, linewidth=thick))


def _draw_spread(spreads: dict[str, list[float]]) -> Drawing:
    figure, (ax,) = panels(1, size=(7.0, 3.0))
    lines(ax, SIZES, spreads)
    ax.set_xscale("log", base=2)
    ax.set_xticks(SIZES, [str(size) for size in SIZES])
    title = "How much one item depends on who else is in the batch"
    label(ax, title, "items in the batch", "spread of its numbers")
    caption = (
        f"The same item in {DRAWS} random batches of each size: the standard deviation of its "
        "numbers from batch to batch. Batch norm needs large batches; layer norm does not notice."
    )
    return Drawing(figure, caption)
