"""Which pairs of someone's files train, validate and test."""

import warnings
from collections.abc import Callable, Sequence
from pathlib import Path

from regard.data.conversations import HISTORY, Reply, read_conversations
from regard.data.named import read_named
from regard.data.pairs import Pair, open_pairs
from regard.data.splits import Splits, split
from regard.data.table import Flaw
from regard.errors import DataError
from regard.tasks.pair_doubts import turned_around
from regard.tasks.pair_recipe import PairData
from regard.tasks.parts import parted, shares_left
from regard.tasks.task import Part

Key = Callable[[Pair], str]


def files(paths: str | Sequence[str] | None) -> list[Path]:
    """The files that a setting names, as a person here would write them."""
    found = [Path(path) for path in ([paths] if isinstance(paths, str) else paths or ())]
    here = Path.cwd()
    return [path.relative_to(here) if path.is_relative_to(here) else path for path in found]


def read_part(data: PairData, paths: Sequence[Path], *, fallback: bool = False) -> Part[Pair]:
    """All pairs of some file, with what was guessed and left out on the way."""
    if data.turns is not None:
        return _replies(data, data.turns, paths)
    table = open_pairs(paths, data.source, data.target, fallback=fallback)
    if data.bad_rows == "refuse":
        return Part(list(table.read()), table.notes, 0)
    rows = list(table.rows())
    pairs = [row[1] for row in rows if not isinstance(row, Flaw)]
    if not pairs:
        raise DataError(f"{table.table.name}: none of its {len(rows):,} rows can be used.")
    return Part(pairs, table.notes, len(rows) - len(pairs))


def _replies(data: PairData, key: str, paths: Sequence[Path]) -> Part[Pair]:
    if len(paths) != 1:
        raise DataError("data.turns: conversations are read from one file, not from two.")
    rows = list(read_conversations(paths[0], key, data.history or HISTORY))
    flaws = [row for row in rows if isinstance(row, Flaw)]
    pairs: list[Pair] = [row for row in rows if isinstance(row, Reply)]
    if flaws and data.bad_rows == "refuse":
        raise DataError(
            f"{paths[0]}:{flaws[0].line}: {flaws[0].problem} Mend it, or leave such lines out with "
            "--set data.bad_rows=skip."
        )
    if not pairs:
        raise DataError(f'{paths[0]}: nobody answers in it: no "{key}" has two turns or more.')
    return Part(pairs, (), len(flaws))


def read_splits(data: PairData, key: Key) -> Splits[Pair]:
    """The three parts. Equal keys are on one side, also where a part has a file of its own: then
    the test file keeps them, then the validation file, and the others go without."""
    if data.set:
        return split(read_named(data.set), key, data.split)
    whole = read_part(data, files(data.path))
    sides = split(whole.examples, key, shares_left(data))
    own = {
        side: read_part(data, files(getattr(data, side)), fallback=True)
        for side in ("test", "validation")
        if getattr(data, side)
    }
    trained = [(pair.source, pair.target) for pair in sides.train] if own else []
    for side, part in own.items():
        if doubt := turned_around(part.examples, trained):
            warnings.warn(f"data.{side}: {doubt}", stacklevel=2)
    kept, gone = parted(sides, own, key)
    if data.turns:
        kept, twins = _without_twins(kept)
        gone += twins
    notes = (note for part in (whole, *own.values()) for note in part.notes)
    skipped = whole.skipped + sum(part.skipped for part in own.values())
    return Splits(
        kept["train"], kept["validation"], kept["test"], tuple(dict.fromkeys(notes)), skipped, gone
    )


def _without_twins(kept: dict[str, list[Pair]]) -> tuple[dict[str, list[Pair]], int]:
    """People say the same in many conversations: what the test holds does not validate, and what
    either holds does not train."""
    before, seen = sum(map(len, kept.values())), set[tuple[str, str]]()
    found = {}
    for side in ("test", "validation", "train"):
        found[side] = [pair for pair in kept[side] if (pair.source, pair.target) not in seen]
        seen |= {(pair.source, pair.target) for pair in found[side]}
    return found, before - sum(map(len, found.values()))
