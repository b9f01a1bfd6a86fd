"""Results that can be had again: each plan is whole, and one is carried out in small."""

import csv
import dataclasses
import gzip
import json
import lzma
import shutil
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from regard.build import new_training
from regard.cli.reproduce import _teachers, reproduce, shortened
from regard.data.splits import place_of, side_of
from regard.errors import ConfigError
from regard.reproduce import claims, labelled, sets
from regard.reproduce.plans import PLANS, RECIPES, recipe_of
from regard.reproduce.sets import Shelf
from regard.run import is_finished
from regard.tasks import find_task
from regard.tasks.pair_data import files
from regard.tasks.recipe import make_recipe, read_recipe

RESULTS = Path(__file__).parents[1] / "bench" / "results"
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
    wanted = {recipe_of(name, part) for name, plan in PLANS.items() for part in plan.parts}
    assert set(RECIPES.glob("*.toml")) == wanted
    for path in RECIPES.glob("*.toml"):
        assert read_recipe(path).train.steps is not None, "a shipped recipe says how long it trains"


NEWEST = {path.stem[11:]: path for path in sorted(RESULTS.glob("*.json"))}  # names begin with dates


@pytest.mark.parametrize("path", NEWEST.values(), ids=lambda path: path.stem)
def test_a_recipe_with_a_result_opens_with_its_command_time_and_newest_score(path):
    result = json.loads(path.read_text(encoding="utf-8"))
    for row in result["results"] if result["name"] in PLANS else ():
        if row["model"] in PLANS[result["name"]].parts:
            opening = recipe_of(result["name"], row["model"]).read_text().partition("\ntask")[0]
            assert opening.startswith(f"# regard reproduce {result['name']}")
            assert f"{row['seconds'] / 60:.1f} minutes" in opening or "seconds" in opening
            scores = [f"{score['value']:.1f}" for score in row["scores"].values()]
            assert any(score in opening for score in scores) or "all of" in opening


def test_rows_made_up_are_turned_around_and_in_one_file_only(tmp_path, monkeypatch):
    monkeypatch.setattr(sets, "ROWS", {"path": 300, "validation": 20, "test": 30})
    files = sets.reversed_rows(Shelf(None, tmp_path / "data"))
    rows = {side: Path(path).read_text().splitlines() for side, path in files.items()}
    assert {side: len(lines) for side, lines in rows.items()} == sets.ROWS
    pairs = [line.split("\t") for lines in rows.values() for line in lines]
    assert all(target.split() == source.split()[::-1] for source, target in pairs)
    assert len({source for source, _ in pairs}) == len(pairs)
    assert max(len(source.split()) for source, _ in pairs) == sets.LONGEST


