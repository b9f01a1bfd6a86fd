"""What is claimed about finished runs, and whether it holds."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from regard.config import Tree
from regard.metrics import LOWER_IS_BETTER
from regard.names import SCORE_TITLES, interval
from regard.run import Run, compare

Judged = tuple[str, bool]  # what was found, and whether that is what was claimed
Runs = Mapping[str, Run]
LOOKED_AT = 200  # texts of which the alignment is looked at


class Claim(NamedTuple):
    says: str
    judge: Callable[[Runs], Judged]
    must: bool = True
    """False for a goal that is reached for: told, and nothing fails where it is missed."""


def score(part: str, metric: str, bound: float) -> Claim:
    """On the test part, which a run touches once, when it is finished."""
    lower = metric in LOWER_IS_BETTER

    def judge(runs: Runs) -> Judged:
        found = runs[part].facts["test"]["scores"][metric]
        return interval(found), found["value"] <= bound if lower else found["value"] >= bound

    side = "at most" if lower else "at least"
    return Claim(f"{part}: {SCORE_TITLES[metric]} {side} {bound:g}", judge)


def by_chance(part: str, metric: str, bound: float) -> Claim:
    """A score that is what guessing gives: its interval holds the bound."""

    def judge(runs: Runs) -> Judged:
        found = runs[part].facts["test"]["scores"][metric]
        return interval(found), found["low"] <= bound <= found["high"]

    return Claim(f"{part}: {SCORE_TITLES[metric]} no better than guessing, {bound:g}", judge)


def goal(claim: Claim) -> Claim:
    return claim._replace(says=f"{claim.says} (a goal)", must=False)


def stated(part: str, metric: str) -> Claim:
    """A score that there is no bar for, beside those of the baselines."""

    def judge(runs: Runs) -> Judged:
        test = runs[part].facts["test"]
        beside = [
            f"{one['scores'][metric]['value']:.2f} {one['name']}"
            for one in test["baselines"]
            if metric in one["scores"]
        ]
        return "; ".join([interval(test["scores"][metric]), *beside]), True

    return Claim(f"{part}: {SCORE_TITLES[metric]} stated", judge)


def above_baselines(part: str, metric: str, named: str = "") -> Claim:
    """Better than every baseline whose name begins so; than all of them by default."""

    def judge(runs: Runs) -> Judged:
        test = runs[part].facts["test"]
        sign = -1 if metric in LOWER_IS_BETTER else 1
        ours = test["scores"][metric]["value"]
        theirs = [
            one["scores"][metric]["value"]
            for one in test["baselines"]
            if one["name"].startswith(named) and metric in one["scores"]
        ]
        found = f"{ours:.2f} against {', '.join(f'{value:.2f}' for value in theirs)}"
        return found, bool(theirs) and all(sign * ours > sign * value for value in theirs)

    return Claim(f"{part}: {SCORE_TITLES[metric]} better than {named or 'the baseline'}", judge)


def average(parts: Sequence[str], metric: str, bound: float, above: str = "") -> Claim:
    """Of folds, each with a test part of its own: the mean over all their examples. `above`: it is
    held against that baseline's instead, and must be above by more than chance."""

    def judge(runs: Runs) -> Judged:
        tests = [runs[part].facts["test"] for part in parts]
        sizes = [test["examples"] for test in tests]
        scores = [test["scores"][metric] for test in tests]
        mean = _mean([score["value"] for score in scores], sizes)
        half = _mean([(score["high"] - score["low"]) / 2 for score in scores], sizes)
        half /= math.sqrt(len(parts))  # folds are drawn apart
        found = f"{mean:.2f} ({mean - half:.2f} to {mean + half:.2f})"
        if not above:
            return found, mean >= bound
        other = _mean([_named(test, above)["scores"][metric]["value"] for test in tests], sizes)
        return f"{found}; {other:.2f} {above}", mean - half > other

    side = f"above {above}, by more than chance" if above else f"at least {bound:g}"
    name = parts[0].rpartition("-")[0]
    return Claim(f"{name}, {len(parts)} folds: {SCORE_TITLES[metric]} {side}", judge)


def _mean(values: Sequence[float], sizes: Sequence[int]) -> float:
    return sum(v * n for v, n in zip(values, sizes, strict=True)) / sum(sizes)


def _named(test: Tree, baseline: str) -> Tree:
    found: Tree = next(one for one in test["baselines"] if one["name"] == baseline)
    return found


def better(part: str, other: str, metric: str) -> Claim:
    """On the same examples, by more than chance."""

    def judge(runs: Runs) -> Judged:
        both = compare(runs[part], runs[other])
        found, known = both["scores"][metric], sum(n or 0 for n in both["in_training"].values())
        apart = -found["difference"] if metric in LOWER_IS_BETTER else found["difference"]
        between = f"{found['low']:+.2f} to {found['high']:+.2f}"
        holds = apart > 0 and found["significant"] and not known
        return f"{found['difference']:+.2f} ({between}), {known} trained on", holds

    says = f"{part} better than {other}: {SCORE_TITLES[metric]}, paired interval without 0"
    return Claim(says, judge)


def within(part: str, minutes: float) -> Claim:
    def judge(runs: Runs) -> Judged:
        taken = runs[part].facts["seconds"] / 60
        return f"{taken:.1f} minutes", taken <= minutes

    return Claim(f"{part}: trained in at most {minutes:g} minutes", judge)


def says(part: str, text: str, *wanted: str) -> Claim:
    """One input that people will try, and the outputs that are right."""

    def judge(runs: Runs) -> Judged:
        run = runs[part]
        output = run.predict([text])[0]
        (known,) = run.task.known(run.baselines(), [text])
        return f"{output!r}{', was trained on' if known else ''}", output in wanted

    return Claim(f"{part}: {text!r} is answered by {' or '.join(wanted)}", judge)


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
