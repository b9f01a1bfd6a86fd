"""The attentions of recurrent networks: how a query and a key are scored, and how far one looks."""

from typing import Any

import torch
from torch import Tensor

from regard.course.draw import COLOURS, heat, label, panels
from regard.course.lesson import Drawing, Lesson, Number, Table
from regard.course.tiny import repeatable, train
from regard.course.toys import VOCABULARY, Rows, copy_rows, exact, looks, loss_of, spelled
from regard.models.seq2seq import Seq2Seq
from regard.shapes import Seq2SeqSettings

TITLE = "Finding the place"
IDEA = """
A network that has read a sentence and writes another one needs, at every step, some part of what
was read. Bahdanau and others (2015) let it look: the state of the writer is a query, the states
of the reader are keys, and a softmax over their scores says where to look. Which place belongs to
which step is never shown to the network. It is found on the way, and it can be drawn: the
alignment.

Luong and others (2015) tried other scores: the plain dot product, one with a matrix between
(general), and a small network over both (concat, nearly Bahdanau's additive one). They also let a
query look at a window only: around its own position (local-m, for texts that run side by side) or
around a place that it predicts (local-p), with a bell that favours the middle.
"""
TRY = (
    "Turn the task around (toys.reverse_rows): the alignment becomes the other diagonal, and "
    "local-m, which follows its own position, fails.",
    "Set reach = 1 for local-m, then shift the target by three places: what can it still see?",
    "Give the network without attention a width of 256: it learns to copy too, slowly.",
)
QUESTIONS = (
    (
        "Who tells the network which source word belongs to which target word?",
        "Nobody: the alignment is learned from the loss of the next word alone.",
    ),
    (
        "What does local attention save, and what does it risk?",
        "It scores a few places instead of all of them, and is blind when the right place lies "
        "outside of the window.",
    ),
    (
        "How can a predicted place be learned, when a place is not a smooth thing?",
        "Through the bell around it: moving the centre a little changes all weights a little.",
    ),
)
KINDS: dict[str, dict[str, Any]] = {
    "none": {"attention": "none"},
    "additive": {"attention": "additive"},
    "dot": {"attention": "dot"},
    "general": {"attention": "general"},
    "concat": {"attention": "concat"},
    "local-m": {"attention": "general", "scope": "local-m", "reach": 2},
    "local-p": {"attention": "general", "scope": "local-p", "reach": 3},
}
WIDTH, STEPS, SHORTEST, LONGEST, TESTED = 48, 300, 5, 12, 200


def lesson(seed: int = 0) -> Lesson:
    networks, rows = {}, Rows([], [])
    for name in KINDS:
        with repeatable(seed) as dice:
            networks[name] = learned(name, dice)
            rows = copy_rows(dice, TESTED, SHORTEST, LONGEST)  # the same for all: equal dice
    right = {name: exact(network, rows) for name, network in networks.items()}
    maps = {name: looks(n, rows) for name, n in networks.items() if n.align is not None}
    found = {name: on_the_diagonal(weights, rows) for name, weights in maps.items()}
    away = distance_of_centres(networks["local-p"], rows)
    numbers = [Number.at_most("no attention: copies right, %", right["none"], 50)]
    for name in maps:
        numbers.append(Number.at_least(f"{name}: copies right, %", right[name], 90))
        numbers.append(Number.at_least(f"{name}: looks at the right place, %", found[name], 90))
    numbers.append(Number.at_most("local-p: predicted centre off by, letters", away, 1.5))
    table = Table(
        f"{TESTED} new rows of {SHORTEST} to {LONGEST} letters, after {STEPS} steps",
        ("attention", "copied right", "looked at the right place"),
        [(n, f"{right[n]:.1f} %", f"{found[n]:.1f} %" if n in found else "-") for n in KINDS],
    )
    drawing = _draw(networks["local-p"], maps, rows)
    return Lesson(numbers, [drawing], _says(right, found, away), [table])


def learned(name: str, dice: torch.Generator) -> Seq2Seq:
    """A small network that has learned to copy rows of letters."""
    settings = Seq2SeqSettings(width=WIDTH, input_feeding=False, **KINDS[name])
    network = Seq2Seq(settings, None, VOCABULARY)
    train(
        network,
        lambda step: copy_rows(dice, 64, SHORTEST, LONGEST),
        loss_of,
        steps=STEPS,
        rate=0.01,
    )
    return network


def on_the_diagonal(weights: Tensor, rows: Rows) -> float:
    """Percent of all letters that were written while looking most at the letter to copy."""
    places = weights.argmax(dim=-1)  # (B, T)
    right = [int(places[i, t]) == t for i, row in enumerate(rows.targets) for t in range(len(row))]
    return 100 * sum(right) / len(right)


def distance_of_centres(network: Seq2Seq, rows: Rows) -> float:
    """Letters between the predicted place and the letter to copy, on average."""
    off = [
        abs(float(centre) - t)
        for row, centres in zip(rows.targets, centres_of(network, rows), strict=True)
        for t, centre in enumerate(centres[: len(row)])
    ]
    return sum(off) / len(off)


@torch.no_grad()
def centres_of(network: Seq2Seq, rows: Rows) -> Tensor:
    """(B, T): the places that local-p predicts while the targets are written."""
    given: list[Tensor] = []
    assert network.align is not None
    hook = network.align.register_forward_pre_hook(lambda m, args: given.append(args[0]))
    looks(network, rows)
    hook.remove()
    lengths = torch.tensor([len(row) for row in rows.sources])
    return network.align.centres(torch.cat(given, dim=1), lengths)


def _says(right: dict[str, float], found: dict[str, float], away: float) -> list[str]:
    return [
        f"A GRU of width {WIDTH} that gets only the reader's last state copies {right['none']:.1f} "
        f"% of rows with up to {LONGEST} letters. With any attention the same GRU copies at least "
        f"{min(v for k, v in right.items() if k != 'none'):.1f} %.",
        "Nobody told it that the third letter to write is the third letter read (only local-m is "
        "given a window around it), yet at least "
        f"{min(found.values()):.1f} % of all letters are written while looking most at the right "
        f"place. The place that local-p predicts lies {away:.2f} letters off on average.",
        "The bell of local-p is added to the scores before the softmax, so that the weights still "
        "sum to 1; the paper multiplies it in afterwards.",
    ]


def _draw(predictive: Seq2Seq, maps: dict[str, Tensor], rows: Rows) -> Drawing:
    chosen = next(i for i, row in enumerate(rows.targets) if len(row) == LONGEST - 2)
    one = Rows([rows.sources[chosen]], [rows.targets[chosen]])
    word = list(spelled(one.targets[0]))
    figure, axes = panels(3, 2, size=(3.4, 3.2))
    for ax, (name, weights) in zip(axes, maps.items(), strict=True):
        heat(ax, weights[chosen, : len(word), : len(word)], word, word, bar=False)
        label(ax, name, "letter read", "letter written")
    centres = centres_of(predictive, one)[0, : len(word)].tolist()
    axes[-1].plot(centres, range(len(word)), "o", color=COLOURS[1], markersize=5)
    return Drawing(
        figure,
        f"Copying {''.join(word)}: each row is a letter being written, each column a letter that "
        "was read, light where it looked. Five found the diagonal by themselves; local-m is "
        "given a window around it. Dots: the places that local-p predicted.",
    )
