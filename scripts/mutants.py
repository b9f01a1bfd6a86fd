"""Do the tests notice? Every small mistake of `mutations.py` is made in the modules that must not
fail, one at a time, and the tests of that module run: a mistake that no test notices survives.

    python scripts/mutants.py                        all modules; writes bench/results/
    python scripts/mutants.py regard/data/plan.py    one of them, and nothing is written

Each mistake is made in a copy of the checkout, and tried by a fork of a process that has imported
torch and other libraries, but nothing of ours. Tests that never end or eat all memory have noticed.
Ends with 1 when a module is below 90 %, or when equivalents.toml, the list of changes that change
nothing, names one that is not there or did not survive.
"""

import contextlib
import gc
import importlib.util
import json
import os
import resource
import shutil
import signal
import sys
import tempfile
import time
import tomllib
from collections.abc import Callable
from functools import partial
from multiprocessing import Pool
from pathlib import Path
from typing import Any, NoReturn

from mutations import Mutant, mutants_of

ROOT = Path(__file__).resolve().parents[1]
COPIED = ("regard", "scripts", "soak", "tests", "pyproject.toml")
TEXT = ("tests/text/test_text.py", "tests/text/test_learn.py")
TESTS: dict[str, tuple[str, ...]] = {
    "regard/data/plan.py": ("tests/data/test_plan.py",),
    "regard/text/__init__.py": TEXT,
    "regard/text/bpe.py": ("tests/text/test_bpe.py", "tests/text/test_long_texts.py", *TEXT),
    "regard/text/growing.py": ("tests/text/test_growing.py",),
    "regard/text/learn.py": ("tests/text/test_learn.py", "tests/text/test_bpe.py"),
    "regard/text/spelling.py": ("tests/text/test_spelling.py",),
    "regard/text/symbols.py": ("tests/text/test_symbols.py", *TEXT),
    "regard/text/tokenizer.py": TEXT,
    "regard/text/wordpiece.py": ("tests/text/test_wordpiece.py", *TEXT),
    "regard/tasks/transducer.py": ("tests/tasks/test_transducer.py",),
    "regard/train/state.py": ("tests/train/test_state.py",),
    "regard/train/checkpoints.py": (
        "tests/train/test_checkpoints_whole.py",
        "tests/train/test_checkpoints.py",
    ),
    "regard/files.py": ("tests/test_files.py",),
    "regard/models/weights.py": ("tests/models/test_weights.py",),
}
"""The modules and the tests that must notice; the examples in a module's docstrings run too."""
LIBRARIES = ("filelock", "hypothesis", "pydantic", "pytest", "safetensors.torch", "tokenizers")
TIMES = "times.json"
JOBS = 2
MEMORY = 4 << 30  # bytes for one run of the tests
GOAL = 90.0  # percent
WARM = """\
from hypothesis import given, strategies

@given(strategies.text())
def test_warm(text):
    pass
"""

here = Path()  # the copy that this process works in


def main(modules: list[str]) -> None:
    begun = time.perf_counter()
    for name in LIBRARIES:
        importlib.import_module(name)
    sources = {name: (ROOT / name).read_text(encoding="utf-8") for name in modules or TESTS}
    with tempfile.TemporaryDirectory(prefix="mutants-") as scratch:
        with Pool(JOBS, settle, [Path(scratch)]) as pool:
            rows = [tried(module, source, pool) for module, source in sources.items()]
    print(table(rows))
    if not modules:
        print("Written to", record(rows, time.perf_counter() - begun))
    sys.exit(any(row["score"] < GOAL or row["stale"] for row in rows))


