"""What a plan is: runs, their data, and what is claimed about them together."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from regard.config import Tree
from regard.reproduce.claims import Claim
from regard.reproduce.sets import Shelf
from regard.run import Run


class Held(NamedTuple):
    """A claim, and what came out."""

    claim: str
    found: str
    holds: bool
    must: bool


@dataclass(frozen=True)
class Plan:
    about: str
    parts: tuple[str, ...]
    """Names of its runs; each has a recipe: see `plans.recipe_of`."""
    data: Callable[..., Tree]
    """The files of a recipe's data section, from a Shelf."""
    claims: tuple[Claim, ...]
    by_part: bool = False
    """Whether parts have data of their own: then `data` is asked with the part's name too."""
    uses: Mapping[str, str] = field(default_factory=dict)
    """Runs of other plans, as in "imdb-bilstm/lstm", by the name that they have here."""
    begins: Mapping[str, str] = field(default_factory=dict)
    """Which of those a part begins with, where its network is not new."""
    taught: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Which of those have a say in what labels the texts without labels of a part have."""

    def data_of(self, part: str, shelf: Shelf) -> Tree:
        return self.data(shelf, part) if self.by_part else self.data(shelf)

    def judged(self, runs: Mapping[str, Run]) -> list[Held]:
        return [Held(claim.says, *claim.judge(runs), claim.must) for claim in self.claims]
