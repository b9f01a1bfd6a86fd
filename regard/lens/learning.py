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
    True: "as the rule predicted",
    False: "unlike what the rule predicted",
    None: "of which the rule says nothing: a mean of vectors is no bag of pairs of words, and does "
    "not know their order",
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
<p>{rule}</p><p>{verdict}</p>
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
    rows = [HEAD, *map(row_of, result["models"])]
    return PAGE.format(
        rule=escape(rule),
        verdict=escape(verdict_of(result)),
        rows="".join(_row("th" if row is HEAD else "td", row) for row in rows),
        png=base64.b64encode(png).decode(),
    )


def row_of(model: Tree) -> tuple[str, ...]:
    return (
        model["name"],
        f"{model['validation']:.2f}",
        interval(model["scores"]["accuracy"]),
        f"{model['seconds']:,.0f}",
        f"{model['parameters']:,}",
        f"{model['ms_per_text']:.2f}",
    )


def verdict_of(result: Tree) -> str:
    """What happened, in a sentence or two."""
    apart = result["difference"]
    between = f"{apart['low']:+.2f} to {apart['high']:+.2f}"
    real = "more than chance" if result["significant"] else "which may be chance"
    where = "ahead of" if apart["difference"] >= 0 else "behind"
    return (
        f"{result['winner']} did best on the validation part, {HELD[result['rule']['held']]}. On "
        f"the test part, which had no say in that, it is {abs(apart['difference']):.2f} points "
        f"{where} {result['second']} (95 % interval of the difference {between}), {real}."
    )


def _row(tag: str, cells: Iterable[str]) -> str:
    return "<tr>" + "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in cells) + "</tr>"
