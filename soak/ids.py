"""C9: a number that is no token id is refused in words, wherever ids can be handed in.

Left alone, the library drops an id that it does not know, Python counts a negative one from the
end, and True is 1: each would answer something, and wrong.
"""

import random
from collections.abc import Callable, Iterator
from itertools import chain, product
from pathlib import Path
from typing import Any

import torch
from torch import nn

from regard.config import TokenizerSettings
from regard.data.pairs import Pair
from regard.errors import ShapeError, TextError
from regard.models.encoder import Source
from regard.nn.padding import padded
from regard.shapes import TransformerSettings
from regard.tasks.transduce import IdPair, Transduce
from regard.text import TOKENIZERS, Tokenizer, fit_tokenizer
from soak.campaign import Campaign, Outcome
from soak.doors import recipe_for

CPU = torch.device("cpu")
TEXTS = ["The cat sat.", "naïve café: 日本語 🙂", "aaaa bbbb"]
OTHER = (-1, -(2**40), 2**31, 2**63, 1.5, "1", None, True, float("nan"))  # never an id
SHAPES: dict[str, Callable[[int, Any], list[Any]]] = {
    "alone": lambda good, bad: [bad],
    "first": lambda good, bad: [bad, good],
    "last": lambda good, bad: [good, bad],
    "in the middle": lambda good, bad: [good, good, bad, good],
}

Entry = Callable[[list[Any]], Any]
Case = tuple[str, Entry, int, Any, str]  # entry, its function, size of its vocabulary, id, shape


def refuse_ids(cases: int, dice: random.Random, folder: Path) -> Outcome:
    outcome = Outcome()
    every = list(chain(_tokenizer_cases(), _network_cases()))
    for name, entry, size, bad, shape in (
        every if cases >= len(every) else dice.sample(every, cases)
    ):
        wrong = _fault(entry, SHAPES[shape](size - 1, bad), bad)
        outcome.saw(not wrong, f"{name}, {bad!r} {shape} among ids below {size}: {wrong}")
    outcome.notes.append(f"{len({case[0] for case in every})} entries, every id below V taken")
    return outcome


def _fault(entry: Entry, ids: list[Any], bad: Any) -> str:
    """What is wrong with the answer to these ids, of which `bad` should be refused."""
    try:
        answer = entry(ids)
    except (TextError, ShapeError) as error:
        named = str(bad) in str(error) or type(bad).__name__ in str(error)
        return "" if named else f"an error that does not name it: {error}"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return f"taken without a word: {str(answer)[:100]}"


# The tokenizers


def _tokenizer_cases() -> Iterator[Case]:
    for kind, low in product(TOKENIZERS, (False, True)):
        settings = TokenizerSettings(kind=kind, lowercase=low, size=300)
        tokenizer = fit_tokenizer(settings, TEXTS)
        _takes_all(tokenizer)
        for method in ("decode", "pieces"):
            name = f"{kind}{' lowercase' * low}.{method}"
            for bad, shape in product((*OTHER, tokenizer.size, tokenizer.size + 1), SHAPES):
                yield name, getattr(tokenizer, method), tokenizer.size, bad, shape


def _takes_all(tokenizer: Tokenizer) -> None:
    """Refusing everything would be no merit."""
    assert len(tokenizer.pieces(range(tokenizer.size))) == tokenizer.size
    assert tokenizer.decode(range(tokenizer.size))


# The network, and what decodes with it


def _network_cases() -> Iterator[Case]:
    shape = TransformerSettings(width=8, heads=2, encoder_layers=1, decoder_layers=1, max_length=8)
    recipe = recipe_for(path="pairs.tsv").model_copy(update={"model": shape})
    task = Transduce.fit(recipe, [Pair(text, text[::-1]) for text in TEXTS])
    network, size = task.network().eval(), task.source.size
    for name, entry in _entries(task, network):
        for good in range(size):
            entry([good, size - 1 - good])
        for bad, place in product((*OTHER, size, size + 1), SHAPES):
            if name != "a step" or _fits_a_tensor(bad):
                yield f"network: {name}", entry, size, bad, place


def _entries(task: Transduce, network: nn.Module) -> Iterator[tuple[str, Entry]]:
    model: Any = network
    predictor = task.predictor(network, max_length=2)
    start = padded([[1]])
    yield "search", lambda ids: predictor.search([[4, 5], ids])
    yield "source", lambda ids: model(Source.of([ids], CPU), start)
    yield "target", lambda ids: model(Source.of([[4]], CPU), padded([ids]))
    yield "loss, source", lambda ids: task.loss(network, [IdPair(ids, [4]), IdPair([4], [5])])
    yield "loss, target", lambda ids: task.loss(network, [IdPair([4], ids)])
    yield "a step", lambda ids: _step(model, ids)


def _step(model: Any, ids: list[Any]) -> Any:
    """One step of decoding, for as many rows as there are ids."""
    source = Source.of([[4]] * len(ids), CPU)
    return model.step(model.start(source), torch.tensor([i for i in ids]))


def _fits_a_tensor(bad: Any) -> bool:
    """Others never reach us: torch makes no tensor of them."""
    return isinstance(bad, int | float) and not isinstance(bad, bool) and bad != 2**63


CAMPAIGNS: tuple[Campaign, ...] = (
    Campaign(
        name="C9",
        promise="what is no token id is refused in words, wherever ids are handed in",
        full=1124,
        short=300,
        run=refuse_ids,
    ),
)
