"""Numbers from outside: arrays, lists and what is like them, taken as they are or refused."""

import math
import numbers
import sys
from collections import Counter
from decimal import Decimal
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warptsp._checks import shown
from warptsp.errors import InvalidProblem, InvalidTour

EXACT_INTEGERS = 2.0**53
"""Above this a float64 no longer holds every integer."""

MAX_CITIES = 2**31 - 1
"""Cities are numbered by 32 bits."""

_LARGEST_INTEGER = 10**300  # as of reals, so that every length is in the range of floats
_NOT_KEPT = "{} hold {}: integers above 2**53 cannot be kept exactly among real numbers or coordinates"

_NO_NUMBERS = (bool, np.bool_, np.timedelta64)  # though Python or NumPy count them among the integers


def plain_array(
    values: Any, what: str, error: type[InvalidProblem] | type[InvalidTour] = InvalidProblem
) -> NDArray[Any]:
    """Values as a NumPy array, of whatever type.

    Raises InvalidProblem or what `error` says: rows have different lengths, or entries are masked, which an
    array would forget.
    """
    try:
        _refuse_masked(values, what, error)
        array = np.asarray(values)
        if not isinstance(values, (list, tuple)) or array.dtype.kind not in "iuf":
            return array
        if _hold_truth_values(values) or (array.dtype.kind == "f" and _may_be_integers(array)):
            # Which tells True from 1, 3 from 3.0, and rounds no integer.
            return np.array(values, dtype=np.object_)
        return array
    except (InvalidProblem, InvalidTour):
        raise
    except (TypeError, ValueError, OverflowError, RecursionError) as reason:
        ragged = _ragged(values)
        if ragged is not None:
            raise error(f"{what} are not in rows of one length: {ragged}") from None
        raise error(f"{what} are not numbers: {' '.join(str(reason).split())}") from None


def real_array(values: Any, what: str, *, below: int | None = None, any_size: bool = False) -> NDArray[Any]:
    """Values as an array of integers or floats, each exactly as it was given, integers if they are `below`.

    If they may be of `any_size`, integers above 2**53, and those with infinity among them, stay Python's own.
    Raises `InvalidProblem`: they are something else: times, texts, truth values, complex numbers, objects
    that are no numbers; or integers that cannot be kept.
    """
    array = plain_array(values, what)
    kind = array.dtype.kind
    if kind == "c":
        raise InvalidProblem(f"{what} are complex: real numbers are needed")
    if kind == "O":
        return _numbers_of_objects(array, what, any_size)
    if kind not in "iuf":
        raise InvalidProblem(f"{what} are not numbers but {_type_name(array)}: real numbers are needed")
    if array.dtype.itemsize == 8 and kind in "iu" and largest_bits(array) > EXACT_INTEGERS:
        counts: Any = True if below is None else array < below
        largest = max(abs(int(end(initial=0, where=counts))) for end in (array.min, array.max))
        if largest > EXACT_INTEGERS and not any_size:
            raise InvalidProblem(_NOT_KEPT.format(what, shown(largest)))
        if largest > EXACT_INTEGERS or kind == "u":  # of which a wall may be, too
            return array.astype(np.object_)
    return array


def largest_bits(array: NDArray[Any]) -> int:
    """The largest of integers, where negative ones count as what their bits are without a sign.

    One look at an array, instead of two, says that all are small and none is negative.
    """
    return int(array.view(array.dtype.str.replace("i", "u")).max(initial=0))


def float_array(values: Any, what: str) -> NDArray[np.float64]:
    """Values as an array of floats; what a float cannot hold is infinite.

    Raises `InvalidProblem`: they are no numbers.
    """
    array = real_array(values, what)
    if array.dtype == np.float64:
        return array
    with np.errstate(over="ignore", invalid="ignore"):  # what is infinite then, or no number, is refused
        return np.asarray(array, dtype=np.float64)


def point_array(values: Any, what: str) -> NDArray[np.float64]:
    """Points as `float_array` has them; refused before they are copied if there are too many.

    Raises `InvalidProblem`: they are no numbers, or more than cities can be.
    """
    array = plain_array(values, what)
    check_count(len(array) if array.ndim else 0)
    return float_array(array, what)


def check_count(cities: int, most: int = MAX_CITIES) -> None:
    """Accept so many cities. Raises `InvalidProblem`: there are more than 32 bits number."""
    if cities > most:
        raise InvalidProblem(f"{cities} cities: at most {most} are possible")


def integer_array(
    values: Any, what: str, error: type[InvalidProblem] | type[InvalidTour] = InvalidProblem
) -> NDArray[np.integer[Any]]:
    """Values as an array of integers; an empty one has the type of cities.

    Raises InvalidProblem or what `error` says: they are something else, such as floats.
    """
    array = plain_array(values, what, error)
    if not array.size:
        return array.astype(np.int32)
    if array.dtype.kind not in "iu":
        held = _type_name(array) if array.dtype.kind in "bmMSUV" else str(array.dtype)
        raise error(f"{what} are integers, not {held}")
    return array


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """A view of an array, or a copy in the order of rows, that nobody can write to."""
    view = np.ascontiguousarray(array).view(np.ndarray)
    view.flags.writeable = False
    return view


