"""How a language model is put to the proof: how to call it, and made-up text.

B batch   T tokens
"""

from random import Random
from typing import Any

from torch import Tensor

from regard.models.decoder import Decoder
from regard.names import FIRST_PIECE
from regard.tasks.probe import Probe, Side
from regard.text.tokenizer import Tokenizer

LONGEST = 64  # tokens of a proof, where the network itself has no limit
SHORT = 12  # tokens of an invented document, at most


def probe_of_text(vocabulary: int, longest: int) -> Probe:
    return Probe((Side("text", vocabulary, longest, causal=True),), _call, _step)


def _call(network: Any, ids: Tensor, mask: Tensor) -> Tensor:
    """Padding behind a text needs no mask: no real position looks that far ahead."""
    return network(ids)


def _step(network: Any, state: Any, tokens: Tensor) -> tuple[Tensor, Any]:
    if state is None and isinstance(network, Decoder):
        state = network.start()
    return network.step(state, tokens)


def invent_text(dice: Random, documents: int, tokenizer: Tokenizer) -> list[str]:
    """Documents made of the tokenizer's own pieces."""
    found = (_invent(dice, tokenizer) for _ in range(100 * documents))
    return [text for text in found if tokenizer.ids(text)][:documents]


def _invent(dice: Random, tokenizer: Tokenizer) -> str:
    length = dice.randint(2, SHORT)
    return tokenizer.decode([dice.randrange(FIRST_PIECE, tokenizer.size) for _ in range(length)])
