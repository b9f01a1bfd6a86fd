"""Our encoder and decoder, and transformers' networks with the same weights and its default
activations, epsilons and output tables, in float64. Where transformers works in float32 inside,
whatever it is given, the tolerance says so; of Llama the two places that do are replaced by the
same lines without the cast."""

import pytest
import torch
from torch import nn
from transformers import (
    BertConfig,
    BertModel,
    GPT2Config,
    GPT2LMHeadModel,
    LlamaConfig,
    LlamaForCausalLM,
    MptConfig,
    MptForCausalLM,
    T5Config,
    T5EncoderModel,
)
from transformers.models.bloom.modeling_bloom import build_alibi_tensor
from transformers.models.llama.modeling_llama import (
    LlamaRMSNorm,
    LlamaRotaryEmbedding,
    apply_rotary_pos_emb,
)
from transformers.models.mpt.modeling_mpt import build_mpt_alibi_tensor
from transformers.models.t5.modeling_t5 import T5Attention

from regard.models.decoder import Decoder
from regard.models.encoder import Encoder, Source
from regard.models.weights import count_parameters
from regard.nn.attention import attend
from regard.nn.mask import Mask
from regard.nn.positions import POSITIONS
from regard.shapes import DecoderSettings, EncoderSettings, StackSettings
from regard.zoo.presets import PRESETS, network_of_preset

V, E, H, F, LAYERS, B, T = 17, 12, 3, 20, 2, 3, 7
EXACT, ROUGH = 1e-10, 3e-6


@torch.no_grad()
def scattered(theirs):
    """Random weights everywhere, norms and biases included: nothing is told apart by a 1 or a 0."""
    torch.manual_seed(0)
    for name, parameter in theirs.named_parameters():
        norm = "norm" in name.lower() or ".ln_" in name
        nn.init.normal_(parameter, mean=1.0 if norm else 0.0, std=0.3)
    return theirs.double().eval()


@torch.no_grad()
def filled(ours, weights):
    """Our network with these weights; all of them, and no others."""
    ours.double().eval().load_state_dict({name: w.clone() for name, w in weights.items()})
    return ours


def random_ids():
    return torch.randint(0, V, (B, T), generator=torch.Generator().manual_seed(1))


def close(found, expected, tolerance):
    torch.testing.assert_close(found, expected, rtol=0, atol=tolerance)


def norm_in_float64(self, x):
    return self.weight * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.variance_epsilon))


def turns_in_float64(self, x, position_ids):
    rope, width = self.config.rope_parameters, self.config.head_dim
    slow = rope["rope_theta"] ** (torch.arange(0, width, 2, dtype=torch.float64) / width)
    angles = position_ids[..., None].double() / slow / rope.get("factor", 1.0)
    angles = torch.cat([angles, angles], dim=-1)
    return angles.cos(), angles.sin()


@pytest.fixture
def llama_in_float64(monkeypatch):
    monkeypatch.setattr(LlamaRMSNorm, "forward", norm_in_float64)
    monkeypatch.setattr(LlamaRotaryEmbedding, "forward", turns_in_float64)


# Whole networks


def bert():
    theirs = BertModel(
        BertConfig(
            vocab_size=V,
            hidden_size=E,
            num_hidden_layers=LAYERS,
            num_attention_heads=H,
            intermediate_size=F,
            max_position_embeddings=9,
        ),
        add_pooling_layer=False,
    )
    w = scattered(theirs).state_dict()
    both = ("weight", "bias")
    weights = {
        "embed.table.weight": w["embeddings.word_embeddings.weight"],
        "positions.table": w["embeddings.position_embeddings.weight"],
        "segments.weight": w["embeddings.token_type_embeddings.weight"],
        **{f"embed_norm.{x}": w[f"embeddings.LayerNorm.{x}"] for x in both},
    }
    for i in range(LAYERS):
        old, new = f"encoder.layer.{i}.", f"blocks.{i}."
        for x in both:
            qkv = [w[f"{old}attention.self.{part}.{x}"] for part in ("query", "key", "value")]
            weights |= {
                f"{new}attention.project.{x}": torch.cat(qkv),
                f"{new}attention.out.{x}": w[f"{old}attention.output.dense.{x}"],
                f"{new}norm.{x}": w[f"{old}attention.output.LayerNorm.{x}"],
                f"{new}feed.up.{x}": w[f"{old}intermediate.dense.{x}"],
                f"{new}feed.out.{x}": w[f"{old}output.dense.{x}"],
                f"{new}feed_norm.{x}": w[f"{old}output.LayerNorm.{x}"],
            }
    settings = EncoderSettings(
        width=E,
        heads=H,
        layers=LAYERS,
        feed=F,
        activation="gelu",
        norm_place="post",
        norm_epsilon=1e-12,
        positions="learned",
        segments=2,
        embedding_norm=True,
        embedding_scale=False,
        max_length=9,
    )
    return theirs, filled(Encoder.of(settings, V), weights)


