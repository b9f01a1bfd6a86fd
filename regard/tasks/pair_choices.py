"""Settings that fit someone's pairs: tokenizers, lengths, size and schedule, each with its reason.

The rules are few and plain. Each fills in what is still open, so whatever the person has set is
kept, and tells what now stands in the recipe, whoever put it there.
"""

import warnings
from collections.abc import Sequence

from pydantic import TypeAdapter

from regard.config import DEFAULT_BUDGET, TokenizerSettings, Tree, seconds
from regard.data.conversations import HISTORY, turns_column
from regard.data.named import read_named
from regard.data.pairs import Pair, open_pairs
from regard.data.splits import default_shares
from regard.errors import ConfigError, DataError
from regard.names import SCORE_TITLES
from regard.tasks.pair_data import files, read_part, read_splits
from regard.tasks.pair_doubts import doubts
from regard.tasks.pair_network import Tokens, choose_model, choose_training
from regard.tasks.pair_recipe import ONE_ALPHABET, PairData
from regard.tasks.side import Side
from regard.tasks.task import Choice
from regard.text import fit_tokenizer
from regard.text.tokenizer import Tokenizer
from regard.toml import check, fill

FACES = {
    "translate": "sentences into sentences of another language; scored by BLEU and chrF",
    "summarize": "long texts into short ones; scored by ROUGE",
    "pronounce": "spellings into sounds; scored by phonemes (PER) and words (WER) wrong",
    "answer": "questions into answers; scored by those that are right and by ROUGE",
    "chat": "what was said into replies, sampled; pairs, or JSON Lines of whole conversations",
}
SCORED_BY = {
    "translate": ["bleu", "chrf", "exact_match"],
    "summarize": ["rouge1", "rouge2", "rougeL"],
    "pronounce": ["per", "wer"],
    "answer": ["exact_match", "rougeL", "chrf"],
    "chat": ["chrf", "distinct1", "distinct2"],
}
SAMPLED = {"temperature": 0.7, "top_p": 0.9}  # the likeliest reply to nearly all is "I don't know"
KINDS = {
    "character": "characters",
    "word": "words between blanks",
    "wordpunct": "words and punctuation marks",
    "bpe": "BPE",
    "bytes": "byte-level BPE",
    "wordpiece": "WordPiece",
}
FORMATS = {"tsv": "TSV", "csv": "CSV", "jsonl": "JSON Lines", "parallel": "two files"}
LOOKED_AT = 20_000  # pairs that the rules look at
LONGEST = 512  # tokens: above it, an example costs more than it teaches


def choose_for_pairs(tree: Tree, face: str) -> Choice:
    data = check(PairData, tree.get("data", {}), "data")
    tree, pairs, about_data = _data(tree, data, face)
    some = evenly(pairs)
    source, target = Side.of([p.source for p in some]), Side.of([p.target for p in some])
    for doubt in doubts(some, face, source, target):
        warnings.warn(doubt, stacklevel=2)
    budget = seconds(tree["train"].get("budget") or DEFAULT_BUDGET)
    tree, about_tokens = _tokens(tree, len(pairs), source, target, face, budget)
    tree, tokens, about_lengths = _lengths(tree, pairs)
    tree, about_model = choose_model(tree, tokens.total, budget)
    tree, about_training = choose_training(tree, tokens, budget)
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
    tree |= {"decode": SAMPLED} if face == "chat" else {}
    return tree | ({"target": {"kind": "word"}} if sounds else {})


