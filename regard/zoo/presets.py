"""Published sizes by name: `regard info vaswani-base` prints the parameter table of one."""

from dataclasses import dataclass

import torch
from torch import nn

from regard.config import Tree
from regard.errors import ConfigError, did_you_mean
from regard.models.decoder import Decoder
from regard.models.encoder import Encoder
from regard.models.encoder_decoder import EncoderDecoder
from regard.models.simple_transformer import SimpleTransformer
from regard.shapes import DecoderSettings, EncoderSettings, StackSettings, TransformerSettings


@dataclass(frozen=True)
class Preset:
    about: str
    shape: StackSettings | None  # None: the SimpleTransformer, which has no settings
    vocabulary: int
    published: str
    """What its authors say about its size, and what they count that we do not."""
    own_source: int | None = None
    """Vocabulary of the source, where it has a table of its own."""


GPT: Tree = {"norm_epsilon": 1e-5, "positions": "learned", "embedding_scale": False}
VASWANI: Tree = {"norm_place": "post", "encoder_layers": 6, "decoder_layers": 6}
CHOLLET: Tree = {"norm_place": "post", "embedding_scale": False, "positions": "learned"}

PRESETS: dict[str, Preset] = {
    "vaswani-base": Preset(
        "Vaswani et al. 2017, table 3: the Transformer, English to German",
        TransformerSettings(width=512, heads=8, feed=2048, dropout=0.1, **VASWANI),
        37_000,
        "65 million",
    ),
    "vaswani-big": Preset(
        "Vaswani et al. 2017, table 3: the same, larger",
        TransformerSettings(width=1024, heads=16, feed=4096, dropout=0.3, **VASWANI),
        37_000,
        "213 million",
    ),
    "bert-base": Preset(
        "Devlin et al. 2019: an encoder that reads both ways",
        EncoderSettings(
            width=768,
            heads=12,
            layers=12,
            feed=3072,
            activation="gelu",
            norm_place="post",
            norm_epsilon=1e-12,
            positions="learned",
            segments=2,
            embedding_norm=True,
            embedding_scale=False,
            dropout=0.1,
        ),
        30_522,
        "110 million (109,482,240, of which 590,592 are a pooling layer on top)",
    ),
    "gpt2": Preset(
        "Radford et al. 2019, the smallest: a decoder that writes",
        DecoderSettings(
            width=768,
            heads=12,
            layers=12,
            activation="gelu_tanh",
            max_length=1024,
            dropout=0.1,
            **GPT,
        ),
        50_257,
        "124 million (124,439,808)",
    ),
    "chollet-imdb": Preset(
        "Chollet 2021, chapter 11: reviews, good or bad",
        EncoderSettings(
            width=256, heads=2, head_width=256, layers=1, feed=32, max_length=600, **CHOLLET
        ),
        20_000,
        "5,817,633 with positions, of which 257 judge",
    ),
    "chollet-spa": Preset(
        "Chollet 2021, chapter 11: English to Spanish",
        TransformerSettings(
            width=256,
            heads=8,
            head_width=256,
            feed=2048,
            encoder_layers=1,
            decoder_layers=1,
            max_length=20,
            **CHOLLET,
        ),
        15_000,
        "19,960,216, of which 3,855,000 are an output table that we share with the input",
        own_source=15_000,
    ),
    "nanogpt-cpu": Preset(
        "nanoGPT's character model for a CPU, on Shakespeare",
        DecoderSettings(
            width=128, heads=4, layers=4, activation="gelu", max_length=64, bias=False, **GPT
        ),
        65,
        "0.80 million, positions not counted",
    ),
    "nanogpt": Preset(
        "nanoGPT's character model for a GPU, on Shakespeare",
        DecoderSettings(
            width=384,
            heads=6,
            layers=6,
            activation="gelu",
            max_length=256,
            bias=False,
            dropout=0.2,
            **GPT,
        ),
        65,
        "10.65 million, positions not counted",
    ),
    "llama-style": Preset(
        "Touvron et al. 2023, as wide and as deep as llama2.c's stories15M",
        DecoderSettings(
            width=288,
            heads=6,
            layers=6,
            feed=768,
            activation="swiglu",
            norm="rms",
            norm_epsilon=1e-5,
            positions="rotary",
            embedding_scale=False,
            bias=False,
            tied=False,
            max_length=256,
        ),
        32_000,
        "15 million (15,191,712) in llama2.c, which is tied; Llama has 9,216,000 more, an output "
        "table",
    ),
    "simple-transformer": Preset(
        "one attention and one feed-forward layer, nothing else", None, 10_000, "not published"
    ),
}


def find_preset(name: str) -> Preset:
    if name not in PRESETS:
        raise ConfigError(f'there is no preset "{name}".{did_you_mean(name, PRESETS)}')
    return PRESETS[name]


def shape_of_preset(name: str) -> Tree:
    """What a preset says about the section [model] of a recipe: all of its shape, and dropout where
    it has some."""
    shape = find_preset(name).shape
    if shape is None:
        raise ConfigError(f'the preset "{name}" has no settings: it can be looked at, not trained.')
    left = {"dropout"} - shape.model_fields_set
    return shape.model_dump(exclude_none=True, exclude=left)


def network_of_preset(name: str, *, device: str = "cpu") -> nn.Module:
    """The network, untrained. On the device "meta" it has shapes but no numbers, and takes no
    memory."""
    preset = find_preset(name)
    with torch.device(device):
        match preset.shape:
            case TransformerSettings():
                return EncoderDecoder(preset.shape, preset.own_source, preset.vocabulary)
            case EncoderSettings():
                return Encoder.of(preset.shape, preset.vocabulary)
            case DecoderSettings():
                return Decoder.of(preset.shape, preset.vocabulary)
            case _:
                return SimpleTransformer(preset.vocabulary)
