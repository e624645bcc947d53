"""Checks of what an instance is made of; each returns it as it is kept, or raises `InvalidProblem`."""

import logging
from collections.abc import Mapping, Sequence
from typing import Any
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import ArrayLike, NDArray

from warptsp._checks import shown
from warptsp._words import as_called, counted
from warptsp.errors import InvalidProblem
from warptsp.machine import available_threads
from warptsp.problem.metric import Metric
from warptsp.problem.missing import with_wall
from warptsp.problem.threads import in_threads
from warptsp.problem.values import (
    EXACT_INTEGERS,
    float_array,
    largest_bits,
    plain_array,
    point_array,
    read_only,
    real_array,
)
from warptsp.text import well_formed

_log = logging.getLogger(__name__)
# The coordinates of problems, by identity: whoever makes a problem of another one's is not warned again.
_LOOKED_AT: WeakValueDictionary[int, NDArray[np.float64]] = WeakValueDictionary()

_FEW_ROWS = 5000  # whose columns are copied: one reduction of all takes less than one of each
_BLOCK = 1 << 16  # rows looked at together, of which a cache holds all while their columns are
_MANY_ROWS = 1 << 24  # worth several threads: 0.05 s of one
# Squares of differences must neither overflow nor vanish, nor those of neighbours lose digits.
_LARGEST_COORDINATE = 1e150
_SMALLEST_SPAN = 1e-140
# Sums over a tour, by which lengths are exact, must not overflow: of reals, and of integers in 64 bits.
_LARGEST_LENGTH = 1e300
_LARGEST_INTEGER_LENGTH = 2.0**62
# Entries (i, j) and (j, i) of a real matrix may differ by this share of the larger one, which arithmetic in
# another order makes of them; not where both are whole.
_SYMMETRY_TOLERANCE = 1e-12


