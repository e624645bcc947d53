"""The processors of this machine, and which of them a run uses."""

from __future__ import annotations

import logging
import math
import os
import platform
import re
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from warptsp.errors import BackendUnavailable, InvalidOption, UnsupportedProblem
from warptsp.stop._check import checked_count

if TYPE_CHECKING:
    from collections.abc import Sequence

    from warptsp.backends.cuda.driver import Gpu
    from warptsp.methods import Method
    from warptsp.problem import Problem

logger = logging.getLogger(__name__)

MOST_THREADS = 1024
# A limit below which "auto" takes the CPU: to start a GPU takes some tenths of a second.
LEAST_GPU_SECONDS = 1.0
_CUDA_PACKAGES = ("cuda-core", "cuda-bindings")


def resolve_device(device: object, problem: Problem, method: Method, seconds: float | None = None) -> str:
    """Return the device that a run uses: ``"cpu"``, ``"cuda:N"`` or several GPUs as ``"cuda:0,1"``.

    Parameters
    ----------
    device : {"auto", "cpu", "cuda", "cuda:N", "cuda:N,M,..."}
        "cuda" is the first GPU, or all that there are where that is faster (`Method.gpus_wanted`); "auto" is
        what `choose` takes.
    problem : Problem
    method : Method
    seconds : float, optional
        The time limit of the run.

    Raises
    ------
    BackendUnavailable
        For a GPU that cannot be used: what is missing, and what to do.
    UnsupportedProblem
        For a GPU, if the method cannot do the problem there, and for several if it uses one.
    InvalidOption
        For anything that is no device.
    """
    if device == "auto":
        return choose(problem, method, seconds)
    if device == "cpu":
        return "cpu"
    wanted = ordinals(device)
    from warptsp.backends.cuda.device import find_usable

    named = [find_usable(ordinal)[1] for ordinal in wanted]
    lacking = method.gpu_lacks(problem)
    if lacking is not None:
        raise UnsupportedProblem(f"device {device}: {lacking}; use device cpu, or auto")
    if len(wanted) > 1:
        if not method.uses_several_gpus:
            raise UnsupportedProblem(
                f"device {device}: method {method.name} uses one GPU; name one, as in cuda:{wanted[0]}"
            )
        for other in named[1:]:
            if _model(other) != _model(named[0]):
                raise UnsupportedProblem(
                    f"device {device}: cuda:{other.ordinal} is a {other.name}, and cuda:{named[0].ordinal} a "
                    f"{named[0].name}; work is divided evenly, so name GPUs of one model"
                )
    elif device == "cuda":
        return _all_wanted(problem, method, seconds)
    return name_of(wanted)


def choose(problem: Problem, method: Method, seconds: float | None = None) -> str:
    """Return the faster device for this problem: a GPU, or several, if there are any, if they can do the
    problem and if there are cities and time enough; the CPU if not. Why is logged."""
    if problem.n < method.least_gpu_cities:
        logger.info("device auto: the CPU, for fewer than %d cities", method.least_gpu_cities)
        return "cpu"
    if seconds is not None and seconds < LEAST_GPU_SECONDS:
        logger.info("device auto: the CPU, for less than %g s", LEAST_GPU_SECONDS)
        return "cpu"
    lacking = method.gpu_lacks(problem)
    if lacking is None and problem.asymmetric:
        lacking = "tours of asymmetric matrices are longer on GPUs"
    if lacking is not None:
        logger.info("device auto: the CPU; %s", lacking)
        return "cpu"
    from warptsp.backends.cuda import driver
    from warptsp.backends.cuda.device import find_usable

    try:
        driver.find()
    except BackendUnavailable as error:
        logger.info("device auto: the CPU; %s", error)
        return "cpu"
    try:
        gpu = find_usable(0)[1]
    except BackendUnavailable as error:  # there is a GPU, and something is amiss that can be mended
        logger.warning("device auto: the CPU; %s", error)
        return "cpu"
    device = _all_wanted(problem, method, seconds)
    logger.info("device auto: %s, %s", device, gpu.name)
    return device


def ordinals(device: object) -> tuple[int, ...]:
    """Return the numbers of the GPUs that a device names; "cuda" is the first one.

    Raises
    ------
    InvalidOption
        If it names none, or one twice.
    """
    match = re.fullmatch(r"cuda(?::(\d{1,4}(?:,\d{1,4})*))?", device) if isinstance(device, str) else None
    if match is None:
        raise InvalidOption(
            f"device: {device!r} is unknown; there are auto, cpu, cuda, cuda:N, and several GPUs as in "
            "cuda:0,1, without spaces"
        )
    wanted = tuple(int(number) for number in (match[1] or "0").split(","))
    for number in wanted:
        if wanted.count(number) > 1:
            raise InvalidOption(f"device: {device!r} names GPU {number} twice; name each once")
    return wanted


def name_of(gpus: Sequence[int]) -> str:
    """Return the device that names the GPUs of these numbers."""
    return "cuda:" + ",".join(map(str, gpus))


def _all_wanted(problem: Problem, method: Method, seconds: float | None) -> str:
    """The first GPU, and the others of its model if the method is faster with them."""
    from warptsp.backends.cuda import driver

    alike = _all_alike(driver.find().gpus)
    return name_of(alike[: method.gpus_wanted(problem, seconds, len(alike))])


def _all_alike(gpus: Sequence[Gpu]) -> list[int]:
    """The numbers of the GPUs of the first one's model."""
    return [gpu.ordinal for gpu in gpus if _model(gpu) == _model(gpus[0])]


def _model(gpu: Gpu) -> tuple[object, ...]:
    return gpu.name, gpu.compute_capability, gpu.memory_total


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
        "cpu": cpu_name(),
        "cores": os.cpu_count() or 1,
        "threads": available_threads(),
        "simd": simd,
        "native": _native.build_info(),
        **_describe_gpus(),
    }


def _describe_gpus() -> dict[str, Any]:
    """Return the GPUs, what drives them, and why they cannot be used if so."""
    from warptsp.backends.cuda import cache, compiler, driver
    from warptsp.backends.cuda.device import find_usable

    found: dict[str, Any] = {"gpus": [], "several": None, "driver": None, "cuda": {}}
    found["gpu_why"] = None
    found["kernel_cache"] = None if cache.folder() is None else str(cache.folder())
    for package in _CUDA_PACKAGES:
        try:
            found["cuda"][package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            found["cuda"][package] = None
    try:
        found["cuda"]["nvrtc"] = "{}.{}".format(*compiler.nvrtc_version())
    except BackendUnavailable:
        found["cuda"]["nvrtc"] = None
    try:
        drives = driver.find()
        found["several"] = name_of(_all_alike(drives.gpus))
        found["driver"] = {"version": drives.version, "cuda": "{}.{}".format(*drives.cuda)}
        for gpu in drives.gpus:
            described = {
                "device": f"cuda:{gpu.ordinal}",
                "name": gpu.name,
                "compute_capability": "{}.{}".format(*gpu.compute_capability),
                "memory": gpu.memory_total,
                "linked": [name_of([other]) for other in gpu.linked],
                "why_not": None,
            }
            found["gpus"].append(described)
            try:
                find_usable(gpu.ordinal)
            except BackendUnavailable as error:
                described["why_not"] = str(error)
    except BackendUnavailable as error:
        found["gpu_why"] = str(error)
    return found


def cpu_name() -> str:
    """Return what the processor calls itself."""
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
