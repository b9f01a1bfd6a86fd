"""Two classifiers on the same texts: what lies between their scores."""

from collections.abc import Sequence
from typing import Any

from regard.data.labels import Labelled
from regard.errors import ConfigError
from regard.metrics.bootstrap import Tally, difference
from regard.names import REMARKS, counted
from regard.tasks.task import Compared, Trained

WHATEVER_LABELS = ("accuracy", "micro_f1")  # what scores of runs with different labels mean alike


def compare_labels(one: Trained, other: Trained, examples: Sequence[Labelled]) -> Compared:
    a, b = _alike(one.task, other.task)
    inputs = a.inputs(examples)
    mine, theirs = (_tallies(side, inputs, examples) for side in (one, other))
    names = [name for name in mine if name in theirs]
    notes = [*_cut("a", a, inputs), *_cut("b", b, inputs)]
    if {*a.labels} != {*b.labels}:  # a loss is of known labels alone: not of the same texts then
        names = [name for name in names if name in WHATEVER_LABELS]
        notes.append(f"Trained on different labels, so only {' and '.join(names)} can be compared.")
    scores = {name: difference(mine[name], theirs[name]) for name in names}
    known_a, known_b = (sum(s.task.known(dict(s.baselines), inputs)) for s in (one, other))
    return Compared(len(examples), (known_a, known_b), scores, notes=tuple(notes))


def _alike(a: Any, b: Any) -> tuple[Any, Any]:
    """The two tasks, where they mean the same by an example."""
    if a.pairs != b.pairs:
        raise ConfigError("one of the two judges a text alone, the other two texts together.")
    marks = [task.recipe.data.separator for task in (a, b)]
    if marks[0] != marks[1]:
        told = [f"{mark!r} stands between labels" if mark else "a text has one" for mark in marks]
        raise ConfigError(
            f"the labels of the two do not mean the same: in the first {told[0]}, in the second "
            f"{told[1]} (data.separator)."
        )
    return a, b


def _tallies(side: Any, inputs: Sequence[str], examples: Sequence[Labelled]) -> dict[str, Tally]:
    chances = side.task.predictor(side.network).probabilities(inputs)
    found: dict[str, Tally] = side.task.tallies(chances, examples)
    return found


def _cut(name: str, task: Any, inputs: Sequence[str]) -> list[str]:
    counts = {"cut_texts": sum(map(task.is_cut, inputs)), "kept": task.recipe.keep}
    return [f"{name}: {what}." for what in counted(counts, REMARKS)]
