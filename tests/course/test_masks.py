"""The course, section 3, masks: the causal matrix of 0 and -inf, why -inf and not 0, padding."""

import math

import numpy as np
import pytest
import torch

from regard.course import masks
from regard.nn.mask import Mask

INF = math.inf
COURSE = [[0, -INF, -INF, -INF], [0, 0, -INF, -INF], [0, 0, 0, -INF], [0, 0, 0, 0]]


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_all_numbers_of_masks_are_as_expected(seed):
    assert masks.lesson(seed).ok


def test_the_causal_mask_drawn_is_the_matrix_of_the_course(lesson_of):
    drawn = masks.added(Mask(causal=True).draw(4, 4)[0, 0])
    assert drawn.tolist() == COURSE
    (table,) = lesson_of("masks").tables
    cells = {"0": 0.0, "-inf": -INF}
    assert [[cells[cell] for cell in row[1:]] for row in table.rows] == COURSE


def softmax(scores):
    parts = [math.exp(score) for score in scores]
    return [part / sum(parts) for part in parts]


def test_minus_infinity_is_a_softmax_over_the_words_that_may_be_seen():
    scores = torch.tensor(masks.SCORES).double()
    found = masks.three_ways(scores, Mask(causal=True).draw(4, 4)[0, 0])["minus infinity"]
    for row in range(4):
        wanted = softmax(masks.SCORES[row][: row + 1]) + [0.0] * (3 - row)
        np.testing.assert_allclose(found[row], wanted, atol=1e-12)


def test_a_score_of_0_leaks_and_weights_zeroed_late_do_not_sum_to_1():
    scores, allowed = torch.tensor(masks.SCORES).double(), Mask(causal=True).draw(4, 4)[0, 0]
    ways = masks.three_ways(scores, allowed)
    first = softmax([masks.SCORES[0][0], 0, 0, 0])
    np.testing.assert_allclose(ways["score 0"][0], first, atol=1e-12)
    assert masks.ahead(ways["score 0"]) == pytest.approx(sum(first[1:]))
    late = ways["weight 0, late"]
    assert late.triu(1).eq(0).all() and late[0].sum() < 0.5


@pytest.mark.parametrize(
    "way, shows", [("minus infinity", 0), ("score 0", 1), ("weight 0, late", 1)]
)
def test_the_future_shows_in_every_way_but_minus_infinity(way, shows):
    scores, allowed = torch.tensor(masks.SCORES).double(), Mask(causal=True).draw(4, 4)[0, 0]
    found = masks.future_shows(way, scores, allowed)
    assert (found > 0.05) if shows else found == 0


def test_a_padded_sentence_answers_as_it_does_alone(values_of):
    values = values_of("masks")
    assert values["a sentence padded and alone differ by"] <= 1e-12
    assert values["the same without a padding mask"] > 1e-3
