"""Checkpoints that are whole or not there: written to a temporary folder, fsynced, listed with
their hashes in a manifest, then renamed. Read back only when every hash agrees. safetensors and
JSON only: nothing here can run code.

    checkpoints/step-00001000/model.safetensors      weights
                              optimizer.safetensors  its running averages
                              random.safetensors     random states, and what a task carries on
                              state.json             progress
                              manifest.json          SHA-256 of the files above; written last
"""

import hashlib
import json
import os
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save as save_tensors
from torch import Tensor

from regard.errors import RunError
from regard.files import (
    file_hash,
    json_text,
    read_bytes,
    remove,
    sync_folder,
    write_bytes,
    write_json,
)
from regard.models.weights import parse_weights
from regard.train.state import Progress

FORMAT = 1
TENSOR_FILES = ("model", "optimizer", "random")
FILES = frozenset({*(f"{name}.safetensors" for name in TENSOR_FILES), "state.json"})
NAME = re.compile(r"step-([0-9]{8}|[1-9][0-9]{8,})")
SPARE = 2  # whole checkpoints that are always kept, in case one gets damaged


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
    try:
        names = map(NAME.fullmatch, os.listdir(checkpoints))
    except FileNotFoundError:
        return []
    except OSError as error:
        raise RunError(f"{checkpoints}: can not be read: {error.strerror}.") from error
    return sorted(int(name[1]) for name in names if name)


# Writing


def save(checkpoints: Path, checkpoint: Checkpoint) -> Path:
    """Write a checkpoint; when this returns it survives a power cut. Those of later steps, which
    the run passed over when it was resumed, are deleted."""
    final = folder_of(checkpoints, checkpoint.step)
    part = final.with_name(f".{final.name}.part")
    try:
        _make(checkpoints)
        remove(part)
        part.mkdir()
        hashes = {
            f"{name}.safetensors": write_bytes(
                part / f"{name}.safetensors", save_tensors(_plain(tensors))
            )
            for name, tensors in checkpoint.tensors.items()
        }
        hashes["state.json"] = write_json(part / "state.json", checkpoint.state)
        write_json(part / "manifest.json", {"format": FORMAT, "sha256": hashes})
        # What stands there now is damaged, or the run would have been resumed from it; the one
        # that it was resumed from is whole, so that a kill between these two lines loses nothing.
        _discard(final)
        os.rename(part, final)
        sync_folder(checkpoints)
    except (OSError, RunError) as error:
        remove(part)
        raise RunError(
            f"{final}: the checkpoint could not be saved: {str(error).rstrip('.')}. "
            "Earlier checkpoints are intact; make room and run regard resume."
        ) from error
    for step in steps_in(checkpoints):
        if step > checkpoint.step:
            _discard(folder_of(checkpoints, step))
    return final


def prune(checkpoints: Path, keep: set[int]) -> None:
    """Delete all but the checkpoints of these steps and those that a resume may need, and what a
    killed save left behind."""
    for step in set(steps_in(checkpoints)) - keep - _needed(checkpoints):
        _discard(folder_of(checkpoints, step))
    for part in checkpoints.glob(".step-*.part"):
        remove(part)


def _needed(checkpoints: Path) -> set[int]:
    """The newest that are whole, and the best one that each of them knows of: should the run go
    on from there, that one may become its model."""
    found: list[dict[str, Any]] = []
    for step in reversed(steps_in(checkpoints)):
        if len(found) < SPARE:
            with suppress(RunError):
                found.append(_whole_state(folder_of(checkpoints, step)))
    return {state.get(key, 0) for state in found for key in ("step", "best_step")}


def _make(checkpoints: Path) -> None:
    if not checkpoints.is_dir():
        checkpoints.mkdir(parents=True)
        sync_folder(checkpoints.parent)


def _discard(folder: Path) -> None:
    """Delete a checkpoint; out of sight first, so that a kill leaves no half of one."""
    hidden = folder.with_name(f".{folder.name}.old.part")
    remove(hidden)
    if os.path.lexists(folder):
        with suppress(OSError):  # the next save will try again
            os.rename(folder, hidden)
        remove(hidden)


