"""Which examples train, which validate and which test.

The side follows from a hash of the example's key and from nothing else: not from its row, not
from the other rows, not from a random seed. Examples with one key (all sounds of one word, all
lines of one speaker) stay together, and an example keeps its side when the data grows.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from hashlib import blake2b, sha256
from math import isclose, isfinite
from typing import Any, ClassVar, Generic, TypeVar

from regard.errors import ConfigError, DataError

T = TypeVar("T")
Shares = tuple[float, float, float]

# From so many examples on, the largest number first.
SHARES: dict[int, Shares] = {2000: (90, 5, 5), 100: (80, 10, 10), 0: (60, 20, 20)}
SECRET = sha256().digest()  # of the hash; with another one, every example would change its side
ONE_PERCENT = 2**64 / 100


@dataclass(frozen=True)
class Splits(Generic[T]):
    unit: ClassVar[str] = "examples"
    """What the parts are counted in."""
    train: list[T]
    validation: list[T]
    test: list[T]
    notes: tuple[str, ...] = ()
    """What was guessed about the files, in sentences to say aloud."""
    skipped: int = 0
    """Rows, or files of a folder, that could not be used and were left out."""
    overlapping: int = 0
    """Examples left out of one side because the file of another holds them too."""
    mark: str = ""
    """A hash of what else decides what is learned."""

    def told(self) -> list[str]:
        """What to say aloud: guesses, and what was left out."""
        left = {
            "rows or files could not be used and are left out": self.skipped,
            "training examples are held out elsewhere and left out here": self.overlapping,
        }
        return [*self.notes, *(f"{count:,} {what}." for what, count in left.items() if count)]

    @property
    def sha256(self) -> str:
        """Of all examples, so that a run can tell whether its data changed."""
        marks = [self.mark] if self.mark else []
        return fingerprint([*self.train, *self.validation, *self.test, *marks])


def default_shares(examples: int) -> Shares:
    """Percent for train, validation and test where nobody says how much. A small file holds out
    more of itself, or there would be too little to judge by.

    >>> default_shares(100_000), default_shares(150), default_shares(20)
    ((90, 5, 5), (80, 10, 10), (60, 20, 20))
    """
    return next(shares for least, shares in SHARES.items() if examples >= least)


def split(examples: Iterable[T], key: Callable[[T], str], shares: Shares) -> Splits[T]:
    """Divide examples by key into train, validation and test shares, given in percent.

    Order is kept on each side.

    >>> sides = split(map(str, range(1000)), key=str, shares=(80, 10, 10))
    >>> len(sides.train) + len(sides.validation) + len(sides.test)
    1000
    """
    _check_shares(shares)
    sides = Splits[T]([], [], [])
    lists = (sides.train, sides.validation, sides.test)
    for example in examples:
        lists[side_of(place_of(key(example)), shares)].append(example)
    _check_sides(sides, key, shares)
    return sides


def place_of(key: str) -> float:
    """Where the hash of a key falls, from 0 to 100 percent: the same for ever."""
    digest = blake2b(_utf8(key), digest_size=8, key=SECRET).digest()
    return int.from_bytes(digest, "big") / ONE_PERCENT


def side_of(place: float, shares: Shares) -> int:
    """0 train, 1 validation, 2 test. Train comes last: it takes what rounding leaves, so a share
    of 0 is never given anything."""
    _, validation, test = shares
    return 2 if place < test else 1 if place < test + validation else 0


def groups(pairs: Iterable[tuple[str, str]]) -> list[str]:
    """A name for each pair, the same for all that hang together by a text that they share.

    >>> groups([("b", "a"), ("c", "d"), ("e", "b")])
    ['a', 'c', 'a']
    """
    parents: dict[str, str] = {}

    def first(text: str) -> str:
        while (parent := parents.setdefault(text, text)) != text:
            parents[text] = parents[parent]  # a shorter way for who asks next
            text = parent
        return text

    every = list(pairs)
    for one, other in every:
        low, high = sorted((first(one), first(other)))
        parents[high] = low
    return [first(one) for one, _ in every]


def _check_shares(shares: Shares) -> None:
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


def _check_sides(sides: Splits[T], key: Callable[[T], str], shares: Shares) -> None:
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
