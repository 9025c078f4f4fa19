"""The C library's memory, set for training."""

import ctypes

M_TRIM_THRESHOLD, M_MMAP_MAX = -1, -4  # glibc's malloc.h


def keep_freed_memory() -> None:
    """Have glibc keep freed blocks for the next iteration, which needs the same ones.

    Otherwise every activation is mapped anew and its pages are cleared: of the Bearings' iteration on a CPU
    that was two fifths.
    """
    try:
        libc = ctypes.CDLL("libc.so.6")
        libc.mallopt(M_MMAP_MAX, 0)
        libc.mallopt(M_TRIM_THRESHOLD, 2**31 - 1)
    except (OSError, AttributeError):
        pass  # another C library
