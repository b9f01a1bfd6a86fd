"""Two networks on the same pairs: by every metric of texts, and by how well each knows the next
token."""

from collections.abc import Sequence
from typing import Any

from regard.config import Tree
from regard.data.pairs import Pair
from regard.metrics import METRICS
from regard.metrics.bootstrap import difference
from regard.names import Prediction
from regard.tasks.answering import compare_answers
from regard.tasks.pair_scores import judged
from regard.tasks.task import Compared, Trained


def compare_pairs(one: Trained, other: Trained, examples: Sequence[Pair]) -> Compared:
    """By the metrics of both recipes."""
    metrics = dict.fromkeys(name for side in (one, other) for name in side.task.recipe.metrics)

    def differences(*answers: Sequence[Prediction]) -> dict[str, Tree]:
        both = [judged(found, examples) for found in answers]
        found = {
            name: difference(*(METRICS[name].tally(*texts) for texts in both)) for name in metrics
        }
        return found | _surer(one, other, examples)

    return compare_answers((one, other), examples, differences)


def _surer(one: Trained, other: Trained, examples: Sequence[Pair]) -> dict[str, Tree]:
    """Comparable only where texts are cut into the same tokens, on examples that both can take."""
    mine: Any = one.task
    theirs: Any = other.task
    if mine.as_json() != theirs.as_json():
        return {}
    taken = zip(examples, mine.prepare(examples), theirs.prepare(examples), strict=True)
    shared = [pair for pair, *ids in taken if all(ids)]
    own, others = mine.tallies(one.network, shared), theirs.tallies(other.network, shared)
    return {name: difference(own[name], others[name]) for name in own}