def settle(scratch: Path) -> None:
    """Make a copy for this process to work in."""
    global here
    here = scratch / str(os.getpid())
    here.mkdir()
    for name in COPIED:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, here / name)
    for module in TESTS:  # a compiled file is known by the second and the size of its source
        Path(importlib.util.cache_from_source(str(here / module))).unlink(missing_ok=True)
    sys.dont_write_bytecode = True
    os.environ |= {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": str(here)}
    warm_up()


def warm_up() -> None:
    """Have pytest and hypothesis import their own parts, so that no fork has to."""
    import pytest
    from hypothesis import Phase, settings

    settings.register_profile(
        "mutants", database=None, derandomize=True, phases=[Phase.explicit, Phase.generate]
    )
    settings.load_profile("mutants")
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    (here / "test_warm.py").write_text(WARM, encoding="utf-8")
    with open(os.devnull, "w") as silence, contextlib.redirect_stdout(silence):
        pytest.main(["-p", "no:cacheprovider", here / "test_warm.py"])
    gc.freeze()


def tried(module: str, source: str, pool: Any) -> dict[str, Any]:
    """Make every mistake in a module; the score, and what survived."""
    passed, seconds = pool.apply(tests_pass, (module, 600, {}, source))
    if not passed:
        sys.exit(f"{module}: {' '.join(TESTS[module])} fail without any mistake: mend them first.")
    mutants, survivors = mutants_of(source), []
    attempt = partial(tests_pass, module, round(3 * sum(seconds.values()) + 5), seconds)
    answers = pool.imap(attempt, [mutant.source for mutant in mutants])
    for mutant, (survived, _) in zip(mutants, answers, strict=True):
        if survived:
            survivors.append(mutant)
            print(f"{module}:{mutant.line}: {mutant.where}: {mutant.change}", flush=True)
    return judged(module, len(mutants), survivors)


def tests_pass(
    module: str, limit: int, seconds: dict[str, float], source: str
) -> tuple[bool, dict[str, float]]:
    """Whether they do when a module reads `source`, and the seconds that each of them took."""
    whole = (here / module).read_bytes()
    (here / module).write_text(source, encoding="utf-8")
    child = os.fork()
    if not child:
        leave_with(partial(run_tests, module, limit, seconds))
    _, status = os.waitpid(child, 0)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)  # what a test may have left running
    (here / module).write_bytes(whole)
    return status == 0, json.loads((here / TIMES).read_text()) if status == 0 else {}


def leave_with(work: Callable[[], int]) -> NoReturn:
    """End a fork, whatever happens: it must not go on as its parent would."""
    code = 1
    try:
        code = work()
    finally:
        os._exit(code)


def run_tests(module: str, limit: int, seconds: dict[str, float]) -> int:
    import pytest

    os.setsid()
    os.chdir(here)
    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    signal.alarm(2 * limit + 10)  # for tests that wait for ever
    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, 1)
    os.dup2(silence, 2)
    order = QuickFirst(seconds)
    code = pytest.main(["-x", "-p", "no:cacheprovider", *TESTS[module], module], [order])
    (here / TIMES).write_text(json.dumps(order.took))
    return code


class QuickFirst:
    """A plugin for pytest: tests that took fewer seconds the last time go first."""

    def __init__(self, seconds: dict[str, float]) -> None:
        self.seconds, self.took = seconds, {}

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        items.sort(key=lambda item: self.seconds.get(item.nodeid, 0.0))

    def pytest_runtest_logreport(self, report: Any) -> None:
        self.took[report.nodeid] = self.took.get(report.nodeid, 0.0) + report.duration


def judged(module: str, made: int, survivors: list[Mutant]) -> dict[str, Any]:
    listed = tomllib.loads((ROOT / "scripts" / "equivalents.toml").read_text(encoding="utf-8"))
    reasons = {(e["where"], e["change"]): e["reason"] for e in listed.get(module, [])}
    alive = [(mutant.where, mutant.change) for mutant in survivors]
    equal = sum(mutant in reasons for mutant in alive)
    killed = made - len(survivors)
    return {
        "module": module,
        "mutants": made,
        "killed": killed,
        "score": round(100 * killed / made, 1),
        "equivalent": equal,
        "score_without_equivalents": round(100 * killed / (made - equal), 1),
        "survivors": [
            {"line": m.line, "where": m.where, "change": m.change}
            | ({"equivalent": reasons[m.where, m.change]} if (m.where, m.change) in reasons else {})
            for m in survivors
        ],
        "stale": [f"{where}: {change}" for where, change in reasons.keys() - set(alive)],
    }


def table(rows: list[dict[str, Any]]) -> str:
    lines = [f"{'module':28} {'made':>5} {'killed':>6} {'score':>6}  without equivalents"]
    for row in rows:
        numbers = f"{row['mutants']:5} {row['killed']:6} {row['score']:6.1f}"
        lines.append(f"{row['module']:28} {numbers}  {row['score_without_equivalents']:.1f}")
        lines += [f"  equivalents.toml names what did not survive: {s}" for s in row["stale"]]
    made, killed = (sum(row[key] for row in rows) for key in ("mutants", "killed"))
    return "\n".join([*lines, f"{'all':28} {made:5} {killed:6} {100 * killed / made:6.1f}"])


def record(rows: list[dict[str, Any]], seconds: float) -> Path:
    import torch

    from regard.reproduce import record as results
    from regard.train.state import environment

    versions = environment(torch.device("cpu"))
    path = results.record(
        ROOT / "bench" / "results",
        "mutants",
        "python scripts/mutants.py",
        versions,
        seconds=round(seconds, 1),
        results=rows,
    )
    return path.relative_to(ROOT)


if __name__ == "__main__":
    main(sys.argv[1:])
