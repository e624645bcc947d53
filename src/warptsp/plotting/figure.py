"""Figures of tours and runs with matplotlib, which is imported when one is made: panels, curves, PDF."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from warptsp._checks import checked_count, shown
from warptsp._words import as_called, counted
from warptsp.endings import FIGURES, ends_in
from warptsp.errors import BackendUnavailable, InvalidOption
from warptsp.machine import available_threads
from warptsp.outputs import atomic_write
from warptsp.plotting.plane import PANEL, check_has_places, city_plane, tour_edges
from warptsp.plotting.raster import MIN_EXTENT
from warptsp.problem.checks import bounds_of
from warptsp.problem.itinerary import length_of
from warptsp.progress import relative_gap
from warptsp.quantities import format_gap, length_text
from warptsp.text import printable

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike, NDArray

    from warptsp.plotting.plane import Edges
    from warptsp.problem import KnownLength, Problem

_Rectangle = tuple[float, float, float, float]  # left, bottom, width and height, as shares of the figure

PANELS = ("start", "tour", "difference", "gap")

DPI = 200
# Inches.
NARROWEST = 3.0
CURVE = 2.0  # its height
TITLE = 0.36
LEGEND = 0.36
LABELS = 0.6  # beside the curve
MARGIN = 0.16


def plot(
    problem: Problem,
    tour: ArrayLike,
    path: str | os.PathLike[str] | None = None,
    *,
    start: ArrayLike | None = None,
    history: Iterable[tuple[float, int | float]] | None = None,
    seconds: float | None = None,
    known: KnownLength | None = None,
    panels: Sequence[str] | None = None,
    title: str | None = None,
    size: int | None = None,
    figure: Any = None,
) -> Figure:
    """Draw a tour, and next to it how it was found, with matplotlib (``pip install 'warptsp[plot]'``).

    Parameters
    ----------
    problem : Problem
        The instance; its coordinates, or display coordinates, are drawn. Latitudes point up, and longitudes
        are shortened by the cosine of the mean latitude. Cities in space are seen from above.
    tour : array_like of int, shape (n,)
        The cities, numbered from 0, in visiting order; checked.
    path : path, optional
        File to write: ``.png``, ``.svg`` or ``.pdf``.
    start : array_like of int, shape (n,), optional
        An earlier tour of the same cities.
    history : iterable of (seconds, length), optional
        The improvements, in order of time, such as those of a `Result`.
    seconds : float, optional
        When the run ended; by default at the last improvement.
    known : KnownLength, optional
        The optimal or best known length; by default that of the instance.
    panels : sequence of str, optional
        Of ``"start"``, ``"tour"``, ``"difference"`` (the edges that only one of the tours has) and ``"gap"``
        (the gap over time, or the length if no optimum is known). By default ``"tour"``, and ``"start"`` and
        ``"gap"`` where they are given.
    title : str, optional
        Line above the figure; by default name and number of cities.
    size : int, optional
        Pixels of the figure's longer side; by default 200 per inch, and five inches per tour.
    figure : Figure or SubFigure, optional
        The figure to draw into, such as one of pyplot's; by default a new one that is independent of pyplot.

    Returns
    -------
    Figure
        A matplotlib figure that you may change; a notebook shows it.

    Raises
    ------
    BackendUnavailable
        If matplotlib is not installed.
    InvalidOption, UnsupportedProblem, InvalidTour, OutputError
        If the ending or a panel is unknown, a panel has no data, there are no coordinates, the tour is
        invalid, or the file cannot be written.
    """
    check_figure(problem, path)
    improvements = [] if history is None else list(history)
    chosen = _checked_panels(panels, start is not None, improvements)
    if size is not None:
        size = checked_count("size", size, minimum=100, what="a number of pixels, 100 or more")
    known = problem.known_length if known is None else known
    plane = city_plane(problem)
    drawn = _drawn(problem, tour, known)
    before = drawn if start is None else _drawn(problem, start, known)
    low, high = _limits(plane)

    from warptsp.plotting.curve import draw_curve
    from warptsp.plotting.maps import TourFigure, draw_difference, draw_tour

    maps = [panel for panel in chosen if panel != "gap"]
    width, height, places, below = _layout(
        high - low, len(maps), legend="difference" in chosen, curve="gap" in chosen
    )
    if figure is None:
        dpi = DPI if size is None else size / max(width, height)
        figure = TourFigure(figsize=(width, height), dpi=dpi)
    if title is None:
        title = f"{problem.name or 'Tour'}, {counted(problem.n)}"
    style = {"size": 12, "ha": "center", "va": "center", "parse_math": False}
    figure.text(0.5, 1 - 0.5 * TITLE / height, printable(title), **style)
    first = None
    for panel, place in zip(maps, places, strict=True):
        # Shared axes: zooming into one tour zooms the other to the same place.
        axes = figure.add_axes(place, sharex=first, sharey=first)
        first = first or axes
        axes.set_xlim(low[0], high[0])
        axes.set_ylim(low[1], high[1])
        edges, words = before if panel == "start" else drawn
        if panel == "difference":
            draw_difference(axes, problem, plane, before[0], edges)
            words = "Difference"
        else:
            draw_tour(axes, problem, plane, edges)
            words = f"{panel.capitalize()}: {words}" if len(maps) > 1 else words
        axes.set_title(words, size=10, parse_math=False)
    if "gap" in chosen:
        draw_curve(figure.add_axes(below), improvements, seconds, known)
    if path is not None:
        save(figure, path)
    return figure  # type: ignore[no-any-return, unused-ignore]


def check_figure(problem: Problem, path: str | os.PathLike[str] | None) -> None:
    """Make sure that a figure of this problem can be made, and written into this kind of file.

    Raises what `plot` raises for another ending, without coordinates and without matplotlib.
    """
    if path is not None and not ends_in(path, FIGURES):
        raise InvalidOption(f"figure: {os.fspath(path)!r} ends in none of .png, .svg and .pdf")
    check_has_places(problem)
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise BackendUnavailable(
            f"a figure needs matplotlib, which cannot be imported ({error}): pip install 'warptsp[plot]'; "
            f"{as_called('Result.save draws', 'warptsp plot and --picture draw')} a single tour as .svg or "
            ".png without it"
        ) from error


def save(figure: Any, path: str | os.PathLike[str]) -> None:
    """Write a figure whole or not at all; equal figures give equal bytes."""
    import matplotlib

    kind = Path(path).suffix.lower()[1:]
    undated = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(kind)
    while (parent := getattr(figure, "_parent", None)) is not None:  # a SubFigure
        figure = parent
    with atomic_write(path) as stream, matplotlib.rc_context({"svg.hashsalt": "warptsp"}):
        figure.savefig(stream, format=kind, dpi=figure.dpi, metadata=undated)


def _drawn(problem: Problem, tour: ArrayLike, known: KnownLength | None) -> tuple[Edges, str]:
    """Return the edges of a tour, which is checked, and what is said about it."""
    threads = available_threads()
    problem.check_tour(tour, threads=threads)
    length = length_of(problem, np.asarray(tour, dtype=np.int32), threads=threads)
    gap = relative_gap(length, None if known is None else known.length)
    words = f"length {length_text(length, problem.unit)}" + (
        "" if gap is None else f", gap {format_gap(gap)}"
    )
    return tour_edges(problem, np.asarray(tour, dtype=np.int32)), words


def _checked_panels(
    panels: Sequence[str] | None, start: bool, history: Sequence[tuple[float, int | float]]
) -> tuple[str, ...]:
    if panels is None:
        return tuple(["start"] * start + ["tour"] + ["gap"] * (len(history) > 1))
    if isinstance(panels, str):
        panels = [panels]
    if not panels:
        raise InvalidOption(f"panels: none is given; choose from {', '.join(PANELS)}")
    for panel in panels:
        if panel not in PANELS:
            raise InvalidOption(f"panel {shown(panel)}: choose from {', '.join(PANELS)}")
        if panel in ("start", "difference") and not start:
            raise InvalidOption(
                f"panel {shown(panel)}: there is no start tour; give start=, or solve with snapshots=2 "
                "or more"
            )
        if panel == "gap" and not history:
            raise InvalidOption(
                "panel 'gap': there is no history of lengths; plot a Result, or give history="
            )
    return tuple(panel for panel in PANELS if panel in panels)


def _limits(plane: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the corners of what is shown: all cities, and some room around them."""
    low, high = bounds_of(plane)
    reach, extent = float(np.maximum(np.abs(low), np.abs(high)).max()), float((high - low).max())
    # Nearer places Matplotlib cannot tell apart; else all cities are at one place.
    longest = max(extent, 1e-12 * reach) if extent > MIN_EXTENT else max(1.0, 1e-3 * reach)
    room = np.maximum(0.02 * longest, 0.1 * longest - 0.5 * (high - low))
    return low - room, high + room


def _layout(
    extent: NDArray[np.float64], maps: int, *, legend: bool, curve: bool
) -> tuple[float, float, list[_Rectangle], _Rectangle]:
    """Return width and height in inches, and where the tours lie, side by side, and below them the curve."""
    map_width, map_height = (float(side) for side in PANEL * extent / extent.max())
    map_width = max(map_width, NARROWEST)  # words need some width, too
    width = maps * (map_width + MARGIN) + MARGIN
    height = TITLE
    if maps:
        height += TITLE + map_height + (LEGEND if legend else MARGIN)
    if curve:
        width = max(width, PANEL + 2 * LABELS)
        height += TITLE + CURVE + 2 * MARGIN

    def shares(left: float, bottom: float, wide: float, high: float) -> _Rectangle:
        return left / width, bottom / height, wide / width, high / height

    first = (width - maps * (map_width + MARGIN) + MARGIN) / 2
    tours = [
        shares(first + column * (map_width + MARGIN), height - 2 * TITLE - map_height, map_width, map_height)
        for column in range(maps)
    ]
    return width, height, tours, shares(LABELS, 2 * MARGIN, width - LABELS - 2 * MARGIN, CURVE)