def test_bert_with_segments_and_padding_is_an_encoder():
    theirs, ours = bert()
    ids, lengths = random_ids(), torch.tensor([T, 3, 5])
    real = torch.arange(T) < lengths[:, None]
    segments = (torch.arange(T) > 1).long().expand(B, T)
    expected = theirs(ids, attention_mask=real.long(), token_type_ids=segments)[0]
    close(ours(Source(ids, lengths, segments))[real], expected[real], EXACT)
    close(ours(Source(ids)), theirs(ids)[0], EXACT)  # one segment, where none are named


def gpt2(**more):
    theirs = GPT2LMHeadModel(
        GPT2Config(
            vocab_size=V,
            n_embd=E,
            n_layer=LAYERS,
            n_head=H,
            n_inner=F,
            n_positions=9,
            bos_token_id=None,
            eos_token_id=None,
            **more,
        )
    )
    w = scattered(theirs).transformer.state_dict()
    weights = {"embed.table.weight": w["wte.weight"], "positions.table": w["wpe.weight"]}
    names = {
        "attn.c_attn": "attention.project",
        "attn.c_proj": "attention.out",
        "ln_1": "norm",
        "mlp.c_fc": "feed.up",
        "mlp.c_proj": "feed.out",
        "ln_2": "feed_norm",
    }
    for x in ("weight", "bias"):
        weights[f"norm.{x}"] = w[f"ln_f.{x}"]
        for i in range(LAYERS):
            for old, new in names.items():  # its products are stored the other way round
                weight = w[f"h.{i}.{old}.{x}"]
                weights[f"blocks.{i}.{new}.{x}"] = weight.T if weight.dim() == 2 else weight
    settings = DecoderSettings(
        width=E,
        heads=H,
        layers=LAYERS,
        feed=F,
        activation="gelu" if more else "gelu_tanh",
        norm_epsilon=1e-5,
        positions="learned",
        embedding_scale=False,
        max_length=9,
    )
    return theirs, filled(Decoder.of(settings, V), weights)


def gpt2_with_erf():
    return gpt2(activation_function="gelu")


def llama(**more):
    """Grouped key heads, rotary positions, RMSNorm, a gate, and an output table of its own."""
    theirs = LlamaForCausalLM(
        LlamaConfig(
            vocab_size=V,
            hidden_size=E,
            num_hidden_layers=LAYERS,
            num_attention_heads=6,
            num_key_value_heads=2,
            head_dim=4,
            intermediate_size=F,
            **more,
        )
    )
    tied = theirs.config.tie_word_embeddings
    w = scattered(theirs).model.state_dict()
    weights = {"embed.table.weight": w["embed_tokens.weight"], "norm.weight": w["norm.weight"]}
    weights |= {} if tied else {"embed.judge.weight": theirs.lm_head.weight}
    for i in range(LAYERS):
        old, new = f"layers.{i}.", f"blocks.{i}."
        qkv = [w[f"{old}self_attn.{part}_proj.weight"] for part in "qkv"]
        gate = [w[f"{old}mlp.{part}_proj.weight"] for part in ("gate", "up")]
        weights |= {
            f"{new}attention.project.weight": torch.cat(qkv),
            f"{new}attention.out.weight": w[f"{old}self_attn.o_proj.weight"],
            f"{new}norm.weight": w[f"{old}input_layernorm.weight"],
            f"{new}feed.up.weight": torch.cat(gate),
            f"{new}feed.out.weight": w[f"{old}mlp.down_proj.weight"],
            f"{new}feed_norm.weight": w[f"{old}post_attention_layernorm.weight"],
        }
    settings = DecoderSettings(
        width=E,
        heads=6,
        kv_heads=2,
        head_width=4,
        layers=LAYERS,
        feed=F,
        activation="swiglu",
        norm="rms",
        norm_epsilon=theirs.config.rms_norm_eps,
        bias=False,
        tied=tied,
        positions="rotary",
        rotary_base=theirs.config.rope_parameters["rope_theta"],
        rotary_stretch=theirs.config.rope_parameters.get("factor", 1.0),
        embedding_scale=False,
    )
    return theirs, filled(Decoder.of(settings, V), weights)


