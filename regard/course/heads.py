"""Several heads: their shapes, and that they come to look at different things."""

import math
from collections.abc import Iterator

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from regard.course.draw import bars, heat, label, panels
from regard.course.lesson import Drawing, Lesson, Number, Table
from regard.course.tiny import repeatable, train
from regard.lens.capture import capture
from regard.models.weights import count_parameters
from regard.nn.attention import SelfAttention, split_heads
from regard.nn.embeddings import TokenEmbedding
from regard.shapes import StackSettings
from regard.tasks.task import Loss

TITLE = "Several heads see several things"
IDEA = """
One attention gives each word one set of weights: it can look at its verb, or at the word before
it, but if it looks at both it gets a mean of the two, from which they are hard to tell apart.

So the work is split. With 8 heads and a width of 512, queries, keys and values are cut into 8
pieces of 64. Every head scores, weighs and mixes its own piece, by the same three steps as before.
The 8 results, 64 wide each, are laid side by side to 512 again, and a last matrix W_O mixes what
the heads found. There are as many parameters and multiplications as with one head of width 512.
"""
TRY = (
    "Train with 3 heads for the 4 answers: which answers suffer?",
    "Run it with other seeds (--seed 4): two heads can come out nearly alike, and all answers "
    "are still right.",
    "Cover one head (set its part of the output to 0) and see which answer it was for.",
    "regard look shows the heads of a network that you trained, all of them on one page.",
)
QUESTIONS = (
    (
        "Eight heads, width 512: how wide is a head, and what is the shape of its weights?",
        "512 / 8 = 64 wide; a sequence of T words gives each head weights of (T, T), 8 of them.",
    ),
    (
        "Do eight heads cost eight times as much as one?",
        "No: each is an eighth as wide. Only the weights themselves are there eight times.",
    ),
    (
        "What is W_O for?",
        "The heads' results only lie side by side; W_O lets the next layer read them as one "
        "vector.",
    ),
    (
        "Is every head of a trained network good for something that has a name?",
        "No. Here the task asks for four separate things; in language heads overlap, and many can "
        "be left out without harm.",
    ),
)
HEADS, WIDTH, HEAD_WIDTH = 8, 512, 64
LETTERS, LENGTH = 8, 8
ASKED = ("one before", "one after", "first", "last")  # which letter?
ROWS, TESTED, BATCH, STEPS = 6000, 500, 64, 400


class Finder(nn.Module):
    """Letters and places go in, one attention, an answer to every question from what it found.
    There is no way around the attention: what it does not fetch is not known."""

    def __init__(self, heads: int, width: int = 32) -> None:
        super().__init__()
        s = StackSettings(width=width, heads=heads, positions="none")
        self.embed = TokenEmbedding(LETTERS, width, scaled=False)
        self.places = nn.Parameter(torch.randn(LENGTH, width))
        self.attention = SelfAttention(s)
        self.answer = nn.Linear(width, len(ASKED) * LETTERS)

    def forward(self, letters: Tensor) -> Tensor:
        """(B, T) -> (B, T, questions, letters)"""
        x = self.embed(letters) + self.places
        found = self.attention(x, None, lambda x, start: x)
        return self.answer(found).unflatten(-1, (len(ASKED), LETTERS))


def lesson(seed: int = 0) -> Lesson:
    with repeatable(seed) as dice:
        numbers, shapes = side_by_side(dice)
        rest, test = split(dice)
        right, maps = {}, {}
        for heads in (1, 2, 4):
            model = learned(heads, rest, dice)
            right[heads] = score(model, test)
            maps[heads] = mean_weights(model, test)
    four = maps[4]
    numbers += [
        Number.measured("answers right with 1 head", _mean(right[1])),
        Number.measured("answers right with 2 heads", _mean(right[2])),
        Number.at_least("4 heads better than 1 by", _mean(right[4]) - _mean(right[1]), 0.1),
        Number.at_least("answers right with 4 heads", _mean(right[4]), 0.95),
        Number.at_least(
            "difference of two heads, 0 to 1, mean of all pairs", _mean(apart(four)), 0.5
        ),
        Number.measured("difference of the two most alike heads", min(apart(four))),
    ]
    drawings = [_draw_maps(four), _draw_scores(right)]
    return Lesson(numbers, drawings, _says(right, four), [shapes, _table(looked_at(four))])