def _refuse_masked(values: Any, what: str, error: type[InvalidProblem] | type[InvalidTour]) -> None:
    if "numpy.ma" not in sys.modules:  # nobody has made a masked array
        return
    rows = list(values) if isinstance(values, (list, tuple)) else [values]
    masked = [(place, row) for place, row in enumerate(rows) if isinstance(row, np.ma.MaskedArray)]
    masks = [(place, np.asarray(row.mask)) for place, row in masked if np.any(row.mask)]
    if not masks:
        return
    place, mask = masks[0]
    index = [place] * isinstance(values, (list, tuple)) + np.argwhere(mask)[0].tolist() * (mask.ndim > 0)
    count = sum(int(np.count_nonzero(mask)) for _, mask in masks)
    raise error(
        f"{what}: entry {index} (counted from 0) is masked, and so are {count} in all: every entry is "
        "needed; filled(...) puts a number there, and numpy.ma.compress_rows leaves such rows out"
    )


def _ragged(values: Any) -> str | None:
    """Which row has another length than the first; None if that is not what is wrong."""
    if not isinstance(values, (list, tuple)) or not values:
        return None
    lengths = [len(row) if hasattr(row, "__len__") and not isinstance(row, str) else None for row in values]
    other = next((row for row, length in enumerate(lengths) if length != lengths[0]), None)
    if other is None:
        return None
    held = ["no row" if lengths[row] is None else f"a row of {lengths[row]}" for row in (other, 0)]
    return f"entry {other} (counted from 0) is {held[0]}, and the first is {held[1]}"


def _hold_truth_values(values: list[Any] | tuple[Any, ...]) -> bool:
    """Whether a list, or one of the lists in it, holds True or False, which NumPy takes for 1 and 0."""
    rows = values if values and isinstance(values[0], (list, tuple)) else [values]
    return not {bool, np.bool_}.isdisjoint(map(type, chain.from_iterable(rows)))


def _may_be_integers(array: NDArray[np.floating[Any]]) -> bool:
    """Whether floats may have been made of integers: of large ones, or of all that are beside infinity."""
    sizes = np.abs(array)
    finite = np.isfinite(sizes)
    if sizes.max(initial=0.0, where=finite) >= EXACT_INTEGERS:
        return True
    return bool(np.isposinf(array).any()) and bool((np.floor(sizes) == sizes).all(where=finite))


def _numbers_of_objects(array: NDArray[Any], what: str, any_size: bool) -> NDArray[Any]:
    """Python's own numbers: integers of any size, fractions, decimals."""
    integers = 0
    for kind, count in Counter(map(type, array.flat)).items():
        if issubclass(kind, _NO_NUMBERS) or not issubclass(kind, (numbers.Real, Decimal)):
            value = next(value for value in array.flat if type(value) is kind)
            raise InvalidProblem(f"{what} hold {shown(value)}: real numbers are needed")
        integers += count if issubclass(kind, numbers.Integral) else 0
    try:
        sizes = array.astype(np.float64)
    except (TypeError, ValueError, OverflowError) as reason:
        _refuse_huge(array, what)
        raise InvalidProblem(f"{what} are not numbers: {reason}") from None
    missing = np.isposinf(sizes)
    largest = float(np.abs(sizes).max(initial=0.0, where=np.isfinite(sizes)))
    if largest >= _LARGEST_INTEGER:
        _refuse_huge(array, what)
    whole = integers + np.count_nonzero(missing) == array.size
    if whole and any_size and (largest >= EXACT_INTEGERS or missing.any()):
        kept = np.empty(array.size, dtype=np.object_)
        kept[:] = [
            math.inf if is_missing else int(value)
            for value, is_missing in zip(array.flat, missing.flat, strict=True)
        ]
        return kept.reshape(array.shape)
    if largest >= EXACT_INTEGERS:
        rounded = _rounded_integer(array)
        if rounded is not None or (whole and largest > EXACT_INTEGERS):
            raise InvalidProblem(_NOT_KEPT.format(what, shown(int(largest) if rounded is None else rounded)))
    return array.astype(np.int64) if whole and not missing.any() else sizes


def _refuse_huge(array: NDArray[Any], what: str) -> None:
    for value in array.flat:
        if isinstance(value, numbers.Integral) and abs(int(value)) > _LARGEST_INTEGER:
            bits = int(value).bit_length()
            raise InvalidProblem(f"{what} hold an integer of {bits} bits: up to 10**300 are possible")


def _rounded_integer(array: NDArray[Any]) -> int | None:
    """Return an integer that is no float, which it would become among real numbers."""
    for value in array.flat:
        if isinstance(value, numbers.Integral):
            try:
                if float(value) != int(value):
                    return int(value)
            except OverflowError:
                return int(value)
    return None


def _type_name(array: NDArray[Any]) -> str:
    names = {"b": "truth values", "m": "times", "M": "dates", "S": "texts", "U": "texts", "V": "records"}
    return f"{names.get(array.dtype.kind, 'something else')} ({array.dtype})"
