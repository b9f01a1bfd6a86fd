"""What a finished run says of itself, on its card, on its page and in the terminal."""

import pytest
from click.testing import CliRunner

from regard.build import new_training
from regard.cli.evaluate import MOST_CLASSES, evaluate, show_classes
from regard.run import finish
from regard.tasks.recipe import check_recipe

MODELS = {
    "bag": {"model": {"kind": "bag"}, "train": {"steps": 0}},
    "mean": {
        "model": {"kind": "mean", "width": 8, "max_length": 10},
        "tokens": {"kind": "word"},
        "train": {"steps": 30, "rate": 0.05, "validate_every": 10},
    },
}


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    home, found = tmp_path_factory.mktemp("telling"), {}
    words = {"good": "great", "bad": "awful"}
    table = home / "table.csv"
    rows = [f"it was {words[label]} {n},{label}\n" for n in range(60) for label in words]
    table.write_text("text,label\n" + "".join(rows))
    for name, tree in MODELS.items():
        tree = {"task": "classify", "data": {"path": str(table)}, **tree}
        training = new_training(check_recipe(tree, "here"), home / name)
        for _ in training.run():
            pass
        found[name] = training, finish(training)
    return found


def test_the_best_weights_are_known_by_their_step_and_validation(runs):
    training, run = runs["mean"]
    step = training.progress.best_step
    (scores,) = [line["validation"] for line in training.log()
                 if "validation" in line and line["step"] == step]  # fmt: skip
    assert run.facts["kept"] == {"step": step, "validation": scores}
    assert scores["loss"] == training.progress.best
    for file in ("README.md", "report.html"):
        assert f"those of step {step:,} (validation: loss " in (run.folder / file).read_text()


def test_a_bag_has_learned_at_once_and_kept_no_step(runs):
    _, run = runs["bag"]
    assert "kept" not in run.facts
    card = (run.folder / "README.md").read_text()
    assert "learned at once" in card and "weights tfidf" in card and "optimizer" not in card


@pytest.mark.parametrize("name", MODELS)
def test_labels_and_judgements_are_on_the_card_and_on_the_page(runs, name):
    folder = runs[name][1].folder
    card, page = ((folder / file).read_text() for file in ("README.md", "report.html"))
    assert "## Each label" in card and "](judgements.png)" in card
    assert '"judgements":"data:image/png;base64,' in page


def a_class(number, texts=2):
    rates = {"precision": 50.0, "recall": 50.0, "f1": float(number)}
    return {"label": f"class {number}", "texts": texts, **rates}


def test_of_many_classes_the_worst_are_shown_and_the_others_counted(capsys):
    classes = [a_class(n) for n in range(50, 0, -1)] + [a_class(0, texts=0)]
    show_classes({"details": {"classes": classes}})
    _, head, *rows, more, never = capsys.readouterr().out.splitlines()
    assert head.split()[0] == "class" and len(rows) == MOST_CLASSES
    assert [row.split()[1] for row in rows] == [str(n) for n in range(1, MOST_CLASSES + 1)]
    assert more == "30 more labels are left out, whose F1 is no lower."
    assert never.startswith("1 labels are left out, which none of these texts has.")


def test_of_few_classes_all_are_shown_in_their_order(runs):
    done = CliRunner().invoke(evaluate, [str(runs["bag"][1].folder)])
    names = [line.split()[0] for line in done.stdout.split("\nclass ")[1].splitlines()[1:3]]
    assert names == ["bad", "good"] and "left out" not in done.stdout
