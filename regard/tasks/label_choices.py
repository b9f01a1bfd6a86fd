"""Settings that fit someone's labelled texts, each with its reason. Whatever the person has set is
kept."""

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from regard.config import DEFAULT_BUDGET, TokenizerSettings, Tree, seconds
from regard.data.label_doubts import refuse_ids
from regard.data.labels import Labelled, LabelTable, labels_of, open_labels
from regard.data.splits import default_shares
from regard.errors import ConfigError
from regard.files import read_table
from regard.label_shapes import BagSettings
from regard.names import KEEPS, UNSPACED
from regard.tasks.label_data import read_part, read_sides
from regard.tasks.label_recipe import LabelData
from regard.tasks.label_teaching import unlabelled, with_unlabelled
from regard.tasks.pair_choices import FORMATS, named
from regard.tasks.pair_network import spoken
from regard.tasks.task import Choice
from regard.text import fit_tokenizer
from regard.toml import check, fill, read_toml

FACES: dict[str, str] = {}
LOOKED_AT = 2000  # texts that the rules look at
LONGEST = 512  # tokens that a Transformer reads, where nobody says otherwise
LONG = 150  # tokens read of a text in the middle, from which on half are enough for a step
# What has less between its tables and its judge takes longer steps.
RATES = {"transformer": 1e-3, "rnn": 2e-3, "mean": 1e-2}
LETTERS = 4  # of a token, on average
SMALLEST_BATCH, LARGEST_BATCH, TEXTS_A_STEP, STEPS_A_PASS = 500, 4000, 8, 100
# Width and layers for budgets up to so many seconds, or for fewer texts.
SIZES = [(64, 1, 120, 500), (128, 2, 900, 20_000), (192, 3, 9e9, 0)]


def choose_for_labels(tree: Tree, face: str) -> Choice:
    data = check(LabelData, tree.get("data", {}), "data")
    path = Path(str(data.path))
    whole, opened = read_part(data, path), open_labels(path, data.text, data.label, data.other)
    if data.label is None:
        refuse_ids(whole.examples, path, data.separator)
    tree = fill(tree, {"data": {"split": list(default_shares(len(whole.examples)))}})
    if opened.table.header:  # other files may have the same columns in another order
        names = opened.table.columns
        tree = fill(tree, {"data": {"text": names[opened.text], "label": names[opened.label]}})
    data = check(LabelData, tree["data"], "data")
    sides = with_unlabelled(read_sides(data), data)
    counts = Counter(one for e in sides.train for one in labels_of(e.label, data.separator))
    most = ", ".join(f"{label} {n:,}" for label, n in counts.most_common(4))
    about_data = (
        f"{_columns(opened)}; {_training_texts(sides.train)}, {len(sides.validation):,} validate, "
        f"{len(sides.test):,} test; {len(counts):,} classes: {most}"
        f"{', ...' if len(counts) > 4 else ''}"
    )
    if tree.get("model", {}).get("kind") == "bag":
        return _bag(tree, about_data)
    budget = seconds(tree["train"].get("budget") or DEFAULT_BUDGET)
    tree, about_tokens = _tokens(tree, sides.train)
    tree, about_lengths = _lengths(tree, sides.train)
    tree, about_model = _model(tree, len(sides.train), budget)
    tree, about_training = _training(tree, sides.train, budget)
    reasons = [
        ("data", about_data),
        ("tokens", about_tokens),
        ("lengths", about_lengths),
        ("model", about_model),
        ("training", about_training),
    ]
    return Choice(tree, reasons)


def _training_texts(train: Sequence[Labelled]) -> str:
    without = len(unlabelled(train))
    return f"{len(train):,} train" + (f" ({without:,} of them without labels)" if without else "")


def _columns(opened: LabelTable) -> str:
    """How the file was read. Guessed names are kept in the recipe, for later files with the same
    columns, so that nothing else would tell that they were guessed."""
    table = opened.table
    header = " with a header" if table.header else " without header"
    kind = FORMATS[table.format] + (header if table.format in ("tsv", "csv") else "")
    places = {"text": opened.text, "other text": opened.other, "label": opened.label}
    told = [f"{side} {named(table.columns[i])}" for side, i in places.items() if i is not None]
    return f"{kind}, {', '.join(told)}"


def _bag(tree: Tree, about_data: str) -> Choice:
    _refuse_idle(tree)
    tree = {**tree, "train": {"steps": 0}}
    model = check(BagSettings, tree["model"], "model")
    letters = f", up to {model.letters} letters" if model.letters else ""
    words = f"up to {model.grams} words together{letters}, {model.weights}"
    about_model = f"{words}; judged by {model.judge}"
    reasons = [("data", about_data), ("model", about_model), ("training", "at once, in no steps")]
    return Choice(tree, reasons)


def _refuse_idle(tree: Tree) -> None:
    """Settings that would change nothing: who gives them expects something else."""
    idle = [f"train.{key}" for key in tree["train"] if key not in ("budget", "passes", "steps")]
    idle += [key for key in ("tokens", "keep", "begin") if key in tree]
    if idle:
        raise ConfigError(
            f"{idle[0]}: a bag learns whole texts at once, by their words: it has no such setting. "
            "Leave it out, or choose another model.kind."
        )


def example_for_labels(face: str) -> Tree:
    """A recipe's beginning for someone who has no data yet."""
    return {"data": {"path": "reviews.csv"}, "tokens": {"kind": "wordpunct", "lowercase": True}}


