"""Word order and context, measured for five kinds of model on two generated tasks."""

from collections.abc import Callable

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from regard.course.draw import bars, label, panels
from regard.course.lesson import Drawing, Lesson, Number, Table
from regard.course.tiny import repeatable, train
from regard.models.encoder import Encoder, Source
from regard.models.recurrent import RecurrentNetwork
from regard.nn.pooling import pool
from regard.shapes import EncoderSettings, RecurrentSettings
from regard.tasks.task import Loss

TITLE = "Who knows order, who knows context?"
IDEA = """
A table often shown says: a bag of words knows neither order nor context, a bag of bigrams a
little order, a recurrent network order, self-attention context, and the Transformer both. Here
the table is measured, on one task that needs order and one that needs context.

Order: every sentence holds the words "man" and "dog" among ten others, and the label says
which comes first. All sentences of both labels hold the same kinds of words; only their order
differs.

Context: every sentence holds "river" or "money", and "bank" or "shore", anywhere. The label is
whether the two belong together. No word alone says anything about it; what one word means depends
on the other.
"""
TRY = (
    "Put the two words of a task always side by side: now the bag of bigrams solves it.",
    "Make sentences of 60 words: which of the networks suffers?",
    'Give the self-attention learned positions: positions="learned" makes it a Transformer.',
)
QUESTIONS = (
    (
        "Why can self-attention without positions not solve the first task?",
        "Its pooled output is the same for every order of the words, so both labels look alike to "
        "it.",
    ),
    (
        "Why can a bag of words, with any weights, not solve the second?",
        "It adds up one number a word, and here every word is equally frequent under both labels: "
        "only the pair decides.",
    ),
    (
        "Has an RNN no awareness of context, as the table says?",
        "It has some: given time it solves the second task too. What it lacks is a short way "
        "between far words.",
    ),
)
FILLERS, WORDS = 30, 12
FIRST, SECOND, THIRD, FOURTH = range(FILLERS, FILLERS + 4)
VOCABULARY = FILLERS + 4
LEARNED, TESTED, WIDTH, STEPS, ROWS = 6000, 1000, 32, 500, 64
RNN, LONGER = "RNN (a GRU)", "RNN, 3 x as long"
EXPECTED = {  # what the table says: order, context
    "bag of unigrams": ("no", "no"),
    "bag of bigrams": ("very limited", "no"),
    RNN: ("yes", "no"),
    LONGER: ("", ""),
    "self-attention": ("no", "yes"),
    "Transformer": ("yes", "yes"),
}

Data = tuple[Tensor, Tensor]  # ids (rows, WORDS), labels (rows,)
Model = Callable[[Data, Data], float]  # training and test data -> percent right


def order_task(dice: torch.Generator, rows: int) -> Data:
    """Which of two words comes first?"""
    return _planted(dice, rows, lambda label: (FIRST, SECOND) if label else (SECOND, FIRST), True)


def context_task(dice: torch.Generator, rows: int) -> Data:
    """Do two words belong together? Either may come first."""
    coin = torch.randint(2, (rows,), generator=dice).tolist()
    sides = iter(coin)

    def pair(label: int) -> tuple[int, int]:
        cue = next(sides)
        return (FIRST, SECOND)[cue], (THIRD, FOURTH)[cue if label else 1 - cue]

    return _planted(dice, rows, pair, False)


def _planted(
    dice: torch.Generator, rows: int, pair: Callable[[int], tuple[int, int]], ordered: bool
) -> Data:
    """Sentences of fillers at random, with a pair of words put in at two places."""
    ids = torch.randint(FILLERS, (rows, WORDS), generator=dice)
    labels = torch.randint(2, (rows,), generator=dice)
    places = torch.rand(rows, WORDS, generator=dice).argsort(dim=1)[:, :2]
    places = places.sort(dim=1).values if ordered else places
    for row, (one, other) in enumerate(places.tolist()):
        ids[row, one], ids[row, other] = pair(int(labels[row]))
    return ids, labels


def bag(longest: int) -> Model:
    """Logistic regression on counts of n-grams up to this length."""

    def score(training: Data, test: Data) -> float:
        from sklearn.feature_extraction.text import CountVectorizer
        from sklearn.linear_model import LogisticRegression

        counts = CountVectorizer(ngram_range=(1, longest), token_pattern=r"\S+")
        model = LogisticRegression(max_iter=2000)
        model.fit(counts.fit_transform(_texts(training[0])), training[1].numpy())
        found = model.predict(counts.transform(_texts(test[0])))
        return 100 * float(np.mean(found == test[1].numpy()))

    return score


def _texts(ids: Tensor) -> list[str]:
    return [" ".join(f"w{i}" for i in row) for row in ids.tolist()]


