"""An instance: cities, a metric, and what every tour must respect. Long: users read all about it here.

`names` has what it says of its cities, `lengths` its distances, `search` how searches see it.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from warptsp._checks import shown
from warptsp._offers import find
from warptsp._words import counted
from warptsp.errors import InvalidProblem
from warptsp.problem.checks import (
    check_display_degrees,
    check_extra,
    checked_coordinates,
    checked_display,
    checked_labels,
    checked_matrix,
    checked_node_ids,
    finite_bounds,
)
from warptsp.problem.constraints import OpenPath, check_open_path, checked_fixed_edges, no_edges, with_cities
from warptsp.problem.doubts import doubt_about_rounding
from warptsp.problem.known import KnownLength, digest_of, known_grid, known_length_by_name
from warptsp.problem.matrices import (
    Distance,
    are_distances,
    dense_matrix,
    matrix_of_function,
    square_matrix,
    without_none,
)
from warptsp.problem.metric import Metric
from warptsp.problem.missing import check_connected, missing_arcs
from warptsp.problem.origin import Origin, TableStyle, Weights, check_system, checked_unit, checked_weights
from warptsp.problem.search import Searched
from warptsp.problem.tours import as_cities, check_constraints, checked_permutation
from warptsp.problem.values import plain_array, point_array
from warptsp.text import well_formed

_log = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False, repr=False)
class Problem(Searched, Origin):
    """A travelling-salesman instance, checked when it is made.

    Cities are counted from 0. The arrays are read-only views where that is possible without a copy.

    Attributes
    ----------
    n : int
        Number of cities.
    metric : Metric
    coordinates : ndarray of float64, shape (n, 2) or (n, 3), or None
        Finite; degrees and minutes as ``DDD.MM`` (latitude, longitude) for GEO, decimal degrees (latitude,
        longitude) for GREAT_CIRCLE. None for a matrix.
    matrix : ndarray of int32, int64, object or float64, shape (n, n), or None
        Of integers of 64 bits where 32 do not hold them, and of Python's own (object) above 2**53.
        Non-negative, with a zero diagonal, symmetric unless `asymmetric` is set; for EXPLICIT only.
    fixed_edges : ndarray of int32, shape (m, 2)
        Pairs of cities that must be neighbours in the tour; with `asymmetric`, the second must follow the
        first.
    name, comment : str
    node_ids : ndarray of int64, shape (n,), or None
        The cities' numbers in the file, non-negative; None means 1, 2, ..., n.
    labels : sequence of str, or None
        The cities' names.
    display : ndarray of float64, shape (n, 2), or None
        Where to draw the cities of a matrix. Never used for distances.
    extra : mapping of str to sequence, or None
        Other columns of the table that the instance comes from, with an entry for each city: tours in tables
        keep them. Never used for distances.
    open : OpenPath or None
        Set for a path instead of a closed tour.
    asymmetric : bool
        Whether distances may differ by direction: entry (i, j) of the matrix is the distance from i to j.
        Pass True to allow that; it becomes False if the matrix turns out to be symmetric and no edge is
        fixed.
    wall : int, float or None
        Entries of the matrix from this value on are missing arcs, which no tour has. Infinite
        entries always are. In `matrix` all of them have the value `wall`, which is chosen so that no tour
        without a missing arc is as long. None if every arc is there.
    display_degrees : bool
        Whether `display` holds longitudes and latitudes in decimal degrees, for files of maps.
    unit : str
        That of lengths: ``"m"``, ``"km"``, ``"s"``, or empty if unknown; GREAT_CIRCLE and GEO fix it.
    other_weights : tuple of (ndarray of shape (n, n), str), or None
        Other lengths of the same arcs and their unit, such as distances beside durations. Never searched.
    crs : str or None
        The coordinate reference system of coordinates in a plane, such as ``"EPSG:25833"``.
    style : TableStyle or None
        How the table was written that the instance comes from.

    Raises
    ------
    InvalidProblem
        The message names the offending entry.
    """

    metric: Metric
    coordinates: NDArray[np.float64] | None = None
    matrix: NDArray[np.int32] | NDArray[np.int64] | NDArray[np.float64] | NDArray[np.object_] | None = None
    fixed_edges: NDArray[np.int32] = field(default_factory=no_edges)
    name: str = ""
    comment: str = ""
    node_ids: NDArray[np.int64] | None = None
    labels: Sequence[str] | None = None
    display: NDArray[np.float64] | None = None
    open: OpenPath | None = None
    asymmetric: bool = False
    display_degrees: bool = False
    extra: Mapping[str, Sequence[Any]] | None = None
    wall: int | float | None = None
    unit: str = ""
    other_weights: Weights | None = None
    crs: str | None = None
    style: TableStyle | None = None

    def __repr__(self) -> str:
        path = "" if self.open is None else f", open={self.open}"
        fixed = f", {len(self.fixed_edges)} fixed edges" if len(self.fixed_edges) else ""
        metric = self.metric.name + (", asymmetric" if self.asymmetric else "")
        return f"<Problem {self.name!r}: {counted(self.n)}, {metric}{fixed}{path}>"

    def __post_init__(self) -> None:
        def put(name: str, value: Any) -> None:
            object.__setattr__(self, name, value)

        if not isinstance(self.metric, (str, Metric)) and not callable(self.metric):
            raise InvalidProblem(
                f"metric is {shown(self.metric)}: Problem.from_array takes points or a matrix alone"
            )
        put("metric", Metric.parse(self.metric))
        for field_name in ("name", "comment"):
            if not isinstance(value := getattr(self, field_name), str):
                raise InvalidProblem(f"{field_name} is {shown(value)}: a string is needed")
        for field_name in ("asymmetric", "display_degrees"):
            if not isinstance(value := getattr(self, field_name), (bool, np.bool_)):
                raise InvalidProblem(f"{field_name} is {shown(value)}: True or False is needed")
        directed = bool(self.asymmetric)
        if self.metric is Metric.EXPLICIT:
            if self.matrix is None or self.coordinates is not None:
                raise InvalidProblem("metric EXPLICIT takes a matrix and no coordinates")
            matrix, asymmetric, wall = checked_matrix(self.matrix, directed, self.wall)
            put("matrix", matrix)
            put("asymmetric", asymmetric)
            put("wall", wall)
        else:
            if self.coordinates is None or self.matrix is not None:
                raise InvalidProblem(f"metric {self.metric.name} takes coordinates and no matrix")
            if self.asymmetric:
                raise InvalidProblem(
                    f"metric {self.metric.name} is symmetric: only a matrix can be asymmetric"
                )
            if self.wall is not None:
                raise InvalidProblem(f"wall is {shown(self.wall)}: only arcs of a matrix can be missing")
            coordinates, bounds = checked_coordinates(self.coordinates, self.metric)
            put("coordinates", coordinates)
            put("bounds", bounds)
        put("n", n := len(self.given_coordinates() if self.matrix is None else self.matrix))
        put("unit", checked_unit(self.unit, self.metric))
        check_system(self.crs)
        if self.other_weights is not None:
            put("other_weights", checked_weights(self.other_weights, n))
        if self.node_ids is not None:
            put("node_ids", checked_node_ids(self.node_ids, n))
        put("name", well_formed(self.name))
        put("comment", well_formed(self.comment))
        if self.labels is not None:
            put("labels", checked_labels(self.labels, n))
        if self.extra is not None:
            check_extra(self.extra, n)
        if self.display is not None:
            put("display", checked_display(self.display, n))
        if self.display_degrees:
            check_display_degrees(self.display)
        fixed = checked_fixed_edges(self.fixed_edges, self, closed=self.open is None, directed=directed)
        put("fixed_edges", fixed)
        # Of a symmetric matrix, too, it matters which of two edges is taken in which direction.
        put("asymmetric", self.asymmetric or (directed and len(fixed) > 0))
        if self.open is not None:
            put("open", with_cities(self.open, self))
            check_open_path(self.open, self.fixed_edges, self, directed=self.asymmetric)

    @classmethod
    def from_points(
        cls, points: ArrayLike, metric: Metric | str | Distance | None = None, **fields: Any
    ) -> Problem:
        """An instance of points.

        Parameters
        ----------
        points : array_like, shape (n, 2) or (n, 3)
            Latitude and longitude, in this order, for GEO and GREAT_CIRCLE.
        metric : Metric, str or callable, optional
            By default the Euclidean distance, not rounded. SciPy's names are known, too: ``"euclidean"``,
            ``"cityblock"`` or ``"manhattan"``, ``"chebyshev"``, ``"haversine"``. A function of two points is
            called for each pair of up to 1000, before any limit counts, and the instance is their matrix.
        **fields
            Other attributes, for example ``name`` or ``labels``.
        """
        coordinates = point_array(points, "points")
        if coordinates.ndim != 2 or coordinates.shape[1] not in (2, 3):
            raise InvalidProblem(f"points have shape {coordinates.shape}: (n, 2) or (n, 3) is needed")
        if metric is None:
            metric = Metric.EXACT_2D if coordinates.shape[1] == 2 else Metric.EXACT_3D
        if callable(metric):
            finite_bounds(coordinates)
            matrix = matrix_of_function(coordinates, metric)
            return cls.from_matrix(matrix, **{"display": coordinates[:, :2], **fields})
        named = Metric.parse(metric, coordinates.shape[1])
        return cls(named.of(metric, coordinates), coordinates=coordinates, **fields)

    @classmethod
    def from_matrix(cls, matrix: ArrayLike, **fields: Any) -> Problem:
        """An instance of a matrix of distances.

        Parameters
        ----------
        matrix : array_like or sparse array, shape (n, n), or array_like, shape (n (n - 1) / 2,)
            Entry (i, j) is the distance from city i to city j, infinite or None if that arc is missing: then
            no tour has it. The diagonal is ignored. A vector is a condensed matrix, as
            ``scipy.spatial.distance.pdist`` returns it: the rows above the diagonal. Of a sparse SciPy array,
            arcs that are not stored are missing.
        **fields
            Other attributes, for example ``labels``; ``asymmetric=True`` if the matrix need not be symmetric.
        """
        if hasattr(matrix, "tocoo"):
            values, missing = dense_matrix(matrix)
            fields.setdefault("wall", missing)
        else:
            values = without_none(plain_array(matrix, "the matrix's entries"))
            if values.ndim == 1:
                values = square_matrix(values)
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
            Of pandas, GeoPandas or similar packages: with the columns ``x, y``, ``x, y, z`` or ``lat, lon``,
            and optionally ``name`` and ``id`` (under any name that a CSV file may use); with points as
            geometry, whose coordinate reference system decides whether distances are those of the plane, in
            its unit, or great circles, in metres; or with a square table of distances whose rows and columns
            have the same names.
        metric : Metric or str, optional
            A metric other than that of the columns or the coordinate reference system, for the same kind of
            coordinates.
        columns : mapping, optional
            Which column holds what: the keys are some of ``x``, ``y``, ``z``, ``lat``, ``lon``, ``name`` and
            ``id``, the values names of columns. Coordinates named here are taken instead of the geometry.
        **fields
            Other attributes. Names are those of the column ``name``, or of the index if it holds strings.
        """
        problem: Problem = find("problem of a data frame")(frame, metric, columns, **fields)
        return problem

    @classmethod
    def from_osrm(cls, table: Any, annotation: str | None = None, **fields: Any) -> Problem:
        """An instance of a table of durations or distances, as OSRM, Valhalla and GraphHopper give it.

        Parameters
        ----------
        table : mapping
            The parsed JSON response of OSRM's ``table``, Valhalla's ``sources_to_targets`` or GraphHopper's
            ``matrix``: durations in seconds or distances, from each place to each; where one is null, the
            arc is missing. ``sources``, if present, say where pictures draw the places, and their names.
        annotation : {"durations", "distances"}, optional
            Which of the two; by default the durations if it has both.
        **fields
            Other attributes, for example ``labels``.
        """
        problem: Problem = find("problem of an OSRM table")(table, annotation, **fields)
        return problem

    @classmethod
    def from_array(cls, array: ArrayLike, *, asymmetric: bool = False, **fields: Any) -> Problem:
        """An instance of distances if the array is square or condensed, otherwise of points.

        Two rows of two numbers, or three of three, could be either. They are distances with
        ``asymmetric=True``, if one is infinite, or if they are symmetric with a zero diagonal, and so are
        three rows with a zero diagonal and no other zero, which are distances with a mistake. With a
        diagonal of one large number they are refused, and otherwise they are points. A warning says what
        they were taken for.
        """
        values = without_none(plain_array(array, "the numbers"))
        n = len(values) if values.ndim else 0
        square = values.ndim == 2 and values.shape[1] == n
        if square and n in (2, 3) and not asymmetric:
            square = are_distances(values)
            _log.warning(
                "%d rows of %d numbers are taken for %s; Problem.from_points or from_matrix says which",
                n,
                n,
                "distances" if square else "points",
            )
        if square or values.ndim == 1:
            return cls.from_matrix(values, asymmetric=asymmetric, **fields)
        return cls.from_points(values, **fields)

    @cached_property
    def doubt(self) -> str | None:
        """Why the metric is doubtful for these coordinates, as a warning says it; None if it is not."""
        return None if self.coordinates is None else doubt_about_rounding(self.metric, self.coordinates)

    @cached_property
    def known_length(self) -> KnownLength | None:
        """The optimal or best known length, if this is one of the published instances.

        The name alone is not trusted: metric, fixed edges and all cities in file order must agree too.
        """
        if not self.name or self.open is not None:
            return None
        if self.metric is Metric.EUC_2D and self.coordinates is not None and not len(self.fixed_edges):
            lattice = known_grid(self.name, self.coordinates)
            if lattice is not None:
                return lattice
        fixed = tuple((self.node_id(a), self.node_id(b)) for a, b in self.fixed_edges[:8])
        entry = known_length_by_name(self.name, fixed)
        if entry is None or (entry.n, entry.metric) != (self.n, self.metric):
            return None
        cities = self.given_matrix() if self.coordinates is None else self.coordinates
        return entry if entry.digest == digest_of(cities) else None

    def missing_arcs(self, tour: ArrayLike) -> NDArray[np.int32]:
        """Return the arcs of a tour that are missing from the matrix.

        Returns
        -------
        ndarray of int32, shape (m, 2)
            The cities that each arc leaves and enters; empty if the tour exists.
        """
        if self.wall is None:
            return no_edges()
        cities = as_cities(tour, self)
        arcs = np.stack([cities, np.roll(cities, -1)], axis=1)[: len(cities) - (self.open is not None)]
        return missing_arcs(self.given_matrix(), self.wall, arcs)

    def check_connected(self) -> None:
        """Accept arcs that may make a tour, as far as that is seen at once.

        What searches for a tour asks this, since whether arcs suffice depends on the ends of the path, which
        may be given last.

        Raises
        ------
        InvalidProblem
            There is no tour: no arc leaves a city, or enters it, or no way leads to it, or a fixed edge is
            missing from the matrix.
        """
        if self.wall is not None:
            check_connected(self.given_matrix(), self.wall, self.open, self.fixed_edges, self)

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
        cities = checked_permutation(tour, self, threads)
        if constraints:
            check_constraints(cities, self.open, self.fixed_edges, self, directed=self.asymmetric)
