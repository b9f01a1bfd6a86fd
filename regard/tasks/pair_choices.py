"""Settings that fit someone's pairs: tokenizers, lengths, size and schedule, each with its reason.

The rules are few and plain. Each fills in what is still open, so whatever the person has set is
kept, and tells what now stands in the recipe, whoever put it there.
"""

from collections.abc import Sequence
from typing import NamedTuple

from regard.config import DEFAULT_BUDGET, TokenizerSettings, Tree, seconds
from regard.data.named import read_named
from regard.data.pairs import Pair, open_pairs
from regard.data.splits import default_shares
from regard.errors import DataError
from regard.names import SCORE_TITLES
from regard.tasks.pair_data import files, read_part, read_splits
from regard.tasks.pair_recipe import PairData
from regard.tasks.side import Side
from regard.tasks.task import Choice
from regard.text import fit_tokenizer
from regard.text.tokenizer import Tokenizer
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
KINDS = {
    "character": "characters",
    "word": "words between blanks",
    "bpe": "BPE",
    "bytes": "byte-level BPE",
    "wordpiece": "WordPiece",
}
FORMATS = {"tsv": "TSV", "csv": "CSV", "jsonl": "JSON Lines", "parallel": "two files"}
# Width and layers for budgets up to so many seconds, or for data of fewer tokens.
SIZES = [(64, 2, 0, 20_000), (128, 2, 600, 300_000), (192, 3, 1800, 1_500_000), (256, 3, 9e9, 0)]
LOOKED_AT = 20_000  # pairs that the rules look at
LONGEST = 512  # tokens: above it, an example costs more than it teaches
SPEED = 30e9  # multiplications and additions a second that a laptop spends on such a network


def choose_for_pairs(tree: Tree, face: str) -> Choice:
    data = check(PairData, tree.get("data", {}), "data")
    tree, pairs, about_data = _data(tree, data)
    some = evenly(pairs)
    source, target = Side.of([p.source for p in some]), Side.of([p.target for p in some])
    budget = seconds(tree["train"].get("budget") or DEFAULT_BUDGET)
    tree, about_tokens = _tokens(tree, len(pairs), source, target, face, budget)
    tree, tokens, about_lengths = _lengths(tree, pairs)
    tree, about_model = _model(tree, tokens.total, budget)
    tree, about_training = _training(tree, tokens, budget)
    tree, about_scores = _scores(tree, target, face)
    reasons = [
        ("data", about_data),
        ("tokens", about_tokens),
        ("lengths", about_lengths),
        ("model", about_model),
        ("training", f"{about_training}; {about_scores}"),
    ]
    return Choice(tree, reasons)


def example_for_pairs(face: str) -> Tree:
    """A recipe's beginning for someone who has no data yet."""
    sounds = face == "pronounce"
    source = {"kind": "character", "lowercase": True} if sounds else {"kind": "bytes"}
    tree: Tree = {"data": {"path": "pairs.tsv"}, "source": source}
    tree |= {"metrics": SCORED_BY[face]} if face in SCORED_BY else {}
    return tree | ({"target": {"kind": "word"}} if sounds else {})