class Pooled(nn.Module):
    """An encoder whose vectors are averaged and judged."""

    def __init__(self, positions: str) -> None:
        super().__init__()
        shape = {"width": WIDTH, "heads": 4, "layers": 2, "positions": positions}
        self.encoder = Encoder.of(EncoderSettings.model_validate(shape), VOCABULARY)
        self.judge = nn.Linear(WIDTH, 2)

    def forward(self, ids: Tensor) -> Tensor:
        return self.judge(pool(self.encoder(Source(ids)), "mean"))


def network(make: Callable[[], nn.Module], times: int = 1) -> Model:
    def score(training: Data, test: Data) -> float:
        model, (ids, labels) = make(), training
        dice = torch.Generator().manual_seed(0)

        def batch(step: int) -> Data:
            chosen = torch.randint(len(ids), (ROWS,), generator=dice)
            return ids[chosen], labels[chosen]

        train(model, batch, _loss, steps=times * STEPS, rate=0.005)
        with torch.no_grad():
            found = model(test[0]).argmax(dim=-1)
        return 100 * float((found == test[1]).float().mean())

    return score


def _loss(model: nn.Module, batch: Data) -> Loss:
    return Loss(F.cross_entropy(model(batch[0]), batch[1], reduction="sum"), len(batch[1]))


def recurrent() -> nn.Module:
    settings = RecurrentSettings(cell="gru", width=WIDTH)
    return RecurrentNetwork(settings, VOCABULARY, 2, each=False)


MODELS: dict[str, Model] = {
    "bag of unigrams": bag(1),
    "bag of bigrams": bag(2),
    RNN: network(recurrent),
    LONGER: network(recurrent, times=3),
    "self-attention": network(lambda: Pooled("none")),
    "Transformer": network(lambda: Pooled("sinusoidal")),
}


def lesson(seed: int = 0) -> Lesson:
    right: dict[str, tuple[float, float]] = {}
    for name, model in MODELS.items():
        with repeatable(seed) as dice:
            data = [
                (task(dice, LEARNED), task(dice, TESTED)) for task in (order_task, context_task)
            ]
            order, context = (model(*parts) for parts in data)
        right[name] = order, context
    numbers = [
        Number.at_most("bag of unigrams: order, % right", right["bag of unigrams"][0], 60),
        Number.at_most("bag of bigrams: order, % right", right["bag of bigrams"][0], 80),
        Number.at_least(f"{RNN}: order, % right", right[RNN][0], 90),
        Number.at_most("self-attention: order, % right", right["self-attention"][0], 60),
        Number.at_least("Transformer: order, % right", right["Transformer"][0], 90),
        Number.at_most("bag of unigrams: context, % right", right["bag of unigrams"][1], 60),
        Number.at_most("bag of bigrams: context, % right", right["bag of bigrams"][1], 75),
        Number.measured(f"{RNN}: context, % right", right[RNN][1]),
        Number.at_least(f"{LONGER}: context, % right", right[LONGER][1], 80),
        Number.at_least("self-attention: context, % right", right["self-attention"][1], 90),
        Number.at_least("Transformer: context, % right", right["Transformer"][1], 90),
    ]
    table = Table(
        f"% right of {TESTED:,} new sentences; guessing gives 50",
        ("model", "order", "the table says", "context", "the table says"),
        [
            (name, f"{right[name][0]:.1f}", said[0], f"{right[name][1]:.1f}", said[1])
            for name, said in EXPECTED.items()
        ],
    )
    return Lesson(numbers, [_draw(right)], _says(right), [table])


def _says(right: dict[str, tuple[float, float]]) -> list[str]:
    return [
        f"Without positions self-attention guesses about order ({right['self-attention'][0]:.1f} "
        f"%) and solves context ({right['self-attention'][1]:.1f} %); with positions it solves "
        "both. That is the table, measured.",
        "In one place the table is too simple: it gives the RNN no context. After the same number "
        f"of steps that is what is measured ({right[RNN][1]:.1f} %), but trained three times as "
        f"long it reaches {right[LONGER][1]:.1f} %. Its state can carry one word along until the "
        "other comes; that is only harder to find.",
        "The bag of bigrams knows part of the order "
        f"({right['bag of bigrams'][0]:.1f} %) and little context "
        f"({right['bag of bigrams'][1]:.1f} %): it sees a pair that happens to stand side by side, "
        "and which word begins or ends a sentence.",
    ]


def _draw(right: dict[str, tuple[float, float]]) -> Drawing:
    figure, (ax,) = panels(1, size=(9.0, 3.6))
    groups = {
        "order": [order for order, _ in right.values()],
        "context": [context for _, context in right.values()],
    }
    bars(ax, list(right), groups)
    ax.axhline(50, color="#999999", linestyle="--", linewidth=1)
    ax.set_ylim(0, 119)
    label(ax, "Two tasks, and who solves them", "", "% right (dashed: guessing)")
    return Drawing(
        figure,
        "Percent right on new sentences. The bag of words guesses in both tasks, the bag of "
        "bigrams does a little better; self-attention without positions guesses only about order. "
        "The Transformer solves both at once, the RNN the second one only after longer training.",
    )
