"""A tour cut into parts that are ordinary small instances, and the tour that their answers make.

A part's cities lie on paths of the tour. The edge from the end of one path to the start of the part's next
one (from the last to the first, too) stands for the tour outside: whoever improves the part keeps it as a
fixed edge. All parts may be improved at once, anywhere, in any order, or not at all: what has no answer
stays as it was. An answer may join the ends of its paths in other pairs; what then are several closed tours
is joined where that is cheapest.
"""

from __future__ import annotations

import logging

import numpy as np
from numpy.typing import ArrayLike, NDArray

import warptsp._native as _native
from warptsp.errors import InvalidTour
from warptsp.problem import Metric
from warptsp.problem.distance import unit_vectors

__all__ = ["Cut", "cut_boxes", "cut_stretches"]

_log = logging.getLogger(__name__)


class Cut:
    """A tour in parts; made by `cut_stretches` or `cut_boxes`.

    It holds 4 bytes for each city beside the tour, and 12 for each path. Answers of different parts may be
    put back by several threads at once.
    """

    def __init__(self, native: _native.TourCut, tour: NDArray[np.int32], threads: int) -> None:
        self._native = native
        self._tour = tour
        self._threads = threads
        self.closed_tours = 0
        """How many closed tours `link` had to join; 0 before it."""

    @property
    def parts(self) -> int:
        """Number of parts, each with a city or more; fewer than asked for if cities coincide."""
        return self._native.parts

    @property
    def paths(self) -> int:
        """Number of paths of all parts."""
        return self._native.paths

    def size(self, part: int) -> int:
        """Number of cities of a part."""
        return self._native.size(part)

    def cities(self, part: int) -> NDArray[np.int32]:
        """The cities of a part in tour order, as a new array; those of its answer once there is one."""
        return self._native.cities(part)

    def path_begin(self, part: int) -> NDArray[np.int32]:
        """Where each path of a part begins among `cities`, and, as the last entry, their number."""
        return self._native.path_begin(part)

    def put(self, part: int, order: ArrayLike) -> None:
        """Take the answer of a part.

        Parameters
        ----------
        part : int
        order : array_like of int
            The part's cities, numbered from 0 as in `cities`, along a closed tour that has every edge from
            the end of a path to the start of the next.

        Raises
        ------
        InvalidTour
            It is no such tour, or there is an answer already; nothing has changed then.
        """
        answer = np.asarray(order)
        if answer.ndim != 1 or not np.issubdtype(answer.dtype, np.integer):
            raise InvalidTour(
                f"the answer of part {part} is {answer.dtype} of shape {answer.shape}: a row of integers"
            )
        if answer.dtype != np.int32:
            # What does not fit in 32 bits is no city either.
            answer = np.clip(answer.astype(np.int64), -1, np.iinfo(np.int32).max)
        wrong = self._native.put(part, np.ascontiguousarray(answer, dtype=np.int32))
        if wrong:
            raise InvalidTour(wrong)

    def link(
        self,
        coordinates: NDArray[np.float64],
        metric: Metric,
        *,
        token: _native.StopToken | None = None,
    ) -> NDArray[np.int32] | None:
        """The tour of all parts as they are now; None if the token stopped it.

        Parameters
        ----------
        coordinates : ndarray of float64, shape (n, 2) or (n, 3)
            `Problem.coordinates`; only those of the ends of paths are read.
        metric : Metric
        token : StopToken, optional
        """
        token = _native.StopToken() if token is None else token
        rows = np.asarray(coordinates.take(self._native.ends(), axis=0), dtype=np.float64)
        if metric.geographic:
            rows = unit_vectors(metric, rows)
        order = _native.space_filling_curve(rows, "hilbert", token, metric.geographic, self._threads)
        linked = None if order is None else self._native.link(order, rows, metric.kind, self._threads, token)
        if linked is None:
            return None
        tour, self.closed_tours = linked
        if tour is None:
            _log.warning("answers dropped: fixed edges make closed tours of them that nothing may join")
            return self._tour
        if self.closed_tours > 1:
            _log.debug("%d closed tours joined", self.closed_tours)
        return tour


def cut_stretches(
    tour: NDArray[np.int32],
    parts: int,
    rotation: int = 0,
    *,
    fixed: NDArray[np.int32] | None = None,
    threads: int = 1,
    token: _native.StopToken | None = None,
) -> Cut | None:
    """Parts of consecutive cities of the tour, of equal size but for one city.

    Parameters
    ----------
    tour : ndarray of int32
        A closed tour, or any order of all cities, such as that of a space-filling curve.
    parts : int
    rotation : int
        Position at which the first part begins.
    fixed : ndarray of int32, shape (m, 2), optional
        Fixed edges; an edge of the tour that is one lies between two paths, so that every answer keeps it.
    threads : int
    token : StopToken, optional

    Returns
    -------
    Cut or None
        None if the token stopped it.
    """
    cities, edges, token = _checked(tour, fixed, token)
    native = _native.TourCut.stretches(cities, parts, rotation, edges, threads, token)
    return None if native is None else Cut(native, cities, threads)


def cut_boxes(
    points: NDArray[np.float64],
    tour: NDArray[np.int32],
    parts: int,
    rng: np.random.Generator,
    *,
    fixed: NDArray[np.int32] | None = None,
    threads: int = 1,
    token: _native.StopToken | None = None,
) -> Cut | None:
    """Parts that are boxes of a k-d tree with about as many cities each.

    Parameters
    ----------
    points : ndarray of float64, shape (n, 2) or (n, 3)
        `Problem.coordinates`, also latitudes and longitudes.
    tour : ndarray of int32
    parts : int
    rng : Generator
        Where the seams lie is drawn from it.
    fixed, threads, token
        As for `cut_stretches`.

    Returns
    -------
    Cut or None
        None if the token stopped it.
    """
    cities, edges, token = _checked(tour, fixed, token)
    seed, rotation = int(rng.integers(1 << 63)), int(rng.integers(len(cities)))
    native = _native.TourCut.boxes(points, cities, parts, seed, rotation, edges, threads, token)
    return None if native is None else Cut(native, cities, threads)


def _checked(
    tour: NDArray[np.int32], fixed: NDArray[np.int32] | None, token: _native.StopToken | None
) -> tuple[NDArray[np.int32], NDArray[np.int32], _native.StopToken]:
    cities = np.ascontiguousarray(tour, dtype=np.int32)
    if cities.ndim != 1 or not cities.size:
        raise InvalidTour(f"a tour to cut has one dimension and a city or more, not shape {cities.shape}")
    if cities.min() < 0 or cities.max() >= len(cities):
        bad = cities[(cities < 0) | (cities >= len(cities))][0]
        raise InvalidTour(f"there is no city {bad}: cities are counted from 0 to {len(cities) - 1}")
    edges = np.empty((0, 2), np.int32) if fixed is None else np.ascontiguousarray(fixed, dtype=np.int32)
    return cities, edges, _native.StopToken() if token is None else token
