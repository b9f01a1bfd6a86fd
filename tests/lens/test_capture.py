"""Looking changes nothing, and what is seen is what the kernel used."""

from typing import Any

import numpy as np
import pytest
import torch

from regard.build import new_training
from regard.lens.capture import attentions, capture, look
from regard.lens.influence import influence
from regard.models.encoder import Source
from regard.models.encoder_decoder import EncoderDecoder
from regard.nn.attention import Attend
from regard.shapes import TransformerSettings


@pytest.fixture
def network():
    torch.manual_seed(0)
    settings = TransformerSettings(width=12, heads=3, kv_heads=1, decoder_layers=3)
    return EncoderDecoder(settings, 9, 9).eval()


SOURCE = Source(torch.tensor([[4, 5, 6, 7], [5, 6, 0, 0]]), torch.tensor([4, 2]))
TARGET = torch.tensor([[1, 7, 8], [1, 4, 0]])


def test_outputs_are_bit_equal_while_someone_looks(network):
    before = network(SOURCE, TARGET)
    with capture(network) as seen:
        during = network(SOURCE, TARGET)
    assert torch.equal(before, during) and torch.equal(before, network(SOURCE, TARGET))
    assert len(seen) == 8  # two in the encoder, three self and three cross in the decoder


def test_nobody_pays_when_nobody_looks(network):
    with pytest.raises(RuntimeError), capture(network):
        raise RuntimeError
    modules = [m for m in network.modules() if isinstance(m, Attend)]
    assert len(modules) == 8 and not any(m._forward_hooks for m in modules)


def test_every_attention_is_named_by_what_it_is_and_its_layer(network):
    assert list(attentions(network).values()) == [
        ("encoder", 0), ("encoder", 1),
        ("decoder", 0), ("cross", 0), ("decoder", 1), ("cross", 1), ("decoder", 2), ("cross", 2),
    ]  # fmt: skip


def test_weights_sum_to_one_never_look_ahead_and_never_at_padding(network):
    with capture(network) as seen:
        network(SOURCE, TARGET)
    for one in seen:
        torch.testing.assert_close(one.weights.sum(-1), torch.ones(one.weights.shape[:3]))
        if one.name == "decoder":
            assert one.weights.triu(1).eq(0).all()
        else:
            assert one.weights[1, :, :, 2:].eq(0).all()


def test_the_weights_seen_are_those_that_made_the_output(network):
    kept = {}
    path, layer = "decoder.blocks.1.cross.attend", network.decoder.blocks[1].cross
    layer.attend.register_forward_hook(lambda m, args, out: kept.update(v=args[2], out=out))
    with capture(network) as seen:
        network(SOURCE, TARGET)
    place = list(attentions(network)).index(path)
    mixed = seen[place].weights @ kept["v"]  # one key head serves all three
    torch.testing.assert_close(mixed, kept["out"])


def test_a_look_labels_rows_with_what_is_written_and_columns_with_what_is_read(small, tmp_path):
    training = new_training(small(), tmp_path / "run")
    picture = look(training.task, training.network, "abc")
    maps = {m.name: m for m in picture.maps}
    assert maps["encoder"].rows == maps["encoder"].columns == ("a", "b", "c")
    assert maps["cross"].columns == ("a", "b", "c")
    assert maps["cross"].rows == maps["decoder"].rows
    assert maps["decoder"].columns == ("<start>", *maps["decoder"].rows[:-1])
    assert picture.source == "abc" and maps["cross"].weights.shape[0] == 2


RECURRENT = ("model.kind=rnn", "model.width=8")
NOT_RECURRENT = ("model.heads", "model.encoder_layers", "model.decoder_layers")


@pytest.mark.parametrize("attention", ["additive", "general"])
@pytest.mark.parametrize("feeding", ["true", "false"])
def test_a_network_that_goes_step_by_step_shows_one_alignment(small, tmp_path, attention, feeding):
    sets = (*RECURRENT, f"model.attention={attention}", f"model.input_feeding={feeding}")
    training = new_training(small(*sets, unset=NOT_RECURRENT), tmp_path / "run")
    picture = look(training.task, training.network, "abc")
    (alignment,) = picture.maps
    assert alignment.name == "cross" and alignment.columns == ("a", "b", "c")
    assert alignment.weights.shape == (1, len(alignment.rows), 3)
    assert abs(alignment.weights.sum(-1) - 1).max() < 1e-6


def test_what_is_copied_is_shown_too(small, tmp_path):
    training = new_training(small("model.copying=true"), tmp_path / "run")
    copied = look(training.task, training.network, "abc").only(name="copy").maps[0]
    assert copied.labels[0] == "copying" and copied.weights.shape == (1, len(copied.rows), 3)


@pytest.mark.parametrize("backwards", ["true", "false"])
def test_a_network_without_attention_shows_what_its_outputs_depend_on(small, tmp_path, backwards):
    sets = (*RECURRENT, "model.attention=none", f"model.reverse_source={backwards}")
    training = new_training(small(*sets, unset=NOT_RECURRENT), tmp_path / "run")
    (found,) = look(training.task, training.network, "abc").maps
    assert found.name == "influence" and found.columns == ("a", "b", "c")
    assert found.weights.shape == (1, len(found.rows), 3)
    assert abs(found.weights.sum(-1) - 1).max() < 1e-6


def test_influence_is_the_slope_of_the_log_probability(small, tmp_path):
    """Against differences: move one source vector a little, and see how far the token's
    log-probability moves. Also for a source that is read backwards: columns keep their order."""
    sets = (*RECURRENT, "model.attention=none", "model.reverse_source=true")
    training = new_training(small(*sets, unset=NOT_RECURRENT), tmp_path / "run")
    task, network = training.task, training.network.double().eval()
    shown = influence(task, network, "abc").maps[0].weights[0]  # (T, S)
    replay, step = task.replay(network, "abc"), 1e-6
    slopes = np.zeros((*shown.shape, 8))

    def moved(place: int, feature: int) -> Any:
        calls = iter([True])

        def nudge(module: Any, given: Any, vectors: Any) -> Any:
            if next(calls, False):
                vectors = vectors.clone()
                vectors[0, place, feature] += step
            return vectors

        hooks = [t.register_forward_hook(nudge) for t in {network.source, network.target}]
        with torch.no_grad():
            chances = replay.run().log_softmax(-1)
        for hook in hooks:
            hook.remove()
        return np.array([float(chances[t, token]) for t, token in enumerate(replay.chosen)])

    with torch.no_grad():
        chances = replay.run().log_softmax(-1)
    still = np.array([float(chances[t, token]) for t, token in enumerate(replay.chosen)])
    for place in range(3):
        for feature in range(8):
            slopes[:, place, feature] = (moved(place, feature) - still) / step
    lengths = np.linalg.norm(slopes, axis=-1)
    np.testing.assert_allclose(shown, lengths / lengths.sum(-1, keepdims=True), atol=1e-4)
