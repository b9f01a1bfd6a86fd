"""Masks, against each rule written as a loop over queries and keys."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.errors import ShapeError
from regard.nn.attention import attend
from regard.nn.mask import Mask

B = 2
CPU = torch.device("cpu")


@st.composite
def masks(draw):
    """A mask, the numbers of its queries and keys, and its rules as plain lists."""
    S = draw(st.integers(1, 6))
    T = draw(st.integers(1, S))
    each = lambda most, size: st.lists(st.integers(0, most), min_size=size, max_size=size)  # noqa: E731
    rules = {
        "causal": draw(st.booleans()),
        "window": draw(st.none() | st.integers(1, 4)),
        "lengths": draw(st.none() | each(S, B)),
        "blocks": draw(st.none() | st.lists(each(2, S), min_size=B, max_size=B)),
        "dense": draw(st.none() | st.lists(each(1, S), min_size=T, max_size=T)),
    }
    given = {name: rule for name, rule in rules.items() if rule is not None}
    for name in {"lengths", "blocks", "dense"} & given.keys():
        given[name] = torch.tensor(given[name])
    if "dense" in given:
        given["dense"] = given["dense"].bool()
    return Mask(**given), T, S, rules


def may_look(rules, T, S, b, t, s):
    place = S - T + t  # queries are the last of the keys
    return (
        not (rules["causal"] and s > place)
        and not (rules["window"] is not None and abs(place - s) >= rules["window"])
        and not (rules["lengths"] is not None and s >= rules["lengths"][b])
        and not (rules["blocks"] is not None and rules["blocks"][b][s] != rules["blocks"][b][place])
        and not (rules["dense"] is not None and not rules["dense"][t][s])
    )


@settings(max_examples=150, deadline=None)
@given(masks())
def test_a_mask_allows_what_all_of_its_rules_allow(drawn):
    mask, T, S, rules = drawn
    found = mask.draw(T, S).expand(B, 1, T, S)[:, 0].tolist()
    places = range(T), range(S)
    assert found == [
        [[may_look(rules, T, S, b, t, s) for s in places[1]] for t in places[0]] for b in range(B)
    ]


@settings(max_examples=100, deadline=None)
@given(masks(), st.integers(0, 2**31))
def test_the_cheapest_form_of_a_mask_hides_the_same(drawn, seed):
    mask, T, S, _ = drawn
    torch.manual_seed(seed)
    q, k = torch.randn(B, 3, T, 4).double(), torch.randn(B, 3, S, 4).double()
    fast, _ = attend(q, k, k, mask=mask)
    dense, weights = attend(q, k, k, mask=Mask(dense=mask.draw(T, S)), weights=True)
    torch.testing.assert_close(fast, dense, rtol=0, atol=1e-12)
    assert weights[~mask.draw(T, S).expand_as(weights)].eq(0).all()


@pytest.mark.parametrize(
    ("rules", "T", "S", "message"),
    [
        ({"lengths": torch.ones(2, 1)}, 3, 3, r"lengths has shape \(2, 1\), expected \(B,\)"),
        ({"lengths": torch.tensor(3)}, 3, 3, r"lengths has shape \(\), expected \(B,\)"),
        ({"blocks": torch.zeros(2, 4)}, 3, 5, r"blocks has shape \(2, 4\), expected \(B, 5\)"),
        ({"blocks": torch.zeros(5)}, 3, 5, r"blocks has shape \(5,\), expected \(B, 5\)"),
        ({"dense": torch.ones(3, 4) > 0}, 3, 5, r"shape \(3, 4\), .* broadcasts to \(B, H, 3, 5\)"),
        ({"dense": torch.ones(3, 5)}, 3, 5, r"dense is torch.float32 .* expected torch.bool"),
        ({"dense": torch.ones(1, 1, 1, 3, 5) > 0}, 3, 5, r"dense is torch.bool of shape \(1, 1, 1"),
        ({"causal": True}, 4, 3, "4 queries have no place among 3 keys"),
        ({"window": 2}, 5, 3, "5 queries have no place among 3 keys"),
        ({"blocks": torch.zeros(2, 3)}, 4, 3, "4 queries have no place among 3 keys"),
    ],
)
def test_a_part_that_does_not_fit_is_named(rules, T, S, message):
    mask = Mask(**rules)
    with pytest.raises(ShapeError, match=message):
        mask.draw(T, S)
    with pytest.raises(ShapeError, match=message):
        mask.lower(T, S, CPU)


def test_more_queries_than_keys_are_fine_where_places_do_not_matter():
    mask = Mask(lengths=torch.tensor([1, 3]), dense=torch.ones(1, 1, 5, 3) > 0)
    assert mask.draw(5, 3)[:, 0].sum(dim=-1).tolist() == [[1] * 5, [3] * 5]


def test_one_row_serves_every_query_where_only_lengths_are_given():
    mask = Mask(lengths=torch.tensor([1, 3]))
    allowed, causal = mask.lower(5, 3, CPU)
    assert allowed.shape == (2, 1, 1, 3) and not causal
    assert torch.equal(allowed.expand(2, 1, 5, 3), mask.draw(5, 3).expand(2, 1, 5, 3))


@pytest.mark.parametrize("shape", [(1,), (5,), (1, 5), (3, 1), (2, 1, 1, 5), (2, 4, 3, 5)])
def test_a_written_out_mask_may_leave_axes_to_be_repeated(shape):
    dense = torch.rand(*shape, generator=torch.Generator().manual_seed(0)) > 0.5
    found = Mask(dense=dense).draw(3, 5)
    assert torch.equal(found.expand(2, 4, 3, 5), dense.expand(2, 4, 3, 5))
