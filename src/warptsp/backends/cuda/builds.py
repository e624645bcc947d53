"""What is compiled from each kernel file: CI compiles all of it for every architecture, without a GPU."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from warptsp.backends.cuda.geometry import CANDIDATE_KERNEL, GEOMETRY_KERNELS
from warptsp.backends.cuda.search import CANDIDATES, KERNELS, ROUNDINGS

ARCHITECTURES = ((7, 5), (8, 0), (8, 6), (8, 9), (9, 0), (10, 0), (12, 0))


@dataclass(frozen=True, slots=True)
class Build:
    """Kernels of one file as `Device.module` takes them."""

    file: str
    names: tuple[str, ...]
    defines: Mapping[str, int | str] = field(default_factory=dict)
    fmad: bool = True
    architectures: tuple[tuple[int, int], ...] = ARCHITECTURES


BUILDS: tuple[Build, ...] = (
    Build("geometry.cu", GEOMETRY_KERNELS, fmad=False),
    Build(
        "candidates.cu",
        tuple(
            CANDIDATE_KERNEL.format(count=count, per_quadrant=per_quadrant, norm=norm)
            for count, per_quadrant, norm in ((8, 1, 2), (10, 2, 2), *((5, 0, norm) for norm in (2, 1, 0)))
        ),
        fmad=False,
    ),
    *(
        # Roundings differ in a few instructions of the metric: one of them stands for all.
        Build(
            "lk.cu",
            KERNELS,
            {"LK_CANDIDATES": CANDIDATES, "LK_ROUNDING": rounding},
            architectures=ARCHITECTURES if rounding == 1 else ((9, 0),),
        )
        for rounding in ROUNDINGS.values()
    ),
)
