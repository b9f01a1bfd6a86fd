import math

import pytest
import torch
from torch.nn import functional as F

from regard.errors import ShapeError
from regard.nn.block import Block
from regard.nn.cache import KeyValues
from regard.nn.embeddings import GOLDEN, TokenEmbedding, one_hot, pair_rows, require_ids
from regard.nn.feed_forward import FeedForward
from regard.nn.mask import Mask
from regard.shapes import TransformerSettings


def test_an_embedding_is_one_hot_times_matrix_scaled_by_the_root_of_its_width():
    embed = TokenEmbedding(5, 9).double()
    one_hot = F.one_hot(torch.tensor([[3, 0]]), 5).double()
    torch.testing.assert_close(embed(torch.tensor([[3, 0]])), one_hot @ embed.table.weight * 3)


@pytest.mark.parametrize("bad", [5, 200_000, -1])
def test_an_id_outside_the_vocabulary_is_named(bad):
    with pytest.raises(ShapeError, match=rf"token id {bad} is outside the vocabulary of 5 \(ids 0"):
        TokenEmbedding(5, 4)(torch.tensor([[1, bad]]))


def test_one_hot_times_a_table_is_a_look_up():
    torch.manual_seed(0)
    ids, table = torch.tensor([[3, 0, 3], [1, 4, 2]]), torch.randn(5, 4)
    found = one_hot(ids, 5)
    assert found.shape == (2, 3, 5) and found.sum(dim=-1).eq(1).all()
    assert torch.equal(found.argmax(dim=-1), ids)
    assert torch.equal(found @ table, F.embedding(ids, table))
    letters = one_hot(torch.tensor([ord(c) - ord("A") for c in "SUNNY"]), 26)
    assert letters.nonzero().tolist() == [[0, 18], [1, 20], [2, 13], [3, 13], [4, 24]]


def test_an_id_that_a_table_does_not_hold_is_told_with_the_size_and_the_likely_cause():
    message = (
        r"token id 200000 is outside the vocabulary of 100,000 \(ids 0 to 99,999\): were the ids "
        "made by another tokenizer"
    )
    for ask in (one_hot, require_ids):
        with pytest.raises(ShapeError, match=message):
            ask(torch.tensor([[7, 99_999], [200_000, -1]]), 100_000)
    with pytest.raises(ShapeError, match="token id -1 is outside"):
        require_ids(torch.tensor([0, -1], dtype=torch.int32), 5)
    with pytest.raises(ShapeError, match="whole numbers .* found torch.float32"):
        one_hot(torch.tensor([1.0]), 5)
    with pytest.raises(ShapeError, match="whole numbers .* found torch.float32"):
        TokenEmbedding(5, 4)(torch.tensor([[1.0]]))
    require_ids(torch.zeros(2, 0, dtype=torch.int64), 5)


def test_a_table_without_a_scale_is_looked_up_as_it_is():
    embed, ids = TokenEmbedding(5, 4, scaled=False), torch.tensor([[3, 0]])
    assert torch.equal(embed(ids), embed.table.weight[ids])
    x = torch.randn(2, 3, 4)
    torch.testing.assert_close(embed.scores(x), x @ embed.table.weight.T)


