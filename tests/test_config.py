"""Settings: every mistake is named, with its place and the likely spelling."""

from pathlib import Path

import pytest

from regard.config import DecodeSettings, seconds
from regard.errors import ConfigError
from regard.shapes import TransformerSettings
from regard.tasks.recipe import read_recipe
from regard.toml import check, override, read_toml

GOOD = """\
task = "transduce"
[data]
path = "pairs.tsv"
[source]
kind = "character"
[model]
width = 16
heads = 2
[train]
steps = 5
"""


@pytest.fixture
def recipe(tmp_path: Path):
    def write(old="", new=""):
        assert old in GOOD
        path = tmp_path / "r.toml"
        path.write_text(GOOD.replace(old, new))
        return path

    return write


def test_a_recipe_is_read_and_its_data_path_is_relative_to_it(recipe, tmp_path, monkeypatch):
    monkeypatch.chdir("/")
    settings = read_recipe(recipe())
    assert settings.data.path == str(tmp_path / "pairs.tsv") and settings.model.width == 16


def test_a_data_path_in_set_is_relative_to_here(recipe, tmp_path, monkeypatch):
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    settings = read_recipe(recipe(), ["data.path=mine.tsv"])
    assert settings.data.path == str(here / "mine.tsv")


def test_set_reaches_any_key_and_keeps_types(recipe):
    sets = ["train.rate=0.5", "model.norm=rms", "data.split=[80, 10, 10]", "seed=7"]
    settings = read_recipe(recipe(), sets)
    assert settings.train.rate == 0.5 and settings.model.norm == "rms" and settings.seed == 7
    assert settings.data.split == (80, 10, 10)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("width", "widht", r'r\.toml:7: there is no setting "model\.widht"\. Did you mean "width"'),
        ("steps = 5", "steps = 0", r"r\.toml:10: train\.steps: .*equal to 1, found 0"),
        ("steps = 5", 'steps = "many"', r"train\.steps: expected a number, found 'many'"),
        ("steps = 5", "", r"train: give either steps or budget"),
        ("steps = 5", 'budget = "soon"', r'budget "soon" is not a time: write it as 90s, 5m or'),
        ("heads = 2", "heads = 2\nnorm_epsilon = 0", r"norm_epsilon: .*equal to 0\.0+1, found 0"),
        ("heads = 2", 'heads = 2\nactivation = "gelu_new"', r"model\.activation: .*'gelu_tanh' or"),
        ("heads = 2", "heads = 2\ntied = true", r'there is no setting "model\.tied"'),
        ("heads = 2", "heads = 3", r"width \(16\) must be a multiple of heads \(3\): try width=15"),
        ("heads = 2", "heads = 4\nkv_heads = 3", r"heads \(4\) must be a multiple of kv_heads"),
        ("width = 16", 'width = 15\nhead_width = 4', r"positions need an even width, found 15"),
        ('kind = "character"', 'kind = "letters"', r"source\.kind: .*'bytes' or 'wordpiece'"),
        ('path = "pairs.tsv"', "", r"data: give either set or path"),
        ('task = "transduce"', 'task = "transduse"', r'no task "transduse"\. Did you mean'),
        ('task = "transduce"', "", "a recipe needs a task"),
        ('path = "pairs.tsv"', 'path = "p.tsv"\nset = "cmudict"', r"data: give either set or path"),
        ("[data]", "[data", r"r\.toml: not valid TOML: .*line 2"),
        ("[source]\nkind", "[other]\nkind", r'the setting "source" is missing'),
    ],
)  # fmt: skip
def test_every_mistake_in_a_recipe_is_named(recipe, old, new, message):
    with pytest.raises(ConfigError, match=message):
        read_recipe(recipe(old, new))


def test_all_mistakes_are_reported_at_once(recipe):
    with pytest.raises(ConfigError) as caught:
        read_recipe(recipe("width = 16", "widht = 16\nlayres = 2"))
    assert str(caught.value).count("there is no setting") == 2


@pytest.mark.parametrize("bad", ["train.rate", "=3", "train.rate.x=1"])
def test_a_malformed_set_is_shown_how_to_write_it(recipe, bad):
    with pytest.raises(ConfigError, match=r"--set"):
        read_recipe(recipe(), ["train.rate=0.1", bad])


def test_a_missing_recipe_and_an_unknown_name_are_told_apart(tmp_path):
    with pytest.raises(ConfigError, match="no such recipe"):
        read_recipe(tmp_path / "none.toml")
    with pytest.raises(ConfigError, match='no recipe file .* Did you mean "demo"'):
        read_recipe("demmo")
    with pytest.raises(ConfigError, match="can not be read as a recipe"):
        (tmp_path / "latin.toml").write_bytes(b"\xff")
        read_toml(tmp_path / "latin.toml")


