"""How a network that turns text into text is put to the proof: how to call it, and made-up pairs.

B batch   S source tokens   T target tokens
"""

from itertools import islice
from random import Random
from typing import Any

from torch import Tensor

from regard.data.pairs import Pair
from regard.models.encoder import Source
from regard.names import FIRST_PIECE
from regard.tasks.probe import Probe, Side
from regard.text.tokenizer import Tokenizer

SHORT = 8  # tokens of an invented text, at most


def probe_of_pairs(source: int, target: int, longest: int) -> Probe:
    """`source`, `target`: the sizes of the vocabularies."""
    sides = (Side("source", source, longest), Side("target", target, longest, causal=True))
    return Probe(sides, _call, _step)


def _call(network: Any, ids: Tensor, mask: Tensor, target: Tensor, target_mask: Tensor) -> Tensor:
    """Padding behind a target needs no mask: no real position looks that far ahead."""
    return network(_source(ids, mask), target)


def _step(
    network: Any, state: Any, tokens: Tensor, ids: Tensor, mask: Tensor
) -> tuple[Tensor, Any]:
    if state is None:
        state = network.start(_source(ids, mask))
    return network.step(state, tokens)


def _source(ids: Tensor, mask: Tensor) -> Source:
    return Source(ids, None if bool(mask.all()) else mask.sum(dim=1))


def invent_pairs(
    dice: Random, rows: int, source: Tokenizer, target: Tokenizer, longest: int
) -> list[Pair]:
    """Pairs of texts made of the tokenizers' own pieces, short enough for the model."""
    sources = (_invent(dice, source, longest) for _ in range(100 * rows))
    fitting = islice(filter(None, sources), rows)
    return [Pair(text, _invent(dice, target, longest - 1)) for text in fitting]


def _invent(dice: Random, tokenizer: Tokenizer, longest: int) -> str:
    """A text of at most `longest` tokens; empty when the dice gave none."""
    length = dice.randint(1, max(1, min(SHORT, longest // 2)))
    pieces = [dice.randrange(FIRST_PIECE, tokenizer.size) for _ in range(length)]
    text = tokenizer.decode(pieces)  # pieces of bytes may meet in other ways when read again
    return text if 0 < len(tokenizer.ids(text)) <= longest else ""
