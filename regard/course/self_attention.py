"""Self-attention on six words, with every number in between."""

from itertools import product

import torch
from torch import Tensor, nn

from regard.course.draw import heat, label, panels
from regard.course.lesson import Drawing, Lesson, Number, Table
from regard.course.tiny import repeatable, train
from regard.nn.attention import attend
from regard.nn.plain import attention, attention_loop, self_attention
from regard.tasks.task import Loss

TITLE = "Six words look at each other"
IDEA = """
What is a bat, an animal or a piece of sports gear? In "the bat flew over the river" the other
words say it. Self-attention lets every word ask all words of its sentence, and take over a little
from those that match.

There are three steps. Score: the dot product of a word's vector with every word's vector, divided
by the root of the width. Weights: a softmax over each row of scores, so that they are shares of 1.
Mix: the mean of all vectors with these weights is the word's new vector. Nothing here is learned.

To make it learn, the vectors are first multiplied by three matrices. They give each word a query
(what it looks for), a key (what it can be found by) and a value (what it hands over). The three
steps stay as they are.
"""
TRY = (
    "Give bat a longer vector, say 2, 2, 0.5, 0: now its own weight is the largest.",
    'Write "flew" twice into the sentence: what happens to the weights of each row?',
    "Learn to look at the first noun instead of the verb. Which matrices must change?",
)
QUESTIONS = (
    (
        'Both "the" have the same new vector. Why?',
        "They begin with the same vector, and nothing tells the first place from the fifth: "
        "positions are a chapter of their own.",
    ),
    (
        "Is the weight of a word for itself always the highest of its row?",
        "No. That is certain only when all vectors are equally long and queries and keys are the "
        "same; here it holds in two rows of six.",
    ),
    (
        "How many numbers does a sentence of six words need for its weights, and one of twelve?",
        "36 and 144: every word is scored against every word.",
    ),
    (
        "What do the three learned matrices add?",
        "A word can look for something other than itself, and hand over something other than its "
        "own vector.",
    ),
)
FEATURES = ("animal", "tool", "moving", "place")
WORDS = {
    "the": (0.2, 0.2, 0.1, 0.2),
    "bat": (1.0, 1.0, 0.5, 0.0),
    "dog": (1.5, 0.0, 0.5, 0.0),
    "ball": (0.0, 1.5, 0.5, 0.0),
    "river": (0.0, 0.0, 1.0, 2.0),
    "hill": (0.0, 0.0, 0.0, 2.0),
    "flew": (1.5, 0.0, 2.0, 0.0),
    "fell": (0.0, 0.5, 2.0, 0.0),
    "ran": (1.0, 0.0, 1.5, 0.5),
    "over": (0.0, 0.0, 1.0, 1.0),
    "under": (0.0, 0.0, 0.0, 1.0),
}
NOUNS, VERBS = ("bat", "dog", "ball", "river", "hill"), ("flew", "fell", "ran")
SENTENCE = ("the", "bat", "flew", "over", "the", "river")
VERB = 2  # the place of the verb in every sentence here
STEPS = 150


class Projected(nn.Module):
    """Self-attention with learned queries, keys and values, one head."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.query, self.key, self.value = (nn.Linear(width, width) for _ in range(3))

    def three(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        return self.query(x), self.key(x), self.value(x)

    def forward(self, x: Tensor) -> Tensor:
        """(B, T, width) -> the same shape"""
        q, k, v = (part[:, None] for part in self.three(x))  # one head: (B, 1, T, width)
        return attend(q, k, v)[0][:, 0]


def vectors(sentence: tuple[str, ...]) -> Tensor:
    return torch.tensor([WORDS[word] for word in sentence], dtype=torch.float64)


def sentences() -> list[tuple[str, ...]]:
    """All that the words allow, but for the one of this chapter."""
    every = product(["the"], NOUNS, VERBS, ["over", "under"], ["the"], NOUNS)
    return [sentence for sentence in every if sentence != SENTENCE]


def lesson(seed: int = 0) -> Lesson:
    x = vectors(SENTENCE)
    scores = x @ x.T / 2  # the root of the width 4 is 2
    mixed, weights = attention(x, x, x)
    with repeatable(seed):
        model = learned()
    with torch.no_grad():
        q, k, v = model.three(x)
    found, pointed = attention(q, k, v)
    _, fair = attention(*[x / x.norm(dim=1, keepdim=True)] * 3)
    gap = float((attention_loop(q, k, v) - found).abs().max())
    numbers = [
        *worked(scores, weights, mixed),
        Number.at_most("loop minus matrix form, at most", _gap(x, mixed), 1e-12),
        Number.at_most("the same with learned queries, keys, values", gap, 1e-12),
        Number.equal("rows where the own weight is highest", own_is_highest(weights), 2),
        Number.equal("the same with vectors of equal length", own_is_highest(fair), 6),
        Number.measured("mean weight for the verb, nothing learned", verb_weight(weights)),
        Number.at_least("mean weight for the verb, learned", verb_weight(pointed), 0.8),
    ]
    maps = {"vectors as they are": weights, "vectors of equal length": fair, "learned": pointed}
    drawings = [_draw_steps(x, scores, weights, mixed), _draw_maps(maps)]
    return Lesson(
        numbers, drawings, _says(mixed, weights, pointed), _tables(scores, weights, mixed)
    )


def worked(scores: Tensor, weights: Tensor, mixed: Tensor) -> list[Number]:
    """What a person gets with pencil and paper, to four decimals."""
    return [
        Number.equal("score of bat for bat: (1 + 1 + 0.25) / 2", float(scores[1, 1]), 1.125),
        Number.equal("score of bat for flew: (1.5 + 1) / 2", float(scores[1, 2]), 1.25),
        Number.equal("weight of bat for bat", float(weights[1, 1]), 0.2645),
        Number.equal("weight of bat for flew", float(weights[1, 2]), 0.2998),
        Number.equal("new animal number of bat", float(mixed[1, 0]), 0.7572),
        Number.equal("new tool number of bat", float(mixed[1, 1]), 0.3076),
        Number.equal("sum of a row's weights, farthest from 1", _farthest_sum(weights), 1.0, 1e-12),
    ]


def learned() -> Projected:
    """Matrices that were trained to hand every word the vector of its sentence's verb."""
    model = Projected(len(FEATURES)).double()
    batch = torch.stack([vectors(sentence) for sentence in sentences()])  # (B, 6, 4)
    wanted = batch[:, VERB : VERB + 1].expand_as(batch)

    def loss(model: Projected, _: None) -> Loss:
        return Loss((model(batch) - wanted).square().sum(), len(batch))

    train(model, lambda step: None, loss, steps=STEPS, rate=0.1)
    return model


