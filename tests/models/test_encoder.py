"""What must hold for every encoder by itself, whatever its settings."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.errors import ShapeError
from regard.models.encoder import Encoder, Source
from regard.nn.positions import POSITIONS
from regard.shapes import EncoderSettings

V, B, T = 11, 3, 9
OTHERS = {
    "window": dict(window=3),
    "window, relative": dict(window=2, positions="relative"),
    "window, alibi, grouped": dict(window=4, positions="alibi", heads=4, kv_heads=2),
    "segments": dict(segments=3, positions="learned", embedding_norm=True, embedding_scale=False),
    "post, rms, swiglu": dict(norm_place="post", norm="rms", activation="swiglu", bias=False),
}
SETTINGS = {**{name: dict(positions=name) for name in POSITIONS}, **OTHERS}


def made(name, seed=0):
    torch.manual_seed(seed)
    chosen = EncoderSettings(**{"width": 12, "heads": 2, **SETTINGS[name]})
    return Encoder.of(chosen, V).double().eval()


@pytest.fixture(params=SETTINGS)
def encoder(request):
    return made(request.param)


def random_ids(*shape):
    return torch.randint(0, V, shape)


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from([*SETTINGS]),
    st.lists(st.integers(0, T), min_size=B, max_size=B),
    st.integers(0, 2**31),
)
def test_padding_changes_nothing_and_an_empty_row_gives_no_nan(name, lengths, seed):
    encoder = made(name, seed)
    ids, segments = random_ids(B, T), torch.randint(0, 3, (B, T))
    segments = segments if encoder.segments else None
    together = encoder(Source(ids, torch.tensor(lengths), segments))
    assert together.isfinite().all()
    for b, n in enumerate(lengths):
        part = None if segments is None else segments[b : b + 1, :n]
        alone = encoder(Source(ids[b : b + 1, :n], None, part))
        torch.testing.assert_close(together[b : b + 1, :n], alone, rtol=0, atol=1e-12)
    real = torch.arange(T) < torch.tensor(lengths)[:, None]
    junk = torch.where(real, ids, random_ids(B, T))
    again = encoder(Source(junk, torch.tensor(lengths), segments))
    assert torch.equal(again[real], together[real])


@settings(max_examples=20, deadline=None)
@given(st.permutations(range(T)), st.integers(0, 2**31))
def test_without_positions_tokens_in_another_order_come_out_in_that_order(order, seed):
    encoder = made("none", seed)
    ids = random_ids(2, T)
    torch.testing.assert_close(
        encoder(Source(ids[:, order])), encoder(Source(ids))[:, order], rtol=0, atol=1e-12
    )


@pytest.mark.parametrize("name", [name for name in POSITIONS if name != "none"])
def test_with_positions_order_matters(name):
    encoder, ids = made(name), torch.arange(T)[None]
    order = [1, 0, *range(2, T)]
    moved = encoder(Source(ids[:, order])) - encoder(Source(ids))[:, order]
    assert moved.abs().max() > 1e-3


def test_with_alibi_a_text_read_backwards_is_a_mirror_image_to_an_encoder():
    """Distance counts both ways, so that before and behind look alike."""
    encoder, ids = made("alibi"), random_ids(2, T)
    torch.testing.assert_close(
        encoder(Source(ids.flip(1))), encoder(Source(ids)).flip(1), rtol=0, atol=1e-12
    )


def test_every_token_within_reach_is_seen(encoder):
    """Two layers with a window of w see 2 (w - 1) positions away, those without one see all."""
    ids = random_ids(1, T)
    reach = 2 * (encoder.window - 1) if encoder.window else T
    for t in range(T):
        changed = ids.clone()
        changed[0, t] = (ids[0, t] + 1) % V
        moved = encoder(Source(changed)) - encoder(Source(ids))
        seen = moved.abs().amax(dim=-1)[0] > 0
        assert seen.tolist() == [abs(t - other) <= reach for other in range(T)]


def test_segments_have_vectors_of_their_own_and_the_first_by_default():
    encoder, ids = made("segments"), random_ids(2, 5)
    none = encoder(Source(ids))
    assert torch.equal(none, encoder(Source(ids, None, torch.zeros_like(ids))))
    parts = torch.tensor([[0, 0, 1, 1, 2]] * 2)
    assert (encoder(Source(ids, None, parts)) - none).abs().max() > 1e-3
    with torch.no_grad():
        encoder.segments.weight[:] = encoder.segments.weight[0]
    torch.testing.assert_close(encoder(Source(ids, None, parts)), none, rtol=0, atol=1e-12)


def test_weights_begin_as_the_table_in_init_says():
    torch.manual_seed(0)
    encoder = Encoder.of(EncoderSettings(width=64, heads=2), 500)
    assert abs(float(encoder.embed.table.weight.detach().std()) * 8 - 1) < 0.02  # 1 / sqrt(64)
    feed = encoder.blocks[0].feed.up
    assert feed.bias.eq(0).all() and feed.weight.abs().max() <= (6 / (64 + 256)) ** 0.5


def test_gradients_reach_every_parameter(encoder):
    ids = random_ids(B, T)
    parts = torch.arange(T).expand(B, T) % 3 if encoder.segments else None
    encoder(Source(ids, torch.tensor([T, 4, 6]), parts)).square().sum().backward()
    for name, parameter in encoder.named_parameters():
        assert parameter.grad is not None and parameter.grad.ne(0).any(), name


def test_a_source_of_rows_knows_its_lengths_when_they_differ():
    even, uneven = Source.of([[1, 2], [3, 4]]), Source.of([[1, 2], [3]])
    assert even.lengths is None and even.mask is None
    assert uneven.lengths.tolist() == [2, 1] and uneven.ids.tolist() == [[1, 2], [3, 0]]


def test_a_text_longer_than_max_length_is_refused():
    encoder = Encoder.of(EncoderSettings(width=12, heads=2, max_length=4), V)
    with pytest.raises(ShapeError, match="5 tokens is longer than this model's max_length of 4"):
        encoder(Source(random_ids(1, 5)))
