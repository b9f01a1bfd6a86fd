import json
import subprocess
import sys
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.errors import DataError, RunError
from regard.models import nearest
from regard.models.nearest import Nearest
from regard.names import Prediction

patient = settings(deadline=None, max_examples=60)  # a busy machine proves nothing

PAIRS = [
    ("cat", "K AE T"),
    ("cats", "K AE T S"),
    ("dog", "D AO G"),
    ("dogs", "D AO G Z"),
    ("cat", "K AA T"),
    ("naïve", "N AY IY V"),
]
texts = st.text(max_size=8)


def test_a_known_source_answers_with_its_own_target():
    sources = ["dogs", "dog", "cats", "naïve"]
    assert Nearest.fit(PAIRS).predict(sources) == [
        Prediction("dogs", "D AO G Z"),
        Prediction("dog", "D AO G"),
        Prediction("cats", "K AE T S"),
        Prediction("naïve", "N AY IY V"),
    ]


def test_an_unknown_source_answers_with_the_target_of_its_nearest():
    outputs = [p.output for p in Nearest.fit(PAIRS).predict(["doggy", "catso", "nave"])]
    assert outputs == ["D AO G", "K AE T S", "N AY IY V"]


def test_sentences_are_compared_as_words_are():
    pairs = [
        ("Ein Hund läuft durch den Schnee.", "A dog runs through the snow."),
        ("Zwei Männer kochen in einer Küche.", "Two men cook in a kitchen."),
        ("Ein Kind spielt mit einem Ball.", "A child plays with a ball."),
    ]
    inputs = ["Drei Männer in einer großen Küche.", "Im Schnee läuft ein schwarzer Hund."]
    outputs = [p.output for p in Nearest.fit(pairs).predict(inputs)]
    assert outputs == ["Two men cook in a kitchen.", "A dog runs through the snow."]


def test_the_earliest_of_equal_sources_wins():
    assert Nearest.fit(PAIRS).predict(["cat"])[0].output == "K AE T"
    assert Nearest.fit(PAIRS[::-1]).predict(["cat"])[0].output == "K AA T"


def test_rounding_does_not_decide_between_equals():
    random = Random(0)
    words = ["".join(random.choices("abcdef", k=8)) for _ in range(40)]
    halves = ["".join(random.choices("abcdef", k=4)) for _ in range(60)]
    model = Nearest.fit([(word, "early") for word in words] + [(w[::-1], "late") for w in words])
    palindromes = [half + half[::-1] for half in halves]  # as near to a word as to its reverse
    assert {p.output for p in model.predict(palindromes)} == {"early"}


@pytest.mark.parametrize("text", ["", " ", "\n\t", "東京", "0"])
def test_an_input_that_shares_nothing_gets_the_earliest_target(text):
    assert Nearest.fit(PAIRS[2:]).predict([text]) == [Prediction(text, "D AO G")]


def test_blank_sources_among_others_are_no_problem():
    model = Nearest.fit([("", "nothing"), *PAIRS])
    assert [p.output for p in model.predict(["dog", ""])] == ["D AO G", "nothing"]


@patient
@given(st.lists(st.tuples(st.text("abc", min_size=1, max_size=5), texts), min_size=1, max_size=9))
def test_the_answer_has_the_highest_cosine_computed_the_slow_way(pairs):
    model = Nearest.fit(pairs)
    for text in ["ab", "cab", "aabb"]:
        query = model.vectorizer.transform([text]).toarray()[0]
        cosines = [float(query @ row) for row in model.sources.toarray()]
        answer = model.predict([text])[0].output
        assert answer == pairs[int(np.argmax(np.array(cosines) > max(cosines) - 2e-6))][1]


def test_predicting_in_pieces_changes_nothing(monkeypatch):
    words = ["cat", "dug", "cots", "", "gods", "vein", "a"] * 3
    whole = Nearest.fit(PAIRS).predict(words)
    monkeypatch.setattr(nearest, "CELLS_AT_ONCE", 1)
    assert Nearest.fit(PAIRS).predict(words) == whole
    assert [p.input for p in whole] == words


def test_no_inputs_give_no_predictions():
    assert Nearest.fit(PAIRS).predict([]) == []


@patient
@given(pairs=st.lists(st.tuples(texts, texts), max_size=6))
def test_saving_and_loading_round_trips_whatever_the_text(tmp_path_factory, pairs):
    model, folder = Nearest.fit([("x", "y"), *pairs]), tmp_path_factory.mktemp("run") / "baseline"
    model.save(folder)
    again = Nearest.load(folder)
    assert again.pairs == model.pairs
    inputs = [source for source, _ in pairs] + ["a", "x "]
    assert again.predict(inputs) == model.predict(inputs)


def test_the_saved_file_is_readable_json_lines(tmp_path):
    Nearest.fit(PAIRS).save(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["pairs.jsonl"]
    lines = (tmp_path / "pairs.jsonl").read_text(encoding="utf-8").splitlines()
    assert [tuple(json.loads(line).values()) for line in lines] == PAIRS
    assert "naïve" in lines[-1]


@pytest.mark.parametrize("pairs", [[], [("", "a"), (" \n", "b")]], ids=["none", "blank"])
def test_nothing_to_learn_from_is_refused(pairs):
    with pytest.raises(DataError, match=f"nothing to learn from: found {len(pairs)} pairs"):
        Nearest.fit(pairs)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            '{"source": "a", "target": "b"}\n{"source": "c", "targ',
            r"pairs.jsonl:2: expected .* cut",
        ),
        ('{"source": "a"}\n', r"pairs.jsonl:1: expected .* found '{\"source\": \"a\"}"),
        ('{"source": "a", "target": 3}\n', "pairs.jsonl:1: expected"),
        ("[" * 100_000, "pairs.jsonl:1: expected"),
        ("", "pairs.jsonl: not a saved baseline: nothing to learn from: found 0 pairs"),
    ],
    ids=["cut", "key", "number", "deep", "empty"],
)
def test_a_broken_file_is_named_with_its_line(tmp_path, text, message):
    (tmp_path / "pairs.jsonl").write_text(text, encoding="utf-8")
    with pytest.raises(RunError, match=message):
        Nearest.load(tmp_path)


def test_a_missing_or_binary_file_is_named(tmp_path):
    with pytest.raises(RunError, match="pairs.jsonl: not a saved baseline: .*No such file"):
        Nearest.load(tmp_path)
    (tmp_path / "pairs.jsonl").write_bytes(b"\xff\xfe")
    with pytest.raises(RunError, match="pairs.jsonl: not a saved baseline: .*utf-8"):
        Nearest.load(tmp_path)


def test_importing_the_module_does_not_import_scikit_learn():
    code = "import sys, regard.models.nearest; sys.exit('sklearn' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
