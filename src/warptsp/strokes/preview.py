"""A picture of strokes and of the travel between them, before and after, as SVG."""

import os
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from warptsp.errors import InvalidOption
from warptsp.outputs import write_whole
from warptsp.strokes.model import Path
from warptsp.strokes.plan import Plan, travel_points

_SIDE = 800.0  # user units of the longer side of a panel
_GAP = 24.0
_STROKE, _TRAVEL, _TEXT = "#1f4e79", "#d9480f", "#444444"
_DIGITS = 1


def write_preview(
    path: str | os.PathLike[str],
    paths: Sequence[Path],
    plan: Plan,
    *,
    y_up: bool = True,
    outlines: Sequence[Path] | None = None,
) -> None:
    """Write `preview` to a file, whose name ends in .svg."""
    if not os.fspath(path).lower().endswith(".svg"):
        raise InvalidOption(f"{os.fspath(path)}: the name of a preview must end in .svg")
    write_whole(path, preview(paths, plan, y_up=y_up, outlines=outlines))


def preview(
    paths: Sequence[Path], plan: Plan, *, y_up: bool = True, outlines: Sequence[Path] | None = None
) -> str:
    """Two panels, the given order to the left and the plan to the right: strokes blue, travel orange.

    Parameters
    ----------
    paths : sequence of ndarray, shape (k, 2) or (k, 3)
        Those that the plan is of.
    plan : Plan
    y_up : bool
        Whether y grows upwards; in SVG files it does not.
    outlines : sequence of ndarray, optional
        The strokes as they look, where `paths` has only the points where they may be entered.

    Returns
    -------
    str
        An SVG document.
    """
    given = [np.asarray(path)[:, :2] for path in paths]
    after = [path[:, :2] for path in plan.drawn(list(paths))]
    home = None if plan.home is None else plan.home[:2]
    shown = given if outlines is None else [np.asarray(outline)[:, :2] for outline in outlines]
    every = np.concatenate([*shown, np.empty((0, 2)) if home is None else home[None]])
    low, high = every.min(axis=0), every.max(axis=0)
    scale = _SIDE / max(float((high - low).max()), 1e-300)
    width, height = (high - low) * scale
    flip = np.array([1.0, -1.0 if y_up else 1.0])
    corner = np.array([low[0], high[1] if y_up else low[1]])

    def placed(points: NDArray[np.float64]) -> NDArray[np.float64]:
        result: NDArray[np.float64] = (points - corner) * flip * scale
        return result

    panels = []
    titles = (("before", plan.travel_before), ("after", plan.travel))
    for number, (drawn, (title, travel)) in enumerate(zip((given, after), titles, strict=True)):
        starts, ends = travel_points(drawn, home, plan.back)
        strokes = "".join(_line(placed(path)) for path in shown)
        moves = "".join(_line(placed(np.array([a, b]))) for a, b in zip(starts, ends, strict=True))
        unit = f" {plan.machine.unit}" if plan.machine.unit else ""
        panels.append(
            f'<g transform="translate({number * (width + _GAP):.1f} 0)" fill="none" stroke-linecap="round">'
            f'<path d="{moves}" stroke="{_TRAVEL}" stroke-width="1"/>'
            f'<path d="{strokes}" stroke="{_STROKE}" stroke-width="1.6"/>'
            f'<text y="{height + 18:.1f}" font-size="14" font-family="sans-serif" fill="{_TEXT}">'
            f"travel {title}: {travel:.6g}{unit}</text></g>"
        )
    total, down = 2 * width + _GAP, height + 24
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="-6 -6 {total + 12:.1f} {down + 12:.1f}" '
        f'width="{total + 12:.0f}" height="{down + 12:.0f}">' + "".join(panels) + "</svg>\n"
    )


def _line(points: NDArray[np.float64]) -> str:
    """Path data; a point is a line to itself, which round ends make a dot."""
    if len(points) == 1:
        points = np.repeat(points, 2, axis=0)
    return "M" + "L".join(f"{x:.{_DIGITS}f} {y:.{_DIGITS}f}" for x, y in points.tolist())
