"""Encoder and decoder without attention (Sutskever et al. 2014)."""

import torch

from regard.course.draw import heat, label, lines, panels
from regard.course.lesson import Drawing, Lesson, Number, Table
from regard.course.tiny import repeatable, train
from regard.course.toys import VOCABULARY, Rows, exact, loss_of, reverse_rows, spelled
from regard.models.seq2seq import Seq2Seq
from regard.names import FIRST_PIECE, SPECIALS, START, STOP
from regard.shapes import Seq2SeqSettings

TITLE = "One network reads, another writes"
IDEA = """
A translation is rarely as long as its original, so a network that gives one word for each word
will not do. Sutskever and others (2014) used two: an encoder reads the whole source and keeps its
last state, a decoder begins with that state and writes one token at a time, from START until it
writes STOP.

The two phases differ. In training the decoder is given the right target so far, whatever it would
have written itself (teacher forcing), and all positions are judged. In use there is no target:
each token that it writes is fed back as the next input.
"""
TRY = (
    "Raise the longest word from 6 to 12 letters: one state has to hold twice as much (the "
    "chapter forgetting measures it).",
    "Set reverse_source=True: the first letter to write was then the first one read, so the way "
    "to it is longer. When copying it is the other way round. Does it matter?",
    "Write with a beam of 4 instead of the likeliest letter: DecodeSettings(beam=4).",
)
QUESTIONS = (
    (
        "Why does the target need START and STOP?",
        "START is what the decoder gets when nothing was written yet; STOP is how it says that it "
        "is done, since nobody tells it how long the output should be.",
    ),
    (
        "What crosses from the encoder to the decoder?",
        "Its last state and nothing else: the same few numbers for a short source and for a long "
        "one.",
    ),
    (
        "Why is writing slower than training?",
        "In training all positions are known and judged side by side; writing has to wait for each "
        "token before the next.",
    ),
)
Steps = list[tuple[tuple[str, ...], torch.Tensor]]  # a row of the table, and all probabilities

WIDTH, STEPS, SHORTEST, LONGEST, TESTED = 96, 600, 2, 6, 300


def lesson(seed: int = 0) -> Lesson:
    losses, right = {}, {}
    for cell in ("gru", "lstm"):
        with repeatable(seed) as dice:
            network = new_network(cell)
            losses[cell] = train(
                network, lambda step: rows(dice, 64), loss_of, steps=STEPS, rate=0.01
            )
            test = rows(dice, TESTED)
        right[cell] = exact(network, test)
    word = next(row for row in test.sources if len(row) == 5)
    steps = growth(network, word)
    numbers = [
        Number.at_least("GRU: words reversed right, %", right["gru"], 85),
        Number.at_least("LSTM: words reversed right, %", right["lstm"], 85),
        Number.equal("the LSTM's outputs for five letters, STOP included", len(steps), 6),
        Number.equal("numbers that cross over, GRU", state_size(new_network("gru")), WIDTH),
        Number.equal("numbers that cross over, LSTM", state_size(new_network("lstm")), 2 * WIDTH),
    ]
    table = Table(
        f"Writing the reverse of {spelled(word)}, one token at a time",
        ("given so far", "likeliest next", "its probability", "second", "its probability"),
        [row for row, _ in steps],
    )
    says = [
        f"After {STEPS} steps on new random words each, the GRU reverses {right['gru']:.0f} % and "
        f"the LSTM {right['lstm']:.0f} % of {TESTED} words it has never seen, to the last letter.",
        "The table is the inference phase: each line is one step of the decoder, and its choice is "
        "part of what the next line is given. It ends when STOP is the likeliest.",
    ]
    return Lesson(numbers, [_draw(losses, steps, word)], says, [table])


def rows(dice: torch.Generator, count: int) -> Rows:
    return reverse_rows(dice, count, SHORTEST, LONGEST)


def new_network(cell: str) -> Seq2Seq:
    settings = Seq2SeqSettings.model_validate({"cell": cell, "width": WIDTH, "attention": "none"})
    return Seq2Seq(settings, None, VOCABULARY)


@torch.no_grad()
def state_size(network: Seq2Seq) -> int:
    """Numbers in what the encoder hands over about one word."""
    hidden = network.start(Rows([[4, 5]], [[5, 4]]).source).hidden
    return sum(one.numel() for one in (hidden if isinstance(hidden, tuple) else (hidden,)))


@torch.no_grad()
def growth(network: Seq2Seq, word: list[int]) -> Steps:
    """Each step of writing: a row of the table, and the probabilities of all tokens."""
    state, token, written = network.start(Rows([word], [word]).source), START, "START"
    steps: Steps = []
    while token != STOP and len(steps) < 2 * LONGEST:
        log_probs, state = network.step(state, torch.tensor([token]))
        probabilities = log_probs[0].exp()
        best, second = probabilities.topk(2).indices.tolist()
        shares = [f"{float(probabilities[one]):.3f}" for one in (best, second)]
        row = (written, name_of(best), shares[0], name_of(second), shares[1])
        steps.append((row, probabilities))
        token, written = best, f"{written} {name_of(best)}"
    return steps


def name_of(token: int) -> str:
    return spelled([token]) if token >= FIRST_PIECE else SPECIALS[token].strip("<>").upper()


def _draw(
    losses: dict[str, list[float]],
    steps: Steps,
    word: list[int],
) -> Drawing:
    figure, (left, right) = panels(2, size=(4.6, 3.4))
    every = range(0, STEPS, 20)
    curves = {
        cell.upper(): [sum(run[i : i + 20]) / 20 for i in every] for cell, run in losses.items()
    }
    lines(left, list(every), curves)
    label(left, "Training: the loss of the next letter", "step", "nats a token")
    shown = [STOP, *sorted(word)]
    weights = torch.stack([probabilities[shown] for _, probabilities in steps])
    given = [row[0].split()[-1] for row, _ in steps]
    heat(right, weights, given, [name_of(i) for i in shown], numbers=True, bar=False)
    label(right, f"Writing: {spelled(word)} turned around", "next token", "last token given")
    return Drawing(
        figure,
        "Left: the loss falls as both networks learn to turn words around. Right: the inference "
        "phase of the LSTM, from START at the top; each row holds the probabilities of the next "
        "token, and the likeliest is the input of the row below, until STOP.",
    )
