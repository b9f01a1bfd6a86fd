import subprocess
import sys
from io import BytesIO

import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.image import imread

from regard.lens import plots
from regard.lens.picture import AttentionMap, Picture
from regard.lens.plots import png

ODD = ("注意", "$x$", "$\\frac{$", "\x1b[31m", "\u202e", "\ud800", "מלה", "a\nb", "<b>", "\u0301")


def a_picture(names=("cross",), layers=1, heads=1, T=3, S=4, **changes):
    random = np.random.default_rng(0)
    maps = tuple(
        AttentionMap(
            name=name,
            layer=layer,
            rows=changes.get("rows", tuple(f"q{i}" for i in range(T))),
            columns=changes.get("columns", tuple(f"k{i}" for i in range(S))),
            weights=random.dirichlet(np.ones(S), size=(heads, T)),
            heads=tuple(range(heads)),
        )
        for name in names
        for layer in range(layers)
    )
    return Picture(changes.get("source", "in"), "out", maps)


def panels(figure):
    return [axes for axes in figure.axes if axes.images]


@pytest.mark.parametrize(
    ("names", "layers", "heads", "drawn"),
    [
        (("cross",), 1, 1, 1),
        (("cross",), 2, 4, 8),
        (("encoder", "decoder", "cross"), 2, 4, 24),
        (("cross",), 5, 5, 5),  # 25 heads: the means of 5 layers
        (("encoder", "decoder", "cross"), 6, 8, 18),
    ],
)
def test_each_head_has_a_panel_until_they_are_too_many_which_the_title_says(
    names, layers, heads, drawn
):
    figure = plots._draw(a_picture(names, layers, heads))
    assert len(panels(figure)) == drawn
    titles = [axes.get_title(loc="left") for axes in panels(figure)]
    assert len(set(titles)) == drawn
    averaged = "Too many heads" in figure.get_suptitle().replace("\n", " ")
    assert averaged == (drawn < len(names) * layers * heads)
    assert all(("mean of" in title) == averaged for title in titles)


def test_a_panel_shows_its_weights_its_tokens_and_who_looks():
    picture = a_picture(layers=2, heads=2)
    axes = panels(plots._draw(picture))[3]
    assert axes.get_title(loc="left") == "cross-attention · layer 2 · head 2"
    np.testing.assert_allclose(axes.images[0].get_array(), picture.maps[1].weights[1])
    assert axes.images[0].get_clim() == (0, 1)
    assert [label.get_text() for label in axes.get_xticklabels()] == list(picture.maps[1].columns)
    assert [label.get_text() for label in axes.get_yticklabels()] == list(picture.maps[1].rows)
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("looked at", "looking")


@pytest.mark.parametrize("name", ["influence", "weights", "tokens"])
def test_what_is_no_attention_is_never_called_so_and_its_colours_end_at_its_largest(name):
    picture = a_picture((name,))
    figure = plots._draw(picture)
    (axes,) = panels(figure)
    assert axes.images[0].get_clim() == (0, picture.maps[0].weights.max())
    words = [axes.get_title(loc="left"), axes.get_xlabel(), axes.get_ylabel()]
    words += [other.get_ylabel() for other in figure.axes]
    assert not [word for word in words if "attention" in word or "look" in word or "head" in word]


def test_where_not_every_token_can_be_named_the_axis_says_so():
    axes = panels(plots._draw(a_picture(T=600, S=600)))[0]
    assert axes.get_xlabel() == "looked at (one token in 3 is named)"
    assert [label.get_text() for label in axes.get_xticklabels()][:3] == ["k0", "k3", "k6"]


def test_the_title_is_broken_into_lines_that_fit():
    figure = plots._draw(a_picture(source="many words " * 5))
    figure.canvas.draw()
    assert figure._suptitle.get_window_extent().width < figure.bbox.width


@pytest.mark.parametrize(
    "shape",
    [{}, {"layers": 6, "heads": 8, "T": 10, "S": 9, "names": ("encoder", "decoder", "cross")}],
    ids=["smallest", "largest"],
)
def test_the_image_is_valid_and_of_a_sensible_size(shape):
    high, wide, _ = imread(BytesIO(png(a_picture(**shape)))).shape
    assert 300 < wide < 6000 and 300 < high < 6000


def test_the_same_picture_gives_the_same_bytes():
    first = png(a_picture(heads=2))
    assert first == png(a_picture(heads=2))
    assert b"tEXt" not in first  # no date, no version


def test_odd_tokens_are_drawn_without_warnings_and_never_read_as_formulas():
    odd = a_picture(T=10, S=10, rows=ODD, columns=ODD, source="$x$ \\frac 注意")
    png(odd)  # pytest turns a warning into an error
    labels = [label.get_text() for label in panels(plots._draw(odd))[0].get_xticklabels()]
    assert labels[1] == "$x$"
    assert all(label.isprintable() for label in labels)


def test_drawing_leaves_no_global_figure_behind():
    before = pyplot.get_fignums()
    png(a_picture())
    assert pyplot.get_fignums() == before


def test_pictures_without_an_image_do_not_pay_for_matplotlib():
    code = "import sys, regard.lens.page, regard.lens.terminal; print('matplotlib' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