@contextmanager
def few_rows_and_steps(home):
    """The plan "reverse" in small, in this folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(home)
        patch.setattr(sets, "ROWS", {"path": 120, "validation": 20, "test": 20})
        patch.setattr("regard.reproduce.plans.RECIPES", home)
        networks = {"transformer": "model.heads = 2\n", "additive": 'model.kind = "rnn"\n'}
        for part, more in networks.items():
            (home / f"reverse-{part}.toml").write_text(SMALL + more)
        yield CliRunner().invoke


@pytest.fixture
def small_plan(tmp_path):
    with few_rows_and_steps(tmp_path) as invoke:
        yield invoke


@pytest.fixture(scope="module")
def trained_once(tmp_path_factory):
    home = tmp_path_factory.mktemp("trained")
    with few_rows_and_steps(home) as invoke:
        return home, invoke(reproduce, ["reverse"])


@pytest.fixture
def trained_plan(trained_once, small_plan, tmp_path):
    """The same, trained already."""
    shutil.copytree(trained_once[0] / "runs", tmp_path / "runs")
    return small_plan


def test_a_plan_trains_is_held_against_its_claims_and_written_down(trained_once):
    home, done = trained_once
    assert done.exit_code == 1, "six steps teach nothing, and that is said"
    assert done.stdout.count("DOES NOT HOLD") == 3 and "anti-diagonal" in done.stdout
    assert done.stdout.count("holds") == 2, "in less than ten minutes"
    (path,) = (home / "bench" / "results").iterdir()
    result = json.loads(path.read_text(encoding="utf-8"))
    assert path.name == f"{result['date']}-reverse.json"
    models = [row["model"] for row in result["results"]]
    assert models[0] == "additive" and "transformer: copy the source" in models
    assert all(row["scores"]["exact_match"]["signature"] for row in result["results"])
    assert result["results"][0]["split"] == "test part, 20 inputs" and result["seconds"] > 0
    assert result["command"] == "regard reproduce reverse --data-dir DATA" and result["hardware"]
    assert str(home) not in path.read_text(encoding="utf-8")


def test_of_a_long_sample_only_the_beginning_is_written_down():
    assert shortened("a" * 120) == "a" * 120
    assert shortened("a" * 500) == "a" * 119 + "…"


def test_what_is_finished_is_not_trained_again(trained_plan, tmp_path):
    before = (tmp_path / "runs/reverse/additive/run.json").stat().st_mtime_ns
    again = trained_plan(reproduce, ["reverse", "--json"])
    assert len(json.loads(again.stdout)["claims"]) == 5
    assert (tmp_path / "runs/reverse/additive/run.json").stat().st_mtime_ns == before


def test_the_list_and_a_name_that_is_not_on_it():
    lines = CliRunner().invoke(reproduce, []).stdout.splitlines()
    listed = json.loads(CliRunner().invoke(reproduce, ["--json"]).stdout)["plans"]
    assert [line.split()[0] for line in lines] == list(listed) == list(PLANS)
    assert len({line.index(about) for line, about in zip(lines, listed.values(), strict=True)}) == 1
    refused = CliRunner().invoke(reproduce, ["revers"])
    assert 'Did you mean "reverse"?' in str(refused.exception)


def test_a_run_of_another_recipe_is_not_taken_for_it(trained_plan, tmp_path):
    path = tmp_path / "reverse-additive.toml"
    path.write_text(path.read_text() + "train.rate = 0.5\n")
    refused = trained_plan(reproduce, ["reverse"])
    assert "trained by another version of this recipe" in str(refused.exception)


def test_a_stopped_run_of_another_recipe_is_not_trained_on(small_plan, tmp_path, monkeypatch):
    recipe = read_recipe(tmp_path / "reverse-additive.toml")
    data = sets.reversed_rows(Shelf(None, tmp_path / "runs/reverse/data"))
    ours = recipe.model_copy(update={"data": recipe.data.model_copy(update=data), "seed": 7})
    new_training(ours, tmp_path / "runs/reverse/additive")
    refused = small_plan(reproduce, ["reverse"])
    assert "trained by another version of this recipe" in str(refused.exception)
    assert not (tmp_path / "runs/reverse/additive/checkpoints").exists()


def test_a_stopped_run_goes_on(small_plan, tmp_path):
    recipe = read_recipe(tmp_path / "reverse-additive.toml")
    data = sets.reversed_rows(Shelf(None, tmp_path / "runs/reverse/data"))
    ours = recipe.model_copy(update={"data": recipe.data.model_copy(update=data)})
    new_training(ours, tmp_path / "runs/reverse/additive")
    done = small_plan(reproduce, ["reverse", "--json"])
    assert done.exit_code == 1
    assert len(json.loads(done.stdout)["claims"]) == 5, "tables of the training are talk"
    assert is_finished(tmp_path / "runs/reverse/additive")


# Data of the other plans


@pytest.fixture
def shelf(tmp_path):
    """A folder with some lines of each data set, in the form that it is handed out in."""
    folder = tmp_path / "sets"
    write_files(folder, FILES)
    return Shelf(folder, tmp_path / "home")


FILES = {
    "multi30k/train.de.gz": "Ein Hund.\n" * 3,
    "multi30k/train.en.gz": "A dog.\n" * 3,
    "multi30k/val.de.gz": "Eine Katze.\n",
    "multi30k/val.en.gz": "A cat.\n",
    "cmudict-0.7b/train.tsv.gz": "A\tAH\nBE\tB IY\n",
    "cmudict-0.7b/dev.tsv.gz": "A\tEY\nSEE\tS IY\n",
    "imdb/train.tsv.xz": "id\tlabel\trating\ttext\n"
    + "".join(
        f"train/{'np'[label]}/{i}_1\t{label}\t1\tA film, {i}.\n"
        for i in range(9)
        for label in (0, 1)
    ),
    "trec-qc/train.tsv.gz": "coarse\tfine\tquestion\n"
    + "".join(f"{'AB'[i % 2]}\tx\tWhat is {i} ?\n" for i in range(200)),
    "mrpc/train.tsv.gz": "Quality\t#1 ID\t#2 ID\t#1 String\t#2 String\n"
    + "".join(f'{i % 2}\t{i}\t{i}\tHe said "{i // 2}.\tShe did {i // 3}.\n' for i in range(600)),
    "20newsgroups-bydate/train.jsonl.xz": "".join(
        json.dumps({"id": i, "label": "ab"[i % 2], "text": f"From: {i}\n\nHi."}) + "\n"
        for i in range(200)
    ),
    "sst2/train.tsv.gz": "label\tsentence\n"
    + "".join(
        f"{i % 2}\ta film {i} of charm{(' .', ' ! ' + chr(39), '')[i % 3]} \n{i % 2}\tfilm {i} \n"
        for i in range(300)
    ),
    "tinyshakespeare/train.txt.gz": "ROMEO:\n",
    "imdb/unsup.tsv.xz": "id\tlabel\trating\ttext\n0_0\t-1\t0\tA good film.\n",
    "brown/train.tagged.xz": (
        "# doc ca01 news\nThe/at end/nn ./.\n\n# doc ca02 news\n1/2/cd It/pps\n"
    ),
    "tatoeba-eng-spa/pairs.tsv.gz": "Hi.\tHola.\n",
    "tatoeba-eng-fra/pairs.tsv.gz": "".join(f"Go {i}.\tVa {i} !\n" for i in range(400)),
    "aeslc/train.jsonl.xz": json.dumps({"body": "Come.", "subject": "Lunch"}) + "\n",
    "aeslc/dev.jsonl.xz": json.dumps(
        {"body": "Go.", "subject": "No", "ann0": "one", "ann1": "two", "ann2": " "}
    ),
    "chitchat/train.jsonl.xz": json.dumps({"turns": [["Hi!"], ["Hello.", "You?"]]}) + "\n",
}


def write_files(folder, files):
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        pack = gzip.compress if path.suffix == ".gz" else lzma.compress
        path.write_bytes(pack(text.encode()))


@pytest.mark.parametrize("name", PLANS)
def test_the_data_of_every_plan_fit_its_recipes(shelf, name, monkeypatch):
    monkeypatch.setattr(sets, "ROWS", {"path": 120, "validation": 20, "test": 20})
    monkeypatch.setattr(labelled, "HELD_OUT", 2)
    monkeypatch.setattr(labelled, "MADE_UP", {"path": 20, "validation": 5, "test": 5})
    plan = PLANS[name]
    for part in plan.parts:
        recipe, _ = make_recipe(recipe_of(name, part), tree={"data": plan.data_of(part, shelf)})
        kind = find_task(recipe.task)
        for paths in (recipe.data.path, recipe.data.validation, recipe.data.test):
            assert paths is None or len(kind.read_file(recipe, files(paths)).examples)


def test_words_that_are_trained_on_are_not_tested(shelf):
    found = sets.pronunciations(shelf)
    assert Path(found["test"]).read_text() == "SEE\tS IY\n"


def test_french_is_drawn_by_its_english_sentence(shelf):
    found = sets.french_english(shelf)
    rows = {side: Path(path).read_text().splitlines() for side, path in found.items()}
    assert sum(map(len, rows.values())) == 400 and all(rows.values())
    assert 2 <= len(rows["test"]) <= 20, "no sentence here ends in a full stop on both sides"
    for side, lines in rows.items():
        for line in lines:
            assert sets.SIDES[side_of(place_of(line.split("\t")[1]), sets.SHARES)] == side


def test_some_french_sentences_train_without_their_full_stop_too(shelf):
    lines = "".join(f"I go {i}.\tJe vais {i // 2}.\n" for i in range(400))
    write_files(shelf.folder, {"tatoeba-eng-fra/pairs.tsv.gz": lines})
    found = sets.french_english(shelf)
    rows = {side: Path(path).read_text().splitlines() for side, path in found.items()}
    without = [row.split("\t") for row in rows["path"] if not row.endswith(".")]
    assert 20 < len(without) < 90 and all(f"{a}.\t{b}." in rows["path"] for a, b in without)
    held_out = [row.split("\t")[0] for side in ("validation", "test") for row in rows[side]]
    assert all(french.endswith(".") for french in held_out)
    assert not {f"{french}." for french, _ in without} & set(held_out), "nor is it trained on so"


def test_subjects_are_held_against_those_that_people_wrote(shelf):
    (line,) = Path(sets.mail_subjects(shelf)["test"]).read_text().splitlines()
    assert json.loads(line) == {"body": "Go.", "subject": ["one", "two"]}


def test_the_brown_corpus_is_read_without_tags_in_the_order_of_a_hash(shelf):
    text = Path(sets.brown_text(shelf)["path"]).read_text()
    names = ["# doc ca01 news", "# doc ca02 news"]
    first = {names[0]: "The end .\n", names[1]: "1/2 It\n"}
    assert text == "\n".join(first[name] for name in sorted(names, key=place_of)) + "\n"


def rows_of(path):
    with Path(path).open(encoding="utf-8", newline="") as file:
        return [tuple(row) for row in csv.reader(file)][1:]


def test_reviews_with_the_highest_numbers_of_each_class_are_reported_on(shelf, monkeypatch):
    monkeypatch.setattr(labelled, "HELD_OUT", 2)
    found = labelled.film_reviews(shelf)
    told = {side: {row[0] for row in rows_of(found[side])} for side in sets.SIDES}
    assert told["test"] == {"A film, 7.", "A film, 8."}
    assert told["validation"] == {"A film, 5.", "A film, 6."}
    assert len(rows_of(found["path"])) == 10


def test_every_question_is_tested_once_and_never_where_it_is_trained_on(shelf):
    tested = []
    for fold in range(labelled.FOLDS):
        found = labelled.questions(shelf, fold)
        sides = [[row[0] for row in rows_of(found[side])] for side in sets.SIDES]
        assert all(sides) and not set(sides[2]) & {*sides[0], *sides[1]}
        tested += sides[2]
    assert sorted(tested) == sorted(f"What is {i} ?" for i in range(200))


def test_no_sentence_of_a_pair_is_on_two_sides(shelf):
    """Pairs share sentences: he says the same in two of them, and she does in three."""
    tested = 0
    for fold in range(labelled.FOLDS):
        found = labelled.paraphrases(shelf, fold)
        sides = [{text for row in rows_of(found[side]) for text in row[:2]} for side in sets.SIDES]
        assert all(sides)
        assert not any(sides[a] & sides[b] for a, b in ((0, 1), (0, 2), (1, 2)))
        tested += len(rows_of(found["test"]))
    assert tested == 600


def test_a_text_is_written_as_it_is_whatever_breaks_its_lines(shelf):
    rows = [("a\rb", "x"), ('c\r\n"d"', "y"), (" e,\n", "z")]
    found = labelled.written(shelf, "odd", ("text", "label"), {"path": rows})
    assert rows_of(found["path"]) == rows


def test_no_phrase_of_a_held_out_sentence_is_trained_on(shelf):
    found = labelled.phrases(shelf)
    train, *held_out = ([row[0] for row in rows_of(found[side])] for side in sets.SIDES)
    assert all(held_out) and len(train) > 350
    for sentence in (*held_out[0], *held_out[1]):
        assert sentence.startswith("a film"), "only whole sentences are reported on"
        assert sentence.endswith((".", "! '")), "and such that have an end"
        assert not any(f" {text} " in f" {sentence} " for text in train)


def test_only_the_order_of_two_words_tells_who_is_first(shelf, monkeypatch):
    monkeypatch.setattr(labelled, "MADE_UP", {"path": 300, "validation": 20, "test": 30})
    found = labelled.who_is_first(shelf)
    rows = [row for side in sets.SIDES for row in rows_of(found[side])]
    assert len({text for text, _ in rows}) == len(rows) == 350
    for text, label in rows:
        words = text.split()
        man, dog = words.index("man"), words.index("dog")
        assert label == ("man" if man < dog else "dog")
        assert abs(man - dog) > 1 and 0 < min(man, dog) and max(man, dog) < len(words) - 1
    assert 120 < sum(label == "man" for _, label in rows) < 230


def test_few_reviews_are_some_of_all_and_the_test_is_the_same(shelf, monkeypatch):
    monkeypatch.setattr(labelled, "HELD_OUT", 2)
    every, few = labelled.film_reviews(shelf), labelled.film_reviews(shelf, "begun-3")
    assert len(rows_of(few["path"])) == 3
    assert set(rows_of(few["path"])) < set(rows_of(every["path"]))
    for side in ("validation", "test"):
        assert rows_of(few[side]) == rows_of(every[side])


def test_a_bag_that_learns_alone_has_labels_alone(shelf, monkeypatch):
    monkeypatch.setattr(labelled, "HELD_OUT", 2)
    plan = PLANS["imdb-bag"]
    for part in plan.parts:
        assert ("unlabelled" in plan.data_of(part, shelf)) == (not part.endswith("-alone"))
        assert recipe_of("imdb-bag", part) == recipe_of("imdb-bag", part.removesuffix("-alone"))


# Runs of other plans


def test_a_teacher_that_is_not_there_is_told_and_done_without(tmp_path, capsys):
    plan, lstm = PLANS["imdb-bag"], tmp_path / "lstm"
    assert _teachers("nbsvm", plan, {"lstm": lstm}) == [str(lstm)]
    assert "nbsvm would be taught by the runs of imdb-transformer, too" in capsys.readouterr().err
    both = {"lstm": lstm, "transformer": tmp_path}
    assert _teachers("nbsvm", plan, both) == [str(lstm), str(tmp_path)]
    assert capsys.readouterr().err == ""


def test_a_run_of_another_plan_is_asked_for_and_used(trained_plan, tmp_path, monkeypatch):
    plan = PLANS["reverse"]
    after = dataclasses.replace(
        plan, parts=("transformer",), claims=(), uses={"before": "reverse/additive"}
    )
    monkeypatch.setitem(PLANS, "after", after)
    (tmp_path / "after.toml").write_text(SMALL + "model.heads = 2\n")
    refused = trained_plan(reproduce, ["after", "--out", "elsewhere/after"])
    assert "is needed first" in str(refused.exception)
    assert "regard reproduce reverse --out" in str(refused.exception)
    done = json.loads(trained_plan(reproduce, ["after", "--json"]).stdout)
    assert [row["model"] for row in done["results"] if ":" not in row["model"]] == [
        "before",
        "transformer",
    ]


def test_every_run_that_a_plan_uses_is_made_by_another():
    for plan in PLANS.values():
        for name, folder in plan.uses.items():
            other, part = folder.split("/")
            assert part in PLANS[other].parts and name not in plan.parts
        assert set(plan.begins.values()) <= set(plan.uses) and set(plan.begins) <= set(plan.parts)


def test_data_that_are_not_there_are_asked_for(tmp_path):
    for folder, problem in ((None, "--data-dir, or in REGARD_DATA"), (tmp_path, "no such file")):
        with pytest.raises(ConfigError, match=problem):
            Shelf(folder, tmp_path).file("multi30k/train.de.gz")


# Claims


def run_with(**scores):
    test = {
        "scores": {n: {"value": v, "low": v, "high": v} for n, v in scores.items()},
        "baselines": [
            {"name": "lead sentence", "scores": {"rougeL": {"value": 10.0}, "wer": {"value": 90.0}}}
        ],
    }
    return SimpleNamespace(
        facts={"test": test, "seconds": 600.0},
        predict=lambda texts: ["calm"],
        baselines=dict,
        task=SimpleNamespace(known=lambda baselines, texts: [True]),
    )


@pytest.mark.parametrize(
    ("claim", "holds"),
    [
        (claims.score("one", "bleu", 30), True),
        (claims.score("one", "bleu", 30.1), False),
        (claims.score("one", "wer", 25), True),
        (claims.score("one", "wer", 24), False),
        (claims.by_chance("one", "bleu", 30), True),
        (claims.by_chance("one", "bleu", 31), False),
        (claims.within("one", 10), True),
        (claims.within("one", 9.9), False),
        (claims.says("one", "calme", "still", "calm"), True),
        (claims.says("one", "calme", "still"), False),
        (claims.above_baselines("one", "rougeL", "lead"), True),
        (claims.above_baselines("one", "wer", "lead"), True),
        (claims.above_baselines("one", "rougeL", "nearest"), False),
        (claims.stated("one", "rougeL"), True),
    ],
)
def test_a_claim_is_held_against_what_came_out(claim, holds):
    found, held = claim.judge({"one": run_with(bleu=30.0, wer=25.0, rougeL=12.0)})
    assert held == holds and found
    assert claims.goal(claim).must is False and "a goal" in claims.goal(claim).says


@pytest.mark.parametrize(
    ("metric", "difference", "low", "holds"),
    [
        ("bleu", 2.0, 1.0, True),
        ("bleu", 2.0, -1.0, False),
        ("wer", 2.0, 1.0, False),
        ("wer", -2.0, -4.0, True),
        ("wer", -2.0, -3.0, False),
    ],
)
def test_better_means_by_more_than_chance(monkeypatch, metric, difference, low, holds):
    high = low + 3.0
    found = {"difference": difference, "low": low, "high": high, "significant": low * high > 0}
    for known in (0, 1):
        both = {"scores": {metric: found}, "in_training": {"a": 0, "b": known}}
        monkeypatch.setattr(claims, "compare", lambda a, b, both=both: both)
        judged = claims.better("a", "b", metric).judge({"a": None, "b": None})
        assert judged[1] == (holds and not known)


def test_what_was_trained_on_is_told():
    found, _ = claims.says("one", "calme", "calm").judge({"one": run_with()})
    assert found == "'calm', was trained on"


def test_a_run_on_other_data_is_not_taken_for_it(small_plan, tmp_path, monkeypatch):
    recipe = read_recipe(tmp_path / "reverse-additive.toml")
    data = sets.reversed_rows(Shelf(None, tmp_path / "elsewhere"))
    ours = recipe.model_copy(update={"data": recipe.data.model_copy(update=data)})
    new_training(ours, tmp_path / "runs/reverse/additive")
    monkeypatch.setattr(sets, "ROWS", {"path": 119, "validation": 20, "test": 20})
    assert "or on other data" in str(small_plan(reproduce, ["reverse"]).exception)