def evenly(pairs: list[Pair]) -> list[Pair]:
    """Some of many pairs, from the whole file: files are often sorted."""
    return pairs[:: -(-len(pairs) // LOOKED_AT)]


# Each rule: the tree with what it adds, and why


def _data(tree: Tree, data: PairData) -> tuple[Tree, list[Pair], str]:
    """Which columns are read, and how much is held out. Guessed names are kept, for later files
    with the same columns."""
    tree, count, about = _columns(tree, data)
    tree = fill(tree, {"data": {"split": list(default_shares(count))}})
    data = check(PairData, tree["data"], "data")
    sides = read_splits(data, lambda pair: pair.source)
    parts = f"{len(sides.train):,} train, {len(sides.validation):,} validate, {len(sides.test):,}"
    return tree, sides.train, f"{about}; {count:,} pairs, of which {parts} test"


def _columns(tree: Tree, data: PairData) -> tuple[Tree, int, str]:
    if data.set:
        return tree, sum(1 for _ in read_named(data.set)), f'the set "{data.set}"'
    opened = open_pairs(files(data.path), data.source, data.target)
    table, count = opened.table, len(read_part(data, files(data.path)).examples)
    source, target = (table.columns[i] for i in (opened.source, opened.target))
    if table.format != "parallel" and (table.header or len(table.columns) > 2):
        tree = fill(tree, {"data": {"source": source, "target": target}})
    header = " with a header" if table.header else " without header"
    kind = FORMATS[table.format] + (header if table.format in ("tsv", "csv") else "")
    return tree, count, f"{kind}, source {named(source)}, target {named(target)}"


def named(column: str) -> str:
    """
    >>> named("english"), named("2")
    ('"english"', 'column 2')
    """
    return f"column {column}" if column.isdecimal() else f'"{column}"'


def _tokens(
    tree: Tree, pairs: int, source: Side, target: Side, face: str, budget: float
) -> tuple[Tree, str]:
    """Spell what is short, cut sentences into pieces; one tokenizer where the alphabet is one."""
    alike = 2 * len(source.alphabet & target.alphabet) >= len(target.alphabet)
    together = source.kind == target.kind == "bytes" and alike and "target" not in tree
    sides = {"source": source} if together else {"source": source, "target": target}
    for name, side in sides.items():
        letters = pairs * (side.characters + together * target.characters)
        tree = fill(tree, {name: {"kind": side.kind, "size": _vocabulary(letters, budget)}})
    if face == "pronounce":
        tree = fill(tree, {"source": {"lowercase": True}})
    if together:
        return tree, f"{_cut(tree['source'])} for both sides: one alphabet"
    return tree, "; ".join(f"{name} by {_cut(tree[name])}" for name in sides)


def _cut(tokenizer: Tree) -> str:
    size = f" of up to {tokenizer['size']:,} ids" if tokenizer["kind"] != "character" else ""
    return KINDS.get(tokenizer["kind"], str(tokenizer["kind"])) + size


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
        source = _tokenizer(tree, "source", sources)
        target = _tokenizer(tree, "target", targets)
    else:
        source = target = _tokenizer(tree, "source", [*sources, *targets])
    counts = []
    for part in parts:
        left = source.ids_of([pair.source for pair in part])
        right = target.ids_of([pair.target for pair in part])
        counts.append([(len(s), len(t) + 1) for s, t in zip(left, right, strict=True)])
    return counts


def _tokenizer(tree: Tree, side: str, texts: Sequence[str]) -> Tokenizer:
    return fit_tokenizer(check(TokenizerSettings, tree[side], side), texts)


def _model(tree: Tree, total: int, budget: float) -> tuple[Tree, str]:
    width, layers = next((w, n) for w, n, time, few in SIZES if budget <= time or total < few)
    shape = {"width": width, "encoder_layers": layers, "decoder_layers": layers}
    tree = fill(tree, {"model": {**shape, "activation": "gelu", "positions": "both"}})
    model = tree["model"]
    usual = max(2, model["width"] // 64)
    heads = next((h for h in (usual, 2) if model["width"] % (2 * h) == 0), 1)
    tree = fill(tree, {"model": {"heads": heads, "feed": 2 * model["width"]}})
    why = (
        f"Transformer, {model['encoder_layers']} + {model['decoder_layers']} layers of width "
        f"{model['width']}; about {total:,} tokens to learn from"
    )
    return tree, why


def _training(tree: Tree, tokens: Tokens, budget: float) -> tuple[Tree, str]:
    """Small data takes many passes to make enough steps, and then dropout against learning it
    by heart."""
    steps = tree["train"].get("steps")
    batch = max(2 * tokens.longest, min(2000, max(200, tokens.total // 8)))
    tree = fill(tree, {"train": {"optimizer": "muon", "batch_tokens": batch, "patience": 5}})
    train = tree["train"]
    rate = 3e-3 if train["optimizer"] == "muon" else 1e-3
    most = max(200, -(-600 * batch // tokens.total))
    done = steps * train["batch_tokens"] if steps else budget * _speed(tree)
    passes = max(1, round(done / tokens.total))
    if not steps:
        tree = fill(tree, {"train": {"passes": most}})
        passes = min(passes, tree["train"]["passes"])
    dropout = 0.0 if passes < 4 else 0.1 if passes < 40 else 0.2
    tree = fill(tree, {"train": {"rate": rate, "label_smoothing": 0.0}})
    tree = fill(tree, {"model": {"dropout": dropout}})
    end = f"{steps:,} steps" if steps else f"about {spoken(budget)}"
    if not steps and passes == tree["train"]["passes"]:
        end += f", or {passes:,} passes over the data"
    rates = f"rate {tree['train']['rate']:g}, dropout {tree['model']['dropout']:g}"
    return tree, f"{end}; {train['optimizer']}, {rates}"


def _speed(tree: Tree) -> float:
    """Tokens a second, roughly: small networks spend their time on other things than products."""
    width, ids = tree["model"]["width"], (tree.get("target") or tree["source"])["size"]
    work = 48 * tree["model"]["encoder_layers"] * width**2 + 3 * ids * width
    return min(SPEED / work, 25_000.0)


def _scores(tree: Tree, target: Side, face: str) -> tuple[Tree, str]:
    """What the target can be judged by: BLEU needs blanks between words, ROUGE Latin letters."""
    usual = ["exact_match", "chrf"] if target.short else ["bleu", "chrf", "exact_match"]
    chosen = SCORED_BY.get(face) or (["per", "wer"] if target.symbols else usual)
    if (chosen[0] == "bleu" and target.unspaced) or (chosen[0] == "rouge1" and not target.latin):
        chosen = ["chrf", "exact_match"]
    decode = tree["decode"]
    beam = {} if decode.get("temperature") else {"beam": max(4, decode.get("n", 1))}
    tree = fill(tree, {"metrics": chosen, "decode": beam})
    names = [tree["metrics"]] if isinstance(tree["metrics"], str) else tree["metrics"]
    titles = [SCORE_TITLES.get(str(name), str(name)).split(",")[0] for name in names]
    return tree, f"scored by {', '.join(titles)}"


def spoken(seconds: float) -> str:
    """
    >>> spoken(300), spoken(90)
    ('5 minutes', '90 seconds')
    """
    return f"{seconds / 60:g} minutes" if seconds >= 120 else f"{seconds:g} seconds"
