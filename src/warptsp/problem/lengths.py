"""Distances between cities, and exact lengths of tours."""

import math
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from warptsp.errors import InvalidProblem, InvalidTour
from warptsp.problem.checks import bounds_of
from warptsp.problem.constraints import OpenPath
from warptsp.problem.distance import EARTH_RADIUS_M, GEO_RADIUS_KM, coordinate_distances
from warptsp.problem.metric import Metric
from warptsp.problem.names import Cities, check_range
from warptsp.problem.threads import in_threads
from warptsp.problem.tours import WORTH_THREADS, as_cities, is_long
from warptsp.problem.values import integer_array, read_only

CHUNK = 1 << 16
"""Cities measured together; the working arrays of one chunk stay within a few megabytes."""

FEW = 500
"""Distances that Python adds up exactly in less time than the calls of NumPy take."""


class MatrixDistances(NamedTuple):
    """The distances in a matrix."""

    matrix: NDArray[np.int32] | NDArray[np.int64] | NDArray[np.float64] | NDArray[np.object_]

    @property
    def integral(self) -> bool:
        """Whether every distance is an integer."""
        return self.matrix.dtype.kind != "f"

    @property
    def dtype(self) -> Any:
        """The type of arrays of distances."""
        return np.int64 if self.matrix.dtype.kind == "i" else self.matrix.dtype

    def between(self, a: NDArray[np.integer[Any]], b: NDArray[np.integer[Any]]) -> NDArray[Any]:
        """From each city of `a` to the same one of `b`, which nobody has checked."""
        return np.asarray(self.matrix[a, b], dtype=self.dtype)

    def along(self, cities: NDArray[np.integer[Any]]) -> NDArray[Any]:
        """From each city to the next one."""
        return self.between(cities[:-1], cities[1:])


class PlaceDistances(NamedTuple):
    """The distances between places, in the arithmetic of a metric; the methods are those of a matrix."""

    metric: Metric
    coordinates: NDArray[np.float64]

    @property
    def integral(self) -> bool:
        """Whether every distance is an integer."""
        return self.metric.integral

    @property
    def dtype(self) -> Any:
        """The type of arrays of distances."""
        return np.int64 if self.integral else np.float64

    def between(self, a: NDArray[np.integer[Any]], b: NDArray[np.integer[Any]]) -> NDArray[Any]:
        """From each city of `a` to the same one of `b`, which nobody has checked."""
        # Rows are taken several times faster by `take` than by an index.
        p, q = self.coordinates.take(a, axis=0), self.coordinates.take(b, axis=0)
        return self._row_distances(a == b if self.metric is Metric.GEO else None, p, q)

    def along(self, cities: NDArray[np.integer[Any]]) -> NDArray[Any]:
        """From each city to the next one."""
        rows = self.coordinates.take(cities, axis=0)  # once: they lie anywhere in memory
        same = cities[:-1] == cities[1:] if self.metric is Metric.GEO else None
        return self._row_distances(same, rows[:-1], rows[1:])

    def _row_distances(
        self, same: NDArray[np.bool_] | None, p: NDArray[np.float64], q: NDArray[np.float64]
    ) -> NDArray[Any]:
        values = coordinate_distances(self.metric, p, q)
        if same is not None:
            values[same] = 0.0  # GEO's formula rounds up, to 1
        return values.astype(self.dtype, copy=False)


Distances: TypeAlias = MatrixDistances | PlaceDistances


def longest_within(metric: Metric, low: NDArray[np.float64], high: NDArray[np.float64]) -> float:
    """A number that no distance between places exceeds whose coordinates lie within these."""
    if metric is Metric.GEO:
        return math.floor(math.pi * GEO_RADIUS_KM + 1.0)
    if metric is Metric.GREAT_CIRCLE:
        return math.pi * EARTH_RADIUS_M
    if metric.angular:
        return float(np.ceil(100.0 * np.max(high - low)))
    return float(coordinate_distances(metric, low, high)) * (1.0 + 1e-12)


