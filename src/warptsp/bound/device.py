"""Where a bound is computed: on the CPU, or on a GPU where that is faster."""

import logging

from warptsp.errors import InvalidOption, UnsupportedProblem
from warptsp.machine import ordinals
from warptsp.problem import Problem

logger = logging.getLogger(__name__)

MIN_GPU_CITIES = 50_000
"""From which "auto" takes a GPU: opening it takes some tenths of a second, as long as this many cities do."""
MAX_GPU_CITIES = 119_000_000
"""Twice the nine edges that each city may name are counted in 31 bits."""


def resolve_gpu(device: object, problem: Problem, time_limit: float | None) -> int | None:
    """Return the number of the GPU that computes a bound, or None for the CPU.

    Raises `BackendUnavailable`: a GPU cannot be used; `UnsupportedProblem`: it cannot do the problem;
    `InvalidOption`: it is no device, or several.
    """
    if device == "cpu":
        return None
    if device == "auto":
        return _chosen(problem, time_limit)
    wanted = ordinals(device)
    if len(wanted) > 1:
        raise InvalidOption(
            f"device {device}: a bound is computed on one GPU; name one, as in cuda:{wanted[0]}"
        )
    lacking = gpu_lacks(problem)
    if lacking is not None:
        raise UnsupportedProblem(f"device {device}: {lacking}; use device cpu, or auto")
    from warptsp.backends.cuda.device import find_usable

    find_usable(wanted[0])
    return wanted[0]


def gpu_lacks(problem: Problem) -> str | None:
    """Return what a GPU cannot do about a bound of this problem; None if it can do all."""
    if not problem.metric.planar:
        return f"bounds for {problem.metric.name} are computed on the CPU"
    if problem.open is not None:
        return "bounds for open paths are computed on the CPU"
    if len(problem.fixed_edges):
        return "bounds with fixed edges are computed on the CPU"
    if problem.n > MAX_GPU_CITIES:
        return f"bounds of more than {MAX_GPU_CITIES} cities are computed on the CPU"
    return None


def _chosen(problem: Problem, time_limit: float | None) -> int | None:
    if problem.n < MIN_GPU_CITIES or gpu_lacks(problem) is not None:
        return None
    from warptsp.backends.cuda import bound
    from warptsp.backends.cuda.compiler import COMPILING, not_cached
    from warptsp.backends.cuda.device import first_usable

    gpu = first_usable("lower bound", logger)
    if gpu is None:
        return None
    missing = not_cached(bound.sources(problem.metric), gpu.compute_capability)
    if missing and time_limit is not None and time_limit < COMPILING:
        logger.debug("lower bound: the CPU, as the kernels for the GPU are not compiled yet")
        return None
    return 0
