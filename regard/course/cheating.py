"""Train once with and once without the causal mask: who only copies the answer learns nothing."""

from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from regard.check.report import MEANINGS, Report
from regard.course.draw import COLOURS, bars, heat, label, panels
from regard.course.language import (
    LENGTH,
    WORDS,
    Sentence,
    ids_of,
    language,
    least_loss,
    next_word_loss,
    words_of,
)
from regard.course.lesson import Drawing, Lesson, Number, Table
from regard.course.tiny import repeatable, train
from regard.lens.capture import capture
from regard.models.decoder import Decoder
from regard.names import START
from regard.run import check
from regard.shapes import DecoderSettings

TITLE = "Train without the mask: a splendid loss and a useless model"
IDEA = """
A decoder learns by guessing the next word at every place of a sentence at once. The whole sentence
is there, so the next word is there too. Only the causal mask hides it. Leave the mask out, and
the network soon finds the shortest way to a low loss: look one place ahead and copy.

Then it has to write. Now the next word really is not there, and the network has learned nothing
else than to copy it.

The mistake is easy to make, and the loss looks splendid. Two things give it away. The loss is lower
than the data allow, for whoever knows how unsure the next word is. And a check that changes later
words and watches whether earlier outputs move.

The language is made up, so that its uncertainty is known: each of its 57,600 sentences has seven
words, as in "these old cats see that brown dog", and is as likely as any other.
"""
TRY = (
    "Let the mask be off by one (tril(1) in place of tril(0)): half a cheat is a whole one.",
    "Make the language easier to guess: one adjective only. How do the losses change?",
    "regard.check(your_module, kind='decoder') on a decoder that you wrote yourself.",
)
QUESTIONS = (
    (
        "Why does the cheater's loss look so good?",
        "It may see the word that it is asked for, and copies it; copying is easier than guessing.",
    ),
    (
        "Why is it useless when it writes?",
        "The word to copy is not written yet, and guessing from the words before was never "
        "practised.",
    ),
    (
        "How can a held-out test set fail to notice?",
        "The cheater cheats there as well: the answers stand in the input. Only a loss below "
        "what is possible, writing, or a check of causality shows it.",
    ),
    (
        "Which loss should make you suspicious?",
        "One below the uncertainty of the language: nobody can guess a fair coin better than half "
        "the time.",
    ),
)
TRAINED, TESTED, WRITTEN, BATCH, STEPS = 4000, 500, 200, 64, 200
CASES = 12  # of each check


class Cheater(Decoder):
    """A decoder whose author forgot the mask."""

    def forward(self, ids: Tensor, *_: Any, **__: Any) -> Tensor:
        x = self.begin(ids)
        for block in self.blocks:
            x = block(x, None, self.positions.turn)
        return self.embed.scores(self.norm(x))


@dataclass(frozen=True)
class Trained:
    """A model, and what it turned out to be."""

    model: Decoder
    losses: list[float]  # of every step
    test: float  # loss on sentences that it was not trained on, all words in sight
    alone: float  # the same when it sees only the words before, as in writing
    written: list[Sentence]
    right: float  # share of what it wrote that is a sentence
    report: Report


def lesson(seed: int = 0) -> Lesson:
    with repeatable(seed) as dice:
        rows, test = split(dice)
        honest, cheater = (experiment(kind, rows, test, seed) for kind in (Decoder, Cheater))
        maps = {"With the mask": looks(honest.model, test), "Without": looks(cheater.model, test)}
    floor = least_loss()
    low, high = round(floor - 0.05, 2), round(floor + 0.1, 2)
    numbers = [
        Number.equal("sentences of the language: 2 x 60 x 4 x 120", len(language()), 57_600),
        Number.equal("least loss that is honest: log(57,600) / 8", floor, 1.3702),
        Number.at_least("loss on new sentences, with the mask", honest.test, low),
        Number.at_most("loss on new sentences, without", cheater.test, 0.1),
        Number.at_most("loss with only the past in sight, with the mask", honest.alone, high),
        Number.at_least("the same, without: blind guessing has 3.50", cheater.alone, 2.5),
        Number.at_least("share of right sentences written, with the mask", honest.right, 0.85),
        Number.at_most("share of right sentences written, without", cheater.right, 0.3),
        Number.equal("regard.check, with the mask: checks that fail", failed(honest), 0),
        Number.at_least("regard.check, without: checks that fail", failed(cheater), 1),
        Number.equal("regard.check, without: is causality among them?", caught(cheater), 1),
    ]
    drawings = [_draw_losses(honest, cheater), _draw_maps(maps)]
    return Lesson(numbers, drawings, _says(honest, cheater), _tables(honest, cheater))


def split(dice: torch.Generator) -> tuple[Tensor, Tensor]:
    """Sentences to train on and others to test on."""
    every = language()
    order = torch.randperm(len(every), generator=dice).tolist()
    test = ids_of([every[i] for i in order[:TESTED]])
    return ids_of([every[i] for i in order[TESTED : TESTED + TRAINED]]), test


def experiment(kind: type[Decoder], rows: Tensor, test: Tensor, seed: int) -> Trained:
    """The same settings, weights to begin with and data for both."""
    torch.manual_seed(seed)
    dice = torch.Generator().manual_seed(seed)
    model = kind.of(DecoderSettings(width=32, heads=2, layers=2, max_length=32), len(WORDS))

    def batch_of(step: int) -> Tensor:
        return rows[torch.randint(len(rows), (BATCH,), generator=dice)]

    losses = train(model, batch_of, next_word_loss, steps=STEPS, rate=1e-2)
    written = write(model, dice)
    every = set(language())
    right = sum(one in every for one in written) / len(written)
    report = check(model, kind="decoder", vocabulary=len(WORDS), cases=CASES)
    return Trained(model, losses, *both_losses(model, test), written, right, report)


