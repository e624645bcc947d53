"""Reading and writing instances and tours; ``docs/formats.md`` describes every format."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .instances import load, write_points, write_problem
from .registry import formats
from .tours import read_tour, write_tour

if TYPE_CHECKING:
    #: The formats that instances are read in, with the endings that mean them; otherwise the contents decide.
    FORMATS: dict[str, tuple[str, ...]]
    #: The formats that tours are written in, with the endings that mean them.
    TOUR_FORMATS: dict[str, tuple[str, ...]]

__all__ = ["FORMATS", "TOUR_FORMATS", "load", "read_tour", "write_points", "write_problem", "write_tour"]


def __getattr__(name: str) -> dict[str, tuple[str, ...]]:
    # Made when somebody asks, as all formats are imported for it.
    if name == "FORMATS":
        return {format.name: format.endings for format in formats() if format.read is not None}
    if name == "TOUR_FORMATS":
        return {format.name: format.tour_endings for format in formats() if format.write_tour is not None}
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
