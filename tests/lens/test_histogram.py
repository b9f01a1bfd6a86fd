import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.data.summary import Lengths
from regard.errors import ConfigError
from regard.lens.histogram import (
    BARS,
    MOST_LABELS,
    bins,
    draw_histogram,
    has_long_tail,
    save_histograms,
)

ROOT = Path(__file__).parents[2]
some_lengths = st.lists(st.one_of(st.integers(0, 30), st.integers(0, 10**7)), max_size=60)


def counted(lengths):
    found = Lengths()
    for length in lengths:
        found.add(length, line=1)
    return found


@given(some_lengths)
def test_every_text_is_in_one_bin_and_bins_touch(lengths):
    found = bins(counted(lengths))
    for bin in found:
        assert bin.count == sum(bin.low <= length <= bin.high for length in lengths)
    assert sum(bin.count for bin in found) == len(lengths)
    for left, right in zip(found, found[1:], strict=False):
        assert left.high + 1 == right.low


@given(some_lengths.filter(bool))
def test_bins_begin_and_end_where_texts_do_and_are_few(lengths):
    found = bins(counted(lengths))
    assert found[0].low <= min(lengths) <= found[0].high
    assert found[-1].low <= max(lengths) <= found[-1].high
    assert len(found) <= (50 if has_long_tail(counted(lengths)) else BARS)


def test_bins_are_even_without_a_long_tail_and_grow_with_one():
    even = bins(counted([*range(40, 100)]))
    assert len({bin.high - bin.low for bin in even}) == 1
    growing = bins(counted([*[20] * 99, 5000]))
    widths = [bin.high - bin.low for bin in growing]
    assert widths == sorted(widths) and widths[0] < widths[-1]


@given(some_lengths, st.integers(40, 120))
def test_drawn_lines_fit_and_the_longest_bar_is_that_of_the_largest_bin(lengths, width):
    found = bins(counted(lengths))
    drawn = draw_histogram(counted(lengths), width=width).splitlines()
    if not found:
        assert drawn == ["(no texts)"]
        return
    assert max(map(len, drawn)) <= width
    bars = [sum(c in "▏▎▍▌▋▊▉█" for c in line) for line in drawn]
    assert bars[max(range(len(found)), key=lambda i: found[i].count)] == max(bars)
    assert all((bar > 0) == (bin.count > 0) for bar, bin in zip(bars, found, strict=True))
    assert all(line.endswith(f"{bin.count:,}") for line, bin in zip(drawn, found, strict=True))


def test_equal_columns_give_equal_pictures(tmp_path):
    columns = [("deutsch (source)", counted([3, 4, 4, 900])), ("注意 $x$\x1b", counted([]))]
    for name in ("a.png", "b.png"):
        assert save_histograms(columns, tmp_path / name) == tmp_path / name
    first, second = ((tmp_path / name).read_bytes() for name in ("a.png", "b.png"))
    assert first == second and first.startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("name", "columns", "message"),
    [
        ("lengths.pdf", 1, "saved as .png. Try lengths.png"),
        ("none/lengths.png", 1, "there is no folder"),
        ("lengths.png", 0, "no column of texts"),
    ],
)
def test_a_picture_that_can_not_be_made_says_why(tmp_path, name, columns, message):
    with pytest.raises(ConfigError, match=message):
        save_histograms([("a", counted([1]))] * columns, tmp_path / name)
    assert not list(tmp_path.iterdir())


@pytest.fixture
def drawn(monkeypatch):
    """The axes of what is saved."""
    from matplotlib.figure import Figure

    figures = []
    save = Figure.savefig
    monkeypatch.setattr(Figure, "savefig", lambda f, *a, **k: (figures.append(f), save(f, *a, **k)))
    return lambda: figures[-1].axes


def labels_of(axis):
    low, high = sorted(axis.get_view_interval())
    ticks = zip(axis.get_majorticklocs(), axis.get_majorticklabels(), strict=True)
    return [tick.get_text() for at, tick in ticks if low <= at <= high]


@pytest.mark.parametrize("lengths", [[7] * 9, [7, 8] * 9, [0] * 3, [*range(30)]])
def test_no_number_stands_twice_at_an_axis(tmp_path, drawn, lengths):
    save_histograms([("a", counted(lengths))], tmp_path / "a.png", [("b", {"x": 1, "y": 2})])
    for axes in drawn():
        shown = labels_of(axes.xaxis)
        assert shown and len(set(shown)) == len(shown)


def test_each_label_has_a_bar_of_its_rows_the_most_frequent_on_top(tmp_path, drawn):
    counts = {f"label $x$ {n}": 100 - n for n in range(MOST_LABELS + 5)}
    save_histograms([("a", counted([3, 4]))], tmp_path / "a.png", [("kind", counts)])
    _, axes = drawn()
    assert [bar.get_width() for bar in axes.patches] == [*counts.values()][:MOST_LABELS]
    assert axes.patches[0].get_y() < axes.patches[1].get_y() and axes.yaxis_inverted()
    assert [tick.get_text() for tick in axes.get_yticklabels()] == [*counts][:MOST_LABELS]
    assert axes.get_xlabel() == "texts (and 415 with 5 other labels)"
    assert axes.get_title(loc="left") == "kind"


def test_drawing_in_the_terminal_does_not_load_matplotlib():
    code = "import sys, regard.lens.histogram; sys.exit('matplotlib' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)
