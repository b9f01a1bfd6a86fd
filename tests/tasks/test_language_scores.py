"""How language models are scored: with what context, by which bytes, and on whose text."""

import numpy as np
import pytest

from regard.tasks import memorised


@pytest.mark.parametrize("rest", [1, 24, 25, 30, 48, 49, 60])
def test_a_text_that_is_longer_than_the_last_part_is_not_in_it(monkeypatch, rest):
    monkeypatch.setattr(memorised, "AT_ONCE", 100)
    row = np.full(100 + rest, 7)
    assert memorised.contains(row, np.full(50, 7))
    assert not memorised.contains(row, np.array([*[7] * 49, 8]))
