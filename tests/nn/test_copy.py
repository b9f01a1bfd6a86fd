"""Copying from the source, against the equation of See et al. 2017 written as a loop."""

import numpy as np
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.nn.copy import Copy

B, T, S, E, K, V = 2, 3, 5, 4, 6, 9
LENGTHS = torch.tensor([5, 3])


def made(seed=0):
    torch.manual_seed(seed)
    make = lambda *shape: torch.randn(*shape, dtype=torch.float64)  # noqa: E731
    ids = torch.randint(0, V, (B, S))
    return Copy(E, K).double(), make(B, T, E), make(B, T, V), make(B, S, K), ids


def softmax(scores):
    powers = np.exp(scores - scores.max())
    return powers / powers.sum()


@given(st.integers(0, 1000))
@settings(max_examples=30, deadline=None)
def test_a_probability_is_a_share_of_writing_and_a_share_of_copying(seed):
    """Eq. 9: P(w) = p_gen P_vocab(w) + (1 - p_gen) sum of the attention on places that hold w."""
    copy, x, scores, memory, ids = made(seed)
    found = copy(x, scores, copy.ready(memory), ids, LENGTHS).exp().detach().numpy()
    turn = copy.align.score.turn.weight.detach().numpy()
    weight, bias = copy.gate.weight.detach().numpy()[0], float(copy.gate.bias.detach())
    for b in range(B):
        for t in range(T):
            own = 1 / (1 + np.exp(-(weight @ x[b, t].numpy() + bias)))
            wanted = own * softmax(scores[b, t].numpy())
            keys = memory[b, : LENGTHS[b]].numpy()
            attention = softmax(np.array([x[b, t].numpy() @ turn @ key for key in keys]))
            for s, share in enumerate(attention):
                wanted[ids[b, s]] += (1 - own) * share
            np.testing.assert_allclose(found[b, t], wanted, rtol=0, atol=1e-12)
            assert abs(found[b, t].sum() - 1) < 1e-12


def test_what_padding_holds_is_never_copied():
    copy, x, scores, memory, ids = made()
    other_memory, other_ids = memory.clone(), ids.clone()
    other_memory[1, 3:], other_ids[1, 3:] = 99.0, (ids[1, 3:] + 1) % V
    before = copy(x, scores, copy.ready(memory), ids, LENGTHS)
    assert torch.equal(copy(x, scores, copy.ready(other_memory), other_ids, LENGTHS), before)


def test_an_empty_source_leaves_nothing_but_its_own_words_and_no_nan():
    copy, x, scores, memory, ids = made()
    found = copy(x, scores, copy.ready(memory), ids, torch.tensor([0, 5]))
    own = torch.nn.functional.logsigmoid(copy.gate(x)) + scores.log_softmax(dim=-1)
    torch.testing.assert_close(found[0], own[0])
    assert found.isfinite().all()


def test_gradients_agree_with_finite_differences():
    copy, x, scores, memory, ids = made()
    inputs = [tensor.requires_grad_() for tensor in (x, scores, memory)]
    assert torch.autograd.gradcheck(lambda a, b, c: copy(a, b, copy.ready(c), ids, LENGTHS), inputs)
