"""What a chapter gives back when it has run: numbers beside the expected ones, pictures, words."""

import math
from dataclasses import dataclass, field
from typing import Any, Protocol

from matplotlib.figure import Figure


@dataclass(frozen=True)
class Number:
    """A number that came out. `expected` is what it is held against, in words where it is a bound;
    None for what is only measured."""

    name: str
    value: float
    expected: float | str | None
    ok: bool = True

    @classmethod
    def equal(cls, name: str, value: float, expected: float, within: float = 5e-5) -> "Number":
        """A worked number: right to four decimals, unless said otherwise."""
        return cls(name, value, expected, math.isclose(value, expected, rel_tol=0, abs_tol=within))

    @classmethod
    def at_least(cls, name: str, value: float, bound: float) -> "Number":
        return cls(name, value, f"at least {bound:g}", value >= bound)

    @classmethod
    def at_most(cls, name: str, value: float, bound: float) -> "Number":
        return cls(name, value, f"at most {bound:g}", value <= bound)

    @classmethod
    def measured(cls, name: str, value: float) -> "Number":
        return cls(name, value, None)

    def as_json(self) -> dict[str, Any]:
        return {"name": self.name, "value": self.value, "expected": self.expected, "ok": self.ok}


@dataclass(frozen=True, eq=False)
class Drawing:
    """A picture, and what it shows in a sentence or two, also for those who can not see it."""

    figure: Figure
    caption: str


@dataclass(frozen=True)
class Table:
    title: str
    head: tuple[str, ...]
    rows: list[tuple[str, ...]]


@dataclass(frozen=True)
class Lesson:
    numbers: list[Number]
    drawings: list[Drawing]
    says: list[str]
    """What the numbers say, a paragraph each."""
    tables: list[Table] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        return all(number.ok for number in self.numbers)


class Chapter(Protocol):
    """A module of this room has these."""

    TITLE: str
    IDEA: str
    """Paragraphs, separated by blank lines: what the idea is, for a student."""
    TRY: tuple[str, ...]
    """What to try next, a sentence each."""
    QUESTIONS: tuple[tuple[str, str], ...]
    """The course's questions, each with its answer in a sentence."""

    def lesson(self, seed: int = 0) -> Lesson: ...
