import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from regard.errors import ConfigError, ShapeError
from regard.nn.positions import BUCKETS, FARTHEST, POSITIONS, buckets, sinusoids, slopes
from regard.shapes import StackSettings
from regard.toml import check


def scheme(name, causal=False, **chosen):
    chosen = {"width": 8, "heads": 2, "positions": name, **chosen}
    return POSITIONS[name](StackSettings(**chosen), causal=causal)


def test_sinusoids_have_the_published_values():
    table = sinusoids(2, 512)
    assert table[0].tolist() == [0.0, 1.0] * 256
    first = [round(x, 4) for x in table[1].tolist()]
    assert first[:4] == [0.8415, 0.5403, 0.8219, 0.5697] and first[-2:] == [0.0001, 1.0]


def test_sinusoids_are_the_sines_and_cosines_of_the_paper():
    table = sinusoids(300, 10).tolist()
    for position in (0, 1, 7, 299):
        for i in range(5):
            angle = position / 10_000 ** (2 * i / 10)
            assert table[position][2 * i] == pytest.approx(math.sin(angle), abs=1e-12)
            assert table[position][2 * i + 1] == pytest.approx(math.cos(angle), abs=1e-12)


def test_sinusoids_are_extended_when_a_longer_input_comes():
    short = scheme("sinusoidal", max_length=4)
    x = torch.zeros(1, 700, 8, dtype=torch.float64)
    torch.testing.assert_close(short.add(x)[0], sinusoids(700, 8))
    torch.testing.assert_close(short.add(x[:, :3], start=650)[0], sinusoids(653, 8)[650:])


def test_learned_positions_end_at_max_length():
    learned = scheme("learned", max_length=4)
    x = torch.randn(3, 2, 8)
    assert torch.equal(learned.add(x, start=2), x + learned.table[2:])
    with pytest.raises(ShapeError, match="position 4 asked for, but learned positions end at 3"):
        learned.add(torch.zeros(1, 3, 8), start=2)


@pytest.mark.parametrize("far", [0, 3, 600])
def test_rotary_scores_depend_only_on_the_distance(far):
    rotary = scheme("rotary")
    q, k = torch.randn(2, 1, 1, 1, 4, dtype=torch.float64)
    here = (rotary.turn(q, 5) * rotary.turn(k, 2)).sum()
    there = (rotary.turn(q, 5 + far) * rotary.turn(k, 2 + far)).sum()
    torch.testing.assert_close(here, there, rtol=0, atol=1e-6)


