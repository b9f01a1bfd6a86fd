"""What goes wrong in recurrent networks: gradients, time, one vector for everything, distance."""

import time
from collections.abc import Callable
from functools import partial
from statistics import median
from typing import Any

import torch
import torch.nn.functional as F
from matplotlib.ticker import LogLocator, NullFormatter
from torch import Tensor, nn

from regard.course.draw import label, lines, panels
from regard.course.lesson import Drawing, Lesson, Number
from regard.course.tiny import repeatable, train
from regard.course.toys import VOCABULARY, copy_rows, exact, loss_of
from regard.models.encoder import Encoder, Source
from regard.models.recurrent import RecurrentNetwork
from regard.models.seq2seq import Seq2Seq
from regard.nn.recurrent import Recurrent
from regard.shapes import EncoderSettings, RecurrentSettings, Seq2SeqSettings
from regard.tasks.task import Loss

TITLE = "What goes wrong in recurrent networks"
IDEA = """
A recurrent network passes everything through one state, step after step. To learn that the first
word decides about the last, a gradient has to travel back through every step in between, and each
step multiplies it. Multiplied by less than one it vanishes, by more than one it explodes. Gates
(LSTM, GRU) slow that down. Attention avoids it: any two words are one step apart.

Two more troubles. The steps can not be done side by side, so a long text takes long on any
machine. And the last state has to hold the whole text, however long it is: "I grew up in Portugal
... I speak fluent Portuguese" works only if the country survives everything that stands between.
"""
TRY = (
    "Scale the recurrent weights by 1.7 instead of 2.5: gradients neither vanish nor explode for "
    "long.",
    "Let the Portugal task train four times as long: does the RNN learn short distances first?",
    "Double the width of the copying network without attention: how many more letters fit?",
)
QUESTIONS = (
    (
        "Why do gradients vanish or explode?",
        "The gradient of a far step is a product with one factor a step in between; products of "
        "many numbers below 1 go to 0, of many above 1 to infinity.",
    ),
    (
        "Why is an RNN slow on long texts, whatever the machine?",
        "Each step needs the state of the one before, so they can not be computed side by side.",
    ),
    (
        "What do gates change?",
        "An LSTM only adds to its memory and multiplies it by a gate; where the gate has learned "
        "to stay near 1, a gradient passes nearly unchanged. In a new network gates are near one "
        "half, so it still vanishes, only later. GRUs do it in a similar way.",
    ),
)
FAR, WIDTH, EXPLODING, TINY = 60, 32, 2.5, 1e-15
TIMED, WARM, TRIES = (32, 64, 128, 256, 512), 20, 31
LENGTHS, COPIED = (2, 4, 6, 8, 10, 12), 400
GAPS, FACTS, PORTUGAL = (2, 5, 10, 20, 30, 40), 8, 500

Curves = dict[str, list[float]]


def lesson(seed: int = 0) -> Lesson:
    with repeatable(seed):
        gradients = gradient_norms()
        seconds = {name: [timed(read, length) for length in TIMED] for name, read in readers()}
    copied = {kind: copy_accuracy(kind, seed) for kind in ("none", "dot")}
    far = {name: fact_accuracy(name, seed) for name in ("rnn", "gru", "lstm", "transformer")}
    return Lesson(
        _numbers(gradients, seconds, copied, far),
        [_draw_gradients(gradients, seconds), _draw_accuracy(copied, far)],
        _says(gradients, seconds, copied, far),
    )


# Gradients


def gradient_norms() -> Curves:
    """How strongly the last output of a new network depends on an input so many steps back; 1 at
    one step back."""
    x = torch.randn(8, FAR, WIDTH)
    found: Curves = {}
    for name, cell in (("RNN", "rnn"), ("GRU", "gru"), ("LSTM", "lstm")):
        layers = Recurrent(RecurrentSettings.model_validate({"cell": cell, "width": WIDTH}), WIDTH)
        found[name] = _falling(partial(_last_state, layers), x)
    found[f"RNN, weights x {EXPLODING}"] = _falling(partial(_last_state, enlarged()), TINY * x)
    encoder = Encoder.of(EncoderSettings(width=WIDTH, layers=1, positions="none"), 4)
    found["Transformer"] = _falling(lambda x: _through(encoder, x)[:, -1], x)
    return found


def enlarged() -> Recurrent:
    """An RNN with large recurrent weights and no bias. With tiny inputs its states stay where tanh
    is a straight line; at the ends of tanh, where it is flat, gradients would vanish instead."""
    layers = Recurrent(RecurrentSettings(cell="rnn", width=WIDTH), WIDTH)
    with torch.no_grad():
        layers.layers.weight_hh_l0 *= EXPLODING
        layers.layers.bias_hh_l0.zero_()
        layers.layers.bias_ih_l0.zero_()
    return layers


