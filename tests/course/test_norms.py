"""The course, section 4, layer norm vs batch norm: the three-item worked picture."""

import math

import numpy as np
import pytest
import torch

from regard.course import norms

ITEMS = np.array([[1, 2, 3, 6], [10, 20, 30, 60], [1, 5, 3, 3]], float)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_all_numbers_of_layer_norm_and_batch_norm_are_as_expected(seed):
    assert norms.lesson(seed).ok


def normed(row):
    """One list of numbers, by hand."""
    mean = sum(row) / len(row)
    variance = sum((x - mean) ** 2 for x in row) / len(row)
    return [(x - mean) / math.sqrt(variance) for x in row]


def test_the_three_items_are_those_computed_by_hand(values_of):
    by_layer = [normed(row) for row in ITEMS.tolist()]
    by_batch = [list(row) for row in zip(*map(normed, ITEMS.T.tolist()), strict=True)]
    values, worked = values_of("norms"), 0
    for name, by_hand in (("layer norm", by_layer), ("batch norm", by_batch)):
        for i in range(3):
            for f in range(4):
                found = values.get(f"{name}: item {i + 1}, feature {f + 1}")
                if found is not None:
                    assert found == pytest.approx(by_hand[i][f], abs=5e-5)
                    worked += 1
    assert worked == 10


def test_the_picture_holds_all_twelve_numbers_of_each(lesson_of):
    before, layer, batch = (
        ax.images[0].get_array() for ax in lesson_of("norms").drawings[0].figure.axes
    )
    np.testing.assert_array_equal(before, ITEMS)
    np.testing.assert_allclose(layer, [normed(row) for row in ITEMS], atol=1e-4)
    np.testing.assert_allclose(batch.T, [normed(column) for column in ITEMS.T], atol=1e-4)


def test_layer_norm_needs_no_neighbour_and_batch_norm_does():
    x = torch.randn(5, 4, generator=torch.Generator().manual_seed(0))
    torch.testing.assert_close(norms.layer_norm(x[:1]), norms.layer_norm(x)[:1])
    assert norms.batch_norm(x[:1]).eq(0).all()
    assert norms.neighbour_changes(x, norms.layer_norm) == 0
    assert norms.neighbour_changes(x, norms.batch_norm) > 0.01


def test_padding_is_left_out_unless_asked_for():
    x = torch.randn(3, 4, generator=torch.Generator().manual_seed(0)) + 2
    assert norms.padded(x, counted=False) < 1e-6 < norms.padded(x, counted=True)


def test_an_item_depends_less_on_its_company_in_larger_batches():
    spreads = norms.spread(norms.batch_norm, torch.Generator().manual_seed(0))
    assert spreads == sorted(spreads, reverse=True)


def test_in_use_batch_norm_answers_differently_and_layer_norm_does_not():
    (_, *layer), (_, *batch) = norms.modes(torch.tensor(ITEMS).float())
    assert layer[0] == layer[1] and batch[0] != batch[1]
