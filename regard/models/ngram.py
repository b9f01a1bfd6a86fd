"""The baseline of language models: an n-gram model, which counts and learns nothing else. A network
has understood something of a language only where its perplexity beats this one.

It is interpolated modified Kneser-Ney (Chen & Goodman 1999). A context gives each token
that was met after it the token's count less a discount; what the discounts save is handed on to the
context that is one token shorter. All but the longest n-grams count in how many ways they were met,
not how often: "Francisco" is frequent, but only after "San".

T tokens   V vocabulary   N n-grams of one length   C contexts, the n-grams that are one shorter
"""

from collections.abc import Iterable, Iterator, Sequence
from operator import index
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from safetensors import SafetensorError
from safetensors.numpy import load as load_arrays
from safetensors.numpy import save as save_arrays
from torch import Tensor

from regard.errors import ConfigError, DataError, RunError
from regard.files import make_folder, read_bytes, read_table, write_bytes, write_json
from regard.names import PAD, START, STOP

Ints = NDArray[np.integer[Any]]
Floats = NDArray[np.float64]
Grams = tuple[Ints, Ints]  # the keys and the counts of a level

FILE, FACTS = "ngram.safetensors", "ngram.json"
SETTINGS = ("order", "vocabulary", "stop", "first")
AT_ONCE = 500_000  # tokens whose losses are computed at a time: about 50 MB
UNPREDICTED = (PAD, START)
SAFE_DISCOUNTS = (0.0, 0.5, 1.0, 1.5)  # those of KenLM's --discount_fallback


class Level:
    """The n-grams of one length: each is a context, found in the level before, and a token."""

    def __init__(self, keys: Ints, counts: Ints, contexts: int, vocabulary: int) -> None:
        self.keys = keys  # (N,) ascending: the context's place in its level * V + the token
        self.counts = counts  # (N,)
        self.discounts = discounts(counts)
        owners, saved = keys // vocabulary, self.discounts[np.minimum(counts, 3)]  # (N,)
        self.totals = np.bincount(owners, counts, minlength=contexts)  # (C,)
        handed_on = np.bincount(owners, saved, minlength=contexts) / np.maximum(self.totals, 1)
        # A context that nothing follows, as at the end of a text, hands on everything.
        self.back = np.where(self.totals > 0, handed_on, 1.0)  # (C,)

    def share(self, places: Ints | slice, contexts: Ints | int) -> Floats:
        """What the n-grams at these places have of their contexts' probability."""
        counts = self.counts[places]
        return (counts - self.discounts[np.minimum(counts, 3)]) / self.totals[contexts]

    def find(self, keys: Ints) -> Ints:
        """Where these n-grams are; -1 where there are none."""
        places = np.searchsorted(self.keys, keys)
        places[places == len(self.keys)] = 0
        return np.where(self.keys[places] == keys, places, -1)


