"""The same texts for every model that is compared, and the time that each gets: bags take what they
take, networks share what is left."""

import csv
import io
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, cast

from regard.build import begin, draft
from regard.config import Tree
from regard.data.label_doubts import DoubtfulLabels
from regard.data.labels import Labelled
from regard.data.splits import Splits, place_of
from regard.errors import DataError, TrainingError
from regard.files import locked, make_folder, write_text
from regard.models.predictor import Predictor
from regard.names import CUT, counted
from regard.run.candidates import CANDIDATES, settings_for
from regard.run.finishing import finish
from regard.run.opened import Run
from regard.tasks.label_data import input_of
from regard.tasks.label_recipe import LabelData
from regard.tasks.label_teaching import forget, labelled, unlabelled
from regard.tasks.labelling import Labelling
from regard.tasks.recipe import make_recipe
from regard.toml import fill
from regard.train.training import Training

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
        """`seconds`: of training, for a network. None where there are too few texts of some class,
        or where it diverged: the others go on."""
        clock = time.perf_counter()
        self.heard(f"{name}, {share} % of the texts ...")
        try:
            training = self._begun(name, share, seconds)
            run = self._learned(training, share)
        except (DataError, TrainingError) as error:
            self.heard(f"  left out: {error}")
            return None
        learning, network = training.progress.seconds, training.steps > 0
        passes = training.progress.step / training.batches.steps_per_pass
        if network and passes < 1:
            self.heard(
                f"  it had time for {100 * passes:.0f} % of these texts: give it a larger --budget"
            )
        validated = run.task.validate(run.network, self.validation)["accuracy"]
        texts, each = cast(Labelling, run.task).texts, _milliseconds(run)
        beside = time.perf_counter() - clock - (min(seconds, learning) if network else learning)
        return Entry(name, share, texts, run, validated, each, beside, passes)

    def _begun(self, name: str, share: int, seconds: float) -> Training:
        tree = fill(settings_for(name, self.given), {"data": self.section(share)})
        if tree["model"]["kind"] != "bag":
            tree = fill(tree, {"train": {"budget": f"{int(seconds)}s"}})
        with warnings.catch_warnings():  # of the whole they were told already
            warnings.simplefilter("ignore", DoubtfulLabels)
            recipe, _ = make_recipe("classify", (), (), tree)
            training = begin(draft(recipe, self.out / f"{name.replace(' ', '-')}-{share}"))
        for cut in counted(training.task.cuts(training.batches), CUT) if share == 100 else ():
            self.heard(f"  {cut}")
        return training

    def _learned(self, training: Training, share: int) -> Run:
        with locked(training.folder):
            for _ in training.run():
                pass
            run = finish(training, self.baselines.get(share))
        self.baselines.setdefault(share, run.baselines())
        return run

    def all_within(self, seconds: float) -> list[Entry]:
        """Every candidate with each share of the texts. Bags come first, and every network with
        the smaller shares: what these take beside their steps tells what to leave for the rest."""
        ends, found = time.perf_counter() + seconds, list[Entry]()
        forget()
        shares = [share for share in SHARES if f"train-{share}" in self.files]
        turns = [(name, share) for share in shares for name in CANDIDATES]
        turns.sort(key=lambda turn: CANDIDATES[turn[0]]["kind"] != "bag")
        for place, (name, share) in enumerate(turns):
            left = ends - time.perf_counter()
            entry = self.trained(name, share, time_for(turns[place:], left, found))
            found += [entry] if entry else []
        forget()
        return found

    def section(self, share: int) -> Tree:
        """The data section, for the files as they were written, whatever columns were read."""
        found = {"path": self.files[f"train-{share}"], "text": "text", "label": "label"}
        more = ("validation", "test", "unlabelled")
        found |= {name: self.files[name] for name in more if name in self.files}
        found |= {"separator": self.data.separator} if self.data.separator else {}
        return found | ({"other": "other"} if self.data.other else {})


def time_for(turns: Sequence[tuple[str, int]], left: float, done: Sequence[Entry]) -> float:
    """Seconds of training for the first of the turns to come, each a name and a share of the texts:
    its part of what is left, less what all of them will take beside their training. That is what
    the same network took last, or before that what the others took on average."""
    last = {entry.name: entry.beside for entry in done}
    usual = sum(last.values()) / max(1, len(last))
    free = left - sum(last.get(name, usual) for name, _ in turns)
    parts = [SHARES[share] for _, share in turns]
    return max(LEAST, free * parts[0] / sum(parts))


def write_sides(folder: Path, splits: Splits[Labelled]) -> dict[str, str]:
    """The parts as files, the labelled texts to train on in growing shares: by a hash, so that a
    larger one holds the smaller. Of the validation part some: all of it says who is best."""
    make_folder(folder)
    watched = sorted(splits.validation, key=lambda e: place_of(f"watched {input_of(e)}"))[:WATCHED]
    parts, known = {"validation": watched, "test": splits.test}, labelled(splits.train)
    for share in SHARES:
        parts[f"train-{share}"] = [e for e in known if place_of(f"share {input_of(e)}") < share]
    if others := unlabelled(splits.train):
        parts["unlabelled"] = others
    files = {}
    for name, examples in parts.items():
        if not examples:
            continue  # of few texts, a small share
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
