"""Which examples train, which validate and which test.

The side follows from a hash of the example's key and from nothing else: not from its row, not
from the other rows, not from a random seed. Examples with one key (all sounds of one word, all
lines of one speaker) stay together, and an example keeps its side when the data grows.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from hashlib import blake2b, sha256
from math import isclose, isfinite
from typing import Any, Generic, TypeVar

from regard.errors import ConfigError, DataError

T = TypeVar("T")


@dataclass(frozen=True)
class Splits(Generic[T]):
    train: list[T]
    validation: list[T]
    test: list[T]
    notes: tuple[str, ...] = ()
    """What was guessed about the files, in sentences to say aloud."""
    skipped: int = 0
    """Rows that could not be used and were left out, as asked."""
    overlapping: int = 0
    """Training examples left out because a validation or test file holds them too."""


def split(
    examples: Iterable[T],
    key: Callable[[T], str],
    shares: tuple[float, float, float],
    salt: str = "",
) -> Splits[T]:
    """Divide examples by key into train, validation and test shares, given in percent.

    Order is kept on each side. Another `salt` gives another division.

    >>> sides = split(map(str, range(1000)), key=str, shares=(80, 10, 10))
    >>> len(sides.train) + len(sides.validation) + len(sides.test)
    1000
    """
    _check_shares(shares)
    side_of = side_finder(shares, salt)
    sides = Splits[T]([], [], [])
    lists = (sides.train, sides.validation, sides.test)
    for example in examples:
        lists[side_of(key(example))].append(example)
    _check_sides(sides, key, shares)
    return sides


def side_finder(shares: tuple[float, float, float], salt: str) -> Callable[[str], int]:
    """A function from key to side: 0 train, 1 validation, 2 test."""
    _, validation, test = shares
    secret = sha256(_utf8(salt)).digest()
    one_percent = 2**64 / 100

    def side_of(key: str) -> int:
        digest = blake2b(_utf8(key), digest_size=8, key=secret).digest()
        percent = int.from_bytes(digest, "big") / one_percent
        # Train comes last: it takes what rounding leaves, so a share of 0 is never given anything.
        return 2 if percent < test else 1 if percent < test + validation else 0

    return side_of


def _check_shares(shares: tuple[float, float, float]) -> None:
    if len(shares) != 3 or not all(isfinite(share) and share >= 0 for share in shares):
        problem = "should be three numbers, none below 0"
    elif not isclose(sum(shares), 100):
        problem = f"should sum to 100, not {sum(shares):g}"
    elif not shares[0]:
        problem = "leave nothing to train on"
    else:
        return
    raise ConfigError(
        f"the shares {_row(shares)} {problem}: give train, validation and test in percent, "
        "as in 90, 5, 5."
    )


def _row(shares: tuple[float, ...]) -> str:
    return ", ".join(f"{share:g}" for share in shares)


def _check_sides(
    sides: Splits[T], key: Callable[[T], str], shares: tuple[float, float, float]
) -> None:
    """A side that was promised something must not be empty."""
    for name, share in zip(("train", "validation", "test"), shares, strict=True):
        if share and not getattr(sides, name):
            everything = [*sides.train, *sides.validation, *sides.test]
            keys = len(set(map(key, everything)))
            raise DataError(
                f"no example fell on the {name} side, whose share is {share:g} percent: there "
                f"{_are(len(everything), 'example')} with {_different(keys, 'input')}. "
                "Give more data, or a larger share to that side (data.split)."
            )


def _are(number: int, noun: str) -> str:
    return f"is only 1 {noun}" if number == 1 else f"are {number:,} {noun}s"


def _different(number: int, noun: str) -> str:
    return f"one and the same {noun}" if number == 1 else f"{number:,} different {noun}s"


def fingerprint(examples: Iterable[Any]) -> str:
    """SHA-256 of the examples in order, so that a run can tell whether its data changed.

    An example is a string, or a dataclass of strings. The lengths of its texts go in before
    the texts, so that no two different lists look alike.

    >>> fingerprint(["ab", "c"]) == fingerprint(["a", "bc"])
    False
    """
    whole = sha256()
    for example in examples:
        texts = [example] if isinstance(example, str) else _texts(example)
        lengths = [len(text) for text in texts]
        whole.update(_utf8(f"{lengths}{''.join(texts)}"))
    return whole.hexdigest()


def _texts(example: Any) -> list[str]:
    return [getattr(example, name) for name in example.__dataclass_fields__]


def _utf8(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")  # a half character is hashed like any other
