"""Without positions the order of the words does not matter, and what exactly that means."""

from itertools import permutations

import torch
from torch import Tensor

from regard.course.draw import COLOURS, heat, label, panels
from regard.course.lesson import Drawing, Lesson, Number, Table
from regard.course.tiny import repeatable
from regard.models.decoder import Decoder
from regard.models.encoder import Encoder, Source
from regard.nn.pooling import pool
from regard.nn.positions import POSITIONS
from regard.shapes import DecoderSettings, EncoderSettings

TITLE = "Without positions, order does not matter"
IDEA = """
"dog bites man" and "man bites dog" have the same words. Attention scores every word against every
word, and nothing in a dot product says which of the two came first. So when the words of the input
change places, the vectors that come out change places in the same way, and are otherwise the same.
That is called equivariance.

Invariance is something else: an output that does not change at all. The rows of self-attention are
not invariant, they move. But when they are pooled into one vector, by a mean or a maximum, the
moving can no longer be seen, and the one vector is invariant: both sentences mean the same to the
network. Positions put an end to that (ALiBi in an encoder only in part: it knows how far, not on
which side, so a sentence and its reverse still look alike).
"""
TRY = (
    "Train a classifier without positions (regard.models.encoder.Encoder, positions='none') on "
    "reviews with their words shuffled: how much worse is it?",
    "Read a sentence backwards with ALiBi in an encoder: the rows only move. Which of the other "
    "orders can it tell from the first?",
    "Leave the causal mask out of the decoder of the last row: is it then like the encoder?",
)
QUESTIONS = (
    (
        "Is self-attention permutation invariant, as is often said?",
        "Its rows are equivariant: they move with the words. Only a pooled output is invariant.",
    ),
    (
        "A network pools by taking the first vector, the place of [CLS]. Is that invariant?",
        "Only as long as the first word stays: with another word in front, another row is taken.",
    ),
    (
        "Does a decoder without positions know the order?",
        "Some of it. The mask lets each word see only those before it, so the words see different "
        "things.",
    ),
    (
        "For which task would you leave positions out on purpose?",
        "Where the input is a set: products in a basket, points in space.",
    ),
)
VOCABULARY = ("dog", "bites", "man", "who", "sleeps")
WIDTH, LAYERS = 32, 2
EXACT = 1e-12


def encoder(positions: str, seed: int) -> Encoder:
    """Equal seeds give equal weights, whatever the positions."""
    s = EncoderSettings.model_validate(
        {"width": WIDTH, "heads": 4, "layers": LAYERS, "positions": positions}
    )
    torch.manual_seed(seed)
    return Encoder.of(s, len(VOCABULARY)).double().eval()


def ids_of(sentence: str) -> Tensor:
    return torch.tensor([[VOCABULARY.index(word) for word in sentence.split()]])


@torch.no_grad()
def vectors(network: Encoder | Decoder, ids: Tensor) -> Tensor:
    """(B, T) -> (B, T, width); of a decoder, its scores (B, T, vocabulary)"""
    return network(Source(ids)) if isinstance(network, Encoder) else network(ids)


def moved(network: Encoder | Decoder) -> tuple[Tensor, Tensor]:
    """The vectors of the words in every order (120, 5, E), and what equivariance expects: those of
    the first order, moved like the words."""
    orders = torch.tensor(list(permutations(range(len(VOCABULARY)))))
    found = vectors(network, orders)  # the n-th word of the first order has the id n
    return found, found[0][orders]


def differences(network: Encoder | Decoder) -> dict[str, float]:
    """The largest over all orders: of the rows, and of each way to pool them."""
    found, expected = moved(network)
    pooled = {how: pool(found, how) for how in ("mean", "max", "first")}
    gaps = {how: float((one - one[0]).abs().max()) for how, one in pooled.items()}
    return {"rows": float((found - expected).abs().max()), **gaps}


def lesson(seed: int = 0) -> Lesson:
    with repeatable(seed):
        found = {name: differences(encoder(name, seed)) for name in POSITIONS}
        s = DecoderSettings(width=WIDTH, heads=4, layers=LAYERS, positions="none")
        found["none, but a causal mask"] = differences(Decoder.of(s, len(VOCABULARY)).double())
        drawing = _draw_rows(seed)
    none = found["none"]
    numbers = [
        Number.at_most("no positions: rows, moved back, differ by", none["rows"], EXACT),
        Number.at_most("no positions: means differ by", none["mean"], EXACT),
        Number.at_most("no positions: maxima differ by", none["max"], EXACT),
        Number.at_least("no positions: first vectors differ by", none["first"], 0.1),
        *(
            Number.at_least(f"{name}: rows, moved back, differ by", gaps["rows"], 1e-3)
            for name, gaps in found.items()
            if name != "none"
        ),
    ]
    return Lesson(numbers, [drawing, _draw_gaps(found)], _says(found), [_table(found)])


def _says(found: dict[str, dict[str, float]]) -> list[str]:
    return [
        f"Five words in all 120 orders went through an encoder of {LAYERS} layers in float64. "
        "Without positions the vectors were the same ones in another order: the largest "
        f"difference was {found['none']['rows']:.0e}, which is rounding. Their mean and their "
        "maximum did not change either.",
        "So the word invariant, which one often reads, is true of the pooled vector only. The rows "
        "themselves move with the words, and the first row is another one as soon as another word "
        "comes first.",
        "Every kind of positions ends it, and so does a causal mask alone. (both: sinusoidal and "
        "rotary at once.)",
    ]


def _table(found: dict[str, dict[str, float]]) -> Table:
    rows: list[tuple[str, ...]] = [
        (name, *(f"{gap:.1e}" for gap in gaps.values())) for name, gaps in found.items()
    ]
    head = ("positions", "rows, moved back", "mean", "max", "first")
    return Table("Largest difference from the first order", head, rows)


def _draw_rows(seed: int) -> Drawing:
    figure, axes = panels(2, 2, size=(3.9, 1.9))
    sentences = ("dog bites man", "man bites dog")
    names = {"none": "no positions", "sinusoidal": "with positions"}
    for place, (kind, name) in enumerate(names.items()):
        network = encoder(kind, seed)
        for column, sentence in enumerate(sentences):
            ax = axes[2 * place + column]
            shown = vectors(network, ids_of(sentence))[0, :, :8]
            heat(ax, shown, sentence.split(), two_sided=True, numbers=True, bar=False)
            ax.set_xticks([])
            label(ax, f"{sentence}, {name}", "features 1 to 8" if place else "")
    return Drawing(
        figure,
        "The first 8 numbers of each word's vector. Above, without positions: the rows of dog and "
        "man have changed places and are otherwise the same. Below, with positions, they differ.",
    )


def _draw_gaps(found: dict[str, dict[str, float]]) -> Drawing:
    figure, (ax,) = panels(1, size=(7.2, 3.2))
    gaps = [max(gap["rows"], 1e-17) for gap in found.values()]
    ax.barh(range(len(found)), gaps, color=COLOURS[0])
    ax.set_yticks(range(len(found)), list(found))
    ax.invert_yaxis()
    ax.set_xscale("log")
    ax.axvline(EXACT, color=COLOURS[1], linestyle="--")
    ax.text(EXACT * 1.5, 0, "left of this line: rounding", fontsize=9, va="center")
    label(
        ax,
        "Do the rows only move when the words do?",
        "largest difference after moving them back (log scale)",
        "positions",
    )
    return Drawing(
        figure,
        "Over all 120 orders of five words: without positions nothing but rounding is left when "
        "the rows are moved back; with any kind of positions, or a causal mask, they differ.",
    )
