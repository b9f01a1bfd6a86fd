"""What must hold for every decoder by itself, whatever its settings."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.errors import RunError, ShapeError
from regard.models.decoder import Decoder
from regard.models.weights import load_weights, weights_of
from regard.nn.positions import POSITIONS
from regard.shapes import DecoderSettings

V, B, T = 11, 3, 9
OTHERS = {
    "window": dict(window=3),
    "window, relative": dict(window=3, positions="relative"),
    "window, alibi, grouped": dict(window=4, positions="alibi", heads=4, kv_heads=2),
    "stretched": dict(positions="rotary", rotary_base=50.0, rotary_stretch=3.0),
    "normed embeddings, post": dict(embedding_norm=True, norm_place="post", positions="learned"),
    "rms, swiglu, not scaled": dict(norm="rms", activation="swiglu", embedding_scale=False),
    "wide heads, no bias": dict(positions="rotary", head_width=10, kv_heads=1, bias=False),
    "gelu_tanh, epsilon": dict(activation="gelu_tanh", norm_epsilon=1e-3),
    "untied": dict(norm="rms", norm_epsilon=1e-6, tied=False),
}
SETTINGS = {**{name: dict(positions=name) for name in POSITIONS}, **OTHERS}


def made(name, seed=0):
    torch.manual_seed(seed)
    return Decoder.of(DecoderSettings(**{"width": 12, "heads": 2, **SETTINGS[name]}), V).double()


@pytest.fixture(params=SETTINGS)
def decoder(request):
    return made(request.param).eval()


def random_ids(*shape):
    return torch.randint(0, V, shape)


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from([*SETTINGS]),
    st.lists(st.integers(1, 4), min_size=1, max_size=5),
    st.integers(0, 2**31),
)
def test_pieces_read_one_after_the_other_give_what_one_pass_gives(name, pieces, seed):
    decoder = made(name, seed).eval()
    ids = random_ids(2, sum(pieces))
    found, state, start = [], decoder.start(), 0
    for piece in pieces:
        found.append(decoder(ids[:, start : start + piece], state, remember=True))
        start += piece
    torch.testing.assert_close(torch.cat(found, dim=1), decoder(ids), rtol=0, atol=1e-12)


def test_a_cached_step_equals_a_full_pass(decoder):
    ids, state = random_ids(B, 20), decoder.start()
    whole = decoder(ids).log_softmax(dim=-1)
    for t in range(20):
        step, state = decoder.step(state, ids[:, t])
        torch.testing.assert_close(step, whole[:, t], rtol=0, atol=1e-12)


def test_reordered_rows_go_on_as_if_they_had_always_been_so(decoder):
    ids, rows, state = random_ids(B, 5), torch.tensor([2, 2, 0, 1]), decoder.start()
    for t in range(4):
        _, state = decoder.step(state, ids[:, t])
    step, _ = decoder.step(decoder.reorder(state, rows), ids[rows, 4])
    expected = decoder(ids).log_softmax(dim=-1)[rows, 4]
    torch.testing.assert_close(step, expected, rtol=0, atol=1e-12)


def test_no_position_sees_the_future(decoder):
    ids = random_ids(2, T)
    before = decoder(ids)
    for t in range(1, T):
        changed = torch.cat([ids[:, :t], random_ids(2, T - t)], dim=1)
        assert torch.equal(decoder(changed)[:, :t], before[:, :t])


def test_every_position_within_reach_matters(decoder):
    """Two layers with a window of w see 2 (w - 1) positions back, those without one see all."""
    ids = random_ids(1, T)
    reach = 2 * (decoder.window - 1) if decoder.window else T
    for t in range(T - 1):
        changed = ids.clone()
        changed[0, t] = (ids[0, t] + 1) % V
        same = torch.equal(decoder(changed)[:, -1], decoder(ids)[:, -1])
        assert same == (T - 1 - t > reach)


def test_weights_begin_as_the_table_in_init_says():
    torch.manual_seed(0)
    decoder = Decoder.of(DecoderSettings(width=64, heads=2), 500)
    assert abs(float(decoder.embed.table.weight.detach().std()) * 8 - 1) < 0.02  # 1 / sqrt(64)
    feed = decoder.blocks[0].feed.up
    assert feed.bias.eq(0).all() and feed.weight.abs().max() <= (6 / (64 + 256)) ** 0.5


def test_gradients_reach_every_parameter(decoder):
    decoder(random_ids(B, T)).square().sum().backward()
    for name, parameter in decoder.named_parameters():
        assert parameter.grad is not None and parameter.grad.ne(0).any(), name


@pytest.mark.parametrize("name", SETTINGS)
def test_what_goes_in_and_what_comes_out_share_one_table_unless_untied(name):
    tables = [name for name, p in made(name).named_parameters() if p.shape[:1] == (V,)]
    assert tables == ["embed.table.weight", "embed.judge.weight"][: 1 + (name == "untied")]


def test_a_tied_decoder_is_one_whose_two_tables_are_equal():
    ids, shape = random_ids(B, T), {"width": 12, "heads": 2}
    tied, twice = (Decoder.of(DecoderSettings(**shape, tied=t), V).double() for t in (True, False))
    weights = weights_of(tied)
    load_weights(twice, {**weights, "embed.judge.weight": weights["embed.table.weight"]}, "here")
    assert torch.equal(tied(ids), twice(ids))
    for network in (tied, twice):
        network(ids).square().sum().backward()
    both = twice.embed.table.weight.grad + twice.embed.judge.weight.grad
    torch.testing.assert_close(tied.embed.table.weight.grad, both, rtol=0, atol=1e-12)


def test_weights_of_a_tied_decoder_are_not_taken_for_those_of_an_untied_one():
    with pytest.raises(RunError, match='"embed.judge.weight" is missing from here'):
        load_weights(made("untied"), weights_of(made("rms, swiglu, not scaled")), "here")


def test_settings_saved_before_there_were_these_mean_the_same_network():
    new = {"norm_epsilon", "tied"}
    assert new < DecoderSettings.model_fields.keys()
    before = DecoderSettings(width=12, heads=2).model_dump(exclude=new)
    assert DecoderSettings(**before) == DecoderSettings(width=12, heads=2)
    assert DecoderSettings(**before).tied and DecoderSettings(**before).norm_epsilon is None


def test_the_embeddings_go_through_their_norm_when_asked():
    decoder = made("normed embeddings, post").eval()
    x = decoder.begin(random_ids(2, 4))
    torch.testing.assert_close(x.mean(dim=-1), torch.zeros(2, 4).double(), rtol=0, atol=1e-12)
    ids = random_ids(2, 4)
    added = decoder.positions.add(decoder.embed(ids))
    assert torch.equal(decoder.begin(ids), decoder.embed_norm(added))


@pytest.mark.parametrize(("scaled", "factor"), [(True, 12**0.5), (False, 1.0)])
def test_token_vectors_are_scaled_only_when_asked(scaled, factor):
    shape = DecoderSettings(width=12, heads=2, positions="none", embedding_scale=scaled)
    decoder, ids = Decoder.of(shape, V), random_ids(2, 4)
    torch.testing.assert_close(decoder.begin(ids), decoder.embed.table.weight[ids] * factor)


@pytest.mark.parametrize("positions", ["learned", "alibi"])
def test_a_text_longer_than_max_length_is_refused_also_step_by_step(positions):
    shape = DecoderSettings(width=12, heads=2, positions=positions, max_length=4)
    decoder = Decoder.of(shape, V)
    message = "5 tokens is longer than this model's max_length of 4"
    with pytest.raises(ShapeError, match=message):
        decoder(random_ids(1, 5))
    state = decoder.start()
    for _ in range(4):
        _, state = decoder.step(state, random_ids(1))
    with pytest.raises(ShapeError, match=message):
        decoder.step(state, random_ids(1))
