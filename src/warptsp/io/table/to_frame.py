"""Tours as data frames: of pandas, and of GeoPandas with points or a line."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from warptsp._checks import not_installed
from warptsp.io.lines import line_of
from warptsp.io.places import degrees
from warptsp.problem import Problem
from warptsp.problem.itinerary import Schedule, Timing, length_of

from .tour_columns import tour_columns


def frame_of_tour(problem: Problem, tour: NDArray[np.int32], timing: Timing) -> Any:
    """The table of a tour; see `warptsp.Result.to_frame`."""
    try:
        import pandas
    except ImportError:
        raise not_installed("a data frame needs pandas", "geo") from None
    found = {}
    for column in tour_columns(problem, tour, timing):
        entries = column.entries(0, len(tour))
        found[column.title] = _spans(entries) if column.kind in ("time", "arrival") else entries
    return pandas.DataFrame(found, index=pandas.Index(tour, name="city"))


def _spans(seconds: list[float | None]) -> NDArray[np.timedelta64]:
    """Times in whole milliseconds; where there is none, or none that is so long, not a time."""
    spans = np.round(np.array(seconds, dtype=np.float64) * 1000.0)
    known = np.abs(spans) < 2.0**63
    return np.where(known, spans, np.nan).astype("timedelta64[ms]")


def geodataframe_of_tour(problem: Problem, tour: NDArray[np.int32], timing: Timing, *, line: bool) -> Any:
    """The tour for maps; see `warptsp.Result.to_geodataframe`."""
    try:
        import geopandas
        import shapely
    except ImportError:
        raise not_installed("a GeoDataFrame needs GeoPandas", "geo") from None
    in_plane = problem.crs is not None and not problem.geographic
    system = problem.crs if in_plane else "EPSG:4326"
    if in_plane:
        places = problem.given_coordinates()[tour][:, :2]
    else:
        places = degrees(problem, "a GeoDataFrame")[tour][:, ::-1]
    if not line:
        frame = frame_of_tour(problem, tour, timing)
        return geopandas.GeoDataFrame(frame, geometry=geopandas.points_from_xy(*places.T), crs=system)
    if in_plane:
        closed = problem.open is None or len(places) == 1
        parts = [np.concatenate([places, places[:1]]) if closed else places]
    else:
        parts = [np.array(part)[:, ::-1] for part in line_of(problem, tour, "a GeoDataFrame")]
    shape = shapely.LineString(parts[0]) if len(parts) == 1 else shapely.MultiLineString(parts)
    row: dict[str, Any] = {"name": problem.name, "cities": problem.n, "length": length_of(problem, tour)}
    row["unit"] = problem.unit
    if (schedule := Schedule.of(problem, tour, timing)) is not None:
        row["seconds"] = float(schedule.seconds[-1])
    return geopandas.GeoDataFrame([row], geometry=[shape], crs=system)
