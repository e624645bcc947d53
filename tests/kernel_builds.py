"""What is compiled of each kernel file to test it, and for which architectures."""

from dataclasses import dataclass

from warptsp.backends.cuda import plane_candidates, primitives
from warptsp.backends.cuda.batch import FILE as BATCH_FILE
from warptsp.backends.cuda.batch import batch_defines
from warptsp.backends.cuda.compiler import Source
from warptsp.backends.cuda.launch_plan import lk_defines
from warptsp.backends.cuda.source import NATIVE
from warptsp.papers.exhaustive.cuda_plan import (
    FAST_FILE,
    FAST_KERNELS,
    MAPPED_FILE,
    MAPPED_KERNELS,
    VERSION_KERNELS,
    VERSIONS_FILE,
)
from warptsp.papers.exhaustive.cuda_plan import FILE as DESCENT
from warptsp.papers.exhaustive.cuda_studies import FOLDED
from warptsp.papers.exhaustive.cuda_tuning import DESCENT_THREADS
from warptsp.papers.exhaustive.neighborhood import NEIGHBORHOODS
from warptsp.papers.hill_climbing.cuda_plan import STRIP_KERNEL, THREAD_VERSIONS, TOUR_OF
from warptsp.papers.hill_climbing.cuda_tuning import STRIPS
from warptsp.papers.neighbor_lists.cuda import CHAIN_KERNELS, MANY_KERNELS, PASS_KERNELS
from warptsp.papers.neighbor_lists.cuda_tuning import ILS_DEPTH
from warptsp.papers.symmetric import cuda_records as symmetric_records
from warptsp.problem import Metric

KERNEL_FILES = {path.name for path in NATIVE.rglob("*.cu")}
FEW, MANY = 16, 3000  # cities, on both sides of the limits of `RESIDENT_ROWS` and of batches
ARCHITECTURES = ((7, 5), (8, 0), (8, 6), (8, 9), (9, 0), (10, 0), (12, 0))
# The others differ in a few instructions of the distance.
METRIC_KINDS = (Metric.EUC_2D.kind, Metric.GEO.kind, Metric.XRAY1.kind, Metric.EXPLICIT.kind)
CLIMB_KERNELS = (
    *(STRIP_KERNEL.format(strip=strip) for strip in STRIPS),
    "climb<Intra>",
    "climb<Tiled>",
)
ALONE_KERNELS = (*THREAD_VERSIONS.values(), TOUR_OF)
NEIGHBOR_KERNELS = tuple(
    dict.fromkeys(
        name.format(three=three) for name in (*MANY_KERNELS, *CHAIN_KERNELS) for three in ("false", "true")
    )
)
PASSES = tuple(
    dict.fromkeys(name.format(three=three) for name in PASS_KERNELS for three in ("false", "true"))
)


@dataclass(frozen=True, slots=True)
class Build(Source):
    """Kernels of one file as `Device.module` takes them, and the architectures."""

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
    Build("geometry.cu", primitives.INSTANCES, fmad=False),
    Build(
        "candidates.cu",
        tuple(
            plane_candidates.KERNEL.format(
                count=count, per_sector=per_sector, norm=norm, dimensions=dimensions
            )
            for dimensions, count, per_sector in ((2, 8, 2), (2, 8, 1), (2, 5, 0), (3, 8, 1), (3, 5, 0))
            for norm in (2, 1, 0)
        ),
        fmad=False,
    ),
    Build("paths.cu", fmad=False),
    *(
        Build("bound.cu", (), {"METRIC_KIND": metric.kind}, False, architectures)
        for metric, architectures in ((Metric.EUC_2D, ARCHITECTURES), (Metric.MAX_2D, ((9, 0),)))
    ),
    Build("lk.cu", (), lk_defines(Metric.EUC_2D)),
    Build("lk.cu", (), lk_defines(Metric.EUC_2D, depth=ILS_DEPTH), architectures=((9, 0),)),
    *(
        # Metrics differ in a few instructions: one of them stands for all on other architectures, and on this
        # one each kind of distance is tried.
        Build("lk.cu", (), lk_defines(metric, dummy), architectures=((9, 0),))
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
    Build(BATCH_FILE, (), batch_defines(Metric.EXACT_2D, FEW)),
    *(
        Build(BATCH_FILE, (), batch_defines(metric, n), architectures=((9, 0),))
        for metric, n in ((Metric.EXACT_2D, MANY), (Metric.EXPLICIT, FEW))
    ),
    *(
        Build(
            FAST_FILE,
            FAST_KERNELS,
            {"TILE_ROUNDING": rounding, "RESIDENT_ROWS": 8 if rounding == 1 else 4, "METRIC_KIND": kind},
            fmad=False,
            architectures=ARCHITECTURES if rounding == 0 else ((9, 0),),
        )
        for rounding, kind in ((0, Metric.EXACT_2D.kind), (1, Metric.EUC_2D.kind), (2, Metric.ATT.kind))
    ),
    Build(MAPPED_FILE, MAPPED_KERNELS, {"TILE_ROUNDING": 0, "METRIC_KIND": Metric.EXACT_2D.kind}, fmad=False),
    *(
        Build(
            VERSIONS_FILE,
            tuple(name.format(version) for name in VERSION_KERNELS),
            {"METRIC_KIND": Metric.EXACT_2D.kind},
            fmad=False,
            architectures=ARCHITECTURES if version == FOLDED else ((9, 0),),
        )
        for version in range(1, FOLDED + 1)
    ),
    *(
        # Neighborhoods differ in what a move is, and the metrics are the same: one of them stands for all.
        Build(
            DESCENT,
            neighborhood.kernels,
            {"EXACT_BLOCK": DESCENT_THREADS, "METRIC_KIND": kind},
            fmad=False,
            architectures=ARCHITECTURES
            if neighborhood.move == "TwoOpt" and kind == Metric.EUC_2D.kind
            else ((9, 0),),
        )
        for neighborhood in NEIGHBORHOODS.values()
        for kind in METRIC_KINDS
    ),
    Build(
        "neighbor.cu",
        NEIGHBOR_KERNELS[:-2],
        {"METRIC_KIND": Metric.EUC_2D.kind, "NEXT_ONLY": 1},
        fmad=False,
        architectures=((9, 0),),
    ),
    *(
        Build(
            file,
            names,
            {"METRIC_KIND": kind},
            fmad=False,
            architectures=ARCHITECTURES if kind == Metric.EUC_2D.kind else ((9, 0),),
        )
        for file, names in (("neighbor.cu", NEIGHBOR_KERNELS), (symmetric_records.FILE, ()))
        for kind in METRIC_KINDS
    ),
    Build("neighbor.cu", PASSES, {"METRIC_KIND": Metric.EUC_2D.kind, "NEXT_ONLY": 1}, fmad=False),
    Build("neighbor.cu", PASSES, {"METRIC_KIND": Metric.EXPLICIT.kind}, False, ((9, 0),)),
)
