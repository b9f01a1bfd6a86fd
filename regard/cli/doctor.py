"""`regard doctor`: what a bug report needs to know about this machine, and what is wrong with it.

No line names a person, a machine or a folder, so the whole can be pasted anywhere. Nothing but
click is needed to begin: a broken installation is what people come here with.
"""

import locale
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import click

from regard.cli.console import echo_json, say
from regard.cli.installed import numbers, requirements, version_of

GB, MB = 2**30, 2**20
LITTLE, NO_ROOM = 1 * GB, 100 * MB
SLOW = 5.0  # GFLOP/s; two cores of an AMD EPYC make 130
Verdict = Literal["ok", "note", "problem"]


@dataclass(frozen=True, slots=True)
class Check:
    name: str
    value: str
    verdict: Verdict = "ok"
    advice: str = ""

    def __str__(self) -> str:
        advice = f"\n  {self.advice}" if self.advice else ""
        return f"- {self.verdict:8} {self.name}: {self.value}{advice}"


def judged(
    name: str, value: str, wrong: bool, advice: str = "", verdict: Verdict = "note"
) -> Check:
    return Check(name, value, verdict, advice) if wrong else Check(name, value)


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def doctor(as_json: bool) -> None:
    """Describe this machine and installation in Markdown, for bug reports, and say what is wrong.

    Names no person, machine or folder. Exit code 1 when there is a problem.

    \b
    regard doctor
    regard doctor > report.md
    regard doctor --json
    """
    say("Looking at this machine (no names and no folders are written down) ...")
    checks = list(all_checks())
    passed = all(check.verdict != "problem" for check in checks)
    if as_json:
        echo_json({"checks": [asdict(check) for check in checks], "passed": passed})
    else:
        click.echo("\n".join(["### regard doctor", "", *map(str, checks)]))
    if not passed:
        sys.exit(1)


def all_checks() -> Iterator[Check]:
    yield from packages()
    yield Check("Python", f"{platform.python_implementation()} {platform.python_version()}")
    yield Check("platform", f"{platform.system()} {platform.release()} {platform.machine()}")
    yield Check("CPU", f"{cpu_model()}, {cores()} cores")
    yield from memory()
    yield disk()
    yield writing("current folder", Path())
    yield writing("runs folder", Path("runs"))
    yield encoding()
    yield compiler()
    yield from torch_checks()


# The machine


def cpu_model() -> str:
    if found := re.search(r"^model name\s*:\s*(.+)$", _read("/proc/cpuinfo"), re.MULTILINE):
        return found[1]
    return _output("sysctl", "-n", "machdep.cpu.brand_string") or platform.processor() or "unknown"


