"""The [data] section of every task on pairs of texts: where they are, and which of them train,
validate and test."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, model_validator

from regard.config import Settings
from regard.data.named import read_named
from regard.data.pairs import Pair, open_pairs
from regard.data.splits import Splits, split
from regard.data.table import Flaw

Key = Callable[[Pair], str]


def _one_or_two(value: Any) -> Any:
    match value:
        case None | str() | [str(), str()] | (str(), str()):
            return value
    raise ValueError(
        f'expected a file, as in "pairs.tsv", or two with matching lines, as in '
        f'["train.de", "train.en"], found {value!r}.'
    )


Paths = Annotated[str | tuple[str, str] | None, BeforeValidator(_one_or_two)]


class PairData(Settings):
    set: str | None = None
    """A named data set, such as "cmudict". Give this or `path`."""
    path: Paths = None
    """A TSV, CSV or JSON Lines file, or two text files with matching lines; gz, xz or zst will do.
    Relative to the recipe's folder."""
    source: str | None = None
    """Column of the source: a name from the header, or a number from 1; guessed by default."""
    target: str | None = None
    """Column of the target."""
    split: tuple[float, float, float] = (90, 5, 5)
    """Percent of the sources for training, validation and test, by a hash of the source."""
    validation: Paths = None
    """Validate on this file instead of a share of `path`."""
    test: Paths = None
    """Test on this file instead of a share of `path`."""
    bad_rows: Literal["refuse", "skip"] = "refuse"
    """What to do with rows that have no source, no target or a wrong number of columns."""

    @model_validator(mode="after")
    def set_or_path(self) -> Self:
        if (self.set is None) == (self.path is None):
            raise ValueError(
                'give either set or path, as in set = "cmudict" or path = "pairs.tsv".'
            )
        if not all(self.split):
            raise ValueError("split: training, validation and test each need a share above 0.")
        return self


def files(paths: str | Sequence[str] | None) -> list[Path]:
    """The files that a `Paths` setting names, as a person here would write them."""
    found = [Path(path) for path in ([paths] if isinstance(paths, str) else paths or ())]
    here = Path.cwd()
    return [path.relative_to(here) if path.is_relative_to(here) else path for path in found]


def read_part(data: PairData, paths: Sequence[Path], *, fallback: bool = False) -> Splits[Pair]:
    """All pairs of some file as `train`, with what was guessed and left out on the way."""
    table = open_pairs(paths, data.source, data.target, fallback=fallback)
    skip = data.bad_rows == "skip"
    pairs = list(table.read(skip_bad=skip))
    skipped = sum(isinstance(row, Flaw) for row in table.rows()) if skip else 0
    return Splits(pairs, [], [], table.notes, skipped)


def read_splits(data: PairData, key: Key) -> Splits[Pair]:
    """The three parts. Equal keys are on one side, also where validation or test have files of
    their own: a training pair whose key is there too is left out."""
    if data.set:
        return split(read_named(data.set), key, data.split)
    whole = read_part(data, files(data.path))
    shares = _shares(data)
    sides = split(whole.train, key, shares)
    sides = replace(sides, notes=whole.notes, skipped=whole.skipped)
    for side in ("validation", "test"):  # the test last: it has the last word
        if paths := files(getattr(data, side)):
            part = read_part(data, paths, fallback=True)
            sides = _without(sides, {key(pair) for pair in part.train}, key)
            skipped = sides.skipped + part.skipped
            held_out: dict[str, Any] = {side: part.train}
            sides = replace(sides, **held_out, skipped=skipped)
    return sides


def _shares(data: PairData) -> tuple[float, float, float]:
    _, validation, test = data.split
    validation, test = 0 if data.validation else validation, 0 if data.test else test
    return 100 - validation - test, validation, test


def _without(sides: Splits[Pair], keys: set[str], key: Key) -> Splits[Pair]:
    """The sides without pairs whose key is held out elsewhere."""
    train, validation = (
        [pair for pair in side if key(pair) not in keys] for side in (sides.train, sides.validation)
    )
    gone = len(sides.train) + len(sides.validation) - len(train) - len(validation)
    return replace(sides, train=train, validation=validation, overlapping=sides.overlapping + gone)
