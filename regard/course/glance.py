"""Soft and hard attention over the regions of a picture (Xu et al. 2015)."""

import torch
import torch.nn.functional as F
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from torch import Tensor, nn

from regard.course.draw import COLOURS, label, panels
from regard.course.lesson import Drawing, Lesson, Number
from regard.course.tiny import repeatable, train
from regard.nn.glance import Glance, Reinforce
from regard.tasks.task import Loss

TITLE = "A mean of all places, or one of them"
IDEA = """
A picture is cut into regions, and a question concerns one of them: which letter stands on the red
tile? Soft attention answers with a mean of all regions, in which the right one should count most.
It is smooth, so it learns by gradients like everything else.

Hard attention looks at one region only, drawn by the same weights. That is cheaper to follow up
and easier to believe, but a choice has no gradient: moving a weight a little changes nothing,
until the choice flips. So it learns from reward (REINFORCE): choices that were followed by a
better answer than usual are made likelier. What is usual is a running mean of rewards; without it
learning is far noisier.
"""
TRY = (
    "Set the entropy of Reinforce to 0: it stops trying other tiles early, and sometimes too "
    "early.",
    "Take the running mean out (momentum=0): how much longer does it take?",
    "Ask for the letter beside the red tile: now positions matter.",
)
QUESTIONS = (
    (
        "Why can soft attention be trained by gradients, and hard attention not?",
        "A mean moves a little when its weights do; a choice stays the same until it jumps.",
    ),
    (
        "What is the reward, also where captions of pictures are learned?",
        "The log-probability of the right word, given what was seen.",
    ),
    (
        "What do soft weights in the interval from 0 to 1 mean, and hard ones?",
        "Soft: how much each region counts. Hard: how likely each region is to be the one looked "
        "at.",
    ),
)
SIDE, KINDS, LETTERS = 3, 9, 8  # tiles a side, colours, letters
WIDTH, STEPS, ROWS, TESTED, NOISE = 32, 1500, 64, 2000, 0.1


class Looker(nn.Module):
    """Find the tile of a colour and name its letter."""

    def __init__(self, *, hard: bool) -> None:
        super().__init__()
        self.ask, self.see = nn.Embedding(KINDS, WIDTH), nn.Linear(KINDS + LETTERS, WIDTH)
        self.glance, self.reward = Glance(WIDTH, WIDTH, hard=hard), Reinforce()
        self.name = nn.Linear(WIDTH, LETTERS)

    def forward(self, tiles: Tensor, colour: Tensor) -> tuple[Tensor, Tensor, Tensor | None]:
        """tiles (B, R, features), colour (B,) -> scores (B, LETTERS), weights (B, R), choice "
        "(B,)"""
        seen, weights, choice = self.glance(self.ask(colour), self.see(tiles))
        return self.name(seen), weights, choice


class Pictures:
    """Some pictures: every colour once, letters at random, a little noise on all features."""

    def __init__(self, dice: torch.Generator, rows: int) -> None:
        shuffled = torch.rand(rows, KINDS, generator=dice).argsort(dim=1)  # (B, R) colours
        letters = torch.randint(LETTERS, (rows, KINDS), generator=dice)
        clean = torch.cat([F.one_hot(shuffled, KINDS), F.one_hot(letters, LETTERS)], dim=-1)
        self.tiles = clean + NOISE * torch.randn(clean.shape, generator=dice)
        self.colours, self.letters = shuffled, letters
        self.asked = torch.randint(KINDS, (rows,), generator=dice)
        self.place = (shuffled == self.asked[:, None]).int().argmax(dim=1)  # the tile that matters
        self.wanted = letters.gather(1, self.place[:, None])[:, 0]


