"""Coordinates that may be degrees though nobody says so: of those the caller is asked or warned."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from warptsp.io.options import ReadOptions, as_columns
from warptsp.problem.doubts import look_like_degrees

from .columns import Columns


def doubt_about_degrees(columns: Columns, points: NDArray[np.float64], options: ReadOptions) -> str | None:
    """A warning if coordinates that the table calls x and y look like degrees; None if nobody need doubt."""
    if (
        columns.metric.geographic
        or columns.said
        or options.parsed is not None
        or not look_like_degrees(points)
    ):
        return None
    x, y = (columns.as_options()[axis] for axis in "xy")
    return (
        f"columns {x} and {y} look like degrees, but are taken for x and y: "
        f"{way_out_of_degrees(columns, points)}"
    )


def way_out_of_degrees(columns: Columns, points: NDArray[np.float64]) -> str:
    """How the caller says whether coordinates of the plane are degrees, for the end of a message."""
    named = columns.as_options()
    x, y = named["x"], named["y"]
    # In tables with names x goes to the east; without, latitudes mostly stand first.
    lat, lon = (x, y) if columns.titles is None else (y, x)
    high = np.abs(points[:, :2]).max(axis=0)
    if high[0 if lat == x else 1] > 90.0:
        lat, lon = lon, lat
    either = " (or the reverse)" if high.max() <= 90.0 else ""
    return f"give {as_columns(lat=lat, lon=lon)}{either} for great circles, or {as_columns(x=x, y=y)}"
