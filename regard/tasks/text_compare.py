"""Two language models on the same text: which of their scores can be compared?"""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from regard.metrics.bootstrap import Tally, difference
from regard.tasks.task import Compared, Trained
from regard.tasks.text_data import Documents, Tokens, pieces_of
from regard.tasks.text_scores import tallies_of

SIDES = ("the first", "the second")


class Side(NamedTuple):
    tokens: Tokens
    tallies: dict[str, Tally]
    how: str  # the context that its tokens were judged with
    in_training: int | None


def compare_texts(one: Trained, other: Trained, texts: Documents) -> Compared:
    """Where tokens differ, so do their losses and perplexities; bits of a byte do not, unless a
    tokenizer lost some of the bytes."""
    mine, theirs = (_side(side, texts) for side in (one, other))
    same = one.task.as_json() == other.task.as_json()
    names = [name for name in mine.tallies if same or name == "bits_per_byte"]
    if mine.tokens.lossy or theirs.tokens.lossy:
        names.remove("bits_per_byte")
    scores = {name: difference(mine.tallies[name], theirs.tallies[name]) for name in names}
    known = mine.in_training, theirs.in_training
    return Compared(len(mine.tokens.row) - 1, known, scores, notes=tuple(_notes(mine, theirs)))


def _side(side: Trained, texts: Documents) -> Side:
    task: Any = side.task
    tokens, context = task.tokens(texts), task.context()
    how = context.name(len(tokens.row) - 1)
    tallies = tallies_of(side.network, tokens, context)
    return Side(tokens, tallies, how, trained_on(side.baselines, texts))


def trained_on(baselines: Mapping[str, Any], texts: Documents) -> int | None:
    """How many of the documents were trained on; None where that is not known."""
    seen = baselines["ngram"].seen
    return None if seen is None else seen.count(pieces_of(texts))


def _notes(mine: Side, theirs: Side) -> Iterator[str]:
    lossy = [name for name, side in zip(SIDES, (mine, theirs), strict=True) if side.tokens.lossy]
    if lossy:
        yield (
            f"Bits per byte are left out: the tokens of {' and '.join(lossy)} lose some of the "
            "text (blanks between words, capitals, or what was never met)."
        )
    if mine.how != theirs.how:
        yield f"They are judged with other contexts: {mine.how}, and {theirs.how}."