def lesson(seed: int = 0) -> Lesson:
    right, places, networks = {}, {}, {}
    for name in ("soft", "hard"):
        with repeatable(seed) as dice:
            network = Looker(hard=name == "hard")
            train(network, lambda step: Pictures(dice, ROWS), loss_of, steps=STEPS, rate=0.005)
            test = Pictures(dice, TESTED)
        networks[name], (right[name], places[name]) = network, scores_of(network, test)
    numbers = [
        Number.at_least("soft: letters right, %", right["soft"], 95),
        Number.at_least("hard: letters right, %", right["hard"], 93),
        Number.at_most("soft minus hard, points", right["soft"] - right["hard"], 2),
        Number.at_least("soft: looks most at the right tile, %", places["soft"], 95),
        Number.at_least("hard: looks at the right tile, %", places["hard"], 95),
        Number.measured("guessing, %", 100 / LETTERS),
    ]
    says = [
        f"Both learned to look: of {TESTED:,} new pictures, soft attention names "
        f"{right['soft']:.1f} % of the letters and hard attention, which never sees more than one "
        f"tile of nine, {right['hard']:.1f} %. Guessing gives {100 / LETTERS:.1f} %.",
        "Nobody told them which tile matters. The soft one learned it from gradients, the hard one "
        "from rewards for tiles that it happened to look at.",
    ]
    return Lesson(numbers, [_draw(networks, test)], says)


def loss_of(network: Looker, pictures: Pictures) -> Loss:
    scores, weights, choice = network(pictures.tiles, pictures.asked)
    wrong = F.cross_entropy(scores, pictures.wanted, reduction="none")  # (B,)
    total = wrong.sum()
    if choice is not None:
        total = total + len(wrong) * network.reward(choice, -wrong, weights)
    return Loss(total, len(wrong))


@torch.no_grad()
def scores_of(network: Looker, pictures: Pictures) -> tuple[float, float]:
    """Percent of letters named right, and of pictures where the right tile was looked at most."""
    scores, weights, _ = network(pictures.tiles, pictures.asked)
    right = (scores.argmax(dim=-1) == pictures.wanted).float().mean()
    found = (weights.argmax(dim=-1) == pictures.place).float().mean()
    return 100 * float(right), 100 * float(found)


@torch.no_grad()
def _draw(networks: dict[str, Looker], pictures: Pictures) -> Drawing:
    figure, axes = panels(3, 2, size=(3.0, 3.0))
    shades = [*COLOURS, "#e377c2", "#bcbd22", "#17becf"]
    for row, (name, network) in enumerate(networks.items()):
        _, weights, _ = network(pictures.tiles[:1].expand(3, -1, -1), torch.arange(3))
        for asked in range(3):
            ax = axes[3 * row + asked]
            _tiles(ax, pictures, weights[asked], shades)
            label(ax, f"{name}: colour {asked + 1}?")
            ax.add_patch(Rectangle((0.05, SIDE + 0.08), 0.5, 0.25, color=shades[asked]))
    return Drawing(
        figure,
        "One picture of nine tiles, asked three times (columns; the small bar is the colour asked "
        "for). Frames: how much each tile counts, thick for much. Above with soft attention, below "
        "with hard, where the frame is the chance to be the one tile looked at.",
    )


def _tiles(ax: Axes, pictures: Pictures, weights: Tensor, shades: list[str]) -> None:
    for place in range(KINDS):
        x, y = place % SIDE, SIDE - 1 - place // SIDE
        shade = shades[int(pictures.colours[0, place])]
        ax.add_patch(Rectangle((x + 0.08, y + 0.08), 0.84, 0.84, color=shade, alpha=0.45))
        if (share := float(weights[place])) > 0.02:
            corner = (x + 0.05, y + 0.05)
            ax.add_patch(Rectangle(corner, 0.9, 0.9, fill=False, linewidth=5 * share))
        letter = chr(ord("A") + int(pictures.letters[0, place]))
        ax.text(x + 0.5, y + 0.5, letter, ha="center", va="center", fontsize=14)
    ax.set(xlim=(0, SIDE), ylim=(0, SIDE + 0.4), aspect="equal")
    ax.axis("off")
