"""The course, section 2, what goes wrong: vanishing and exploding gradients, no parallelism over
time, one vector for a whole sequence, long dependencies."""

import pytest
import torch

from regard.course import forgetting


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_gradients_vanish_in_an_rnn_explode_with_larger_weights_and_stay_under_attention(seed):
    torch.manual_seed(seed)
    found = forgetting.gradient_norms()
    assert found["RNN"][19] < 0.01
    assert found[f"RNN, weights x {forgetting.EXPLODING}"][19] > 10
    assert found["Transformer"][19] > 0.5
    assert found["GRU"][19] > found["RNN"][19]
    assert all(curve[0] == 1 for curve in found.values())


def test_a_gradient_share_is_what_differences_say():
    weights = torch.tensor([1.0, 2.0, 4.0, 8.0])  # the last output depends on inputs so much
    x = torch.randn(2, 4, 3)
    shares = forgetting._falling(lambda x: (x * weights[:, None]).sum(dim=1), x)
    assert shares == pytest.approx([1.0, 0.5, 0.25])


def test_a_fact_stands_first_and_is_asked_for_at_the_end():
    ids, wanted = forgetting.facts(torch.Generator().manual_seed(0), 50, 7)
    assert ids.shape == (50, 9) and ids[:, 0].equal(wanted)
    assert ids[:, 1:-1].min() >= forgetting.FACTS and (ids[:, -1] == ids[0, -1]).all()


def test_the_transformer_finds_a_fact_at_any_distance(monkeypatch):
    monkeypatch.setattr(forgetting, "PORTUGAL", 150)
    monkeypatch.setattr(forgetting, "GAPS", (2, 20))
    assert min(forgetting.fact_accuracy("transformer", 0)) > 90


def test_one_vector_holds_short_rows_and_attention_long_ones(monkeypatch):
    monkeypatch.setattr(forgetting, "COPIED", 250)
    monkeypatch.setattr(forgetting, "LENGTHS", (2, 8))
    short, long = forgetting.copy_accuracy("none", 0)
    assert long < 50 and short > long
    assert forgetting.copy_accuracy("dot", 0)[1] > 70
