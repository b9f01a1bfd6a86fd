"""What `train`, `resume` and `demo` share: carry a training out, then say what came of it."""

import os
import sys
from typing import TYPE_CHECKING, Any

from regard.cli.console import command, echo_json, say, watch
from regard.names import SCORE_TITLES

if TYPE_CHECKING:
    from regard.run import Run
    from regard.train.training import Training


def carry_out(training: "Training", *, as_json: bool) -> None:
    """Train to the end and close with scores, samples and what to try next. Exit code 130 when
    the person stopped it; what was trained is saved then."""
    from regard.run import finish

    say(
        f"{len(training.examples):,} examples, {training.steps:,} steps of up to "
        f"{training.settings.batch_tokens:,} tokens; validation every {training.validate_every:,}."
    )
    if training.left_out:
        say(
            f"{training.left_out:,} of {training.left_out + len(training.examples):,} examples are "
            "empty or longer than model.max_length: left out of training, never cut."
        )
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
    first = min((sample["input"] for sample in facts["samples"]), key=len)
    say(f"\nIn {os.path.relpath(run.folder)}: the model, README.md, report.html, attention.html.")
    say("Try next:")
    say(f"  {command('predict', run.folder, first)}")
    say(f"  {command('look', run.folder, first)}")
    say(f"  {command('info', run.folder)}")


def show_samples(samples: list[dict[str, Any]]) -> None:
    inputs, outputs = ([one_line(s[key], 60) for s in samples] for key in ("input", "output"))
    width = max(map(len, inputs))
    for sample, source, output in zip(samples, inputs, outputs, strict=True):
        mark = "*" if sample["in_training"] else " "
        print(f"{mark} {source:{width}}  {output}")
    if any(sample["in_training"] for sample in samples):
        print("* was among the training inputs")


def one_line(text: str, width: int) -> str:
    """A text for a table: on one line, and shortened where it is long."""
    text = " ".join(text.split())
    return text if len(text) <= width else text[: width - 3] + "..."


def show_scores(test: dict[str, Any]) -> None:
    """The scores of `evaluate`, beside each baseline's, with their 95 % intervals."""
    print(f"{test['data']}, {test['examples']:,} inputs; 95 % bootstrap intervals")
    rows = {"this model": test["scores"], **{b["name"]: b["scores"] for b in test["baselines"]}}
    for metric in test["scores"]:
        print(f"  {SCORE_TITLES.get(metric, metric)}")
        for name, scores in rows.items():
            if score := scores.get(metric):
                interval = f"({score['low']:.2f} to {score['high']:.2f})"
                print(f"    {score['value']:6.2f}  {interval:18}  {name}")
    for key, meaning in REMARKS.items():
        if test.get(key):
            print(f"  {test[key]:,} inputs {meaning}")


REMARKS = {
    "too_long": "are empty or too long: counted as wrong",
    "unknown_inputs": "hold characters or words never met in training",
    "in_training": "were among the training inputs: the scores flatter the model",
}
