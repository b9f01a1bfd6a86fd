"""Which model is best for someone's own texts? Every candidate learns from the same texts, within
the time there is; the validation part says which is best, and the test part how good it is. What a
rule of thumb predicted stands beside what happened."""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import cast

from regard.config import Tree, seconds
from regard.data.labels import Labelled
from regard.data.summary import RATIO
from regard.errors import ConfigError, DataError
from regard.files import write_bytes, write_text
from regard.lens.learning import choice_page, learning_curve
from regard.models.weights import count_parameters
from regard.run.candidates import asked_for, family_of
from regard.run.comparing import compare
from regard.run.contest import Contest, Entry, Heard, write_sides
from regard.tasks.classify import Classify
from regard.tasks.label_data import warn_of
from regard.tasks.label_recipe import ClassifyRecipe
from regard.tasks.label_teaching import labelled
from regard.tasks.recipe import asked, make_recipe
from regard.toml import fill

TOLERATED = 1.25  # of the budget, before it is told that it was not enough


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
    clock, whole, given = time.perf_counter(), _seconds(budget), asked_for(sets)
    tree = fill(asked(columns, None), {"data": given.get("data", {}), "model": {"kind": "bag"}})
    first, reasons = make_recipe("classify", [path], (), tree)
    for what, why in reasons[:1]:
        heard(f"{what}: {why}")
    data = cast(ClassifyRecipe, first).data
    splits = Classify.read(cast(ClassifyRecipe, first))
    warn_of(labelled(splits.train), data.separator)
    for note in splits.told():
        heard(note)
    rule = rule_for(labelled(splits.train))
    heard(told(rule))
    files = write_sides(out / "data", splits)
    contest = Contest(data, files, splits.validation, given, out, heard)
    entries = contest.all_within(whole - (time.perf_counter() - clock))
    taken = round(time.perf_counter() - clock, 1)
    if taken > whole * TOLERATED:
        heard(f"It took {taken:,.0f} s, not {budget}: bags and scoring are never cut short.")
    return {**_report(rule, entries, splits.told(), out), "seconds": taken}


def _seconds(budget: str) -> float:
    try:
        return seconds(budget)
    except ValueError as error:
        raise ConfigError(f"--budget: {error}") from error


def rule_for(train: Sequence[Labelled]) -> Tree:
    """Samples over the mean length in words: below 1,500 a bag of pairs of words does best, above
    it a model that knows the order (Google's guide to text classification, 2018)."""
    words = [len(e.text.split()) + len(e.other.split()) for e in train]
    mean = sum(words) / len(words)
    ratio = len(words) / max(mean, 1e-9)
    predicts = "bag" if ratio < RATIO else "sequence model"
    return {"samples": len(words), "mean_length": mean, "ratio": ratio, "predicts": predicts}


def told(rule: Tree) -> str:
    ratio = f"{rule['ratio']:,.0f}" if rule["ratio"] >= 10 else f"{rule['ratio']:.1f}"
    return (
        f"{rule['samples']:,} texts of {rule['mean_length']:.0f} words: {ratio} texts for each "
        f"word, so the rule ({RATIO:,}) predicts a {rule['predicts']}."
    )


def _report(rule: Tree, entries: list[Entry], notes: list[str], out: Path) -> Tree:
    """The validation part picks the winner: the test part, which tells how good it is, would
    flatter whom it picked."""
    whole = sorted((e for e in entries if e.share == 100), key=lambda e: -e.validated)
    if len(whole) < 2:
        raise DataError("fewer than two models could be trained: is there enough of every class?")
    best, second = whole[:2]
    found = compare(best.run, second.run)["scores"]["accuracy"]
    result = {
        "rule": {**rule, **_held(rule["predicts"], whole)},
        "models": [_row(entry) for entry in whole],
        "baseline": best.run.facts["test"]["baselines"][0],  # the most frequent label
        "winner": best.name,
        "second": second.name,
        "difference": found,
        "significant": bool(found["significant"]),
        "curve": [
            {"name": e.name, "texts": e.texts, **_score(e)}
            for e in sorted(entries, key=lambda e: (e.name, e.share))
        ],
        "notes": notes,
    }
    picture = learning_curve(result["curve"])
    write_bytes(out / "curve.png", picture)
    write_text(out / "report.html", choice_page(result, told(rule), picture))
    return result


def _held(predicted: str, whole: Sequence[Entry]) -> Tree:
    """Was the rule right? The best model of the family that it predicted against the best of the
    other one, each the first of those that the validation part has sorted. None: both may be as
    good, or there is only one."""
    first = [e for e in whole if family_of(e.name) == predicted][:1]
    other = [e for e in whole if family_of(e.name) not in (predicted, None)][:1]
    if not (first and other):
        return {"held": None}
    apart = compare(first[0].run, other[0].run)["scores"]["accuracy"]
    held = apart["difference"] > 0 if apart["significant"] else None
    return {"held": held, "best": first[0].name, "other": other[0].name, "difference": apart}


def _row(entry: Entry) -> Tree:
    facts = entry.run.facts
    return {
        "name": entry.name,
        "run": str(entry.run.folder),
        "validation": entry.validated,
        "scores": facts["test"]["scores"],
        "seconds": facts["seconds"],
        "passes": round(entry.passes, 2),
        "parameters": count_parameters(entry.run.network),
        "ms_per_text": round(entry.milliseconds, 3),
        "cut_texts": facts["test"]["cut_texts"],
        "kept": facts["test"]["kept"],
    }


def _score(entry: Entry) -> Tree:
    found = entry.run.facts["test"]["scores"]["accuracy"]
    return {"accuracy": found["value"], "low": found["low"], "high": found["high"]}
