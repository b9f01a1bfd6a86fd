"""The Transformer, part by part: what each does, where the parameters are, what the settings do."""

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from regard.course.blueprint import blueprint
from regard.course.draw import COLOURS, label, panels
from regard.course.lesson import Drawing, Lesson, Number, Table
from regard.course.norm_place import both_places
from regard.course.tiny import repeatable
from regard.errors import ShapeError
from regard.models.encoder import Source
from regard.models.weights import count_parameters
from regard.nn.attention import attend, join_heads, split_heads
from regard.nn.block import Block
from regard.nn.watch import watch
from regard.shapes import StackSettings
from regard.zoo.parts import parts_of
from regard.zoo.presets import PRESETS, network_of_preset

TITLE = "The whole Transformer, part by part"
IDEA = """
Everything is there now. Words become vectors and get positions. Then come some layers, all built
alike: an attention, in which the words exchange what they know, and a feed-forward part, in which
each word thinks about it by itself. Around each part leads a way, the residual: the part only adds
something to what is there already. After (or before) each part a layer norm brings the numbers of
a word to mean 0 and variance 1, times gamma plus beta, which are learned.

An encoder lets all words see each other and gives back a vector for each. A decoder lets a word
see only those before it, and scores what comes next: GPT. An encoder-decoder has both, and its
decoder looks at the encoder's vectors by cross-attention: the Transformer of 2017, for
translation.

The networks that have names differ in sizes and in a few switches: where the norm stands, which
non-linear function the feed-forward part has, how positions come in.
"""
TRY = (
    "regard info vaswani-base prints where all its parameters are; try bert-base and gpt2.",
    "Where would the parameters of gpt2 be with a vocabulary of 500?",
    "Train 8 layers with the norm after each part and a warm-up of half the steps.",
)
QUESTIONS = (
    (
        "SimpleTransformer: how long may its input be?",
        "As long as you like: it has no positions and nothing in it knows a length. Only time and "
        "memory end it, which grow with the square.",
    ),
    (
        "How many words come out of it for 100 words in?",
        "100 times a score for every word of the vocabulary: one judgement for each place.",
    ),
    (
        "What are gamma and beta for?",
        "The norm takes the size and the mean away; with a learned gamma and beta for each feature "
        "the network can set them as it needs them.",
    ),
    (
        "What happens to a layer whose parts give 0?",
        "With the norm before the parts nothing: the residual hands the word on as it was.",
    ),
    (
        "Which part knows where a word stands?",
        "The positions: attention, feed-forward and norm treat all places alike. In a decoder the "
        "causal mask gives some of it away too.",
    ),
)
PUBLISHED = {  # parameters, without what the authors count and we do not have; see zoo/presets.py
    "bert-base": 109_482_240 - 590_592,
    "gpt2": 124_439_808,
    "chollet-imdb": 5_817_633 - 257,
    "chollet-spa": 19_960_216 - 3_855_000,
}
ROUNDED = {"vaswani-base": 65, "vaswani-big": 213}  # millions, table 3 of the paper
GROUPS = {  # a part belongs to the first whose word is in its name; the rest are tables
    "positions": ("positions", "segments"),
    "self-attention": ("self-attention",),
    "cross-attention": ("cross-attention",),
    "feed-forward": ("feed-forward",),
    "norms": ("norm",),
}
PATHS = {
    "encoder.embed_norm": "encoder: vectors of the words, with positions",
    "encoder.blocks.0.attention.attend": "encoder, first layer: mixed by each of 8 heads",
    "encoder.blocks.0.norm": "added and normed",
    "encoder.blocks.0.feed.up": "inside the feed-forward part",
    "encoder.blocks.5": "after six layers: vectors that know their context",
    "decoder.embed_norm": "decoder: vectors of the words written so far",
    "decoder.blocks.0.attention": "decoder, first layer: after causal self-attention",
    "decoder.blocks.0.cross": "after cross-attention: 5 words have looked at 7",
    "decoder": "scores of the next word at each of 5 places",
}
HATCHES = ("", "..", "//", "\\\\", "xx", "")