def split(dice: torch.Generator) -> tuple[Tensor, Tensor]:
    """Rows of letters to train on and rows to test on; none is there twice."""
    rows = torch.unique(torch.randint(LETTERS, (ROWS, LENGTH), generator=dice), dim=0)
    rows = rows[torch.randperm(len(rows), generator=dice)]
    return rows[TESTED:], rows[:TESTED]


def side_by_side(dice: torch.Generator) -> tuple[list[Number], Table]:
    """Eight heads of width 64 by hand, ours and torch's, with the same weights."""
    ours = SelfAttention(StackSettings(width=WIDTH, heads=HEADS)).double()
    theirs = nn.MultiheadAttention(WIDTH, HEADS, batch_first=True).double()
    theirs.load_state_dict(
        {
            "in_proj_weight": ours.project.weight,
            "in_proj_bias": ours.project.bias,
            "out_proj.weight": ours.out.weight,
            "out_proj.bias": ours.out.bias,
        }
    )
    x = torch.randn(1, 6, WIDTH, generator=dice, dtype=torch.float64)
    with torch.no_grad():
        mixed = ours(x, None, lambda x, start: x)
        expected, weights = theirs(x, x, x, average_attn_weights=False)
        parts = dict(by_hand(ours, x))
    found = parts["after W_O"]
    numbers = [
        Number.equal("width of one head: 512 / 8", ours.head_width, HEAD_WIDTH),
        Number.equal("parameters: 4 (512 x 512 + 512)", count_parameters(ours), 1_050_624),
        Number.at_most("heads one by one minus ours", _gap(found, mixed), 1e-12),
        Number.at_most("torch.nn.MultiheadAttention minus ours", _gap(expected, mixed), 1e-12),
        Number.at_most(
            "weights of all heads, torch's minus ours", _gap(weights, parts["weights"]), 1e-12
        ),
    ]
    rows: list[tuple[str, ...]] = [(n, str(tuple(part.shape))) for n, part in parts.items()]
    return numbers, Table("Shapes for 6 words, 8 heads, width 512", ("", "shape"), rows)


def by_hand(ours: SelfAttention, x: Tensor) -> Iterator[tuple[str, Tensor]]:
    """Head after head, as one would tell it, with everything on the way."""
    yield "words", x
    q, k, v = (split_heads(part, HEAD_WIDTH) for part in ours.project(x).chunk(3, dim=-1))
    yield "queries, cut into heads", q
    weights, mixed = [], []
    for head in range(HEADS):
        scores = q[:, head] @ k[:, head].transpose(1, 2) / math.sqrt(HEAD_WIDTH)
        weights.append(scores.softmax(dim=-1))
        mixed.append(weights[-1] @ v[:, head])
    yield "weights", torch.stack(weights, dim=1)
    yield "mixed by one head", mixed[0]
    side = torch.cat(mixed, dim=-1)
    yield "heads side by side", side
    yield "after W_O", ours.out(side)


def wanted(letters: Tensor) -> Tensor:
    """The right answers (B, T, questions); -1 where there is none."""
    none = torch.full_like(letters[:, :1], -1)
    before = torch.cat([none, letters[:, :-1]], dim=1)
    after = torch.cat([letters[:, 1:], none], dim=1)
    ends = [letters[:, [place]].expand_as(letters) for place in (0, -1)]
    return torch.stack([before, after, *ends], dim=-1)


def learned(heads: int, rows: Tensor, dice: torch.Generator) -> Finder:
    model = Finder(heads)

    def loss(model: Finder, batch: Tensor) -> Loss:
        answers = wanted(batch).flatten()
        total = F.cross_entropy(
            model(batch).flatten(0, 2), answers, ignore_index=-1, reduction="sum"
        )
        return Loss(total, int((answers >= 0).sum()))

    def batch_of(step: int) -> Tensor:
        return rows[torch.randint(len(rows), (BATCH,), generator=dice)]

    train(model, batch_of, loss, steps=STEPS, rate=1e-2)
    return model


