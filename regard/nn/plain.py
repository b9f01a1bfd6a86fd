"""Attention without any parameters, written twice: as the sentence one would say, and as the
products that compute it fast. Everything else in this room is a variation.

T queries   S keys   D width
"""

import math

import torch
from torch import Tensor


def attention_loop(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """query (T, D), key (S, D), value (S, any): for every query, score every key, turn the scores
    into shares of 1, and mix the values by them."""
    mixed = []
    for asked in query:
        scores = [float(asked @ known) / math.sqrt(len(known)) for known in key]
        highest = max(scores)  # taken off, so that exp never overflows; the shares are the same
        parts = [math.exp(score - highest) for score in scores]
        shares = [part / sum(parts) for part in parts]
        mixed.append(sum(share * one for share, one in zip(shares, value, strict=True)))
    return torch.stack([torch.as_tensor(one) for one in mixed])


def attention(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    """softmax(Q K^T / sqrt(D)) V, and the weights (T, S). The same as the loop."""
    weights = (query @ key.T / math.sqrt(key.size(-1))).softmax(dim=-1)
    return weights @ value, weights


def self_attention(inputs: Tensor) -> Tensor:
    """outputs = sum(inputs * pairwise_scores(inputs, inputs)): a sequence (T, D) in which every
    vector has looked at all others."""
    return attention(inputs, inputs, inputs)[0]
