"""How varied outputs are, against counting by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.metrics.variety import distinct1, distinct2

texts = st.lists(st.text("ab ", max_size=12), min_size=1, max_size=8)


def none(outputs):
    return [["."]] * len(outputs)


@pytest.mark.parametrize(("metric", "n"), [(distinct1, 1), (distinct2, 2)])
@given(outputs=texts)
def test_it_is_the_share_of_different_ones_among_all(metric, n, outputs):
    every = [
        tuple(words[i : i + n])
        for words in map(str.split, outputs)
        for i in range(len(words) - n + 1)
    ]
    wanted = 100 * len(set(every)) / max(1, len(every))
    found = metric(outputs, none(outputs))
    assert found.value == pytest.approx(wanted)
    assert found.low <= found.high


def test_one_answer_to_everything_is_hardly_varied():
    same, other = ["I do not know ."] * 50, [f"word{i} is number {i}" for i in range(50)]
    assert distinct2(same, none(same)).value == pytest.approx(2)
    assert distinct2(other, none(other)).value > 60
    assert "distinct2" in distinct2(same, none(same)).signature
