"""The memory of this process: how much it holds and held, how much there is, and how to keep or
give back what it freed."""

import ctypes
import os
import re
import resource
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

# From glibc's malloc.h.
M_TRIM_THRESHOLD, M_TOP_PAD, M_MMAP_THRESHOLD, M_MMAP_MAX = -1, -2, -3, -4
LARGE, MAPPED = 32 << 20, 65536  # the largest threshold that glibc takes; how many, as usual
FORGET_PEAK = "5"  # what /proc/self/clear_refs calls it
PROC, GROUPS = Path("/proc"), Path("/sys/fs/cgroup")


def keep_freed_memory() -> bool:
    """Tell the C allocator to: a training step asks for the same large blocks again and again,
    and fresh pages from the kernel are slow. False where the C library is not glibc."""
    return _wish((M_MMAP_MAX, 0), (M_TRIM_THRESHOLD, 2**31 - 1), (M_TOP_PAD, 64 << 20))


def free_large_memory() -> bool:
    """Tell it to give large blocks back as soon as they are free, as before `keep_freed_memory`:
    what counts a whole text holds many of them, each of another size and only once."""
    return _wish((M_MMAP_MAX, MAPPED), (M_MMAP_THRESHOLD, LARGE), (M_TRIM_THRESHOLD, LARGE))


@contextmanager
def other_work() -> Iterator[None]:
    """Work of another kind amid the steps of a training: its blocks do not fit into what steps left
    free, nor into each other's, so that they would pile up. Validating a language model of 12,000
    words held 4.5 GB, and holds 0.8 so."""
    free_large_memory()
    give_back_memory()
    try:
        yield
    finally:
        give_back_memory()
        keep_freed_memory()


def _wish(*wishes: tuple[int, int]) -> bool:
    if not sys.platform.startswith("linux"):
        return False
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):
        return False
    return all([mallopt(option, value) == 1 for option, value in wishes])


def give_back_memory() -> None:
    """Return what is free inside the heap to the kernel. Worth it where one kind of work ends and
    another begins: its blocks have other sizes and do not fit into what the first one left."""
    with suppress(OSError, AttributeError):  # not glibc
        ctypes.CDLL(None).malloc_trim(0)


def held_memory() -> int:
    """Bytes that this process holds now; its peak where the system does not say."""
    return _status("VmRSS") or peak_memory()


def peak_memory() -> int:
    """Bytes that this process held when it held the most."""
    # Not ru_maxrss where there is another way: a process inherits it from the one that started it.
    return _status("VmHWM") or _usage()


def forget_peak() -> bool:
    """Let `peak_memory` count from now on. False where the system can not do that."""
    try:
        return (PROC / "self/clear_refs").write_text(FORGET_PEAK) > 0
    except OSError:
        return False


def available_memory() -> int | None:
    """Bytes that this process could come to hold: what it has and what is free, no more than its
    container may. None where the system does not say."""
    found = re.search(r"^MemAvailable:\s+(\d+) kB", _read(PROC / "meminfo"), re.MULTILINE)
    free = 1024 * int(found[1]) if found else _free_pages()
    limits = _group_limits()
    return min([held_memory() + free, *limits]) if free else min(limits, default=None)


def _status(name: str) -> int:
    found = re.search(rf"^{name}:\s+(\d+) kB", _read(PROC / "self/status"), re.MULTILINE)
    return 1024 * int(found[1]) if found else 0


def _usage() -> int:
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else 1024 * most  # kilobytes everywhere else


def _free_pages() -> int:
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):
        return 0


def _group_limits() -> list[int]:
    """What control groups, which containers are made of, allow this process: its own group and
    all above it. Version 2 has one tree of groups, version 1 a tree for memory."""
    limits = []
    for line in _read(PROC / "self/cgroup").splitlines():
        _, kinds, path = line.split(":", 2)
        if kinds in ("", "memory"):
            top = GROUPS / kinds
            own = top / path.strip("/")
            for group in (own, *own.parents):
                if group.is_relative_to(top):
                    name = "memory.limit_in_bytes" if kinds else "memory.max"
                    limits.append(_read(group / name).strip())
    return [int(limit) for limit in limits if limit.isdecimal()]  # "max" is no limit


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
