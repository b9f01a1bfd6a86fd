"""A tap on the disk: who listens hears of every call that changes something below a folder,
before it is made, and may let it pass, make it fail, or end the process in the middle of it."""

import builtins
import io
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

READ_ONLY = "r", "rb", "rt"


@dataclass(frozen=True)
class Call:
    name: str  # open write fsync replace rename mkdir unlink rmdir
    path: str
    half: Callable[[], object] = lambda: None
    """Does a part of it, where a call can be cut in two."""

    @property
    def needed(self) -> bool:
        """Is something lost when it fails? Not when something is only thrown away (moved to a
        name that ends in .part), nor when a folder is made that is there."""
        if self.name == "mkdir":
            return not os.path.isdir(self.path)
        thrown = self.name == "rename" and self.path.endswith(".part")
        return self.name not in ("unlink", "rmdir") and not thrown

    def __str__(self) -> str:
        return f"{self.name} {os.path.join(*Path(self.path).parts[-2:])}"


@contextmanager
def tapped(root: Path, listen: Callable[[Call], None]) -> Iterator[None]:
    """Tell `listen` of every change below `root`. Nobody waits for the disk itself there: no
    power is cut, and a hundred runs would wait long."""
    tap = _Tap(os.path.abspath(root), listen)
    places: dict[tuple[Any, str], Callable[..., Any]] = {
        (io, "open"): tap.open,
        (builtins, "open"): tap.open,
        (os, "open"): tap.open_handle,
        (os, "fsync"): tap.fsync,
        **{(os, name): tap.moving(name) for name in ("replace", "rename")},
        **{(os, name): tap.naming(name) for name in ("mkdir", "unlink", "rmdir")},
    }
    real = {(module, name): getattr(module, name) for module, name in places}
    try:
        for (module, name), function in places.items():
            setattr(module, name, function)
        yield
    finally:
        for (module, name), function in real.items():
            setattr(module, name, function)


class _Tap:
    def __init__(self, root: str, listen: Callable[[Call], None]) -> None:
        self.root, self.listen = root, listen
        self.real_open, self.real_open_handle, self.real_fsync = io.open, os.open, os.fsync

    def tell(self, name: str, path: str, half: Callable[[], object] = lambda: None) -> bool:
        inside = os.path.abspath(path).startswith(self.root)
        if inside:
            self.listen(Call(name, path, half))
        return inside

    def fsync(self, handle: int) -> None:
        if not self.tell("fsync", _path_of(handle)):
            self.real_fsync(handle)

    def open_handle(self, path: Any, flags: int, *args: Any, **options: Any) -> Any:
        if flags & os.O_CREAT:
            self.tell("open", os.fsdecode(path))
        return self.real_open_handle(path, flags, *args, **options)

    def open(self, path: Any, mode: str = "r", *args: Any, **options: Any) -> Any:
        name = "" if isinstance(path, int) or mode in READ_ONLY else os.fsdecode(path)
        inside = bool(name) and self.tell("open", name)
        file = self.real_open(path, mode, *args, **options)
        return _Writer(file, name, self) if inside else file

    def moving(self, name: str) -> Callable[..., None]:
        real = getattr(os, name)

        def move(source: Any, target: Any, **options: Any) -> None:
            self.tell(name, os.fsdecode(target))
            real(source, target, **options)

        return move

    def naming(self, name: str) -> Callable[..., None]:
        real = getattr(os, name)

        def act(path: Any, *args: Any, dir_fd: int | None = None, **options: Any) -> None:
            folder = "" if dir_fd is None else _path_of(dir_fd)
            self.tell(name, os.path.join(folder, os.fsdecode(path)))
            real(path, *args, dir_fd=dir_fd, **options)

        return act


class _Writer:
    """An open file whose every write is told."""

    def __init__(self, file: Any, path: str, tap: _Tap) -> None:
        self._file, self._path, self._tap = file, path, tap

    def write(self, data: Any) -> int:
        def half() -> None:
            self._file.write(data[: len(data) // 2])
            self._file.flush()

        self._tap.tell("write", self._path, half)
        written: int = self._file.write(data)
        return written

    def __enter__(self) -> "_Writer":
        return self

    def __exit__(self, *error: Any) -> None:
        self._file.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)


def _path_of(handle: int) -> str:
    return os.readlink(f"/proc/self/fd/{handle}")
