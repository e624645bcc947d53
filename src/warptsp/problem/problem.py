"""An instance: cities, a metric, and what every tour must respect."""

from __future__ import annotations

import logging
import math
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, TypeGuard, TypeVar
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import ArrayLike, NDArray

from warptsp._checks import shown
from warptsp._offers import find
from warptsp._words import as_called, counted
from warptsp.errors import InvalidOption, InvalidProblem, InvalidTour
from warptsp.text import well_formed

from .distance import EARTH_RADIUS_M, GEO_RADIUS_KM, coordinate_distances, unit_vectors
from .known import KnownLength, known_grid, known_length_by_name
from .metric import Metric
from .values import EXACT_INTEGERS, integer_array, plain_array, real_array

__all__ = ["OpenPath", "Problem"]

_log = logging.getLogger(__name__)
_T = TypeVar("_T")
# The coordinates of problems, by identity: whoever makes a problem of another one's is not warned again.
_LOOKED_AT: WeakValueDictionary[int, NDArray[np.float64]] = WeakValueDictionary()

# Cities looked at together; the working arrays of one chunk stay within a few megabytes.
_CHUNK = 1 << 16
WORTH_THREADS = 1 << 20
"""Cities from which the check and the length of a tour are worth several threads."""
_MAX_CITIES = 2**31 - 1
# Names that a mistyped one is compared with: some hundredths of a second.
_NAMES_COMPARED = 10_000
# Squares of differences must neither overflow nor vanish, nor those of neighbours lose digits.
_LARGEST_COORDINATE = 1e150
_SMALLEST_SPAN = 1e-140
# Sums over a tour, by which lengths are exact, must not overflow: of reals, and of integers in 64 bits.
_LARGEST_LENGTH = 1e300
_LARGEST_INTEGER_LENGTH = 2.0**62
# Entries (i, j) and (j, i) of a real matrix may differ by what arithmetic in another order makes of them.
_SYMMETRY_TOLERANCE = 1e-12


@dataclass(frozen=True, slots=True)
class OpenPath:
    """A Hamiltonian path instead of a closed tour.

    Attributes
    ----------
    start, end : int or None
        The city (counted from 0) at which the path starts or ends; None leaves it to the solver.
    """

    start: int | None = None
    end: int | None = None