def cores() -> int:
    """Those this process may use: a container may have fewer than the machine."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def memory() -> Iterator[Check]:
    total, free = _memory("MemTotal", "SC_PHYS_PAGES"), _memory("MemAvailable", "SC_AVPHYS_PAGES")
    yield judged("memory", _size(total), total is None)
    advice = "Close other programs, or train with a smaller train.batch_tokens or model.width."
    little = free is not None and free < LITTLE
    yield judged("memory available", _size(free), little or free is None, advice if little else "")


def _memory(linux: str, elsewhere: str) -> int | None:
    if found := re.search(rf"^{linux}:\s+(\d+) kB", _read("/proc/meminfo"), re.MULTILINE):
        return int(found[1]) * 1024
    try:
        return os.sysconf(elsewhere) * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return None


def disk() -> Check:
    free = shutil.disk_usage(".").free
    if free < NO_ROOM:
        advice = "No room for a checkpoint: delete something, or change to another disk."
        return Check("disk free here", _size(free), "problem", advice)
    return judged("disk free here", _size(free), free < LITTLE, "Enough for a few runs only.")


def writing(name: str, folder: Path) -> Check:
    """Try it: permissions alone do not tell of full disks, quotas or read-only mounts."""
    if not folder.exists():
        return Check(name, "not there yet")
    try:
        with tempfile.NamedTemporaryFile(dir=folder, prefix=".regard-doctor-") as file:
            file.write(b"ok")
            file.flush()
    except OSError as error:
        advice = "Change to a folder that is yours, or name one with --out."
        return Check(name, f"can not be written: {error.strerror}", "problem", advice)
    return Check(name, "can be written")


def encoding() -> Check:
    found = (sys.stdout.encoding or "unknown").lower()
    value = f"{found}, locale {locale.setlocale(locale.LC_CTYPE)}"
    advice = "Text beyond this encoding can not be shown: set PYTHONUTF8=1 or LC_ALL=C.UTF-8."
    return judged("output encoding", value, found not in ("utf-8", "utf8"), advice, "problem")


def compiler() -> Check:
    for name in ("gcc", "cc", "clang"):
        if version := _output(name, "--version"):
            return Check("C compiler", version)
    return Check("C compiler", "none", "note", "Needed only where a package must be built.")


# What is installed


def packages() -> Iterator[Check]:
    """Regard and all it asks for; what only an extra asks for may be missing."""
    if (version := version_of("regard")) is None:
        advice = "Install it: pip install -c constraints.txt -e . in the checkout."
        yield Check("regard", "not installed, only on the path", "problem", advice)
        return
    yield Check("regard", version)
    missing: dict[str, list[str]] = {}
    for name, least, extra in requirements():
        if not extra:
            yield package(name, least)
        elif package(name, least).verdict == "problem":
            missing.setdefault(extra, []).append(name)
    for extra, names in missing.items():
        advice = f'Only for the extra "{extra}": pip install "regard[{extra}]".'
        yield Check(f"optional, {extra}", f"without {', '.join(names)}", "note", advice)


def package(name: str, least: str = "") -> Check:
    wanted = f"{name}>={least}" if least else name
    if (version := version_of(name)) is None:
        return Check(name, "missing", "problem", f'Install it: pip install "{wanted}".')
    advice = f'Regard needs {least} or newer: pip install --upgrade "{wanted}".'
    return judged(name, version, numbers(version) < numbers(least), advice, "problem")


# torch, which does the work


def torch_checks() -> Iterator[Check]:
    try:
        import torch
    except Exception as error:
        advice = 'Install it again. The whole message: python -c "import torch".'
        yield Check("torch works", f"no: {type(error).__name__} on import", "problem", advice)
        return
    if torch.__version__ != version_of("torch"):
        advice = "Two versions are mixed: uninstall torch until pip finds none, then install it."
        yield Check("torch on import", str(torch.__version__), "problem", advice)
    threads, able = torch.get_num_threads(), torch.backends.cpu.get_cpu_capability()
    advice = "Many cores are idle. Is OMP_NUM_THREADS set?"
    yield judged("torch threads", str(threads), threads < cores() // 2, advice)
    plain = platform.machine() in ("x86_64", "AMD64") and not able.startswith("AVX")
    advice = "Neither AVX2 nor AVX512: everything will be slow."
    yield judged("torch CPU capability", able, plain, advice)
    yield gpu(torch)
    yield speed(torch)


def gpu(torch: Any) -> Check:
    if torch.cuda.is_available():
        names = [torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count())]
        return Check("GPU", ", ".join(names))
    if torch.backends.mps.is_available():
        return Check("GPU", "Apple (mps)", "note", 'Used only when asked for: device = "mps".')
    return Check("GPU", "none; the CPU does the work")


def speed(torch: Any, seconds: float = 0.2, size: int = 512) -> Check:
    """Billions of multiplications and additions a second in products of square matrices."""
    a, products = torch.rand(size, size), 0
    a @ a  # the first product is slow: threads start
    start = time.perf_counter()
    while (passed := time.perf_counter() - start) < seconds:
        a @ a
        products += 1
    rate = 2 * size**3 * products / passed / 1e9
    advice = "Slow: is another program busy? Give training more time."
    return judged("matrix products", f"{rate:.1f} GFLOP/s", rate < SLOW, advice)


# Small helpers: unknown is an answer, and no answer names a path


def _read(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _output(*words: str) -> str:
    """The first line that a command prints; nothing when there is no such command."""
    try:
        done = subprocess.run(words, capture_output=True, text=True, errors="replace", timeout=10)
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.partition("\n")[0].strip() if done.returncode == 0 else ""


def _size(count: int | None) -> str:
    return "unknown" if count is None else f"{count / GB:.1f} GB"
