"""What a best-improvement descent on a GPU runs: scales, kernels."""

import math
from dataclasses import dataclass

import numpy as np

from warptsp.backends.cuda.compiler import Source
from warptsp.papers.exhaustive import cuda_tuning as tuning
from warptsp.papers.exhaustive.cuda_records import FAST_FILE, FILE, MAPPED_FILE, VERSIONS_FILE
from warptsp.papers.exhaustive.neighborhood import Launch, Neighborhood, is_plain
from warptsp.problem import Metric, Problem

FAST_KERNELS = ("evaluate_pairs", "evaluate_triples", "descend_pairs")
MAPPED_KERNELS = (
    "evaluate_ranges<false>",
    "evaluate_ranges<true>",
)  # by whether coordinates lie in tour order
VERSION_KERNELS = ("evaluate_version<{}>", "reduce_version<{}>")
_LARGEST = 2.0**21  # of scaled distances


@dataclass(frozen=True, slots=True)
class Scale:
    """How distances become integers of a fast pass: coordinates times `points`, links times `links`, rounded
    to nearest (0), up (1) or down (2)."""

    rounding: int
    points: float
    links: float
    middle: tuple[float, float]

    @classmethod
    def of(cls, problem: Problem) -> "Scale | None":
        """Choose it for a problem; None if its metric has no fast pass."""
        if not problem.metric.euclidean:
            return None
        points = problem.search_points()
        low, high = points.min(axis=0), points.max(axis=0)
        middle = (float(low[0] + high[0]) / 2, float(low[1] + high[1]) / 2)
        diagonal = float(np.hypot(*(high - low)))
        # What single precision may add to a whole number must not round it up, nor down.
        little = 2.0**-22
        integral = {
            "nearest": (0, 1.0),
            "up": (1, 1.0 - little),
            "down": (2, 1.0 + little),
            "att": (1, (1.0 - little) / math.sqrt(10.0)),
        }
        if problem.metric.integral:
            rounding, factor = integral[problem.metric.rounding]
            if diagonal * factor < _LARGEST:
                return cls(rounding, factor, 1.0, middle)
        power = 0 if diagonal == 0 else math.floor(math.log2(_LARGEST / diagonal * (1 - 1e-9)))
        factor = 2.0 ** min(power, 1000)
        unit = factor / math.sqrt(10.0) if problem.metric is Metric.ATT else factor
        return cls(0, unit, factor, middle)


def kernel_sources(problem: Problem, neighborhood: Neighborhood, launch: Launch) -> tuple[Source, ...]:
    """Return what a descent in a neighborhood needs: the kernels in double precision, and those of its other
    pass, if it has one."""
    mapped = launch.maps(neighborhood)
    block = tuning.DESCENT_THREADS if mapped else max(tuning.DESCENT_THREADS, launch.block or 0)
    metric = {"METRIC_KIND": problem.metric.kind}
    exact = Source(FILE, neighborhood.kernels, {"EXACT_BLOCK": block, **metric}, fmad=False)
    if launch.version is not None:
        names = tuple(name.format(launch.version) for name in VERSION_KERNELS)
        return exact, Source(VERSIONS_FILE, names, metric, fmad=False)
    scale = Scale.of(problem) if neighborhood.fast is not None and is_plain(problem) else None
    if scale is None:
        return (exact,)
    defines = {"TILE_ROUNDING": scale.rounding, **metric}
    if mapped:
        return exact, Source(MAPPED_FILE, MAPPED_KERNELS, defines, fmad=False)
    defines["RESIDENT_ROWS"] = 4 if problem.n < tuning.FEW_ROWS else 8
    return exact, Source(FAST_FILE, FAST_KERNELS, defines, fmad=False)
