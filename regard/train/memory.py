"""The memory of this process: how much it took, and how to keep what it freed."""

import ctypes
import resource
import sys

M_TRIM_THRESHOLD, M_TOP_PAD, M_MMAP_MAX = -1, -2, -4  # from glibc's malloc.h


def keep_freed_memory() -> bool:
    """Tell the C allocator to: a training step asks for the same large blocks again and again,
    and fresh pages from the kernel are slow. False where the C library is not glibc."""
    if not sys.platform.startswith("linux"):
        return False
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):
        return False
    wishes = [(M_MMAP_MAX, 0), (M_TRIM_THRESHOLD, 2**31 - 1), (M_TOP_PAD, 64 << 20)]
    return all([mallopt(option, value) == 1 for option, value in wishes])


def peak_memory() -> int:
    """Bytes that this process held when it held the most."""
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else 1024 * most  # kilobytes everywhere else