class NGram:
    """Learned by `fit`, in one go; it predicts every token but PAD and START.

    >>> model = NGram.fit(np.array([STOP, 4, 5, STOP, 4, 5, STOP, 4, 4, STOP]), 6, order=3)
    >>> model.name, model.distribution([STOP, 4]).round(2).tolist()
    ('3-gram, Kneser-Ney', [0.0, 0.0, 0.16, 0.03, 0.33, 0.47])
    """

    def __init__(
        self, order: int, vocabulary: int, stop: int, grams: Iterable[Grams], first: int = 0
    ) -> None:
        """`first`: how many tokens it was given, where the text has more; 0: all of them."""
        self.order, self.vocabulary, self.stop, self.first = order, vocabulary, stop, first
        # What the empty context hands on goes in equal parts to all tokens that can come.
        self.even = np.full(vocabulary, 1 / (vocabulary - len(UNPREDICTED)))  # (V,)
        self.even[list(UNPREDICTED)] = 0
        self.levels: list[Level] = []  # of 1 token, 2 tokens, ...
        for keys, counts in grams:
            contexts = len(self.levels[-1].keys) if self.levels else 1  # the empty one
            self.levels.append(Level(keys, counts, contexts, vocabulary))

    @property
    def name(self) -> str:
        some = f", of the first {self.first:,} tokens" if self.first else ""
        return f"{self.order}-gram, Kneser-Ney{some}"

    @classmethod
    def fit(
        cls, ids: Ints, vocabulary: int, order: int = 5, stop: int = STOP, *, cut: bool = False
    ) -> Self:
        """Count the n-grams of up to `order` tokens in one long stream (T,): STOP text STOP text
        STOP. No n-gram reaches across a STOP; the first token is never predicted. `cut`: these are
        not all tokens that there are, which its name will say."""
        if order < 1:
            raise ConfigError(f"an n-gram has at least one token, found order {order}: try 3 to 5.")
        tokens = _checked(ids, vocabulary)
        if (found := len(tokens)) < 2:  # the first is never predicted
            raise DataError(f"nothing to learn from: found {found} tokens. Is the file empty?")
        grams = _count(tokens, vocabulary, order, stop)
        return cls(order, vocabulary, stop, grams, len(tokens) if cut else 0)

    def losses(self, ids: Ints) -> Floats:
        """-log P of every token of a stream (T,) but the first, in nats (T - 1,)."""
        tokens = _checked(ids, self.vocabulary)
        parts = [np.empty(0)]
        for start in range(1, len(tokens), AT_ONCE):
            seen = min(start, self.order - 1)  # tokens that are only context
            some = tokens[start - seen : start + AT_ONCE]
            parts.append(-np.log(self._probabilities(some)[seen:]))
        return np.concatenate(parts)

    def _probabilities(self, ids: Ints) -> Floats:
        """(T,) P of each token after those before it."""
        p = self.even[ids]
        for level, (contexts, places) in zip(self.levels, self._walk(ids), strict=True):
            known, met = contexts >= 0, places >= 0
            p[known] *= level.back[contexts[known]]
            p[met] += level.share(places[met], contexts[met])
        return p

    def distribution(self, context: Sequence[int]) -> Floats:
        """P of every token after a context (V,); START in it is not seen."""
        tokens = _checked([token for token in context if token != START], self.vocabulary)
        p, V = self.even.copy(), self.vocabulary
        ids = np.append(tokens, PAD)  # PAD stands for the token that comes
        for level, (contexts, _) in zip(self.levels, self._walk(ids), strict=True):
            if (last := int(contexts[-1])) < 0:
                break  # then no longer context was met either
            met = slice(*np.searchsorted(level.keys, (last * V, last * V + V)).tolist())
            p *= level.back[last]
            p[level.keys[met] - last * V] += level.share(met, last)
        return p

    def _walk(self, ids: Ints) -> Iterator[Grams]:
        """For each level, of every token (T,): the place of its context in the level before, and
        of the n-gram of both in the level; -1 where there is none."""
        places = ids
        yield np.zeros_like(ids), places
        for length, level in enumerate(self.levels[1:], start=1):
            contexts = _contexts(places, ids, length, self.stop)
            places = level.find(contexts * self.vocabulary + ids)  # no context: a key below 0
            yield contexts, places

    # What `regard.decode` asks for. Its state is what each row has written, as far as it is seen.

    def start(self, inputs: Sequence[Sequence[int]]) -> list[list[int]]:
        return [list(tokens) for tokens in inputs]

    def step(self, state: list[list[int]], tokens: Tensor) -> tuple[Tensor, list[list[int]]]:
        """The newest tokens (B,) -> log-probabilities (B, V) of the next ones."""
        state = [[*row[-self.order :], t] for row, t in zip(state, tokens.tolist(), strict=True)]
        rows = np.stack([self.distribution(row) for row in state])
        return torch.from_numpy(rows).log(), state

    def reorder(self, state: list[list[int]], rows: Tensor) -> list[list[int]]:
        return [state[row] for row in rows.tolist()]

    def save(self, folder: Path) -> None:
        """Write the counts, from which all else is computed."""
        make_folder(folder)
        arrays = {f"keys.{n}": level.keys for n, level in enumerate(self.levels)}
        arrays |= {f"counts.{n}": level.counts for n, level in enumerate(self.levels)}
        write_bytes(folder / FILE, save_arrays(arrays))
        write_json(folder / FACTS, {name: getattr(self, name) for name in SETTINGS})

    @classmethod
    def load(cls, folder: Path) -> Self:
        """What `save` wrote; it predicts exactly as the one saved."""
        facts = read_table(folder / FACTS)
        try:
            # Runs from before `first` was written do not say whether they were cut.
            order, vocabulary, stop, first = (index(({"first": 0} | facts)[s]) for s in SETTINGS)
            grams = _grams(load_arrays(read_bytes(folder / FILE)), order, vocabulary)
            return cls(order, vocabulary, stop, grams, first)
        except (OSError, SafetensorError, LookupError, TypeError, ValueError) as error:
            raise RunError(f"{folder}: not a saved baseline: {error}\nCopy it again.") from error


