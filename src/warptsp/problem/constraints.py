"""What every tour must respect: fixed edges, and the ends of a path."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from warptsp._checks import shown
from warptsp._words import counted
from warptsp.errors import InvalidOption, InvalidProblem
from warptsp.problem.names import Cities
from warptsp.problem.values import MAX_CITIES, check_count, plain_array, read_only


@dataclass(frozen=True, slots=True, init=False)
class OpenPath:
    """A Hamiltonian path instead of a closed tour.

    Parameters
    ----------
    start, end : int, str or None
        The city at which the path starts or ends, counted from 0 or by its name; None leaves it to the
        solver.

    Attributes
    ----------
    start, end : int or None
        The same. The problem that gets the path puts the cities in place of their names.
    """

    start: int | None
    end: int | None

    def __init__(self, start: int | str | None = None, end: int | str | None = None) -> None:
        object.__setattr__(self, "start", start)
        object.__setattr__(self, "end", end)


_NO_EDGES = read_only(np.empty((0, 2), dtype=np.int32))


def no_edges() -> NDArray[np.int32]:
    """Fixed edges of an instance that has none."""
    return _NO_EDGES


def checked_fixed_edges(
    values: ArrayLike, names: Cities, *, closed: bool, directed: bool = False
) -> NDArray[np.int32]:
    """Pairs of cities that a tour, or a path, can have as neighbours; each once, sorted if not directed.

    Read-only.
    """
    if values is _NO_EDGES:
        return _NO_EDGES
    given = plain_array(values, "fixed edges")
    if given.size == 0:
        return no_edges()
    if given.ndim != 2 or given.shape[1] != 2 or given.dtype.kind not in "iu":
        raise InvalidProblem(
            f"fixed edges are pairs of cities, shape (m, 2), not {given.dtype} of shape {given.shape}"
        )
    n = names.n
    outside = (given < 0) | (given >= n)
    if outside.any():
        raise InvalidProblem(f"a fixed edge names city {given[outside][0]}: cities are 0 to {n - 1}")
    pairs = given.astype(np.int32)
    edges: NDArray[np.int32] = np.unique(pairs if directed else np.sort(pairs, axis=1), axis=0)
    loops = edges[:, 0] == edges[:, 1]
    if loops.any():
        raise InvalidProblem(f"a fixed edge joins node {names.node_id(edges[loops][0, 0])} to itself")
    if directed:
        _check_directions(edges, names)
    cities, degree = np.unique(edges, return_counts=True)
    if degree.max() > 2:
        city = names.node_id(cities[np.argmax(degree)])
        raise InvalidProblem(f"node {city} has {degree.max()} fixed edges: a tour can have two")
    _check_for_cycles(edges, names, closed=closed)
    return read_only(edges)


def _check_directions(arcs: NDArray[np.int32], names: Cities) -> None:
    for column, word in ((0, "from"), (1, "to")):
        cities, degree = np.unique(arcs[:, column], return_counts=True)
        if degree.max() > 1:
            city = names.node_id(cities[np.argmax(degree)])
            raise InvalidProblem(
                f"{degree.max()} fixed edges lead {word} node {city}: of directed ones a tour can have one"
            )


def _check_for_cycles(edges: NDArray[np.int32], names: Cities, *, closed: bool) -> None:
    chain_end: dict[int, int] = {}  # for each end of a chain of fixed edges, the other end
    for taken, (a, b) in enumerate(edges.tolist(), start=1):
        end_a, end_b = chain_end.pop(a, a), chain_end.pop(b, b)
        if end_a == b:
            if taken == names.n and closed and not chain_end:
                return  # the whole tour is fixed
            raise InvalidProblem(
                f"the fixed edges close a cycle through nodes {names.node_id(a)} and {names.node_id(b)}: "
                "no tour has it"
            )
        chain_end[end_a], chain_end[end_b] = end_b, end_a


def with_cities(path: OpenPath, names: Cities) -> OpenPath:
    """A path whose ends are cities in place of the names that the caller may have given.

    Raises `InvalidProblem`: there is no such city, or several of this name.
    """
    if not isinstance(path, OpenPath):
        return path  # which `check_open_path` refuses
    ends: list[int | None] = []
    for word, end in (("start", path.start), ("end", path.end)):
        try:
            ends.append(names.city(end) if isinstance(end, str) else end)
        except InvalidOption as error:
            raise InvalidProblem(f"the path's {word} is {error}") from None
    return OpenPath(*ends)


def check_open_path(
    path: OpenPath, fixed_edges: NDArray[np.int32], names: Cities, *, directed: bool = False
) -> None:
    """Accept the ends of a path that such fixed edges leave possible."""
    if not isinstance(path, OpenPath):
        raise InvalidProblem(f"open: {shown(path)} is neither None nor an OpenPath(start, end)")
    n = names.n
    check_count(n, MAX_CITIES - 1)  # a path with a free end has one more for the search
    for city, word in ((path.start, "start"), (path.end, "end")):
        if city is not None and (isinstance(city, bool) or not isinstance(city, (int, np.integer))):
            raise InvalidProblem(
                f"the path's {word} is {shown(city)}: a city counted from 0, or its name, is needed"
            )
        if city is not None and not 0 <= city < n:
            raise InvalidProblem(f"the path's {word} is city {shown(city)}: cities are 0 to {n - 1}")
    if path.start is not None and path.start == path.end and n > 1:
        both = names.node_id(path.start)
        raise InvalidProblem(f"the path starts and ends at node {both}: two different ends are needed")
    if directed:
        for end, arcs, word, way in (
            (path.start, fixed_edges[:, 1], "start", "to"),
            (path.end, fixed_edges[:, 0], "end", "from"),
        ):
            if end is not None and end in arcs:
                raise InvalidProblem(
                    f"the path cannot {word} at node {names.node_id(end)}: a fixed edge leads {way} it"
                )
    if len(fixed_edges):
        _check_ends_with_fixed_edges(path, fixed_edges, names)


def _check_ends_with_fixed_edges(path: OpenPath, fixed_edges: NDArray[np.int32], names: Cities) -> None:
    neighbours: dict[int, list[int]] = {}
    for a, b in fixed_edges.tolist():
        neighbours.setdefault(a, []).append(b)
        neighbours.setdefault(b, []).append(a)
    for city, word in ((path.start, "start"), (path.end, "end")):
        if city is not None and len(neighbours.get(city, [])) > 1:
            node = names.node_id(city)
            raise InvalidProblem(f"the path cannot {word} at node {node}: it has two fixed edges")
    if path.start is None or path.end is None:
        return
    previous, city, taken = -1, path.start, 1
    while onward := [other for other in neighbours.get(city, []) if other != previous]:
        previous, city, taken = city, onward[0], taken + 1
    if city == path.end and taken < names.n:
        raise InvalidProblem(
            f"fixed edges join the path's start, node {names.node_id(path.start)}, to its end, node "
            f"{names.node_id(path.end)}, and leave {counted(names.n - taken)} out"
        )
