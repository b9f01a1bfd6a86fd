"""Where hostile files are put: into every place that a run or a checkpoint is read from. Where a
hash guards a file, the hash is forged to agree."""

import hashlib
import json
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from regard.files import json_text
from regard.train.checkpoints import folder_of, steps_in
from soak.payloads import (
    AVERAGES,
    BOMBS,
    DEEP,
    DEEP_TABLE,
    RANDOM,
    SHAPES,
    STATES,
    WEIGHTS,
)

Plant = Callable[[Path], object]
TENSOR_FILES = "model.safetensors", "optimizer.safetensors", "random.safetensors"


@dataclass(frozen=True)
class Hostile:
    plant: Plant
    stopped: bool = True  # into a run that can be resumed, else into a finished one
    harmless: bool = False  # may it be passed over without a word?


def hostile_files(canary: Path) -> dict[str, Hostile]:
    """By what they are and where they are put."""
    return {
        **bombs(canary),
        **checkpoints(),
        **finished_runs(),
        **folders(),
        **{f"{name} in state.json": Hostile(state_with(odd)) for name, odd in STATES.items()},
    }


def bombs(canary: Path) -> dict[str, Hostile]:
    found = {}
    for what, make in BOMBS.items():
        data = make(canary)
        for file in (*TENSOR_FILES, "state.json"):
            found[f"{what} as {file}"] = Hostile(forged(file, always(data)))
        for file in ("newest/manifest.json", "recipe.toml", "run.json", "tokenizer.json"):
            found[f"{what} as {file}"] = Hostile(placed(file, data))
        found[f"{what} as metrics.jsonl"] = Hostile(placed("metrics.jsonl", data), harmless=True)
        for file in ("model.safetensors", "tokenizer.json"):
            plant = sealed(file, always(data))
            found[f"{what} as the finished {file}"] = Hostile(plant, stopped=False)
        for file in ("baseline/nearest/pairs.jsonl", "baseline/copy/copying.json"):
            found[f"{what} as {file}"] = Hostile(placed(file, data), stopped=False)
    return found


def checkpoints() -> dict[str, Hostile]:
    found = {}
    for what, data in SHAPES.items():
        for file in TENSOR_FILES:
            plant = forged(file, always(data))
            harmless = (what, file) == ("no tensor", "optimizer.safetensors")
            found[f"{what} as {file}"] = Hostile(plant, harmless=harmless)
    tables = WEIGHTS, AVERAGES, RANDOM
    for file, table in zip(TENSOR_FILES, tables, strict=True):
        for what, change in table.items():
            found[f"{what} in {file}"] = Hostile(forged(file, change), harmless="GPU" in what)
    manifests = {
        "a list": b"[]",
        "nested deeply": DEEP,
        "tables nested deeply": DEEP_TABLE,
        "a way out": b'{"format": 1, "sha256": {"../../../etc/passwd": "0"}}',
        "an absolute path": b'{"format": 1, "sha256": {"/etc/passwd": "0"}}',
        "a true format": b'{"format": true, "sha256": {}}',
        "hashes in a list": b'{"format": 1, "sha256": ["state.json"]}',
        "half a character": b'{"format": 1, "sha256": {"\\ud800": "0"}}',
    }
    for what, data in manifests.items():
        found[f"{what} as manifest.json"] = Hostile(placed("newest/manifest.json", data))
    for what, data in {"a list": b"[1]", "a word": b'"x"', "nested deeply": DEEP}.items():
        found[f"{what} as state.json"] = Hostile(forged("state.json", always(data)))
    return found


def state_with(odd: dict[str, Any]) -> Plant:
    return forged("state.json", lambda file: json.dumps(json.loads(file) | odd).encode())


def finished_runs() -> dict[str, Hostile]:
    found = {
        f"{what} as the finished model": sealed("model.safetensors", always(data))
        for what, data in SHAPES.items()
    }
    for what, change in WEIGHTS.items():
        found[f"{what} in the finished model"] = sealed("model.safetensors", change)
    tokenizers = {
        "no tokenizer": b"{}",
        "a tokenizer nested deeply": DEEP_TABLE,
        "a tokenizer of a module": b'{"source": {"kind": "os.system", "pieces": ["a"]}}',
        "pieces that are no strings": b'{"source": {"kind": "character", "pieces": [1, null]}}',
        "a tokenizer that is a list": b'{"source": ["character"]}',
    }
    for what, data in tokenizers.items():
        found[what] = sealed("tokenizer.json", always(data))
    facts: dict[str, dict[str, Any]] = {
        "a true format": {"format": True},
        "a format in words": {"format": "2"},
        "files in a list": {"files": ["model.safetensors"]},
        "files in a word": {"files": "__all__"},
        "a file elsewhere": {"files": {"../../../../etc/passwd": "0"}},
        "tests in a list": {"test": []},
        "data in a word": {"data": "x"},
        "an environment in a list": {"environment": [1]},
        "another model": {"model": {"width": 10**9}},
    }
    for what, changes in facts.items():
        found[f"{what} in run.json"] = edited("run.json", **changes)
    found["a width without end in both"] = both(
        replaced("recipe.toml", "width = 8", f"width = {2**40}"), wider
    )
    found["run.json nested deeply"] = placed("run.json", DEEP_TABLE)
    found["pairs nested deeply"] = placed("baseline/nearest/pairs.jsonl", DEEP)
    found["pairs that are numbers"] = placed(
        "baseline/nearest/pairs.jsonl", b'{"source": 1, "target": 2}\n'
    )
    return {name: Hostile(plant, stopped=False) for name, plant in found.items()}