def _last_state(layers: Recurrent, x: Tensor) -> Tensor:
    return layers(x)[0][:, -1]


def _through(encoder: Encoder, x: Tensor) -> Tensor:
    for block in encoder.blocks:
        x = block(x, None, encoder.positions.turn)
    return x


def _falling(last: Callable[[Tensor], Tensor], x: Tensor) -> list[float]:
    """The length of d last / d x[t], for t from one step back to the first, as a share of one step
    back."""
    x = x.clone().requires_grad_()
    last(x).sum().backward()
    assert x.grad is not None
    lengths = x.grad.norm(dim=-1).mean(dim=0).flip(0)[1:]  # (FAR - 1,): from one step back on
    return (lengths / lengths[0]).tolist()


# Time


def readers() -> list[tuple[str, Callable[[Tensor], Any]]]:
    layers = Recurrent(RecurrentSettings(cell="lstm", width=WIDTH), WIDTH)
    encoder = Encoder.of(EncoderSettings(width=WIDTH, layers=1), 4)
    return [("LSTM", layers), ("Transformer", lambda x: _through(encoder, x))]


@torch.no_grad()
def timed(read: Callable[[Tensor], Any], length: int) -> float:
    """Milliseconds to read a text of so many words; the middle one of several tries."""
    x, taken = torch.randn(1, length, WIDTH), []
    for _ in range(WARM):
        read(x)
    for _ in range(TRIES):
        begun = time.perf_counter()
        read(x)
        taken.append(1000 * (time.perf_counter() - begun))
    return median(taken)


# One vector for everything


def copy_accuracy(attention: str, seed: int) -> list[float]:
    """Percent of rows copied right, for each length."""
    shape = {"width": 64, "attention": attention, "input_feeding": False}
    with repeatable(seed) as dice:
        network = Seq2Seq(Seq2SeqSettings.model_validate(shape), None, VOCABULARY)
        longest = max(LENGTHS)
        train(network, lambda s: copy_rows(dice, 64, 2, longest), loss_of, steps=COPIED, rate=0.01)
        return [exact(network, copy_rows(dice, 200, length, length)) for length in LENGTHS]


# A fact at the beginning, asked for at the end


def facts(dice: torch.Generator, rows: int, gap: int) -> tuple[Tensor, Tensor]:
    """A country, `gap` words at random, a question -> ids (B, gap + 2), and the country's "
    "number."""
    country = torch.randint(FACTS, (rows, 1), generator=dice)
    between = FACTS + torch.randint(20, (rows, gap), generator=dice)
    asked = torch.full((rows, 1), FACTS + 20)
    return torch.cat([country, between, asked], dim=1), country[:, 0]


class Last(nn.Module):
    """An encoder that is judged at its last word."""

    def __init__(self) -> None:
        super().__init__()
        self.encoder = Encoder.of(EncoderSettings(width=WIDTH, layers=1), FACTS + 21)
        self.judge = nn.Linear(WIDTH, FACTS)

    def forward(self, ids: Tensor) -> Tensor:
        return self.judge(self.encoder(Source(ids))[:, -1])


def fact_accuracy(name: str, seed: int) -> list[float]:
    """Percent right at each distance, after training on all distances alike."""
    with repeatable(seed) as dice:
        network: nn.Module = Last()
        if name != "transformer":
            shape = RecurrentSettings.model_validate({"cell": name, "width": WIDTH})
            network = RecurrentNetwork(shape, FACTS + 21, FACTS, each=False)
        gap = lambda: int(torch.randint(1, max(GAPS) + 1, (1,), generator=dice))  # noqa: E731
        train(network, lambda step: facts(dice, 64, gap()), _fact_loss, steps=PORTUGAL, rate=0.005)
        return [_fact_score(network, *facts(dice, 400, distance)) for distance in GAPS]


def _fact_loss(network: nn.Module, batch: tuple[Tensor, Tensor]) -> Loss:
    ids, wanted = batch
    return Loss(F.cross_entropy(network(ids), wanted, reduction="sum"), len(wanted))


@torch.no_grad()
def _fact_score(network: nn.Module, ids: Tensor, wanted: Tensor) -> float:
    return 100 * float((network(ids).argmax(dim=-1) == wanted).float().mean())


# What came out


