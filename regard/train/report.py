"""The card of a finished run: what it is, how good, on which data, and how to make it again."""

from typing import Any

from regard.config import Recipe, Tree

LIMITS = (
    "Scores hold for text like the training data; elsewhere expect worse.",
    "The intervals say how much another test sample would move a score, not another training.",
)


def card(recipe: Recipe, facts: Tree) -> str:
    """README.md of a run folder, in Markdown."""
    parts = [
        f"# A {recipe.task} model",
        f"{facts['parameters']:,} parameters, trained for {facts['steps']:,} steps in "
        f"{facts['seconds']:.0f} seconds ({facts['tokens_per_second']:,} tokens/s). "
        f"`model.safetensors` holds the {facts['weights']} weights.",
        "## Scores",
        _scores(facts["test"]),
        "## Data",
        _data(recipe, facts["data"]),
        "## Samples",
        _samples(facts["samples"]),
        "## Limits",
        "\n".join(f"- {limit}" for limit in LIMITS),
        "## Made with",
        ", ".join(f"{name} {value}" for name, value in facts["environment"].items()) + ".",
        "The settings are in `recipe.toml`. To train the same model again:",
        "```console\n$ regard train recipe.toml --out runs/again\n```",
    ]
    return "\n\n".join(parts) + "\n"


def _scores(test: Tree) -> str:
    beside = test["baseline"]
    rows = [
        f"| {name} | {score} | {_interval(beside['scores'][name])} | `{how}` |"
        for name, found in test["scores"].items()
        for score, how in [(_interval(found), found["signature"].replace("|", "\\|"))]
    ]
    head = f"| score (95 % interval) | this model | {beside['name']} | how |\n|---|---|---|---|\n"
    return f"On {test['examples']:,} inputs of the {test['data']}:\n\n{head}" + "\n".join(rows)


def _interval(score: dict[str, Any]) -> str:
    return f"{score['value']:.2f} ({score['low']:.2f} to {score['high']:.2f})"


def _data(recipe: Recipe, data: Tree) -> str:
    settings = recipe.model_dump().get("data", {})
    shares = " / ".join(f"{share:g}" for share in settings.get("split", ()))
    return (
        f"{data['train']:,} examples for training, {data['validation']:,} for validation, "
        f"{data['test']:,} for test, split {shares} by {data['split_rule']}. "
        f"{data['left_out_of_training']:,} were left out of training "
        f"(empty, or longer than the model takes). SHA-256 `{data['sha256']}`."
    )


def _samples(samples: list[dict[str, Any]]) -> str:
    width = max(len(s["input"]) for s in samples)
    marks = ["*" if s["in_training"] else " " for s in samples]
    rows = zip(marks, samples, strict=True)
    lines = [f"{mark} {s['input']:{width}}  {s['output']}" for mark, s in rows]
    return "```text\n" + "\n".join(lines) + "\n```\n\n`*` was among the training inputs."
