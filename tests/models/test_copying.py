import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.errors import RunError
from regard.models.copying import Copying
from regard.models.predictor import Predictor
from regard.names import Prediction

patient = settings(deadline=None, max_examples=60)  # a busy machine proves nothing


@patient
@given(st.lists(st.text()), st.lists(st.tuples(st.text(), st.text()), max_size=3))
def test_every_input_is_its_own_answer_whatever_the_pairs(inputs, pairs):
    assert Copying.fit(pairs).predict(inputs) == [Prediction(text, text) for text in inputs]


def test_it_is_a_predictor_with_a_name_for_tables():
    model: Predictor = Copying.fit([("a", "b")])
    assert model.name == "copy the source"


def test_saving_and_loading_round_trips(tmp_path):
    folder = tmp_path / "run" / "baseline"
    Copying.fit([("a", "b")]).save(folder)
    assert [path.name for path in folder.iterdir()] == ["copying.json"]
    assert Copying.load(folder).predict(["cat"]) == [Prediction("cat", "cat")]


def test_a_baseline_that_got_lost_is_noticed(tmp_path):
    with pytest.raises(RunError, match="copying.json: missing. .* copied whole"):
        Copying.load(tmp_path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"baseline": "nearest"}', "not a saved baseline: expected .* found 'nearest' there"),
        ("{}", "not a saved baseline: expected .* found None there"),
        ("[]", "damaged or not readable: expected an object"),
        ('{"base', "damaged or not readable"),
    ],
    ids=["another", "empty", "list", "cut"],
)
def test_a_broken_file_is_named(tmp_path, text, message):
    (tmp_path / "copying.json").write_text(text, encoding="utf-8")
    with pytest.raises(RunError, match=f"copying.json: {message}"):
        Copying.load(tmp_path)
