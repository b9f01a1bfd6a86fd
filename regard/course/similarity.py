"""How alike are two vectors? The dot product, its angle, and what many dimensions do to it."""

import math

import torch
from matplotlib.axes import Axes
from torch import Tensor

from regard.course.draw import COLOURS, FONT, label, lines, panels
from regard.course.lesson import Drawing, Lesson, Number, Table
from regard.course.tiny import repeatable

TITLE = "How alike are two vectors?"
IDEA = """
Multiply two vectors feature by feature and add up: that is the dot product. Where both have large
numbers of the same sign it grows, where the signs differ it falls. So it says how far two vectors
point the same way, and attention uses it to ask how well a query fits a key.

It has a second form: the product of both lengths and the cosine of the angle between them. At 0
degrees the cosine is 1, at 90 degrees 0, beyond that it is negative. Divided by both lengths, only
the cosine is left: then a long vector has no advantage over a short one.
"""
TRY = (
    "Turn a vector by 180 degrees: what is its dot product with what it was?",
    "Make one of two vectors ten times as long: the dot product is ten times as large, the angle "
    "and the cosine stay.",
    "regard course scale: what a dot product that grows with the width does to a softmax.",
)
QUESTIONS = (
    (
        "Two vectors stand at right angles. How alike are they?",
        "Their dot product is 0: neither says anything about the other.",
    ),
    (
        "Can two vectors have a large dot product and still point in rather different directions?",
        "Yes, when they are long: the lengths multiply the cosine. Divide by them to compare "
        "directions alone.",
    ),
    (
        "Why are two random vectors with many features nearly at right angles?",
        "Their products have random signs and cancel: the cosine is around 0 with a spread of 1 / "
        "sqrt(width).",
    ),
)
ANGLES = {140: -0.77, 90: 0.0, 45: 0.71, 0: 1.0}  # the course: the dot product of unit vectors
WIDTHS, PAIRS = (2, 16, 128, 512), 4000


def lesson(seed: int = 0) -> Lesson:
    base = at_angle(0)
    dots = {angle: float(base @ at_angle(angle)) for angle in ANGLES}
    long, longer = 2 * base, 3 * at_angle(45)
    with repeatable(seed) as dice:
        cosines = {width: random_cosines(width, dice) for width in WIDTHS}
    spreads = {width: float(found.square().mean().sqrt()) for width, found in cosines.items()}
    numbers = [
        *(
            Number.equal(f"dot product of unit vectors at {a} degrees", dots[a], wanted, 0.005)
            for a, wanted in ANGLES.items()
        ),
        Number.equal("lengths 2 and 3 at 45 degrees: dot product", float(long @ longer), 4.2426),
        Number.equal("the same divided by both lengths", cosine(long, longer), 0.7071),
        Number.equal("angle of (3, 4) and (4, 3) in degrees", degrees((3, 4), (4, 3)), 16.2602),
        *(
            Number.equal(f"spread of random cosines, width {w}", spreads[w], w**-0.5, w**-0.5 / 10)
            for w in WIDTHS
        ),
    ]
    says = [
        "At 0 degrees two vectors of length 1 have the dot product 1; at 45 degrees about 0.71; at "
        "right angles 0; at 140 degrees -0.77, since they point apart.",
        "With lengths 2 and 3 the dot product at 45 degrees is 2 x 3 x 0.7071 = 4.24: larger than "
        "that of two unit vectors which are the same. Lengths count, unless they are divided out.",
        "Random directions: with 2 features any angle comes up, with 512 the cosine of 19 pairs "
        f"in 20 lies within {2 * spreads[512]:.2f} of 0, and 0.5 practically never comes up. The "
        "vectors of a network are not random, they share directions: compare their cosines with "
        "each other, not with 0.",
    ]
    return Lesson(numbers, [_draw_pairs(dots), _draw_random(cosines)], says, [_by_hand()])


def at_angle(degrees: float) -> Tensor:
    """(2,): the vector of length 1 at this angle to (1, 0)."""
    angle = math.radians(degrees)
    return torch.tensor([math.cos(angle), math.sin(angle)], dtype=torch.float64)


def cosine(a: Tensor, b: Tensor) -> float:
    return float(a @ b / (a.norm() * b.norm()))


