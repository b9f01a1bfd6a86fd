"""Checkpoints that are whole or not there: written to a temporary folder, fsynced, listed with
their hashes in a manifest, then renamed. Read back only when every hash agrees. safetensors and
JSON only: nothing here can run code.

    checkpoints/step-00001000/model.safetensors      weights
                              optimizer.safetensors  its running averages
                              random.safetensors     random state of every library
                              state.json             progress
                              manifest.json          SHA-256 of the files above; written last
"""

import hashlib
import json
import os
import shutil
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load as load_tensors
from safetensors.torch import save as save_tensors
from torch import Tensor

from regard.errors import RunError
from regard.files import sync_folder, write_bytes, write_json

FORMAT = 1
TENSOR_FILES = ("model", "optimizer", "random")


@dataclass(frozen=True)
class Checkpoint:
    """One moment of a training. `tensors` holds the three tensor files by name."""

    state: dict[str, Any]
    tensors: dict[str, dict[str, Tensor]]

    @property
    def step(self) -> int:
        return int(self.state["step"])


def folder_of(checkpoints: Path, step: int) -> Path:
    return checkpoints / f"step-{step:08d}"


def steps_in(checkpoints: Path) -> list[int]:
    """The steps that have a checkpoint, oldest first. Unfinished ones are not counted."""
    return sorted(int(p.name[5:]) for p in checkpoints.glob("step-*") if p.name[5:].isdigit())


def save(checkpoints: Path, checkpoint: Checkpoint) -> Path:
    """Write a checkpoint; when this returns it survives a power cut."""
    final = folder_of(checkpoints, checkpoint.step)
    part = checkpoints / f".{final.name}.part"
    try:
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir(parents=True)
        hashes = {
            f"{name}.safetensors": write_bytes(
                part / f"{name}.safetensors", save_tensors(_plain(t))
            )
            for name, t in checkpoint.tensors.items()
        }
        hashes["state.json"] = write_json(part / "state.json", checkpoint.state)
        write_json(part / "manifest.json", {"format": FORMAT, "sha256": hashes})
        shutil.rmtree(final, ignore_errors=True)  # the same step, saved before a resume
        os.rename(part, final)
        sync_folder(checkpoints)
    except (OSError, RunError) as error:
        shutil.rmtree(part, ignore_errors=True)
        raise RunError(
            f"{final}: the checkpoint could not be saved: {error}. "
            "Earlier checkpoints are intact; make room and run regard resume."
        ) from error
    return final


def load(folder: Path) -> Checkpoint:
    """Read one checkpoint, or raise a RunError that says which file is not what was written."""
    try:
        manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
        wanted = {f"{name}.safetensors" for name in TENSOR_FILES} | {"state.json"}
        if manifest["format"] != FORMAT or set(manifest["sha256"]) != wanted:
            raise RunError(f"{folder}: a checkpoint of another version or kind.")
        data = {name: (folder / name).read_bytes() for name in manifest["sha256"]}
        for name, sha in manifest["sha256"].items():
            if hashlib.sha256(data[name]).hexdigest() != sha:
                raise RunError(f"{folder / name}: damaged: its SHA-256 is not the one recorded.")
        tensors = {name: load_tensors(data[f"{name}.safetensors"]) for name in TENSOR_FILES}
        return Checkpoint(json.loads(data["state.json"]), tensors)
    except (OSError, ValueError, KeyError, TypeError, SafetensorError) as error:
        raise RunError(f"{folder}: not a readable checkpoint: {error}.") from error


def load_latest(checkpoints: Path) -> Checkpoint | None:
    """The newest checkpoint that is whole; damaged ones are named in a warning and passed over.
    None when the run has not saved yet; a RunError when it has, and nothing of it is whole."""
    steps = steps_in(checkpoints)
    for step in reversed(steps):
        try:
            return load(folder_of(checkpoints, step))
        except RunError as error:
            warnings.warn(f"{error} Falling back to the one before.", stacklevel=2)
    if steps:
        raise RunError(
            f"{checkpoints}: none of its {len(steps)} checkpoints can be read (see above). "
            "Restore one from a copy, or begin a new run."
        )
    return None


def prune(checkpoints: Path, keep: set[int]) -> None:
    """Delete all but the checkpoints of these steps, and what a killed save left behind."""
    for step in set(steps_in(checkpoints)) - keep:
        shutil.rmtree(folder_of(checkpoints, step), ignore_errors=True)
    for part in checkpoints.glob(".step-*.part"):
        shutil.rmtree(part, ignore_errors=True)


def _plain(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    return {name: t.detach().cpu().contiguous() for name, t in tensors.items()}
