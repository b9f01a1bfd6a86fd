"""The course, section 3, scaled dot-product: softmax(QK^T / sqrt(d_k)) V, its shapes, and the
softmax's gradient against d_k."""

import numpy as np
import pytest
import torch

from regard.course import scale


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_all_numbers_of_the_scale_are_as_expected(seed):
    assert scale.lesson(seed).ok


def test_the_shapes_are_those_of_the_course():
    rows = dict(scale.shapes().rows)
    assert rows["weights (T, T)"] == "(6, 6)" and rows["mixed (T, d_v)"] == "(6, 32)"


def test_the_gradient_norm_is_that_of_the_softmax_itself():
    scores = torch.randn(5, generator=torch.Generator().manual_seed(0)).double()
    jacobian = torch.autograd.functional.jacobian(lambda s: s.softmax(dim=0), scores)
    found = scale.softmax_gradient(scores.softmax(dim=0))
    assert float(found) == pytest.approx(float(jacobian.norm()), abs=1e-12)


@pytest.mark.parametrize("chosen", [0, 3])
def test_a_softmax_that_has_chosen_passes_no_gradient_on(chosen):
    weights = torch.zeros(4)
    weights[chosen] = 1.0
    assert scale.softmax_gradient(weights) == 0
    assert scale.softmax_gradient(torch.full((4,), 0.25)) > 0.4


@pytest.mark.parametrize("d_k", [16, 64])
def test_the_variance_of_a_dot_product_is_its_width(values_of, d_k):
    dice = np.random.default_rng(0)
    products = (dice.normal(size=(20_000, d_k)) * dice.normal(size=(20_000, d_k))).sum(axis=1)
    found = values_of("scale")[f"variance of q.k, d_k = {d_k} (within a fifth)"]
    assert found == pytest.approx(products.var(), rel=0.1)


def test_without_the_scale_the_gradient_falls_with_the_width_and_with_it_stays(lesson_of):
    (table, _) = lesson_of("scale").tables
    plain, scaled = ([float(row[place]) for row in table.rows] for place in (2, 5))
    assert plain[2:] == sorted(plain[2:], reverse=True) and plain[-1] < plain[2] / 3
    assert max(scaled) < 1.2 * min(scaled)
