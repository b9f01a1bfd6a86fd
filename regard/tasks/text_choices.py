"""Settings that fit someone's text: tokens, size and schedule, each with its reason. Whatever the
person has set is kept."""

from regard.config import DEFAULT_BUDGET, Tree, seconds
from regard.data.corpus import MANY, Corpus
from regard.errors import DataError
from regard.tasks.pair_network import spoken
from regard.tasks.task import Choice
from regard.tasks.text_data import read_whole, split_text
from regard.tasks.text_recipe import TextData
from regard.toml import check, fill

FACES = {
    "gpt": "a Transformer that goes on with any text; scored by perplexity and bits per byte",
    "lstm": "the same with an LSTM, which reads token by token and carries a state along",
}
# Width, layers and context for budgets up to so many seconds, or for texts of fewer characters.
SIZES = [
    (64, 2, 64, 0, 50_000),
    (128, 4, 64, 600, 2_000_000),
    (192, 4, 128, 1800, 5_000_000),
    (256, 6, 256, 9e9, 0),
]
SHORT = 2_000_000  # characters: below it, words are too rare to learn
HELD_OUT = 4_000_000  # characters: as many validate, and as many test


def choose_for_text(tree: Tree, face: str) -> Choice:
    data = check(TextData, tree.get("data", {}), "data")
    whole = read_whole(data)
    tree = _parts(tree, whole)
    sides = split_text(check(TextData, tree["data"], "data"), whole)
    characters = len(sides.train)
    parts = [f"{len(side):,}" for side in (sides.train, sides.validation, sides.test)]
    about_data = (
        f"{sides.train.documents:,} documents; characters: {parts[0]} train, {parts[1]} validate, "
        f"{parts[2]} test"
    )
    budget = seconds(tree["train"].get("budget") or DEFAULT_BUDGET)
    tree, about_tokens = _tokens(tree, characters)
    tree, about_model = _model(tree, characters, budget)
    tree, about_training = _training(tree, budget)
    reasons = [
        ("data", about_data),
        ("tokens", about_tokens),
        ("model", about_model),
        ("training", about_training),
    ]
    return Choice(tree, reasons)


def example_for_text(face: str) -> Tree:
    """A recipe's beginning for someone who has no data yet."""
    kind = {"kind": "rnn", "cell": "lstm"} if face == "lstm" else {"kind": "transformer"}
    return {"data": {"path": "corpus.txt"}, "tokens": {"kind": "character"}, "model": kind}


# Each rule: the tree with what it adds, and why


def _parts(tree: Tree, whole: Corpus) -> Tree:
    """Of a long text a small share is enough to validate and test on, more would only take time;
    but of documents, which are not cut in two, one or two at least."""
    least = 1.5 / whole.documents if whole.documents >= MANY else 0
    share = round(100 * max(HELD_OUT / whole.characters, least), 3)
    while share < TextData.model_fields["split"].default[-1]:
        split = 100 - 2 * share, share, share
        if "split" in tree["data"] or _leaves_something(whole, split):
            return fill(tree, {"data": {"split": list(split)}})
        share *= 2
    return tree


def _leaves_something(whole: Corpus, split: tuple[float, float, float]) -> bool:
    """Not where the last document is longer than both parts together."""
    try:
        whole.split(split)
    except DataError:
        return False
    return True


def _tokens(tree: Tree, characters: int) -> tuple[Tree, str]:
    if characters < SHORT:
        tree = fill(tree, {"tokens": {"kind": "character"}, "order": 6})
        return tree, f"{_named(tree)}: the text is short"
    size = 4000 if characters < 10 * SHORT else 8000
    tree = fill(tree, {"tokens": {"kind": "bytes", "size": size}, "order": 4})
    return tree, f"{_named(tree)}: nothing is unknown"


def _named(tree: Tree) -> str:
    kinds = {"character": "characters", "word": "words", "bytes": "byte-level BPE"}
    kind = tree["tokens"]["kind"]
    return str(kinds.get(kind, kind))


def _model(tree: Tree, characters: int, budget: float) -> tuple[Tree, str]:
    width, layers, length = next(
        (w, n, t) for w, n, t, time, few in SIZES if budget <= time or characters < few
    )
    tree = fill(tree, {"model": {"kind": "transformer"}})
    if tree["model"]["kind"] == "rnn":
        shape = {"cell": "lstm", "width": 2 * width, "layers": 2, "max_length": 64}
        tree = fill(tree, {"model": shape})
        model = tree["model"]
        cell = str(model["cell"]).upper()
        return tree, f"{cell}, {model['layers']} layers of width {model['width']}"
    shape = {"width": width, "layers": layers, "activation": "gelu", "positions": "rotary"}
    tree = fill(tree, {"model": {**shape, "max_length": length, "embedding_scale": False}})
    model = tree["model"]
    tree = fill(tree, {"model": {"heads": max(1, model["width"] // 32), "bias": False}})
    return tree, (
        f"Transformer, {model['layers']} layers of width {model['width']}, "
        f"{model['max_length']} tokens in sight"
    )


def _training(tree: Tree, budget: float) -> tuple[Tree, str]:
    steps = tree["train"].get("steps")
    recurrent = tree["model"]["kind"] == "rnn"
    rows = 12 if budget <= 600 else 16
    usual = {
        "optimizer": "adamw" if recurrent else "muon",
        "batch_tokens": rows * tree["model"]["max_length"],
        "weight_decay": 0.01 if recurrent else 0.1,
        "patience": 5,
    }
    tree = fill(tree, {"train": usual})
    train = tree["train"]
    tree = fill(tree, {"train": {"rate": 5e-3 if train["optimizer"] == "muon" else 2e-3}})
    tree = fill(tree, {"model": {"dropout": 0.0 if budget <= 600 else 0.1}})
    end = f"{steps:,} steps" if steps else f"about {spoken(budget)}"
    rates = f"rate {tree['train']['rate']:g}, dropout {tree['model']['dropout']:g}"
    return tree, f"{end}; {train['optimizer']}, {rates}"
