"""Which processors there are, for bug reports, and which of them a run uses."""

from __future__ import annotations

import logging
import os
import platform
from typing import TYPE_CHECKING, Any, Protocol

from warptsp.errors import BackendUnavailable, UnsupportedProblem
from warptsp.machine import available_threads as available_threads
from warptsp.machine import cpu_flags, cpu_name, name_of, ordinals

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from warptsp.backends.cuda.driver import Gpu
    from warptsp.problem import Problem

logger = logging.getLogger(__name__)

# A limit below which "auto" takes the CPU: to start a GPU takes some tenths of a second.
MIN_GPU_SECONDS = 1.0
_CUDA_PACKAGES = ("cuda-core", "cuda-bindings")


class SearchOnGpus(Protocol):
    """What is asked of a method; `warptsp.methods.Method` says what each of it means."""

    @property
    def name(self) -> str: ...
    @property
    def min_gpu_cities(self) -> int: ...
    @property
    def gpus_wanted(self) -> Callable[[Problem, float | None, int], int] | None: ...
    def gpu_lacks(self, problem: Problem) -> str | None: ...


def resolve_device(
    device: object, problem: Problem, method: SearchOnGpus, seconds: float | None = None
) -> str:
    """Return the device that a run uses: ``"cpu"``, ``"cuda:N"`` or several GPUs as ``"cuda:0,1"``.

    "cuda" is the first GPU, or all that there are where that is faster (`Method.gpus_wanted`); "auto" is what
    `choose` takes, for a run of so many seconds.

    Raises `BackendUnavailable` for a GPU that cannot be used: what is missing, and what to do;
    `UnsupportedProblem` for a GPU, if the method cannot do the problem there, and for several if it uses one;
    `InvalidOption` for anything that is no device.
    """
    if isinstance(device, str) and device == "auto":
        return choose(problem, method, seconds)
    if isinstance(device, str) and device == "cpu":
        return "cpu"
    wanted = ordinals(device)
    from warptsp.backends.cuda.device import find_usable

    named = [find_usable(ordinal)[1] for ordinal in wanted]
    lacking = method.gpu_lacks(problem)
    if lacking is not None:
        raise UnsupportedProblem(f"device {device}: {lacking}; use device cpu, or auto")
    if len(wanted) > 1:
        if method.gpus_wanted is None:
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


def choose(problem: Problem, method: SearchOnGpus, seconds: float | None = None) -> str:
    """Return the faster device for this problem: one GPU or several if there are any, if they support the
    problem and if there are enough cities and time; otherwise the CPU. The reason is logged."""
    if problem.n < method.min_gpu_cities:
        logger.debug("device auto: the CPU, for fewer than %d cities", method.min_gpu_cities)
        return "cpu"
    if seconds is not None and seconds < MIN_GPU_SECONDS:
        logger.debug("device auto: the CPU, for less than %g s", MIN_GPU_SECONDS)
        return "cpu"
    lacking = method.gpu_lacks(problem)
    if lacking is None and problem.asymmetric:
        lacking = "tours of asymmetric matrices are longer on GPUs"
    if lacking is not None:
        logger.debug("device auto: the CPU; %s", lacking)
        return "cpu"
    from warptsp.backends.cuda.device import first_usable

    gpu = first_usable("device auto", logger)
    if gpu is None:
        return "cpu"
    device = _all_wanted(problem, method, seconds)
    logger.debug("device auto: %s, %s", device, gpu.name)
    return device


def _all_wanted(problem: Problem, method: SearchOnGpus, seconds: float | None) -> str:
    """The first GPU, and the others of its model if the method is faster with them."""
    from warptsp.backends.cuda import driver

    alike = _all_alike(driver.find().gpus)
    if method.gpus_wanted is None or len(alike) < 2:
        return name_of(alike[:1])
    return name_of(alike[: method.gpus_wanted(problem, seconds, len(alike))])


def _all_alike(gpus: Sequence[Gpu]) -> list[int]:
    """The numbers of the GPUs of the first one's model."""
    return [gpu.ordinal for gpu in gpus if _model(gpu) == _model(gpus[0])]


def _model(gpu: Gpu) -> tuple[object, ...]:
    return gpu.name, gpu.compute_capability, gpu.memory_total


def describe() -> dict[str, Any]:
    """Return what is known about this machine and this build, for bug reports."""
    import numpy as np

    import warptsp._native as _native
    from warptsp._version import __version__

    flags = cpu_flags()
    simd = [name for name in ("avx512f", "avx2", "avx", "sse4_2", "asimd", "sve") if name in flags]
    return {
        "warptsp": __version__,
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
    from importlib import metadata  # which brings the package for e-mail

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
