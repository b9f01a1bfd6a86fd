import time
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.metrics.rouge import rouge1, rouge2, rougeL, tokens

patient = settings(deadline=None, max_examples=100)  # a busy machine proves nothing

METRICS = {"rouge1": rouge1, "rouge2": rouge2, "rougeL": rougeL}
WORDS = [
    "the",
    "The",
    "cat",
    "sat,",
    "on",
    "naïve",
    "İ",
    "ſ",
    "\u212a",
    "猫",
    "3.5",
    "it's",
    "a\nb",
]
lines = st.lists(st.sampled_from(WORDS), max_size=9).map(" ".join) | st.text(max_size=12)
examples = st.lists(
    st.tuples(lines, st.lists(lines, min_size=1, max_size=3)), min_size=1, max_size=5
)


@pytest.fixture(scope="module")
def by_rouge_score():
    from rouge_score.rouge_scorer import RougeScorer

    scorer = RougeScorer(list(METRICS))

    def score(outputs, references):
        best = [scorer.score_multi(r, o) for o, r in zip(outputs, references, strict=True)]
        return {k: 100 * sum(b[k].fmeasure for b in best) / len(best) for k in METRICS}

    return score


def values(outputs, references):
    return {name: metric(outputs, references).value for name, metric in METRICS.items()}


@patient
@given(examples)
def test_the_values_are_those_of_rouge_score(by_rouge_score, examples):
    outputs, references = zip(*examples, strict=True)
    expected = by_rouge_score(outputs, references)
    assert values(outputs, references) == pytest.approx(expected, abs=1e-9)


def test_the_values_are_those_of_rouge_score_for_longer_texts(by_rouge_score):
    random = Random(0)
    words = [f"w{i}" for i in range(30)]
    outputs = [" ".join(random.choices(words, k=random.randint(0, 90))) for _ in range(20)]
    references = [
        [" ".join(random.choices(words, k=random.randint(1, 90))) for _ in range(1 + i % 3)]
        for i in range(20)
    ]
    expected = by_rouge_score(outputs, references)
    assert all(value > 0 for value in expected.values())
    assert values(outputs, references) == pytest.approx(expected, abs=1e-9)


def test_letters_outside_a_to_z_only_separate():
    assert tokens("Ärger: naïve 猫, don't 3.5!") == ["rger", "na", "ve", "don", "t", "3", "5"]
    assert values(["猫は"], [["猫は"]]) == {"rouge1": 0, "rouge2": 0, "rougeL": 0}


def test_the_mean_is_over_examples_not_over_tokens():
    outputs, references = ["a", "b c d e f g"], [["a"], ["x"]]
    assert rouge1(outputs, references).value == 50


def test_the_signature_names_the_metric_and_its_tokens():
    for name, metric in METRICS.items():
        start = f"{name}|f1:mean|tokens:a-z0-9-lowercase|references:best-of-all|n:1|"
        assert metric(["a"], [["a"]]).signature.startswith(start)


def test_long_texts_take_seconds_not_minutes():
    random = Random(0)
    words = [f"w{i}" for i in range(500)]
    outputs = [" ".join(random.choices(words, k=200)) for _ in range(2000)]
    references = [[" ".join(random.choices(words, k=30))] for _ in range(2000)]
    start = time.process_time()
    rougeL(outputs, references)
    assert time.process_time() - start < 5  # 0.2 on the machine this was written on