def folders() -> dict[str, Hostile]:
    """Strange names, links, pipes, and recipes that point elsewhere."""
    strange = {
        "step-\N{SUPERSCRIPT TWO}": named("step-\N{SUPERSCRIPT TWO}"),
        "step-0x10": named("step-0x10"),
        "a checkpoint copied to another step": named("step-00000099", whole=True),
        "a checkpoint copied to no step": named("step-99999999999999999999", whole=True),
        "an empty step": named("step-99999999999999999999"),
        "a file for a checkpoint": placed("checkpoints/step-00000099", b""),
        "a lock that leads to another file": linked(".lock", "../victim"),
    }
    found = {n: Hostile(p, harmless=n.startswith("step-")) for n, p in strange.items()}
    places = "newest/model.safetensors", "newest/manifest.json", "recipe.toml", "run.json"
    for place in (*places, "tokenizer.json", "metrics.jsonl"):
        for target in ("a pipe", "/dev/zero", "/dev/stdin"):
            found[f"{place} leads to {target}"] = Hostile(linked(place, target))
    for place in ("model.safetensors", "baseline/nearest/pairs.jsonl"):
        found[f"{place} leads to a pipe"] = Hostile(linked(place, "a pipe"), stopped=False)
    for target in (".", "step-00000099", "/etc"):
        found[f"checkpoints lead to {target}"] = Hostile(linked("checkpoints", target))
    recipes = {
        "a task of a module": ('task = "transduce"', 'task = "os.system"'),
        "a task in a folder": ('task = "transduce"', 'task = "../../evil"'),
        "a device of a module": ('device = "auto"', "device = \"cuda:__import__('os')\""),
        "a width without end": ("width = 8", f"width = {10**18}"),
        "a network larger than memory": ("width = 8", f"width = {2**20}"),
        "a date for a number": ("width = 8", "width = 2026-01-01"),
        "a recipe nested deeply": ("width = 8", "width = " + "[" * 100_000),
        "a setting of a class": ("width = 8", "width = 8\n__class__ = 1"),
        "data without end": ("pairs.tsv", "dev/zero"),
    }
    for name, (old, new) in recipes.items():
        found[name] = Hostile(replaced("recipe.toml", old, new))
    return found


# Planting: each takes a run folder


def newest(run: Path) -> Path:
    return folder_of(run / "checkpoints", steps_in(run / "checkpoints")[-1])


def forged(name: str, make: Callable[[bytes], bytes]) -> Plant:
    """Another file in the newest checkpoint, and a manifest that agrees with it."""

    def plant(run: Path) -> None:
        folder = newest(run)
        data = make((folder / name).read_bytes())
        (folder / name).write_bytes(data)
        manifest = json.loads((folder / "manifest.json").read_bytes())
        manifest["sha256"][name] = hashlib.sha256(data).hexdigest()
        (folder / "manifest.json").write_text(json_text(manifest))

    return plant


def always(data: bytes) -> Callable[[bytes], bytes]:
    return lambda _: data


def sealed(name: str, make: Callable[[bytes], bytes]) -> Plant:
    """Another file in a finished run, and a run.json that agrees with it."""

    def plant(run: Path) -> None:
        data = make((run / name).read_bytes())
        (run / name).write_bytes(data)
        facts = json.loads((run / "run.json").read_bytes())
        facts["files"][name] = hashlib.sha256(data).hexdigest()
        (run / "run.json").write_text(json_text(facts))

    return plant


def placed(name: str, data: bytes) -> Plant:
    """`name` is a path in the run; "newest/..." is in its newest checkpoint."""

    def plant(run: Path) -> None:
        path = newest(run) / name[7:] if name.startswith("newest/") else run / name
        path.write_bytes(data)

    return plant


def edited(name: str, **changes: Any) -> Plant:
    def plant(run: Path) -> None:
        table = json.loads((run / name).read_bytes()) | changes
        (run / name).write_text(json_text(table))

    return plant


def replaced(name: str, old: str, new: str) -> Plant:
    def plant(run: Path) -> None:
        text = (run / name).read_text()
        if old not in text:
            raise ValueError(f"{name} does not hold {old!r}")
        (run / name).write_text(text.replace(old, new))

    return plant


def wider(run: Path) -> None:
    model = json.loads((run / "run.json").read_bytes())["model"]
    edited("run.json", model=model | {"width": 2**40})(run)


def both(one: Plant, other: Plant) -> Plant:
    return lambda run: (one(run), other(run))


def linked(name: str, target: str) -> Plant:
    def plant(run: Path) -> None:
        path = newest(run) / name[7:] if name.startswith("newest/") else run / name
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
        os.mkfifo(path) if target == "a pipe" else path.symlink_to(target)

    return plant


def named(name: str, *, whole: bool = False) -> Plant:
    """A checkpoint folder of another name: empty, or a copy of the newest."""

    def plant(run: Path) -> None:
        path = run / "checkpoints" / name
        shutil.copytree(newest(run), path) if whole else path.mkdir()

    return plant