@torch.no_grad()
def both_losses(model: Decoder, rows: Tensor) -> tuple[float, float]:
    """With the whole sentence given at once, as in training; and with only the words before each
    answer given, as in writing."""
    whole = next_word_loss(model, rows)
    alone = [F.cross_entropy(model(rows[:, :t])[:, -1], rows[:, t]) for t in range(1, rows.size(1))]
    return float(whole.total) / whole.tokens, float(torch.stack(alone).mean())


@torch.no_grad()
def write(model: Decoder, dice: torch.Generator) -> list[Sentence]:
    """One word after the other, each drawn by its probability."""
    ids = torch.full((WRITTEN, 1), START)
    for _ in range(LENGTH + 1):
        chances = model(ids)[:, -1].softmax(dim=-1)
        ids = torch.cat([ids, chances.multinomial(1, generator=dice)], dim=1)
    return [words_of(row) for row in ids]


@torch.no_grad()
def looks(model: Decoder, rows: Tensor) -> Tensor:
    """(T, T), the weights of the head that looks most at the next word, a mean over all rows."""
    with capture(model) as seen:
        model(rows[:, :-1])
    heads = torch.cat([one.weights for one in seen], dim=1).mean(dim=0)  # (heads, T, T)
    return heads[heads.diagonal(1, dim1=1, dim2=2).sum(dim=-1).argmax()]


def failed(one: Trained) -> int:
    return sum(finding.passed is False for finding in one.report.findings)


def caught(one: Trained) -> int:
    return int(one.report["causality"].passed is False)


def _says(honest: Trained, cheater: Trained) -> list[str]:
    return [
        f"On sentences that neither was trained on, the model without the mask has a loss of "
        f"{cheater.test:.4f}, against {honest.test:.2f} with it. But every sentence of this "
        f"language is equally likely, so the next word can not be guessed better than "
        f"{least_loss():.2f} on average. The lower loss is not skill: the answers were in sight.",
        f"With only the words before in sight, as in writing, the honest loss stays at "
        f"{honest.alone:.2f} and the other one becomes {cheater.alone:.2f}, against 3.50 for "
        f"picking any of the {len(WORDS)} words blindly. Of {WRITTEN} sentences written, "
        f"{round(honest.right * WRITTEN)} are right with the mask and "
        f"{round(cheater.right * WRITTEN)} without.",
        f"regard.check needs no test set for this. It changes later words and watches the outputs "
        f"before them. For the cheater: {cheater.report['causality'].note}. For the honest model "
        "not a bit moved.",
    ]


def _tables(honest: Trained, cheater: Trained) -> list[Table]:
    pairs = zip(honest.written[:4], cheater.written[:4], strict=True)
    texts: list[tuple[str, ...]] = [(_text(a), _text(b)) for a, b in pairs]
    checks: list[tuple[str, ...]] = [
        (a.name, a.verdict, b.verdict, MEANINGS[a.name])
        for a, b in zip(honest.report.findings, cheater.report.findings, strict=True)
        if a.passed is not None
    ]
    return [
        Table("What they write", ("with the mask", "without"), texts),
        Table("regard.check", ("check", "with the mask", "without", "what it means"), checks),
    ]


def _text(written: Sentence) -> str:
    return " ".join(written) or "(nothing)"


def _draw_losses(honest: Trained, cheater: Trained) -> Drawing:
    figure, (left, right) = panels(2, size=(4.1, 3.3))
    for name, one, style, colour in (
        ("with the mask", honest, "-", COLOURS[0]),
        ("without", cheater, "--", COLOURS[1]),
    ):
        left.plot(range(1, STEPS + 1), one.losses, style, color=colour, label=name)
    left.axhline(least_loss(), color=COLOURS[5], linestyle=":", label="least that is honest")
    left.set_ylim(0, 4)
    left.legend(fontsize=9, frameon=False)
    label(left, "Training: the cheater wins", "step", "loss, nats a word")
    groups = {
        "with the mask": (honest.test, honest.alone),
        "without": (cheater.test, cheater.alone),
    }
    bars(right, ("all words in sight", "only those before"), groups)
    label(right, "Writing: the cheater is lost", "", "loss on new sentences, nats a word")
    return Drawing(
        figure,
        "Left: without the mask the loss falls below what is possible for anyone who does not see "
        "the answer. Right: as soon as only the past is in sight, the honest loss stays and the "
        "cheater's is worse than blind guessing (3.50).",
    )


def _draw_maps(maps: dict[str, Tensor]) -> Drawing:
    figure, axes = panels(2, size=(3.9, 3.4))
    places = ("START", *(str(place) for place in range(1, LENGTH + 1)))
    for ax, (name, weights) in zip(axes, maps.items(), strict=True):
        heat(ax, weights, places, places, bar=False)
        label(ax, name, "place looked at")
    axes[0].set_ylabel("place that looks")
    return Drawing(
        figure,
        "Mean weights over new sentences. Right, the cheater: its head that looks most at the next "
        "word, one place to the right, where the answer stands. Left, a head of the honest model: "
        "everything right of the diagonal is shut.",
    )
