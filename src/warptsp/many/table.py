"""What comes of many problems, in columns: some dozens of bytes a problem beside its tour."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from warptsp.machine import CPU
from warptsp.result import Result

__all__ = ["Row", "Rows", "Table"]

CPU_NAME = str(CPU)


class Row(NamedTuple):
    """What is kept of a result."""

    tour: NDArray[np.int32]
    length: int | float
    kicks: int
    seconds: float
    proved_optimal: bool
    stop_reason: str
    device: str = CPU_NAME


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """What is kept of many results, of which only those of length 0 are proved: none is shorter.

    Attributes
    ----------
    positions : array of int64, shape (k,)
    tours : array of int32, shape (k, n)
    lengths : list
    kicks, seconds : array, shape (k,)
    reasons : list of str
        Why each search ended.
    device : str
        Where all of them were searched.
    """

    positions: NDArray[np.int64]
    tours: NDArray[np.int32]
    lengths: list[int | float]
    kicks: NDArray[np.int64]
    seconds: NDArray[np.float64]
    reasons: list[str]
    device: str

    def each(self) -> Iterator[tuple[int, Row]]:
        """Return each of them, with its position."""
        for i, position in enumerate(self.positions.tolist()):
            kicks, seconds = int(self.kicks[i]), float(self.seconds[i])
            yield (
                position,
                Row(
                    self.tours[i],
                    self.lengths[i],
                    kicks,
                    seconds,
                    self.lengths[i] == 0,
                    self.reasons[i],
                    self.device,
                ),
            )


class Table:
    """Rows in any order of positions."""

    def __init__(self) -> None:
        self._tours = array("i")
        self._begin = array("q")  # of a position's tour; -1 for a problem without one
        self._size = array("i")
        self._length: list[int | float | None] = []
        self._kicks = array("q")
        self._seconds = array("d")
        self._proved = array("b")
        self._reason = array("i")
        self._reasons: dict[str, int] = {}
        self._device = array("b")
        self._devices: dict[str, int] = {CPU_NAME: 0}

    def __len__(self) -> int:
        return len(self._begin)

    def extend(self, count: int) -> None:
        """Have at least so many positions, the new ones without a result."""
        new = count - len(self)
        if new <= 0:
            return
        self._begin.extend([-1] * new)
        self._length.extend([None] * new)
        for column in (self._size, self._kicks, self._seconds, self._proved, self._reason, self._device):
            column.extend([0] * new)

    def put(self, position: int, row: Row | Result) -> None:
        """Keep what came of a problem."""
        self.extend(position + 1)
        self._begin[position] = len(self._tours)
        self._size[position] = len(row.tour)
        self._tours.frombytes(np.ascontiguousarray(row.tour, dtype=np.int32).tobytes())
        self._length[position] = row.length
        self._kicks[position] = row.kicks
        self._seconds[position] = row.seconds
        self._proved[position] = row.proved_optimal
        self._reason[position] = self._reasons.setdefault(row.stop_reason, len(self._reasons))
        self._device[position] = self._devices.setdefault(row.device, len(self._devices))

    def put_rows(self, rows: Rows) -> None:
        """Keep what came of many problems, as `put` does of one, in a tenth of the time."""
        count, n = rows.tours.shape
        if not count:
            return
        at = rows.positions
        self.extend(int(at[-1]) + 1)
        numbers = {
            reason: self._reasons.setdefault(reason, len(self._reasons)) for reason in set(rows.reasons)
        }
        # NumPy's views of the columns: what is written there is written here.
        np.frombuffer(self._begin, np.int64)[at] = len(self._tours) + n * np.arange(count)
        np.frombuffer(self._size, np.int32)[at] = n
        np.frombuffer(self._kicks, np.int64)[at] = rows.kicks
        np.frombuffer(self._seconds, np.float64)[at] = rows.seconds
        np.frombuffer(self._reason, np.int32)[at] = [numbers[reason] for reason in rows.reasons]
        np.frombuffer(self._device, np.int8)[at] = self._devices.setdefault(rows.device, len(self._devices))
        for position, length in zip(at.tolist(), rows.lengths, strict=True):
            self._length[position] = length
            self._proved[position] = length == 0
        self._tours.frombytes(np.ascontiguousarray(rows.tours, dtype=np.int32).tobytes())

    def has(self, position: int) -> bool:
        """Whether there is a tour."""
        return self._begin[position] >= 0

    def length(self, position: int) -> int | float | None:
        """Return a length, None where there is no tour."""
        return self._length[position]

    def tour(self, position: int) -> NDArray[np.int32]:
        """Return a tour, an empty one where there is none."""
        begin = max(0, self._begin[position])
        return np.array(self._tours[begin : begin + self._size[position]], dtype=np.int32)

    def row(self, position: int) -> Row:
        """Return what is kept of a result that there is."""
        length = self._length[position]
        assert length is not None
        return Row(
            self.tour(position),
            length,
            self._kicks[position],
            self._seconds[position],
            bool(self._proved[position]),
            list(self._reasons)[self._reason[position]],
            list(self._devices)[self._device[position]],
        )

    def sizes(self) -> set[int]:
        """Return the numbers of cities of all tours."""
        return {size for size, begin in zip(self._size, self._begin, strict=True) if begin >= 0}

    def lengths(self) -> NDArray[np.int64] | NDArray[np.float64]:
        """Return all lengths; NaN where there is no tour."""
        if self._length and all(isinstance(length, int) for length in self._length):
            return np.array(self._length, dtype=np.int64)
        return np.array([np.nan if length is None else length for length in self._length], dtype=np.float64)

    def kicks(self) -> NDArray[np.int64]:
        """Return the kicks of all searches."""
        return np.array(self._kicks, dtype=np.int64)

    def seconds(self) -> NDArray[np.float64]:
        """Return the wall time of all searches."""
        return np.array(self._seconds, dtype=np.float64)

    def proved(self) -> NDArray[np.bool_]:
        """Return which tours are proved optimal."""
        return np.array(self._proved, dtype=np.bool_)
