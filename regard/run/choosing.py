"""Which model is best for someone's own texts? Every candidate learns from the same texts, within
the time there is, and is scored on the same test part; what a rule of thumb predicted stands beside
what happened."""

import csv
import io
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, cast

from regard.build import begin, draft
from regard.config import Recipe, Tree, seconds
from regard.data.labels import Labelled
from regard.data.splits import Splits, place_of
from regard.errors import ConfigError, DataError
from regard.files import locked, make_folder, write_bytes, write_text
from regard.lens.learning import choice_page, learning_curve
from regard.models.weights import count_parameters
from regard.run.comparing import compare
from regard.run.finishing import finish
from regard.run.opened import Run
from regard.tasks.classify import Classify
from regard.tasks.label_recipe import ClassifyRecipe
from regard.tasks.recipe import make_recipe

RATIO = 1500  # texts for every word of a text, from which on order can be learned
SEQUENCES = ("rnn", "transformer")
CANDIDATES: dict[str, Tree] = {
    "bag": {"kind": "bag"},
    "bag by naive Bayes and SVM": {"kind": "bag", "judge": "nbsvm"},
    "mean": {"kind": "mean"},
    "rnn": {"kind": "rnn"},
    "transformer": {"kind": "transformer"},
}
SHARES = {10: 0.15, 30: 0.25, 100: 0.6}  # percent of the texts, and of a candidate's time
FOR_NETWORKS = 0.85  # of the time; the rest is for reading, bags and scoring

Heard = Callable[[str], object]


class Entry(NamedTuple):
    """A candidate that was trained on a share of the texts."""

    name: str
    share: int
    texts: int
    run: Run
    milliseconds: float  # to judge a text


def which_model(
    path: Path,
    out: Path,
    *,
    columns: Sequence[str | None] | None = None,
    budget: str = "20m",
    sets: Sequence[str] = (),
    heard: Heard = len,
) -> Tree:
    """Train the candidates into folders below `out`, and say which is best. `heard` is told what
    is going on."""
    if out.exists():
        raise ConfigError(f"{out}: exists already. Give another name with --out.")
    given = {"data": dict(zip(("source", "target"), columns or (None, None), strict=True))}
    tree = {"data": {key: value for key, value in given["data"].items() if value is not None}}
    first, reasons = make_recipe("classify", [path], [*sets, "model.kind=bag"], tree)
    for what, why in reasons[:1]:
        heard(f"{what}: {why}")
    splits = Classify.read(cast(ClassifyRecipe, first))
    rule = rule_for(splits.train)
    heard(told(rule))
    files = write_sides(out / "data", first, splits)
    networks = [name for name, model in CANDIDATES.items() if model["kind"] != "bag"]
    each = FOR_NETWORKS * seconds(budget) / len(networks)
    entries = [
        entry
        for name, model in CANDIDATES.items()
        for share, part in SHARES.items()
        if (entry := _trained(name, model, share, files, first, out, part * each, sets, heard))
    ]
    return _report(rule, entries, out)


def rule_for(train: Sequence[Labelled]) -> Tree:
    """Samples over the mean length in words: below 1,500 a bag of pairs of words does best, above
    it a model that knows the order (Google's guide to text classification, 2018)."""
    words = [len(e.text.split()) + len(e.other.split()) for e in train]
    mean = sum(words) / len(words)
    ratio = len(words) / max(mean, 1e-9)
    predicts = "bag" if ratio < RATIO else "sequence model"
    return {"samples": len(words), "mean_length": mean, "ratio": ratio, "predicts": predicts}


def told(rule: Tree) -> str:
    return (
        f"{rule['samples']:,} texts of {rule['mean_length']:.0f} words: {rule['ratio']:,.0f} texts "
        f"for each word, so the rule ({RATIO:,}) predicts a {rule['predicts']}."
    )


