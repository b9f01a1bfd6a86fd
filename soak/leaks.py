"""C11: nothing that is held out was trained on, and `data check` counts every duplicate.

Sources are made of a root and a way to write it, so that who made them knows which are equal,
which nearly so, and which look alike to a tokenizer; no code of regard/data is asked.
"""

import json
import random
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from regard.config import TokenizerSettings
from regard.data.audit import Audit, audit
from regard.data.splits import Splits, default_shares
from regard.errors import DataError
from regard.names import UNKNOWN
from regard.tasks.transduce import Transduce
from regard.text import TOKENIZERS, Tokenizer, fit_tokenizer
from soak.campaign import Campaign, Outcome
from soak.doors import recipe_for

WRITTEN: dict[str, Callable[[str], str]] = {  # ways to write a text; those below are "nearly" it
    "plain": lambda text: text,
    "capitals": str.upper,
    "blanks": lambda text: text.replace(" ", "  ") + " ",
    "taken apart": lambda text: unicodedata.normalize("NFD", text),
    "punctuation": lambda text: text + "!",
}
HELD_OUT = ("validation", "test")


@dataclass(frozen=True)
class Row:
    root: int
    way: str
    target: str

    @property
    def source(self) -> str:
        return WRITTEN[self.way](f"é{self.root} wörter {'ab'[self.root % 2]}")

    @property
    def even(self) -> tuple[int, bool]:
        """Equal but for capitals, blanks and how an accent is written."""
        return self.root, self.way == "punctuation"

    @property
    def pair(self) -> tuple[str, str]:
        return self.source, self.target


@dataclass(frozen=True)
class Data:
    """Three files, of which validation and test may be missing."""

    parts: dict[str, list[Row]]
    paths: dict[str, Path]
    labels: bool

    def rows(self, name: str) -> list[Row]:
        return self.parts.get(name, [])


