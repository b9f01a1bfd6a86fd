"""Two classifiers are compared on what means the same for both, and the rest is told."""

import pytest

from regard.build import new_training
from regard.errors import ConfigError
from regard.run import compare, finish
from regard.tasks.recipe import check_recipe

WORDS = {"good": "great", "bad": "awful", "fair": "fine"}
BAG = {"model": {"kind": "bag"}, "train": {"steps": 0}}
MEAN = {
    "model": {"kind": "mean", "width": 8, "max_length": 5},
    "tokens": {"kind": "word"},
    "train": {"steps": 20, "batch_tokens": 200, "rate": 0.05},
}


@pytest.fixture
def run_of(tmp_path):
    def run(name, labels, tree=BAG, **data):
        rows = [f"it {WORDS[one]} {n} a,it {n},{one}\n" for n in range(40) for one in labels]
        path = tmp_path / f"{name}.csv"
        path.write_text("text,b,label\n" + "".join(rows))
        data = {"path": str(path), "text": "text", "label": "label"} | data
        training = new_training(
            check_recipe({"task": "classify", "data": data, **tree}, "here"), tmp_path / name
        )
        for _ in training.run():
            pass
        return finish(training)

    return run


def test_of_runs_with_different_labels_only_what_means_the_same_is_compared(run_of):
    three, two = run_of("three", WORDS), run_of("two", list(WORDS)[:2])
    found = compare(three, two)
    assert {*found["scores"]} == {"accuracy", "micro_f1"}
    right = found["scores"]["accuracy"]
    assert right["a"] == 100 and right["b"] < 90, "what it does not know it gets wrong"
    assert "Trained on different labels, so only accuracy and micro_f1 can be" in found["notes"][-1]
    alike = compare(three, run_of("again", WORDS))
    assert {"log_loss", "calibration_error", "macro_f1"} < {*alike["scores"]}
    assert not alike["notes"]


def test_texts_that_one_of_two_has_cut_are_told(run_of):
    found = compare(run_of("mean", WORDS, {**MEAN, "keep": "tail"}), run_of("bag", WORDS))
    number = found["examples"]
    told = f"a: {number} texts are longer than the model takes: only their ends were read."
    assert found["notes"] == [told]


def test_runs_that_mean_different_things_by_a_row_are_not_compared(run_of):
    plain = run_of("plain", WORDS)
    with pytest.raises(ConfigError, match=r"first a text has one, in the second '\|' stands"):
        compare(plain, run_of("several", WORDS, separator="|"))
    with pytest.raises(ConfigError, match="one of the two judges a text alone, the other two"):
        compare(plain, run_of("pairs", WORDS, other="b"))
