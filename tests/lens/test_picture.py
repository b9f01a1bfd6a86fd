import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.errors import ConfigError, RunError, ShapeError, TrainingError
from regard.lens import plots
from regard.lens.picture import AttentionMap, Picture, visible


def a_map(name="cross", layer=0, heads=(0, 1, 2), rows=tuple("wxyz"), weights=None):
    columns = tuple("abcde")
    if weights is None:
        random = np.random.default_rng(layer)
        weights = random.dirichlet(np.ones(len(columns)), size=(len(heads), len(rows)))
    return AttentionMap(name, layer, rows, columns, weights, heads)


@pytest.fixture
def picture():
    maps = (a_map("encoder", 0), a_map("encoder", 1), a_map("encoder", 2))
    return Picture("abcde", "wxyz", (*maps, a_map("cross", 0), a_map("cross", 1, heads=(0, 1))))


def places(picture):
    return [(m.name, m.layer, m.heads) for m in picture.maps]


def test_only_counts_layers_and_heads_from_one(picture):
    chosen = picture.only(name="cross", layer=1, head=3)
    assert places(chosen) == [("cross", 0, (2,))]
    np.testing.assert_array_equal(chosen.maps[0].weights[0], picture.maps[3].weights[2])
    assert (chosen.source, chosen.output) == ("abcde", "wxyz")


def test_only_keeps_every_map_that_has_the_layer_and_the_head(picture):
    assert places(picture.only(layer=3)) == [("encoder", 2, (0, 1, 2))]
    assert places(picture.only(name="cross", head=3)) == [("cross", 0, (2,))]
    assert places(picture.only()) == places(picture)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"name": "cros"}, 'there is no attention "cros". Did you mean "cross"?'),
        ({"name": "decoder"}, 'there is no attention "decoder". Did you mean "encoder"?'),
        ({"name": "cross", "layer": 3}, "there is no layer 3 in this picture. Known: 1, 2."),
        ({"layer": 0}, "there is no layer 0 in this picture. Known: 1, 2, 3."),
        ({"layer": 2, "head": 4}, "there is no head 4 in this picture. Known: 1, 2, 3."),
        (
            {"name": "cross", "layer": 2, "head": 3},
            "there is no head 3 in this picture. Known: 1, 2.",
        ),
    ],
)
def test_only_says_which_exist_when_one_does_not(picture, asked, message):
    with pytest.raises(ConfigError) as error:
        picture.only(**asked)
    assert str(error.value) == message


def test_labels_name_one_head_and_count_several(picture):
    assert picture.maps[4].labels == ("cross-attention", "layer 2", "mean of 2 heads")
    one = picture.only(name="cross", layer=2, head=2).maps[0]
    assert one.labels == ("cross-attention", "layer 2", "head 2")


def test_weights_that_do_not_fit_the_tokens_are_refused():
    with pytest.raises(ShapeError, match=r"\(3, 5, 4\) do not fit 3 heads, 4 rows and 5 columns"):
        a_map(weights=np.zeros((3, 5, 4)))
    with pytest.raises(ShapeError, match="none of them 0"):
        a_map(rows=(), weights=np.zeros((3, 0, 5)))


def test_weights_that_are_not_numbers_are_refused():
    with pytest.raises(TrainingError, match="cross-attention, layer 2.*diverge"):
        a_map(layer=1, weights=np.full((3, 4, 5), np.nan))


def test_a_picture_of_nothing_is_refused():
    with pytest.raises(ConfigError, match="nothing to draw"):
        Picture("a", "b", ())


@pytest.mark.parametrize(("name", "start"), [("a.html", b"<!doctype"), ("a.PNG", b"\x89PNG")])
def test_the_suffix_decides_what_is_saved(picture, tmp_path, name, start):
    path = picture.only(name="cross", layer=1, head=1).save(str(tmp_path / name))
    assert path == tmp_path / name
    assert path.read_bytes().startswith(start)
    assert list(tmp_path.iterdir()) == [path]  # nothing left beside it


@pytest.mark.parametrize(("name", "seen"), [("a.pdf", '".pdf"'), ("a", '"no suffix"')])
def test_another_suffix_is_refused_by_name(picture, tmp_path, name, seen):
    with pytest.raises(ConfigError, match=rf"\.html or \.png, found {seen}. Try a.html"):
        picture.save(tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_a_missing_folder_is_named(picture, tmp_path):
    with pytest.raises(ConfigError, match="there is no folder .*nowhere. Make it first"):
        picture.save(tmp_path / "nowhere" / "a.html")


def test_what_can_not_be_written_is_a_sentence_and_leaves_nothing_behind(picture, tmp_path):
    (tmp_path / "a.html").mkdir()
    with pytest.raises(RunError, match="a.html: could not be written: Is a directory"):
        picture.save(tmp_path / "a.html")
    assert [p.name for p in tmp_path.iterdir()] == ["a.html"]


def test_a_save_that_breaks_midway_keeps_the_old_file(picture, tmp_path, monkeypatch):
    def stopped(picture):
        raise KeyboardInterrupt

    (tmp_path / "a.png").write_bytes(b"old")
    monkeypatch.setattr(plots, "png", stopped)
    with pytest.raises(KeyboardInterrupt):
        picture.save(tmp_path / "a.png")
    assert [p.read_bytes() for p in tmp_path.iterdir()] == [b"old"]


def test_a_notebook_gets_the_page_in_a_frame_that_text_can_not_leave(picture):
    frame = picture._repr_html_()
    assert frame.startswith('<iframe sandbox="allow-scripts"')
    assert frame.count("<") == 2  # the frame opens and closes; the page is quoted
    assert frame.count('"') == 8


@pytest.mark.parametrize(
    ("token", "shown"),
    [
        ("plain", "plain"),
        (" a b", "␣a␣b"),
        ("\n\t", "↵⇥"),
        ("\x1b[2J", "[U+001B][2J"),
        ("\x9b31m", "[U+009B]31m"),
        ("\u202eabc", "[U+202E]abc"),
        ("\u2028", "[U+2028]"),
        ("\u00a0", "[U+00A0]"),
        ("\ud800", "[U+D800]"),
        ("\u0301", "◌\u0301"),
        ("e\u0301", "e\u0301"),
        ("注意", "注意"),
        ("", ""),
    ],
)
def test_what_can_not_be_seen_gets_a_stand_in(token, shown):
    assert visible(token) == shown


def test_running_text_keeps_its_blanks():
    assert visible("I am\x07 calm", blank=" ") == "I am[U+0007] calm"


@given(st.text(st.characters(exclude_categories=[])))
def test_whatever_the_token_its_stand_in_is_printable_and_can_be_written(token):
    assert visible(token).isprintable()
    visible(token).encode()
