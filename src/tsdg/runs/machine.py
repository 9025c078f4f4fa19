"""The machine that trains: what a record says of it, and the C library's memory."""

import ctypes
import platform
from typing import Any

import numpy as np
import torch

M_TRIM_THRESHOLD, M_MMAP_MAX = -1, -4  # glibc's malloc.h


def machine(device: torch.device) -> dict[str, Any]:
    """Versions, device and threads of this process."""
    name = (
        torch.cuda.get_device_name(device)
        if device.type == "cuda"
        else platform.processor() or platform.machine()
    )
    return {
        "python": platform.python_version(),
        "torch": torch.__version__,
        "numpy": np.__version__,
        "device": device.type,
        "device_name": name,
        "threads": torch.get_num_threads(),
    }


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
