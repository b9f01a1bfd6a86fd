"""Tell the C allocator to keep freed memory: a training step asks for the same large blocks
again and again, and fresh pages from the kernel are slow."""

import ctypes
import sys

M_TRIM_THRESHOLD, M_TOP_PAD, M_MMAP_MAX = -1, -2, -4  # from glibc's malloc.h


def keep_freed_memory() -> bool:
    """Do it for this process; False where the C library is not glibc."""
    if not sys.platform.startswith("linux"):
        return False
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):
        return False
    wishes = [(M_MMAP_MAX, 0), (M_TRIM_THRESHOLD, 2**31 - 1), (M_TOP_PAD, 64 << 20)]
    return all([mallopt(option, value) == 1 for option, value in wishes])