def made(dice: random.Random, folder: Path) -> Data:
    """Few roots, so that much repeats; what is held out is partly new."""
    roots = dice.randint(1, dice.choice([3, 12, 60, 300]))
    size = dice.choice([1, 5, 12, 30, 120, 400])
    labels = [f"label {i}" for i in range(dice.choice([1, 2, 3]))] if dice.random() < 0.4 else []
    rare = dice.choice([0.0, 0.05, 0.4])
    parts: dict[str, list[Row]] = {"training": _rows(dice, size, range(roots), rare, labels)}
    for name in HELD_OUT:
        if dice.random() < 0.5:
            new = range(roots // 2, roots // 2 + roots + 5)
            parts[name] = _rows(dice, dice.randint(1, 60), new, rare, labels)
    form = dice.choice(["tsv", "jsonl"])
    paths = {name: _write(folder / f"{name}.{form}", rows) for name, rows in parts.items()}
    return Data(parts, paths, bool(labels))


def _rows(
    dice: random.Random, count: int, roots: range, rare: float, labels: list[str]
) -> list[Row]:
    ways = list(WRITTEN)
    return [
        Row(
            dice.choice(roots),
            dice.choice(ways) if dice.random() < rare else "plain",
            dice.choice(labels) if labels else f"target {dice.randint(0, 500)}",
        )
        for _ in range(count)
    ]


def _write(path: Path, rows: list[Row]) -> Path:
    if path.suffix == ".tsv":
        lines = ["\t".join(row.pair) for row in rows]
    else:
        lines = [json.dumps({"source": row.source, "target": row.target}) for row in rows]
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


# What the check must count


def expected(data: Data, splits: Splits[Any] | None) -> dict[str, int]:
    """The findings, counted in the plainest way. Without files of their own, the sides are those
    that training itself makes."""
    train, counts = data.rows("training"), {}
    pairs = [row.pair for row in train]
    counts["duplicate rows"] = len(pairs) - len(set(pairs))
    counts["several targets"] = _varied((row.source, row.target) for row in train)
    counts["nearly equal sources"] = _varied((row.even, row.source) for row in train)
    sources = {row.source for row in train}
    held = {row.source for name in HELD_OUT for row in data.rows(name)}
    kept = {row.root for row in train if row.source not in held}
    for name in HELD_OUT:
        if name in data.parts:
            here = data.rows(name)
            counts[f"{name} sources in training"] = sum(row.source in sources for row in here)
            counts[f"{name} pairs in training"] = sum(row.pair in set(pairs) for row in here)
            others = {row.source for row in data.rows("test")} if name == "validation" else set()
            own = [row for row in here if row.source not in others]
            if not (splits and len(data.parts) < 3):  # else some roots went to another side
                near = sum(row.root in kept for row in own)
                counts[f"{name} sources nearly in training"] = near
    if len(data.parts) == 3:
        known = {row.source for row in data.rows("validation")}
        twice = sum(row.source in known for row in data.rows("test"))
        counts["test sources in validation"] = twice
    if splits and len(data.parts) == 1:
        roots = {_root(pair.source) for pair in splits.train}
        out = [_root(pair.source) for pair in (*splits.validation, *splits.test)]
        counts["held-out sources nearly in training"] = sum(root in roots for root in out)
    return counts


def _varied(rows: Iterable[tuple[Any, str]]) -> int:
    kinds: dict[Any, set[str]] = {}
    for key, kind in rows:
        kinds.setdefault(key, set()).add(kind)
    return sum(len(found) > 1 for found in kinds.values())


def _root(source: str) -> int:
    return int("".join(c for c in source if c.isdigit()))


def _counts(found: Audit) -> Counter[str]:
    counts: Counter[str] = Counter()
    for finding in found.findings:
        counts[finding.name] += finding.count
    return counts


# What training must make of it


def read(data: Data, tokens: TokenizerSettings) -> Splits[Any] | str:
    own = {name: str(path) for name, path in data.paths.items() if name != "training"}
    shares = default_shares(len(data.rows("training")))
    recipe = recipe_for(path=str(data.paths["training"]), split=shares, **own)
    try:
        return Transduce.read(recipe.model_copy(update={"source": tokens}))
    except DataError as error:
        return str(error)


def leaks(data: Data, splits: Splits[Any], tokens: TokenizerSettings) -> list[str]:
    """What is wrong with a split, told by the ids of every source: they are all that a model
    sees. The tokenizer met every text, so nothing looks alike only for being unknown."""
    every = [row for rows in data.parts.values() for row in rows]
    tokenizer = fit_tokenizer(tokens, [row.source for row in every])
    sides = {name: getattr(splits, name) for name in ("train", *HELD_OUT)}
    seen = {name: {_key(tokenizer, p.source) for p in pairs} for name, pairs in sides.items()}
    faults = [f"nothing in {name}" for name, pairs in sides.items() if not pairs]
    faults += [
        f"a source is in {one} and in {other}"
        for one, other in (("train", "validation"), ("train", "test"), HELD_OUT)
        if seen[one] & seen[other]
    ]
    test = {_key(tokenizer, row.source) for row in data.rows("test")}
    held = test | {_key(tokenizer, row.source) for row in data.rows("validation")}
    gone = sum(_key(tokenizer, row.source) in test for row in data.rows("validation"))
    gone += sum(_key(tokenizer, row.source) in held for row in data.rows("training"))
    if splits.overlapping != gone:
        faults.append(f"{splits.overlapping} left out for being held out, expected {gone}")
    if sum(map(len, sides.values())) + gone != len(every):
        faults.append(f"{sum(map(len, sides.values()))} and {gone} are not all {len(every)} rows")
    return faults


def _key(tokenizer: Tokenizer, source: str) -> tuple[int, ...]:
    ids = tuple(tokenizer.ids(source))
    assert UNKNOWN not in ids
    return ids


# Both together


def find_leaks(cases: int, dice: random.Random, folder: Path) -> Outcome:
    outcome = Outcome()
    refused = planted = 0
    for number in range(cases):
        data = made(dice, folder)
        exact = read(data, TokenizerSettings(kind="character"))
        found = audit(
            [data.paths["training"]],
            labels=False,  # which is how it is trained on here
            **{name: [data.paths[name]] for name in HELD_OUT if name in data.paths},
        )
        refused += isinstance(exact, str)
        planted += sum(n for name, n in expected(data, None).items() if "s in training" in name)
        sizes = {name: len(rows) for name, rows in data.parts.items()}
        for fault in [*check_faults(data, exact, found), *split_faults(data, dice)]:
            outcome.losses.append(f"file {number}, rows {sizes}: {fault}")
        outcome.cases += 1
    outcome.notes.append(
        f"{planted:,} held-out sources and pairs that training holds too, all of them counted; "
        f"{refused:,} of the files training refuses, as the check foretold"
    )
    return outcome


def check_faults(data: Data, exact: Splits[Any] | str, found: Audit) -> list[str]:
    counts = _counts(found)
    wanted = expected(data, None if isinstance(exact, str) else exact)
    faults = [
        f"data check counts {counts[name]} {name}, expected {count}"
        for name, count in wanted.items()
        if counts[name] != count
    ]
    notes = " ".join(finding.note for finding in found.findings if finding.level == "problem")
    refuses = "training refuses" in notes or "nothing to learn" in notes
    if isinstance(exact, str) and not refuses:
        faults.append(f"data check lets pass what training refuses: {exact}")
    if isinstance(exact, Splits) and "training refuses" in notes:
        faults.append("data check says that training refuses, and it does not")
    if len({row.target for row in data.rows("training")}) == 1 and found.passed:
        faults.append("one class only, and the check passes")
    return faults


def split_faults(data: Data, dice: random.Random) -> list[str]:
    kind, low = dice.choice(list(TOKENIZERS)), dice.random() < 0.5
    tokens = TokenizerSettings(kind=kind, lowercase=low, size=8000)
    splits = read(data, tokens)
    if isinstance(splits, str):
        return []
    return [f"{kind}, lowercase {low}: {fault}" for fault in leaks(data, splits, tokens)]


CAMPAIGNS: tuple[Campaign, ...] = (
    Campaign(
        name="C11",
        promise="nothing held out was trained on, and data check counts every duplicate",
        full=500,
        short=40,
        run=find_leaks,
    ),
)
