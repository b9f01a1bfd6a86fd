"""Recipes on paper: every key written, explained, and read back as it was."""

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.config import Settings, TokenizerSettings
from regard.shapes import TransformerSettings
from regard.tasks import TASKS
from regard.tasks.recipe import example_recipe, relative_to
from regard.toml import check, fill, read_toml, written


def every_setting(cls, prefix=""):
    for key, field in cls.model_fields.items():
        yield f"{prefix}{key}", field
        kinds = [field.annotation, *get_args(field.annotation)]
        for kind in [*kinds, *(inner for each in kinds for inner in get_args(each))]:
            if isinstance(kind, type) and issubclass(kind, Settings):
                yield from every_setting(kind, f"{prefix}{key}.")


@pytest.mark.parametrize("task", TASKS)
def test_every_setting_of_a_recipe_is_explained(task):
    bare = [name for name, field in every_setting(TASKS[task].Recipe) if not field.description]
    assert not bare, "give these a docstring: `regard init` shows it"


def every_key(settings, prefix=""):
    for key in type(settings).model_fields:
        yield f"{prefix}{key}"
        if isinstance(getattr(settings, key), Settings):
            yield from every_key(getattr(settings, key), f"{prefix}{key}.")


@pytest.mark.parametrize("sets", [[], ["model.kind=rnn"]])
@pytest.mark.parametrize("task", TASKS)
def test_a_written_recipe_holds_every_key_and_reads_back_equal(task, sets, tmp_path):
    recipe = relative_to(example_recipe(task, sets), tmp_path)
    path = tmp_path / "recipe.toml"
    path.write_text(written(recipe), encoding="utf-8")
    assert check(TASKS[task].Recipe, read_toml(path), path) == recipe
    for name in every_key(recipe):
        key = name.rpartition(".")[2]
        assert any(
            line.removeprefix("# ").startswith((f"{key} =", f"[{name}]"))
            for line in path.read_text(encoding="utf-8").splitlines()
        ), name


@given(st.booleans(), st.integers(300, 10**6), st.sampled_from(["word", "bpe", "bytes"]))
def test_settings_survive_writing_and_reading(lowercase, size, kind):
    import tomllib

    settings = TokenizerSettings(kind=kind, size=size, lowercase=lowercase)
    assert TokenizerSettings(**tomllib.loads(written(settings))) == settings


def test_choices_and_meaning_stand_above_a_key():
    text = written(TransformerSettings())
    assert '# LayerNorm, or RMSNorm, which leaves out the mean. One of: "layer", "rms".' in text
    assert "# kv_heads =" in text and "\nheads = 4\n" in text


def test_what_is_there_already_wins_when_a_tree_is_filled():
    assert fill({"a": {"x": 1}, "c": 0}, {"a": {"x": 2, "y": {"z": 3}}, "c": {"d": 1}}) == {
        "a": {"x": 1, "y": {"z": 3}},
        "c": 0,
    }