def lesson(seed: int = 0) -> Lesson:
    with repeatable(seed) as dice:
        pre, post = (against_hand(place, dice) for place in ("pre", "post"))
        places = both_places(seed)
    networks = {name: network_of_preset(name, device="meta") for name in PRESETS}
    counts = {name: count_parameters(network) for name, network in networks.items()}
    layer = count_parameters(Block(StackSettings(width=512, heads=8)))
    simple = {words: judged(words) for words in (100, 100_000)}
    numbers = [
        Number.at_most("layer by hand minus ours, pre-norm", pre, 1e-12),
        Number.at_most("layer by hand minus ours, post-norm", post, 1e-12),
        Number.equal("parameters of a layer of width 512", layer, 3_152_384),
        *(Number.equal(f"parameters of {n}", counts[n], wanted) for n, wanted in PUBLISHED.items()),
        *(
            Number.equal(f"{name}, millions (within 2.5)", counts[name] / 1e6, wanted, within=2.5)
            for name, wanted in ROUNDED.items()
        ),
        Number.equal("SimpleTransformer: places out for 100 words in", simple[100][0], 100),
        Number.equal("SimpleTransformer: scores at each place", simple[100][1], 10_000),
        Number.equal("SimpleTransformer: places out for 100,000 in", simple[100_000][0], 100_000),
        *places.numbers(),
    ]
    base = networks["vaswani-base"]
    drawings = [_draw_plan(base), _draw_parts(networks), places.draw()]
    tables = [way_through(base), _presets(networks), settings_table(), lengths_table()]
    return Lesson(numbers, drawings, [*_says(counts), places.says()], tables)


def layer_norm(x: Tensor, gamma: Tensor, beta: Tensor) -> Tensor:
    """Mean 0 and variance 1 for every word by itself, times gamma, plus beta."""
    mean = x.mean(dim=-1, keepdim=True)
    variance = (x - mean).square().mean(dim=-1, keepdim=True)
    return (x - mean) / (variance + 1e-5).sqrt() * gamma + beta


def by_hand(block: Block, x: Tensor, place: str) -> Tensor:
    """One encoder layer (B, T, E) -> (B, T, E), every step in sight."""

    def attention(h: Tensor) -> Tensor:
        parts = block.attention.project(h).chunk(3, dim=-1)
        q, k, v = (split_heads(part, block.attention.head_width) for part in parts)
        return block.attention.out(join_heads(attend(q, k, v)[0]))

    def feed_forward(h: Tensor) -> Tensor:
        return block.feed.out(block.feed.up(h).clamp(min=0))  # ReLU

    for part, norm in ((attention, block.norm), (feed_forward, block.feed_norm)):
        gamma, beta = norm.parameters()
        if place == "pre":
            x = x + part(layer_norm(x, gamma, beta))
        else:
            x = layer_norm(x + part(x), gamma, beta)
    return x


@torch.no_grad()
def against_hand(place: str, dice: torch.Generator) -> float:
    s = StackSettings.model_validate({"width": 64, "heads": 8, "norm_place": place})
    block = Block(s).double()
    for learned_number in (*block.norm.parameters(), *block.feed_norm.parameters()):
        nn.init.normal_(learned_number)  # gamma and beta: not 1 and 0, so that they count
    x = torch.randn(2, 6, 64, generator=dice, dtype=torch.float64)
    return float((block(x, None, lambda x, start: x) - by_hand(block, x, place)).abs().max())


def way_through(network: nn.Module) -> Table:
    """The shapes on the way of 7 source and 5 target words through an encoder-decoder."""
    source, target = (torch.zeros(1, n, dtype=torch.long, device="meta") for n in (7, 5))
    with watch(network) as calls:
        network(Source(source), target)
    shapes = {call.path: tuple(call.outputs[0].shape) for call in calls}
    rows: list[tuple[str, ...]] = [(words, str(shapes[path])) for path, words in PATHS.items()]
    title = "7 source and 5 target words on their way through vaswani-base"
    return Table(title, ("", "shape"), rows)


def judged(words: int) -> tuple[int, int]:
    """What the SimpleTransformer gives for so many words: places, and scores at each."""
    network = network_of_preset("simple-transformer", device="meta")
    _, places, scores = network(torch.zeros(1, words, dtype=torch.long, device="meta")).shape
    return places, scores


def group_of(part: str) -> str:
    """'decoder layer: feed-forward' -> 'feed-forward'; tables, positions and norms together."""
    for group, words in GROUPS.items():
        if any(word in part for word in words):
            return group
    return "token tables"


def grouped(network: nn.Module) -> dict[str, int]:
    found = dict.fromkeys(["token tables", *GROUPS], 0)
    for part in parts_of(network):
        found[group_of(part.name)] += part.total
    return found


