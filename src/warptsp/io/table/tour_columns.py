"""The columns of a tour in a table, of any kind: text, workbook, data frame."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from warptsp.io._text import whole_if_possible
from warptsp.io.places import degrees
from warptsp.problem import Problem
from warptsp.problem.itinerary import Schedule, Timing, distances
from warptsp.problem.origin import METRES, TableStyle

from .titles import free_title

POSITION, PATH_POSITION = "position", "path_position"
"""The first column of a tour: of a closed one, or of an open path."""
FROM_START, TO_NEXT = "distance_from_start", "distance_to_next"
ARRIVAL, TIME, TIME_TO_NEXT = "arrival", "time_from_start", "time_to_next"
TO_THE_NEXT = (TO_NEXT, f"{TO_NEXT}_km", TIME_TO_NEXT)
"""Of which each tour has one."""
OF_TOUR = (POSITION, PATH_POSITION, FROM_START, f"{FROM_START}_km", ARRIVAL, TIME, *TO_THE_NEXT)
"""The columns that say where a city is in a tour, and nothing about the city."""
_OWN = (*OF_TOUR, "id", "name", "lat", "lon", "x", "y", "z")


class Column(NamedTuple):
    """A column: its title, what is in it, and the entries of some rows, from one to before another.

    That is ``whole`` numbers, ``place`` for coordinates, ``name``, ``text`` for all else that cities have,
    ``distance``, ``time`` in seconds from the start or ``arrival`` in seconds after midnight; or None.
    """

    title: str
    kind: str
    entries: Callable[[int, int], list[Any]]


def tour_columns(problem: Problem, tour: NDArray[np.int32], timing: Timing) -> list[Column]:
    """The cities in visiting order: position, id, what the instance has, distances and times.

    The columns of the table that the instance comes from have their titles and their order.
    """
    own = _of_cities(problem, tour)
    return [
        Column(
            POSITION if problem.open is None else PATH_POSITION,
            "whole",
            lambda begin, end: list(range(begin + 1, end + 1)),
        ),
        *own,
        *_of_travel(problem, tour, timing),
    ]


def _of_cities(problem: Problem, tour: NDArray[np.int32]) -> list[Column]:
    style, extra = problem.style or TableStyle(), problem.extra or {}
    axes = axes_of(problem)
    roles = ["id", *(["name"] if problem.labels is not None else []), *axes]
    theirs = [
        (title, role) for title, role in style.columns if role in roles or (not role and title in extra)
    ]
    held = {role for _, role in theirs}
    ours = [role for role in roles if role not in held]
    places = places_of(problem)
    titles, found = {*extra, *(title for title, _ in style.columns)}, []

    def add(title: str, role: str, taken: Sequence[str]) -> None:
        name = title
        if title.strip().lower() in taken:
            # Names keep a title that says so.
            name = "name" if role == "name" and "name" not in titles else free_title(title, titles)
            titles.add(name)
        if role in axes:
            assert places is not None
            values = whole_if_possible(places[:, axes.index(role)] + 0.0)
            found.append(Column(name, "place", lambda a, b: values[tour[a:b]].tolist()))
        elif role == "id":
            found.append(Column(name, "whole", lambda a, b: problem.ids_of(tour[a:b]).tolist()))
        else:
            column: Any = extra[title] if not role else problem.labels or ()
            if isinstance(column, list):  # which NumPy picks from in half the time
                column = np.fromiter(column, dtype=np.object_, count=len(column))
            found.append(Column(name, role or "text", lambda a, b: _taken(column, tour[a:b])))

    for role in ours:
        add(role, role, ())
    for title, role in theirs:
        add(title, role, (*OF_TOUR, *ours))
    for title in extra:
        if (title, "") not in theirs:
            add(title, "", _OWN)
    return found


def places_of(problem: Problem) -> NDArray[np.float64] | None:
    """What a tour's columns have for the axes, shape (n, k); None if the instance has no coordinates."""
    return degrees(problem, "CSV") if problem.geographic and axes_of(problem) else problem.coordinates


def axes_of(problem: Problem) -> list[str]:
    """What the coordinates of an instance are called."""
    if problem.geographic:
        return ["lat", "lon"]
    return ["x", "y", "z"][: problem.metric.dimensions]


def _of_travel(problem: Problem, tour: NDArray[np.int32], timing: Timing) -> list[Column]:
    """How far it is, and when the tour is where; nothing leads on from the end of a path."""
    n, schedule, found = len(tour), Schedule.of(problem, tour, timing), distances(problem, tour)

    def column(title: str, kind: str, values: NDArray[Any]) -> Column:
        def entries(begin: int, end: int) -> list[Any]:
            return [*values[begin:end].tolist(), *[None] * (end - max(begin, len(values)))][: end - begin]

        return Column(title, kind, entries)

    columns = []
    onward = []
    if found is not None:
        itinerary, unit = found
        in_km = "_km" if unit in METRES else ""
        from_start, to_next = (
            np.round(lengths / 1000.0, 3) if unit == "m" else lengths
            for lengths in (itinerary.cumulative, itinerary.legs)
        )
        columns.append(column(FROM_START + in_km, "distance", from_start))
        onward.append(column(TO_NEXT + in_km, "distance", to_next))
    if schedule is not None:
        columns.append(column(TIME, "time", schedule.seconds[:n]))
        onward.append(column(TIME_TO_NEXT, "time", schedule.legs))
        if schedule.depart is not None:
            columns.insert(0, column(ARRIVAL, "arrival", schedule.seconds[:n] + schedule.depart))
    return [*columns, *onward]


def _taken(column: Sequence[Any], cities: NDArray[np.int32]) -> list[Any]:
    """What a column of the instance has for these cities."""
    if isinstance(column, np.ndarray):
        return list(column[cities].tolist())
    return [column[city] for city in cities.tolist()]
