"""The loss of the next token against torch's own."""

import pytest
import torch
from torch.nn import functional as F

from regard.names import PAD
from regard.nn.cross_entropy import AT_ONCE, cross_entropy


def texts(B=3, T=5, V=7):
    """Scores (B, T, V), and tokens (B, T) that came, the last ones of a row missing."""
    wanted = torch.randint(PAD + 1, V, (B, T))
    wanted[1, 3:] = PAD
    return torch.randn(B, T, V, dtype=torch.float64, requires_grad=True), wanted


def torchs(scores, wanted, smoothing):
    return F.cross_entropy(
        scores.flatten(0, -2),
        wanted.flatten(),
        ignore_index=PAD,
        label_smoothing=smoothing,
        reduction="sum",
    )


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("T", [5, AT_ONCE])
def test_the_sum_and_its_gradient_are_torchs(T, smoothing):
    scores, wanted = texts(T=T)
    theirs = torchs(scores, wanted, smoothing)
    (expected,) = torch.autograd.grad(3 * theirs, scores)
    ours = cross_entropy(scores.clone(), wanted, smoothing)
    (found,) = torch.autograd.grad(3 * ours, scores)
    torch.testing.assert_close(ours, theirs, rtol=0, atol=1e-9)
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-12)


def test_what_the_scores_of_padding_are_changes_nothing():
    scores, wanted = texts()
    other = scores.detach().clone()
    other[1, 3:] = 1e9
    assert torch.equal(cross_entropy(scores, wanted), cross_entropy(other, wanted))


def test_scores_that_something_else_needs_are_not_overwritten_in_silence():
    scores, wanted = texts()
    bent = scores.tanh()  # going back through it needs what came out
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        cross_entropy(bent, wanted).backward()


def test_going_back_twice_is_refused():
    scores, wanted = texts()
    total = cross_entropy(scores.clone(), wanted)
    total.backward(retain_graph=True)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        total.backward()
