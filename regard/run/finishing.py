"""The last steps of a training: what it learned becomes a run."""

from typing import Any

from regard.build import read_splits
from regard.config import Tree
from regard.files import file_hash, read_table, write_bytes, write_json, write_text
from regard.lens.judgements import judgements_png
from regard.lens.report import report_page
from regard.models.predictor import Predictor
from regard.models.weights import load_weights
from regard.run.opened import SEALED, Run, plain
from regard.tasks.recipe import relative_to
from regard.train.memory import free_large_memory, give_back_memory, peak_memory
from regard.train.report import card
from regard.train.training import Training


def finish(training: Training, baselines: dict[str, Predictor] | None = None) -> Run:
    """Turn a finished training into a run: final weights, test scores, samples, pictures, card.
    run.json comes last: without its scores a run counts as unfinished, and can be resumed.
    `baselines`: of another run that learned from the same texts; without them they learn here."""
    folder, task, network = training.folder, training.task, training.network
    free_large_memory()
    give_back_memory()  # what training needed does not fit what scoring needs
    load_weights(network, training.final_weights(), "the checkpoint")
    facts = read_table(folder / "run.json")
    splits = read_splits(task, facts, folder)
    if baselines is None:
        baselines = task.baselines(splits.train)
    run = Run(folder, task, network.eval(), facts)
    facts |= task.settle(network, splits, baselines)
    scored = run.scored(splits.test, "test part", baselines, {})
    scored["scores"] |= plain(task.last_scores(network, splits))
    facts |= {
        "weights": training.settings.keep,
        **_kept(training),
        "steps": training.progress.step,
        "seconds": round(training.progress.seconds, 1),
        "tokens_per_second": round(training.progress.tokens / max(training.progress.seconds, 1e-9)),
        "memory": peak_memory(),
        "validation": training.progress.validation,
        "test": {k: v for k, v in scored.items() if k != "run"},  # no path: a run may move
        "samples": _samples(run, baselines, splits.test),
    }
    picture = run.look(facts["samples"][0]["input"])
    picture.last.save(folder / "attention.png")
    picture.save(folder / "attention.html")  # all of it
    judgements = None
    if "reliability" in scored.get("details", {}):
        judgements = judgements_png(scored["details"])
        write_bytes(folder / "judgements.png", judgements)
    for name, baseline in baselines.items():
        baseline.save(folder / "baseline" / name)
    run.predictor().save(folder)
    facts["files"] = {name: file_hash(folder / name) for name in SEALED}
    facts["model"] = run.recipe.model_dump(mode="json").get("model")
    write_text(folder / "README.md", card(run.recipe, facts))
    recipe = relative_to(run.recipe, folder).model_dump(mode="json")
    page = report_page(folder.name, facts, training.log(), recipe, judgements)
    write_text(folder / "report.html", page)
    write_json(folder / "run.json", facts)
    return run


def _kept(training: Training) -> Tree:
    """Of which step the best weights are, and what its validation said; nothing of a bag."""
    best, log = training.progress.best_step, training.log()
    if training.settings.keep != "best" or not best:
        return {}
    found = [line["validation"] for line in log if "validation" in line and line["step"] == best]
    return {"kept": {"step": best, "validation": found[-1]}} if found else {}


def _samples(run: Run, baselines: dict[str, Predictor], test: list[Any]) -> list[Tree]:
    """Predictions to show, each with what was wanted, where that is known, and with whether it
    was among the training inputs."""
    inputs, right = run.task.samples(test), run.task.answers(test)
    found = zip(run.predictor().predict(inputs), run.task.known(baselines, inputs), strict=True)
    return [
        {**prediction.as_json(), "wanted": right.get(prediction.input, []), "in_training": known}
        for prediction, known in found
    ]
