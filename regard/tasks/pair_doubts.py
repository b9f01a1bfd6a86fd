"""What looks wrong about pairs that can be read: said before time is spent on them."""

from collections.abc import Sequence

from regard.data.pairs import Pair
from regard.names import UNKNOWN
from regard.tasks.side import Side
from regard.text.tokenizer import Tokenizer

ALIKE = 0.9  # of the pairs: more than corrections would leave as they are
BETTER = 0.8  # of the tokens: the other way round fits so much better
LOOKED_AT = 500  # pairs
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


def turned_around(pairs: Sequence[Pair], source: Tokenizer, target: Tokenizer) -> str:
    """A doubt about pairs to score on: do the tokenizers fit better the other way round?"""
    if source is target:
        return ""  # one alphabet for both sides can not tell
    some = pairs[:: -(-len(pairs) // LOOKED_AT) or 1]
    sources, targets = [pair.source for pair in some], [pair.target for pair in some]
    as_given = _cost(source, sources) + _cost(target, targets)
    if _cost(source, targets) + _cost(target, sources) >= BETTER * as_given:
        return ""
    return (
        "the tokens of this run fit the columns better the other way round: are source and target "
        f"swapped? {NAMED}"
    )


def _cost(tokenizer: Tokenizer, texts: Sequence[str]) -> float:
    """Tokens for a character; one that is not known costs three."""
    ids = [token for row in tokenizer.ids_of(texts) for token in row]
    return (len(ids) + 2 * ids.count(UNKNOWN)) / max(1, sum(map(len, texts)))
