"""A network that fits someone's pairs and the time there is, and how to train it: the rules, each
with its reason."""

from typing import NamedTuple

from regard.config import Tree
from regard.toml import fill

# Width and layers for budgets up to so many seconds, or for data of fewer tokens.
SIZES = [(64, 2, 0, 20_000), (128, 2, 600, 300_000), (192, 3, 1800, 1_500_000), (256, 3, 9e9, 0)]
SPEED = 30e9  # multiplications and additions a second that a laptop spends on such a network


class Tokens(NamedTuple):
    total: int  # in all training pairs, about
    longest: int  # on one side of a pair that is not left out


def choose_model(tree: Tree, total: int, budget: float) -> tuple[Tree, str]:
    width, layers = next((w, n) for w, n, time, few in SIZES if budget <= time or total < few)
    tree = fill(tree, {"model": {"kind": "transformer"}})
    if tree["model"]["kind"] == "rnn":
        tree, shape = _recurrent(tree, width)
    else:
        tree, shape = _transformer(tree, width, layers)
    return tree, f"{shape}; about {total:,} tokens to learn from"


def _recurrent(tree: Tree, width: int) -> tuple[Tree, str]:
    """One wide layer that reads from both ends, where the attention can do with that."""
    tree = fill(tree, {"model": {"cell": "gru", "width": min(256, 2 * width), "layers": 1}})
    tree = fill(tree, {"model": {"attention": "additive"}})
    model = tree["model"]
    tree = fill(tree, {"model": {"bidirectional": model["attention"] not in ("dot", "scaled")}})
    looks = "no attention" if model["attention"] == "none" else f"{model['attention']} attention"
    cell = str(model["cell"]).upper()
    return tree, f"{cell}, {model['layers']} of width {model['width']} on each side, {looks}"


def _transformer(tree: Tree, width: int, layers: int) -> tuple[Tree, str]:
    shape = {"width": width, "encoder_layers": layers, "decoder_layers": layers}
    tree = fill(tree, {"model": {**shape, "activation": "gelu", "positions": "both"}})
    model = tree["model"]
    usual = max(2, model["width"] // 64)
    heads = next((h for h in (usual, 2) if model["width"] % (2 * h) == 0), 1)
    tree = fill(tree, {"model": {"heads": heads, "feed": 2 * model["width"]}})
    sides = f"{model['encoder_layers']} + {model['decoder_layers']}"
    return tree, f"Transformer, {sides} layers of width {model['width']}"


def choose_training(tree: Tree, tokens: Tokens, budget: float) -> tuple[Tree, str]:
    """Small data takes many passes to make enough steps, and then dropout against learning it
    by heart."""
    steps = tree["train"].get("steps")
    batch = max(2 * tokens.longest, min(2000, max(200, tokens.total // 8)))
    optimizer = "adamw" if tree["model"]["kind"] == "rnn" else "muon"
    tree = fill(tree, {"train": {"optimizer": optimizer, "batch_tokens": batch, "patience": 5}})
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
    model, ids = tree["model"], (tree.get("target") or tree["source"])["size"]
    layers = model["layers"] if model["kind"] == "rnn" else model["encoder_layers"]
    work = 48 * layers * model["width"] ** 2 + 3 * ids * model["width"]
    return min(SPEED / work, 8_000.0 if model["kind"] == "rnn" else 25_000.0)


def spoken(seconds: float) -> str:
    """
    >>> spoken(300), spoken(90)
    ('5 minutes', '90 seconds')
    """
    return f"{seconds / 60:g} minutes" if seconds >= 120 else f"{seconds:g} seconds"