class Measured(Cities):
    """Cities with distances; `Problem` says what its parts are."""

    metric: Metric
    coordinates: NDArray[np.float64] | None
    matrix: NDArray[np.int32] | NDArray[np.int64] | NDArray[np.float64] | NDArray[np.object_] | None
    open: OpenPath | None

    def given_coordinates(self) -> NDArray[np.float64]:
        """`coordinates`, of an instance that has them.

        Raises
        ------
        InvalidProblem
            The instance is a matrix.
        """
        if self.coordinates is None:
            raise InvalidProblem("a distance matrix has no coordinates")
        return self.coordinates

    def given_matrix(self) -> NDArray[Any]:
        """`matrix`, of an instance that has one.

        Raises
        ------
        InvalidProblem
            The instance has coordinates.
        """
        if self.matrix is None:
            raise InvalidProblem("an instance of coordinates has no distance matrix")
        return self.matrix

    @cached_property
    def bounds(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The lowest and the highest coordinate of each axis.

        Raises
        ------
        InvalidProblem
            The instance is a matrix.
        """
        return bounds_of(self.given_coordinates())

    @cached_property
    def _distances(self) -> Distances:
        if self.matrix is not None:
            return MatrixDistances(self.matrix)
        return PlaceDistances(self.metric, self.given_coordinates())

    @property
    def integral(self) -> bool:
        """Whether every distance, and so every length, is an integer."""
        return self._distances.integral

    @cached_property
    def all_distances(self) -> NDArray[np.int64] | NDArray[np.float64]:
        """The distances between all pairs, shape (n, n), which are kept: of a few cities."""
        n = self.n
        found = self._distances.between(*np.divmod(np.arange(n * n), n))
        return read_only(found.reshape(n, n))

    def distance(self, a: ArrayLike, b: ArrayLike) -> Any:
        """Exact distance between cities; arrays are broadcast.

        Returns
        -------
        int or float, or an ndarray of int64 or float64
            Integers if the instance is `integral`. From a city to itself: 0.
        """
        distances = self._distances
        first, second = (integer_array(cities, "cities", InvalidTour) for cities in (a, b))
        try:
            first, second = np.broadcast_arrays(first, second)
        except ValueError:
            raise InvalidTour(
                f"cities of shapes {first.shape} and {second.shape}: no pairs of cities"
            ) from None
        for cities in (first, second):
            check_range(self, cities)
        result: NDArray[Any] = np.empty(first.shape, dtype=distances.dtype)
        flat, p, q = result.reshape(-1), first.reshape(-1), second.reshape(-1)
        for begin in range(0, flat.size, CHUNK):
            part = slice(begin, begin + CHUNK)
            flat[part] = distances.between(p[part], q[part])
        if result.ndim:
            return result
        return int(result) if distances.integral else float(result)

    def length(self, tour: ArrayLike, *, threads: int = 1) -> int | float:
        """Exact length of a tour, or of a path if the instance is `open`.

        Integer lengths are exact at any size. Real ones are summed so accurately that they depend neither
        on the city the tour starts at nor on its direction.

        Parameters
        ----------
        tour : array_like of int, shape (n,)
            Cities counted from 0. That each occurs once is `check_tour`'s business, not this method's.
        threads : int
            How many share the work, if there is enough.
        """
        distances, closed = self._distances, self.open is None
        if is_long(tour) and isinstance(distances, PlaceDistances) and not distances.metric.geographic:
            import warptsp._native as _native

            sums = _native.edge_sums(distances.coordinates, tour, distances.metric.kind, threads)
            if sums is not None:
                last = distances.along(tour[[-1, 0] if closed else [0, 0]])
                if distances.integral:
                    return _integer_sum(sums.astype(np.int64)) + int(last[0])
                return math.fsum([*sums.tolist(), float(last[0])])
        cities = as_cities(tour, self)
        closing = closed and len(cities) > 1
        if closing and len(cities) <= CHUNK:
            cities, closing = np.concatenate([cities, cities[:1]]), False

        def parts_of(begin: int) -> list[int] | list[float]:
            """Numbers whose exact sum is the length of some thousand edges."""
            if begin < 0:
                edges = distances.along(cities[[-1, 0]])
            else:
                edges = distances.along(cities[begin : begin + CHUNK + 1])
            if distances.integral:
                return [_integer_sum(edges)]
            numbers: list[float] = (edges if len(edges) <= FEW else np.stack(_exact_parts(edges))).tolist()
            return numbers

        begins = [*range(0, len(cities) - 1, CHUNK), *([-1] if closing else [])]
        found = in_threads(parts_of, begins, threads if len(cities) >= WORTH_THREADS else 1)
        numbers = [number for parts in found for number in parts]
        return sum(numbers) if distances.integral else math.fsum(numbers)


def _integer_sum(distances: NDArray[np.int64]) -> int:
    """Their sum in unlimited integers."""
    if distances.dtype == np.object_:
        return sum(distances.tolist())
    low = int((distances & 0xFFFFFFFF).sum())
    return (int((distances >> 32).sum()) << 32) + low


def exact_sums(distances: NDArray[np.float64]) -> list[float]:
    """The lengths of k tours of m edges, whose distances are [k, m], as `Problem.length` returns each."""
    # By columns, NumPy adds up rows of 20 six times as fast.
    parts = _exact_parts(np.ascontiguousarray(distances.T))
    return [math.fsum(numbers) for numbers in zip(*(part.tolist() for part in parts), strict=True)]


def _exact_parts(distances: NDArray[np.float64]) -> list[NDArray[np.float64]]:
    """Numbers whose sum is that of the distances [m, ...], to about 80 bits: three arrays [...].

    Each distance is cut into a multiple of a large unit, a multiple of a small unit, and a rest. A chunk's
    multiples of one unit add up without rounding, in any order (Rump, Ogita and Oishi, *Accurate
    floating-point summation*, 2008); only the rests, below 2**-60 of the largest distance, are rounded.
    """
    exponent = np.frexp(distances.max(axis=0))[1]
    parts = []
    rest = distances
    # 2**16 addends of up to 2**30 units each stay below 2**53.
    for bits in (30, 60):
        shift = np.ldexp(1.5, exponent - bits + 52)
        multiple = (rest + shift) - shift
        parts.append(multiple.sum(axis=0))
        rest = rest - multiple
    parts.append(rest.sum(axis=0))
    return parts
