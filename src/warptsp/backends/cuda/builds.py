"""What is compiled from each kernel file: CI compiles all of it for every architecture, without a GPU."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

ARCHITECTURES = ((7, 5), (8, 0), (8, 6), (8, 9), (9, 0), (10, 0), (12, 0))


@dataclass(frozen=True, slots=True)
class Build:
    """Kernels of one file as `Device.module` takes them."""

    file: str
    names: tuple[str, ...]
    defines: Mapping[str, int | str] = field(default_factory=dict)
    fmad: bool = True


BUILDS: tuple[Build, ...] = ()
