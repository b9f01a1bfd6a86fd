"""What a campaign is: one promise, tried many times, and every case in which it did not hold."""

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Outcome:
    """What happened. `losses` says of each case that broke the promise what was seen."""

    cases: int = 0
    losses: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    """What a reader should know: what was counted, what was measured."""

    def saw(self, held: bool, otherwise: str) -> bool:
        """Count a case; `otherwise` is kept when the promise did not hold."""
        self.cases += 1
        if not held:
            self.losses.append(otherwise)
        return held


@dataclass(frozen=True)
class Campaign:
    """
    name     the fault, as "B4"
    promise  what must hold, in a sentence
    full     how many cases `make soak` makes
    short    how many `make test` makes, in a second or two
    run      (cases, dice, an empty folder) -> Outcome; equal dice make equal cases
    """

    name: str
    promise: str
    full: int
    short: int
    run: Callable[[int, random.Random, Path], Outcome]
