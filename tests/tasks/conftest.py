"""Tiny language models, each trained once."""

import json

import pytest

LINE = "the cat sat on the mat and the dog ran after the cat.\n"
ANIMALS = [a + b + c for a in "bcdf" for b in "aeiou" for c in "gnpt"]
BOTH = zip(ANIMALS, [*ANIMALS[3:], *ANIMALS[:3]], strict=True)
TEXT = "".join(LINE.replace("cat", a).replace("dog", b) for a, b in BOTH)
SHAPES = {
    "transformer": {"width": 16, "heads": 2, "layers": 1, "max_length": 16},
    "rnn": {"kind": "rnn", "cell": "lstm", "width": 16, "max_length": 16},
}


@pytest.fixture(scope="session")
def language_text(tmp_path_factory):
    """80 lines that differ in two words."""
    path = tmp_path_factory.mktemp("language") / "text.txt"
    path.write_text(TEXT, encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def language_recipe(language_text):
    """A function that makes a tiny recipe: language_recipe("rnn", decode={"max_length": 5})."""
    from regard.tasks.recipe import check_recipe

    def make(kind="transformer", model=None, **more):
        tree = {
            "task": "language_model",
            "data": {"path": str(language_text), "split": [80, 10, 10]},
            "tokens": {"kind": "character"},
            "model": {**SHAPES[kind], **(model or {})},
            "train": {"steps": 6, "batch_tokens": 64, "validate_every": 6},
            "decode": {"max_length": 20},
            "order": 3,
        }
        for name, value in more.items():
            tree[name] = {**tree.get(name, {}), **value} if isinstance(value, dict) else value
        return check_recipe(tree, "here")

    return make


@pytest.fixture(scope="session")
def language_run(language_recipe, tmp_path_factory):
    """A function that gives a finished run of such a recipe; equal ones share it."""
    from regard.run import train

    known = {}

    def run(*given, **more):
        key = json.dumps([given, more], sort_keys=True)
        if key not in known:
            home = tmp_path_factory.mktemp("language-run")
            known[key] = train(language_recipe(*given, **more), out=home / "run")
        return known[key]

    return run
