"""The wheel: built offline from the sources alone, installed elsewhere, and run from there."""

import os
import re
import shutil
import socket
import subprocess
import sys
import sysconfig
import time
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
OFFLINE = ["--no-deps", "--no-index", "--disable-pip-version-check", "-qq"]


def run(*command: str | Path, cwd: Path) -> str:
    """What a command prints. It sees neither the checkout nor what PYTHONPATH adds."""
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    """Built in a copy, so that the checkout keeps no build folder."""
    source, out = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("wheel")
    shutil.copytree(
        ROOT / "regard", source / "regard", ignore=shutil.ignore_patterns("__pycache__")
    )
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    pip = [sys.executable, "-m", "pip", "wheel", "--no-build-isolation"]
    run(*pip, *OFFLINE, "--wheel-dir", out, source, cwd=source)
    (built,) = out.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def scripts(wheel, tmp_path_factory) -> Path:
    """The folder with `python` and `regard` of an environment that holds the wheel.

    Its dependencies are those of the environment the tests run in, lent through a .pth file. The
    .pth files in there are not read again, so a Regard installed from the checkout stays out.
    """
    home = tmp_path_factory.mktemp("installed")
    venv.create(home, with_pip=False, symlinks=True)
    python = home / "bin" / "python"
    run(sys.executable, "-m", "pip", "--python", python, "install", *OFFLINE, wheel, cwd=home)
    ours = run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=home)
    lent = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    (Path(ours.strip()) / "lent.pth").write_text("\n".join(sorted(lent)), encoding="utf-8")
    return python.parent


def test_the_wheel_holds_every_module_recipe_page_and_type_mark(wheel):
    inside = set(zipfile.ZipFile(wheel).namelist())
    patterns = ("**/*.py", "py.typed", "recipes/*.toml", "lens/static/*")
    files = [file for pattern in patterns for file in (ROOT / "regard").glob(pattern)]
    expected = {file.relative_to(ROOT).as_posix() for file in files if file.is_file()}
    assert expected - inside == set()
    for name in ("regard/py.typed", "regard/recipes/", "regard/lens/static/"):
        assert any(path.startswith(name) for path in expected), f"{name} is missing"


def test_the_wheel_holds_nothing_else_but_its_own_papers(wheel):
    inside = zipfile.ZipFile(wheel).namelist()
    strays = [n for n in inside if not n.startswith("regard/") and ".dist-info/" not in n]
    assert strays == []
    assert any(name.endswith("/licenses/LICENSE") for name in inside)


def test_the_installed_regard_is_the_one_from_the_wheel(scripts, tmp_path):
    where = run(scripts / "python", "-c", "import regard; print(regard.__file__)", cwd=tmp_path)
    assert Path(where).is_relative_to(scripts.parent)


def test_the_installed_command_says_its_version(scripts, tmp_path):
    assert PROJECT["project"]["version"] in run(scripts / "regard", "--version", cwd=tmp_path)


def test_the_installed_command_gives_help_without_waiting_for_torch(scripts, tmp_path, capsys):
    assert "Usage: regard" in run(scripts / "regard", "--help", cwd=tmp_path)
    help_seconds = fastest(scripts / "regard", "--help", cwd=tmp_path)
    torch_seconds = fastest(scripts / "python", "-c", "import torch", cwd=tmp_path)
    with capsys.disabled():
        ratio = help_seconds / torch_seconds
        print(f"\nregard --help: {help_seconds:.2f} s, {ratio:.0%} of the time of import torch")


def fastest(*command: str | Path, cwd: Path) -> float:
    """Seconds of the fastest of three runs."""
    seconds = []
    for _ in range(3):
        start = time.perf_counter()
        run(*command, cwd=cwd)
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def test_everything_that_is_installed_is_pinned():
    pins = constraints()
    named = [*PROJECT["project"]["dependencies"], *PROJECT["build-system"]["requires"]]
    for extra in PROJECT["project"]["optional-dependencies"].values():
        named += extra
    names = {re.split("[>=;]", requirement)[0] for requirement in named}
    assert names - pins.keys() == set()
    assert f"setuptools=={pins['setuptools']}" in PROJECT["build-system"]["requires"]


def constraints() -> dict[str, str]:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pins = [line.split("==") for line in lines if not line.startswith("#")]
    return {name.replace("_", "-"): version for name, version in pins}


def test_a_test_that_leaves_the_machine_fails():
    with pytest.raises(pytest.fail.Exception, match="tried to reach 192.0.2.1"):
        socket.create_connection(("192.0.2.1", 80), timeout=1)
    with pytest.raises(pytest.fail.Exception, match="tried to reach example.org"):
        socket.getaddrinfo("example.org", 80)


def test_a_test_may_talk_to_itself():
    with socket.create_server(("127.0.0.1", 0)) as server:
        socket.create_connection(server.getsockname(), timeout=1).close()
