"""Plans of classifiers: which model is best?"""

from collections.abc import Callable, Iterable
from functools import partial

from regard.config import Tree
from regard.reproduce import labelled
from regard.reproduce.claims import Claim, average, goal, score, stated, within
from regard.reproduce.plan import Plan
from regard.reproduce.sets import Shelf


def folds(*models: str) -> tuple[str, ...]:
    """A part for each model and each of five folds."""
    return tuple(f"{model}-{fold}" for model in models for fold in range(labelled.FOLDS))


def folded_data(read: Callable[[Shelf, int], Tree], shelf: Shelf, part: str) -> Tree:
    """The data of a part such as "bag-3"."""
    return read(shelf, int(part.rpartition("-")[2]))


def _in_time(parts: Iterable[str], minutes: float) -> tuple[Claim, ...]:
    return tuple(within(part, minutes) for part in parts)


def _best(part: str, least: float, hoped: float) -> tuple[Claim, ...]:
    return score(part, "accuracy", least), goal(score(part, "accuracy", hoped))


TREC, MRPC = folds("bag", "lstm"), folds("bag")
LABEL_PLANS: dict[str, Plan] = {
    "imdb-bag": Plan(
        "film reviews, good or bad, by bags of words",
        ("binary", "tfidf", "nbsvm"),
        labelled.film_reviews,
        (
            score("binary", "accuracy", 89),
            score("tfidf", "accuracy", 90),
            *_best("nbsvm", 90.5, 91.5),
            *_in_time(("binary", "tfidf", "nbsvm"), 30),
        ),
    ),
    "imdb-transformer": Plan(
        "the same by Chollet's Transformer, without and with positions",
        ("none", "positions"),
        labelled.film_reviews,
        (
            *_best("none", 87, 89),
            *_best("positions", 88, 89),
            *_in_time(("none", "positions"), 30),
        ),
    ),
    "imdb-bilstm": Plan(
        "the same by an LSTM from both ends",
        ("lstm",),
        labelled.film_reviews,
        (*_best("lstm", 86.5, 88), within("lstm", 30)),
    ),
    "imdb-best": Plan(
        "the same by the best Transformer that we know, from scratch",
        ("transformer",),
        labelled.film_reviews,
        (*_best("transformer", 89, 91), within("transformer", 60)),
    ),
    "trec": Plan(
        "questions by what they ask for, five folds",
        TREC,
        partial(folded_data, labelled.questions),
        (
            average(TREC[:5], "accuracy", 86),
            average(TREC[5:], "accuracy", 86),
            goal(average(TREC[:5], "accuracy", 90)),
            *_in_time(TREC[5:], 30),
        ),
        by_part=True,
    ),
    "newsgroups": Plan(
        "messages by their newsgroup",
        ("bag",),
        labelled.newsgroups,
        (*_best("bag", 90, 92), within("bag", 30)),
    ),
    "sst2": Plan(
        "phrases of reviews: what a split that keeps sentences whole says, and a naive one",
        ("bag", "transformer", "naive"),
        labelled.phrases_of,
        (
            stated("naive", "accuracy"),
            goal(score("bag", "accuracy", 83)),
            goal(score("transformer", "accuracy", 81)),
            *_in_time(("bag", "transformer"), 30),
        ),
        by_part=True,
    ),
    "paraphrase": Plan(
        "do two sentences say the same? five folds",
        MRPC,
        partial(folded_data, labelled.paraphrases),
        (average(MRPC, "accuracy", 0.0, above="most frequent label"),),
        by_part=True,
    ),
}
