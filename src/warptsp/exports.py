"""What a result is turned into: times, files, pictures, pages, data frames; mostly by upper layers."""

from __future__ import annotations

import os
from datetime import time
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from warptsp._offers import find
from warptsp.problem import KnownLength, Problem
from warptsp.problem.itinerary import Itinerary, Schedule, Timing

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Exports:
    """What is made of a tour; `Result` says what its parts are."""

    __slots__ = ()

    problem: Problem
    tour: NDArray[np.int32]
    known: KnownLength | None
    history: Any
    seconds: float
    snapshots: Any

    @property
    def legs(self) -> NDArray[np.int64] | NDArray[np.float64]:
        """The distance from each city of the tour to the next.

        Of a closed tour, shape (n,), the last leads back to the first city; a path, shape (n - 1,), has none
        there.
        """
        return Itinerary.of(self.problem, self.tour).legs

    @property
    def cumulative(self) -> NDArray[np.int64] | NDArray[np.float64]:
        """The distance from the first city of the tour to each, along the tour; shape (n,)."""
        return Itinerary.of(self.problem, self.tour).cumulative

    def schedule(
        self, *, speed: float | None = None, stop_time: float = 0.0, depart: str | float | time | None = None
    ) -> Schedule | None:
        """Return when the tour is where.

        Parameters
        ----------
        speed : float, optional
            Kilometres per hour, for lengths in metres or kilometres. A table of durations needs none.
        stop_time : float
            Seconds at each city between the first one and the end.
        depart : str, float or datetime.time, optional
            When the first city is left: ``"08:00"``, or seconds after midnight.

        Returns
        -------
        Schedule or None
            Seconds of each leg and to each city; None without a speed where lengths are not durations.

        Raises
        ------
        InvalidOption
            Nothing gives these times, or they are no times.
        """
        return Schedule.of(self.problem, self.tour, Timing(speed, stop_time, depart))  # type: ignore[arg-type]

    def save(self, path: str | os.PathLike[str], *, format: str | None = None, **timing: Any) -> None:
        """Write the tour; the ending of the name sets the format (see docs/formats.md), .svg and .png draw
        it, and .html is the page that `report` writes.

        Parameters
        ----------
        path : str or os.PathLike
            ``-`` is standard output.
        format : str, optional
            One of ``warptsp.io.TOUR_FORMATS``, whatever the ending of the name.
        **timing
            ``speed``, ``stop_time`` and ``depart`` as `schedule` takes them: tables, GeoJSON and the page say
            when the tour is where.

        Raises
        ------
        OutputError
            If the file cannot be written or the format is unknown.
        """
        from warptsp.endings import PAGES, PICTURES, ends_in
        from warptsp.io import write_tour

        if format is None and ends_in(path, PICTURES):
            Timing(**timing)  # which a picture has no place for
            find("picture")(path, self.problem, self.tour)
        elif format is None and ends_in(path, PAGES):
            self.report(path, **timing)
        else:
            write_tour(path, self.tour, self.problem, format=format, **timing)

    def report(
        self, path: str | os.PathLike[str], *, tiles: str | None = None, attribution: str = "", **timing: Any
    ) -> None:
        """Write a page about the run, tour and snapshots in it, that browsers open without a network.

        Parameters
        ----------
        path : str or os.PathLike
        tiles : str, optional
            Address of map tiles with ``{z}``, ``{x}`` and ``{y}``, which the page loads from there when its
            reader asks for the map; without, it loads nothing.
        attribution : str, optional
            Makers of the map, as the page names them.
        **timing
            ``speed``, ``stop_time`` and ``depart`` as `schedule` takes them, for its list of stops.

        Raises
        ------
        InvalidOption
            Nothing gives these times, or the tiles are no map, or none of these cities.
        UnsupportedProblem
            If there are too many cities for a page.
        OutputError
            If the file cannot be written.
        """
        Timing(**timing).check(self.problem)
        find("report")(self, path, tiles=tiles, attribution=attribution, **timing)

    def plot(self, path: str | os.PathLike[str] | None = None, **options: Any) -> Figure:
        """Draw the run with matplotlib: the tour, the gap over time, and with snapshots the start tour.

        Parameters
        ----------
        path : path, optional
            File to write: ``.png``, ``.svg`` or ``.pdf``.
        **options
            Those of `warptsp.plot`, which also says what is returned and raised.
        """
        if len(self.snapshots) > 1:
            options.setdefault("start", self.snapshots[0].tour)
        figure: Figure = find("figure")(
            self.problem,
            self.tour,
            path,
            **{"history": self.history, "seconds": self.seconds, "known": self.known, **options},
        )
        return figure

    def to_frame(self, **timing: Any) -> Any:
        """Return a pandas data frame with a row for each city in visiting order.

        Its columns are those of a table of the tour (docs/formats.md), times as ``timedelta`` by arguments
        as `schedule` takes them; the index has the cities, counted from 0.
        """
        from warptsp.io.table.to_frame import frame_of_tour

        return frame_of_tour(self.problem, self.tour, Timing(**timing))

    def to_geodataframe(self, *, line: bool = False, **timing: Any) -> Any:
        """Return the tour for maps, in the coordinate reference system of its cities.

        Parameters
        ----------
        line : bool
            One row with the tour as a line and its length, instead of a row and a point for each city.
        **timing
            ``speed``, ``stop_time`` and ``depart`` as `schedule` takes them.

        Returns
        -------
        geopandas.GeoDataFrame
            In ``EPSG:4326`` where cities have latitudes and longitudes; InvalidOption where it is unknown
            where on the Earth they are.
        """
        from warptsp.io.table.to_frame import geodataframe_of_tour

        return geodataframe_of_tour(self.problem, self.tour, Timing(**timing), line=line)
