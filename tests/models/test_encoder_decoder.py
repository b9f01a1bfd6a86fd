"""What must hold for every Transformer we build, whatever its settings."""

import pytest
import torch

from regard.errors import ShapeError
from regard.models.encoder import Source
from regard.models.encoder_decoder import EncoderDecoder
from regard.names import PAD
from regard.shapes import TransformerSettings

V = 13
SETTINGS = {
    "sinusoidal": dict(positions="sinusoidal"),
    "learned, post-norm": dict(positions="learned", norm_place="post"),
    "sinusoidal and rotary": dict(positions="both"),
    "rotary, rms, swiglu": dict(positions="rotary", norm="rms", activation="swiglu", bias=False),
    "grouped, wide heads": dict(positions="rotary", heads=4, kv_heads=2, head_width=6),
    "no positions": dict(positions="none", kv_heads=1, activation="gelu"),
    "relative": dict(positions="relative", embedding_scale=False),
    "alibi, window": dict(positions="alibi", window=3, heads=3),
    "copying": dict(positions="both", copying=True),
    "stretched, normed embeddings": dict(
        positions="rotary", rotary_base=100.0, rotary_stretch=2.0, embedding_norm=True
    ),
}


@pytest.fixture(params=SETTINGS)
def network(request):
    torch.manual_seed(1)
    settings = TransformerSettings(**{"width": 12, "heads": 2, **SETTINGS[request.param]})
    return EncoderDecoder(settings, V + 2, V).double().eval()


def random_ids(*shape):
    return torch.randint(4, V, shape)


def test_no_position_sees_the_future(network):
    source, target = Source(random_ids(2, 6)), random_ids(2, 8)
    before = network(source, target)
    for t in range(1, 8):
        changed = target.clone()
        changed[:, t:] = random_ids(2, 8 - t)
        assert torch.equal(network(source, changed)[:, :t], before[:, :t])


def test_padding_the_source_changes_nothing(network):
    long, short, target = random_ids(1, 9), random_ids(1, 5), random_ids(2, 4)
    padded = torch.cat([long, torch.full((1, 9), PAD)])
    padded[1, :5] = short
    together = network(Source(padded, torch.tensor([9, 5])), target)
    torch.testing.assert_close(together[:1], network(Source(long), target[:1]), rtol=0, atol=1e-9)
    torch.testing.assert_close(together[1:], network(Source(short), target[1:]), rtol=0, atol=1e-9)
    padded[1, 5:] = random_ids(4)
    other = network(Source(padded, torch.tensor([9, 5])), target)
    assert torch.equal(together, other)


def test_padding_the_target_changes_nothing_before_it(network):
    source, target = Source(random_ids(2, 6)), random_ids(2, 5)
    longer = torch.cat([target, torch.full((2, 3), PAD)], dim=1)
    torch.testing.assert_close(
        network(source, longer)[:, :5], network(source, target), atol=1e-12, rtol=0
    )


def test_a_cached_step_equals_a_full_pass(network):
    source = Source(random_ids(3, 6), torch.tensor([6, 2, 4]))
    target = random_ids(3, 20)
    full = network(source, target).log_softmax(-1)
    state = network.start(source)
    for t in range(20):
        step, state = network.step(state, target[:, t])
        torch.testing.assert_close(step, full[:, t], rtol=0, atol=1e-9)


def test_reordered_rows_go_on_as_if_they_had_always_been_so(network):
    source = Source(random_ids(3, 6), torch.tensor([6, 2, 4]))
    target, rows = random_ids(3, 5), torch.tensor([2, 2, 0, 1])
    state = network.start(source)
    for t in range(4):
        _, state = network.step(state, target[:, t])
    step, _ = network.step(network.reorder(state, rows), target[rows, 4])
    torch.testing.assert_close(
        step, network(source, target).log_softmax(-1)[rows, 4], rtol=0, atol=1e-9
    )


def test_a_beam_moves_within_its_sources_and_out_of_them(network):
    source = Source(random_ids(3, 6), torch.tensor([6, 2, 4]))
    state, paths = network.start(source), torch.full((3, 1), 1)  # what each row has written
    about = torch.arange(3)  # and the source it writes about
    for rows in ([0, 0, 1, 1, 2], [1, 0, 3, 3, 4], [1, 0, 3, 2, 4], [4, 0, 1], [0, 2, 1]):
        step, state = network.step(state, paths[:, -1])
        whole = network(Source(source.ids[about], source.lengths[about]), paths)[:, -1].log_softmax(
            -1
        )
        torch.testing.assert_close(step, whole, rtol=0, atol=1e-9)
        before = state
        state, about, paths = network.reorder(state, torch.tensor(rows)), about[rows], paths[rows]
        within = before.origins.tolist() == state.origins.tolist()
        assert (before.seen is state.seen) == within, "only sources that moved are copied"
        paths = torch.cat([paths, torch.randint(4, V, (len(rows), 1))], dim=1)


def test_gradients_reach_every_parameter(network):
    network(
        Source(random_ids(2, 6), torch.tensor([6, 3])), random_ids(2, 4)
    ).square().sum().backward()
    for name, parameter in network.named_parameters():
        assert parameter.grad is not None and parameter.grad.ne(0).any(), name


def test_input_and_output_share_their_table_and_so_may_source_and_target():
    apart = EncoderDecoder(TransformerSettings(), V, V)
    shared = EncoderDecoder(TransformerSettings(), None, V)
    tables = lambda n: [k for k, _ in n.named_parameters() if "table" in k]  # noqa: E731
    assert len(tables(apart)) == 2 and len(tables(shared)) == 1
    assert shared.encoder.embed is shared.decoder.embed


@pytest.mark.parametrize("positions", ["learned", "rotary"])
def test_a_sequence_longer_than_max_length_is_refused_with_both_numbers(positions):
    network = EncoderDecoder(TransformerSettings(max_length=6, positions=positions), V, V)
    with pytest.raises(ShapeError, match="7 tokens is longer than this model's max_length of 6"):
        network(Source(random_ids(1, 7)), random_ids(1, 2))