def degrees(a: tuple[float, ...], b: tuple[float, ...]) -> float:
    one, other = torch.tensor(a, dtype=torch.float64), torch.tensor(b, dtype=torch.float64)
    return math.degrees(math.acos(cosine(one, other)))


def random_cosines(width: int, dice: torch.Generator) -> Tensor:
    """(PAIRS,): the cosines between pairs of random directions."""
    a, b = (torch.randn(PAIRS, width, generator=dice) for _ in range(2))
    return torch.cosine_similarity(a, b, dim=-1)


def _by_hand() -> Table:
    a, b = (3, 4), (4, 3)
    lengths = math.hypot(*a), math.hypot(*b)
    dot = a[0] * b[0] + a[1] * b[1]
    rows: list[tuple[str, ...]] = [
        ("dot product", "3 x 4 + 4 x 3", f"{dot}"),
        ("length of each", "sqrt(9 + 16)", f"{lengths[0]:g}"),
        ("cosine", f"{dot} / (5 x 5)", f"{dot / (lengths[0] * lengths[1]):.2f}"),
        ("angle", "arccos 0.96", f"{degrees(a, b):.1f} degrees"),
    ]
    return Table("(3, 4) and (4, 3) by hand", ("what", "how", "result"), rows)


def _draw_pairs(dots: dict[int, float]) -> Drawing:
    figure, axes = panels(4, size=(2.1, 1.9))
    for ax, (angle, dot) in zip(axes, dots.items(), strict=True):
        _arrows(ax, angle)
        label(ax, f"{angle}°:  a·b = {dot:.2f}".replace("-", "−"))
    caption = (
        "Two vectors of length 1 at four angles, the dot product above each: negative when they "
        "point apart, 0 at right angles, 1 when they are the same (b lies on a)."
    )
    return Drawing(figure, caption)


def _arrows(ax: Axes, angle: int) -> None:
    for name, at, colour, style in (("a", 0, COLOURS[0], "-"), ("b", angle, COLOURS[1], "--")):
        x, y = at_angle(at).tolist()
        arrow = {"arrowstyle": "-|>", "color": colour, "linewidth": 2.2, "linestyle": style}
        ax.annotate("", (x, y), (0, 0), arrowprops={**arrow, "shrinkA": 0, "shrinkB": 0})
        lift = 0.16 if angle == 0 and name == "b" else -0.16 if at == 0 else 0.0
        ax.text(x * 1.12, y * 1.12 + lift, name, ha="center", va="center", fontsize=FONT + 2)
    arc = torch.tensor([at_angle(a * angle / 40).tolist() for a in range(41)]) * 0.35
    ax.plot(arc[:, 0], arc[:, 1], color="#999999", linewidth=1.2)
    ax.set(xlim=(-1.2, 1.3), ylim=(-0.3, 1.25), aspect="equal")
    ax.axis("off")


def _draw_random(cosines: dict[int, Tensor]) -> Drawing:
    figure, (left, right) = panels(2, size=(4.2, 3.2))
    every = list(range(0, 181, 3))
    left.plot(every, [math.cos(math.radians(a)) for a in every], color=COLOURS[5])
    for angle, dot in ANGLES.items():
        left.plot(angle, dot, "o", color=COLOURS[1])
        left.annotate(f"{angle}°", (angle, dot), (8, 5), textcoords="offset points", fontsize=FONT)
    left.axhline(0, color="#999999", linewidth=0.8)
    left.set(xticks=range(0, 181, 45), ylim=(-1.1, 1.2))
    label(left, "The cosine of every angle", "angle in degrees", "dot product of unit vectors")
    edges = torch.linspace(-1, 1, 26)
    middles = ((edges[1:] + edges[:-1]) / 2).tolist()
    shares = {f"width {w}": _shares(found, edges) for w, found in cosines.items()}
    lines(right, middles, shares)
    label(right, "Random pairs: wider is nearer to 90°", "cosine", "share of pairs")
    caption = (
        "Left: the dot product of unit vectors is the cosine of their angle; the four worked "
        f"angles are marked. Right: how the cosines of {PAIRS:,} random pairs spread; the more "
        "features, the closer to 0."
    )
    return Drawing(figure, caption)


def _shares(cosines: Tensor, edges: Tensor) -> list[float]:
    return (torch.histogram(cosines, edges).hist / len(cosines)).tolist()
