import re

import numpy as np
import pytest

from regard.lens.picture import AttentionMap, Picture
from regard.lens.terminal import SHADES, SHADES_FROM, draw, text_width

COLOUR = re.compile(r"\x1b\[48;5;\d+;38;5;\d+m|\x1b\[0m")  # all that `draw` may send
HOSTILE = ("\x1b[2J", "\x1b]0;title\x07", "\x9b31m", "\u202eevil", "\u2028", "a\nb", "\r", "\x08")


def one_map(weights, rows=None, columns=None, layer=0, heads=None):
    weights = np.asarray(weights, dtype=np.float32)
    H, T, S = weights.shape
    rows = rows or tuple("tuvwxyz"[:T])
    columns = columns or tuple("abcdefg"[:S])
    m = AttentionMap("cross", layer, rows, columns, weights, heads or tuple(range(H)))
    return Picture("in", "out", (m,))


def random_map(T, S, **more):
    return one_map(np.random.default_rng(0).dirichlet(np.ones(S), size=(2, T)), **more)


def plain(text):
    return COLOUR.sub("", text)


def test_the_title_says_which_head_or_that_it_is_a_mean():
    many = one_map(np.ones((4, 1, 1)), layer=1)
    assert draw(many, width=80, colour=False).startswith(
        "cross-attention, layer 2, mean of 4 heads\n"
    )
    one = many.only(head=3)
    assert draw(one, width=80, colour=False).startswith("cross-attention, layer 2, head 3\n")


def test_several_heads_are_drawn_as_their_mean():
    heads = one_map([[[1.0, 0.0]], [[0.0, 1.0]]])
    mean = one_map([[[0.5, 0.5]]])
    bodies = [draw(p, width=80, colour=True).splitlines()[1:] for p in (heads, mean)]
    assert bodies[0] == bodies[1]


@pytest.mark.parametrize("shade", range(5))
def test_each_shade_begins_at_the_weight_the_legend_gives_it(shade):
    least = (0.0, *SHADES_FROM)[shade]
    drawn = draw(one_map([[[least + 1e-3, 0.0]]]), width=80, colour=False)
    assert drawn.splitlines()[2] == "t " + SHADES[shade] * 2 + "  "
    assert shade == 0 or f"{SHADES[shade]} from {least}" in drawn


def test_digits_are_tenths_rounded_down():
    weights = [0.0, 0.05, 0.1, 0.3, 0.55, 0.7, 1.0]
    drawn = draw(one_map([[weights]]), width=80, colour=True)
    assert plain(drawn).splitlines()[2].split() == ["t", "0", "0", "1", "3", "5", "7", "9"]


def lightness(colour):
    """How light one of xterm's 256 colours is: a cube of 6 x 6 x 6, then 24 greys; sRGB."""
    levels = (0, 95, 135, 175, 215, 255)
    cube = [levels[(colour - 16) // n % 6] for n in (36, 6, 1)]
    rgb = cube if colour < 232 else [8 + 10 * (colour - 232)] * 3
    linear = [v / 255 / 12.92 if v < 10.3 else ((v / 255 + 0.055) / 1.055) ** 2.4 for v in rgb]
    return float(np.dot(linear, (0.2126, 0.7152, 0.0722)))


def test_lightness_alone_tells_the_weights_apart_and_the_digits_stay_readable():
    drawn = draw(
        one_map([[[n / 10 + 0.01] for n in range(10)]], rows=tuple("0123456789")),
        width=40,
        colour=True,
    )
    pairs = [tuple(map(int, p)) for p in re.findall(r"48;5;(\d+);38;5;(\d+)", drawn)]
    backs = [lightness(back) for back, _ in pairs]
    assert len(backs) == 10 and backs == sorted(set(backs))
    for back, fore in pairs:  # the contrast that accessibility rules ask of text
        dark, light = sorted([lightness(back), lightness(fore)])
        assert (light + 0.05) / (dark + 0.05) > 4.5


@pytest.mark.parametrize("colour", [False, True])
@pytest.mark.parametrize("width", [20, 33, 80])
def test_a_wide_map_continues_in_panels_that_fit_and_lose_nothing(width, colour):
    columns = tuple(f"k{i}" for i in range(40))
    drawn = plain(draw(random_map(3, 40, columns=columns), width=width, colour=colour))
    assert max(map(text_width, drawn.splitlines())) <= width
    spans = [
        tuple(map(int, s))
        for s in re.findall(r"columns (\d+) to (\d+) of 40", " ".join(drawn.split()))
    ]
    assert spans[0][0] == 1 and spans[-1][1] == 40
    assert all(a[1] + 1 == b[0] for a, b in zip(spans, spans[1:], strict=False))
    assert [k for k in drawn.split() if k in columns] == list(columns)


def test_the_cells_of_all_panels_together_are_the_row():
    row = np.linspace(0, 1, 40)
    tokens = tuple("x" * 40)
    drawn = plain(draw(one_map([[row]], columns=tokens), width=22, colour=True))
    digits = "".join(line[2:] for line in drawn.splitlines() if line.startswith("t "))
    assert [int(d) for d in digits.split()] == [min(9, int(w * 10 + 1e-6)) for w in row]


def test_a_map_that_fits_is_one_panel():
    assert "columns 1" not in draw(random_map(3, 5), width=80, colour=False)


def test_long_column_names_read_downwards_and_end_at_the_map():
    lines = draw(random_map(1, 2, columns=("attend", "a")), width=80, colour=False).splitlines()
    assert "".join(line[2] for line in lines[1:7]) == "attend"
    assert lines[6] == "  d a"


def test_a_name_too_long_to_show_ends_in_an_ellipsis():
    long = "x" * 100
    drawn = draw(random_map(1, 1, rows=(long,), columns=(long,)), width=60, colour=False)
    assert "x" * 19 + "… " in drawn
    assert [line.strip() for line in drawn.splitlines()[1:13]] == ["x"] * 11 + ["…"]


def test_wide_characters_and_accents_keep_the_columns_in_line():
    tokens = ("注意", "e\u0301te\u0301", "🙂", "ｗ", "plain")
    drawn = draw(random_map(5, 5, rows=tokens, columns=tokens), width=80, colour=False)
    grid = [line for line in drawn.splitlines() if set(line) & set(SHADES[1:])][:5]
    assert {text_width(line) for line in grid} == {5 + 1 + 5 * 2}


@pytest.mark.parametrize("colour", [False, True])
def test_hostile_tokens_can_not_drive_the_terminal(colour):
    picture = random_map(len(HOSTILE), len(HOSTILE), rows=HOSTILE, columns=HOSTILE)
    drawn = plain(draw(picture, width=60, colour=colour))
    assert all(line.isprintable() for line in drawn.split("\n"))
    assert "[U+001B][2J" in drawn


def test_without_colour_there_are_no_escapes_at_all():
    assert "\x1b" not in draw(random_map(3, 4), width=80, colour=False)


def test_every_coloured_line_ends_by_setting_the_colours_back():
    lines = draw(random_map(3, 4), width=80, colour=True).splitlines()
    coloured = [line for line in lines if "\x1b" in line]
    assert len(coloured) == 3
    assert all(line.endswith("\x1b[0m") for line in coloured)
