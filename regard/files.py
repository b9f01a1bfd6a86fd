"""Files written whole or not at all: a temporary file, fsync, then a rename over the old one.

Everything Regard leaves on disk goes through here, so there is one place to get it right and
one place for a test to make fail.
"""

import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import filelock

from regard.errors import RunError

FORMAT = 2  # of the run folder; 1 had one baseline and one metric


def write_bytes(path: Path, data: bytes) -> str:
    """Put `data` at `path` and return its SHA-256. On failure the old file is still there."""
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with part.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
        sync_folder(path.parent)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise RunError(
            f"{path}: could not be written: {error.strerror or error}. "
            "What was there before is untouched; make room or mend the permission and try again."
        ) from error
    return hashlib.sha256(data).hexdigest()


def write_text(path: Path, text: str) -> str:
    try:
        return write_bytes(path, text.encode("utf-8"))
    except UnicodeEncodeError as error:
        around = ascii(text[max(0, error.start - 20) : error.start + 20])
        raise RunError(
            f"{path}: can not hold half a character, found in {around}: rename the file or the "
            "column that has it."
        ) from error


def write_json(path: Path, value: Any) -> str:
    return write_text(path, json.dumps(value, ensure_ascii=False, indent=1) + "\n")


def file_hash(path: Path) -> str:
    """SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def read_table(path: Path) -> dict[str, Any]:
    """The object in a JSON file of a run, or a RunError that says what is wrong with it."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(value, dict):
            raise ValueError(f"expected an object, found a {type(value).__name__}")
        return value
    except FileNotFoundError as error:
        raise RunError(
            f"{path}: missing. Is this a run folder, and was it copied whole?"
        ) from error
    except (OSError, ValueError, RecursionError) as error:
        raise RunError(f"{path}: damaged or not readable: {error}.") from error


def read_facts(folder: Path) -> dict[str, Any]:
    """run.json of a run folder, or a RunError that says why this is not a run we can read."""
    if not folder.is_dir():
        meant = Path("runs") / folder
        hint = f"Did you mean {meant}?" if meant.is_dir() else "Runs are folders, under runs/."
        raise RunError(f"{folder}: no such run. {hint}")
    inside = sorted(path.parent.name for path in folder.glob("*/run.json"))
    if inside and not (folder / "run.json").exists():
        raise RunError(f"{folder}: a folder of runs. Name one of them: {', '.join(inside[:10])}.")
    facts = read_table(folder / "run.json")
    found = facts.get("format")
    if found == FORMAT and _complete(facts):
        return facts
    if found == FORMAT:
        raise RunError(
            f"{folder}/run.json: not as Regard writes it: a table is missing. Was it edited?"
        )
    if type(found) is int and found > FORMAT:
        do = "It comes from a newer Regard: upgrade this one with pip install --upgrade regard."
    elif type(found) is int and found < FORMAT:
        do = "It comes from an older Regard: train it again from its recipe.toml."
    else:
        do = "Is this another program's folder?"
    raise RunError(
        f"{folder}/run.json: run format {found!r}, but this Regard reads format {FORMAT}. {do}"
    )


def _complete(facts: dict[str, Any]) -> bool:
    """Are the tables there that every reader looks into?"""
    tables = (facts.get("data"), facts.get("environment"), facts.get("test", {}))
    return all(isinstance(table, dict) for table in tables)


def free_folder(folder: Path) -> Path:
    """`folder`, or folder-2, folder-3, ... when it is taken."""
    names = (folder.with_name(f"{folder.name}-{n}") for n in count(2))
    return folder if not folder.exists() else next(n for n in names if not n.exists())


def sync_folder(folder: Path) -> None:
    """Make renames in `folder` survive a power cut (a folder has its own entry on disk)."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold a run folder for writing; a second writer is refused at once."""
    if not folder.is_dir():
        raise RunError(f"{folder}: no such run. Finished runs are folders, usually under runs/.")
    lock = filelock.FileLock(folder / ".lock", timeout=0)
    try:
        lock.acquire()
    except filelock.Timeout as error:
        raise RunError(
            f"{folder}: another process is writing this run; wait for it or stop it."
        ) from error
    except OSError as error:
        raise RunError(f"{folder}: can not be written: {error.strerror or error}.") from error
    try:
        yield
    finally:
        lock.release()
