"""Linear judges over rows of features: how scikit-learn's become one weight for each feature and
class, whatever the judge and however many classes.

n texts   C classes   S classes that were seen   F features   G of them grams, which come first
"""

import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regard.label_shapes import BagSettings
from regard.models.grams import Floats

Judgement = tuple[Floats, Floats]  # weights (F, C) and intercept (C,)
Bools = NDArray[np.bool_]

# For rows of length 1; chosen on held-out training texts, reviews of IMDB and questions of TREC. Of
# nbsvm, 1 for rows of any length, as in Wang & Manning 2012, was worth 2 points less of IMDB and 1
# of TREC and SST-2.
STRENGTHS = {"logistic": 30.0, "svm": 1.0, "nbsvm": 1.0}
# scikit-learn's own. An SVM that is mixed with naive Bayes need not be so exact, which would take
# it several times as long.
TOLERANCES = {"logistic": 1e-4, "svm": 1e-4, "nbsvm": 1e-3}
ROUNDS = 1000
# alpha and beta of Wang & Manning 2012, whose beta is 0.25: on held-out training texts 0.5 was
# worth 0.2 points more of IMDB, 0.5 of TREC, and as much of SST-2 and 20 Newsgroups; 1 no more.
SMOOTHING, BETA = 1.0, 0.5
HALVES = np.array([-0.5, 0.5])  # one decision value as two scores, as far apart as it is high
FAR = 30.0  # e^-30 is nothing


def learn(
    settings: BagSettings, rows: Any, labels: NDArray[Any], classes: int, grams: int
) -> Judgement:
    """From rows (n, F) and labels, (n,) class numbers or (n, C) of 0 and 1. `settings` has a
    strength."""
    if labels.ndim == 2:
        return _answers(settings, rows, labels.T == 1, grams)
    seen, places = np.unique(labels, return_inverse=True)
    if settings.judge == "nbsvm":
        asked = [1] if len(seen) == 2 else range(len(seen))
        found = _answers(settings, rows, (places == place for place in asked), grams)
    else:
        judge = _fitted(settings, rows, places)
        found = judge.coef_.T, judge.intercept_
    if len(seen) == 2:
        found = found[0] * HALVES, found[1] * HALVES
    return found if len(seen) == classes else _with_unseen(found, seen, classes)


def strength(settings: BagSettings, rows: Any) -> float:
    """What the settings say, or what suits the rows: those that are k times as long need 1 / k² of
    the strength for the same effect."""
    if settings.strength is not None:
        return settings.strength
    return STRENGTHS[settings.judge] * rows.shape[0] / float(rows.data @ rows.data)


def log_ratios(rows: Any, yes: Bools) -> Floats:
    """(F,) of each gram: log of its share of the grams in the texts that have a label, over its
    share in the others (Wang & Manning 2012, section 2). Above 0 it speaks for the label."""
    p, q = (SMOOTHING + rows.T @ part.astype(np.float64) for part in (yes, ~yes))
    ratios: Floats = np.log(p / p.sum()) - np.log(q / q.sum())
    return ratios


def _with_unseen(found: Judgement, seen: NDArray[Any], classes: int) -> Judgement:
    """(F, S) -> (F, C): a class that was never seen scores FAR below the mean of the others, and so
    below the best of them, whatever the text."""
    weights = np.repeat(found[0].mean(axis=1, keepdims=True), classes, axis=1)
    intercept = np.full(classes, found[1].mean() - FAR)
    weights[:, seen], intercept[seen] = found
    return weights, intercept


def _answers(settings: BagSettings, rows: Any, labels: Iterable[Bools], grams: int) -> Judgement:
    """One judge for each label (n,), which knows nothing of the others."""
    found = [_yes_or_no(settings, rows, yes, grams) for yes in labels]
    return np.stack([w for w, _ in found], axis=1), np.array([b for _, b in found])


def _yes_or_no(settings: BagSettings, rows: Any, yes: Bools, grams: int) -> tuple[Floats, float]:
    if yes.all() or not yes.any():  # no gram can tell; half a text of each keeps it finite
        return np.zeros(rows.shape[1]), float(np.log((yes.sum() + 0.5) / ((~yes).sum() + 0.5)))
    if settings.judge == "nbsvm":
        return _naive_bayes_svm(settings, rows, yes, grams)
    judge = _fitted(settings, rows, yes)
    return judge.coef_[0], judge.intercept_[0]


def _naive_bayes_svm(
    settings: BagSettings, rows: Any, yes: Bools, grams: int
) -> tuple[Floats, float]:
    """Between naive Bayes, which trusts all ratios alike and starts from how frequent the label is,
    and an SVM (Wang & Manning 2012, section 2.3). The intercept must be between them too: with the
    SVM's alone, 3,000 reviews taught 3 points less."""
    ratios = np.ones(rows.shape[1])  # of what is no gram, 1: it was not counted
    ratios[:grams] = log_ratios(rows[:, :grams], yes)
    rows = rows.astype(np.float64)
    rows.data *= ratios[rows.indices]
    judge = _fitted(settings, rows, yes)
    weights, trust = BETA * judge.coef_[0], (1 - BETA) * np.abs(judge.coef_[0, :grams]).mean()
    weights[:grams] += trust
    prior = 0.0 if settings.balanced else np.log(yes.sum() / (~yes).sum())
    return ratios * weights, float(trust * prior + BETA * judge.intercept_[0])


def _fitted(settings: BagSettings, rows: Any, labels: NDArray[Any]) -> Any:
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression
    from sklearn.svm import LinearSVC

    options: dict[str, Any] = {"C": settings.strength, "tol": TOLERANCES[settings.judge]}
    options |= {"max_iter": ROUNDS, "class_weight": "balanced" if settings.balanced else None}
    if settings.judge == "logistic":  # lbfgs took twice the time and, of 20 classes, the memory
        judge = LogisticRegression(solver="newton-cg", **options)
    else:  # the dual problem would be solved in random order, and slowly where rows are long
        judge = LinearSVC(dual=False, **options)
    with warnings.catch_warnings():  # where it stops early it is as good as done
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.filterwarnings("ignore", "Line Search failed")
        # data/label_doubts.py tells
        warnings.filterwarnings("ignore", "The number of unique classes")
        return judge.fit(rows, labels)
