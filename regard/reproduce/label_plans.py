"""Plans of classifiers: which model is best?"""

from collections.abc import Callable, Iterable
from functools import partial

from regard.config import Tree
from regard.reproduce import labelled
from regard.reproduce.claims import (
    Claim,
    average,
    better,
    by_chance,
    goal,
    score,
    stated,
    within,
)
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


BEGUN = ("scratch-500", "begun-500", "scratch", "begun")
ORDER_ON_REVIEWS = {
    "reviews, bag": "imdb-bag/tfidf",
    "reviews, LSTM": "imdb-bilstm/lstm",
    "reviews, no positions": "imdb-transformer/none",
    "reviews, Transformer": "imdb-transformer/positions",
}
BAGS = ("binary", "tfidf", "nbsvm")
ALONE = tuple(f"{bag}-alone" for bag in BAGS)
TREC, MRPC = folds("bag", "lstm"), folds("bag")
LABEL_PLANS: dict[str, Plan] = {
    "imdb-bag": Plan(
        "film reviews, good or bad, by bags of words, with unlabelled reviews and without",
        (*BAGS, *ALONE),
        labelled.more_film_reviews,
        (
            score("binary", "accuracy", 89),
            score("tfidf", "accuracy", 90),
            *_best("nbsvm", 90.5, 91.5),
            *(stated(part, "accuracy") for part in ALONE),
            *_in_time(BAGS, 30),
        ),
        by_part=True,
        uses={"lstm": "imdb-bilstm/lstm", "transformer": "imdb-transformer/positions"},
        taught={"nbsvm": ("lstm", "transformer")},  # its own kind has little to teach it
    ),
    "imdb-transformer": Plan(
        "the same by Chollet's Transformer, without and with positions",
        ("none", "positions"),
        labelled.more_film_reviews,
        (
            *_best("none", 87, 89),
            *_best("positions", 88, 89),
            *_in_time(("none", "positions"), 30),
        ),
    ),
    "imdb-bilstm": Plan(
        "the same by an LSTM from both ends",
        ("lstm",),
        labelled.more_film_reviews,
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
    "order": Plan(
        "who knows the order of words? On rows where only that decides, and on reviews",
        ("bag", "none", "rnn", "transformer"),
        labelled.who_is_first,
        (
            by_chance("bag", "accuracy", 50),
            by_chance("none", "accuracy", 50),
            score("rnn", "accuracy", 95),
            score("transformer", "accuracy", 95),
            *(stated(name, "accuracy") for name in ORDER_ON_REVIEWS),
        ),
        uses=ORDER_ON_REVIEWS,
    ),
    "gpt-classify": Plan(
        "film reviews, good or bad, by the GPT that has read others, and by a new one",
        BEGUN,
        labelled.film_reviews,
        (
            better("begun-500", "scratch-500", "accuracy"),
            goal(better("begun", "scratch", "accuracy")),
            *_in_time(BEGUN, 60),
        ),
        by_part=True,
        uses={"gpt": "reviews-gpt/transformer"},
        begins=dict.fromkeys(BEGUN, "gpt"),  # scratch takes its tokens only
    ),
}
