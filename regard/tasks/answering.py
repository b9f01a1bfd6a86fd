"""Tasks that answer inputs, one by one: how they are scored, and how two of them are compared."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from torch import nn

from regard.config import Tree
from regard.models.predictor import Predictor
from regard.names import Prediction, Scores
from regard.tasks.task import Compared, Evaluation, Task, Trained, predict_fitting


def evaluate_answers(
    task: Task[Any],
    network: nn.Module,
    examples: Sequence[Any],
    baselines: Mapping[str, Predictor],
    decoding: Tree,
    score: Callable[[Sequence[Prediction]], Scores],
    network_scores: Scores,
    counts: Mapping[str, int],
) -> Evaluation:
    """`score` judges answers; `network_scores` are those that only a network has; `counts` are
    what else a reader of the scores must know."""
    inputs = task.inputs(examples)
    answers = predict_fitting(task, task.predictor(network, **decoding), inputs)
    counts = {
        **counts,
        "examples": len(inputs),
        "too_long": sum(not task.fits(text) for text in inputs),  # counted as wrong
        "not_measured": task.prepare(examples).count(None),  # by scores of the network alone
        "cut_outputs": sum(not answer.finished for answer in answers),
        "unknown_inputs": sum(bool(task.unknown(text)) for text in inputs),
        "in_training": sum(task.known(dict(baselines), inputs)),
    }
    beside = {one.name: score(one.predict(inputs)) for one in baselines.values()}
    return Evaluation({**score(answers), **network_scores}, beside, counts)


def compare_answers(
    sides: tuple[Trained, Trained],
    examples: Sequence[Any],
    differences: Callable[[Sequence[Prediction], Sequence[Prediction]], dict[str, Tree]],
) -> Compared:
    """Both sides answer the inputs of `examples`, as the first side reads them."""
    inputs = sides[0][0].inputs(examples)
    one, other = (predict_fitting(task, task.predictor(net), inputs) for task, net, _ in sides)
    known = [sum(task.known(dict(baselines), inputs)) for task, _, baselines in sides]
    misfits = [sum(not task.fits(text) for text in inputs) for task, _, _ in sides]
    return Compared(
        len(inputs), (known[0], known[1]), differences(one, other), (misfits[0], misfits[1])
    )
