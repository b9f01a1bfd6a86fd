"""`regard predict --trace`: an output as it grows, with what else could have been written."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from regard.cli.console import columns, echo_json, say
from regard.errors import ConfigError, TextError
from regard.lens.picture import visible

if TYPE_CHECKING:
    from regard.run import Run
    from regard.tasks.task import Step

OTHERS = 4  # runners-up at each step
SHOWN = 40  # letters of what was written already; the end of it


def show_traces(
    run: "Run", inputs: Sequence[str], decoding: dict[str, Any], *, as_json: bool
) -> int:
    """One table an input; the exit code, 2 where one could not be answered."""
    if not inputs:
        raise ConfigError("--trace: which input? As in: regard predict RUN attention --trace")
    predictor, problems = run.predictor(**decoding), 0
    for number, text in enumerate(inputs, start=1):
        try:
            steps = run.task.trace(predictor, text, OTHERS)
        except TextError as error:
            say(f"regard: input {number}: {error}")
            problems += 1
            if as_json:  # a line for every input, so that none is shifted
                echo_json({"input": text, "steps": [], "problem": str(error)})
            continue
        if as_json:
            echo_json({"input": text, "steps": [step._asdict() for step in steps]})
        else:
            click.echo("\n".join([visible(text, blank=" "), *columns(rows_of(steps)), ""]))
        for remark in predictor.remarks(text, len(steps)) if hasattr(predictor, "remarks") else ():
            say(f"regard: input {number}: {remark}")
    return 2 if problems else 0


def rows_of(steps: Sequence["Step"]) -> list[list[str]]:
    head = ["written so far", "next", "", "instead of"]
    return [head, *(row for step in steps for row in (_row(step), *_filtered(step)))]


def _filtered(step: "Step") -> list[list[str]]:
    """What each filter makes of the same tokens, a row each."""
    pieces = [piece for piece, _ in step.others]
    return [
        [
            f"   after {name}",
            "",
            _percent(own),
            ", ".join(
                f"{visible(piece)} {_percent(p)}" for piece, p in zip(pieces, others, strict=True)
            ),
        ]
        for name, (own, *others) in step.filters
    ]


def _row(step: "Step") -> list[str]:
    before = " ".join(map(visible, step.before))
    before = before if len(before) <= SHOWN else "… " + before[-SHOWN:]
    others = ", ".join(f"{visible(piece)} {_percent(p)}" for piece, p in step.others)
    return [before, visible(step.piece), _percent(step.probability), others]


def _percent(probability: float) -> str:
    """
    >>> _percent(0.421), _percent(0.0004)
    ('42 %', '0.04 %')
    """
    if not probability:
        return "out"
    percent = 100 * probability
    return f"{percent:.0f} %" if percent >= 1 else f"{percent:.1g} %"
