"""The course, section 2, encoder-decoder (Sutskever), and section 3, Bahdanau and Luong."""

import pytest
import torch

from regard.course import alignment, seq2seq
from regard.course.toys import Rows, copy_rows, exact, letters, looks, reverse_rows, spelled
from regard.names import FIRST_PIECE, STOP


@pytest.fixture
def quick(monkeypatch):
    monkeypatch.setattr(alignment, "STEPS", 200)
    monkeypatch.setattr(alignment, "LONGEST", 8)


@pytest.fixture
def dice():
    return torch.Generator().manual_seed(5)


@pytest.mark.parametrize("kind", ["additive", "general", "local-m"])
def test_bahdanau_and_luong_find_the_diagonal_of_a_copy_by_themselves(quick, dice, kind):
    torch.manual_seed(0)
    network = alignment.learned(kind, dice)
    rows = copy_rows(dice, 50, 5, 8)
    assert exact(network, rows) >= 50
    assert alignment.on_the_diagonal(looks(network, rows), rows) >= 90


def test_luong_local_p_predicts_places_that_follow_the_diagonal(quick, dice):
    torch.manual_seed(0)
    network = alignment.learned("local-p", dice)
    rows = copy_rows(dice, 50, 5, 8)
    assert alignment.on_the_diagonal(looks(network, rows), rows) >= 85
    assert alignment.distance_of_centres(network, rows) < 2
    centres = alignment.centres_of(network, Rows([rows.sources[0]], [rows.targets[0]]))[0]
    steps = centres[: len(rows.targets[0])].diff()
    assert (steps > 0).float().mean() >= 0.8  # it moves on with every letter


def test_a_share_on_the_diagonal_is_counted_letter_by_letter():
    rows = Rows([[4, 5], [6]], [[4, 5], [6]])
    weights = torch.tensor([[[0.9, 0.1], [0.8, 0.2]], [[1.0, 0.0], [0.0, 1.0]]])
    assert alignment.on_the_diagonal(weights, rows) == pytest.approx(100 * 2 / 3)


def test_sutskever_writes_from_start_to_stop_and_learns_to_turn_words_around(monkeypatch, dice):
    torch.manual_seed(0)
    monkeypatch.setattr(seq2seq, "LONGEST", 3)
    network = seq2seq.new_network("gru")
    data = lambda step: seq2seq.rows(dice, 64)  # noqa: E731
    losses = seq2seq.train(network, data, seq2seq.loss_of, steps=150, rate=0.01)
    assert losses[-1] < 0.3 * losses[0]
    assert exact(network, seq2seq.rows(dice, 100)) >= 70
    (word,) = letters(dice, 1, 3, 3)
    steps = seq2seq.growth(network, word)
    assert steps[0][0][0] == "START"
    assert [row[0].split()[-1] for row, _ in steps[1:]] == [row[1] for row, _ in steps[:-1]]


def test_only_the_last_state_crosses_over_in_sutskever():
    assert seq2seq.state_size(seq2seq.new_network("gru")) == seq2seq.WIDTH
    assert seq2seq.state_size(seq2seq.new_network("lstm")) == 2 * seq2seq.WIDTH
    assert seq2seq.name_of(STOP) == "STOP" and seq2seq.name_of(FIRST_PIECE) == "a"


def test_rows_to_copy_and_to_turn_around_hold_no_letter_twice(dice):
    for row, wanted in zip(*reverse_rows(dice, 30, 2, 9), strict=True):
        assert wanted == row[::-1] and len(set(row)) == len(row) and 2 <= len(row) <= 9
    assert spelled([FIRST_PIECE, FIRST_PIECE + 25]) == "az"
