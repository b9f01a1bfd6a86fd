"""`regard resume`: go on with a stopped run, exactly where it was."""

from pathlib import Path

import click

from regard.cli.closing import carry_out, show_result
from regard.cli.completion import complete_run
from regard.cli.console import quick_start, say, telling
from regard.files import locked, read_facts


@click.command()
@click.argument("run", type=click.Path(path_type=Path, readable=False), shell_complete=complete_run)
@click.option(
    "--finish", "only_finish", is_flag=True, help="Train no further: score what there is."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON lines on standard output.")
def resume(run: Path, only_finish: bool, as_json: bool) -> None:
    """Go on with RUN from its newest checkpoint.

    On the same machine, torch version and number of threads the result is byte-equal to a run
    that was never stopped.

    \b
    regard resume runs/demo
    regard resume runs/demo --finish     # good enough: the best weights so far become the model
    """
    read_facts(run)  # before a lock is left in a stranger's folder
    with locked(run):
        from regard.build import resume_training
        from regard.run import Run, finish, is_finished

        if is_finished(run):
            say(f"{run} is finished already.")
            show_result(Run.load(run), as_json=as_json)
            return
        with quick_start(), telling():
            training = resume_training(run)
        if only_finish:
            show_result(finish(training), as_json=as_json)
            return
        say(f"Going on with {run} from step {training.progress.step:,} of {training.steps:,}.")
        carry_out(training, as_json=as_json)