def _presets(networks: dict[str, nn.Module]) -> Table:
    rows: list[tuple[str, ...]] = [
        (name, *(f"{n / 1e6:,.2f}" for n in found.values()), f"{sum(found.values()):,}")
        for name, found in ((name, grouped(network)) for name, network in networks.items())
    ]
    head = ("preset", "token tables", *GROUPS, "all parameters")
    return Table("Millions of parameters in each part of published networks", head, rows)


def settings_table() -> Table:
    """One layer of width 512 with every switch in turn."""
    switches: dict[str, dict[str, str]] = {
        "as in 2017: post-norm, layer norm, ReLU": {"norm_place": "post"},
        "norm_place = pre": {},
        "activation = gelu": {"activation": "gelu"},
        "activation = swiglu": {"activation": "swiglu"},
        "norm = rms": {"norm": "rms"},
    }
    rows: list[tuple[str, ...]] = []
    for name, switched in switches.items():
        s = StackSettings.model_validate({"width": 512, "heads": 8, **switched})
        found = grouped(Block(s))
        parts = [found[group] for group in ("self-attention", "feed-forward", "norms")]
        rows.append((name, *(f"{n:,}" for n in parts), f"{sum(parts):,}"))
    head = ("setting", "self-attention", "feed-forward", "norms", "all")
    return Table("Parameters of one layer of width 512, one switch at a time", head, rows)


def lengths_table() -> Table:
    """How long an input may be, tried."""
    rows: list[tuple[str, ...]] = []
    for name in ("simple-transformer", "gpt2"):
        network = network_of_preset(name, device="meta")
        for words in (100, 1024, 1025):
            try:
                out = network(torch.zeros(1, words, dtype=torch.long, device="meta"))
                rows.append((name, f"{words:,}", str(tuple(out.shape))))
            except ShapeError as error:
                rows.append((name, f"{words:,}", str(error)))
    return Table("How long may an input be, and what comes out?", ("preset", "words", "out"), rows)


def _says(counts: dict[str, int]) -> list[str]:
    return [
        "A layer written out by hand, with the norm before or after its parts, gives what ours "
        "gives, to 1e-12. There is nothing else in it.",
        "The published counts come out to the last parameter where they are published so. The "
        "paper of 2017 says 65 million for its base model; with the vocabulary of 37,000 that it "
        f"names, {counts['vaswani-base'] / 1e6:.1f} million can be counted.",
        "In the SimpleTransformer every word gives one judgement: 100 words in, 100 places with "
        "10,000 scores each out. It takes any length. A network with learned positions does not, "
        "and says so. (Whoever builds it from torch.nn.MultiheadAttention: that gives back a pair, "
        "output and weights, and is trained only if it is kept in self.)",
    ]


def _draw_plan(network: nn.Module) -> Drawing:
    parameters = {part.name: part.parameters for part in parts_of(network)}
    return Drawing(
        blueprint(parameters, layers=6),
        "The Transformer of 2017 with its numbers of parameters, those of the six layers for one "
        "of them. Left the encoder reads, right the decoder writes. The lines on the left of each "
        "part are the residuals: the way around it, to the sum.",
    )


def _draw_parts(networks: dict[str, nn.Module]) -> Drawing:
    figure, (ax,) = panels(1, size=(7.4, 3.7))
    found = {name: grouped(network) for name, network in networks.items()}
    left = np.zeros(len(found))
    for number, group in enumerate(["token tables", *GROUPS]):
        share = np.array([100 * one[group] / sum(one.values()) for one in found.values()])
        style: dict[str, Any] = {"color": COLOURS[number], "hatch": HATCHES[number]}
        ax.barh(list(found), share, left=left, label=group, edgecolor="white", **style)
        left += share
    for row, one in enumerate(found.values()):
        ax.text(101, row, f"{sum(one.values()) / 1e6:,.1f} M", va="center", fontsize=9)
    ax.invert_yaxis()
    ax.legend(fontsize=9, frameon=False, ncols=3, loc="upper center", bbox_to_anchor=(0.45, -0.2))
    ax.set_xlim(0, 112)
    label(ax, "Where the parameters are", "share of all parameters, %")
    return Drawing(
        figure,
        "Published networks, and in which parts their parameters are. With few layers and many "
        "words the tables are most of it; in deep networks the feed-forward parts are the largest.",
    )
