"""A result as a dated file: what came out, on what, by which command."""

import json
import os
import platform
import subprocess
from datetime import date
from pathlib import Path
from typing import Any

from regard.config import Tree
from regard.files import make_folder, write_text

HERE = Path(__file__).resolve().parent


def record(folder: Path, name: str, command: str, versions: Tree, **found: Any) -> Path:
    """Write FOLDER/DATE-NAME.json."""
    make_folder(folder)
    whole = {
        "name": name,
        "date": str(date.today()),
        "commit": commit(),
        "hardware": hardware(),
        "versions": versions,
        "command": command,
        **found,
    }
    path = folder / f"{date.today()}-{name}.json"
    write_text(path, json.dumps(whole, indent=1, ensure_ascii=False) + "\n")
    return path


def commit() -> str:
    """The commit of this code, "+" behind it when the files differ from it; "unknown" where it was
    installed, perhaps somewhere inside a repository of other things."""
    known = _git("ls-files", "--error-unmatch", Path(__file__).name)
    return (known and _git("describe", "--always", "--dirty=+", "--abbrev=7")) or "unknown"


def _git(*words: str) -> str:
    """What it says; nothing where it fails, or is not there."""
    asked = ["git", "-C", str(HERE), *words]
    try:
        return subprocess.run(asked, capture_output=True, text=True, check=False).stdout.strip()
    except OSError:
        return ""


def hardware() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return f"{os.cpu_count()} cores, {names[0] if names else platform.processor()}"