def discounts(counts: Ints) -> Floats:
    """What is taken off a count of 0, of 1, of 2 and of more (4,), as Chen & Goodman estimate it.

    >>> discounts(np.array([1, 1, 1, 2, 2, 3, 4])).round(3).tolist()
    [0.0, 0.429, 1.357, 1.286]
    """
    n1, n2, n3, n4 = np.bincount(np.minimum(counts, 5), minlength=6)[1:5].tolist()
    if n1 and n2 and n3:
        y = n1 / (n1 + 2 * n2)
        found = (1 - 2 * y * n2 / n1, 2 - 3 * y * n3 / n2, 3 - 4 * y * n4 / n3)
        if min(found) > 0:
            return np.array([0, *found])
    # Few n-grams, or, as with single characters, none that are rare: the formula divides by zero
    # or goes below it. These are safe, since each is above 0 and below the count it is taken off.
    return np.array(SAFE_DISCOUNTS)


def _count(ids: Ints, vocabulary: int, order: int, stop: int) -> list[Grams]:
    """Each level's keys and counts; the first has all of the vocabulary, met or not."""
    grams: list[Grams] = [(np.arange(vocabulary), np.bincount(ids[1:], minlength=vocabulary))]
    places = ids  # (T,) of the n-gram that ends at each token; -1 where there is none
    for length in range(1, order):
        longer, inverse = _unique(_contexts(places, ids, length, stop) * vocabulary + ids)
        none = int(np.searchsorted(longer, 0))  # without a context, the key is below 0
        if none == len(longer):
            break  # every text is shorter
        ends = np.empty(len(longer), np.int32)  # of each longer n-gram, the one it ends in
        ends[inverse] = places
        keys, counts = grams[-1]
        ways = np.bincount(ends[none:], minlength=len(keys))  # different tokens before each
        # Nothing comes before an n-gram that begins with STOP: it keeps the times it was met.
        grams[-1] = keys, np.where(ways > 0, ways, counts)
        grams.append((longer[none:], np.bincount(inverse)[none:]))
        places = np.maximum(inverse - none, -1)
    return [(keys, counts.astype(np.int32)) for keys, counts in grams]


def _unique(keys: Ints) -> Grams:
    """np.unique(keys, return_inverse=True) in half the memory: a stream has millions of keys."""
    order = keys.argsort()
    keys = keys[order]
    new = np.append(True, keys[1:] != keys[:-1])
    inverse = np.empty(len(keys), np.int32)
    inverse[order] = np.cumsum(new, dtype=np.int32) - 1
    return keys[new], inverse


def _contexts(places: Ints, ids: Ints, length: int, stop: int) -> Ints:
    """(T,) the place of the `length` tokens before each token; -1 where its text has fewer."""
    contexts = np.full(len(ids), -1, np.int64)  # long enough for a key
    contexts[1:] = places[:-1]
    if length > 1:  # a STOP alone begins a text; after others it ended theirs
        contexts[1:][ids[:-1] == stop] = -1
    return contexts


def _checked(ids: ArrayLike, vocabulary: int) -> Ints:
    tokens = np.asarray(ids)
    wrong = (tokens < 0) | (tokens >= vocabulary) | np.isin(tokens, UNPREDICTED)
    if wrong.any():
        expected = f"expected no PAD, no START and ids below {vocabulary}"
        raise DataError(f"{expected}, found {tokens[wrong][0]}. Is this the right tokenizer?")
    return tokens.astype(np.int32)


def _grams(arrays: dict[str, Any], order: int, vocabulary: int) -> list[Grams]:
    """The levels in a saved file; a ValueError where they do not fit together."""
    grams = [(arrays[f"keys.{n}"], arrays[f"counts.{n}"]) for n in range(len(arrays) // 2)]
    contexts = [1, *(len(keys) for keys, _ in grams)]
    whole = 1 <= len(grams) <= order and contexts[1] == vocabulary
    for n, (keys, counts) in enumerate(grams):
        whole &= (keys.shape, keys.dtype, counts.dtype) == (counts.shape, np.int64, np.int32)
        whole &= 0 <= keys[0] and keys[-1] < contexts[n] * vocabulary and (np.diff(keys) > 0).all()
        whole &= counts.min() >= min(n, 1) and counts.max() > 0
    if not whole:
        raise ValueError("its counts do not fit together")
    return grams
