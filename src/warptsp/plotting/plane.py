"""Where the cities of an instance are drawn, and which of its edges."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from warptsp._words import as_called
from warptsp.errors import UnsupportedProblem
from warptsp.io.places import degrees
from warptsp.problem import Problem

PANEL = 5.0  # inches: the longer side of a tour in a figure


class Edges(NamedTuple):
    """Edges between cities numbered from 0: two arrays of int32 of one length."""

    begins: NDArray[np.int32]
    ends: NDArray[np.int32]


def check_has_places(problem: Problem) -> None:
    """Raise `UnsupportedProblem` if an instance has no coordinates to draw, such as a bare matrix."""
    if problem.plot_points is None:
        called = f" {problem.name}" if problem.name else ""
        raise UnsupportedProblem(
            f"picture: the instance{called} has distances but no coordinates to draw; "
            "TSPLIB files can carry them in a DISPLAY_DATA_SECTION"
            f"{as_called(', Problem.from_matrix takes display=...', '')}"
        )


def city_plane(problem: Problem) -> NDArray[np.float64]:
    """Return where to draw the cities, shape (n, 2): x to the right, y upwards, one scale for both.

    Latitudes point up, and longitudes are shortened by the cosine of the mean latitude. Cities in space are
    seen from above. Raises `UnsupportedProblem` if the instance has no coordinates.
    """
    check_has_places(problem)
    if drawn_on_earth(problem):
        latitude, longitude = degrees(problem, "picture").T
        return np.column_stack((unrolled(longitude) * degree_of(latitude), latitude))
    return np.ascontiguousarray(problem.plot_points)


def drawn_on_earth(problem: Problem) -> bool:
    """Whether the places where the cities are drawn are latitudes and longitudes."""
    return problem.metric.geographic if problem.display is None else problem.display_degrees


def degree_of(latitude: NDArray[np.float64]) -> float:
    """Return the width of a degree of longitude, where one of latitude is 1 high."""
    return float(np.cos(np.radians(latitude.mean())))


def unrolled(longitude: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return longitudes that grow from the end of the widest band without cities on.

    The globe is cut open there, so that no short edge crosses the picture. The first one lies from -180 to
    180 degrees.
    """
    around = np.mod(longitude, 360.0)
    ordered = np.sort(around)
    gaps = np.diff(np.append(ordered, ordered[0] + 360.0))
    west = ordered[(int(np.argmax(gaps)) + 1) % len(ordered)]
    eastward = np.where(around >= west, around, around + 360.0)
    return eastward - 360.0 if west > 180.0 else eastward


def tour_edges(problem: Problem, tour: NDArray[np.int32]) -> Edges:
    """Return the edges of a tour, or of a path if the instance is open, in the order of the tour."""
    cities = np.ascontiguousarray(tour, dtype=np.int32)
    if problem.open is None:
        return Edges(cities, np.roll(cities, -1))
    return Edges(cities[:-1], cities[1:])


def around_the_world(
    problem: Problem, plane: NDArray[np.float64], edges: Edges
) -> tuple[NDArray[np.float64], Edges]:
    """Return edges that go the short way around the globe, and the points that they join.

    An edge over the line where the globe is cut open is drawn twice: it leaves the picture at one side, and
    comes in at the other. Its far ends are points behind those of the cities, outside the picture.
    """
    if not drawn_on_earth(problem):
        return plane, edges
    world = np.array([360.0 * degree_of(plane[:, 1]), 0.0])
    eastward = plane[edges.ends, 0] - plane[edges.begins, 0]
    over = np.flatnonzero(np.abs(eastward) > world[0] / 2)
    if not len(over) or not world[0] > 0.0:
        return plane, edges
    side = np.sign(eastward[over])[:, None] * world
    begins, ends = edges.begins[over], edges.ends[over]
    behind = np.arange(len(plane), len(plane) + 2 * len(over), dtype=np.int32)
    points = np.concatenate((plane, plane[ends] - side, plane[begins] + side))
    onward = edges.ends.copy()
    onward[over] = behind[: len(over)]
    return points, Edges(
        np.append(edges.begins, behind[len(over) :]).astype(np.int32),
        np.append(onward, ends).astype(np.int32),
    )


def fixed_edges(problem: Problem) -> Edges:
    """Return the edges that every tour of this instance has."""
    return Edges(*(np.ascontiguousarray(side) for side in problem.fixed_edges.T))


def edges_missing_in(edges: Edges, other: Edges, cities: int) -> NDArray[np.bool_]:
    """Tell which of the edges of a tour another tour of the same cities lacks, in either direction."""
    following = np.full(cities, -1, dtype=np.int32)
    previous = np.full(cities, -1, dtype=np.int32)
    following[other.begins] = other.ends
    previous[other.ends] = other.begins
    onward, back = following[edges.begins], previous[edges.begins]
    missing: NDArray[np.bool_] = (onward != edges.ends) & (back != edges.ends)
    return missing