def bounds_of(coordinates: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The lowest and the highest coordinate of each axis."""
    if len(coordinates) <= _FEW_ROWS:
        rows = np.ascontiguousarray(coordinates.T)
        return rows.min(axis=1), rows.max(axis=1)

    def of_block(begin: int) -> list[tuple[np.float64, np.float64]]:
        block = coordinates[begin : begin + _BLOCK]
        return [(column.min(), column.max()) for column in block.T]

    # A file that is mapped into memory is read once.
    threads = available_threads() if len(coordinates) >= _MANY_ROWS else 1
    found = np.array(in_threads(of_block, range(0, len(coordinates), _BLOCK), threads))
    return found[:, :, 0].min(axis=0), found[:, :, 1].max(axis=0)


def checked_display(values: ArrayLike, n: int) -> NDArray[np.float64]:
    """Where cities are drawn, read-only."""
    display = float_array(values, "display coordinates")
    if display.shape != (n, 2):
        raise InvalidProblem(f"display coordinates have shape {display.shape}: ({n}, 2) is needed")
    if not np.isfinite(display).all():
        raise InvalidProblem("display coordinates hold NaN or infinity: finite numbers are needed")
    if (largest := float(np.abs(display).max(initial=0.0))) > _LARGEST_COORDINATE:
        raise InvalidProblem(
            f"display coordinates hold {largest:.3g}: numbers up to {_LARGEST_COORDINATE:g} can be drawn"
        )
    return read_only(display)


def check_display_degrees(display: NDArray[np.float64] | None) -> None:
    """Accept longitudes and latitudes."""
    if display is None:
        raise InvalidProblem("display_degrees says what display is, and there is no display")
    low, high = bounds_of(display)
    _check_degrees(display[:, ::-1], low[::-1], high[::-1])


def finite_bounds(coordinates: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The lowest and the highest coordinate of each axis, of at least one city and finite."""
    if len(coordinates) == 0:
        raise InvalidProblem("the instance has no cities: at least one is needed")
    low, high = bounds_of(coordinates)
    if not (np.isfinite(low).all() and np.isfinite(high).all()):
        row, axis = np.argwhere(~np.isfinite(coordinates))[0]
        raise InvalidProblem(
            f"coordinate {axis} of city {row} (counted from 0) is {coordinates[row, axis]}: "
            "finite numbers are needed"
        )
    return low, high


def checked_coordinates(
    values: ArrayLike, metric: Metric
) -> tuple[NDArray[np.float64], tuple[NDArray[np.float64], NDArray[np.float64]]]:
    """The coordinates of cities, read-only, and the lowest and highest of each axis.

    A warning if they look like those of another metric.
    """
    coordinates = point_array(values, "coordinates")
    if coordinates.ndim != 2 or coordinates.shape[1] != metric.dimensions:
        raise InvalidProblem(
            f"coordinates have shape {coordinates.shape}: {metric.name} needs (n, {metric.dimensions})"
        )
    low, high = finite_bounds(coordinates)
    if metric.geographic:
        _check_degrees(coordinates, low, high)
    _check_magnitude(metric, len(coordinates), low, high)
    checked = read_only(coordinates)
    if metric.angular or metric is Metric.GEO:
        if _LOOKED_AT.get(id(values)) is not values:
            _look_for_other_units(coordinates, metric, low, high)
        _LOOKED_AT[id(checked)] = checked
    return checked, (read_only(low), read_only(high))


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
    if not metric.integral:
        return
    longest = (100.0 if metric.angular else 3.0) * span
    if 100.0 * span > EXACT_INTEGERS:
        raise InvalidProblem(
            f"the cities spread over {span:.3g}: {metric.name} rounds distances to integers, which is "
            f"exact only up to {EXACT_INTEGERS / 100.0:.0e}; {_cure(metric)}"
        )
    if longest * n > _LARGEST_INTEGER_LENGTH:
        raise InvalidProblem(
            f"{n} cities spread over {span:.3g}: lengths of tours leave the integers of 64 bits; "
            f"{_cure(metric)}"
        )


def _cure(metric: Metric) -> str:
    return "scale the coordinates" + ("" if metric.angular else f" or use {metric.unrounded.name}")


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


def _look_for_other_units(
    coordinates: NDArray[np.float64], metric: Metric, low: NDArray[np.float64], high: NDArray[np.float64]
) -> None:
    """Warn of numbers that the metric's formula takes, but that hardly anybody means by it."""
    if metric.angular:
        if (low < -360.0).any() or (high > 360.0).any():
            beyond = f"{metric.name} takes angles in degrees, of which none is beyond 360"
            _log.warning("coordinates lie between %.6g and %.6g: %s", low.min(), high.max(), beyond)
        return
    # Published instances have a few such numbers, which every program reads as the formula has it.
    minutes = np.round(100.0 * np.abs(coordinates - np.trunc(coordinates)), 6)
    if (wrong := minutes >= 60.0).any():
        row, axis = np.argwhere(wrong)[0]
        _log.warning(
            "%d coordinates have 60 minutes or more, such as %.15g of city %d (counted from 0): GEO takes "
            "DDD.MM, degrees and minutes; for decimal degrees use GREAT_CIRCLE",
            int(wrong.sum()),
            coordinates[row, axis],
            row,
        )


def checked_labels(labels: Any, n: int) -> Sequence[str]:
    """The names of cities, each of which every output can hold."""
    scalar = isinstance(labels, str) or (isinstance(labels, np.ndarray) and labels.ndim != 1)
    if scalar or not hasattr(labels, "__len__") or not hasattr(labels, "__getitem__"):
        raise InvalidProblem(f"labels are {shown(labels)}: a list of strings is needed")
    if len(labels) != n:
        raise InvalidProblem(
            f"{counted(len(labels), 'label', 'labels')} for {counted(n)}: one for each city is needed"
        )
    try:
        plain = type(labels) is list and set(map(type, labels)) == {str}
        wrong = None if plain else next((c for c in range(n) if not isinstance(labels[c], str)), None)
    except (LookupError, TypeError):
        raise InvalidProblem(f"labels are a {type(labels).__name__}: a list of strings is needed") from None
    if wrong is not None:
        raise InvalidProblem(
            f"label {shown(labels[wrong])} of city {wrong} (counted from 0): a string is needed"
        )
    try:
        "".join(labels).encode()
    except UnicodeEncodeError:  # seldom: looking at each is slower
        return [well_formed(label) for label in labels]
    kept: Sequence[str] = labels
    return kept


def checked_node_ids(values: ArrayLike, n: int) -> NDArray[np.int64]:
    """Different numbers of cities, read-only."""
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
    return np.asarray(read_only(ids), dtype=np.int64)


def checked_matrix(
    values: ArrayLike, may_be_asymmetric: bool, wall: Any = None
) -> tuple[NDArray[Any], bool, int | float | None]:
    """The matrix as it is kept, whether it is asymmetric, and the entry of missing arcs."""
    known = wall if isinstance(wall, int) else None  # of a matrix that was checked before
    matrix = real_array(values, "the matrix's entries", below=known, any_size=True)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise InvalidProblem(f"the matrix has shape {matrix.shape}: it must be square")
    n = len(matrix)
    if n == 0:
        raise InvalidProblem("the instance has no cities: at least one is needed")
    if matrix.dtype == np.object_:
        matrix, wall = _narrowed(matrix, wall)
    kept: NDArray[Any]
    negative = True  # may be
    if matrix.dtype.kind in "iu":
        whole = matrix.astype(np.int32) if matrix.dtype.itemsize < 4 else matrix
        small = np.iinfo(np.int32)
        negative = largest_bits(whole) > small.max
        fits = not negative or (int(whole.max()) <= small.max and int(whole.min()) >= small.min)
        kept = whole.astype(np.int32 if fits else np.int64, order="C", copy=False)
    elif matrix.dtype == np.object_:
        kept = np.array(matrix, order="C")
    else:
        kept = np.ascontiguousarray(float_array(matrix, "the matrix's entries"))
    if np.diagonal(kept).any():
        if np.may_share_memory(kept, matrix):
            kept = kept.copy()
        np.fill_diagonal(kept, 0)
    kept, wall = with_wall(kept, wall)
    real = kept.dtype == np.float64
    bounded = kept.dtype.kind != "i"
    exact, asymmetric = True, False
    block = max(1, min(n, 4 * 1024 * 1024 // n))
    longest = _LARGEST_LENGTH / n
    for begin in range(0, n, block):
        rows, columns = kept[begin : begin + block], kept[:, begin : begin + block].T
        if real and not np.isfinite(rows).all():
            i, j = np.argwhere(~np.isfinite(rows))[0]
            raise InvalidProblem(
                f"entry ({begin + i}, {j}) of the matrix is {rows[i, j]}: a distance is needed, or infinity "
                "for an arc that is missing"
            )
        if negative and (rows < 0).any():
            i, j = np.argwhere(rows < 0)[0]
            raise InvalidProblem(
                f"entry ({begin + i}, {j}) of the matrix is {rows[i, j]}: distances are not negative; "
                "infinity stands for an arc that is missing; adding the same number to every entry does not "
                "change the best tour"
            )
        if bounded and (rows > longest).any():
            i, j = np.argwhere(rows > longest)[0]
            raise InvalidProblem(
                f"entry ({begin + i}, {j}) of the matrix is {rows[i, j]}: the lengths of tours of {n} cities "
                f"leave the range of floating point; entries up to {longest:.3g} are possible, and an edge "
                f"{n} times as long as the longest other one is as good as forbidden"
            )
        if not asymmetric and not np.array_equal(rows, columns):
            exact = False
            differing = rows != columns
            if real:
                near = np.abs(rows - columns) <= _SYMMETRY_TOLERANCE * np.maximum(rows, columns)
                differing &= ~near | (_are_whole(rows) & _are_whole(columns))
            asymmetric = bool(differing.any())
            if asymmetric and not may_be_asymmetric:
                i, j = np.argwhere(differing)[0]
                one, other = ("missing" if d == wall else d for d in (rows[i, j], columns[i, j]))
                raise InvalidProblem(
                    f"the matrix is not symmetric: entry ({begin + i}, {j}) is {one} and entry "
                    f"({j}, {begin + i}) is {other}; if that is intended, give "
                    f"{as_called('asymmetric=True', '--asymmetric')}"
                )
    if not (exact or asymmetric):
        _log.info("the matrix is symmetric but for rounding errors: the mean of both entries is used")
        kept = 0.5 * (kept + kept.T)
    return read_only(kept), asymmetric, wall


def _narrowed(matrix: NDArray[np.object_], wall: Any) -> tuple[NDArray[Any], Any]:
    """Python's integers in 64 bits, if doubles hold all arcs that are there; and the entry of the others."""
    sizes = matrix.astype(np.float64)
    np.fill_diagonal(sizes, 0)
    end = wall if isinstance(wall, (int, float)) else np.inf
    there: Any = sizes < end
    if EXACT_INTEGERS < end < np.inf:
        there = (matrix < end).astype(np.bool_)
        np.fill_diagonal(there, True)
    largest = sizes.max(initial=0, where=there)
    if sizes.min() < 0 or largest >= EXACT_INTEGERS:
        return matrix, wall
    missing = int(largest) + 1
    return np.where(there, sizes, missing).astype(np.int64), wall if there.all() else missing


def _are_whole(entries: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which real entries are whole numbers that say what they mean: those that differ were not rounded."""
    return np.asarray((entries == np.floor(entries)) & (entries < EXACT_INTEGERS), dtype=np.bool_)


def check_extra(columns: object, n: int) -> None:
    """Accept columns by name with an entry for each city.

    Raises `InvalidProblem`: they are something else.
    """
    if not isinstance(columns, Mapping):
        raise InvalidProblem(f"extra is {shown(columns)}: a mapping of names to columns is needed")
    for title, column in columns.items():
        if not isinstance(title, str) or not hasattr(column, "__len__") or len(column) != n:
            raise InvalidProblem(
                f"extra: the column {shown(title)} has no entry for each of the {counted(n)}, or no name"
            )