def test_beam_search_does_not_sample():
    with pytest.raises(ConfigError, match="beam search does not sample"):
        check(DecodeSettings, {"beam": 4, "temperature": 1.0})


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        ({"typical_p": 0.9}, "min_p and typical_p are for sampling: set a temperature too"),
        ({"typical_p": 0.0, "temperature": 1.0}, "typical_p: .*greater than 0, found 0.0"),
        ({"typical_p": 1.1, "temperature": 1.0}, "typical_p: .*equal to 1, found 1.1"),
        ({"repetition_penalty": 0}, "repetition_penalty: .*greater than 0, found 0"),
        ({"repetition_penalty": "1.2"}, "repetition_penalty: expected a number, found '1.2'"),
        ({"frequency_penalty": 2.5}, "frequency_penalty: .*equal to 2, found 2.5"),
        ({"repetition_penalty": 1.2, "beam": 2}, "do not go with a beam: use beam = 1"),
        ({"frequency_penalty": -0.1, "beam": 2}, "do not go with a beam: use beam = 1"),
        ({"stop": ["x", ""]}, "stop: an empty text would end every output before it begins"),
        ({"stop": ""}, "stop: an empty text would end every output before it begins"),
        ({"stop": [3]}, "stop.*string.*found 3"),
    ],
)
def test_ways_to_decode_that_do_not_go_together_are_named(tree, message):
    with pytest.raises(ConfigError, match=message):
        check(DecodeSettings, tree)


def test_penalties_go_with_greedy_search_and_with_sampling_and_stops_with_beams_too():
    asked = {"repetition_penalty": 1.2, "frequency_penalty": -0.5, "stop": "\n"}
    for temperature in (0.0, 0.7):
        settings = check(DecodeSettings, {**asked, "temperature": temperature})
        assert settings.penalized and settings.stop == ("\n",)
    assert DecodeSettings(stop=["a", "b c"], beam=4).stop == ("a", "b c")
    assert not DecodeSettings().penalized


def test_override_leaves_the_tree_it_was_given_alone():
    tree = {"a": {"b": 1}}
    assert override(tree, ["a.b=2"]) == {"a": {"b": 2}} and tree == {"a": {"b": 1}}


def test_budgets_are_times():
    assert [seconds(s) for s in ("45s", "2m", "1h", "1h1m1s")] == [45, 120, 3600, 3661]


def test_swiglu_is_narrower_so_that_it_costs_the_same():
    assert TransformerSettings(width=96, activation="swiglu").width_of_feed == 256
    assert TransformerSettings(width=96).width_of_feed == 384


@pytest.mark.parametrize(
    ("model", "message"),
    [
        ('kind = "rnn"\nwidht = 8', 'r.toml:8: there is no setting "model.widht". Did you mean'),
        ('kind = "rnn"\nheads = 2', '"model.heads" goes with model.kind = "transformer".'),
        ('kind = "rnn"\nlayers = 0', "r.toml:8: model.layers: input should be greater"),
        ('kind = "rnn"\nprojection = 4', 'r.toml:6: model: projection goes with cell = "lstm"'),
        (
            'kind = "rrn"\nwidth = 8',
            'r.toml:7: model.kind: there is no kind "rrn". Did you mean "rnn"',
        ),
        ('kind = "gpt"', 'model.kind: there is no kind "gpt". Known: rnn, transformer.'),
        (
            'kind = "lstm"',
            'no kind "lstm". Write model.kind = "rnn" and model.cell = "lstm".',
        ),
        ("cell = 3", 'r.toml:7: the setting "model.cell" goes with model.kind = "rnn".'),
    ],
)
def test_mistakes_in_either_kind_of_network_are_named_by_their_place(recipe, model, message):
    with pytest.raises(ConfigError) as refused:
        read_recipe(recipe("width = 16\nheads = 2", model))
    assert message in str(refused.value) and "function-" not in str(refused.value)


def test_without_a_word_about_its_kind_a_network_is_a_transformer(recipe):
    assert read_recipe(recipe()).model.kind == "transformer"
    assert read_recipe(recipe("width = 16\nheads = 2", 'kind = "rnn"')).model.cell == "gru"
    assert read_recipe(recipe(), ["model.copying=true"]).model.copying


def test_copying_needs_the_same_tokens_on_both_sides(recipe):
    path = recipe("[train]", 'copying = true\n[target]\nkind = "word"\n[train]')
    with pytest.raises(ConfigError, match=r"model\.copying: .* Leave out the section \[target\]"):
        read_recipe(path)


def test_a_wrong_kind_in_a_file_is_blamed_on_the_file(recipe):
    path = recipe("width = 16\nheads = 2", 'kind = "rrn"')
    with pytest.raises(ConfigError, match=r"r\.toml:7: model\.kind"):
        read_recipe(path, ["model.width=64"])
