"""Which model is best for someone's own texts? Every candidate learns from the same texts, within
the time there is; the validation part says which is best, and the test part how good it is. What a
rule of thumb predicted stands beside what happened."""

import csv
import io
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, cast

from regard.build import begin, draft
from regard.config import Tree, seconds
from regard.data.labels import DoubtfulLabels, Labelled
from regard.data.splits import Splits, place_of
from regard.errors import ConfigError, DataError
from regard.files import locked, make_folder, write_bytes, write_text
from regard.lens.learning import choice_page, learning_curve
from regard.models.predictor import Predictor
from regard.models.weights import count_parameters
from regard.names import CUT, counted
from regard.run.candidates import CANDIDATES, asked_for, family_of, settings_for
from regard.run.comparing import compare
from regard.run.finishing import finish
from regard.run.opened import Run
from regard.tasks.classify import Classify
from regard.tasks.label_data import warn_of
from regard.tasks.label_recipe import ClassifyRecipe, LabelData
from regard.tasks.label_teaching import labelled, unlabelled
from regard.tasks.labelling import Labelling
from regard.tasks.recipe import asked, make_recipe
from regard.toml import fill

RATIO = 1500  # texts for every word of a text, from which on order can be learned
TOLERATED = 1.25  # of the budget, before it is told that it was not enough
SHARES = {10: 0.15, 30: 0.25, 100: 0.6}  # percent of the texts, and of a network's time
LEAST = 1.0  # seconds that a network gets, whatever is left
WATCHED = 500  # texts that networks are validated with while they learn, since they often are

Heard = Callable[[str], object]


class Entry(NamedTuple):
    """A candidate that was trained on a share of the texts."""

    name: str
    share: int
    texts: int  # with labels
    run: Run
    validated: float  # texts of the validation part judged right, %
    milliseconds: float  # to judge a text
    beside: float  # seconds beyond those it was given: reading, validations, scoring, pages
    passes: float = 0.0  # how often a network read its texts


@dataclass
class Contest:
    """What all candidates share: their texts, the settings that were asked for, and the time."""

    data: LabelData
    files: dict[str, str]
    validation: list[Labelled]
    given: Tree
    out: Path
    heard: Heard
    baselines: dict[int, dict[str, Predictor]] = field(default_factory=dict)
    """Of each share, which all candidates stand beside: they learn once."""

    def trained(self, name: str, share: int, seconds: float = LEAST) -> Entry | None:
        """`seconds`: of training, for a network. None where there are too few texts of some
        class."""
        clock = time.perf_counter()
        tree = fill(settings_for(name, self.given), {"data": self.section(share)})
        network = tree["model"]["kind"] != "bag"
        if network:
            tree = fill(tree, {"train": {"budget": f"{int(seconds)}s"}})
        try:
            with warnings.catch_warnings():  # of the whole they were told already
                warnings.simplefilter("ignore", DoubtfulLabels)
                recipe, _ = make_recipe("classify", (), (), tree)
                training = begin(draft(recipe, self.out / f"{name.replace(' ', '-')}-{share}"))
        except DataError as error:
            self.heard(f"{name}, {share} % of the texts: left out. {error}")
            return None
        self.heard(f"{name}, {share} % of the texts ...")
        for cut in counted(training.task.cuts(training.batches), CUT) if share == 100 else ():
            self.heard(f"  {cut}")
        with locked(training.folder):
            for _ in training.run():
                pass
            run = finish(training, self.baselines.get(share))
        self.baselines.setdefault(share, run.baselines())
        passes = training.progress.step / training.batches.steps_per_pass
        if network and passes < 1:
            self.heard(
                f"  it had time for {100 * passes:.0f} % of these texts: give it a larger --budget"
            )
        validated = run.task.validate(run.network, self.validation)["accuracy"]
        texts, each = cast(Labelling, run.task).texts, _milliseconds(run)
        learning = training.progress.seconds
        beside = time.perf_counter() - clock - (min(seconds, learning) if network else learning)
        return Entry(name, share, texts, run, validated, each, beside, passes)

    def all_within(self, seconds: float) -> list[Entry]:
        """Every candidate with each share of the texts. Bags come first, and every network with
        the smaller shares: what these take beside their steps tells what to leave for the rest."""
        ends, found = time.perf_counter() + seconds, list[Entry]()
        turns = [(name, share) for share in SHARES for name in CANDIDATES]
        turns.sort(key=lambda turn: CANDIDATES[turn[0]]["kind"] != "bag")
        for place, (name, share) in enumerate(turns):
            left = ends - time.perf_counter()
            entry = self.trained(name, share, time_for(turns[place:], left, found))
            found += [entry] if entry else []
        return found

    def section(self, share: int) -> Tree:
        """The data section, for the files as they were written, whatever columns were read."""
        found = {"path": self.files[f"train-{share}"], "text": "text", "label": "label"}
        more = ("validation", "test", "unlabelled")
        found |= {name: self.files[name] for name in more if name in self.files}
        found |= {"separator": self.data.separator} if self.data.separator else {}
        return found | ({"other": "other"} if self.data.other else {})


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
    rule = rule_for(labelled(splits.train))
    heard(told(rule))
    files = write_sides(out / "data", splits)
    contest = Contest(data, files, splits.validation, given, out, heard)
    entries = contest.all_within(whole - (time.perf_counter() - clock))
    taken = round(time.perf_counter() - clock, 1)
    if taken > whole * TOLERATED:
        heard(f"It took {taken:,.0f} s, not {budget}: bags and scoring are never cut short.")
    return {**_report(rule, entries, out), "seconds": taken}