def llama_tied_and_stretched():
    rope = {"rope_type": "linear", "factor": 2.0, "rope_theta": 500.0}
    return llama(rms_norm_eps=1e-3, tie_word_embeddings=True, rope_parameters=rope)


def mpt():
    """ALiBi, with a number of heads that is no power of two."""
    theirs = MptForCausalLM(
        MptConfig(d_model=E, n_heads=H, n_layers=LAYERS, expansion_ratio=4, vocab_size=V)
    )
    w = scattered(theirs).transformer.state_dict()
    weights = {"embed.table.weight": w["wte.weight"], "norm.weight": w["norm_f.weight"]}
    names = {
        "attn.Wqkv": "attention.project",
        "attn.out_proj": "attention.out",
        "norm_1": "norm",
        "ffn.up_proj": "feed.up",
        "ffn.down_proj": "feed.out",
        "norm_2": "feed_norm",
    }
    for i in range(LAYERS):
        for old, new in names.items():
            weights[f"blocks.{i}.{new}.weight"] = w[f"blocks.{i}.{old}.weight"]
    settings = DecoderSettings(
        width=E,
        heads=H,
        layers=LAYERS,
        activation="gelu",
        norm_epsilon=1e-5,
        bias=False,
        positions="alibi",
        embedding_scale=False,
    )
    return theirs, filled(Decoder.of(settings, V), weights)


DECODERS = {
    gpt2: EXACT,
    gpt2_with_erf: EXACT,
    llama: EXACT,
    llama_tied_and_stretched: EXACT,
    mpt: ROUGH,
}


@pytest.mark.parametrize(("both", "tolerance"), DECODERS.items())
def test_gpt2_and_llama_and_mpt_are_decoders(both, tolerance, llama_in_float64):
    theirs, ours = both()
    ids = random_ids()
    expected = theirs(ids).logits
    close(ours(ids), expected, tolerance)
    state, past = ours.start(), None
    for t in range(T):
        step, state = ours.step(state, ids[:, t])
        close(step, expected[:, t].log_softmax(dim=-1), tolerance)
        cached = theirs(ids[:, t : t + 1], past_key_values=past, use_cache=True)
        past = cached.past_key_values
        close(step, cached.logits[:, -1].log_softmax(dim=-1), tolerance)


def test_t5s_encoder_is_an_encoder_with_relative_positions():
    theirs = T5EncoderModel(
        T5Config(
            vocab_size=V,
            d_model=E,
            d_kv=4,
            d_ff=F,
            num_layers=LAYERS,
            num_heads=H,
        )
    )
    w = scattered(theirs).encoder.state_dict()
    weights = {
        "embed.table.weight": w["embed_tokens.weight"],
        "norm.weight": w["final_layer_norm.weight"],
        "positions.table.weight": w["block.0.layer.0.SelfAttention.relative_attention_bias.weight"],
    }
    for i in range(LAYERS):
        old, new = f"block.{i}.layer.", f"blocks.{i}."
        q, k, v = (w[f"{old}0.SelfAttention.{part}.weight"] for part in "qkv")
        weights |= {
            f"{new}attention.project.weight": torch.cat([2 * q, k, v]),  # T5 does not scale scores
            f"{new}attention.out.weight": w[f"{old}0.SelfAttention.o.weight"],
            f"{new}norm.weight": w[f"{old}0.layer_norm.weight"],
            f"{new}feed.up.weight": w[f"{old}1.DenseReluDense.wi.weight"],
            f"{new}feed.out.weight": w[f"{old}1.DenseReluDense.wo.weight"],
            f"{new}feed_norm.weight": w[f"{old}1.layer_norm.weight"],
        }
    settings = EncoderSettings(
        width=E,
        heads=H,
        layers=LAYERS,
        feed=F,
        norm="rms",
        norm_epsilon=1e-6,
        bias=False,
        positions="relative",
        embedding_scale=False,
    )
    ours = filled(Encoder.of(settings, V), weights)
    ids, lengths = random_ids(), torch.tensor([T, 3, 5])
    real = torch.arange(T) < lengths[:, None]
    expected = theirs(ids, attention_mask=real.long())[0]
    close(ours(Source(ids, lengths))[real], expected[real], ROUGH)