@settings(max_examples=40, deadline=None)
@given(
    st.sampled_from([10_000.0, 500_000.0, 7.5]),
    st.sampled_from([1.0, 2.0, 3.3]),
    st.sampled_from([2, 4, 6]),
    st.integers(0, 40),
    st.integers(0, 2**31),
)
def test_rotary_turns_pairs_by_the_angle_of_the_paper(base, stretch, width, start, seed):
    torch.manual_seed(seed)
    rotary = scheme("rotary", head_width=width, rotary_base=base, rotary_stretch=stretch)
    x = torch.randn(2, 3, 5, width, dtype=torch.float64)
    left, right = x.chunk(2, dim=-1)
    expected = torch.complex(left, right)  # to turn is to multiply by a number on the circle
    for position in range(5):
        for pair in range(width // 2):
            angle = (start + position) / stretch * base ** (-2 * pair / width)
            expected[:, :, position, pair] *= complex(math.cos(angle), math.sin(angle))
    expected = torch.cat([expected.real, expected.imag], dim=-1)
    torch.testing.assert_close(rotary.turn(x, start), expected, rtol=0, atol=1e-12)


def test_the_gradient_through_a_turn_is_that_of_small_steps():
    torch.manual_seed(0)
    heads = torch.randn(2, 5, 3, 4, dtype=torch.float64).transpose(1, 2)[:, :2]  # as they lie
    turn = scheme("rotary").turn
    assert torch.autograd.gradcheck(lambda x: turn(x, 7), heads.requires_grad_())
    assert torch.autograd.gradgradcheck(lambda x: turn(x, 7), heads)


def test_rotary_tables_are_extended_when_a_longer_input_comes():
    short, long = scheme("rotary", max_length=4), scheme("rotary", max_length=500)
    x = torch.randn(1, 1, 30, 4, dtype=torch.float64)
    assert torch.equal(short.turn(x, 100), long.turn(x, 100))


def test_a_stretched_network_meets_the_angles_of_a_shorter_one():
    plain, stretched = scheme("rotary"), scheme("rotary", rotary_stretch=4.0)
    x = torch.randn(1, 2, 1, 4, dtype=torch.float64)
    for position in (0, 3, 25):
        torch.testing.assert_close(
            stretched.turn(x, 4 * position), plain.turn(x, position), rtol=0, atol=1e-12
        )


@pytest.mark.parametrize(
    ("name", "chosen", "found"),
    [
        ("rotary", dict(width=9, heads=3), 3),
        ("rotary", dict(width=8, heads=2, head_width=5), 5),
        ("sinusoidal", dict(width=9, heads=3), 9),
        ("both", dict(width=8, heads=2, head_width=3), 3),
        ("both", dict(width=7, heads=1, head_width=4), 7),
    ],
)
def test_a_width_that_can_not_be_cut_into_pairs_is_named(name, chosen, found):
    message = f"{name} positions need an even width, found {found}"
    with pytest.raises(ValidationError, match=message):
        StackSettings(positions=name, **chosen)
    with pytest.raises(ConfigError, match=message):
        check(StackSettings, {"positions": name, **chosen}, "model")


@pytest.mark.parametrize("name", ["learned", "relative", "alibi", "none"])
def test_the_others_take_any_width(name):
    assert scheme(name, width=9, heads=3).add(torch.zeros(1, 2, 9)).shape == (1, 2, 9)


@pytest.mark.parametrize("name", ["none", "sinusoidal", "learned", "rotary", "both"])
def test_what_is_added_or_turned_puts_no_bias_on_the_scores(name):
    assert scheme(name).bias(3, 5) is None


# By distance


def bucket_by_hand(away, causal):
    """Raffel et al. 2020, 2.1: half of the buckets hold one distance each, the others grow."""
    many = BUCKETS if causal else BUCKETS // 2
    first = 0 if causal or away <= 0 else many
    far = max(0, -away) if causal else abs(away)
    if far < many // 2:
        return first + far
    share = math.log(far / (many // 2)) / math.log(FARTHEST / (many // 2))
    return first + min(many - 1, many // 2 + int(share * (many - many // 2)))


@pytest.mark.parametrize("causal", [True, False])
def test_every_distance_has_the_bucket_of_the_paper(causal):
    away = torch.arange(-300, 301)
    found = buckets(away, causal).tolist()
    assert found == [bucket_by_hand(one, causal) for one in away.tolist()]
    behind = found[: len(found) // 2 + 1]
    assert behind == sorted(behind, reverse=True) and 0 <= min(found) <= max(found) < BUCKETS


@settings(max_examples=30, deadline=None)
@given(st.booleans(), st.integers(1, 200), st.integers(1, 5), st.integers(0, 2**31))
def test_a_relative_bias_is_the_number_of_the_bucket_for_each_head(causal, S, T, seed):
    torch.manual_seed(seed)
    T = min(T, S)
    relative = scheme("relative", causal, width=6, heads=3).double()
    bias = relative.bias(T, S)
    assert bias.shape == (1, 3, T, S)
    for t in range(T):
        place = buckets(torch.arange(S) - (S - T + t), causal)
        assert torch.equal(bias[0, :, t], relative.table.weight[place].T)


@pytest.mark.parametrize("heads", range(1, 17))
def test_slopes_fall_from_head_to_head_as_in_the_paper(heads):
    power = 2 ** math.floor(math.log2(heads))
    wanted = [2 ** (-8 * (i + 1) / power) for i in range(power)]
    twice = [2 ** (-8 * (i + 1) / (2 * power)) for i in range(2 * power)]
    wanted += twice[::2][: heads - power]
    torch.testing.assert_close(
        slopes(heads), torch.tensor(wanted, dtype=torch.float64), rtol=0, atol=1e-15
    )
    assert len(set(wanted)) == heads


@settings(max_examples=30, deadline=None)
@given(st.booleans(), st.integers(1, 9), st.integers(1, 9), st.integers(1, 5))
def test_alibi_lowers_a_score_by_the_slope_for_each_position_away(causal, S, T, heads):
    T = min(T, S)
    bias = scheme("alibi", causal, width=4 * heads, heads=heads).bias(T, S)
    assert bias.shape == (1, heads, T, S)
    for h, slope in enumerate(slopes(heads).tolist()):
        for t in range(T):
            for s in range(S):
                assert bias[0, h, t, s] == -slope * abs(S - T + t - s)


@pytest.mark.parametrize("name", ["relative", "alibi"])
@pytest.mark.parametrize("causal", [True, False])
def test_the_bias_of_the_newest_positions_is_the_end_of_the_whole(name, causal):
    positions = scheme(name, causal)
    whole = positions.bias(20, 20)
    for T in (1, 3):
        assert torch.equal(positions.bias(T, 20), whole[:, :, 20 - T :])


@pytest.mark.parametrize(
    ("name", "shapes"),
    [("learned", [(6, 8)]), ("relative", [(BUCKETS, 2)])]
    + [(name, []) for name in ("none", "sinusoidal", "rotary", "both", "alibi")],
)
def test_only_what_is_learned_is_saved(name, shapes):
    positions = scheme(name, max_length=6)
    assert [p.shape for p in positions.parameters()] == shapes
    assert [tensor.shape for tensor in positions.state_dict().values()] == shapes


def test_no_positions_change_nothing():
    x = torch.randn(1, 3, 8)
    assert scheme("none").add(x) is x and scheme("none").turn(x) is x
