"""What `train`, `resume` and `demo` share: carry a training out, then say what came of it."""

import os
import sys
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from regard.cli.console import command, echo_json, say, watch
from regard.names import SCORE_TITLES

if TYPE_CHECKING:
    from regard.run import Run
    from regard.train.training import Training


def free_folder(folder: Path) -> Path:
    """`folder`, or folder-2, folder-3, ... when it is taken."""
    names = (folder.with_name(f"{folder.name}-{n}") for n in count(2))
    return folder if not folder.exists() else next(n for n in names if not n.exists())


def carry_out(training: "Training", *, as_json: bool) -> None:
    """Train to the end and close with scores, samples and what to try next. Exit code 130 when
    the person stopped it; what was trained is saved then."""
    from regard.run import finish

    say(
        f"{len(training.examples):,} examples, {training.steps:,} steps of up to "
        f"{training.settings.batch_tokens:,} tokens; validation every {training.validate_every:,}."
    )
    if training.left_out:
        say(f"{training.left_out:,} examples are empty or too long and were left out of training.")
    stopped = not watch(training, as_json=as_json)
    try:
        if not stopped:
            say("\nScoring the test part, which no step has seen ...")
            show_result(finish(training), as_json=as_json)
            return
    except KeyboardInterrupt:
        say("\nStopped while scoring.")
    say(f"All is saved. Go on with:  {command('resume', training.folder)}")
    sys.exit(130)


def show_result(run: "Run", *, as_json: bool) -> None:
    facts = run.facts
    if as_json:
        keys = ("steps", "seconds", "tokens_per_second")
        last = {"run": str(run.folder), **{k: facts[k] for k in keys}}
        echo_json({**last, "scores": facts["test"]["scores"]})
        return
    say(f"Trained in {facts['seconds']:.0f} s at {facts['tokens_per_second']:,} tokens/s.\n")
    show_scores(facts["test"])
    print()
    show_samples(facts["samples"])
    first = facts["samples"][0]["input"]
    say(f"\nIn {os.path.relpath(run.folder)}: the model, README.md, attention.png, attention.html.")
    say("Try next:")
    say(f"  {command('predict', run.folder, first, '--beam', '8')}")
    say(f"  {command('look', run.folder, first)}")
    say(f"  {command('evaluate', run.folder)}")


def show_samples(samples: list[dict[str, Any]]) -> None:
    width = max(len(s["input"]) for s in samples)
    for sample in samples:
        mark = "*" if sample["in_training"] else " "
        print(f"{mark} {sample['input']:{width}}  {sample['output']}")
    if any(sample["in_training"] for sample in samples):
        print("* was among the training inputs")


def show_scores(test: dict[str, Any]) -> None:
    """The scores of `evaluate`, beside the baseline's, with their 95 % intervals."""
    beside = test["baseline"]
    print(f"{test['data']}, {test['examples']:,} inputs; 95 % bootstrap intervals")
    print(f"  {'':24}{'this model':28}baseline: {beside['name']}")
    for name, score in test["scores"].items():
        rows = [score, beside["scores"][name]]
        cells = [f"{s['value']:.2f}  ({s['low']:.2f} to {s['high']:.2f})" for s in rows]
        print(f"  {SCORE_TITLES.get(name, name):24}{cells[0]:28}{cells[1]}")
    if test["too_long"]:
        print(f"  {test['too_long']:,} inputs are empty or too long: counted as wrong")