def own_is_highest(weights: Tensor) -> int:
    """Rows in which no weight is above the word's own; the same word twice is a tie."""
    return int((weights.diagonal() >= weights.max(dim=1).values - 1e-9).sum())


def verb_weight(weights: Tensor) -> float:
    return float(weights[:, VERB].mean())


def _farthest_sum(weights: Tensor) -> float:
    sums = weights.sum(dim=1)
    return float(sums[(sums - 1).abs().argmax()])


def _gap(x: Tensor, mixed: Tensor) -> float:
    forms = (attention_loop(x, x, x), self_attention(x))
    return max(float((form - mixed).abs().max()) for form in forms)


def _says(mixed: Tensor, weights: Tensor, pointed: Tensor) -> list[str]:
    return [
        f"The vector of bat was as much animal as tool, 1 and 1. It looked mostly at flew "
        f"({weights[1, 2]:.2f}) and at itself ({weights[1, 1]:.2f}), and came out with "
        f"{mixed[1, 0]:.2f} animal and {mixed[1, 1]:.2f} tool: the sentence said which it is.",
        "Three times the same thing came out: the loop that follows the words of the recipe, the "
        "products of matrices, and the short form for one sequence. They agree to 1e-12.",
        "That the diagonal is highest is an expectation, not a rule. The dot product also grows "
        "with the length of a vector, so bat prefers the long vector of flew to itself. With all "
        "vectors made equally long the diagonal is the highest in all six rows, since nothing is "
        "more alike than a thing to itself. Learned queries and keys make even that uncertain.",
        f"The learned matrices were trained on {len(sentences())} other sentences to fetch the "
        f"verb. In this one, which they never saw, the mean weight for flew rose from "
        f"{verb_weight(weights):.2f} to {verb_weight(pointed):.2f}.",
    ]


def _tables(scores: Tensor, weights: Tensor, mixed: Tensor) -> list[Table]:
    return [
        _table("Vectors that go in", FEATURES, vectors(SENTENCE)),
        _table("Scores: dot products / 2", SENTENCE, scores),
        _table("Weights: softmax of each row", SENTENCE, weights),
        _table("Mixed vectors that come out", FEATURES, mixed),
    ]


def _table(title: str, columns: tuple[str, ...], values: Tensor) -> Table:
    rows = [
        (word, *(f"{value:.4f}" for value in row))
        for word, row in zip(SENTENCE, values.tolist(), strict=True)
    ]
    return Table(title, ("", *columns), rows)


def _draw_steps(x: Tensor, scores: Tensor, weights: Tensor, mixed: Tensor) -> Drawing:
    figure, axes = panels(2, 2, size=(4.1, 3.2))
    steps = (
        ("1. Vectors that go in", x, FEATURES),
        ("2. Scores: dot products / 2", scores, SENTENCE),
        ("3. Weights: each row sums to 1", weights, SENTENCE),
        ("4. Mixed vectors that come out", mixed, FEATURES),
    )
    for ax, (title, values, columns) in zip(axes, steps, strict=True):
        heat(ax, values, SENTENCE, columns, numbers=True, bar=False)
        label(ax, title)
    return Drawing(
        figure,
        "Every number on the way of six words through self-attention. A row of the weights says "
        "how much its word takes from each word; bat (second row) takes most from flew.",
    )


def _draw_maps(maps: dict[str, Tensor]) -> Drawing:
    figure, axes = panels(3, size=(2.9, 3.1))
    for ax, (title, weights) in zip(axes, maps.items(), strict=True):
        heat(ax, weights, SENTENCE, SENTENCE, bar=False)
        highest = weights >= weights.max(dim=1, keepdim=True).values - 1e-9
        rows, columns = highest.nonzero().T
        ax.plot(columns, rows, "o", color="white", markeredgecolor="black", markersize=7)
        label(ax, title[0].upper() + title[1:], "word looked at")
    axes[0].set_ylabel("word that looks")
    return Drawing(
        figure,
        "Dots mark the highest weight of each row, two where there is a tie. On the left they are "
        "on the diagonal in two rows of six, in the middle in all; on the right every word has "
        "learned to look at the verb.",
    )
