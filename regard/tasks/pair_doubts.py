"""What looks wrong about pairs that can be read: said before time is spent on them."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from regard.data.pairs import Pair
from regard.tasks.side import Side

ALIKE = 0.9  # of the pairs: more than corrections would leave as they are
TURNED = 0.9  # of the pairs: they fit better the other way round
LOOKED_AT = 500  # pairs that are doubted
LEARNED_FROM = 5000  # pairs that are known to be the right way round
FEWEST = 10  # pairs that are evidence of anything
NAMED = "Name them with --source and --target."


def doubts(pairs: Sequence[Pair], face: str, source: Side, target: Side) -> list[str]:
    """About pairs to train on."""
    found = []
    same = sum(pair.source == pair.target for pair in pairs) / len(pairs)
    if same >= ALIKE:
        found.append(
            f"source and target are the same text in {same:.0%} of the rows: are these the right "
            f"columns? {NAMED}"
        )
    if face == "pronounce" and source.symbols and not target.symbols:
        found.append(
            "the source looks like sounds and the target like spellings: are the columns the "
            f"wrong way round? {NAMED}"
        )
    if face == "summarize" and source.characters < target.characters:
        found.append(
            f"the source is shorter than its summary ({source.characters:.0f} characters in the "
            f"middle, and {target.characters:.0f}): are the columns the wrong way round? {NAMED}"
        )
    return found


def turned_around(pairs: Sequence[Pair], trained: Sequence[tuple[str, str]]) -> str:
    """A doubt about pairs to score on: are they more like the (source, target) pairs that were
    trained on, when they are turned around?"""
    some, known = _some(pairs, LOOKED_AT), _some(trained, LEARNED_FROM)
    if min(len(some), len(known)) < FEWEST:
        return ""
    sides = [Counter(g for pair in known for g in _grams(pair[side])) for side in (0, 1)]
    turned = sum(_leaning(p.source, *sides) < _leaning(p.target, *sides) for p in some) / len(some)
    if turned < TURNED:
        return ""
    return (
        f"in {turned:.0%} of the rows the source looks like the targets of the training data, and "
        f"the target like its sources: are the columns swapped? {NAMED}"
    )


def _some(rows: Sequence[Any], most: int) -> Sequence[Any]:
    """Evenly: files are often sorted."""
    return rows[:: -(-len(rows) // most) or 1]


def _grams(text: str) -> Iterator[str]:
    """Three letters in a row: they tell languages, and sounds from spellings, apart."""
    padded = f" {text.casefold()} "
    return (padded[i : i + 3] for i in range(len(padded) - 2))


def _leaning(text: str, sources: Counter[str], targets: Counter[str]) -> float:
    """Above 0 for a text like the sources, below for one like the targets: naive Bayes."""
    return sum(math.log((sources[gram] + 1) / (targets[gram] + 1)) for gram in _grams(text))