def write_sides(folder: Path, recipe: Recipe, splits: Splits[Labelled]) -> dict[str, str]:
    """The parts as files, the training part in growing shares: by a hash, so that a larger one
    holds the smaller."""
    make_folder(folder)
    parts = {"validation": splits.validation, "test": splits.test}
    for share in SHARES:
        parts[f"train-{share}"] = [e for e in splits.train if place_of(f"share {e.text}") < share]
    files = {}
    for name, examples in parts.items():
        table = io.StringIO()
        rows = [(e.text, e.label, e.other) for e in examples]
        csv.writer(table, lineterminator="\n").writerows([("text", "label", "other"), *rows])
        path = folder / f"{name}.csv"
        write_text(path, table.getvalue())
        files[name] = str(path.absolute())
    return files


def _trained(
    name: str,
    model: Tree,
    share: int,
    files: dict[str, str],
    first: Recipe,
    out: Path,
    budget: float,
    sets: Sequence[str],
    heard: Heard,
) -> Entry | None:
    data: Any = first.data  # type: ignore[attr-defined]
    chosen = {"path": files[f"train-{share}"], "text": "text", "label": "label"}
    chosen |= {side: files[side] for side in ("validation", "test")}
    chosen |= {"separator": data.separator}
    chosen |= {"other": "other"} if data.other else {}
    tree: Tree = {"data": {k: v for k, v in chosen.items() if v is not None}, "model": model}
    if model["kind"] != "bag":
        tree["train"] = {"budget": f"{max(1, int(budget))}s"}
    try:
        recipe, _ = make_recipe("classify", (), sets, tree)
        training = begin(draft(recipe, out / f"{name.replace(' ', '-')}-{share}"))
    except DataError as error:  # too few texts of some class
        heard(f"{name}, {share} % of the texts: left out. {error}")
        return None
    heard(f"{name}, {share} % of the texts ...")
    with locked(training.folder):
        for _ in training.run():
            pass
        run = finish(training)
    return Entry(name, share, training.batches.examples, run, _milliseconds(run))


def _milliseconds(run: Run) -> float:
    inputs = run.task.inputs(run.part(None)[0].examples)[:500]
    clock = time.perf_counter()
    run.predictor().predict(inputs)
    return 1000 * (time.perf_counter() - clock) / max(1, len(inputs))


def _report(rule: Tree, entries: list[Entry], out: Path) -> Tree:
    whole = sorted((e for e in entries if e.share == 100), key=lambda e: -_accuracy(e))
    if len(whole) < 2:
        raise DataError("fewer than two models could be trained: is there enough of every class?")
    best, second = whole[:2]
    found = compare(best.run, second.run)["scores"]["accuracy"]
    kind = "sequence model" if best.name in SEQUENCES else "bag"
    result = {
        "rule": {**rule, "held": kind == rule["predicts"]},
        "models": [_row(entry) for entry in whole],
        "winner": best.name,
        "second": second.name,
        "difference": found,
        "significant": bool(found["significant"]),
        "curve": [
            {"name": e.name, "texts": e.texts, **_score(e)}
            for e in sorted(entries, key=lambda e: (e.name, e.share))
        ],
    }
    picture = learning_curve(result["curve"])
    write_bytes(out / "curve.png", picture)
    write_text(out / "report.html", choice_page(result, told(rule), picture))
    return result


def _row(entry: Entry) -> Tree:
    facts = entry.run.facts
    return {
        "name": entry.name,
        "run": str(entry.run.folder),
        "scores": facts["test"]["scores"],
        "seconds": facts["seconds"],
        "parameters": count_parameters(entry.run.network),
        "ms_per_text": round(entry.milliseconds, 3),
    }


def _score(entry: Entry) -> Tree:
    found = entry.run.facts["test"]["scores"]["accuracy"]
    return {"accuracy": found["value"], "low": found["low"], "high": found["high"]}


def _accuracy(entry: Entry) -> float:
    return float(_score(entry)["accuracy"])
