"""Where are the parameters of a network? A table by parts, equal layers on one line."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from torch import nn

WORDS = {
    "table": "token table",
    "embed_norm": "norm of the embeddings",
    "positions": "positions",
    "segments": "segments",
    "attention": "self-attention",
    "cross": "cross-attention",
    "cross_norm": "norm",
    "feed": "feed-forward",
    "feed_norm": "norm",
    "norm": "norm",
    "judge": "output",
}


class Part(NamedTuple):
    """`layers` layers, each with a part of so many parameters; 1 for what is there once."""

    name: str
    layers: int
    parameters: int  # of one

    @property
    def total(self) -> int:
        return self.layers * self.parameters


def parts_of(network: nn.Module) -> list[Part]:
    """In the order of the network; a shared table counts once, where it comes first.

    >>> from regard.models.simple_transformer import SimpleTransformer
    >>> [tuple(part) for part in parts_of(SimpleTransformer(10, width=4, feed=2))][:2]
    [('token table', 1, 40), ('self-attention', 1, 80)]
    """
    counts: dict[str, int] = {}
    layers: dict[str, set[str]] = {}
    for path, parameter in network.named_parameters():
        name, layer = _place(path)
        counts[name] = counts.get(name, 0) + parameter.numel()
        layers.setdefault(name, set()).add(layer)
    return [Part(name, len(layers[name]), n // len(layers[name])) for name, n in counts.items()]


def _place(path: str) -> tuple[str, str]:
    """'encoder.blocks.3.feed.up.weight' -> ('encoder layer: feed-forward', '3')"""
    side = re.match(r"(encoder|decoder)\.", path)
    inside = path[side.end() :] if side else path
    before = f"{side[1]} " if side else ""
    if found := re.match(r"blocks\.(\d+)\.(\w+)", inside):
        return f"{before}layer: {WORDS.get(found[2], found[2])}", found[1]
    first = inside.removeprefix("embed.").split(".")[0]
    word = "last norm" if first == "norm" else WORDS.get(first, first)
    return before + word, ""


def table_of(network: nn.Module) -> Iterator[tuple[str, str, str, str]]:
    """Rows of a table to print: part, layers, parameters in all, share."""
    found = parts_of(network)
    whole = sum(part.total for part in found)
    for part in found:
        many = f"{part.layers} x {part.parameters:,}" if part.layers > 1 else ""
        yield part.name, many, f"{part.total:,}", f"{part.total / whole:.1%}"
    yield "all", "", f"{whole:,}", ""
