"""The house: imports point down, the foundation needs no torch, no file is read by running it."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

import house

ROOT = house.PACKAGE.parent

# A file that is read through one of these can run code of its author's choosing.
DANGEROUS_MODULES = {
    "cloudpickle",
    "dill",
    "joblib",
    "marshal",
    "pickle",
    "runpy",
    "shelve",
    "yaml",
}
DANGEROUS_CALLS = {"compile", "eval", "exec", "torch.load", "torch.hub.load", "torch.jit.load"}
# Fine where a fixed table of our own modules is loaded lazily, never on a name from a file.
DYNAMIC_IMPORTS = {"__import__", "import_module", "importlib.import_module"}
MAY_IMPORT_LAZILY = {"cli", "doorstep"}


def write(root: Path, files: dict[str, str]) -> Path:
    """A package `regard` under `root` that holds these files."""
    for name, source in files.items():
        path = root / "regard" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source, encoding="utf-8")
    return root / "regard"


def dangers(package: Path) -> list[str]:
    """'file:line: what' for everything in `package` that could run what it reads."""
    return [
        f"{file.relative_to(package.parent)}:{line}: {what}"
        for room, file in house.files_by_room(package)
        for line, what in dangers_in(ast.parse(file.read_text(encoding="utf-8")), room)
    ]


def dangers_in(tree: ast.AST, room: str):
    full = full_names(tree)
    calls = DANGEROUS_CALLS | (set() if room in MAY_IMPORT_LAZILY else DYNAMIC_IMPORTS)
    for name, line in full.values():
        if name in calls or name.split(".")[0] in DANGEROUS_MODULES:
            yield line, name
    for node in ast.walk(tree):
        if isinstance(node, ast.Name | ast.Attribute):
            head, dot, rest = ast.unparse(node).partition(".")
            name = full.get(head, (head, 0))[0] + dot + rest
            if name in calls:
                yield node.lineno, name
        if isinstance(node, ast.keyword) and node.arg == "allow_pickle":
            if ast.unparse(node.value) != "False":
                yield node.lineno, "allow_pickle"


def full_names(tree: ast.AST) -> dict[str, tuple[str, int]]:
    """What each imported name stands for, and its line: `import torch as t` -> t: torch."""
    names = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                whole = alias.name if alias.asname else alias.name.split(".")[0]
                names[alias.asname or whole] = whole, node.lineno
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                names[alias.asname or alias.name] = f"{node.module}.{alias.name}", node.lineno
    return names


def test_no_import_points_up_or_sideways():
    assert house.wrong_ways(house.PACKAGE) == []


def test_no_two_rooms_may_import_each_other():
    assert all(room not in house.allowed(room) for room in house.ROOMS)


def test_every_room_stands_on_one_floor_and_imports_only_from_its_own_floor_or_below():
    floor = {room: i for i, rooms in enumerate(house.FLOORS) for room in rooms}
    assert floor.keys() == house.ROOMS.keys()
    assert all(floor[room] <= floor[below] for room in floor for below in house.allowed(room))


@pytest.mark.parametrize(
    ("where", "source", "module"),
    [
        ("nn/attention.py", "from regard.models.decoder import Decoder", "regard.models.decoder"),
        ("nn/attention.py", "import regard.models.decoder as d", "regard.models.decoder"),
        ("nn/attention.py", "from regard import models", "regard.models"),
        ("nn/attention.py", "from ..models import decoder", "regard.models"),
        ("nn/attention.py", "from .. import models", "regard.models"),
        ("nn/attention.py", "from regard import errors, load", "regard.__init__"),
        ("nn/attention.py", "def f():\n    import regard.models", "regard.models"),
        ("nn/__init__.py", "from ..text import ids", "regard.text"),
        ("errors.py", "from . import nn", "regard.nn"),
        ("lens/plots.py", "import regard.train", "regard.train"),
        ("run.py", "import regard", "regard.__init__"),
    ],
)
def test_an_import_that_points_the_wrong_way_is_named_with_file_and_line(
    tmp_path, where, source, module
):
    there = dict.fromkeys(["errors.py", "models/decoder.py", "nn/mask.py", "text/ids.py"], "")
    package = write(tmp_path, there | {where: f'"""A file."""\n\n{source}\n'})
    line = 2 + len(source.splitlines())
    (wrong,) = house.wrong_ways(package)
    assert wrong.startswith(f"regard/{where}:{line}: ")
    assert f"may not import {module}; it may import " in wrong


def test_imports_that_point_down_stay_inside_the_room_or_leave_the_package_are_fine(tmp_path):
    files = {
        "__init__.py": "from regard.cli import main",
        "errors.py": "import regardless",
        "nn/attention.py": "from regard.errors import ShapeError\nfrom . import mask\nimport torch",
        "tasks/tag.py": "def f():\n    from ..nn import mask\n    from .. import errors",
    }
    assert house.wrong_ways(write(tmp_path, files)) == []


def test_a_file_outside_every_room_is_reported(tmp_path):
    (wrong,) = house.wrong_ways(write(tmp_path, {"utils/misc.py": ""}))
    assert wrong.startswith('regard/utils/misc.py: the house has no room "utils"')


def test_only_rooms_that_exist_are_drawn_with_what_they_import(tmp_path):
    package = write(
        tmp_path, {"errors.py": "", "nn/__init__.py": "", "nn/mask.py": "import regard.errors"}
    )
    rows = [line.split() for line in house.draw(package).splitlines() if "--" not in line]
    assert rows[1:] == [
        ["|", "nn", "2", "foundation", "1", "|"],
        ["|", "foundation", "1", "-", "|"],
    ]


def test_the_foundation_names_no_torch():
    for room, file in house.files_by_room(house.PACKAGE):
        if room == "foundation":
            names = full_names(ast.parse(file.read_text(encoding="utf-8"))).values()
            assert not [name for name, _ in names if name.split(".")[0] == "torch"], file


def test_importing_the_foundation_does_not_load_torch():
    modules = ", ".join(f"regard.{name}" for name in house.FOUNDATION)
    code = f"import sys, {modules}; sys.exit('torch' in sys.modules)"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment, cwd=ROOT)


def test_nothing_runs_what_it_reads():
    assert dangers(house.PACKAGE) == []


@pytest.mark.parametrize(
    ("source", "what"),
    [
        ("import pickle", "pickle"),
        ("from pickle import loads", "pickle.loads"),
        ("import yaml as y", "yaml"),
        ("import torch\ntorch.load('x')", "torch.load"),
        ("import torch as t\nread = t.load", "torch.load"),
        ("from torch import load as read", "torch.load"),
        ("eval('1')", "eval"),
        ("exec('1')", "exec"),
        ("import importlib as i\ni.import_module('x')", "importlib.import_module"),
        ("import numpy\nnumpy.load('x', allow_pickle=True)", "allow_pickle"),
    ],
)
def test_what_could_run_a_file_is_found(tmp_path, source, what):
    package = write(tmp_path, {"nn/attention.py": source})
    line = len(source.splitlines())
    assert dangers(package) == [f"regard/nn/attention.py:{line}: {what}"]


def test_switching_a_model_to_eval_and_loading_safetensors_are_fine(tmp_path):
    source = "from safetensors.torch import load\nmodel.eval()\nre.compile('x')\ntorch.compile(f)"
    assert dangers(write(tmp_path, {"nn/attention.py": source})) == []