def _no_edges() -> NDArray[np.int32]:
    return np.empty((0, 2), dtype=np.int32)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Problem:
    """A travelling-salesman instance, checked when it is made.

    Cities are counted from 0. The arrays are read-only views where that is possible without a copy.

    Attributes
    ----------
    metric : Metric
    coordinates : ndarray of float64, shape (n, 2) or (n, 3), or None
        Finite; degrees and minutes as ``DDD.MM`` (latitude, longitude) for GEO, decimal degrees (latitude,
        longitude) for GREAT_CIRCLE. None for a matrix.
    matrix : ndarray of int32 or float64, shape (n, n), or None
        Not negative, with a zero diagonal, symmetric unless `asymmetric` is set; for EXPLICIT only.
    fixed_edges : ndarray of int32, shape (m, 2)
        Pairs of cities that must be neighbours in the tour.
    name, comment : str
    node_ids : ndarray of int64, shape (n,), or None
        The cities' numbers in the file, not negative; None means 1, 2, ..., n.
    labels : sequence of str, or None
        The cities' names.
    display : ndarray of float64, shape (n, 2), or None
        Where to draw the cities of a matrix. Never used for distances.
    open : OpenPath or None
        Set for a path instead of a closed tour.
    asymmetric : bool
        Whether the way from a city to another may be longer than the way back: entry (i, j) of the matrix is
        the distance from i to j. Given as True it allows that; it is False if the matrix is symmetric.
    display_degrees : bool
        Whether `display` holds longitudes and latitudes in decimal degrees, so that tours can go into files
        for maps.

    Raises
    ------
    InvalidProblem
        The message names the offending entry.
    """

    metric: Metric
    coordinates: NDArray[np.float64] | None = None
    matrix: NDArray[np.int32] | NDArray[np.float64] | None = None
    fixed_edges: NDArray[np.int32] = field(default_factory=_no_edges)
    name: str = ""
    comment: str = ""
    node_ids: NDArray[np.int64] | None = None
    labels: Sequence[str] | None = None
    display: NDArray[np.float64] | None = None
    open: OpenPath | None = None
    asymmetric: bool = False
    display_degrees: bool = False
    _found: dict[str, KnownLength | None] = field(default_factory=dict, init=False)

    def __repr__(self) -> str:
        path = "" if self.open is None else f", open={self.open}"
        fixed = f", {len(self.fixed_edges)} fixed edges" if len(self.fixed_edges) else ""
        metric = self.metric.name + (", asymmetric" if self.asymmetric else "")
        return f"<Problem {self.name!r}: {counted(self.n)}, {metric}{fixed}{path}>"

    def __post_init__(self) -> None:
        def put(name: str, value: Any) -> None:
            object.__setattr__(self, name, value)

        put("metric", Metric.parse(self.metric))
        for field_name in ("name", "comment"):
            if not isinstance(getattr(self, field_name), str):
                raise InvalidProblem(f"{field_name} is {shown(getattr(self, field_name))}: a text is needed")
        for field_name in ("asymmetric", "display_degrees"):
            if not isinstance(getattr(self, field_name), (bool, np.bool_)):
                raise InvalidProblem(
                    f"{field_name} is {shown(getattr(self, field_name))}: True or False is needed"
                )
        if self.metric is Metric.EXPLICIT:
            if self.matrix is None or self.coordinates is not None:
                raise InvalidProblem("metric EXPLICIT takes a matrix and no coordinates")
            matrix, asymmetric = _checked_matrix(self.matrix, bool(self.asymmetric))
            put("matrix", matrix)
            put("asymmetric", asymmetric)
        else:
            if self.coordinates is None or self.matrix is not None:
                raise InvalidProblem(f"metric {self.metric.name} takes coordinates and no matrix")
            if self.asymmetric:
                raise InvalidProblem(
                    f"metric {self.metric.name} is symmetric: only a matrix can be asymmetric"
                )
            put("coordinates", _checked_coordinates(self.coordinates, self.metric))
        n = self.n
        if self.node_ids is not None:
            put("node_ids", _checked_node_ids(self.node_ids, n))
        put("name", well_formed(self.name))
        put("comment", well_formed(self.comment))
        if self.labels is not None:
            _check_labels(self.labels, n)
            put("labels", _well_formed_labels(self.labels))
        if self.display is not None:
            display = _as_float(self.display, "display coordinates")
            if display.shape != (n, 2):
                raise InvalidProblem(f"display coordinates have shape {display.shape}: ({n}, 2) is needed")
            if not np.isfinite(display).all():
                raise InvalidProblem("display coordinates hold NaN or infinity: finite numbers are needed")
            if (largest := float(np.abs(display).max(initial=0.0))) > _LARGEST_COORDINATE:
                most = f"{_LARGEST_COORDINATE:g}"
                raise InvalidProblem(
                    f"display coordinates hold {largest:.3g}: numbers up to {most} can be drawn"
                )
            put("display", _read_only(display))
        if self.display_degrees:
            if self.display is None:
                raise InvalidProblem("display_degrees says what display is, and there is no display")
            low, high = _bounds(self.display)
            _check_degrees(self.display[:, ::-1], low[::-1], high[::-1])
        put("fixed_edges", _read_only(self._checked_fixed_edges()))
        if self.asymmetric and len(self.fixed_edges):
            raise InvalidProblem("an asymmetric matrix takes no fixed edges: they have no direction")
        self._check_open_path()

    # Making one

    @classmethod
    def from_points(cls, points: ArrayLike, metric: Metric | str | None = None, **fields: Any) -> Problem:
        """An instance of points.

        Parameters
        ----------
        points : array_like, shape (n, 2) or (n, 3)
            Latitude and longitude, in this order, for GEO and GREAT_CIRCLE.
        metric : Metric or str, optional
            By default the Euclidean distance, not rounded.
        **fields
            Other attributes, for example ``name`` or ``labels``.
        """
        coordinates = _as_float(points, "points")
        if coordinates.ndim != 2 or coordinates.shape[1] not in (2, 3):
            raise InvalidProblem(f"points have shape {coordinates.shape}: (n, 2) or (n, 3) is needed")
        if metric is None:
            metric = Metric.EXACT_2D if coordinates.shape[1] == 2 else Metric.EXACT_3D
        return cls(Metric.parse(metric), coordinates=coordinates, **fields)

    @classmethod
    def from_matrix(cls, matrix: ArrayLike, **fields: Any) -> Problem:
        """An instance of a matrix of distances.

        Parameters
        ----------
        matrix : array_like or sparse array, shape (n, n), or array_like, shape (n (n - 1) / 2,)
            Entry (i, j) is the distance from city i to city j. The diagonal is ignored. A vector is a
            condensed matrix, as ``scipy.spatial.distance.pdist`` makes it: the rows above the diagonal. A
            sparse array of SciPy must hold all distances, as an entry that is missing is no distance.
        **fields
            Other attributes, for example ``labels``; ``asymmetric=True`` if the matrix need not be symmetric.
        """
        if hasattr(matrix, "tocoo"):
            values = _dense(matrix)
        else:
            values = plain_array(matrix, "the matrix's entries")
            if values.ndim == 1:
                values = _square(values)
        return cls(Metric.EXPLICIT, matrix=values, **fields)

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        metric: Metric | str | None = None,
        columns: Mapping[str, str | int] | None = None,
        **fields: Any,
    ) -> Problem:
        """An instance of a data frame with a row for each city.

        City i is row i, so that ``frame.iloc[result.tour]`` has the rows in visiting order.

        Parameters
        ----------
        frame : DataFrame, GeoDataFrame or GeoSeries
            Of pandas, GeoPandas or what is like them: with the columns ``x, y``, ``x, y, z`` or ``lat, lon``,
            and perhaps ``name`` and ``id`` (the names that a CSV file may have); with points as geometry,
            whose coordinate reference system tells whether distances are those of the plane, in its unit, or
            great circles, in metres; or with a square table of distances whose rows and columns have the same
            names.
        metric : Metric or str, optional
            Another one than the columns or the coordinate reference system mean, for the same kind of
            coordinates.
        columns : mapping, optional
            Which column holds what: the keys are some of ``x``, ``y``, ``z``, ``lat``, ``lon``, ``name`` and
            ``id``, the values names of columns. Coordinates named here are taken instead of the geometry.
        **fields
            Other attributes. Names are those of the column ``name``, or else of the index if it holds texts.
        """
        problem: Problem = find("problem of a data frame")(frame, metric, columns, **fields)
        return problem

    @classmethod
    def from_osrm(cls, table: Any, annotation: str | None = None, **fields: Any) -> Problem:
        """An instance of a table of durations or distances, as OSRM's service ``table`` gives it.

        Parameters
        ----------
        table : mapping
            The answer as JSON was read: ``durations`` in seconds or ``distances`` in metres, from each place
            to each. ``sources``, if they are there, say where pictures draw the places, and their names.
        annotation : {"durations", "distances"}, optional
            Which of the two, by default the durations if both are there.
        **fields
            Other attributes, for example ``labels``.
        """
        problem: Problem = find("problem of an OSRM table")(table, annotation, **fields)
        return problem

    @classmethod
    def from_array(cls, array: ArrayLike, *, asymmetric: bool = False, **fields: Any) -> Problem:
        """An instance of distances if the array is square or condensed, otherwise of points.

        Two or three rows of as many numbers could be either. They are distances if the diagonal is zero and
        they are symmetric, or may be asymmetric, or else three rows with no other zero, which then are
        distances with a mistake.
        """
        values = plain_array(array, "the numbers")
        n = len(values) if values.ndim else 0
        square = values.ndim == 2 and values.shape[1] == n
        if square and n in (2, 3):
            no_other_zero = n == 3 and np.count_nonzero(values) == 6
            symmetric = np.array_equal(values, values.T)
            square = not values.diagonal().any() and (symmetric or asymmetric or no_other_zero)
        if square or values.ndim == 1:
            return cls.from_matrix(values, asymmetric=asymmetric, **fields)
        return cls.from_points(values, **fields)

    # What it is

    @property
    def n(self) -> int:
        """Number of cities."""
        rows = self.matrix if self.coordinates is None else self.coordinates
        assert rows is not None
        return int(rows.shape[0])

    @property
    def integral(self) -> bool:
        """Whether every distance, and so every length, is an integer."""
        if self.matrix is not None:
            return bool(np.issubdtype(self.matrix.dtype, np.integer))
        return self.metric.integral

    @property
    def bounds(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The lowest and the highest coordinate of each axis; an instance with a matrix has none."""
        assert self.coordinates is not None
        return _bounds(self.coordinates)

    @property
    def distance_bound(self) -> float:
        """A number that no distance exceeds; native searches pick the width of their integers by it."""
        if self.matrix is not None:
            return float(self.matrix.max())
        if self.metric is Metric.GEO:
            return math.floor(math.pi * GEO_RADIUS_KM + 1.0)
        if self.metric is Metric.GREAT_CIRCLE:
            return math.pi * EARTH_RADIUS_M
        low, high = self.bounds
        if self.metric in (Metric.XRAY1, Metric.XRAY2):
            return float(np.ceil(100.0 * np.max(high - low)))
        return float(coordinate_distances(self.metric, low, high)) * (1.0 + 1e-12)

    @property
    def known_length(self) -> KnownLength | None:
        """The optimal or best known length, if this is one of the published instances.

        The name alone is not trusted: the number of cities, the metric, the fixed edges and the length of the
        tour in file order must agree too.
        """
        if "known" not in self._found:
            self._found["known"] = self._known_length()
        return self._found["known"]

    def _known_length(self) -> KnownLength | None:
        if not self.name or self.open is not None:
            return None
        if self.metric is Metric.EUC_2D and self.coordinates is not None and not len(self.fixed_edges):
            lattice = known_grid(self.name, self.coordinates)
            if lattice is not None:
                return lattice
        fixed = tuple((self.node_id(a), self.node_id(b)) for a, b in self.fixed_edges[:8])
        entry = known_length_by_name(self.name, fixed)
        if entry is None:
            return None

        def identity_length() -> float:
            return self.length(np.arange(self.n, dtype=np.int32))

        return entry if entry.belongs_to(self.n, self.metric, identity_length) else None

    @property
    def plot_points(self) -> NDArray[np.float64] | None:
        """Where to draw the cities, shape (n, 2): x to the right, y upwards; None if that is unknown."""
        if self.display is not None:
            return self.display
        if self.coordinates is None:
            return None
        if self.metric.geographic:
            return self.coordinates[:, ::-1]
        return self.coordinates[:, :2]

    @property
    def geographic(self) -> bool:
        """Whether it is known where on the Earth the cities are."""
        return self.metric.geographic or self.display_degrees

    def node_id(self, city: int) -> int:
        """The number that files and messages give to a city."""
        return int(city) + 1 if self.node_ids is None else int(self.node_ids[city])

    def ids_of(self, cities: ArrayLike) -> NDArray[np.int64]:
        """The numbers that files give to these cities."""
        index = integer_array(cities, "cities", InvalidTour)
        self._check_range(index)
        return index.astype(np.int64) + 1 if self.node_ids is None else self.node_ids[index]

    def cities_of(self, ids: ArrayLike) -> NDArray[np.int32]:
        """The cities, counted from 0, that files give these numbers.

        Raises
        ------
        InvalidTour
            The instance has no such node.
        """
        wanted = integer_array(ids, "node numbers", InvalidTour)
        if wanted.dtype.kind == "u":
            wanted = np.minimum(wanted, np.uint64(2**63 - 1))
        wanted = wanted.astype(np.int64, copy=False)
        if self.node_ids is None:
            cities = wanted - 1
            unknown = (cities < 0) | (cities >= self.n)
        else:
            order = np.argsort(self.node_ids, kind="stable")
            place = np.searchsorted(self.node_ids, wanted, sorter=order)
            cities = order[np.minimum(place, self.n - 1)]
            unknown = self.node_ids[cities] != wanted
        if unknown.any():
            first = int(wanted[unknown].flat[0])
            raise InvalidTour(f"the instance{self._called()} has no node {first}: {self._id_range()}")
        return cities.astype(np.int32)

    def label(self, city: int) -> str:
        """The city's name, or its node number if it has none."""
        return str(self.node_id(city)) if self.labels is None else self.labels[city]

    def city(self, name: str | int) -> int:
        """The city, counted from 0, that has this name, or else this number, in the file.

        Raises
        ------
        InvalidOption
            If there is no such city, or several of this name.
        """
        if not isinstance(name, (str, int, np.integer)):
            raise InvalidOption(f"{shown(name)} is no city: a name or a number is needed")
        labels = self.labels
        if labels is not None:
            named = [city for city, label in enumerate(labels) if label == name]
            if len(named) == 1:
                return named[0]
            if named:
                raise InvalidOption(
                    f"{shown(name)}: {len(named)} cities have this name; give the city's number"
                )
        text = name if isinstance(name, str) else shown(name)
        if re.fullmatch(r"-?\d{1,18}", text):
            with suppress(InvalidTour):
                return int(self.cities_of(int(text)))
        ids = (1, self.n) if self.node_ids is None else (self.node_ids.min(), self.node_ids.max())
        cure = f"give a number from the file ({ids[0]} to {ids[1]})"
        if labels is not None:
            cure = self._close_name(text, labels) or f"{cure} or a name"
        raise InvalidOption(f"{shown(name)}: no such city; {cure}")

    @staticmethod
    def _close_name(name: str, labels: Sequence[str]) -> str | None:
        from difflib import get_close_matches

        folded = {label.casefold(): label for label in labels[:_NAMES_COMPARED]}
        close = get_close_matches(name.casefold(), folded, n=1)
        return f"did you mean {folded[close[0]]!r}?" if close else None

    def search_points(self) -> NDArray[np.float64]:
        """Coordinates as the native search takes them.

        Returns
        -------
        ndarray of float64, shape (n, 2) or (n, 3)
            Unit vectors for GEO and GREAT_CIRCLE, otherwise the coordinates themselves.

        Raises
        ------
        InvalidProblem
            The instance is a matrix.
        """
        if self.coordinates is None:
            raise InvalidProblem("a distance matrix has no coordinates")
        if self.metric.geographic:
            return unit_vectors(self.metric, self.coordinates)
        return self.coordinates

    # Distances

    def distance(self, a: ArrayLike, b: ArrayLike) -> Any:
        """Exact distance between cities; arrays are broadcast.

        Returns
        -------
        int or float, or an ndarray of int64 or float64
            Integers if the instance is `integral`. From a city to itself: 0.
        """
        first, second = (integer_array(cities, "cities", InvalidTour) for cities in (a, b))
        try:
            first, second = np.broadcast_arrays(first, second)
        except ValueError:
            raise InvalidTour(
                f"cities of shapes {first.shape} and {second.shape}: no pairs of cities"
            ) from None
        for cities in (first, second):
            self._check_range(cities)
        result: NDArray[Any] = np.empty(first.shape, dtype=np.int64 if self.integral else np.float64)
        flat, p, q = result.reshape(-1), first.reshape(-1), second.reshape(-1)
        for begin in range(0, flat.size, _CHUNK):
            part = slice(begin, begin + _CHUNK)
            flat[part] = self._distances(p[part], q[part])
        if result.ndim:
            return result
        return int(result) if self.integral else float(result)

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
        if _is_long(tour) and self.coordinates is not None and not self.metric.geographic:
            from warptsp import _native

            sums = _native.link_sums(self.coordinates, tour, self.metric.kind, threads)
            if sums is not None:
                closed = self._link_lengths(tour[[-1, 0] if self.open is None else [0, 0]])
                if self.integral:
                    return _integer_sum(sums.astype(np.int64)) + int(closed[0])
                return math.fsum([*sums.tolist(), float(closed[0])])
        cities = self._as_cities(tour)
        closing = self.open is None and len(cities) > 1

        def parts_of(begin: int) -> list[int] | list[float]:
            """Numbers whose exact sum is the length of some thousand edges."""
            if begin < 0:
                distances = self._link_lengths(cities[[-1, 0]])
            else:
                distances = self._link_lengths(cities[begin : begin + _CHUNK + 1])
            return [_integer_sum(distances)] if self.integral else _exact_parts(distances)

        begins = [*range(0, len(cities) - 1, _CHUNK), *([-1] if closing else [])]
        found = _in_threads(parts_of, begins, threads if len(cities) >= WORTH_THREADS else 1)
        numbers = [number for parts in found for number in parts]
        return sum(numbers) if self.integral else math.fsum(numbers)

    def _distances(self, a: NDArray[np.integer[Any]], b: NDArray[np.integer[Any]]) -> NDArray[Any]:
        if self.matrix is not None:
            entries = self.matrix[a, b]
            return np.asarray(entries, dtype=np.int64 if self.integral else np.float64)
        assert self.coordinates is not None
        # Rows are taken several times faster by `take` than by an index.
        p, q = self.coordinates.take(a, axis=0), self.coordinates.take(b, axis=0)
        return self._row_distances(a == b if self.metric is Metric.GEO else None, p, q)

    def _link_lengths(self, cities: NDArray[np.integer[Any]]) -> NDArray[Any]:
        """From each city to the next one."""
        if self.matrix is not None:
            return self._distances(cities[:-1], cities[1:])
        assert self.coordinates is not None
        rows = self.coordinates.take(cities, axis=0)  # once: they lie anywhere in memory
        same = cities[:-1] == cities[1:] if self.metric is Metric.GEO else None
        return self._row_distances(same, rows[:-1], rows[1:])

    def _row_distances(
        self, same: NDArray[np.bool_] | None, p: NDArray[np.float64], q: NDArray[np.float64]
    ) -> NDArray[Any]:
        values = coordinate_distances(self.metric, p, q)
        if same is not None:
            values[same] = 0.0  # GEO's formula rounds up, to 1
        return values.astype(np.int64) if self.integral else values

    # Tours

    def check_tour(self, tour: ArrayLike, *, constraints: bool = True, threads: int = 1) -> None:
        """Accept a tour that takes each city once and has every fixed edge and fixed end.

        Parameters
        ----------
        tour : array_like of int
            Cities counted from 0.
        constraints : bool
            False leaves out fixed edges and fixed ends.
        threads : int
            How many share the work, if there is enough.

        Raises
        ------
        InvalidTour
            The message names the city, by its node number.
        """
        n = self.n
        if _is_long(tour) and len(tour) == n:
            from warptsp import _native

            cities, complete = tour, _native.takes_each_once(tour, threads)
        else:
            cities, complete = self._as_cities(tour), False
            if len(cities) == n:
                seen = np.zeros(n, dtype=np.bool_)
                seen[cities] = True
                complete = bool(seen.all())
        if not complete:
            raise InvalidTour(self._what_is_wrong(self._as_cities(cities)))
        if not constraints:
            return
        if self.open is not None:
            for end, position, word in ((self.open.start, 0, "start"), (self.open.end, -1, "end")):
                if end is not None and cities[position] != end:
                    actual = self.node_id(cities[position])
                    raise InvalidTour(f"the path must {word} at node {self.node_id(end)}, not at {actual}")
        if len(self.fixed_edges):
            places = np.empty(n, dtype=np.int32)
            places[cities] = np.arange(n, dtype=np.int32)
            apart = np.abs(places[self.fixed_edges[:, 0]] - places[self.fixed_edges[:, 1]])
            neighbours = apart == 1
            if self.open is None:
                neighbours |= apart == n - 1
            if not neighbours.all():
                a, b = self.fixed_edges[np.argmin(neighbours)]
                raise InvalidTour(f"the tour lacks the fixed edge {self.node_id(a)} - {self.node_id(b)}")

    def _as_cities(self, tour: ArrayLike) -> NDArray[np.int32]:
        cities = plain_array(tour, "the tour's cities", InvalidTour)
        if cities.ndim != 1:
            raise InvalidTour(f"a tour has one dimension, not shape {cities.shape}")
        cities = integer_array(cities, "the tour's cities", InvalidTour)
        self._check_range(cities)
        return np.asarray(cities, dtype=np.int32)

    def _check_range(self, cities: NDArray[Any]) -> None:
        if cities.size and (int(cities.min()) < 0 or int(cities.max()) >= self.n):
            bad = cities[(cities < 0) | (cities >= self.n)].flat[0]
            raise InvalidTour(f"there is no city {bad}: cities are counted from 0 to {self.n - 1}")

    def _what_is_wrong(self, cities: NDArray[np.int32]) -> str:
        counts = np.bincount(cities, minlength=self.n)
        faults = []
        for wrong, word in ((counts > 1, "more than once"), (counts == 0, "missing")):
            which = np.flatnonzero(wrong)
            if len(which):
                shown = ", ".join(str(self.node_id(city)) for city in which[:3])
                more = f" and {len(which) - 3} more" if len(which) > 3 else ""
                verb = "is" if len(which) == 1 else "are"
                noun = "node" if len(which) == 1 else "nodes"
                faults.append(f"{noun} {shown}{more} {verb} {'there ' if word != 'missing' else ''}{word}")
        what = f"a tour of {counted(len(cities))} for an instance{self._called()} of {self.n}"
        return f"{what}: {'; '.join(faults)}"

    def _called(self) -> str:
        return f" {self.name}" if self.name else ""

    def _id_range(self) -> str:
        if self.node_ids is None:
            return f"its nodes are 1 to {self.n}"
        return f"its {self.n} nodes lie between {self.node_ids.min()} and {self.node_ids.max()}"

    # Checks of the constraints

    def _checked_fixed_edges(self) -> NDArray[np.int32]:
        given = plain_array(self.fixed_edges, "fixed edges")
        if given.size == 0:
            return _no_edges()
        if given.ndim != 2 or given.shape[1] != 2 or given.dtype.kind not in "iu":
            raise InvalidProblem(
                f"fixed edges are pairs of cities, shape (m, 2), not {given.dtype} of shape {given.shape}"
            )
        n = self.n
        outside = (given < 0) | (given >= n)
        if outside.any():
            raise InvalidProblem(f"a fixed edge names city {given[outside][0]}: cities are 0 to {n - 1}")
        edges: NDArray[np.int32] = np.unique(np.sort(given.astype(np.int32), axis=1), axis=0)
        loops = edges[:, 0] == edges[:, 1]
        if loops.any():
            raise InvalidProblem(f"a fixed edge joins node {self.node_id(edges[loops][0, 0])} to itself")
        cities, degree = np.unique(edges, return_counts=True)
        if degree.max() > 2:
            city = self.node_id(cities[np.argmax(degree)])
            raise InvalidProblem(f"node {city} has {degree.max()} fixed edges: a tour has room for two")
        self._check_for_cycles(edges)
        return edges

    def _check_for_cycles(self, edges: NDArray[np.int32]) -> None:
        chain_end: dict[int, int] = {}  # for each end of a chain of fixed edges, the other end
        for taken, (a, b) in enumerate(edges.tolist(), start=1):
            end_a, end_b = chain_end.pop(a, a), chain_end.pop(b, b)
            if end_a == b:
                if taken == self.n and self.open is None and not chain_end:
                    return  # the whole tour is fixed
                raise InvalidProblem(
                    f"the fixed edges close a cycle through nodes {self.node_id(a)} and {self.node_id(b)}: "
                    "no tour has it"
                )
            chain_end[end_a], chain_end[end_b] = end_b, end_a

    def _check_open_path(self) -> None:
        if self.open is None:
            return
        if not isinstance(self.open, OpenPath):
            raise InvalidProblem(f"open: {shown(self.open)} is neither None nor an OpenPath(start, end)")
        n = self.n
        for city, word in ((self.open.start, "start"), (self.open.end, "end")):
            if city is not None and (isinstance(city, bool) or not isinstance(city, (int, np.integer))):
                raise InvalidProblem(
                    f"the path's {word} is {shown(city)}: a city counted from 0 is needed; "
                    "Problem.city finds the one of this name"
                )
            if city is not None and not 0 <= city < n:
                raise InvalidProblem(f"the path's {word} is city {shown(city)}: cities are 0 to {n - 1}")
        if self.open.start is not None and self.open.start == self.open.end and n > 1:
            both = self.node_id(self.open.start)
            raise InvalidProblem(f"the path starts and ends at node {both}: two different ends are needed")
        if len(self.fixed_edges):
            self._check_ends_with_fixed_edges(self.open)

    def _check_ends_with_fixed_edges(self, path: OpenPath) -> None:
        neighbours: dict[int, list[int]] = {}
        for a, b in self.fixed_edges.tolist():
            neighbours.setdefault(a, []).append(b)
            neighbours.setdefault(b, []).append(a)
        for city, word in ((path.start, "start"), (path.end, "end")):
            if city is not None and len(neighbours.get(city, [])) > 1:
                node = self.node_id(city)
                raise InvalidProblem(f"the path cannot {word} at node {node}: it has two fixed edges")
        if path.start is None or path.end is None:
            return
        previous, city, taken = -1, path.start, 1
        while onward := [other for other in neighbours.get(city, []) if other != previous]:
            previous, city, taken = city, onward[0], taken + 1
        if city == path.end and taken < self.n:
            raise InvalidProblem(
                f"fixed edges join the path's start, node {self.node_id(path.start)}, to its end, node "
                f"{self.node_id(path.end)}, and leave {counted(self.n - taken)} out"
            )


def _as_float(values: ArrayLike, what: str) -> NDArray[np.float64]:
    array = real_array(values, what)
    with np.errstate(over="ignore", invalid="ignore"):  # what is infinite then, or no number, is refused
        return np.asarray(array, dtype=np.float64)


def _dense(sparse: Any) -> NDArray[Any]:
    """All entries of a sparse matrix, each of which must be there."""
    entries = sparse.tocoo()
    shape = tuple(entries.shape)
    if len(shape) != 2 or shape[0] != shape[1]:
        raise InvalidProblem(f"the sparse matrix has shape {shape}: it must be square")
    values = real_array(entries.data, "the matrix's entries")
    _check_complete(np.asarray(entries.row), np.asarray(entries.col), shape[0])
    # Entries of one place are added, which a narrow type might not hold.
    dense = _zeros(shape[0], np.promote_types(values.dtype, np.int64))
    np.add.at(dense, (entries.row, entries.col), values)
    return dense


def _check_complete(rows: NDArray[Any], columns: NDArray[Any], n: int) -> None:
    """Accept the places of a sparse matrix's entries if none is missing, before n x n numbers are made."""
    if n > _MAX_CITIES:
        raise InvalidProblem(f"{n} cities: at most {_MAX_CITIES} are possible")
    off = rows != columns
    there = np.unique(rows[off].astype(np.int64) * n + columns[off])
    missing = n * (n - 1) - len(there)
    if not missing:
        return
    count = np.arange(len(there), dtype=np.int64)
    row, column = count // (n - 1), count % (n - 1)
    wanted = row * n + column + (column >= row)
    gap = int(np.argmin(np.append(there == wanted, False)))
    i, j = divmod(gap, n - 1)
    raise InvalidProblem(
        f"the sparse matrix has no entry ({i}, {j + (j >= i)}), and {missing} are missing in all: every "
        "distance is needed; scipy.sparse.csgraph.shortest_path fills in the ways through other cities, "
        "and a large number stands for a forbidden one"
    )


def _zeros(n: int, dtype: np.dtype[Any]) -> NDArray[Any]:
    """A matrix of n x n zeros."""
    try:
        return np.zeros((n, n), dtype=dtype)
    except (MemoryError, ValueError):
        size = n * n * dtype.itemsize / 1e9
        raise InvalidProblem(
            f"a matrix of {n} cities takes {size:.3g} GB, which this machine does not have: give points"
        ) from None


def _square(condensed: NDArray[Any]) -> NDArray[Any]:
    """The symmetric matrix whose rows above the diagonal these are."""
    n = (1 + math.isqrt(1 + 8 * len(condensed))) // 2
    if n * (n - 1) // 2 != len(condensed) or len(condensed) == 0:
        raise InvalidProblem(
            f"an array of shape {condensed.shape}: points have shape (n, 2) or (n, 3), and a condensed "
            "matrix has n (n - 1) / 2 numbers"
        )
    square = _zeros(n, condensed.dtype)
    begin = 0
    for i in range(n - 1):
        end = begin + n - 1 - i
        square[i, i + 1 :] = square[i + 1 :, i] = condensed[begin:end]
        begin = end
    return square


def _read_only(array: NDArray[Any]) -> NDArray[Any]:
    view = np.ascontiguousarray(array).view(np.ndarray)
    view.flags.writeable = False
    return view


def _bounds(coordinates: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    columns = range(coordinates.shape[1])
    low = np.array([coordinates[:, axis].min() for axis in columns])
    high = np.array([coordinates[:, axis].max() for axis in columns])
    return low, high


def _checked_coordinates(values: ArrayLike, metric: Metric) -> NDArray[np.float64]:
    coordinates = _as_float(values, "coordinates")
    if coordinates.ndim != 2 or coordinates.shape[1] != metric.dimensions:
        raise InvalidProblem(
            f"coordinates have shape {coordinates.shape}: {metric.name} needs (n, {metric.dimensions})"
        )
    if len(coordinates) == 0:
        raise InvalidProblem("the instance has no cities: at least one is needed")
    if len(coordinates) > _MAX_CITIES:
        raise InvalidProblem(f"{len(coordinates)} cities: at most {_MAX_CITIES} are possible")
    low, high = _bounds(coordinates)
    if not (np.isfinite(low).all() and np.isfinite(high).all()):
        row, axis = np.argwhere(~np.isfinite(coordinates))[0]
        raise InvalidProblem(
            f"coordinate {axis} of city {row} (counted from 0) is {coordinates[row, axis]}: "
            "finite numbers are needed"
        )
    if metric.geographic:
        _check_degrees(coordinates, low, high)
    _check_magnitude(metric, len(coordinates), low, high)
    checked = _read_only(coordinates)
    if _LOOKED_AT.get(id(values)) is not values:
        _look_for_other_units(coordinates, metric, low, high)
    _LOOKED_AT[id(checked)] = checked
    return checked


def _look_for_other_units(
    coordinates: NDArray[np.float64], metric: Metric, low: NDArray[np.float64], high: NDArray[np.float64]
) -> None:
    """Warn of numbers that the metric's formula takes, but that hardly anybody means by it."""
    if metric is Metric.GEO:
        _look_at_minutes(coordinates)
    elif metric in (Metric.XRAY1, Metric.XRAY2):
        _look_at_angles(metric, low, high)


def _check_magnitude(metric: Metric, n: int, low: NDArray[np.float64], high: NDArray[np.float64]) -> None:
    """Refuse what distances, or their sum over a tour, could not be computed of."""
    reach = float(np.maximum(np.abs(low), np.abs(high)).max())
    if reach > _LARGEST_COORDINATE:
        raise InvalidProblem(
            f"coordinates reach {reach:.3g}: squares of distances leave the range of floating point; "
            "scale the coordinates"
        )
    if metric.geographic:
        return
    span = float((high - low).max())
    if 0.0 < span < _SMALLEST_SPAN:
        raise InvalidProblem(
            f"the cities spread over {span:.3g}: squares of distances leave the range of floating point; "
            "scale the coordinates"
        )
    if metric.integral and 100.0 * span > EXACT_INTEGERS:
        raise InvalidProblem(
            f"the cities spread over {span:.3g}: {metric.name} rounds distances to integers, which is "
            f"exact only up to {EXACT_INTEGERS / 100.0:.0e}; scale the coordinates or use EXACT_2D"
        )
    longest = (100.0 if metric in (Metric.XRAY1, Metric.XRAY2) else 3.0) * span
    if metric.integral and longest * n > _LARGEST_INTEGER_LENGTH:
        raise InvalidProblem(
            f"{n} cities spread over {span:.3g}: lengths of tours leave the integers of 64 bits; scale the "
            "coordinates or use EXACT_2D"
        )


def _check_degrees(
    coordinates: NDArray[np.float64], low: NDArray[np.float64], high: NDArray[np.float64]
) -> None:
    for axis, word, least, most in ((0, "latitude", -90.0, 90.0), (1, "longitude", -180.0, 360.0)):
        if low[axis] < least or high[axis] > most:
            column = coordinates[:, axis]
            row = int(np.argmax((column < least) | (column > most)))
            raise InvalidProblem(
                f"{word} {column[row]:.15g} of city {row} (counted from 0) lies outside {least:g} to "
                f"{most:g}: degrees are needed, latitude before longitude"
            )


def _look_at_minutes(coordinates: NDArray[np.float64]) -> None:
    # Published instances have a few such numbers, which every program reads as the formula has it.
    minutes = np.round(100.0 * np.abs(coordinates - np.trunc(coordinates)), 6)
    wrong = minutes >= 60.0
    if wrong.any():
        row, axis = np.argwhere(wrong)[0]
        _log.warning(
            "%d coordinates have 60 minutes or more, such as %.15g of city %d (counted from 0): GEO takes "
            "DDD.MM, degrees and minutes; for decimal degrees use GREAT_CIRCLE",
            int(wrong.sum()),
            coordinates[row, axis],
            row,
        )


def _look_at_angles(metric: Metric, low: NDArray[np.float64], high: NDArray[np.float64]) -> None:
    if (low < -360.0).any() or (high > 360.0).any():
        _log.warning(
            "coordinates lie between %.6g and %.6g: %s takes angles in degrees, of which none is beyond 360",
            low.min(),
            high.max(),
            metric.name,
        )


def _check_labels(labels: Any, n: int) -> None:
    scalar = isinstance(labels, str) or (isinstance(labels, np.ndarray) and labels.ndim != 1)
    if scalar or not hasattr(labels, "__len__") or not hasattr(labels, "__getitem__"):
        raise InvalidProblem(f"labels are {shown(labels)}: a list of texts is needed")
    if len(labels) != n:
        raise InvalidProblem(
            f"{counted(len(labels), 'label', 'labels')} for {counted(n)}: one for each city is needed"
        )
    try:
        wrong = next((city for city in range(n) if not isinstance(labels[city], str)), None)
    except (LookupError, TypeError):
        raise InvalidProblem(f"labels are a {type(labels).__name__}: a list of texts is needed") from None
    if wrong is not None:
        raise InvalidProblem(
            f"label {shown(labels[wrong])} of city {wrong} (counted from 0): a text is needed"
        )


def _well_formed_labels(labels: Sequence[str]) -> Sequence[str]:
    """Texts that every output can hold."""
    try:
        "".join(labels).encode()
    except UnicodeEncodeError:  # seldom: looking at each is slower
        return [well_formed(label) for label in labels]
    return labels


def _checked_node_ids(values: ArrayLike, n: int) -> NDArray[np.int64]:
    ids = plain_array(values, "node_ids")
    if ids.shape != (n,) or ids.dtype.kind not in "iu":
        raise InvalidProblem(f"node_ids are {ids.dtype} of shape {ids.shape}: {n} integers are needed")
    ordered = np.sort(ids)
    if int(ordered[-1]) >= 1 << 63:
        raise InvalidProblem(f"node id {ordered[-1]} is too large: the maximum is 2**63 - 1")
    ids = ids.astype(np.int64)
    if ordered[0] < 0:
        raise InvalidProblem(f"node id {ordered[0]} is negative")
    repeated = np.flatnonzero(ordered[1:] == ordered[:-1])
    if len(repeated):
        raise InvalidProblem(f"node id {ordered[repeated[0]]} is used for more than one city")
    return np.asarray(_read_only(ids), dtype=np.int64)


def _checked_matrix(
    values: ArrayLike, may_be_asymmetric: bool
) -> tuple[NDArray[np.int32] | NDArray[np.float64], bool]:
    """The matrix as it is kept, and whether it is asymmetric."""
    matrix = real_array(values, "the matrix's entries")
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise InvalidProblem(f"the matrix has shape {matrix.shape}: it must be square")
    n = len(matrix)
    if n == 0:
        raise InvalidProblem("the instance has no cities: at least one is needed")
    kept: NDArray[Any]
    if np.issubdtype(matrix.dtype, np.integer):
        small = np.iinfo(np.int32)
        fits = int(matrix.max()) <= small.max and int(matrix.min()) >= small.min
        kept = matrix.astype(np.int32 if fits else np.float64, order="C", copy=False)
    else:
        kept = np.ascontiguousarray(_as_float(matrix, "the matrix's entries"))
    if np.diagonal(kept).any():
        if np.may_share_memory(kept, matrix):
            kept = kept.copy()
        np.fill_diagonal(kept, 0)
    real = kept.dtype == np.float64
    exact, asymmetric = True, False
    block = max(1, min(n, 4 * 1024 * 1024 // n))
    longest = _LARGEST_LENGTH / n
    for begin in range(0, n, block):
        rows, columns = kept[begin : begin + block], kept[:, begin : begin + block].T
        if real and not np.isfinite(rows).all():
            i, j = np.argwhere(~np.isfinite(rows))[0]
            raise InvalidProblem(
                f"entry ({begin + i}, {j}) of the matrix is {rows[i, j]}: finite distances are needed; "
                "give a forbidden edge a large one"
            )
        if (rows < 0).any():
            i, j = np.argwhere(rows < 0)[0]
            raise InvalidProblem(
                f"entry ({begin + i}, {j}) of the matrix is {rows[i, j]}: distances are not negative; "
                "adding the same number to every entry leaves the best tour as it is"
            )
        if real and (rows > longest).any():
            i, j = np.argwhere(rows > longest)[0]
            raise InvalidProblem(
                f"entry ({begin + i}, {j}) of the matrix is {rows[i, j]}: the lengths of tours of {n} cities "
                f"leave the range of floating point; entries up to {longest:.3g} are possible, and an edge "
                f"{n} times as long as the longest other one is as good as forbidden"
            )
        if not asymmetric and not np.array_equal(rows, columns):
            exact = False
            tolerance = _SYMMETRY_TOLERANCE * np.maximum(rows, columns) if real else 0
            differing = np.abs(rows - columns) > tolerance
            asymmetric = bool(differing.any())
            if asymmetric and not may_be_asymmetric:
                i, j = np.argwhere(differing)[0]
                raise InvalidProblem(
                    f"the matrix is not symmetric: entry ({begin + i}, {j}) is {rows[i, j]} and entry "
                    f"({j}, {begin + i}) is {kept[j, begin + i]}; if that is meant, give "
                    f"{as_called('asymmetric=True', '--asymmetric')}"
                )
    if not (exact or asymmetric):
        _log.info("the matrix is symmetric but for rounding errors: the mean of both entries is used")
        kept = 0.5 * (kept + kept.T)
    checked = _read_only(kept)
    if real:
        return np.asarray(checked, dtype=np.float64), asymmetric
    return np.asarray(checked, dtype=np.int32), asymmetric


def _is_long(tour: ArrayLike) -> TypeGuard[NDArray[np.int32]]:
    """Tell whether native code checks this tour and measures it, on threads that share no interpreter."""
    if not isinstance(tour, np.ndarray) or tour.dtype != np.int32 or tour.ndim != 1:
        return False
    return len(tour) >= WORTH_THREADS


def _in_threads(work: Callable[[int], _T], arguments: Sequence[int], threads: int) -> list[_T]:
    """What `work` returns for each argument, in order; NumPy lets go of the interpreter in its loops."""
    if threads == 1 or len(arguments) < 2:
        return [work(argument) for argument in arguments]
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(min(threads, len(arguments))) as pool:
        return list(pool.map(work, arguments))


def _integer_sum(distances: NDArray[np.int64]) -> int:
    """Their sum in unlimited integers."""
    low = int((distances & 0xFFFFFFFF).sum())
    return (int((distances >> 32).sum()) << 32) + low


def _exact_parts(distances: NDArray[np.float64]) -> list[float]:
    """Numbers whose sum is that of the distances, to about 80 bits.

    Each distance is cut into a multiple of a large unit, a multiple of a small unit, and a rest. A chunk's
    multiples of one unit add up without rounding, in any order (Rump, Ogita and Oishi, *Accurate
    floating-point summation*, 2008); only the rests, below 2**-60 of the largest distance, are rounded.
    """
    largest = float(distances.max())
    if largest == 0.0:
        return []
    parts = []
    rest = distances
    # 2**16 addends of up to 2**30 units each stay below 2**53.
    for bits in (30, 60):
        shift = math.ldexp(1.5, math.frexp(largest)[1] - bits + 52)
        multiple = (rest + shift) - shift
        parts.append(float(multiple.sum()))
        rest = rest - multiple
    parts.append(float(rest.sum()))
    return parts