def row_of(before, token, rows):
    """Bits 32 to 63 of a product of whole numbers that have no end, modulo the rows."""
    return ((before * 2**31 + token) * GOLDEN % 2**64 // 2**32) % rows


def test_pairs_are_added_by_the_row_of_their_hash_and_begin_with_nothing():
    torch.manual_seed(0)
    embed, ids = TokenEmbedding(90, 4, pairs=37).double(), torch.randint(0, 90, (3, 8))
    plain = embed.table.weight[ids] * 2
    assert torch.equal(embed(ids), plain)
    torch.nn.init.normal_(embed.pairs.vectors)
    found = embed(ids)
    for b, row in enumerate(ids.tolist()):
        for t, (before, token) in enumerate(zip([0, *row], row, strict=False)):
            pair = embed.pairs.vectors[row_of(before, token, 37)]
            torch.testing.assert_close(found[b, t], plain[b, t] + pair, rtol=0, atol=1e-12)
    assert embed(ids[:, :0]).shape == (3, 0, 4)


def test_pairs_fill_their_table_evenly():
    rows = pair_rows(torch.arange(300)[:, None], torch.arange(300), 1000)
    counts = torch.bincount(rows.flatten(), minlength=1000)
    assert counts.min() > 50 and counts.max() < 130, "90 each, if all were even"


@pytest.mark.parametrize("rows", [2**18, 300_000, 1_000_000, 1_000_003])
def test_pairs_of_a_large_vocabulary_use_all_of_their_table(rows):
    """Also where the number of rows is round: 3 to 4 % of chance meetings are more than enough."""
    torch.manual_seed(0)
    before, ids = torch.randint(0, 20_000, (2, rows))
    used = len(pair_rows(before, ids, rows).unique()) / rows
    assert used == pytest.approx(1 - 1 / math.e, abs=0.01), "as if they were thrown at random"


def test_gelu_tanh_is_the_formula_of_gpt2_and_near_gelu_but_not_the_same():
    feeds = {}
    for name in ("gelu", "gelu_tanh"):
        torch.manual_seed(0)
        feeds[name] = FeedForward(TransformerSettings(width=6, heads=1, activation=name)).double()
    x = torch.randn(2, 3, 6, dtype=torch.float64)
    feed = feeds["gelu_tanh"]
    up = feed.up(x)
    bent = up / 2 * (1 + torch.tanh((2 / torch.pi) ** 0.5 * (up + 0.044715 * up**3)))
    torch.testing.assert_close(feed(x), feed.out(bent), rtol=0, atol=1e-12)
    gap = (feed(x) - feeds["gelu"](x)).abs().max()
    assert 1e-8 < gap < 1e-3


def test_scores_are_made_with_another_table_where_it_is_not_tied():
    embed = TokenEmbedding(5, 4, tied=False)
    x = torch.randn(2, 3, 4)
    torch.testing.assert_close(embed.scores(x), x @ embed.judge.weight.T)
    assert torch.equal(embed(torch.tensor([[3]]))[0, 0], 2 * embed.table.weight[3])


def test_swiglu_gates_one_half_by_the_other():
    feed = FeedForward(TransformerSettings(width=6, heads=1, activation="swiglu", feed=5)).double()
    x = torch.randn(2, 3, 6, dtype=torch.float64)
    up = x @ feed.up.weight.T + feed.up.bias
    gate, value = up[..., :5], up[..., 5:]
    expected = (gate * torch.sigmoid(gate) * value) @ feed.out.weight.T + feed.out.bias
    torch.testing.assert_close(feed(x), expected)


def test_a_cache_returns_everything_appended_and_follows_its_rows():
    k, v = torch.randn(2, 3, 2, 40, 4)
    past = KeyValues(room=2)
    for t in range(40):  # room doubles several times on the way
        keys, values = past.append(k[:, :, t : t + 1], v[:, :, t : t + 1])
        assert torch.equal(keys, k[:, :, : t + 1]) and torch.equal(values, v[:, :, : t + 1])
    chosen = past.select(torch.tensor([2, 0, 2, 1]))
    keys, _ = chosen.append(k[[0, 0, 0, 0], :, :1], v[[0, 0, 0, 0], :, :1])
    assert torch.equal(keys[:, :, :40], k[[2, 0, 2, 1]])
    assert chosen.length == 41 and past.length == 40


@pytest.mark.parametrize("place", ["pre", "post"])
@pytest.mark.parametrize("norm", ["layer", "rms"])
def test_a_block_goes_around_each_part_with_its_norm_in_the_right_place(place, norm):
    settings = TransformerSettings(width=8, heads=2, norm_place=place, norm=norm)
    block = Block(settings).double()
    x = torch.randn(2, 5, 8, dtype=torch.float64)
    mask, turn = Mask(causal=True), lambda x, start: x
    attention = lambda h: block.attention(h, mask, turn)  # noqa: E731
    if place == "pre":
        y = x + attention(block.norm(x))
        y = y + block.feed(block.feed_norm(y))
    else:
        y = block.norm(x + attention(x))
        y = block.feed_norm(y + block.feed(y))
    torch.testing.assert_close(block(x, mask, turn), y)
