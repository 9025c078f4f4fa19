"""What a record says of the machine that trained it."""

import platform
from typing import Any

import numpy as np
import torch


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
