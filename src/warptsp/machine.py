"""The processors and the memory of this machine, and the names that devices have."""

import math
import os
import platform
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from warptsp._checks import checked_count, shown
from warptsp.errors import InvalidOption

MAX_THREADS = 1024


def ordinals(device: object) -> tuple[int, ...]:
    """Return the numbers of the GPUs that a device names; "cuda" is the first one.

    Raises `InvalidOption` if it names none, or one twice.
    """
    match = re.fullmatch(r"cuda(?::(\d{1,4}(?:,\d{1,4})*))?", device) if isinstance(device, str) else None
    if isinstance(device, str) and device == "auto":
        raise InvalidOption("device: 'auto' is for one problem: give cpu, cuda or cuda:N")
    if match is None:
        raise InvalidOption(
            f"device: {shown(device)} is unknown; there are auto, cpu, cuda, cuda:N, and several GPUs as in "
            "cuda:0,1, without spaces"
        )
    wanted = tuple(int(number) for number in (match[1] or "0").split(","))
    for number in wanted:
        if wanted.count(number) > 1:
            raise InvalidOption(f"device: {shown(device)} names GPU {number} twice; name each once")
    return wanted


@dataclass(frozen=True, slots=True)
class Devices:
    """Where a search is: on the CPU, on GPUs of these numbers, or on the workers of a cluster."""

    kind: Literal["cpu", "cuda", "cluster"]
    gpus: tuple[int, ...] = ()

    @classmethod
    def parse(cls, name: str) -> "Devices":
        """Return what a name such as ``"cpu"`` or ``"cuda:0,1"`` stands for.

        Raises `InvalidOption` if it is none.
        """
        return cls("cpu") if name == "cpu" else cls("cuda", ordinals(name))

    def __str__(self) -> str:
        return name_of(self.gpus) if self.gpus else self.kind


CPU = Devices("cpu")


def name_of(gpus: Sequence[int]) -> str:
    """Return the device that names the GPUs of these numbers."""
    return "cuda:" + ",".join(map(str, gpus))


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

    Raises `InvalidOption` if it is no number of threads.
    """
    if threads is None:
        return available_threads()
    what = f"a number of threads, 1 to {MAX_THREADS}"
    return checked_count("threads", threads, minimum=1, what=what, maximum=MAX_THREADS)


def _container_quota() -> int:
    try:
        with open("/sys/fs/cgroup/cpu.max") as limit:  # read in every call: a Path takes as long again
            quota, period = limit.read().split()
        return max(1, math.ceil(int(quota) / int(period)))
    except (OSError, ValueError):  # not Linux, no control group, or no quota ("max")
        return 1 << 20


def memory() -> float:
    """Return the bytes of memory that this process may have; infinite where that is unknown.

    Those of the machine, and no more than the limit of its container.
    """
    most = math.inf
    if hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        most = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    try:
        return min(most, int(Path("/sys/fs/cgroup/memory.max").read_text()))
    except (OSError, ValueError):  # not Linux, no control group, or no limit ("max")
        return most


def cpu_name() -> str:
    """Return what the processor calls itself."""
    for line in _cpu_info():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def cpu_flags() -> set[str]:
    """Return the extensions that the processor has, as Linux names them."""
    for line in _cpu_info():
        if line.startswith(("flags", "Features")):
            return set(line.partition(":")[2].split())
    return set()


def _cpu_info() -> list[str]:
    try:
        return Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return []
