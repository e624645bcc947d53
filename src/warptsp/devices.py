"""The processors of this machine, and which of them a run uses."""

from __future__ import annotations

import math
import os
import platform
import re
from pathlib import Path
from typing import Any

from warptsp.errors import BackendUnavailable, InvalidOption
from warptsp.stop._check import checked_count

MOST_THREADS = 1024
NO_CUDA = "the CUDA back end is not part of this release"


def resolve_device(device: object) -> str:
    """Return the device that a run uses, ``"cpu"``.

    Raises
    ------
    BackendUnavailable
        For ``"cuda"``, which this release does not have.
    InvalidOption
        For anything that is no device.
    """
    if device in ("auto", "cpu"):
        return "cpu"
    if isinstance(device, str) and re.fullmatch(r"cuda(:\d+)?", device):
        raise BackendUnavailable(f"device {device}: {NO_CUDA}; use device cpu (or auto)")
    raise InvalidOption(f"device: {device!r} is unknown; there are auto, cpu, cuda")


def available_threads() -> int:
    """Return the number of CPU threads that this process may keep busy.

    The cores that the process is allowed to run on, and no more than the quota of its container.
    """
    if hasattr(os, "process_cpu_count"):  # Python 3.13
        cores = os.process_cpu_count()
    elif hasattr(os, "sched_getaffinity"):
        cores = len(os.sched_getaffinity(0))
    else:
        cores = os.cpu_count()
    return max(1, min(cores or 1, _container_quota()))


def resolve_threads(threads: object) -> int:
    """Return the number of threads of a run: as asked, or all that are available for None.

    Raises
    ------
    InvalidOption
        If it is no number of threads.
    """
    if threads is None:
        return available_threads()
    what = f"a number of threads, 1 to {MOST_THREADS}"
    count = checked_count("threads", threads, minimum=1, what=what)
    if count > MOST_THREADS:
        raise InvalidOption(f"threads: {threads!r} is not {what}")
    return count


def _container_quota() -> int:
    try:
        quota, period = Path("/sys/fs/cgroup/cpu.max").read_text().split()
        return max(1, math.ceil(int(quota) / int(period)))
    except (OSError, ValueError):  # not Linux, no control group, or no quota ("max")
        return 1 << 20


def describe() -> dict[str, Any]:
    """Return what there is to know about this machine and this build, for bug reports."""
    import numpy as np

    import warptsp
    from warptsp import _native

    flags = _cpu_flags()
    simd = [name for name in ("avx512f", "avx2", "avx", "sse4_2", "asimd", "sve") if name in flags]
    return {
        "warptsp": warptsp.__version__,
        "python": f"{platform.python_version()} ({platform.python_implementation()})",
        "numpy": np.__version__,
        "system": platform.platform(),
        "cpu": _cpu_name(),
        "cores": os.cpu_count() or 1,
        "threads": available_threads(),
        "simd": simd,
        "native": _native.build_info(),
        "gpu": None,
        "gpu_why": NO_CUDA,
    }


def _cpu_name() -> str:
    for line in _cpu_info():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _cpu_flags() -> set[str]:
    for line in _cpu_info():
        if line.startswith(("flags", "Features")):
            return set(line.partition(":")[2].split())
    return set()


def _cpu_info() -> list[str]:
    try:
        return Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return []
