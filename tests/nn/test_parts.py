import pytest
import torch
from torch.nn import functional as F

from regard.config import TransformerSettings
from regard.errors import ShapeError
from regard.nn.block import Block
from regard.nn.cache import KeyValues
from regard.nn.embeddings import TokenEmbedding
from regard.nn.feed_forward import FeedForward
from regard.nn.mask import Mask


def test_an_embedding_is_one_hot_times_matrix_scaled_by_the_root_of_its_width():
    embed = TokenEmbedding(5, 4).double()
    one_hot = F.one_hot(torch.tensor([[3, 0]]), 5).double()
    torch.testing.assert_close(embed(torch.tensor([[3, 0]])), one_hot @ embed.table.weight * 2)


@pytest.mark.parametrize("bad", [5, 200_000, -1])
def test_an_id_outside_the_vocabulary_is_named(bad):
    with pytest.raises(ShapeError, match=rf"token id {bad} is outside the vocabulary of 5 \(ids 0"):
        TokenEmbedding(5, 4)(torch.tensor([[1, bad]]))


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