def _plain(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    return {name: t.detach().cpu().contiguous() for name, t in tensors.items()}


# Reading


def load(folder: Path) -> Checkpoint:
    """Read one checkpoint, or raise a RunError that says which file is not what was written."""
    with _refusals(folder):
        hashes = _hashes(folder)
        data = {name: read_bytes(folder / name) for name in hashes}
        for name, wanted in hashes.items():
            _compare(folder / name, hashlib.sha256(data[name]).hexdigest(), wanted)
        state = _state(folder, data["state.json"])
        tensors = {
            name: parse_weights(data[f"{name}.safetensors"], f"{folder / name}.safetensors")
            for name in TENSOR_FILES
        }
        _check_shapes(folder, tensors["model"], tensors["optimizer"])
        return Checkpoint(state, tensors)


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


def _whole_state(folder: Path) -> dict[str, Any]:
    """The progress in a checkpoint whose hashes agree; the tensors are not held in memory."""
    with _refusals(folder):
        for name, wanted in _hashes(folder).items():
            _compare(folder / name, file_hash(folder / name), wanted)
        return _state(folder, read_bytes(folder / "state.json"))


@contextmanager
def _refusals(folder: Path) -> Iterator[None]:
    """Whatever is wrong with a file, the reader sees a RunError."""
    try:
        yield
    except (OSError, ValueError, LookupError, TypeError, RecursionError) as error:
        raise RunError(f"{folder}: not a readable checkpoint: {error}.") from error


def _hashes(folder: Path) -> dict[str, str]:
    """What the manifest lists. It has no hash of its own, but only one way to be written."""
    text = read_bytes(folder / "manifest.json").decode("utf-8")
    manifest = json.loads(text)
    hashes: dict[str, str] = dict(manifest["sha256"])
    if manifest["format"] != FORMAT or hashes.keys() != FILES:
        raise RunError(f"{folder}: a checkpoint of another version or kind.")
    if json_text({"format": FORMAT, "sha256": hashes}) != text:
        raise RunError(f"{folder / 'manifest.json'}: damaged: not as Regard writes it.")
    return hashes


def _compare(file: Path, found: str, wanted: str) -> None:
    if found != wanted:
        raise RunError(f"{file}: damaged: its SHA-256 is not the one recorded.")


def _state(folder: Path, data: bytes) -> dict[str, Any]:
    """Progress as a training writes it, and of the step that the folder is named after."""
    state: dict[str, Any] = dict(json.loads(data))
    usual = Progress().as_json()
    for key, value in state.items():
        if key not in usual or not _fits(value, usual[key]):
            raise RunError(
                f"{folder / 'state.json'}: not as Regard writes it: {key[:40]!r} is {value!r:.60}."
            )
    if folder_of(folder.parent, state["step"]).name != folder.name:
        raise RunError(f"{folder}: holds step {state['step']}: was the folder renamed or copied?")
    return state


def _fits(value: Any, usual: Any) -> bool:
    """Is it of the kind that stands there before the first step?"""
    if isinstance(usual, dict):
        return isinstance(value, dict) and all(type(v) in (int, float) for v in value.values())
    if usual is None:  # not known yet
        return value is None or type(value) in (int, float)
    return type(value) in (int, type(usual)) and abs(value) < 2**63


def _check_shapes(folder: Path, weights: dict[str, Tensor], kept: dict[str, Tensor]) -> None:
    """What the optimizer keeps about a weight has its shape, but for the count of steps. The
    fused kernel does not look, and would write past the end of a smaller one."""
    for full_name, tensor in kept.items():
        name, _, key = full_name.rpartition("/")
        like = torch.zeros(()) if key == "step" else weights[name]
        if tensor.shape != like.shape or tensor.dtype != like.dtype:
            raise RunError(
                f"{folder / 'optimizer.safetensors'}: {full_name[:60]!r} has the shape "
                f"{tuple(tensor.shape)} and the type {tensor.dtype}, which do not fit its weight."
            )
