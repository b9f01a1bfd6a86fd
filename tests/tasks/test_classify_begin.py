"""Classifiers that begin with a GPT of ours: with its tokens and weights, or its tokens alone."""

import pytest
import torch

from regard.reproduce.plans import recipe_of
from regard.tasks.classify import Classify
from regard.tasks.recipe import check_recipe
from regard.toml import read_toml

SHAPE = {"width": 16, "heads": 2, "layers": 1, "max_length": 16, "causal": True}


@pytest.fixture
def task(language_run, tmp_path):
    path = tmp_path / "labels.csv"
    path.write_text("text,label\n" + "".join(f"the cat {n},{n % 2}\n" for n in range(60)))

    def made(begin_with, run=None):
        tree = {
            "task": "classify",
            "data": {"path": str(path), "text": "text", "label": "label"},
            "begin": str((run or language_run()).folder),
            "begin_with": begin_with,
            "tokens": {"kind": "character"},
            "model": SHAPE,
            "train": {"steps": 2},
        }
        recipe = check_recipe(tree, "here")
        return Classify.fit(recipe, Classify.read(recipe).train)

    return made


@pytest.mark.parametrize("begin_with", ["weights", "tokens"])
def test_tokens_are_taken_over_and_weights_where_they_are_asked_for(task, language_run, begin_with):
    torch.manual_seed(1)
    run, begun = language_run(), task(begin_with)
    network = begun.network()
    begun.begin(network, [])
    assert begun.tokenizer.as_json() == run.task.tokenizer.as_json()
    ours, theirs = network.get_submodule("body.stack").state_dict(), run.network.state_dict()
    assert ours.keys() == theirs.keys()
    same = all(torch.equal(ours[name], theirs[name]) for name in ours)
    assert same is (begin_with == "weights")


def test_a_table_that_scores_next_tokens_alone_is_left_behind(task, language_run):
    run = language_run(model={"tied": False})
    begun = task("weights", run)
    network = begun.network()
    begun.begin(network, [])
    theirs = run.network.state_dict()
    assert theirs.pop("embed.judge.weight") is not None
    ours = network.get_submodule("body.stack").state_dict()
    assert ours.keys() == theirs.keys()
    assert all(torch.equal(ours[name], theirs[name]) for name in ours)


def test_the_recipes_with_and_without_a_gpt_differ_in_nothing_else():
    begun, scratch = (
        read_toml(recipe_of("gpt-classify", part)) for part in ("begun-500", "scratch-500")
    )
    assert scratch.pop("begin_with") == "tokens" and begun == scratch
