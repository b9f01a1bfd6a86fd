"""Our encoder-decoder and `torch.nn.Transformer`'s parts, with the same weights, in float64."""

import pytest
import torch
from torch import nn

from regard.models.encoder import Source
from regard.models.encoder_decoder import EncoderDecoder
from regard.shapes import TransformerSettings

B, S, T, E, H, V = 3, 7, 5, 12, 3, 11


def copy_attention(theirs, ours, cross=False):
    weight, bias = theirs.in_proj_weight, theirs.in_proj_bias
    if cross:
        ours.query.weight.data, ours.query.bias.data = weight[:E], bias[:E]
        ours.project.weight.data, ours.project.bias.data = weight[E:], bias[E:]
    else:
        ours.project.weight.data, ours.project.bias.data = weight, bias
    ours.out.load_state_dict(theirs.out_proj.state_dict())


def copy_block(theirs, ours, cross):
    copy_attention(theirs.self_attn, ours.attention)
    ours.norm.load_state_dict(theirs.norm1.state_dict())
    if cross:
        copy_attention(theirs.multihead_attn, ours.cross, cross=True)
        ours.cross_norm.load_state_dict(theirs.norm2.state_dict())
    ours.feed_norm.load_state_dict((theirs.norm3 if cross else theirs.norm2).state_dict())
    ours.feed.up.load_state_dict(theirs.linear1.state_dict())
    ours.feed.out.load_state_dict(theirs.linear2.state_dict())


def both(place, activation):
    torch.manual_seed(0)
    shape = dict(d_model=E, nhead=H, dim_feedforward=20, dropout=0.0, activation=activation)
    shape |= dict(batch_first=True, norm_first=place == "pre")
    last = lambda: nn.LayerNorm(E) if place == "pre" else None  # noqa: E731
    encoder = nn.TransformerEncoder(
        nn.TransformerEncoderLayer(**shape), 2, last(), enable_nested_tensor=False
    )
    decoder = nn.TransformerDecoder(nn.TransformerDecoderLayer(**shape), 2, last())
    for part in (encoder, decoder):
        for p in part.parameters():
            nn.init.normal_(p, std=0.3)  # layers made by deepcopy start equal: tell them apart
    settings = TransformerSettings(
        width=E, heads=H, feed=20, activation=activation, norm_place=place, positions="none"
    )
    ours = EncoderDecoder(settings, V, V)
    for theirs, stack in ((encoder, ours.encoder), (decoder, ours.decoder)):
        for layer, block in zip(theirs.layers, stack.blocks, strict=True):
            copy_block(layer, block, cross=theirs is decoder)
        if place == "pre":
            stack.norm.load_state_dict(theirs.norm.state_dict())
    return encoder.double(), decoder.double(), ours.double()


@pytest.mark.parametrize("place", ["pre", "post"])
@pytest.mark.parametrize("activation", ["relu", "gelu"])
@pytest.mark.parametrize("padded", [False, True])
def test_logits_and_gradients_equal_those_of_torch(place, activation, padded):
    encoder, decoder, ours = both(place, activation)
    source, target = torch.randint(4, V, (B, S)), torch.randint(4, V, (B, T))
    lengths = torch.tensor([7, 4, 5]) if padded else None
    hidden = torch.arange(S) >= lengths[:, None] if padded else None  # True = may NOT look

    memory = encoder(ours.encoder.embed(source), src_key_padding_mask=hidden)
    ahead = torch.ones(T, T, dtype=torch.bool).triu(1)
    theirs = decoder(
        ours.decoder.embed(target), memory, tgt_mask=ahead, memory_key_padding_mask=hidden
    )
    expected = ours.decoder.embed.scores(theirs)
    logits = ours(Source(source, lengths), target)
    torch.testing.assert_close(logits, expected, rtol=0, atol=1e-10)

    table = ours.decoder.embed.table.weight
    mine = torch.autograd.grad(logits.square().sum(), table)[0]
    reference = torch.autograd.grad(expected.square().sum(), table)[0]
    torch.testing.assert_close(mine, reference, rtol=1e-9, atol=1e-9)
