"""A character language model: guess letter N + 1 from N letters, then write with the guesses."""

import math
from collections.abc import Callable, Iterator
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from regard.config import DecodeSettings
from regard.course.draw import heat, label, lines, panels
from regard.course.lesson import Drawing, Lesson, Number, Table
from regard.course.tiny import repeatable, train
from regard.decode.sampling import Sampler
from regard.models.recurrent import RecurrentNetwork
from regard.shapes import RecurrentSettings
from regard.tasks.task import Loss

TITLE = "Guess the next letter, then write with the guesses"
IDEA = """
A language model answers one question: what comes next? This one reads letters. After each it gives
a probability to every letter of the alphabet, and it is right when the letter that really follows
gets much of it. The text itself is the teacher: letter N + 1 is the answer to the first N.

In training the network is always given the true letters, even where it would have guessed
otherwise. That is teacher forcing, and it makes every letter of a text a lesson at once. In writing
there is no teacher: a letter is drawn from the probabilities and fed back in, as if it had been
read. A temperature decides how boldly it is drawn: near 0 always the likeliest letter, at 1 as
probable as the network says, above 1 the unlikely ones get more of a chance.
"""
TRY = (
    "Put a text of your own in TEXT, a few thousand letters in one language.",
    "Write 500 letters at temperature 0.1: it soon goes around in circles. Why?",
    "regard course forgetting: how far back such a network can remember.",
)
QUESTIONS = (
    (
        "The network reads 100 letters. How many guesses does it make?",
        "100: one after each letter, the last one about a letter that nobody has seen yet.",
    ),
    (
        "What does a temperature near 0 do, and what a high one?",
        "Near 0 the likeliest letter is always taken, which is safe and repeats itself; high "
        "temperatures make all letters equally likely in the end, which is noise.",
    ),
    (
        "Why is writing harder than guessing with a teacher?",
        "A wrong letter is fed back and becomes part of what the next guess is made from; with a "
        "teacher it is put right at once.",
    ),
    (
        "The model writes a good sentence. Is it true?",
        "Nobody knows: it was trained to be likely, not to be true.",
    ),
)
TEXT = """
The keeper of the light lived on a small island in the cold sea. Every morning he opened the old
door, looked at the sky and walked down to the water. The sea was grey in the winter and green in
the summer. He had a boat, a dog and a book with all the names of the ships that came by. In the
evening he climbed the stairs of the tower, one hundred and ten of them, and lit the lamp. The dog
slept at the foot of the stairs and waited for him. When the lamp was lit, the light went over the
water, and the ships that were far away saw it and knew where the rocks were.
One night in the winter the wind came from the north and the sea was high. The keeper heard the
water on the rocks and the rain on the roof. He looked for the light and saw that the lamp was out.
He took the old lantern and went up the stairs in the dark. The wind had opened the small window at
the top of the tower, and the rain had come in. He closed the window and tried to light the lamp,
but the lamp was wet and the fire would not stay. Far away on the water he saw a ship, and the ship
came near to the rocks.
The keeper held the lantern at the window and moved it from one side to the other. The dog stood at
the door and cried to the ship. The men on the ship heard the dog in the wind, and then they saw
the small light of the lantern at the top of the tower. They turned the ship to the south, away
from the rocks, and the sea carried them by the island. In the morning the wind was gone and the
water was calm. The keeper dried the lamp and cleaned the glass, and the dog slept in the sun.
In the summer the ship came back to the island. The men had a new lamp for the keeper, and bread,
and a bone for the dog. They sat in the sun before the tower and looked at the sea. The keeper took
his book and asked for the name of the ship. They told him, and he wrote it down under the others.
Then the men went back on the water. In the dark the keeper lit the new lamp for them, and the
light on the sea was brighter than it had been before. The dog heard the ship go away to the north,
and then he slept.
"""
WRITTEN = " ".join(TEXT.lower().split())
CUT = WRITTEN.index(". ", 4 * len(WRITTEN) // 5) + 2  # the sentences from here are not trained on
LETTERS = sorted(set(WRITTEN))
WINDOW, BATCH, WIDTH, STEPS, EVERY = 60, 32, 96, 240, 20
PROMPT, AHEAD = 30, 25
TEMPERATURES, SAMPLES, LONG = (0.3, 1.0, 2.0), 12, 200
SECOND = WRITTEN.index(". ", CUT) + 2  # the next sentence
SHOWN = slice(SECOND, SECOND + 24)


def lesson(seed: int = 0) -> Lesson:
    known, unseen = encode(WRITTEN[:CUT]), encode(WRITTEN[CUT:])
    with repeatable(seed) as dice:
        network = RecurrentNetwork(RecurrentSettings(cell="lstm", width=WIDTH), len(LETTERS))
        curve = learn(network, known, unseen, dice)
        taught, alone = guessing(network, unseen)
        samples = {t: write(network, "the ", t, seed) for t in TEMPERATURES}
        step_by_step = loop_minus_call(network, unseen)
    words = {temperature: real_words(texts) for temperature, texts in samples.items()}
    by_count = counted_bits(known, unseen)
    start, even = curve["unseen text"][0], math.log2(len(LETTERS))
    lowest = min(curve["unseen text"])
    best = EVERY * curve["unseen text"].index(lowest)
    far = sum(alone[5:]) / len(alone[5:])
    mean = sum(taught) / len(taught)
    numbers = [
        Number.equal("guesses for 60 letters", network(unseen[None, :60]).size(1), 60),
        Number.equal(f"untrained: bits a letter, log2({len(LETTERS)})", start, even, within=0.1),
        Number.measured("by the letter's own frequency, unseen text", by_count[0]),
        Number.measured("by frequency after the letter before, unseen text", by_count[1]),
        Number.at_most("lowest on the way, unseen text", lowest, 2.5),
        Number.measured("at the end, unseen text", curve["unseen text"][-1]),
        Number.at_most("at the end, trained text", curve["trained text"][-1], 1.0),
        Number.equal("one call minus letter by letter", step_by_step, 0.0, within=1e-4),
        Number.at_least("right with a teacher, unseen text, percent", mean, 45),
        Number.at_most("right when fed back, from letter 6 on, percent", far, 35),
        *(
            Number.measured(f"temperature {t:g}: real words, percent", share)
            for t, share in words.items()
        ),
        Number.at_least("real words: coldest minus hottest", words[0.3] - words[2.0], 20),
    ]
    says = [
        f"Untrained, the network spreads its guess over {len(LETTERS)} signs, which makes "
        f"{even:.2f} bits a letter (a bit is 0.69 nats, the unit of a loss). After {best} steps it "
        f"needs {lowest:.2f} on the part of the story that it never saw; counting which letter "
        f"follows which would need {by_count[1]:.2f}. At the end it needs "
        f"{curve['trained text'][-1]:.2f} on the part it was trained on and "
        f"{curve['unseen text'][-1]:.2f} on the other: with so short a text it has begun to learn "
        "by heart.",
        f"With a teacher {mean:.0f} of 100 letters are guessed right. Fed with its own guesses it "
        f"starts as well, and from the sixth letter on it agrees with the story in {far:.0f} of "
        "100: after one other word it tells another story.",
        f"At temperature 0.3 {words[0.3]:.0f} of 100 written words are words of the story, at 1 "
        f"{words[1.0]:.0f}, at 2 {words[2.0]:.0f}.",
    ]
    rows: list[tuple[str, ...]] = [(f"{t:g}", texts[0][:90]) for t, texts in samples.items()]
    written = Table('Written after "the "', ("temperature", "text"), rows)
    drawings = [_draw_guesses(network), _draw_learning(curve, taught, alone)]
    return Lesson(numbers, drawings, says, [written])


def encode(text: str) -> Tensor:
    return torch.tensor([LETTERS.index(letter) for letter in text])


def learn(
    network: RecurrentNetwork, known: Tensor, unseen: Tensor, dice: torch.Generator
) -> dict[str, list[float]]:
    """Train, and note the bits a letter of both texts before every EVERY-th step and at the end."""
    curve: dict[str, list[float]] = {"trained text": [], "unseen text": []}

    def note() -> None:
        for name, text in (("trained text", known), ("unseen text", unseen)):
            curve[name].append(bits(network, text))

    def batch_of(step: int) -> Tensor:
        if step % EVERY == 0:
            note()
        starts = torch.randint(len(known) - WINDOW, (BATCH,), generator=dice).tolist()
        return torch.stack([known[start : start + WINDOW + 1] for start in starts])

    train(network, batch_of, loss_of, steps=STEPS, rate=5e-3)
    note()
    return curve


def loss_of(network: RecurrentNetwork, batch: Tensor) -> Loss:
    """Teacher forcing: N true letters in (B, N), and the true letter N + 1 wanted at each."""
    given, wanted = batch[:, :-1], batch[:, 1:]
    scores = network(given).flatten(0, 1)
    return Loss(F.cross_entropy(scores, wanted.flatten(), reduction="sum"), wanted.numel())


@torch.no_grad()
def bits(network: RecurrentNetwork, text: Tensor) -> float:
    """What a letter costs in the mean: minus log2 of the probability that it was given."""
    loss = loss_of(network, text[None])
    return float(loss.total) / loss.tokens / math.log(2)


def counted_bits(known: Tensor, unseen: Tensor) -> tuple[float, float]:
    """The same by counting: each letter by itself, and each after the one before it. Where there
    is little to count, the pairs lean on the single letters."""
    single = torch.bincount(known, minlength=len(LETTERS)) + 1.0
    single /= single.sum()
    pairs = torch.zeros(len(LETTERS), len(LETTERS))
    pairs.index_put_((known[:-1], known[1:]), torch.tensor(1.0), accumulate=True)
    pairs = (pairs + single) / (pairs + single).sum(dim=1, keepdim=True)
    alone, after = single[unseen[1:]], pairs[unseen[:-1], unseen[1:]]
    return -float(alone.log2().mean()), -float(after.log2().mean())


@torch.no_grad()
def guessing(network: RecurrentNetwork, text: Tensor) -> tuple[list[float], list[float]]:
    """Percent of letters guessed right, for each of the AHEAD after a prompt: given the true ones
    in between, and given its own guesses."""
    starts = range(len(text) - PROMPT - AHEAD)
    rows = torch.stack([text[start : start + PROMPT + AHEAD] for start in starts])
    taught = network(rows)[:, PROMPT - 1 : -1].argmax(dim=-1)  # (rows, AHEAD)
    alone = torch.stack(list(follow(network, rows[:, :PROMPT], AHEAD, likeliest)), dim=1)
    wanted = rows[:, PROMPT:]
    return _percent(taught == wanted), _percent(alone == wanted)


def follow(
    network: RecurrentNetwork, prompt: Tensor, letters: int, pick: Callable[[Tensor], Tensor]
) -> Iterator[Tensor]:
    """Read a prompt (B, N), then feed back what is picked: (B,) for every letter written."""
    state = network.start()
    for given in prompt.T:
        scores, state = network.step(state, given)
    for _ in range(letters):
        picked = pick(scores)
        yield picked
        scores, state = network.step(state, picked)


def likeliest(scores: Tensor) -> Tensor:
    return scores.argmax(dim=-1)


@torch.no_grad()
def write(network: RecurrentNetwork, prompt: str, temperature: float, seed: int) -> list[str]:
    """SAMPLES texts of LONG letters, each drawn at this temperature."""
    settings = DecodeSettings(temperature=temperature, seed=seed)
    sampler = Sampler(settings, range(SAMPLES))
    begin = encode(prompt).expand(SAMPLES, -1)
    drawn = follow(network, begin, LONG, lambda scores: sampler(scores, range(SAMPLES)))
    return ["".join(LETTERS[i] for i in row) for row in torch.stack(list(drawn), dim=1).tolist()]


def real_words(texts: list[str]) -> float:
    """Percent of the written words that the story has; the last of each text may be cut off."""
    story = set(WRITTEN.replace(",", " ").replace(".", " ").split())
    words = [w for text in texts for w in text.replace(",", " ").replace(".", " ").split()[:-1]]
    return 100 * sum(word in story for word in words) / len(words)


@torch.no_grad()
def loop_minus_call(network: RecurrentNetwork, text: Tensor) -> float:
    """How far the two ways to read apart: all letters in one call, or one after the other."""
    at_once = network(text[None, :WINDOW])[0].log_softmax(dim=-1)
    state, one_by_one = network.start(), []
    for letter in text[:WINDOW]:
        scores, state = network.step(state, letter[None])
        one_by_one.append(scores[0])
    return float((at_once - torch.stack(one_by_one)).abs().max())


def _percent(right: Tensor) -> list[float]:
    return (100 * right.double().mean(dim=0)).tolist()


def _draw_guesses(network: RecurrentNetwork) -> Drawing:
    figure, (ax,) = panels(1, size=(8.0, 5.0))
    shown, read = WRITTEN[SHOWN], WRITTEN[SHOWN.start - PROMPT : SHOWN.stop]
    with torch.no_grad():
        scores = network(encode(read)[None])[0, PROMPT - 1 : -1]  # a guess for each letter shown
    names = ["blank" if letter == " " else letter for letter in LETTERS]
    heat(ax, scores.softmax(dim=-1).T, names)
    for column, letter in enumerate(shown):
        for colour, thick in (("black", 3.0), ("white", 1.2)):  # seen on light and on dark
            style: dict[str, Any] = {"color": colour, "markeredgewidth": thick, "fillstyle": "none"}
            ax.plot(column, LETTERS.index(letter), "o", markersize=9, **style)
    ax.set_xticks(range(len(shown)), [letter.replace(" ", "_") for letter in shown])
    title = "Probability of every letter, before it is read"
    label(ax, title, "the letter that came (circle), in a text it never saw", "letter guessed")
    caption = (
        "Each column is one guess, made from the letters to its left. Bright is likely, the circle "
        "marks the letter that came. A word that was often met, as keeper, is easy from the second "
        "letter on; one that was never met, as his, is hard."
    )
    return Drawing(figure, caption)


def _draw_learning(
    curve: dict[str, list[float]], taught: list[float], alone: list[float]
) -> Drawing:
    figure, (left, right) = panels(2, size=(4.2, 3.2))
    steps = [*range(0, STEPS, EVERY), STEPS]
    lines(left, steps, curve)
    left.set_ylim(0)
    label(left, "Learning", "steps of training", "bits a letter")
    lines(right, range(1, AHEAD + 1), {"given the true letters": taught, "fed back": alone})
    right.set_ylim(0, 100)
    title = "Guessed right after a prompt"
    label(right, title, "letters after the prompt", "percent, unseen text")
    caption = (
        "Left: what a letter costs, on the text trained on and on the rest of the story. Where the "
        "two part, it learns by heart. Right: letters guessed right, with a teacher who puts every "
        "mistake right, and fed with its own guesses."
    )
    return Drawing(figure, caption)
