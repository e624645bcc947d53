"""The page of strokes: a drawing in the order of its file and in the new one, with the travel between."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import numpy as np

from warptsp.outputs import write_whole
from warptsp.plotting.packed import packed_integers
from warptsp.report.document import assembled, program
from warptsp.report.plane import BITS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from warptsp.strokes import Plan

SCRIPTS = ("data.js", "viewer.js", "painters.js", "view.js", "strokes.js")


def write_strokes(
    path: str | os.PathLike[str],
    paths: Sequence[NDArray[np.float64]],
    plan: Plan,
    *,
    title: str = "Strokes",
    unit: str = "",
    y_up: bool = True,
) -> None:
    """Write the page of a plan of these paths into a file; their coordinates are in `unit`.

    `y_up` says whether y grows upwards, which it does not in SVG files.
    """
    orders = {"before": list(paths), "after": plan.drawn(list(paths))}
    lines = {name: _line(order, plan) for name, order in orders.items()}
    every = np.concatenate([points for points, _ in lines.values()])
    if not y_up:
        every[:, 1] *= -1.0
    low = every.min(axis=0)
    step = max(float(np.ptp(every, axis=0).max()), 1e-300) / (2**BITS - 1)
    arrays = {}
    for name, (points, travel) in lines.items():
        steps = np.rint((points * [1.0, 1.0 if y_up else -1.0] - low) / step).astype(np.int64)
        arrays[f"x-{name}"] = packed_integers(steps[:, 0], differences=True)
        arrays[f"y-{name}"] = packed_integers(steps[:, 1], differences=True)
        arrays[f"travel-{name}"] = packed_integers(travel, differences=False)
    facts = {"title": title, "figures": plan.facts(unit), "unit": unit, "step": step}
    write_whole(path, assembled("strokes", [program(SCRIPTS)], facts, arrays))


def _line(drawn: Sequence[NDArray[np.float64]], plan: Plan) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Every vertex in the order of drawing, seen from above, and whether the tool travels to it."""
    stops = [path[:, :2] for path in drawn]
    if plan.home is not None:
        stops = [plan.home[None, :2], *stops, *([plan.home[None, :2]] if plan.back else [])]
    points = np.concatenate(stops)
    travel = np.zeros(len(points), dtype=np.int64)
    travel[np.cumsum([len(stop) for stop in stops])[:-1]] = 1
    return points, travel
