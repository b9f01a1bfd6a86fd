"""What can be reproduced. A plan names its runs (recipes in the folder beside), makes their data
ready, and says what is claimed about the runs together."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from regard.config import Tree
from regard.errors import ConfigError, did_you_mean
from regard.reproduce.claims import Claim, anti_diagonal, score
from regard.reproduce.sets import reversed_rows
from regard.run import Run

RECIPES = Path(__file__).parent / "recipes"


class Held(NamedTuple):
    """A claim, and what came out."""

    claim: str
    found: str
    holds: bool


@dataclass(frozen=True)
class Plan:
    about: str
    parts: tuple[str, ...]
    """Names of its runs; each has a recipe, PLAN-PART.toml."""
    data: Callable[[Path], Tree]
    """Folder to write in -> the files of a recipe's data section."""
    claims: tuple[Claim, ...]

    def judged(self, runs: Mapping[str, Run]) -> list[Held]:
        return [Held(claim.says, *claim.judge(runs)) for claim in self.claims]


PLANS: dict[str, Plan] = {
    "reverse": Plan(
        "rows of letters turned around, by additive attention and by a Transformer",
        ("additive", "transformer"),
        reversed_rows,
        (
            score("additive", "exact_match", at_least=99),
            score("transformer", "exact_match", at_least=99),
            anti_diagonal("additive", at_least=95),
        ),
    ),
}


def find_plan(name: str) -> Plan:
    if name not in PLANS:
        raise ConfigError(f'there is nothing called "{name}" here.{did_you_mean(name, PLANS)}')
    return PLANS[name]
