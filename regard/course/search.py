"""Query, key and value: pictures found by their tags, softly; a dictionary is the hard end."""

import numpy as np
import torch
from matplotlib.axes import Axes
from torch import Tensor

from regard.course.draw import FONT, heat, label, panels
from regard.course.lesson import Drawing, Lesson, Number, Table
from regard.nn.plain import attention

TITLE = "Query, key and value: a soft dictionary"
IDEA = """
Somebody looks for a picture and types "sea sun". That is the query. Every picture in the
collection has tags: its key. What is wanted is not the tags but the picture: the value. A search
compares the query with every key and puts the pictures in order, the best match first.

A dictionary in Python works the same way, but hard: the key that equals the query counts 1, all
others count 0, and with no equal key there is an error. Attention is soft: every key gets a score,
a softmax turns the scores into shares of 1, and the answer is a mean of all values by these
shares. Because nothing in it is all or nothing, it has a gradient and can be learned. Multiply the
scores by a large number and the soft answer becomes the hard one.
"""
TRY = (
    'Ask for "night": two pictures share the first place, and even a hard search has to blend.',
    "Give a picture one tag more: its key grows longer, so each single tag counts for less.",
    "regard course self_attention: query, key and value all made from the same words.",
)
QUESTIONS = (
    (
        "What are query, key and value when you search for a film?",
        "What you type is the query, what the films are filed under are the keys, the films are "
        "the values.",
    ),
    (
        "What does attention answer when no key fits the query?",
        "A mean of all values: the weights sum to 1 whether or not there is a good match. A "
        "dictionary raises KeyError.",
    ),
    (
        "Must key and value be the same thing?",
        "No. A key says how to be found, a value what is handed over; in a Transformer both are "
        "made from the same word by different learned products.",
    ),
)
PICTURES: tuple[tuple[str, ...], ...] = (
    ("sea", "sun", "boat"),
    ("sea", "night"),
    ("mountain", "sun"),
    ("mountain", "night", "tree"),
    ("tree", "sun", "house"),
    ("house", "night"),
)
QUERY = ("sea", "sun")
SCORES = (0.8165, 0.5, 0.5, 0.0, 0.4082, 0.0)  # shared tags / sqrt(tags here x tags asked for)
TAGS = sorted({tag for tags in PICTURES for tag in tags})
SHARPNESS = (1.0, 3.0, 10.0, 100.0)
AGES = {"Ada": 36.0, "Grace": 85.0, "Alan": 41.0}
ROWS, COLUMNS = 36, 48


def lesson(seed: int = 0) -> Lesson:
    query, keys = key_of(QUERY)[None], torch.stack([key_of(tags) for tags in PICTURES])
    values = torch.stack([paint(tags) for tags in PICTURES])  # (6, ROWS, COLUMNS, 3)
    scores = (query @ keys.T)[0]
    found = [look_up(query, keys, values.flatten(1), sharp) for sharp in SHARPNESS]
    weights = torch.cat([shares for _, shares in found])  # (sharpness, 6)
    _, evenly = look_up(key_of(("snow",))[None], keys, values.flatten(1), 100.0)
    wrong = [dictionary_error(sharp) for sharp in SHARPNESS]
    names = [" ".join(tags) for tags in PICTURES]
    numbers = [
        *(
            Number.equal(f'"{" ".join(QUERY)}" against "{name}"', float(score), wanted)
            for name, score, wanted in zip(names, scores, SCORES, strict=True)
        ),
        Number.equal("place of the best match", int(scores.argmax()) + 1, 1),
        Number.equal("sum of the weights", float(weights[0].sum()), 1.0, within=1e-12),
        Number.equal("no key fits: each weight", float(evenly.max()), 1 / 6, within=1e-12),
        Number.measured("dictionary, softly at sharpness 1: years off", wrong[0]),
        Number.at_most("dictionary, softly at sharpness 100: years off", wrong[-1], 1e-9),
    ]
    says = [
        f'"{names[0]}" has both of the tags asked for, but a third one too: 2 / sqrt(2 x 3) = '
        "0.82. Those with one of two tags score 1 / sqrt(2 x 2) = 0.5.",
        f"At sharpness 1 the best picture has a weight of only {weights[0, 0]:.2f} and the answer "
        f"is a blur of all six; at 10 it has {weights[2, 0]:.2f}, at 100 all of it.",
        f"The dictionary of ages, looked up softly: off by up to {wrong[0]:.1f} years at sharpness "
        f"1, by {wrong[1]:.2g} at 3, by {wrong[2]:.1g} at 10. The hard look-up is the "
        "far end of the soft one.",
        "Asked for snow, which no picture has, a soft search still answers, with the mean of all "
        "six: weights say how to share, not whether there is anything to be found.",
    ]
    drawings = [_draw_ranked(scores, values), _draw_blends(weights, found, names)]
    return Lesson(
        numbers, drawings, says, [Table("A dictionary", ("asked", "hard", "soft"), ages())]
    )