def _numbers(gradients: Curves, seconds: Curves, copied: Curves, far: Curves) -> list[Number]:
    exploded = gradients[f"RNN, weights x {EXPLODING}"][19]
    slower = [seconds[name][-1] / seconds[name][0] for name in ("LSTM", "Transformer")]
    return [
        Number.at_most("gradient 20 steps back, RNN", gradients["RNN"][19], 0.01),
        Number.at_least(f"the same, weights x {EXPLODING}", exploded, 10),
        Number.at_least("the same, Transformer", gradients["Transformer"][19], 0.5),
        Number.measured("time of 512 words / of 32, LSTM", slower[0]),
        Number.measured("time of 512 words / of 32, Transformer", slower[1]),
        Number.at_least("2 letters copied through one vector, % right", copied["none"][0], 80),
        Number.at_most(f"{LENGTHS[-1]} letters, % right", copied["none"][-1], 40),
        Number.at_least(f"{LENGTHS[-1]} letters with attention", copied["dot"][-1], 90),
        Number.at_least(
            f"fact {GAPS[-1]} words back, Transformer, % right", far["transformer"][-1], 95
        ),
        Number.at_most("the same, plain RNN", far["rnn"][-1], 60),
        Number.measured("the same, GRU", far["gru"][-1]),
        Number.measured("the same, LSTM", far["lstm"][-1]),
    ]


def _says(gradients: Curves, seconds: Curves, copied: Curves, far: Curves) -> list[str]:
    return [
        f"In a new RNN the gradient from 20 steps back is {gradients['RNN'][19]:.0e} of the one "
        f"from one step back; with its recurrent weights multiplied by {EXPLODING} it is "
        f"{gradients[f'RNN, weights x {EXPLODING}'][19]:.0e} times it (with tiny inputs, where "
        "tanh is a straight line). In one layer of attention distance makes no difference.",
        f"Copying through a single vector works for 2 letters ({copied['none'][0]:.0f} %) and ends "
        f"before {LENGTHS[-1]} ({copied['none'][-1]:.0f} %); a network of the same size that may "
        f"look back copies {copied['dot'][-1]:.0f} %.",
        f"A fact that stands {GAPS[-1]} words before the question is found by the Transformer "
        f"({far['transformer'][-1]:.1f} %), and after the same training by the plain RNN in "
        f"{far['rnn'][-1]:.1f} %, the GRU in {far['gru'][-1]:.1f} % and the LSTM in "
        f"{far['lstm'][-1]:.1f} % of cases; guessing gives {100 / FACTS:.1f} %. Trained on all "
        "distances mixed, the plain RNN did not learn even the short ones; the gated ones did.",
        "Times depend on the machine. Here they are of one core, where nothing runs side by side, "
        "and the Transformer has no advantage: its share that grows with the square shows (see the "
        "chapter cost). Short texts cost mostly what every call costs. But the LSTM must take 512 "
        "steps one after the other on any machine, while a GPU computes all words of the "
        "Transformer at once.",
    ]


def _draw_gradients(gradients: Curves, seconds: Curves) -> Drawing:
    figure, (left, right) = panels(2, size=(5.2, 3.8))
    lines(left, range(1, FAR), gradients)
    left.set_yscale("log")
    left.set_ylim(1e-12, 1e8)
    label(
        left, "How much an early word can still teach", "steps back", "gradient, 1 at one step back"
    )
    lines(right, TIMED, seconds)
    right.set_xscale("log", base=2)
    right.set_xticks(TIMED, [str(words) for words in TIMED])
    right.set_yscale("log")
    right.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    right.yaxis.set_major_formatter("{x:g}")
    right.yaxis.set_minor_formatter(NullFormatter())
    label(right, "Time to read a text", "words (log scale)", "milliseconds (log scale)")
    return Drawing(
        figure,
        "Left: the gradient of the last output with respect to earlier inputs, in new networks. It "
        "vanishes in the RNN, later in GRU and LSTM, explodes with larger weights, and is the same "
        "for all distances under attention. Right: time against length, on one core.",
    )


def _draw_accuracy(copied: Curves, far: Curves) -> Drawing:
    figure, (left, right) = panels(2, size=(5.2, 3.6))
    lines(left, LENGTHS, {"one vector": copied["none"], "with attention": copied["dot"]})
    label(left, "Copying letters", "letters to copy", "% copied right")
    names = {"rnn": "RNN", "gru": "GRU", "lstm": "LSTM", "transformer": "Transformer"}
    lines(right, GAPS, {names[name]: right_ for name, right_ in far.items()})
    right.axhline(100 / FACTS, color="#999999", linestyle="--", linewidth=1)
    label(right, "A country, then a language", "words in between", "% right (dashed: guessing)")
    for ax in (left, right):
        ax.set_ylim(-4, 104)
    return Drawing(
        figure,
        "Left: rows of letters copied right against their length, through one vector and with "
        "attention. Right: a fact from the beginning of a text, asked for at its end, against the "
        "number of words in between.",
    )
