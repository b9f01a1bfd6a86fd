"""The course, section 3, parameter-free self-attention: the loop and the matrix form agree, weights
sum to 1 per row, generalised to query, keys and values. Errata: "attention values on the diagonal
are the highest" is an expectation, not a rule."""

import math

import numpy as np
import pytest
import torch

from regard.course import self_attention
from regard.nn.plain import attention, attention_loop

WORDS = {
    "the": (0.2, 0.2, 0.1, 0.2),
    "bat": (1.0, 1.0, 0.5, 0.0),
    "flew": (1.5, 0.0, 2.0, 0.0),
    "over": (0.0, 0.0, 1.0, 1.0),
    "river": (0.0, 0.0, 1.0, 2.0),
}
SENTENCE = "the bat flew over the river".split()


def by_hand():
    """Scores, weights and mixed vectors in plain Python."""
    vectors = [WORDS[word] for word in SENTENCE]
    scores = [[sum(a * b for a, b in zip(x, y, strict=True)) / 2 for y in vectors] for x in vectors]
    parts = [[math.exp(score) for score in row] for row in scores]
    weights = [[part / sum(row) for part in row] for row in parts]
    mixed = [
        [sum(w * x[f] for w, x in zip(row, vectors, strict=True)) for f in range(4)]
        for row in weights
    ]
    return {"Scores": scores, "Weights": weights, "Mixed": mixed}


def test_all_numbers_of_six_word_self_attention_come_out(lesson_of):
    assert lesson_of("self_attention").ok


@pytest.mark.parametrize("step", ["Scores", "Weights", "Mixed"])
def test_the_tables_hold_what_plain_python_computes(lesson_of, step):
    (table,) = [t for t in lesson_of("self_attention").tables if t.title.startswith(step)]
    assert [row[0] for row in table.rows] == SENTENCE
    found = [[float(cell) for cell in row[1:]] for row in table.rows]
    np.testing.assert_allclose(found, by_hand()[step], atol=5.1e-5)


def test_the_picture_shows_the_same_numbers(lesson_of):
    axes = lesson_of("self_attention").drawings[0].figure.axes
    shown = [np.asarray(ax.images[0].get_array()) for ax in axes]
    for found, wanted in zip(shown[1:], by_hand().values(), strict=True):
        np.testing.assert_allclose(found, wanted, atol=1e-12)


def test_the_worked_numbers_of_bat_are_those_of_plain_python(values_of):
    values, hand = values_of("self_attention"), by_hand()
    assert values["weight of bat for flew"] == pytest.approx(hand["Weights"][1][2], abs=1e-12)
    assert values["new animal number of bat"] == pytest.approx(hand["Mixed"][1][0], abs=1e-12)
    assert values["new tool number of bat"] == pytest.approx(hand["Mixed"][1][1], abs=1e-12)


@pytest.mark.parametrize("T, S, D, E", [(1, 1, 1, 1), (3, 5, 2, 4), (6, 6, 8, 3)])
def test_loop_and_matrix_form_agree_for_any_query_key_and_value(T, S, D, E):
    dice = torch.Generator().manual_seed(T)
    q, k, v = (
        torch.randn(*shape, generator=dice, dtype=torch.float64)
        for shape in ((T, D), (S, D), (S, E))
    )
    mixed, weights = attention(q, k, v)
    assert (attention_loop(q, k, v) - mixed).abs().max() <= 1e-12
    torch.testing.assert_close(weights.sum(dim=1), torch.ones(T).double(), atol=1e-12, rtol=0)


def test_the_diagonal_is_highest_when_all_vectors_are_equally_long():
    x = torch.randn(9, 4, generator=torch.Generator().manual_seed(0)).double()
    _, weights = attention(*[x / x.norm(dim=1, keepdim=True)] * 3)
    assert self_attention.own_is_highest(weights) == 9


def test_errata_the_diagonal_is_not_highest_as_a_rule():
    """Two vectors in one direction: both prefer the longer one."""
    x = torch.tensor([[1.0], [2.0]])
    assert self_attention.own_is_highest(attention(x, x, x)[1]) == 1
    weights = by_hand()["Weights"]
    assert sum(row[place] == max(row) for place, row in enumerate(weights)) == 2


def test_the_sentence_of_the_chapter_was_not_trained_on(values_of):
    assert tuple(SENTENCE) not in self_attention.sentences()
    assert all(sentence[2] in self_attention.VERBS for sentence in self_attention.sentences())
    values = values_of("self_attention")
    before = values["mean weight for the verb, nothing learned"]
    assert before == pytest.approx(np.mean([row[2] for row in by_hand()["Weights"]]), abs=1e-12)
    assert values["mean weight for the verb, learned"] > 2 * before
