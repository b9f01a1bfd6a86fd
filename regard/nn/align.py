"""How a decoder that writes step by step finds its place in the source: the attentions of Bahdanau
et al. 2015 and Luong et al. 2015. They differ in how a query and a key are scored, and in how far
around a query looks.

B batch   T queries   S keys   Q query width   K key width   V value width
"""

from collections.abc import Callable

import torch
from torch import Tensor, nn

from regard.errors import ConfigError, ShapeError, did_you_mean
from regard.nn.mask import Mask


class Score(nn.Module):
    """How well queries (B, T, Q) and keys (B, S, K) fit: (B, T, S), by their product where nothing
    else is said. What can be done with the keys alone is done by `ready`, once, however many
    queries come one after the other."""

    def ready(self, k: Tensor) -> Tensor:
        return k

    def scores(self, q: Tensor, ready: Tensor) -> Tensor:
        return q @ ready.transpose(-2, -1)

    def forward(self, q: Tensor, k: Tensor) -> Tensor:
        return self.scores(q, self.ready(k))


class Dot(Score):
    """q . k; Luong et al. 2015, eq. 8, first line. Both are equally wide."""

    def __init__(self, query: int, key: int) -> None:
        super().__init__()
        if query != key:
            raise ShapeError(
                f"queries of width {query} and keys of width {key} have no dot product: make them "
                'equally wide, or take the score "general".'
            )


class Scaled(Dot):
    """q . k / sqrt(K): of the same size for wide and for narrow vectors; Vaswani et al. 2017."""

    def scores(self, q: Tensor, ready: Tensor) -> Tensor:
        return super().scores(q, ready) * ready.size(-1) ** -0.5


class General(Score):
    """q . (W k); Luong et al. 2015, eq. 8, second line."""

    def __init__(self, query: int, key: int) -> None:
        super().__init__()
        self.turn = nn.Linear(key, query, bias=False)

    def ready(self, k: Tensor) -> Tensor:
        return self.turn(k)


class Additive(Score):
    """v . tanh(W q + U k); Bahdanau et al. 2015, A.1.2. As wide inside as a query, as there."""

    def __init__(self, query: int, key: int) -> None:
        super().__init__()
        self.query = nn.Linear(query, query, bias=False)
        self.key = nn.Linear(key, query, bias=False)
        self.weigh = nn.Linear(query, 1, bias=False)

    def ready(self, k: Tensor) -> Tensor:
        return self.key(k)

    def scores(self, q: Tensor, ready: Tensor) -> Tensor:
        both = self.query(q)[:, :, None] + ready[:, None]  # (B, T, S, Q)
        return self.weigh(both.tanh()).squeeze(-1)


class Concat(Score):
    """v . tanh(W [q; k]); Luong et al. 2015, eq. 8, third line. One W for both side by side."""

    def __init__(self, query: int, key: int) -> None:
        super().__init__()
        self.query_width = query
        self.both = nn.Linear(query + key, key, bias=False)
        self.weigh = nn.Linear(key, 1, bias=False)

    # W [q; k] = W_q q + W_k k: the pairs need not be built.
    def ready(self, k: Tensor) -> Tensor:
        return k @ self.both.weight[:, self.query_width :].T

    def scores(self, q: Tensor, ready: Tensor) -> Tensor:
        of_query = self.both.weight[:, : self.query_width]
        both = (q @ of_query.T)[:, :, None] + ready[:, None]  # (B, T, S, K)
        return self.weigh(both.tanh()).squeeze(-1)


SCORES: dict[str, Callable[[int, int], Score]] = {
    "dot": Dot,
    "scaled": Scaled,
    "general": General,
    "additive": Additive,
    "concat": Concat,
}
SCOPES = ("global", "local-m", "local-p")


def score_of(name: str, query: int, key: int) -> Score:
    if name not in SCORES:
        raise ConfigError(f'align: there is no score "{name}".{did_you_mean(name, SCORES)}')
    return SCORES[name](query, key)


class Align(nn.Module):
    """Queries look at keys and get a mean of the values, by one of the scores above.

    scope   global   a query sees all keys
            local-m  those at most `reach` away from its own position: source and target run
                     side by side (Luong et al. 2015, 3.2, monotonic)
            local-p  those at most `reach` away from a place that it predicts, nearer ones more
                     (the same, predictive)
    """

    def __init__(
        self, score: str, query: int, key: int, scope: str = "global", reach: int = 10
    ) -> None:
        super().__init__()
        if scope not in SCOPES:
            raise ConfigError(f'align: there is no scope "{scope}".{did_you_mean(scope, SCOPES)}')
        self.score, self.scope, self.reach = score_of(score, query, key), scope, reach
        if scope == "local-p":
            self.guess = nn.Linear(query, query, bias=False)
            self.place = nn.Linear(query, 1, bias=False)

    def forward(
        self,
        q: Tensor,
        keys: Tensor,
        values: Tensor | None = None,
        lengths: Tensor | None = None,
        start: int = 0,
        ready: Tensor | None = None,
    ) -> tuple[Tensor, Tensor]:
        """q (B, T, Q), the first of them at position `start`; keys (B, S, K); values (B, S, V), the
        keys by default; lengths (B,): real keys of each row; ready: what `self.ready(keys)` gave,
        for who comes again and again -> mixed (B, T, V), weights (B, T, S). A query that may look
        nowhere gets zeros."""
        T, S = q.size(1), keys.size(1)
        real = torch.full((q.size(0),), S, device=q.device) if lengths is None else lengths
        allowed = Mask(lengths=real).draw(T, S, q.device)[:, 0]  # (B, T or 1, S)
        far = None
        if self.scope != "global":
            far = torch.arange(S, device=q.device) - self.centres(q, real, start)[..., None]
            allowed = allowed & (far.abs() <= self.reach)
        scores = self.score.scores(q, self.ready(keys) if ready is None else ready)
        if self.scope == "local-p" and far is not None:
            # eq. 10: a bell of standard deviation reach / 2 around the predicted place; added
            # before the softmax, not multiplied after it, so that weights stay shares of 1.
            scores = scores - far**2 / (2 * (self.reach / 2) ** 2)
        weights = softmax_over(scores, allowed)
        return weights @ (keys if values is None else values), weights

    def ready(self, keys: Tensor) -> Tensor:
        """What can be done with keys (B, S, K) before any query comes."""
        return self.score.ready(keys)

    def centres(self, q: Tensor, lengths: Tensor, start: int = 0) -> Tensor:
        """(B, T): the place in the source around which each query looks."""
        if self.scope == "local-m":
            places = torch.arange(start, start + q.size(1), device=q.device)
            return places.to(q.dtype).expand(q.size(0), -1)
        # eq. 9: S * sigmoid(v . tanh(W h)), S the length of the source
        share = self.place(self.guess(q).tanh()).squeeze(-1).sigmoid()
        return lengths.to(q)[:, None] * share


def softmax_over(scores: Tensor, allowed: Tensor) -> Tensor:
    """Shares of 1 over what is allowed and 0 elsewhere; where nothing is, all are 0. Both
    (..., S)."""
    shut = torch.finfo(scores.dtype).min / 2  # not -inf: softmax of a row of -inf is NaN
    return scores.masked_fill(~allowed, shut).softmax(dim=-1).masked_fill(~allowed, 0.0)
