"""The course, section 3, similarity by dot product."""

import math

import numpy as np
import pytest
import torch

from regard.course import similarity


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_all_numbers_of_the_dot_product_are_as_expected(seed):
    assert similarity.lesson(seed).ok


@pytest.mark.parametrize(("angle", "wanted"), [(140, -0.77), (90, 0.0), (45, 0.71), (0, 1.0)])
def test_unit_vectors_at_an_angle_have_the_dot_product_of_the_course(values_of, angle, wanted):
    found = values_of("similarity")[f"dot product of unit vectors at {angle} degrees"]
    assert round(found, 2) == wanted
    assert found == pytest.approx(math.cos(math.radians(angle)), abs=1e-12)


def test_the_product_of_lengths_and_cosine_is_the_sum_of_products(values_of):
    a, b = np.array([2.0, 0.0]), 3 * np.array([math.sqrt(0.5), math.sqrt(0.5)])
    values = values_of("similarity")
    assert values["lengths 2 and 3 at 45 degrees: dot product"] == pytest.approx(np.dot(a, b))
    assert values["the same divided by both lengths"] == pytest.approx(math.sqrt(0.5))
    angle = math.degrees(math.acos(24 / 25))
    assert values["angle of (3, 4) and (4, 3) in degrees"] == pytest.approx(angle)


def test_lengths_change_the_dot_product_and_not_the_cosine():
    a, b = similarity.at_angle(20), similarity.at_angle(75)
    assert similarity.cosine(10 * a, b) == pytest.approx(similarity.cosine(a, b))
    assert float(10 * a @ b) == pytest.approx(10 * float(a @ b))


def test_cosines_of_random_pairs_are_those_that_numpy_computes():
    found = similarity.random_cosines(16, torch.Generator().manual_seed(5)).numpy()
    dice = torch.Generator().manual_seed(5)
    a, b = (torch.randn(similarity.PAIRS, 16, generator=dice).numpy() for _ in range(2))
    lengths = np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1)
    np.testing.assert_allclose(found, (a * b).sum(axis=1) / lengths, atol=1e-5)