def key_of(tags: tuple[str, ...]) -> Tensor:
    """(tags,): a 1 for each tag, brought to length 1. An unknown tag is nowhere: zeros."""
    key = torch.tensor([float(tag in tags) for tag in TAGS], dtype=torch.float64)
    return key / key.norm().clamp(min=1.0)


def look_up(query: Tensor, keys: Tensor, values: Tensor, sharpness: float) -> tuple[Tensor, Tensor]:
    """The library's attention; it divides by the root of the width, which is taken back here."""
    return attention(query * sharpness * keys.size(-1) ** 0.5, keys, values)


def dictionary_error(sharpness: float) -> float:
    """How far a soft look-up of every name is from what the dictionary says, at most."""
    keys, values = torch.eye(3).double(), torch.tensor(list(AGES.values())).double()[:, None]
    answers, _ = look_up(keys, keys, values, sharpness)
    return float((answers - values).abs().max())


def ages() -> list[tuple[str, ...]]:
    keys, values = torch.eye(3).double(), torch.tensor(list(AGES.values())).double()[:, None]
    asked = {"Ada": keys[:1], "Alan": keys[2:], "Kurt": torch.zeros(1, 3).double()}
    rows: list[tuple[str, ...]] = []
    for name, query in asked.items():
        try:
            hard = f"{AGES[name]:g}"
        except KeyError as error:
            hard = f"KeyError: {error}"
        soft = float(look_up(query, keys, values, SHARPNESS[-1])[0])
        rows.append((name, hard, f"{soft:.4g}"))
    return rows


def paint(tags: tuple[str, ...]) -> Tensor:
    """(ROWS, COLUMNS, 3), red, green and blue from 0 to 1: a little scene of what the tags say."""
    y, x = np.mgrid[0:ROWS, 0:COLUMNS]
    night = "night" in tags
    scene = np.empty((ROWS, COLUMNS, 3))
    scene[:] = (0.08, 0.10, 0.28) if night else (0.62, 0.82, 0.97)
    scene[y > 25] = (0.10, 0.30, 0.62) if "sea" in tags else (0.45, 0.62, 0.33)
    shapes = {
        "sun": ((x - 38) ** 2 + (y - 8) ** 2 < 26, (1.0, 0.83, 0.2)),
        "night": ((x - 38) ** 2 + (y - 8) ** 2 < 16, (0.93, 0.93, 0.85)),
        "mountain": ((abs(x - 20) * 1.2 < y - 6) & (y < 26), (0.45, 0.42, 0.44)),
        "tree": ((abs(x - 10) * 2 < y - 12) & (y < 27), (0.08, 0.36, 0.16)),
        "house": ((abs(x - 27) < 7) & (y > 17) & (y < 29), (0.72, 0.27, 0.2)),
        "boat": ((abs(x - 18) < 33 - y) & (y > 24) & (y < 29), (0.35, 0.2, 0.1)),
    }
    for tag, (where, colour) in shapes.items():
        if tag in tags:
            scene[where] = colour
    return torch.tensor(scene)


def _draw_ranked(scores: Tensor, values: Tensor) -> Drawing:
    figure, axes = panels(3, 2, size=(2.7, 2.2))
    order = scores.argsort(descending=True, stable=True).tolist()
    for place, (ax, number) in enumerate(zip(axes, order, strict=True)):
        _show(ax, values[number])
        label(ax, f"{place + 1}. score {scores[number]:.2f}", " · ".join(PICTURES[number]))
    figure.suptitle(f'query: "{" ".join(QUERY)}"', fontsize=FONT + 2)
    caption = (
        "Six pictures, best match first. Below each its key, the tags; above it how well the key "
        "fits the query. The picture itself is the value."
    )
    return Drawing(figure, caption)


def _draw_blends(weights: Tensor, found: list[tuple[Tensor, Tensor]], names: list[str]) -> Drawing:
    figure, axes = panels(1, 2, size=(8.2, 2.35))
    above = axes[0]
    rows = [f"sharpness {sharp:g}" for sharp in SHARPNESS]
    heat(above, weights, rows, [name.replace(" ", "\n") for name in names], numbers=True)
    above.tick_params(axis="x", rotation=0)
    label(above, f'Weights of the six pictures for "{" ".join(QUERY)}"')
    axes[1].axis("off")
    label(axes[1], "What comes out: the mean of the pictures by these weights")
    for place, (answer, sharp) in enumerate(zip(found, SHARPNESS, strict=True)):
        ax = axes[1].inset_axes((place / 4, 0.08, 0.235, 0.92))
        _show(ax, answer[0].view(ROWS, COLUMNS, 3))
        ax.set_xlabel(f"sharpness {sharp:g}", fontsize=FONT)
    caption = (
        "From soft to hard. Above, the weights: nearly even at sharpness 1, all on one picture at "
        "100. Below, the answers: a blur of all pictures becomes the single best one."
    )
    return Drawing(figure, caption)


def _show(ax: Axes, picture: Tensor) -> None:
    ax.imshow(picture.clamp(0, 1).numpy())
    ax.set(xticks=[], yticks=[])
