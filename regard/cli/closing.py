"""What `train`, `resume` and `demo` share: carry a training out, then say what came of it."""

import os
import shutil
import sys
import textwrap
from typing import TYPE_CHECKING, Any

from regard.cli.console import columns, command, echo_json, say, watch
from regard.names import CUT, REMARKS, SCORE_TITLES, compared, counted
from regard.text.tokenizer import visible

if TYPE_CHECKING:
    from regard.run import Run
    from regard.train.training import Training


def carry_out(training: "Training", *, as_json: bool) -> None:
    """Train to the end and close with scores, samples and what to try next. Exit code 130 when
    the person stopped it; what was trained is saved then."""
    from regard.run import finish

    batches = training.batches
    passes = training.steps / batches.steps_per_pass
    steps = (
        f"{training.steps:,} steps of up to {training.settings.batch_tokens:,} tokens "
        f"({passes:.1f} passes over the data); validation every {training.validate_every:,}."
    )
    say(f"{batches.examples:,} examples, {steps if training.steps else 'learned at once.'}")
    if batches.left_out:
        say(
            f"{batches.left_out:,} of {batches.left_out + batches.examples:,} examples are empty "
            "or longer than model.max_length: left out of training, never cut."
        )
    for cut in counted(training.task.cuts(batches), CUT):
        say(f"{cut}.")
    stopped = not watch(training, as_json=as_json)
    try:
        if not stopped:
            say("\nFitting the baselines, and scoring the test part, which no step has seen ...")
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
    speed = f" at {facts['tokens_per_second']:,} tokens/s" if facts["steps"] else ""
    say(f"Trained in {facts['seconds']:.0f} s{speed}.\n")
    show_scores(facts["test"])
    print()
    show_samples(facts["samples"])
    shortest = min((sample["input"] for sample in facts["samples"]), key=len)
    parts = shortest.split("\t") if getattr(run.task, "pairs", False) else [shortest]
    first = "\t".join(one_line(part, 60) for part in parts)
    if not facts["test"]["beats_baseline"] and not _all_right(facts["test"]["scores"]):
        more = "more data, more time (--budget)" if facts["steps"] else "more data"
        say(f"\nIt does not beat the baseline yet: {more} or other settings may help.")
    folder = os.path.relpath(run.folder)
    say(f"\nIn {folder}: the model, README.md, report.html, attention.html.")
    say("Try next:")
    writes = "generate" if run.recipe.task == "language_model" else "predict"
    say(f"  {command(writes, run.folder, first)}")
    say(f"  {command('look', run.folder, first)}")
    say(f"  {command('info', run.folder)}")


def _all_right(scores: dict[str, Any]) -> bool:
    """Where nothing is left to beat."""
    return bool(scores.get("accuracy", {}).get("value") == 100)


def show_samples(samples: list[dict[str, Any]]) -> None:
    known = any(sample["wanted"] for sample in samples)
    rows = [["", "input", "output", "wanted" if known else ""], *map(_sample_row, samples)]
    print("\n".join(columns(rows)))
    if any(sample["in_training"] for sample in samples):
        print("* was among the training inputs")


def _sample_row(sample: dict[str, Any]) -> list[str]:
    wanted = ["(this)"] if sample["output"] in sample["wanted"] else sample["wanted"]
    texts = [one_line(text, 50) for text in (sample["input"], sample["output"], *wanted[:1])]
    return ["*" if sample["in_training"] else " ", *texts, *[""] * (3 - len(texts))]


def one_line(text: str, width: int) -> str:
    """A text for a table: on one line, without control characters, and shortened."""
    text = visible(" ".join(text.split()), blank=" ")
    return text if len(text) <= width else text[: width - 3] + "..."


def show_scores(test: dict[str, Any]) -> None:
    """The scores of `evaluate`, beside each baseline's, with their 95 % intervals."""
    size = f"{test['examples']:,} {test.get('unit', 'inputs')}"
    print(f"{test['data']}, {size}; 95 % bootstrap intervals")
    for metric in test["scores"]:
        print(f"  {SCORE_TITLES.get(metric, metric)}")
        for model in compared(test):
            if score := model["scores"].get(metric):
                between = f"({score['low']:.2f} to {score['high']:.2f})"
                show_hanging(f"    {score['value']:6.2f}  {between:18}  ", model["name"])
    for remark in counted(test, REMARKS):
        show_hanging("  ", remark)


def show_hanging(start: str, text: str) -> None:
    """`start`, and behind it the text, its further lines below the first where the terminal is
    narrow. A pipe gets one line."""
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else len(start + text)
    room = max(width - len(start), 20)
    lines = textwrap.wrap(text, room, break_on_hyphens=False, break_long_words=False)
    print(start + f"\n{' ' * len(start)}".join(lines))
