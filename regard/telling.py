"""What a run's card, its page and the terminal say in the same way: which weights are held, and how
well each label is known.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

RATES = ("precision", "recall", "f1")
HEAD = ("label", "texts", "precision, %", "recall, %", "F1, %")


def learned_at_once(facts: Mapping[str, Any]) -> bool:
    """A bag has no steps, every network has some."""
    return int(facts["steps"]) == 0


def held(facts: Mapping[str, Any]) -> str:
    """Which weights a run holds; where it has kept one validation's, which and how good.

    >>> held({"weights": "last"})
    'the last weights'
    >>> held({"weights": "best", "kept": {"step": 1200, "validation": {"loss": 0.25}}})
    'the best weights, those of step 1,200 (validation: loss 0.25)'
    """
    kept, found = facts.get("kept"), f"the {facts['weights']} weights"
    if not kept:
        return found
    scores = ", ".join(f"{name} {value:.3g}" for name, value in kept["validation"].items())
    return f"{found}, those of step {kept['step']:,} (validation: {scores})"


class Labels(NamedTuple):
    """The labels that are known worst, and what is said about the others."""

    rows: list[list[str]]
    remarks: list[str]


def worst_labels(test: Mapping[str, Any], most: int) -> Labels:
    """At most so many rows under HEAD, the worst first, out of the result of an evaluation."""
    classes = (test.get("details") or {}).get("classes", ())
    met = sorted(
        (one for one in classes if one["texts"]), key=lambda one: (one["f1"], -one["texts"])
    )
    remarks = []
    if better := max(0, len(met) - most):
        remarks.append(f"{better:,} more labels are left out, whose F1 is no lower")
    if never := len(classes) - len(met):
        remarks.append(f"{never:,} labels are left out, which none of these texts has")
    return Labels([row_of(one) for one in met[:most]], remarks)


def row_of(one: Mapping[str, Any]) -> list[str]:
    return [one["label"], f"{one['texts']:,}", *(f"{one[rate]:.2f}" for rate in RATES)]
