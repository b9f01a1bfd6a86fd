import pytest
import torch

from regard.config import TransformerSettings
from regard.errors import ShapeError
from regard.nn.positions import POSITIONS, sinusoids


def scheme(name, **settings):
    return POSITIONS[name](TransformerSettings(width=8, heads=2, positions=name, **settings))


def test_sinusoids_have_the_published_values():
    table = sinusoids(2, 512)
    assert table[0].tolist() == [0.0, 1.0] * 256
    first = [round(x, 4) for x in table[1].tolist()]
    assert first[:4] == [0.8415, 0.5403, 0.8219, 0.5697] and first[-2:] == [0.0001, 1.0]


def test_sinusoids_are_extended_when_a_longer_input_comes():
    short = scheme("sinusoidal", max_length=4)
    x = torch.zeros(1, 700, 8, dtype=torch.float64)
    torch.testing.assert_close(short.add(x)[0], sinusoids(700, 8))
    torch.testing.assert_close(short.add(x[:, :3], start=650)[0], sinusoids(653, 8)[650:])


def test_learned_positions_end_at_max_length():
    learned = scheme("learned", max_length=4)
    assert learned.add(torch.zeros(1, 2, 8), start=2).shape == (1, 2, 8)
    with pytest.raises(ShapeError, match="position 4 asked for, but learned positions end at 3"):
        learned.add(torch.zeros(1, 3, 8), start=2)


@pytest.mark.parametrize("far", [0, 3, 600])
def test_rotary_scores_depend_only_on_the_distance(far):
    rotary = scheme("rotary")
    q, k = torch.randn(2, 1, 1, 1, 4, dtype=torch.float64)
    here = (rotary.turn(q, 5) * rotary.turn(k, 2)).sum()
    there = (rotary.turn(q, 5 + far) * rotary.turn(k, 2 + far)).sum()
    torch.testing.assert_close(here, there, rtol=0, atol=1e-6)


def test_rotary_turns_pairs_by_the_angle_of_the_paper():
    x = torch.randn(1, 1, 6, 4, dtype=torch.float64)
    turned = scheme("rotary").turn(x, 3)
    for position in range(6):
        for pair in range(2):
            angle = torch.tensor((3 + position) * 10000 ** (-2 * pair / 4), dtype=torch.float64)
            a, b = x[0, 0, position, pair], x[0, 0, position, pair + 2]
            expected = torch.stack(
                [a * angle.cos() - b * angle.sin(), b * angle.cos() + a * angle.sin()]
            )
            torch.testing.assert_close(turned[0, 0, position, pair::2], expected)


def test_no_positions_change_nothing():
    x = torch.randn(1, 3, 8)
    assert scheme("none").add(x) is x and scheme("none").turn(x) is x
