"""The card of a run: what it is, how good, on which data, and how to make it again. Markdown.

Names, settings and samples are a person's text: `plain` lets none of it become markup, nor drive
a terminal.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import PurePath
from typing import Any

from regard.config import Recipe, Tree
from regard.names import (
    CUT,
    KEEPS,
    LEFT_OUT,
    REMARKS,
    SCORE_TITLES,
    compared,
    counted,
    interval,
    without_folders,
    written,
)
from regard.telling import HEAD, held, learned_at_once, worst_labels
from regard.text.tokenizer import symbol, visible

LIMITS = (
    "Scores hold for text like the training data; elsewhere expect worse.",
    "The intervals say how much another test sample would move a score, not another training.",
)
LONGEST = 120  # letters of a sample
MOST_LABELS = 30
BAG = {"strength": "as suits the length of rows"}  # where no number is set
MARKUP = re.compile(r"[\\`*\[\]<>|~&$]|(?<![^\W_])_|_(?![^\W_])")  # max_length is harmless
# Settings to show, by section. All of them are in recipe.toml.
MATTER = {
    "model": "kind cell width layers bidirectional attention scope reach input_feeding "
    "reverse_source projection encoder_layers decoder_layers heads kv_heads feed activation "
    "positions copying max_length dropout grams letters weights judge strength min_count size "
    "lowercase balanced",
    "train": "optimizer rate schedule batch_tokens label_smoothing weight_decay",
    "decode": "beam length_penalty temperature top_k top_p min_p typical_p max_length",
}


def card(recipe: Recipe | Tree, facts: Tree) -> str:
    """README.md of a finished run."""
    tree = _tree(recipe)
    parts = [
        f"# A {plain(tree['task'])} model",
        _trained(facts),
        "## Scores",
        *_scores(facts["test"]),
        *_labels(facts["test"]),
        *_about(tree, facts),
        "## Samples",
        *_samples(facts["samples"]),
        "## Limits",
        _list(_limits(tree)),
        "## Made with",
        _made_with(facts),
        "The settings are in `recipe.toml`. To train the same model again, in this folder:",
        "```console\n$ regard train recipe.toml --out ../again\n```",
    ]
    return "\n\n".join(parts) + "\n"


def _trained(facts: Tree) -> str:
    size, seconds = f"{facts['parameters']:,} parameters", f"{facts['seconds']:,.1f} seconds"
    if learned_at_once(facts):
        return f"{size}, learned at once in {seconds}. They are in `model.safetensors`."
    return (
        f"{size}, trained for {facts['steps']:,} steps in {seconds} "
        f"({facts['tokens_per_second']:,} tokens/s). "
        f"`model.safetensors` holds {plain(held(facts))}."
    )


def unfinished_card(recipe: Recipe | Tree, facts: Tree, state: Tree | None, advice: str) -> str:
    """The same of a run that still trains or was stopped: how far its newest checkpoint is
    (`state`, None before the first) and what to do, in Markdown."""
    tree = _tree(recipe)
    steps = tree["train"].get("steps")
    end = f" of {steps:,}" if steps else ""
    parts = [
        f"# A {plain(tree['task'])} model, not finished",
        f"{facts['parameters']:,} parameters. " + _progress(state, end),
        advice,
        *_about(tree, facts),
        "## Made with",
        _made_with(facts),
    ]
    return "\n\n".join(parts) + "\n"


def _progress(state: Tree | None, end: str) -> str:
    if state is None:
        return f"It stands before step 1{end}: no checkpoint is saved yet."
    scores = [f"{plain(name)} {value:.3g}" for name, value in state["validation"].items()]
    last = f" Its last validation: {', '.join(scores)}." if scores else ""
    spent = f"after {state['seconds']:,.1f} seconds of training"
    return f"Its newest checkpoint stands at step {state['step']:,}{end}, {spent}.{last}"


# Scores


def _scores(test: Tree) -> Iterator[str]:
    """Every score beside every baseline's, what may surprise about them, how they were made."""
    models, titles = compared(test), {name: SCORE_TITLES.get(name, name) for name in test["scores"]}
    rows = [
        [plain(title), *(interval(model["scores"].get(name, {})) for model in models)]
        for name, title in titles.items()
    ]
    yield f"On {test['examples']:,} {test.get('unit', 'inputs')} of the {plain(test['data'])}:"
    yield _table(["95 % interval", *(plain(m["name"]) for m in models)], rows)
    if remarks := counted(test, REMARKS):
        yield _list(f"{remark}." for remark in remarks)
    found = (score for model in models for score in model["scores"].values())
    yield "How they were computed:"
    yield _list(f"`{how}`" for how in dict.fromkeys(_code(s["signature"]) for s in found))


