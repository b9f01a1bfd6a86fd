"""Published sizes: our networks have as many parameters as their authors count."""

import pytest
import torch
from torch import nn

from regard.cli.info import NETWORKS
from regard.errors import ConfigError
from regard.models.decoder import Decoder
from regard.models.encoder import Encoder, Source
from regard.models.encoder_decoder import EncoderDecoder
from regard.models.simple_transformer import SimpleTransformer
from regard.models.weights import count_parameters
from regard.zoo.parts import parts_of, table_of
from regard.zoo.presets import PRESETS, find_preset, network_of_preset

COUNTS = {
    "bert-base": 109_482_240 - 590_592,  # without the layer on top
    "gpt2": 124_439_808,
    "chollet-imdb": 5_817_633 - 257,  # without the judgement
    "chollet-spa": 19_960_216 - 3_855_000,  # without an output table of its own
    "nanogpt-cpu": 804_096,
    "nanogpt": 10_646_784 + 256 * 384,  # and its positions
    "llama-style": 15_191_712 + 32_000 * 288,  # and an output table, which llama2.c shares
}


@pytest.fixture(params=PRESETS)
def network(request):
    return network_of_preset(request.param, device="meta")


@pytest.mark.parametrize("name", COUNTS)
def test_parameters_are_as_many_as_published(name):
    assert count_parameters(network_of_preset(name, device="meta")) == COUNTS[name]


@pytest.mark.parametrize(
    ("name", "published", "share"), [("vaswani-base", 65e6, 0.04), ("vaswani-big", 213e6, 0.01)]
)
def test_parameters_are_about_as_many_as_vaswani_et_al_say(name, published, share):
    found = count_parameters(network_of_preset(name, device="meta"))
    assert abs(found - published) <= share * published


def test_nanogpt_counts_without_its_positions():
    network = network_of_preset("nanogpt-cpu", device="meta")
    positions = network.positions.table.numel()
    assert round((count_parameters(network) - positions) / 1e6, 2) == 0.80


def test_a_layer_of_chollets_has_heads_as_wide_as_the_network():
    """As Keras counts: four products of width x (heads * width of a head), with biases."""
    network = network_of_preset("chollet-imdb", device="meta")
    attention = sum(p.numel() for p in network.blocks[0].attention.parameters())
    assert attention == 3 * (256 * 512 + 512) + 512 * 256 + 256


def test_every_preset_has_a_name_that_the_command_knows():
    assert set(NETWORKS) == set(PRESETS)


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_says_what_it_is_and_what_is_published(name):
    preset = find_preset(name)
    assert preset.about and preset.published and preset.vocabulary > 0


def test_a_name_that_is_not_there_is_told_with_the_likely_one():
    with pytest.raises(ConfigError, match='no preset "gtp2". Did you mean "gpt2"'):
        find_preset("gtp2")
    with pytest.raises(ConfigError, match="no preset"):
        network_of_preset("resnet")


# Where the parameters are


def test_parts_sum_to_the_whole(network):
    assert sum(part.total for part in parts_of(network)) == count_parameters(network)


def test_parts_of_equal_layers_stand_on_one_line(network):
    found = parts_of(network)
    names = [part.name for part in found]
    assert len(names) == len(set(names)) and all(part.parameters > 0 for part in found)
    blocks = [m for path, m in network.named_modules() if path.endswith("blocks")]
    for part in found:
        assert part.layers in {1, *map(len, blocks)}


def test_the_parts_of_gpt2_are_those_that_one_counts_by_hand():
    E = 768
    assert [tuple(part) for part in parts_of(network_of_preset("gpt2", device="meta"))] == [
        ("token table", 1, 50_257 * E),
        ("positions", 1, 1024 * E),
        ("layer: self-attention", 12, 4 * E * E + 4 * E),
        ("layer: norm", 12, 4 * E),
        ("layer: feed-forward", 12, 8 * E * E + 5 * E),
        ("last norm", 1, 2 * E),
    ]


def test_an_output_table_of_its_own_has_a_line_of_its_own():
    token, output, *_ = parts_of(network_of_preset("llama-style", device="meta"))
    assert token == ("token table", 1, 32_000 * 288) and output == ("output", 1, 32_000 * 288)


def test_the_parts_of_bert_have_names_of_their_own():
    names = [part.name for part in parts_of(network_of_preset("bert-base", device="meta"))]
    assert sorted(names) == [
        "layer: feed-forward",
        "layer: norm",
        "layer: self-attention",
        "norm of the embeddings",
        "positions",
        "segments",
        "token table",
    ]


def test_a_shared_table_counts_once_and_both_sides_are_named():
    names = [part.name for part in parts_of(network_of_preset("vaswani-base", device="meta"))]
    assert "encoder token table" in names and "decoder token table" not in names
    assert [name for name in names if name.startswith("decoder")] == [
        "decoder layer: self-attention",
        "decoder layer: norm",
        "decoder layer: cross-attention",
        "decoder layer: feed-forward",
    ]
    own = [part.name for part in parts_of(network_of_preset("chollet-spa", device="meta"))]
    assert "encoder token table" in own and "decoder token table" in own


def test_a_table_ends_with_the_whole_and_its_shares_sum_to_one(network):
    *rows, last = table_of(network)
    assert last == ("all", "", f"{count_parameters(network):,}", "")
    assert abs(sum(float(row[3].rstrip("%")) for row in rows) - 100) < 0.1 * len(rows)
    for (_, many, total, _), part in zip(rows, parts_of(network), strict=True):
        assert total == f"{part.total:,}"
        assert many == ("" if part.layers == 1 else f"{part.layers} x {part.parameters:,}")


def test_a_part_without_a_word_of_its_own_keeps_its_name():
    network = nn.ModuleDict({"unheard": nn.Linear(2, 3), "judge": nn.Linear(3, 1)})
    assert [tuple(part) for part in parts_of(network)] == [("unheard", 1, 9), ("output", 1, 4)]


# The networks


def test_presets_are_the_networks_that_they_say():
    kinds = {
        "vaswani-base": EncoderDecoder,
        "bert-base": Encoder,
        "gpt2": Decoder,
        "chollet-imdb": Encoder,
        "chollet-spa": EncoderDecoder,
        "nanogpt-cpu": Decoder,
        "llama-style": Decoder,
        "simple-transformer": SimpleTransformer,
    }
    for name, kind in kinds.items():
        assert type(network_of_preset(name, device="meta")) is kind


def test_a_preset_runs():
    ids = torch.randint(0, 65, (2, 64))
    assert network_of_preset("nanogpt-cpu")(ids).shape == (2, 64, 65)
    assert network_of_preset("chollet-imdb")(Source(ids)).shape == (2, 64, 256)


def test_100_ids_into_the_simple_transformer_give_100_rows_of_scores():
    network = network_of_preset("simple-transformer", device="meta")
    ids = torch.zeros(1, 100, dtype=torch.int64, device="meta")
    assert network(ids).shape == (1, 100, 10_000)
