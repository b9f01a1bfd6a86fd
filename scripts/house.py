"""Draw the house as the code really is: every room, top floor first, and the rooms it imports.

    python scripts/house.py

Imports inside functions and under TYPE_CHECKING count too. When an import points up or sideways
its file and line are named, and the script ends with 1.
"""

import ast
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1] / "regard"

# A room may import the rooms listed for it and whatever those may import.
ROOMS: dict[str, tuple[str, ...]] = {
    "foundation": (),
    "text": ("foundation",),
    "nn": ("foundation",),
    "data": ("text",),
    "models": ("nn",),
    "zoo": ("text", "models"),
    "decode": ("nn",),
    "metrics": ("foundation",),
    "tasks": ("data", "models", "decode", "metrics", "zoo"),
    "train": ("tasks",),
    "check": ("tasks", "train"),
    "lens": ("tasks",),
    "build": ("train", "check", "lens"),
    "run": ("build",),
    "serve": ("run",),
    "course": ("run",),
    "reproduce": ("run",),
    "cli": ("serve", "course", "reproduce"),
    "doorstep": ("cli",),
}
# Modules that lie in the package itself and are not a room of their own name.
FOUNDATION = (
    *("errors", "config", "shapes", "label_shapes", "toml", "names", "files", "progress"),
    *("telling",),
)
DOORSTEP = ("__init__", "__main__")

FLOORS = (
    ("doorstep",),
    ("cli", "serve", "course", "reproduce"),
    ("build", "run"),
    ("train", "check", "lens"),
    ("tasks",),
    ("zoo", "decode", "metrics"),
    ("data", "models"),
    ("text", "nn"),
    ("foundation",),
)


@dataclass(frozen=True, slots=True)
class Import:
    """One import of a room by another."""

    place: str  # regard/nn/attention.py:12
    room: str
    module: str  # regard.errors
    target: str  # the room that `module` is in


def allowed(room: str) -> set[str]:
    """Every room that `room` may import.

    >>> sorted(allowed("models"))
    ['foundation', 'nn']
    """
    return {*ROOMS[room]}.union(*(allowed(below) for below in ROOMS[room]))


def files_by_room(package: Path) -> Iterator[tuple[str, Path]]:
    for file in sorted(package.rglob("*.py")):
        if "examples" in file.parts:  # what a user would type: it comes in by the front door
            continue
        yield room_named(file.relative_to(package).parts[0].removesuffix(".py")), file


def room_named(name: str) -> str:
    """The room of what stands under `name` in the package: 'nn' is one, 'errors' is in one."""
    if name in FOUNDATION:
        return "foundation"
    return "doorstep" if name in DOORSTEP else name


def imports(package: Path) -> list[Import]:
    """Every import between two rooms, in the order of the files."""
    found = []
    for room, file in files_by_room(package):
        path = file.relative_to(package.parent)
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"), str(file))):
            if isinstance(node, ast.Import | ast.ImportFrom):
                for module in modules(node, path, package):
                    target = room_named(module.split(".")[1])
                    if target != room:
                        found.append(Import(f"{path}:{node.lineno}", room, module, target))
    return found


def modules(node: ast.Import | ast.ImportFrom, path: Path, package: Path) -> Iterator[str]:
    """The modules of `package`, by full name, that a statement in the file `path` imports."""
    if isinstance(node, ast.Import):
        names = {alias.name for alias in node.names}
    else:
        # One dot is the folder of the file, each further dot the folder above.
        folders = path.parts[: -node.level] if node.level else ()
        base = ".".join([*folders, *filter(None, [node.module])])
        names = {base}
        if base == package.name:
            names = {f"{base}.{a.name}" if holds(package, a.name) else base for a in node.names}
    for name in sorted(names):
        if name == package.name:
            yield f"{name}.__init__"
        elif name.startswith(f"{package.name}."):
            yield name


def holds(package: Path, name: str) -> bool:
    """Is `name` a module here? If not, `from regard import name` asks the doorstep for it."""
    return (package / name).is_dir() or (package / f"{name}.py").is_file()


def wrong_ways(package: Path) -> list[str]:
    """A sentence for each import that points up or sideways, and for each unknown room."""
    strangers = {room: file for room, file in files_by_room(package) if room not in ROOMS}
    found = [
        f'{file.relative_to(package.parent)}: the house has no room "{room}": move the file '
        "into a room, or give it a place in scripts/house.py."
        for room, file in strangers.items()
    ]
    for i in imports(package):
        if i.room in ROOMS and i.target not in allowed(i.room):
            may = ", ".join(room for room in ROOMS if room in allowed(i.room)) or "no other room"
            found.append(f"{i.place}: {i.room} may not import {i.module}; it may import {may}.")
    return found


def draw(package: Path) -> str:
    """The rooms that exist, floor by floor: files in each, and how often it imports which room."""
    files = Counter(room for room, _ in files_by_room(package))
    joined = Counter((i.room, i.target) for i in imports(package))
    floors = []
    for floor in FLOORS:
        rows = []
        for room in floor:
            uses = [f"{below} {joined[room, below]}" for below in ROOMS if joined[room, below]]
            if files[room]:
                rows.append(f"{room:<11}{files[room]:>3}   {', '.join(uses) or '-'}")
        if rows:
            floors.append(rows)
    width = max((len(row) for rows in floors for row in rows), default=0)
    walls = ["\n".join(f"| {row:<{width}} |" for row in rows) for rows in floors]
    rule = f"|{'-' * (width + 2)}|"
    return "\n".join(["room     files   imports", rule, f"\n{rule}\n".join(walls), rule])


def main() -> int:
    print(draw(PACKAGE))
    wrong = wrong_ways(PACKAGE)
    print("\n".join(wrong) or "Every import points down.")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