def _labels(test: Tree) -> Iterator[str]:
    """How well each label is known: the mean hides what is rare."""
    rows, remarks = worst_labels(test, MOST_LABELS)
    if rows:
        yield "## Each label"
        yield f"On the same {plain(test['data'])}, the worst first:"
        yield _table(list(HEAD), [[plain(cell) for cell in row] for row in rows])
        yield from [_list(f"{remark}." for remark in remarks)] if remarks else []
    if "reliability" in (test.get("details") or {}):
        yield "![What is taken for what, and can probabilities be believed?](judgements.png)"


# What it was made of


def _about(tree: Tree, facts: Tree) -> Iterator[str]:
    yield "## Data"
    yield _list([*_data(tree.get("data", {}), facts["data"]), *_direction(tree)])
    yield "## Settings"
    yield _list(_settings(tree, facts["vocabulary"]))


def _direction(tree: Tree) -> Iterator[str]:
    """From which texts to which, and whether capitals matter; for tasks that write."""
    if not isinstance(tree.get("source"), dict):
        return
    data, sides = tree.get("data", {}), ("source", "target")
    if data.get("turns"):
        names = [f"up to {data['history']} turns of a conversation", "the next turn"]
    elif isinstance(data.get("path"), list | tuple):
        names = [PurePath(name).name for name in data["path"]]
    else:
        given = [str(data.get(side) or side) for side in sides]
        names = [f"column {name}" if name.isdecimal() else name for name in given]
    # Without a tokenizer of its own, the target has the source's.
    folded = [side for side in sides if (tree.get(side) or tree["source"]).get("lowercase")]
    case = f"capitals of the {' and the '.join(folded)} are folded" if folded else "capitals count"
    yield f"From {plain(names[0])} to {plain(names[1])}; {case}."


def _data(settings: Tree, data: Tree) -> Iterator[str]:
    yield _source(settings)
    yield (
        f"{data['train']:,} {data.get('unit', 'examples')} for training, "
        f"{data['validation']:,} for validation, {data['test']:,} for test."
    )
    yield _split(settings, plain(data["split_rule"]))
    left = counted(data, LEFT_OUT)
    yield f"Left out: {'; '.join(left)}." if left else "Nothing was left out."
    yield from (f"{cut}." for cut in counted(data, CUT))
    yield from (f"Note: {plain(note)}" for note in data["notes"])
    yield f"SHA-256 of all examples: `{data['sha256']}`."


def _source(settings: Tree) -> str:
    named = without_folders(settings)
    path, other = named.pop("path", None), named.pop("set", None)
    where = f"From {plain(written(path))}" if path else f"The data set {plain(other)}"
    rest = _pairs(named, [key for key in named if key != "split"])
    return f"{where} ({rest})." if rest else f"{where}."


def _split(settings: Tree, rule: str) -> str:
    own = [side for side in ("validation", "test") if settings.get(side)]
    if len(own) == 2:
        return "Validation and test have files of their own."
    if own:
        return f"The {own[0]} part has a file of its own; the rest is split by {rule}."
    return f"Split {' / '.join(f'{share:g}' for share in settings.get('split') or ())} by {rule}."