def evenly(pairs: list[Pair]) -> list[Pair]:
    """Some of many pairs, from the whole file: files are often sorted."""
    return pairs[:: -(-len(pairs) // LOOKED_AT)]


# Each rule: the tree with what it adds, and why


def _data(tree: Tree, data: PairData, face: str) -> tuple[Tree, list[Pair], str]:
    """Which columns are read, and how much is held out. Guessed names are kept, for later files
    with the same columns."""
    tree, count, about = _columns(tree, data, face)
    tree = fill(tree, {"data": {"split": list(default_shares(count))}})
    data = check(PairData, tree["data"], "data")
    sides = read_splits(data, lambda pair: pair.group)
    parts = f"{len(sides.train):,} train, {len(sides.validation):,} validate, {len(sides.test):,}"
    return tree, sides.train, f"{about}; {count:,} pairs, of which {parts} test"


def _columns(tree: Tree, data: PairData, face: str) -> tuple[Tree, int, str]:
    if data.set:
        return tree, sum(1 for _ in read_named(data.set)), f'the set "{data.set}"'
    if turns := data.turns or (_conversations(data) if face == "chat" else None):
        tree = fill(tree, {"data": {"turns": turns, "history": HISTORY}})
        data = check(PairData, tree["data"], "data")
        count = len(read_part(data, files(data.path)).examples)
        return tree, count, f'the replies of "{turns}", after up to {data.history} turns'
    opened = open_pairs(files(data.path), data.source, data.target)
    table, count = opened.table, len(read_part(data, files(data.path)).examples)
    source, target = (table.columns[i] for i in (opened.source, opened.target))
    if table.format != "parallel" and (table.header or len(table.columns) > 2):
        tree = fill(tree, {"data": {"source": source, "target": target}})
    header = " with a header" if table.header else " without header"
    kind = FORMATS[table.format] + (header if table.format in ("tsv", "csv") else "")
    return tree, count, f"{kind}, source {named(source)}, target {named(target)}"


def _conversations(data: PairData) -> str | None:
    """The key of whole conversations, where nobody named columns."""
    paths = files(data.path)
    free = data.source is None and data.target is None and len(paths) == 1
    return turns_column(paths[0]) if free else None


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
    if copies := TypeAdapter(bool).validate_python(tree.get("model", {}).get("copying", False)):
        if "target" in tree:
            raise ConfigError(f"settings: {ONE_ALPHABET}")
        together = copies
    sides = {"source": source} if together else {"source": source, "target": target}
    for name, side in sides.items():
        letters = pairs * (side.characters + together * target.characters)
        tree = fill(tree, {name: {"kind": side.kind, "size": _vocabulary(letters, budget)}})
    if face == "pronounce" and not together:  # or the sounds would be folded as well
        tree = fill(tree, {"source": {"lowercase": True}})
    if together:
        why = "one alphabet" if alike else "to copy from one to the other"
        return tree, f"{_cut(tree['source'])} for both sides: {why}"
    return tree, "; ".join(f"{name} by {_cut(tree[name])}" for name in sides)


def _cut(tokenizer: Tree) -> str:
    size = f" of up to {tokenizer['size']:,} ids" if tokenizer["kind"] != "character" else ""
    return KINDS.get(tokenizer["kind"], str(tokenizer["kind"])) + size


def _vocabulary(characters: float, budget: float) -> int:
    """Enough text to learn each piece from, and a softmax that the budget can pay for."""
    most = 4000 if budget <= 600 else 8000
    return int(min(most, max(400, round(characters / 300, -2))))


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


def _search(decode: Tree, face: str) -> Tree:
    if face == "chat" and "beam" not in decode and "temperature" not in decode:
        return SAMPLED
    return {} if decode.get("temperature") else {"beam": max(4, decode.get("n", 1))}


def _scores(tree: Tree, target: Side, face: str) -> tuple[Tree, str]:
    """What the target can be judged by: BLEU needs blanks between words, ROUGE Latin letters."""
    usual = ["exact_match", "chrf"] if target.short else ["bleu", "chrf", "exact_match"]
    chosen = SCORED_BY.get(face) or (["per", "wer"] if target.symbols else usual)
    if (chosen[0] == "bleu" and target.unspaced) or (chosen[0] == "rouge1" and not target.latin):
        chosen = ["chrf", "exact_match"]
    tree = fill(tree, {"metrics": chosen, "decode": _search(tree["decode"], face)})
    names = [tree["metrics"]] if isinstance(tree["metrics"], str) else tree["metrics"]
    titles = [SCORE_TITLES.get(str(name), str(name)).split(",")[0] for name in names]
    return tree, f"scored by {', '.join(titles)}"
