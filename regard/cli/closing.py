"""What `train`, `resume` and `demo` share: carry a training out, then say what came of it."""

import os
import sys
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from regard.cli.console import echo_json, say, watch

if TYPE_CHECKING:
    from regard.run import Run
    from regard.train.training import Training

NAMES = {"per": "piece error rate, %", "wer": "whole error rate, %"}


def free_folder(folder: Path) -> Path:
    """`folder`, or folder-2, folder-3, ... when it is taken."""
    names = (folder.with_name(f"{folder.name}-{n}") for n in count(2))
    return folder if not folder.exists() else next(n for n in names if not n.exists())


def carry_out(training: "Training", *, as_json: bool) -> None:
    """Train to the end and close with scores, samples and what to try next. Exit code 130 when
    the person stopped it."""
    from regard.build import locked
    from regard.run import finish

    facts = training.task.recipe.train
    say(
        f"{len(training.examples):,} examples, {training.steps:,} steps of up to "
        f"{facts.batch_tokens:,} tokens; validation every {training.validate_every:,}."
    )
    with locked(training.folder):
        if not watch(training, as_json=as_json):
            sys.exit(130)
        say("\nScoring the test part, which no step has seen ...")
        run = finish(training)
    if as_json:
        echo_json(
            {
                "run": str(run.folder),
                "steps": run.facts["steps"],
                "seconds": run.facts["seconds"],
                "tokens_per_second": run.facts["tokens_per_second"],
                "scores": run.facts["test"]["scores"],
            }
        )
    else:
        show_result(run)


def show_result(run: "Run") -> None:
    facts, folder = run.facts, os.path.relpath(run.folder)
    say(f"Trained in {facts['seconds']:.0f} s at {facts['tokens_per_second']:,} tokens/s.\n")
    show_scores(facts["test"])
    print()
    width = max(len(s["input"]) for s in facts["samples"])
    for sample in facts["samples"]:
        print(f"  {sample['input']:{width}}  {sample['output']}")
    first = facts["samples"][0]["input"]
    say(f"\nIn {folder}/: the model, its card README.md, attention.png and attention.html.")
    say("Try next:")
    say(f'  regard predict {folder} "{first}" --beam 8')
    say(f'  regard look {folder} "{first}"')
    say(f"  regard evaluate {folder}")


def show_scores(test: dict[str, Any]) -> None:
    """The scores of `evaluate`, beside the baseline's, with their 95 % intervals."""
    beside = test["baseline"]
    print(f"{test['data']}, {test['examples']:,} examples; 95 % bootstrap intervals")
    print(f"  {'':24}{'this model':28}baseline*")
    for name, score in test["scores"].items():
        rows = [score, beside["scores"][name]]
        cells = [f"{s['value']:.2f}  ({s['low']:.2f} to {s['high']:.2f})" for s in rows]
        print(f"  {NAMES.get(name, name):24}{cells[0]:28}{cells[1]}")
    print(f"  * {beside['name']}")
