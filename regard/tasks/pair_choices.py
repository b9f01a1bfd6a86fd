"""Settings that fit someone's pairs: tokenizers, lengths, size and schedule, each with its reason.

The rules are few and plain. Whatever the person has set already is kept.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any, NamedTuple

from regard.config import DEFAULT_BUDGET, TokenizerSettings, Tree, seconds
from regard.data.named import read_named
from regard.data.pairs import Pair, open_pairs
from regard.errors import DataError
from regard.tasks.pair_data import PairData, files, read_part, read_splits
from regard.tasks.task import Choice
from regard.text import fit_tokenizer
from regard.text.tokenizer import Tokenizer, fold
from regard.toml import check, fill

FACES = {
    "translate": "sentences into sentences of another language; scored by BLEU and chrF",
    "summarize": "long texts into short ones; scored by ROUGE",
    "pronounce": "spellings into sounds; scored by phonemes (PER) and words (WER) wrong",
}
SCORED_BY = {
    "translate": ["bleu", "chrf", "exact_match"],
    "summarize": ["rouge1", "rouge2", "rougeL"],
    "pronounce": ["per", "wer"],
}
SHARES = {2000: (90, 5, 5), 100: (80, 10, 10), 0: (60, 20, 20)}  # from so many pairs on
LOOKED_AT = 20_000  # pairs that the rules look at
LONGEST = 512  # tokens: above it, an example costs more than it teaches
SPEED = 40e9  # multiplications and additions a second that a laptop spends on such a network


@dataclass(frozen=True)
class Side:
    """What one column looks like."""

    characters: float  # in the median text: one long text among many short ones changes nothing
    words: float
    vocabulary: int  # different words
    alphabet: frozenset[str]

    @classmethod
    def of(cls, texts: Sequence[str]) -> "Side":
        words = [text.split() for text in texts]
        return cls(
            median(map(len, texts)),
            median(map(len, words)),
            len({word for text in words for word in text}),
            frozenset().union(*map(set, texts)) - {" "},
        )

    @property
    def symbols(self) -> bool:
        """A sequence of signs, such as phonemes: few different ones, short, many to a text."""
        return self.vocabulary <= 200 and self.words >= 2 and self.characters < 4 * self.words

    @property
    def short(self) -> bool:
        """A word, a name, a date: something spelled rather than said."""
        return self.words < 2.5 and self.characters < 40


def choose_for_pairs(tree: Tree, face: str) -> Choice:
    budget = seconds(tree.get("train", {}).get("budget") or DEFAULT_BUDGET)
    data = check(PairData, tree.get("data", {}), "data")
    tree, every, about_columns = _columns(tree, data)
    tree, about_data = _split(tree, every)
    pairs = read_splits(check(PairData, tree["data"], "data"), lambda pair: pair.source).train
    some = evenly(pairs)
    source, target = Side.of([p.source for p in some]), Side.of([p.target for p in some])
    tree, about_tokens = _tokens(tree, pairs, source, target, face, budget)
    tree, tokens, about_lengths = _lengths(tree, pairs)
    tree, about_model = _model(tree, tokens.total, budget)
    tree, about_training = _training(tree, tokens, budget)
    scores = SCORED_BY.get(face) or _scores(target)
    reasons = [
        ("data", f"{about_columns}; {about_data}"),
        ("tokens", about_tokens),
        ("lengths", about_lengths),
        ("model", about_model),
        ("training", about_training),
    ]
    return Choice(fill(tree, {"metrics": scores, "decode": {"beam": 4}}), reasons)


def evenly(pairs: list[Pair]) -> list[Pair]:
    """Some of many pairs, from the whole file: files are often sorted."""
    return pairs[:: -(-len(pairs) // LOOKED_AT)]


def as_seen(source: str, settings: TokenizerSettings) -> str:
    """The source without what its tokenizer throws away, so that no two that look alike to the
    model are split."""
    source = fold(source) if settings.lowercase else source
    return " ".join(source.split()) if settings.kind in ("word", "wordpiece") else source


# Each rule: what it adds to the tree, and why


def _columns(tree: Tree, data: PairData) -> tuple[Tree, list[Pair], str]:
    """Which columns were read. Guessed names are kept, for later files with the same columns."""
    if data.set:
        return tree, list(read_named(data.set)), f'the set "{data.set}"'
    opened = open_pairs(files(data.path), data.source, data.target)
    table = opened.table
    source, target = (table.columns[i] for i in (opened.source, opened.target))
    if table.format != "parallel" and (table.header or len(table.columns) > 2):
        tree = fill(tree, {"data": {"source": source, "target": target}})
    kind = KINDS[table.format] + (" with a header" if table.format in ("tsv", "csv") else "")
    kind = kind if table.header else kind.replace("with a", "without")
    pairs = read_part(data, files(data.path)).train
    return tree, pairs, f"{kind}, source {named(source)}, target {named(target)}"


KINDS = {"tsv": "TSV", "csv": "CSV", "jsonl": "JSON Lines", "parallel": "two files"}


def named(column: str) -> str:
    """
    >>> named("english"), named("2")
    ('"english"', 'column 2')
    """
    return f"column {column}" if column.isdecimal() else f'"{column}"'


def _split(tree: Tree, pairs: list[Pair]) -> tuple[Tree, str]:
    """Hold out more of a small file, or there is too little to judge by."""
    shares = next(shares for least, shares in SHARES.items() if len(pairs) >= least)
    tree = fill(tree, {"data": {"split": list(shares)}})
    given = " / ".join(f"{share:g}" for share in tree["data"]["split"])
    why = f"{len(pairs):,} pairs, {given} % to train, validate and test by a hash of the source"
    return tree, why


def _tokens(
    tree: Tree, pairs: list[Pair], source: Side, target: Side, face: str, budget: float
) -> tuple[Tree, str]:
    kinds = [_kind(source), _kind(target)]
    alike = 2 * len(source.alphabet & target.alphabet) >= len(target.alphabet)
    if kinds == ["bytes", "bytes"] and alike:
        size = _vocabulary(len(pairs) * (source.characters + target.characters), budget)
        why = f"one byte-level BPE of {size:,} ids for both sides: sentences in one alphabet"
        return fill(tree, {"source": {"kind": "bytes", "size": size}}), why
    chosen: Tree = {}
    said = []
    for name, side, kind in zip(("source", "target"), (source, target), kinds, strict=True):
        chosen[name] = {"kind": kind}
        if kind == "bytes":
            chosen[name]["size"] = _vocabulary(len(pairs) * side.characters, budget)
        said.append(f"{name} by {SAID[kind]}")
    if face == "pronounce":
        chosen["source"]["lowercase"] = True
    return fill(tree, chosen), "; ".join(said)


SAID = {
    "character": "characters: short strings",
    "word": "signs between blanks: few and short ones",
    "bytes": "byte-level BPE: sentences",
}


def _kind(side: Side) -> str:
    return "word" if side.symbols else "character" if side.short else "bytes"


def _vocabulary(characters: float, budget: float) -> int:
    """Enough text to learn each piece from, and a softmax that the budget can pay for."""
    most = 4000 if budget <= 600 else 8000
    return int(min(most, max(400, round(characters / 300, -2))))


class Tokens(NamedTuple):
    total: int  # in all training pairs, about
    longest: int  # on one side of a pair that is not left out


def _lengths(tree: Tree, pairs: list[Pair]) -> tuple[Tree, Tokens, str]:
    """Fit the tokenizers on some pairs, to know how long texts are in tokens."""
    some = evenly(pairs)
    long = sorted(pairs, key=lambda p: len(p.source) + len(p.target))[-LOOKED_AT // 20 :]
    common, rare = _token_counts(tree, some, long)
    longest, written = max(map(max, common + rare)), max(t for _, t in common + rare)
    roomy = 8 * -(-int(1.25 * longest + 4) // 8)
    tree = fill(tree, {"model": {"max_length": max(16, min(roomy, LONGEST))}})
    limit = tree["model"]["max_length"]
    kept = [pair for pair in common if max(pair) <= limit]
    if not kept:
        raise DataError(
            f"the training pairs are longer than model.max_length = {limit} tokens; "
            f"the shortest has {min(map(max, common)):,}. Raise it, or cut the texts."
        )
    why = f"up to {limit} tokens; the longest text here has {longest:,}"
    if longest > limit:
        why += ", and what is too long is left out, never cut"
    total = round(sum(map(sum, kept)) * len(pairs) / len(some))
    found = fill(tree, {"decode": {"max_length": min(limit, int(1.3 * written) + 4)}})
    return found, Tokens(total, min(longest, limit)), why


def _token_counts(tree: Tree, *parts: list[Pair]) -> list[list[tuple[int, int]]]:
    """(source tokens, target tokens and STOP) of each pair, by tokenizers fitted on the first."""
    sources, targets = [p.source for p in parts[0]], [p.target for p in parts[0]]
    if "target" in tree:
        source, target = _tokenizer(tree["source"], sources), _tokenizer(tree["target"], targets)
    else:
        source = target = _tokenizer(tree["source"], [*sources, *targets])
    counts = []
    for part in parts:
        left = source.ids_of([pair.source for pair in part])
        right = target.ids_of([pair.target for pair in part])
        counts.append([(len(s), len(t) + 1) for s, t in zip(left, right, strict=True)])
    return counts


def _tokenizer(settings: Any, texts: Sequence[str]) -> Tokenizer:
    return fit_tokenizer(check(TokenizerSettings, settings, "tokenizer"), texts)


def _model(tree: Tree, total: int, budget: float) -> tuple[Tree, str]:
    width, layers = next(
        (width, layers)
        for width, layers, most_time, most_tokens in SIZES
        if budget <= most_time or total < most_tokens
    )
    shape = {
        "width": width,
        "encoder_layers": layers,
        "decoder_layers": layers,
        "heads": max(2, width // 64),
        "feed": 2 * width,
        "activation": "gelu",
        "positions": "both",
    }
    tree = fill(tree, {"model": shape})
    chosen = tree["model"]
    why = (
        f"Transformer, {chosen['encoder_layers']} + {chosen['decoder_layers']} layers of width "
        f"{chosen['width']}: about {total:,} tokens to learn from in {spoken(budget)}"
    )
    return tree, why


# width, layers: for budgets up to so many seconds, or data of fewer tokens
SIZES = [(64, 2, 0, 20_000), (128, 2, 600, 300_000), (192, 3, 1800, 1_500_000), (256, 3, 9e9, 0)]


def _training(tree: Tree, tokens: Tokens, budget: float) -> tuple[Tree, str]:
    total, model = tokens.total, tree["model"]
    batch = max(2 * tokens.longest, min(2000, max(200, total // 8)))
    work = 48 * model["encoder_layers"] * model["width"] ** 2  # of a token, there and back
    most = max(200, -(-600 * batch // total))  # tiny data needs many passes to make enough steps
    passes = min(most, max(1, round(budget * SPEED / work / total)))
    dropout = 0.0 if passes < 4 else 0.1 if passes < 40 else 0.2
    ends = {} if "steps" in tree.get("train", {}) else {"passes": most}
    chosen = {
        "optimizer": "muon",
        "rate": 3e-3,
        "batch_tokens": batch,
        "label_smoothing": 0.0,
        "patience": 5,
        **ends,
    }
    why = (
        f"{spoken(budget)} at most, Muon at rate 0.003; about {passes:,} passes over the data, "
        f"so dropout {dropout:g}"
    )
    return fill(tree, {"train": chosen, "model": {"dropout": dropout}}), why


def _scores(target: Side) -> list[str]:
    if target.symbols:
        return ["per", "wer"]
    return ["exact_match", "chrf"] if target.short else ["bleu", "chrf", "exact_match"]


def spoken(seconds: float) -> str:
    """
    >>> spoken(300), spoken(90)
    ('5 minutes', '90 seconds')
    """
    return f"{seconds / 60:g} minutes" if seconds >= 120 else f"{seconds:g} seconds"