def _tokens(tree: Tree, train: Sequence[Labelled]) -> tuple[Tree, str]:
    if tree.get("begin"):
        begun = read_toml(Path(tree["begin"]) / "recipe.toml")
        return {**tree, "tokens": begun["tokens"]}, f"those of {tree['begin']}"
    letters = sum(len(e.text) + len(e.other) for e in train)
    size = int(min(20_000, max(400, round(letters / 300, -2))))
    unspaced = _are_unspaced(train)
    kind = {"kind": "character"} if unspaced else {"kind": "bpe", "size": size}
    tree = fill(tree, {"tokens": {**kind, "lowercase": True}})
    tokens = tree["tokens"]
    about = f" of up to {tokens['size']:,} ids" if "size" in tokens else "s"
    why = ", since no blanks stand between words" if unspaced else ""
    return tree, f"{tokens['kind']}{about}{why}"


def _are_unspaced(train: Sequence[Labelled]) -> bool:
    """Whether most letters are of scripts that put no blanks between words: of Chinese, byte-pair
    encoding learned whole clauses by heart."""
    text = " ".join(e.text for e in train[:: -(-len(train) // LOOKED_AT)])
    return 2 * len(re.findall(f"[{UNSPACED}]", text)) > sum(map(str.isalpha, text))


def _lengths(tree: Tree, train: Sequence[Labelled]) -> tuple[Tree, str]:
    some = train[:: -(-len(train) // LOOKED_AT)]
    if tree.get("begin"):
        shape = read_table(Path(tree["begin"]) / "run.json").get("model", {})
        tree = fill(tree, {"model": {**shape, "causal": True, "pooling": "last"}})
        return tree, f"up to {tree['model']['max_length']} tokens, as in {tree['begin']}"
    settings = check(TokenizerSettings, tree["tokens"], "tokens")
    tokenizer = fit_tokenizer(settings, [t for e in some for t in (e.text, e.other)])
    counts = [len(tokenizer.ids(e.text)) + len(tokenizer.ids(e.other)) for e in some]
    longest = max(counts)
    limit = max(16, 8 * -(-int(1.25 * longest + 4) // 8))
    tree = fill(tree, {"model": {"max_length": min(limit, LONGEST)}})
    limit = tree["model"]["max_length"]
    longer = sum(n > limit - 3 for n in counts)
    kept = KEEPS[tree.get("keep", "head")]
    why = (
        f"up to {limit} tokens; a text has {median(counts):,.0f} in the middle, {longest:,} at most"
    )
    if longer:
        why += f"; of {100 * longer / len(counts):.0f} % only {kept} will be read"
    if min(median(counts), limit) >= LONG:
        tree = fill(tree, {"model": {"skipping": 0.5}})
    skipped = 100 * tree["model"].get("skipping", 0)
    if skipped:
        why += f"; a step leaves out {skipped:.0f} % of them, others each time"
    return tree, why


def _model(tree: Tree, texts: int, budget: float) -> tuple[Tree, str]:
    width, layers = next((w, n) for w, n, time, few in SIZES if budget <= time or texts < few)
    tree = fill(tree, {"model": {"kind": "transformer"}})
    kind = tree["model"]["kind"]
    if kind == "rnn":
        shape = {"cell": "lstm", "width": width, "layers": 1, "pooling": "max"}
        tree = fill(tree, {"model": shape})
    elif kind == "mean":
        tree = fill(tree, {"model": {"width": width}})
    else:
        shape = {"width": width, "layers": layers, "heads": max(1, width // 32)}
        more = {"feed": 2 * width, "activation": "gelu", "positions": "sinusoidal"}
        more |= {"segments": 2} if _told_apart(tree) else {}
        tree = fill(tree, {"model": {**shape, **more}})
    model = tree["model"]
    layers = model.get("layers", 0)
    depth = f", {layers} layer{'s' * (layers > 1)}" if layers else ""
    return tree, f"{kind}{depth}, width {model['width']}"


def _told_apart(tree: Tree) -> bool:
    """Two texts that are judged together get vectors of their own, where an encoder reads them."""
    return bool(tree["data"].get("other")) and not tree["model"].get("causal")


def _training(tree: Tree, train: Sequence[Labelled], budget: float) -> tuple[Tree, str]:
    steps = tree["train"].get("steps")
    small = {"optimizer": "adamw", "batch_tokens": _batch(train)}
    tree = fill(tree, {"train": small})
    tree = fill(tree, {"train": {"rate": RATES[tree["model"]["kind"]], "weight_decay": 0.01}})
    if not steps:
        tree = fill(tree, {"train": {"passes": 30}})
    tree = fill(tree, {"model": {"judge_dropout": 0.3}})
    end = f"{steps:,} steps" if steps else f"about {spoken(budget)}"
    return tree, f"{end}; {tree['train']['optimizer']}, rate {tree['train']['rate']:g}"


def _batch(train: Sequence[Labelled]) -> int:
    """Tokens of a step. Of few texts small ones: 30 passes in steps of 4,000 tokens taught a mean
    of vectors 53 % of TREC's questions, and smaller ones (with RATES) 76 %."""
    tokens = sum(len(e.text) + len(e.other) for e in train) / LETTERS
    least = max(SMALLEST_BATCH, TEXTS_A_STEP * tokens / len(train))
    return int(min(LARGEST_BATCH, max(least, tokens / STEPS_A_PASS)))
