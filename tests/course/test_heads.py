"""The course, section 3, multi-head: h = 8, d = 512, d_k = d_v = 64; concatenate, W_O; heads learn
different things."""

import numpy as np
import pytest
import torch

from regard.course import heads
from regard.nn.attention import SelfAttention, join_heads
from regard.shapes import StackSettings


def test_all_numbers_of_eight_heads_are_as_expected(lesson_of):
    assert lesson_of("heads").ok


def test_the_shapes_are_those_of_eight_heads_of_width_64(lesson_of):
    shapes = dict(lesson_of("heads").tables[0].rows)
    assert shapes["queries, cut into heads"] == "(1, 8, 6, 64)"
    assert shapes["weights"] == "(1, 8, 6, 6)"
    assert shapes["heads side by side"] == shapes["after W_O"] == "(1, 6, 512)"


def test_heads_side_by_side_times_w_o_is_the_layer_in_numpy():
    torch.manual_seed(0)
    layer = SelfAttention(StackSettings(width=512, heads=8)).double()
    x = torch.randn(1, 5, 512, dtype=torch.float64)
    weights = {name: p.detach().numpy() for name, p in layer.named_parameters()}
    q, k, v = np.split(x[0].numpy() @ weights["project.weight"].T + weights["project.bias"], 3, 1)
    mixed = []
    for head in range(8):
        piece = slice(64 * head, 64 * head + 64)
        scores = np.exp(q[:, piece] @ k[:, piece].T / 8)
        mixed.append(scores / scores.sum(axis=1, keepdims=True) @ v[:, piece])
    wanted = np.concatenate(mixed, axis=1) @ weights["out.weight"].T + weights["out.bias"]
    with torch.no_grad():
        found = layer(x, None, lambda x, start: x)
    np.testing.assert_allclose(found[0].numpy(), wanted, atol=1e-12)


def test_joining_heads_is_laying_them_side_by_side():
    x = torch.randn(2, 3, 5, 4)
    torch.testing.assert_close(join_heads(x), torch.cat(list(x.unbind(dim=1)), dim=-1))


def test_the_right_answers_are_the_letters_asked_for():
    rows = torch.tensor([[3, 1, 4, 1, 5, 2, 6, 0]])
    answers = heads.wanted(rows)[0].tolist()
    for place, (before, after, first, last) in enumerate(answers):
        row = [-1, *rows[0].tolist(), -1]
        assert (before, after, first, last) == (row[place], row[place + 2], 3, 0)


def test_no_row_of_the_test_is_among_those_trained_on():
    rest, test = heads.split(torch.Generator().manual_seed(0))
    trained = {tuple(row) for row in rest.tolist()}
    assert len(test) == heads.TESTED
    assert not trained & {tuple(row) for row in test.tolist()}


def test_the_heads_maps_differ_and_their_rows_sum_to_1(lesson_of, values_of):
    figure = lesson_of("heads").drawings[0].figure
    maps = [np.asarray(ax.images[0].get_array()) for ax in figure.axes]
    assert len(maps) == 4
    for weights in maps:
        np.testing.assert_allclose(weights.sum(axis=1), 1, atol=1e-5)
    pairs = [np.abs(maps[a] - maps[b]).sum(axis=1).mean() / 2 for a in range(4) for b in range(a)]
    assert np.mean(pairs) > 0.5
    found = values_of("heads")["difference of two heads, 0 to 1, mean of all pairs"]
    assert found == pytest.approx(np.mean(pairs), abs=1e-5)


def test_how_far_heads_are_apart_is_0_for_equal_and_1_for_disjoint_ones():
    first, second = torch.eye(8), torch.eye(8).roll(1, dims=1)
    assert heads.apart(torch.stack([first, second, first])) == [1, 0, 1]


def test_what_a_head_looks_at_is_told_from_its_map():
    before = torch.eye(8).roll(-1, dims=1)  # row i looks at i - 1, the first one at the last
    found = heads.looked_at(before[None])[0]
    assert found[0] == pytest.approx(1) and found[1] == pytest.approx(0)
    assert heads.looked_at(torch.eye(8)[None, [0] * 8])[0, 2] == pytest.approx(1)
