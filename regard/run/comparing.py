"""Is one run really better than another, or was it luck? Both answer the same inputs, and the
difference of their scores is drawn again and again from the same examples (Koehn 2004)."""

from collections.abc import Sequence

from regard.config import Tree
from regard.errors import ConfigError
from regard.run.opened import Data, Run
from regard.tasks.task import Trained


def compare(
    a: Run, b: Run, data: Data | None = None, columns: Sequence[str | None] | None = None
) -> Tree:
    """Scores of two runs on a file, or on the test part of the first, and what lies between them:
    `difference` is a - b, with its 95 % interval. Inputs that either was trained on are counted."""
    if a.recipe.task != b.recipe.task:
        raise ConfigError(
            f"{a.folder} does {a.recipe.task} and {b.folder} does {b.recipe.task}: only runs of "
            "one task can be compared."
        )
    part, name = a.part(data, columns)
    sides = [Trained(run.task, run.network, run.baselines()) for run in (a, b)]
    found = a.task.compare(sides[0], sides[1], part.examples)
    return {
        "a": str(a.folder),
        "b": str(b.folder),
        "data": name,
        "examples": found.examples,
        "in_training": dict(zip("ab", found.in_training, strict=True)),
        "too_long": dict(zip("ab", found.too_long, strict=True)),
        "skipped_rows": part.skipped,
        "notes": [*part.notes, *found.notes],
        "scores": found.scores,
    }
