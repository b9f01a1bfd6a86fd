"""What is claimed about finished runs, and whether it holds."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from regard.names import SCORE_TITLES, interval
from regard.run import Run

Judged = tuple[str, bool]  # what was found, and whether that is what was claimed
Runs = Mapping[str, Run]
LOOKED_AT = 200  # texts of which the alignment is looked at


class Claim(NamedTuple):
    says: str
    judge: Callable[[Runs], Judged]


def score(part: str, metric: str, *, at_least: float) -> Claim:
    """On the test part, which a run touches once, when it is finished."""

    def judge(runs: Runs) -> Judged:
        found = runs[part].facts["test"]["scores"][metric]
        return interval(found), found["value"] >= at_least

    return Claim(f"{part}: {SCORE_TITLES[metric]} at least {at_least:g}", judge)


def anti_diagonal(part: str, *, at_least: float) -> Claim:
    """Of a row turned around, the token written first is the one that was read last."""

    def judge(runs: Runs) -> Judged:
        run = runs[part]
        inputs = run.task.inputs(run.part(None)[0].examples)
        shares = [_on_anti_diagonal(run, text) for text in inputs[:LOOKED_AT]]
        right, tokens = (sum(column) for column in zip(*shares, strict=True))
        percent = 100 * right / tokens
        return f"{percent:.1f} % of {tokens:,} tokens", percent >= at_least

    return Claim(f"{part}: strongest alignment on the anti-diagonal for {at_least:g} %", judge)


def _on_anti_diagonal(run: Run, text: str) -> tuple[int, int]:
    """How many tokens of an output look most at their own place in the source, and of how many;
    STOP has none."""
    weights = run.look(text).only(name="cross").maps[-1].mean  # (T, S)
    length = min(len(weights), weights.shape[1])
    wanted = weights.shape[1] - 1 - np.arange(length)
    return int((weights[:length].argmax(axis=1) == wanted).sum()), length
