"""Files written whole or not at all: a temporary file, fsync, then a rename over the old one.

Everything Regard leaves on disk goes through here, so there is one place to get it right and
one place for a test to make fail.
"""

import errno
import hashlib
import json
import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Any

import filelock

from regard.errors import RunError

FORMAT = 2  # of the run folder; 1 had one baseline and one metric
PATIENCE = 0.2  # seconds to wait for a lock: `regard runs` takes it too, for an instant


def write_bytes(path: Path, data: bytes) -> str:
    """Put `data` at `path` and return its SHA-256. Whatever fails, no half of it is ever there."""
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with part.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
        sync_folder(path.parent)
    except OSError as error:
        with suppress(OSError):
            part.unlink()
        raise RunError(
            f"{path}: could not be written: {error.strerror or error}. "
            "What is there is whole; make room or mend the permission and try again."
        ) from error
    return hashlib.sha256(data).hexdigest()


def make_folder(folder: Path) -> None:
    """A folder and those above it, where they are not there yet."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RunError(f"{folder}: can not be made: {error.strerror or error}.") from error


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
    return write_text(path, json_text(value))


def json_text(value: Any) -> str:
    """How every JSON file of a run is written."""
    return json.dumps(value, ensure_ascii=False, indent=1) + "\n"


def read_bytes(path: Path) -> bytes:
    """All of a plain file. A pipe or a device, which may never end, is an OSError, and so is a
    file larger than memory."""
    _refuse_endless(path)
    try:
        return path.read_bytes()
    except MemoryError as error:
        raise OSError(errno.ENOMEM, os.strerror(errno.ENOMEM), str(path)) from error


def file_hash(path: Path) -> str:
    """SHA-256 of a plain file."""
    _refuse_endless(path)
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _refuse_endless(path: Path) -> None:
    if _is_endless(path):
        raise OSError(errno.EINVAL, "not a plain file", str(path))


def _is_endless(path: Path) -> bool:
    """Is it a pipe, a socket or a device?"""
    try:
        mode = path.stat().st_mode
    except OSError:
        return False  # opening it will say why
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


def read_table(path: Path) -> dict[str, Any]:
    """The object in a JSON file of a run, or a RunError that says what is wrong with it."""
    try:
        value = json.loads(read_bytes(path).decode("utf-8"))
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
    _refuse_strange_files(folder)
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
    """Are the tables there that every reader looks into? The last two come when a run is done."""
    tables = {"test": {}, "files": {}} | facts
    return all(isinstance(tables.get(n), dict) for n in ("data", "environment", "test", "files"))


def _refuse_strange_files(folder: Path) -> None:
    """Nobody who copies a run should wait for a pipe in it, or read a device to its end."""
    for path in filter(_is_endless, folder.rglob("*")):
        raise RunError(f"{path}: a pipe or a device, which no run has. Remove it.")


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
    """Hold a run folder for writing; a second writer is refused at once. What a killed writer
    left half done is swept away."""
    if not folder.is_dir():
        raise RunError(f"{folder}: no such run. Finished runs are folders, usually under runs/.")
    lock = filelock.FileLock(folder / ".lock", timeout=PATIENCE)
    try:
        lock.acquire()
    except filelock.Timeout as error:
        raise RunError(
            f"{folder}: another process is writing this run; wait for it or stop it."
        ) from error
    except OSError as error:
        raise RunError(f"{folder}: can not be written: {error.strerror or error}.") from error
    try:
        if (folder / "run.json").exists():  # never in a stranger's folder
            for part in list(folder.rglob(".*.part")):
                remove(part)
        yield
    finally:
        lock.release()


def remove(path: Path) -> None:
    """Delete a file, a link or a folder with all in it, as far as that can be done."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with suppress(OSError):
            path.unlink()