def _settings(tree: Tree, sizes: dict[str, int]) -> Iterator[str]:
    """The tokenizers, which are the sections with a kind, then what matters of the others."""
    for name, section in tree.items():
        if isinstance(section, dict) and "kind" in section and name != "model":
            size = sizes.get(name, sizes.get("both"))
            pieces = "" if size is None else f", {size:,} pieces"
            both = name == "source" and "both" in sizes
            sides = "source and target" if both else plain(name)
            yield f"{sides}: {plain(section['kind'])} tokenizer{pieces}"
    bag = tree.get("model", {}).get("kind") == "bag"
    for name, keys in MATTER.items():
        if bag and name == "train":  # no steps: none of it was used
            continue
        usual = BAG if bag and name == "model" else {}
        if shown := _pairs(usual | tree.get(name, {}), keys.split()):
            yield f"{name}: {shown}"
    yield _pairs(tree, ["seed"])


def _limits(tree: Tree) -> Iterator[str]:
    yield from LIMITS
    goes_on = tree["task"] == "language_model"
    if longest := tree.get("model", {}).get("max_length"):
        yield _longest(tree, longest)
    if written := tree.get("decode", {}).get("max_length"):
        most = written if goes_on or not longest else min(written, longest)
        yield f"An output ends after {most:,} tokens at the latest."


def _longest(tree: Tree, longest: int) -> str:
    """What becomes of a text that is longer than the model takes."""
    if tree["task"] == "classify":
        own = longest - (3 if tree["data"].get("other") else 2)  # less what stands around texts
        return (
            f"Of a text of more than {own:,} tokens only {KEEPS[tree.get('keep', 'head')]} is read."
        )
    if tree["task"] != "language_model":
        return f"An input of more than {longest:,} tokens is refused."
    if tree["model"]["kind"] == "rnn":
        return f"A text may have any length; it was trained to look back {longest:,} tokens."
    if tree["decode"].get("beyond") == "refuse":
        return f"A beginning and what is to be written may have {longest + 1:,} tokens together."
    return f"It has {longest:,} tokens in sight: of a longer text the older half is forgotten."


def _samples(samples: list[Tree]) -> Iterator[str]:
    rows = [
        ["\\*" if s["in_training"] else ""]
        + [plain(text, LONGEST) for text in (s["input"], s["output"], " / ".join(s["wanted"]))]
        for s in samples
    ]
    yield _table(["", "input", "output", "wanted"], rows)
    if any(s["in_training"] for s in samples):
        yield "\\* was among the training inputs."


def _made_with(facts: Tree) -> str:
    memory = f", memory at most {facts['memory'] / 1e6:,.0f} MB" if "memory" in facts else ""
    return _pairs(facts["environment"], facts["environment"]) + memory + "."


# Markdown


def plain(text: Any, longest: int | None = None) -> str:
    r"""Text that is only text: in Markdown, in a cell of a table, and in a terminal.

    >>> print(plain("a|b\n*c*\x07 max_length"))
    a\|b↵\*c\*\[U+0007\] max_length
    """
    letters = str(text)
    if longest is not None and len(letters) > longest:
        letters = letters[: longest - 1] + "…"
    return MARKUP.sub(r"\\\g<0>", visible(letters, blank=" ", stand_in=symbol))


def _code(text: str) -> str:
    """Text between backticks, where nothing is escaped, so no backtick may be inside."""
    return visible(text, blank=" ", stand_in=symbol).replace("`", symbol("`"))


def _pairs(values: Tree, keys: Iterable[str]) -> str:
    """'width 128, heads 2': those of the keys that are set."""
    found = {key: values[key] for key in keys if values.get(key) is not None}
    return ", ".join(f"{plain(key)} {plain(written(value))}" for key, value in found.items())


def _list(lines: Iterable[str]) -> str:
    return "\n".join(f"- {line}" for line in lines if line)


def _table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _tree(recipe: Recipe | Tree) -> Tree:
    return recipe if isinstance(recipe, dict) else recipe.model_dump(exclude_none=True)
