"""Attention, once. Every Transformer calls `attend`; variants differ only in what they pass:
which keys (self, cross, cached), which `mask` (padding, causal, window), which `bias`
(ALiBi, T5), how many key heads (multi, grouped, one).

B batch   T query positions   S key positions   H query heads   G key heads
D head width   E model width
"""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from regard.errors import ShapeError
from regard.nn.cache import KeyValues
from regard.nn.mask import Mask
from regard.shapes import StackSettings

Turn = Callable[[Tensor, int], Tensor]  # (B, heads, T, D), first position -> the same, turned


def attend(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    *,
    mask: Mask | None = None,
    bias: Tensor | None = None,
    scale: float | None = None,
    dropout: float = 0.0,
    weights: bool = False,
) -> tuple[Tensor, Tensor | None]:
    """Average the values, weighted by how well each query matches each key.

    q     (B, H, T, D)
    k, v  (B, G, S, D)   G divides H; each key head serves H // G query heads
    mask  who may look at whom; None: everyone at everyone
    bias  float, broadcasts to (B, H, T, S); added to the scores
    scale multiplies the scores; 1 / sqrt(D) by default

    Returns the mixed values (B, H, T, D) and, when `weights` is asked for, the attention
    weights (B, H, T, S), before dropout. A query that may look nowhere gets zeros.

    >>> q = k = v = torch.ones(1, 2, 3, 4)
    >>> mixed, _ = attend(q, k, v, mask=Mask(causal=True))
    >>> mixed.shape
    torch.Size([1, 2, 3, 4])
    """
    k, v = _one_key_head_each(q, k, v)
    T, S = q.size(2), k.size(2)
    allowed, causal = mask.lower(T, S, q.device) if mask is not None else (None, False)
    if causal and (weights or bias is not None):  # the kernel's flag takes neither
        allowed, causal = Mask(causal=True).draw(T, S, q.device), False
    if allowed is not None:
        shut = torch.finfo(q.dtype).min / 2  # not -inf: softmax of a row of -inf is NaN
        bias = torch.where(allowed, q.new_zeros(()) if bias is None else bias, shut)

    alpha = None
    if weights:
        scores = q @ k.transpose(-2, -1) * (q.size(-1) ** -0.5 if scale is None else scale)
        alpha = (scores if bias is None else scores + bias).softmax(dim=-1)
        mixed = F.dropout(alpha, dropout) @ v
    else:
        mixed = F.scaled_dot_product_attention(
            q, k, v, attn_mask=bias, dropout_p=dropout, is_causal=causal, scale=scale
        )
    if allowed is not None:
        blind = ~allowed.any(dim=-1, keepdim=True)  # queries that may look nowhere
        mixed = mixed.masked_fill(blind, 0.0)
        alpha = None if alpha is None else alpha.masked_fill(blind, 0.0)
    return mixed, alpha


def _one_key_head_each(q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
    H, G = q.size(1), k.size(1)
    if H % G:
        raise ShapeError(f"{H} query heads cannot share {G} key heads evenly: make G divide H.")
    if q.size(-1) != k.size(-1) or k.shape[:3] != v.shape[:3]:
        raise ShapeError(
            f"queries {tuple(q.shape)}, keys {tuple(k.shape)} and values {tuple(v.shape)} do not "
            "line up: expected (B, H, T, D), (B, G, S, D) and (B, G, S, any)."
        )
    if H == G:
        return k, v
    return k.repeat_interleave(H // G, dim=1), v.repeat_interleave(H // G, dim=1)


class Attend(nn.Module):
    """`attend` as a named child without parameters, so that `lens` can find it and look."""

    def forward(
        self,
        q: Tensor,
        k: Tensor,
        v: Tensor,
        mask: Mask | None = None,
        bias: Tensor | None = None,
    ) -> Tensor:
        return attend(q, k, v, mask=mask, bias=bias)[0]


class SelfAttention(nn.Module):
    """A sequence looks at itself. Queries, keys and values come out of one product."""

    def __init__(self, s: StackSettings) -> None:
        super().__init__()
        self.heads, self.key_heads, self.head_width = s.heads, s.key_heads, s.width_of_head
        self.project = nn.Linear(s.width, (s.heads + 2 * s.key_heads) * s.width_of_head, s.bias)
        self.attend = Attend()
        self.out = nn.Linear(s.heads * s.width_of_head, s.width, s.bias)

    def forward(
        self,
        x: Tensor,
        mask: Mask | None,
        turn: Turn,
        bias: Tensor | None = None,
        past: KeyValues | None = None,
    ) -> Tensor:
        """x (B, T, E) -> (B, T, E). `turn` and `bias` say where tokens are, see positions.py. With
        `past`, x holds only the newest positions."""
        H, G = self.heads, self.key_heads
        qkv = split_heads(self.project(x), self.head_width)  # (B, H + 2G, T, D)
        qk, v = qkv.split([H + G, G], dim=1)
        q, k = turn(qk, past.length if past else 0).split([H, G], dim=1)
        if past is not None:
            k, v = past.append(k, v)
        return self.out(join_heads(self.attend(q, k, v, mask, bias)))


class CrossAttention(nn.Module):
    """A sequence looks at another one, whose keys and values are computed once."""

    def __init__(self, s: StackSettings) -> None:
        super().__init__()
        self.head_width = s.width_of_head
        self.query = nn.Linear(s.width, s.heads * s.width_of_head, s.bias)
        self.project = nn.Linear(s.width, 2 * s.key_heads * s.width_of_head, s.bias)
        self.attend = Attend()
        self.out = nn.Linear(s.heads * s.width_of_head, s.width, s.bias)

    def keys_values(self, memory: Tensor) -> tuple[Tensor, Tensor]:
        """memory (B, S, E) -> keys and values, each (B, G, S, D)."""
        k, v = split_heads(self.project(memory), self.head_width).chunk(2, dim=1)
        return k, v

    def forward(self, x: Tensor, seen: tuple[Tensor, Tensor], mask: Mask | None) -> Tensor:
        q = split_heads(self.query(x), self.head_width)  # (B, H, T, D)
        return self.out(join_heads(self.attend(q, *seen, mask)))


def split_heads(x: Tensor, head_width: int) -> Tensor:
    """(B, T, heads * D) -> (B, heads, T, D)"""
    return x.unflatten(-1, (-1, head_width)).transpose(1, 2)


def join_heads(x: Tensor) -> Tensor:
    """(B, heads, T, D) -> (B, T, heads * D)"""
    return x.transpose(1, 2).flatten(2)
