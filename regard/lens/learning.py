"""How models grow with the number of texts, as a picture and as a page."""

import base64
from collections.abc import Iterable, Sequence
from html import escape
from io import BytesIO

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter

from regard.config import Tree
from regard.names import interval

DOTS = 150
HEAD = (
    "model",
    "validated, %",
    "texts judged right, %",
    "training, s",
    "parameters",
    "ms for a text",
)
HELD = {
    True: "the rule was right",
    False: "the rule was wrong",
    None: "which may be chance, so that the rule was neither right nor wrong",
}
PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Which model is best?</title>
<style>
body {{ font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 60rem }}
table {{ border-collapse: collapse }} td, th {{ padding: .3rem .8rem; text-align: left }}
td + td, th + th {{ text-align: right }} tr:nth-child(2) {{ font-weight: 600 }}
img {{ max-width: 100% }}
</style>
<h1>Which model is best?</h1>
<p>{rule}</p><p>{verdict}</p>{notes}
<table>{rows}</table>
<h2>How they grow with the number of texts</h2>
<img alt="Accuracy of every model over the number of texts" src="data:image/png;base64,{png}">
</html>
"""


def learning_curve(points: Sequence[Tree]) -> bytes:
    """A line for each model: accuracy with its interval over the number of texts, as a PNG."""
    figure = Figure(figsize=(9, 4.5), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    for name in dict.fromkeys(point["name"] for point in points):
        own = sorted((p for p in points if p["name"] == name), key=lambda p: p["texts"])
        texts, values = [p["texts"] for p in own], [p["accuracy"] for p in own]
        (line,) = axes.plot(texts, values, marker="o", label=name)
        low, high = [p["low"] for p in own], [p["high"] for p in own]
        axes.fill_between(texts, low, high, alpha=0.12, color=line.get_color(), linewidth=0)
    axes.set_xscale("log")
    counts = sorted({point["texts"] for point in points})
    axes.set_xticks(counts, [f"{count:,}" for count in counts])
    axes.xaxis.set_minor_formatter(NullFormatter())  # else it writes 4 x 10^3
    axes.set_xlabel("texts to learn from")
    axes.set_ylabel("texts judged right, %")
    axes.grid(alpha=0.3)
    axes.legend(frameon=False, loc="upper left", bbox_to_anchor=(1, 1))  # beside the lines
    file = BytesIO()
    figure.savefig(file, format="png", dpi=DOTS, metadata={"Software": None})
    return file.getvalue()


def choice_page(result: Tree, rule: str, png: bytes) -> str:
    """One page, without anything from elsewhere."""
    rows = [HEAD, *rows_of(result)]
    return PAGE.format(
        rule=escape(rule),
        verdict=escape(verdict_of(result)),
        notes="".join(f"<p>{escape(note)}</p>" for note in result["notes"]),
        rows="".join(_row("th" if row is HEAD else "td", row) for row in rows),
        png=base64.b64encode(png).decode(),
    )


def rows_of(result: Tree) -> list[tuple[str, ...]]:
    """Of each model, and of whoever says the most frequent label, whatever the text."""
    beside = result["baseline"]
    last = (beside["name"], "", interval(beside["scores"]["accuracy"]), "", "", "")
    return [*map(_row_of, result["models"]), last]


def _row_of(model: Tree) -> tuple[str, ...]:
    return (
        model["name"],
        f"{model['validation']:.2f}",
        interval(model["scores"]["accuracy"]),
        f"{model['seconds']:,.0f}",
        f"{model['parameters']:,}",
        f"{model['ms_per_text']:.2f}",
    )


def verdict_of(result: Tree) -> str:
    """What happened, in a few sentences: who is best, and whether the rule was right. It is about
    bags and sequence models; a mean of vectors is neither."""
    real = "more than chance" if result["significant"] else "which may be chance"
    found = (
        f"{_best(result['models'])}. On the test part, which had no say in that, "
        f"{result['winner']} is {_apart(result['difference'], result['second'])}, {real}."
    )
    return " ".join([found, *_about_nothing(result), *_about_the_rule(result)])


def _about_nothing(result: Tree) -> list[str]:
    """Where the winner may be no better than one that has learned nothing."""
    usual = result["baseline"]["scores"]["accuracy"]["value"]
    if result["models"][0]["scores"]["accuracy"]["low"] > usual:
        return []
    return [
        f"It may have learned nothing: always saying the most frequent label is right about "
        f"{usual:.2f} %, which is within its interval, or above."
    ]


def _about_the_rule(result: Tree) -> list[str]:
    """A network that hardly learned says little about it."""
    rule = result["rule"]
    if "difference" not in rule:
        return []
    passes = {model["name"]: model["passes"] for model in result["models"]}
    hurried = [name for name in (rule["best"], rule["other"]) if 0 < passes[name] < 1]
    but = f", but {hurried[0]} had no time to read all texts once" if hurried else ""
    families = ("bag", "sequence model")
    first, other = families if rule["predicts"] == "bag" else families[::-1]
    told = _apart(rule["difference"], f"the best {other}, {rule['other']}")
    return [
        f"The rule predicted a {first}: the best one, {rule['best']}, is {told}, "
        f"{HELD[rule['held']]}{but}."
    ]


def _best(models: Sequence[Tree]) -> str:
    """Whom the validation part has first, and who is as good there."""
    best, *others = models
    alike = [model["name"] for model in others if model["validation"] == best["validation"]]
    as_well = f" (as well did {', '.join(alike)})" if alike else ""
    return f"{best['name']} did best on the validation part{as_well}"


def _apart(apart: Tree, other: str) -> str:
    where = "ahead of" if apart["difference"] >= 0 else "behind"
    return (
        f"{abs(apart['difference']):.2f} points {where} {other} (95 % interval of the difference "
        f"{apart['low']:+.2f} to {apart['high']:+.2f})"
    )


def _row(tag: str, cells: Iterable[str]) -> str:
    return "<tr>" + "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in cells) + "</tr>"
