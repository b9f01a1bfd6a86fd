"""A made-up language of 57,600 sentences, all equally likely: how well the next word can be guessed
is known exactly."""

import math
from collections.abc import Sequence
from itertools import chain, product

import torch
import torch.nn.functional as F
from torch import Tensor

from regard.models.decoder import Decoder
from regard.names import SPECIALS, START, STOP
from regard.tasks.task import Loss

DETERMINERS = (("this", "that"), ("these", "those"))  # for one, and for many
ADJECTIVES = ("old", "small", "brown", "calm", "quick")
NOUNS = (
    ("dog", "cat", "fox", "hen", "cow", "bee"),
    ("dogs", "cats", "foxes", "hens", "cows", "bees"),
)
VERBS = (("sees", "likes", "hears", "calls"), ("see", "like", "hear", "call"))
WORDS = [*SPECIALS, *chain(*DETERMINERS, ADJECTIVES, *NOUNS, *VERBS)]
LENGTH = 7  # words of a sentence, as in "these old cats see that brown dog"

Sentence = tuple[str, ...]


def language() -> list[Sentence]:
    """Every sentence that there is: determiner, noun and verb agree in number."""
    things = [list(product(DETERMINERS[n], ADJECTIVES, NOUNS[n])) for n in (0, 1)]
    return [
        (*subject, verb, *thing)
        for n in (0, 1)
        for subject, verb, thing in product(things[n], VERBS[n], [*things[0], *things[1]])
    ]


def least_loss() -> float:
    """The uncertainty of the language in nats a token, STOP included: nobody can honestly have a
    lower loss, since all sentences are equally likely."""
    return math.log(len(language())) / (LENGTH + 1)


def ids_of(sentences: Sequence[Sentence]) -> Tensor:
    """(rows, 9): START, the words, STOP"""
    return torch.tensor([[START, *map(WORDS.index, one), STOP] for one in sentences])


def words_of(ids: Tensor) -> Sentence:
    """Without START, and up to STOP."""
    found = ids.tolist()[1:]
    return tuple(WORDS[i] for i in found[: found.index(STOP) if STOP in found else None])


def next_word_loss(model: Decoder, rows: Tensor) -> Loss:
    scores, answers = model(rows[:, :-1]).flatten(0, 1), rows[:, 1:].flatten()
    return Loss(F.cross_entropy(scores, answers, reduction="sum"), len(answers))