def time_for(turns: Sequence[tuple[str, int]], left: float, done: Sequence[Entry]) -> float:
    """Seconds of training for the first of the turns to come, each a name and a share of the texts:
    its part of what is left, less what all of them will take beside their training. That is what
    the same network took last, or before that what the others took on average."""
    last = {entry.name: entry.beside for entry in done}
    usual = sum(last.values()) / max(1, len(last))
    free = left - sum(last.get(name, usual) for name, _ in turns)
    parts = [SHARES[share] for _, share in turns]
    return max(LEAST, free * parts[0] / sum(parts))


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
    return (
        f"{rule['samples']:,} texts of {rule['mean_length']:.0f} words: {rule['ratio']:,.0f} texts "
        f"for each word, so the rule ({RATIO:,}) predicts a {rule['predicts']}."
    )


def write_sides(folder: Path, splits: Splits[Labelled]) -> dict[str, str]:
    """The parts as files, the labelled texts to train on in growing shares: by a hash, so that a
    larger one holds the smaller. Of the validation part some: all of it says who is best."""
    make_folder(folder)
    watched = sorted(splits.validation, key=lambda e: place_of(f"watched {e.text}"))[:WATCHED]
    parts, known = {"validation": watched, "test": splits.test}, labelled(splits.train)
    for share in SHARES:
        parts[f"train-{share}"] = [e for e in known if place_of(f"share {e.text}") < share]
    if others := unlabelled(splits.train):
        parts["unlabelled"] = others
    files = {}
    for name, examples in parts.items():
        table = io.StringIO()
        rows = [(e.text, e.label, e.other) for e in examples]
        lines = csv.writer(table, lineterminator="\n", quoting=csv.QUOTE_ALL)  # also a lone \r
        lines.writerows([("text", "label", "other"), *rows])
        path = folder / f"{name}.csv"
        write_text(path, table.getvalue())
        files[name] = str(path.absolute())
    return files


def _milliseconds(run: Run) -> float:
    inputs = run.task.inputs(run.part(None)[0].examples)[:500]
    clock = time.perf_counter()
    run.predictor().predict(inputs)
    return 1000 * (time.perf_counter() - clock) / max(1, len(inputs))


def _report(rule: Tree, entries: list[Entry], out: Path) -> Tree:
    """The validation part picks the winner: the test part, which tells how good it is, would
    flatter whom it picked."""
    whole = sorted((e for e in entries if e.share == 100), key=lambda e: -e.validated)
    if len(whole) < 2:
        raise DataError("fewer than two models could be trained: is there enough of every class?")
    best, second = whole[:2]
    found = compare(best.run, second.run)["scores"]["accuracy"]
    family = family_of(best.name)
    result = {
        "rule": {**rule, "held": None if family is None else family == rule["predicts"]},
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
