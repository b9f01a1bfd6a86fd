"""Heat maps as text: shaded blocks, or colours and digits, in panels as wide as the terminal.

T query tokens (rows)   S key tokens (columns)
"""

import unicodedata
from bisect import bisect_right
from textwrap import fill

from regard.lens.picture import AttentionMap, Picture, Weights, visible

SHADES = " ░▒▓█"
SHADES_FROM = (0.05, 0.25, 0.5, 0.75)  # the least weight of each shade after the first

# Background and digit for 0.0, 0.1 ... 0.9 and up, in xterm's 256 colours: from nearly black
# over blue to nearly white, each step lighter, so that lightness alone carries the weight. Both
# are set, so it reads the same on dark and light terminals; the many zeros stand back.
DIM, WHITE, BLACK = 246, 231, 16
COLOURS = (
    *((234, DIM), (236, WHITE), (238, WHITE), (24, WHITE), (26, WHITE)),
    *((32, BLACK), (38, BLACK), (75, BLACK), (117, BLACK), (195, BLACK)),
)
RESET = "\x1b[0m"

SHORT = 4  # column labels up to this wide stand upright; longer ones read downwards
TALLEST = 12


def draw(picture: Picture, *, width: int, colour: bool) -> str:
    """One heat map for each map of the picture, each line at most `width` wide.

    Several heads are shown as their mean; `picture.only(head=...)` shows one. A map wider than
    the terminal continues in further panels. (Under 20 wide, lines may run over.)
    """
    maps = [_draw_map(m, width, colour) for m in picture.maps]
    return "\n\n".join([*maps, _wrap(_legend(picture.maps[0], colour), width)])


def _draw_map(m: AttentionMap, width: int, colour: bool) -> str:
    rows = [_shorten(visible(token), max(4, width // 3)) for token in m.rows]
    columns = [visible(token) for token in m.columns]
    gutter = max(map(text_width, rows))
    widest = max(map(text_width, columns))
    cell = max(2, widest + 1) if widest <= SHORT else 2
    fits = max(1, (width - gutter - 1) // cell)

    lines = [_wrap(", ".join(m.labels), width)]
    for first in range(0, len(columns), fits):
        last = min(first + fits, len(columns))
        if fits < len(columns):
            lines += ["", _wrap(f"columns {first + 1} to {last} of {len(columns)}", width)]
        lines += [" " * (gutter + 1) + line for line in _heading(columns[first:last], cell)]
        for label, weights in zip(rows, m.mean[:, first:last] / m.peak, strict=True):
            lines.append(_pad_left(label, gutter) + " " + _cells(weights, cell, colour))
    return "\n".join(lines)


def _heading(labels: list[str], cell: int) -> list[str]:
    """The labels side by side, or from the top down when one is too wide for its column."""
    if max(map(text_width, labels)) < cell:
        return ["".join(_pad_right(label, cell) for label in labels).rstrip()]
    stacks = [_letters(label) for label in labels]
    stacks = [s if len(s) <= TALLEST else [*s[: TALLEST - 1], "…"] for s in stacks]
    height = max(map(len, stacks))
    stacks = [[""] * (height - len(s)) + s for s in stacks]  # the last letter touches the map
    return ["".join(_pad_right(s[i], cell) for s in stacks).rstrip() for i in range(height)]


def _cells(weights: Weights, cell: int, colour: bool) -> str:
    if not colour:
        return "".join(SHADES[bisect_right(SHADES_FROM, w)] * cell for w in weights)
    tenths = [max(0, min(9, int(w * 10 + 1e-6))) for w in weights]  # 0.3 * 10 may be 2.9999
    return "".join(_paint(n, str(n).ljust(cell)) for n in tenths) + RESET


def _paint(tenth: int, text: str) -> str:
    back, fore = COLOURS[tenth]
    return f"\x1b[48;5;{back};38;5;{fore}m{text}"


def _legend(m: AttentionMap, colour: bool) -> str:
    if m.whole:
        look = f"{m.words.how} Here as parts of the largest, {m.peak:.2f}."
    else:
        look = "Rows look, columns are looked at."
    if colour:
        return f"{look} Digits are tenths: 7 is a weight from 0.7 to 0.8, 9 from 0.9 to 1."
    steps = zip(SHADES[1:], SHADES_FROM, strict=True)
    return f"{look} Weights: " + ", ".join(f"{shade} from {least}" for shade, least in steps) + "."


def _wrap(text: str, width: int) -> str:
    return fill(text, max(width, 20))


def text_width(text: str) -> int:
    """How many columns of a terminal `text` takes: two for wide characters, none for accents.

    >>> text_width("abc"), text_width("注意"), text_width("e\\u0301")
    (3, 4, 1)
    """
    return sum(map(_width, text))


def _width(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def _letters(text: str) -> list[str]:
    """The characters of `text`, accents kept with the letter they belong to."""
    letters: list[str] = []
    for character in text:
        if letters and _width(character) == 0:
            letters[-1] += character
        else:
            letters.append(character)
    return letters


def _shorten(text: str, width: int) -> str:
    if text_width(text) <= width:
        return text
    kept = ""
    for letter in _letters(text):
        if text_width(kept + letter) >= width:
            break
        kept += letter
    return kept + "…"


def _pad_left(text: str, width: int) -> str:
    return " " * (width - text_width(text)) + text


def _pad_right(text: str, width: int) -> str:
    return text + " " * (width - text_width(text))
