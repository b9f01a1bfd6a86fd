"""What a check of data has to say: a name, how bad, how often, where, and what comes of it."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

FEW = 3  # how many places are named

LEVELS = ("problem", "note", "ok")
Level = Literal["problem", "note", "ok"]
"""problem: training refuses, or its scores would lie; note: good to know; ok: looked, not found."""


@dataclass(frozen=True, slots=True)
class Finding:
    name: str
    level: Level
    count: int = 0
    where: tuple[str, ...] = ()
    """The first few places, as in 'pairs.tsv:7'."""
    note: str = ""
    """What it is, and what training does about it."""

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "where": list(self.where)}


def found(name: str, level: Level, count: int, where: Sequence[str], note: str) -> Finding:
    """A finding of that level, or that all is well where there is nothing to count."""
    return Finding(name, level, count, tuple(where[:FEW]), note) if count else Finding(name, "ok")


@dataclass
class Sightings:
    """How often, and the first few places."""

    count: int = 0
    where: list[str] = field(default_factory=list)

    def add(self, place: str) -> None:
        self.count += 1
        if len(self.where) < FEW and place not in self.where:
            self.where.append(place)