def test_presets_have_the_activation_the_epsilon_and_the_tables_of_transformers_defaults():
    gpt2, bert = (PRESETS[name].shape for name in ("gpt2", "bert-base"))
    assert GPT2Config().activation_function == "gelu_new" and gpt2.activation == "gelu_tanh"
    assert BertConfig().hidden_act == "gelu" == bert.activation
    assert gpt2.norm_epsilon == GPT2Config().layer_norm_epsilon
    assert bert.norm_epsilon == BertConfig().layer_norm_eps
    assert gpt2.bias and gpt2.tied is GPT2Config().tie_word_embeddings is True
    assert PRESETS["llama-style"].shape.tied is LlamaConfig().tie_word_embeddings is False


def test_presets_are_as_large_as_what_transformers_builds():
    with torch.device("meta"):
        bert, gpt2 = BertModel(BertConfig(), add_pooling_layer=False), GPT2LMHeadModel(GPT2Config())
    for name, theirs in (("bert-base", bert), ("gpt2", gpt2)):
        ours = network_of_preset(name, device="meta")
        assert count_parameters(ours) == count_parameters(theirs)


# Positions


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize(("T", "S"), [(150, 150), (1, 40), (3, 200)])
def test_relative_positions_are_t5s_in_both_directions(causal, T, S):
    config = T5Config(d_model=E, d_kv=4, num_heads=H, is_decoder=causal)
    theirs = T5Attention(config, has_relative_attention_bias=True, layer_idx=0).double()
    settings = StackSettings(width=E, heads=H, positions="relative")
    ours = POSITIONS["relative"](settings, causal=causal).double()
    ours.table.load_state_dict(theirs.relative_attention_bias.state_dict())
    assert torch.equal(ours.bias(T, S), theirs.compute_bias(T, S, past_seen_tokens=S - T))


@pytest.mark.parametrize("heads", [1, 2, 3, 4, 6, 8, 12])
def test_alibi_gives_the_weights_that_bloom_and_mpt_give(heads):
    torch.manual_seed(heads)
    q, k = torch.randn(2, 1, heads, T, 4, dtype=torch.float64)
    settings = StackSettings(width=4 * heads, heads=heads, positions="alibi")
    bias = POSITIONS["alibi"](settings, causal=True).bias(T, T)
    _, ours = attend(q, k, k, mask=Mask(causal=True), bias=bias, weights=True)
    later = torch.ones(T, T, dtype=torch.bool).triu(1)
    bloom = build_alibi_tensor(torch.ones(1, T), heads, torch.float64)  # (heads, 1, T)
    mpt = build_mpt_alibi_tensor(heads, T).double()
    for theirs in (bloom, mpt):  # both count from one end: a row's softmax does not see that
        scores = (q @ k.mT / 2 + theirs).masked_fill(later, -torch.inf)
        close(ours, scores.softmax(dim=-1), 1e-6)


@pytest.mark.parametrize("stretch", [1.0, 2.5])
@pytest.mark.parametrize(("base", "width"), [(10_000.0, 8), (500_000.0, 6)])
def test_rotary_positions_are_llamas_also_when_stretched(base, width, stretch):
    kind = {"rope_type": "linear", "factor": stretch} if stretch > 1 else {"rope_type": "default"}
    config = LlamaConfig(head_dim=width, rope_parameters={"rope_theta": base, **kind})
    torch.manual_seed(0)
    q, k = torch.randn(2, B, H, T, width, dtype=torch.float64)
    start = 5
    theirs, places = LlamaRotaryEmbedding(config), torch.arange(start, start + T)[None]
    rough, turns = theirs(q, places), turns_in_float64(theirs, q, places)
    close(torch.stack(turns), torch.stack(rough), ROUGH)  # the replacement is the same function
    settings = StackSettings(
        width=E,
        heads=H,
        head_width=width,
        positions="rotary",
        rotary_base=base,
        rotary_stretch=stretch,
    )
    ours = POSITIONS["rotary"](settings)
    for x, expected in zip((q, k), apply_rotary_pos_emb(q, k, *turns), strict=True):
        close(ours.turn(x, start), expected, EXACT)
