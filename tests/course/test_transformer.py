"""The course, section 4: encoder, decoder, encoder-decoder; SimpleTransformer and its two
questions; pre- and post-norm, ReLU, GELU, SwiGLU, RMS norm as settings."""

import numpy as np
import pytest
import torch

from regard.course import norm_place, transformer
from regard.models.weights import count_parameters
from regard.nn.block import Block
from regard.shapes import StackSettings
from regard.zoo.presets import network_of_preset


@pytest.fixture(scope="module")
def lesson():
    """Half as many steps as the chapter takes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(norm_place, "STEPS", 40)
        patch.setattr(norm_place, "STARTS", 3)
        return transformer.lesson()


def test_all_numbers_of_the_transformer_are_as_expected(lesson):
    assert lesson.ok, [number.name for number in lesson.numbers if not number.ok]


def layer(d, feed, norms=2):
    """Parameters of an encoder layer: attention, feed-forward, norms with gamma and beta."""
    return 4 * (d * d + d) + (d * feed + feed) + (feed * d + d) + norms * 2 * d


@pytest.mark.parametrize(
    "name, wanted",
    [
        ("gpt2", 50_257 * 768 + 1024 * 768 + 12 * layer(768, 3072) + 2 * 768),
        ("bert-base", (30_522 + 512 + 2) * 768 + 2 * 768 + 12 * layer(768, 3072)),
        (
            "vaswani-base",
            37_000 * 512
            + 6 * layer(512, 2048)
            + 6 * (layer(512, 2048, norms=3) + 4 * (512 * 512 + 512)),
        ),
        (
            "simple-transformer",
            10_000 * 2048 + layer(2048, 1024, norms=0) + 2048 * 10_000 + 10_000,
        ),
    ],
)
def test_the_parameters_of_a_preset_are_those_of_the_formula(lesson, name, wanted):
    assert count_parameters(network_of_preset(name, device="meta")) == wanted
    (table,) = [t for t in lesson.tables if t.head[0] == "preset" and "norms" in t.head]
    assert {row[0]: row[-1] for row in table.rows}[name] == f"{wanted:,}"


@pytest.mark.parametrize("place", ["pre", "post"])
def test_a_layer_is_what_numpy_computes(place):
    """Residuals, layer norm with gamma and beta, one head, ReLU."""
    torch.manual_seed(0)
    block = Block(StackSettings(width=6, heads=1, feed=10, norm_place=place)).double()
    for parameter in block.parameters():
        torch.nn.init.normal_(parameter)
    w = {name: p.detach().numpy() for name, p in block.named_parameters()}
    x = torch.randn(1, 5, 6, dtype=torch.float64)

    def norm(h, name):
        centred = h - h.mean(axis=1, keepdims=True)
        spread = np.sqrt((centred**2).mean(axis=1, keepdims=True) + 1e-5)
        return centred / spread * w[f"{name}.weight"] + w[f"{name}.bias"]

    def attention(h):
        qkv = h @ w["attention.project.weight"].T + w["attention.project.bias"]
        q, k, v = np.split(qkv, 3, axis=1)
        scores = q @ k.T / np.sqrt(6)
        parts = np.exp(scores - scores.max(axis=1, keepdims=True))
        mixed = parts / parts.sum(axis=1, keepdims=True) @ v
        return mixed @ w["attention.out.weight"].T + w["attention.out.bias"]

    def feed(h):
        inside = np.maximum(h @ w["feed.up.weight"].T + w["feed.up.bias"], 0)
        return inside @ w["feed.out.weight"].T + w["feed.out.bias"]

    h = x[0].numpy()
    for part, name in ((attention, "norm"), (feed, "feed_norm")):
        h = h + part(norm(h, name)) if place == "pre" else norm(h + part(h), name)
    with torch.no_grad():
        found = block(x, None, lambda x, start: x)[0].numpy()
        by_hand = transformer.by_hand(block, x, place)[0].numpy()
    np.testing.assert_allclose(found, h, atol=1e-10)
    np.testing.assert_allclose(by_hand, h, atol=1e-10)


def test_simple_transformer_takes_any_length_and_judges_every_word():
    for words in (1, 100, 5000):
        assert transformer.judged(words) == (words, 10_000)


def test_a_network_with_learned_positions_refuses_what_is_too_long():
    rows = {(name, words): said for name, words, said in transformer.lengths_table().rows}
    assert rows["simple-transformer", "1,025"] == "(1, 1025, 10000)"
    assert rows["gpt2", "1,024"] == "(1, 1024, 50257)"
    assert "longer than this model's max_length of 1024" in rows["gpt2", "1,025"]


def test_the_settings_change_only_the_parts_they_are_about():
    rows = {row[0]: row[1:] for row in transformer.settings_table().rows}
    as_published, *others = rows.values()
    assert as_published == ("1,050,624", "2,099,712", "2,048", "3,152,384")
    assert {row[0] for row in others} == {"1,050,624"}
    assert rows["norm = rms"][2] == "1,024"  # gamma and no beta
    assert rows["activation = gelu"] == rows["norm_place = pre"] == as_published


def test_words_on_their_way_through_keep_their_number_and_width(lesson):
    shapes = [eval(shape) for _, shape in lesson.tables[0].rows]
    assert shapes[0] == (1, 7, 512) and shapes[1] == (1, 8, 7, 64)
    assert shapes[-2] == (1, 5, 512) and shapes[-1] == (1, 5, 37_000)


def test_every_parameter_is_in_one_group_of_the_picture():
    for name in transformer.PRESETS:
        network = network_of_preset(name, device="meta")
        assert sum(transformer.grouped(network).values()) == count_parameters(network)
    assert transformer.grouped(network_of_preset("gpt2", device="meta"))["norms"] == 25 * 2 * 768


def test_equal_starts_have_equal_gradients_and_deep_post_norm_has_the_longer_ones_at_the_end():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(norm_place, "STARTS", 1)
        pre, again, post = (norm_place.gradients(p, seed=0) for p in ("pre", "pre", "post"))
    assert pre == again and len(pre) == norm_place.DEEP
    assert post[-1] > 1.5 * pre[-1]
