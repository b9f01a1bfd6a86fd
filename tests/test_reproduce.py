"""Results that can be had again: each plan is whole, and one is carried out in small."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from regard.cli.reproduce import reproduce
from regard.reproduce import sets
from regard.reproduce.plans import PLANS, RECIPES
from regard.tasks.recipe import read_recipe

SMALL = """\
task = "transduce"
metrics = ["exact_match"]
data.path = "path.tsv"
source.kind = "word"
model.width = 16
train.steps = 6
train.validate_every = 3
"""


def test_every_part_of_a_plan_has_a_recipe_and_every_recipe_a_plan():
    wanted = {f"{name}-{part}" for name, plan in PLANS.items() for part in plan.parts}
    assert {path.stem for path in RECIPES.glob("*.toml")} == wanted
    for path in RECIPES.glob("*.toml"):
        assert read_recipe(path).train.steps, "a shipped recipe says how long it trains"


def test_rows_made_up_are_turned_around_and_in_one_file_only(tmp_path, monkeypatch):
    monkeypatch.setattr(sets, "ROWS", {"path": 300, "validation": 20, "test": 30})
    files = sets.reversed_rows(tmp_path / "data")
    rows = {side: Path(path).read_text().splitlines() for side, path in files.items()}
    assert {side: len(lines) for side, lines in rows.items()} == sets.ROWS
    pairs = [line.split("\t") for lines in rows.values() for line in lines]
    assert all(target.split() == source.split()[::-1] for source, target in pairs)
    assert len({source for source, _ in pairs}) == len(pairs)
    assert max(len(source.split()) for source, _ in pairs) == sets.LONGEST


@pytest.fixture
def small_plan(tmp_path, monkeypatch):
    """The plan "reverse" with few rows and few steps."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sets, "ROWS", {"path": 120, "validation": 20, "test": 20})
    monkeypatch.setattr("regard.reproduce.plans.RECIPES", tmp_path)
    networks = {"transformer": "model.heads = 2\n", "additive": 'model.kind = "rnn"\n'}
    for part, more in networks.items():
        (tmp_path / f"reverse-{part}.toml").write_text(SMALL + more)
    return CliRunner().invoke


def test_a_plan_trains_is_held_against_its_claims_and_written_down(small_plan, tmp_path):
    done = small_plan(reproduce, ["reverse"])
    assert done.exit_code == 1, "six steps teach nothing, and that is said"
    assert done.stdout.count("DOES NOT HOLD") == 3 and "anti-diagonal" in done.stdout
    (path,) = (tmp_path / "bench" / "results").iterdir()
    result = json.loads(path.read_text(encoding="utf-8"))
    assert path.name == f"{result['date']}-reverse.json"
    assert list(result["runs"]) == ["additive", "transformer"]
    assert result["command"] == "regard reproduce reverse" and result["hardware"]
    assert not any(claim["holds"] for claim in result["claims"])
    assert str(tmp_path) not in path.read_text(encoding="utf-8")


def test_what_is_finished_is_not_trained_again(small_plan, tmp_path):
    first = small_plan(reproduce, ["reverse", "--json"])
    assert len(json.loads(first.stdout)["claims"]) == 3, "tables of the training are talk"
    before = (tmp_path / "runs/reverse/additive/run.json").stat().st_mtime_ns
    again = small_plan(reproduce, ["reverse", "--json"])
    assert json.loads(again.stdout)["name"] == "reverse"
    assert (tmp_path / "runs/reverse/additive/run.json").stat().st_mtime_ns == before


def test_the_list_and_a_name_that_is_not_on_it():
    assert "reverse" in CliRunner().invoke(reproduce, []).stdout
    refused = CliRunner().invoke(reproduce, ["revers"])
    assert 'Did you mean "reverse"?' in str(refused.exception)


def test_a_run_of_another_recipe_is_not_taken_for_it(small_plan, tmp_path):
    small_plan(reproduce, ["reverse"])
    path = tmp_path / "reverse-additive.toml"
    path.write_text(path.read_text() + "train.rate = 0.5\n")
    refused = small_plan(reproduce, ["reverse"])
    assert "trained by another version of this recipe" in str(refused.exception)
