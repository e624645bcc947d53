"""What is compiled from each kernel file: CI compiles all of it for every architecture, without a GPU."""

from __future__ import annotations

from dataclasses import dataclass

from warptsp.backends.cuda.climbing import ALONE_KERNELS, CLIMB_KERNELS
from warptsp.backends.cuda.compiler import Source
from warptsp.backends.cuda.descent import (
    BLOCK,
    FAST_FILE,
    FAST_KERNELS,
    MAPPED_FILE,
    MAPPED_KERNELS,
    PRUNED_FILE,
    PRUNED_KERNELS,
)
from warptsp.backends.cuda.descent import FILE as DESCENT
from warptsp.backends.cuda.descent import KINDS as NEIGHBORHOODS
from warptsp.backends.cuda.geometry import CANDIDATE_KERNEL, GEOMETRY_KERNELS
from warptsp.backends.cuda.neighbor import KERNELS as NEIGHBOR_KERNELS
from warptsp.backends.cuda.neighbor import METRIC_KINDS
from warptsp.backends.cuda.path_order import PATHS
from warptsp.backends.cuda.search import KERNELS, lk_defines
from warptsp.backends.cuda.symmetric import SYMMETRIC_SOURCE
from warptsp.problem import Metric

ARCHITECTURES = ((7, 5), (8, 0), (8, 6), (8, 9), (9, 0), (10, 0), (12, 0))


@dataclass(frozen=True, slots=True)
class Build(Source):
    """Kernels of one file as `Device.module` takes them, and for what they are compiled in tests."""

    architectures: tuple[tuple[int, int], ...] = ARCHITECTURES


BUILDS: tuple[Build, ...] = (
    Build("climb.cu", CLIMB_KERNELS, {"CLIMB_ROUNDING": 1}, fmad=False),
    *(
        # Roundings differ in an instruction or two.
        Build("climb.cu", CLIMB_KERNELS[:1], {"CLIMB_ROUNDING": rounding}, False, ((9, 0),))
        for rounding in (0, 2, 3, 4)
    ),
    Build("climb_alone.cu", ALONE_KERNELS, {"CLIMB_ROUNDING": 1}, fmad=False),
    Build("climb_alone.cu", ALONE_KERNELS, {"CLIMB_ROUNDING": 0}, False, ((9, 0),)),
    Build("geometry.cu", GEOMETRY_KERNELS, fmad=False),
    Build(SYMMETRIC_SOURCE.file, SYMMETRIC_SOURCE.names, fmad=SYMMETRIC_SOURCE.fmad),
    Build(
        "candidates.cu",
        tuple(
            CANDIDATE_KERNEL.format(count=count, per_quadrant=per_quadrant, norm=norm)
            for count, per_quadrant in ((8, 2), (5, 0))
            for norm in (2, 1, 0)
        ),
        fmad=False,
    ),
    Build(PATHS.file, PATHS.names, fmad=PATHS.fmad),
    Build("lk.cu", KERNELS, lk_defines(Metric.EUC_2D)),
    *(
        # Metrics differ in a few instructions: one of them stands for all on other architectures, and on this
        # one each kind of distance is tried.
        Build("lk.cu", KERNELS, lk_defines(metric, dummy), architectures=((9, 0),))
        for metric, dummy in (
            (Metric.ATT, False),
            (Metric.MAX_2D, False),
            (Metric.EUC_2D, True),
            (Metric.GEO, False),
            (Metric.MAX_3D, False),
            (Metric.XRAY2, False),
            (Metric.EXPLICIT, False),
        )
    ),
    *(
        Build(
            FAST_FILE,
            FAST_KERNELS,
            {"TILE_ROUNDING": rounding, "RESIDENT_ROWS": 8 if rounding == 1 else 4},
            fmad=False,
            architectures=ARCHITECTURES if rounding == 0 else ((9, 0),),
        )
        for rounding in (0, 1, 2)
    ),
    Build(MAPPED_FILE, MAPPED_KERNELS, {"TILE_ROUNDING": 0}, fmad=False),
    Build(PRUNED_FILE, PRUNED_KERNELS, fmad=False),
    *(
        # Neighborhoods differ in what a move is, and the metrics are the same: one of them stands for all.
        Build(
            DESCENT,
            kind.exact_kernels,
            {"EXACT_BLOCK": BLOCK},
            fmad=False,
            architectures=ARCHITECTURES if kind.move == "TwoOpt" else ((9, 0),),
        )
        for kind in NEIGHBORHOODS
    ),
    *(
        Build(
            "neighbor.cu",
            NEIGHBOR_KERNELS,
            {"METRIC_KIND": kind},
            fmad=False,
            architectures=ARCHITECTURES if kind == 0 else ((9, 0),),
        )
        for kind in METRIC_KINDS
    ),
)