@torch.no_grad()
def score(model: Finder, rows: Tensor) -> list[float]:
    """The share of right answers to each question, on sequences that were not trained on."""
    answers = wanted(rows)
    right, there = model(rows).argmax(dim=-1) == answers, answers >= 0
    return [float(right[..., q][there[..., q]].float().mean()) for q in range(len(ASKED))]


@torch.no_grad()
def mean_weights(model: Finder, rows: Tensor) -> Tensor:
    """(heads, T, T), over all rows."""
    with capture(model) as seen:
        model(rows)
    return seen[0].weights.mean(dim=0)


def apart(maps: Tensor) -> list[float]:
    """How far each two heads are apart: the share of weight that one would have to move to look
    like the other."""
    pairs = torch.combinations(torch.arange(len(maps)))
    return [float((maps[a] - maps[b]).abs().sum(dim=-1).mean()) / 2 for a, b in pairs]


def _gap(a: Tensor, b: Tensor) -> float:
    return float((a - b).abs().max())


def _mean(found: list[float]) -> float:
    return sum(found) / len(found)


def looked_at(maps: Tensor) -> Tensor:
    """(heads, questions): the mean weight that each head gives to the place of each answer, where
    there is one."""
    places = torch.arange(LENGTH)
    asked = wanted(places[None])[0].T  # (questions, T): a letter's place in place of the letter
    there = asked >= 0
    found = maps.gather(2, asked.clamp(min=0).T.expand(len(maps), -1, -1))  # (heads, T, questions)
    return (found * there.T).sum(dim=1) / there.sum(dim=1)


def _says(right: dict[int, list[float]], four: Tensor) -> list[str]:
    return [
        "Eight heads computed one after the other, ours in one go, and torch's with the same "
        "weights give the same result: a head is an ordinary attention on a piece of the width.",
        f"The task: in a row of {LENGTH} random letters, tell for every place the letter before, "
        "the letter after, the first and the last. One head of width 32 had to answer all four "
        f"from one mean of letters and got {_mean(right[1]):.0%} right: not nothing, since unequal "
        f"weights leave a trace of who is who. Two heads of width 16 got {_mean(right[2]):.0%}, "
        f"four of width 8 got {_mean(right[4]):.0%}. All three have the same number of parameters.",
        "Nobody told the heads who does what. They divided the work: two heads differ in "
        f"{_mean(apart(four)):.0%} of their weight on average, the two most alike ones in "
        f"{min(apart(four)):.0%}. The division need not be clean. A head may look at two places "
        "when another one looks at one of them, since W_O can subtract.",
    ]


def _table(found: Tensor) -> Table:
    rows: list[tuple[str, ...]] = [
        (f"head {number}", *(f"{weight:.2f}" for weight in row))
        for number, row in enumerate(found.tolist(), start=1)
    ]
    return Table("Mean weight that each head gives to the letter asked for", ("", *ASKED), rows)


def _draw_maps(maps: Tensor) -> Drawing:
    figure, axes = panels(4, size=(2.05, 2.6))
    most = looked_at(maps).argmax(dim=1).tolist()
    for number, (ax, weights) in enumerate(zip(axes, maps, strict=True)):
        places = [str(place + 1) for place in range(LENGTH)]
        heat(ax, weights, places, places, bar=False)
        label(ax, f"Head {number + 1}: {ASKED[most[number]]}", "place looked at")
    axes[0].set_ylabel("place that looks")
    return Drawing(
        figure,
        "The mean weights of four heads after training (dark 0, bright 1). Each has found "
        "something else to look at; the title says what it looks at most.",
    )


def _draw_scores(right: dict[int, list[float]]) -> Drawing:
    figure, (ax,) = panels(1, size=(7.2, 3.0))
    groups = {f"{heads} head{'s' * (heads > 1)}": found for heads, found in right.items()}
    bars(ax, ASKED, groups)
    ax.legend(fontsize=9, frameon=False, ncols=3, loc="upper left")
    ax.set_ylim(0, 1.25)
    ax.set_yticks([0, 0.5, 1])
    label(ax, "Right answers on rows of letters never trained on", "which letter?", "share right")
    return Drawing(
        figure,
        "With one or two heads some of the four questions suffer; with four, each question can "
        "have a head of its own. The networks have equally many parameters.",
    )
