"""The report of a run as one web page that needs nothing else: scores beside the baselines, the
curves of the training, samples, data and settings.

It is made of plain dicts: `facts` as in run.json, `log` as the lines of metrics.jsonl, `recipe` as
the tables of recipe.toml. What is said is decided here, how it looks in static/report.*.
"""

import base64
import math
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from statistics import median
from typing import Any

from regard.config import Tree
from regard.lens.page import safe_page
from regard.lens.picture import visible
from regard.metrics import LOWER_IS_BETTER
from regard.names import (
    CUT,
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

MOST_LABELS = 30
OF_STEPS = ("train", "begin_with", "keep")  # settings that a bag has no use for
SMOOTHING = 50  # a point is smoothed over this part of all points on each side: 1/50
COMMAND = "regard train recipe.toml --out ../again"


def report_page(
    name: str, facts: Tree, log: Sequence[Tree], recipe: Tree, judgements: bytes | None = None
) -> str:
    """The whole page. It works from a file, a mail or a memory stick, offline. `judgements`: the
    picture of a classifier, as a PNG."""
    test, labels = facts["test"], worst_labels(facts["test"], MOST_LABELS)
    charts = () if learned_at_once(facts) else _charts(log, recipe)
    tree = {
        "name": name,
        "sentence": sentence(facts),
        "scored": f"On {test['examples']:,} {test.get('unit', 'inputs')} of the {test['data']}, "
        "with 95 % intervals.",
        "scores": [_metric(metric, test) for metric in test["scores"]],
        "remarks": [f"{remark}." for remark in counted(test, REMARKS)],
        "labels": {"head": HEAD, **labels._asdict()},
        "judgements": _embedded(judgements),
        "at_once": learned_at_once(facts),
        "charts": [chart for chart in charts if chart["lines"]],
        "kept": _kept(facts, log),
        "samples": facts["samples"],
        "data": list(_data_rows(facts["data"], recipe.get("data", {}))),
        "environment": list(_made_with(facts)),
        "settings": list(_settings(recipe)),
        "command": COMMAND,
    }
    return safe_page("report", _clean(tree), styles=["attention.css", "report.css"])


def _embedded(picture: bytes | None) -> str | None:
    if picture is None:
        return None
    return "data:image/png;base64," + base64.b64encode(picture).decode()


def summary_html(name: str, facts: Tree) -> str:
    """The scores and the main facts as a fragment for a notebook: no script, all text escaped."""
    models = compared(facts["test"])
    metrics = [_metric(metric, facts["test"]) for metric in facts["test"]["scores"]]
    head = _row("th", ["95 % interval", *(model["name"] for model in models)])
    rows = (_row("td", [m["title"], *(interval(row) for row in m["rows"])]) for m in metrics)
    return (
        f"<div><p><b>{_safe(name)}</b>: {_safe(sentence(facts))}</p>"
        f'<table style="border-collapse:collapse">{head}{"".join(rows)}</table></div>'
    )


def sentence(facts: Tree) -> str:
    model = f"A {facts['task']} model of {facts['parameters']:,} parameters"
    if learned_at_once(facts):
        return f"{model}, learned at once in {facts['seconds']:.1f} seconds."
    return (
        f"{model}, trained for {facts['steps']:,} steps in {_duration(facts['seconds'])} "
        f"({facts['tokens_per_second']:,} tokens/s). It holds {held(facts)}."
    )


# Scores


def _metric(name: str, test: Tree) -> Tree:
    """One metric of every model; None where a model does not have it, or it is no number."""
    models = [(model["name"], model["scores"].get(name, {})) for model in compared(test)]
    known = "higher is better" if name in SCORE_TITLES else ""
    return {
        "title": SCORE_TITLES.get(name, name),
        "better": "lower is better" if name in LOWER_IS_BETTER else known,
        "rows": [{"name": who, **_numbers(score)} for who, score in models],
        "signatures": list(dict.fromkeys(s["signature"] for _, s in models if "signature" in s)),
    }


def _numbers(score: Tree) -> Tree:
    found = {key: score.get(key) for key in ("value", "low", "high")}
    return found if all(map(_finite, found.values())) else dict.fromkeys(found)


# Curves


def _charts(log: Sequence[Tree], recipe: Tree) -> Iterator[Tree]:
    """Losses together, then each further validation score, the rate and the gradient norm."""
    steps, checks = [line for line in log if "loss" in line], _checks(log)
    training, norm = _line("training", "raw", steps, "loss"), _line("norm", "raw", steps, "norm")
    keys = dict.fromkeys(["loss", *(key for line in checks for key in line if key != "step")])
    watched = {key: _line("validation", "dots", checks, key) for key in keys}
    loss = [training, _smooth(training), watched.pop("loss")]
    extra = recipe.get("train", {}).get("label_smoothing")
    note = f"Training includes label smoothing ({extra:g}), validation does not." if extra else ""
    yield _chart("Loss", *loss, bends=True, note=note)
    for name, line in watched.items():
        yield _chart(f"Validation: {SCORE_TITLES.get(name, name)}", line)
    yield _chart("Learning rate", _line("rate", "plain", steps, "rate"))
    yield _chart("Gradient norm, before clipping", norm, _smooth(norm), bends=True)


def _checks(log: Sequence[Tree]) -> list[Tree]:
    return [{**line["validation"], "step": line["step"]} for line in log if "validation" in line]


def _chart(title: str, *lines: Tree, bends: bool = False, note: str = "") -> Tree:
    """`bends`: may be shown on a logarithmic scale."""
    shown = [line for line in lines if line["steps"]]
    return {"title": title, "note": note, "bends": bends, "lines": shown}


def _line(name: str, kind: str, lines: Iterable[Tree], key: str) -> Tree:
    """One curve; points that are missing or not finite are left out."""
    points = [(line["step"], line[key]) for line in lines if _finite(line.get(key))]
    values = [float(f"{value:.5g}") for _, value in points]  # no pixel shows more
    return {"name": name, "kind": kind, "steps": [step for step, _ in points], "values": values}


def _smooth(line: Tree) -> Tree:
    return {**line, "name": "smoothed", "kind": "smooth", "values": smoothed(line["values"])}


def smoothed(values: Sequence[float]) -> list[float]:
    """Running medians, which a single odd batch does not move. They never look further ahead
    than back, so that a steep start stays where it is.

    >>> smoothed([5, 4, 3, 90, 1, 2])
    [5, 4, 4, 3, 2, 1.5]
    """
    reach = max(1, len(values) // SMOOTHING)
    found = []
    for i in range(len(values)):
        back = min(reach, i)
        found.append(median(values[i - back : i + back + 1]))
    return found


def _kept(facts: Tree, log: Sequence[Tree]) -> int | None:
    """The step whose weights the run holds, where that is one validation's."""
    if learned_at_once(facts):
        return None
    if "kept" in facts:
        return int(facts["kept"]["step"])
    found = [(line["loss"], line["step"]) for line in _checks(log) if _finite(line.get("loss"))]
    return min(found)[1] if found and facts["weights"] == "best" else None


# Tables


def _data_rows(data: Tree, settings: Tree) -> Iterator[list[str]]:
    """Where the examples came from and where they went."""
    named = {key: value for key, value in _section("data", settings) if key != "split"}
    source = named.pop("path", None) or f"{named.pop('set', 'unknown')} (a named data set)"
    yield ["from", source]
    yield from ([key, value] for key, value in named.items())
    for side, title in (("train", "training"), ("validation", "validation"), ("test", "test")):
        yield [f"{title} {data.get('unit', 'examples')}", f"{data[side]:,}"]
    yield ["split", f"{_shares(settings)}{data['split_rule']}"]
    yield ["left out", "; ".join(counted(data, LEFT_OUT)) or "nothing"]
    yield from (["cut", cut] for cut in counted(data, CUT))
    yield from (["guessed", note] for note in data["notes"])
    yield ["SHA-256", data["sha256"]]


def _shares(settings: Tree) -> str:
    """'90 / 5 / 5 by ', or nothing where a side has a file of its own."""
    if settings.get("validation") or settings.get("test") or not settings.get("split"):
        return ""
    return " / ".join(f"{share:g}" for share in settings["split"]) + " by "


def _settings(recipe: Tree) -> Iterator[Tree]:
    """A table for each section of the recipe, the settings outside of any section first."""
    if (recipe.get("model") or {}).get("kind") == "bag":
        recipe = {key: value for key, value in recipe.items() if key not in OF_STEPS}
    plain = {key: value for key, value in recipe.items() if not isinstance(value, dict)}
    sections = {key: value for key, value in recipe.items() if isinstance(value, dict)}
    for title, section in {"recipe": plain, **sections}.items():
        yield {"title": title, "rows": list(_section(title, section))}


def _section(title: str, section: Tree) -> Iterator[list[str]]:
    found = without_folders(section) if title == "data" else section
    yield from ([key, written(value)] for key, value in found.items() if value is not None)


def _made_with(facts: Tree) -> Iterator[list[str]]:
    yield from ([key, written(value)] for key, value in facts["environment"].items())
    yield ["memory at most", f"{facts['memory'] / 1e6:,.0f} MB"]


# Words


def _duration(seconds: float) -> str:
    """
    >>> _duration(9.4), _duration(286.5), _duration(5400)
    ('9.4 s', '4 min 46 s', '1 h 30 min')
    """
    minutes, left = divmod(int(seconds), 60)
    if minutes == 0:
        return f"{seconds:.1f} s"
    return f"{minutes // 60} h {minutes % 60} min" if minutes >= 60 else f"{minutes} min {left} s"


def _row(tag: str, cells: Iterable[str]) -> str:
    style = "text-align:left;padding:0.2em 0.8em;border:1px solid #8888"
    return "<tr>" + "".join(f'<{tag} style="{style}">{_safe(c)}</{tag}>' for c in cells) + "</tr>"


def _safe(text: str) -> str:
    return escape(visible(text, blank=" "))


def _finite(value: Any) -> bool:
    return isinstance(value, int | float) and math.isfinite(value)


def _clean(tree: Any) -> Any:
    """The tree with every text visible, and None for numbers that JSON has not."""
    if isinstance(tree, dict):
        return {key: _clean(value) for key, value in tree.items()}
    if isinstance(tree, list | tuple):
        return [_clean(value) for value in tree]
    if isinstance(tree, float) and not math.isfinite(tree):
        return None
    return visible(tree, blank=" ") if isinstance(tree, str) else tree
