"""What comes of many problems, in columns: some dozens of bytes a problem beside its tour."""

from array import array
from dataclasses import dataclass
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from warptsp.machine import CPU
from warptsp.problem import Metric, Problem
from warptsp.result import Result

CPU_NAME = str(CPU)


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """What is kept of many results of one size."""

    positions: NDArray[np.int64]
    tours: NDArray[np.int32]  # (k, n)
    lengths: list[int | float]
    kicks: NDArray[np.int64]
    seconds: NDArray[np.float64]
    proved: list[bool]
    reasons: list[str]  # why each search ended
    device: str  # where all of them were searched
    marks: list[int]  # of the problems


def marks_of(metric: Metric, rows: NDArray[Any], constraints: str = "") -> list[int]:
    """Return a number for each problem of one shape, by which it is known again."""
    begin = crc32(f"{metric.name} {constraints}".encode())
    if rows.dtype == np.object_:
        return [crc32(repr(problem.tolist()).encode(), begin) for problem in rows]
    return [crc32(problem, begin) for problem in np.ascontiguousarray(rows)]


def mark_of(problem: Problem) -> int:
    """Return the number of one problem."""
    path, fixed, constraints = problem.open, problem.fixed_edges.tolist(), ""
    if path is not None or fixed:
        ends = None if path is None else f"{path.start} {path.end}"
        constraints = f"{ends} {fixed} {problem.asymmetric}"
    numbers: NDArray[Any] = problem.given_matrix() if problem.coordinates is None else problem.coordinates
    return marks_of(problem.metric, numbers[None], constraints)[0]


_COLUMNS = np.dtype(
    [
        ("begin", np.int64),  # of its tour; -1 for a problem without one
        ("size", np.int32),
        ("kicks", np.int64),
        ("seconds", np.float64),
        ("proved", np.bool_),
        ("reason", np.int32),
        ("device", np.int8),
        ("mark", np.uint32),
    ]
)
_NONE = np.array((-1, 0, 0, 0.0, False, 0, 0, 0), dtype=_COLUMNS)


class Table:
    """Rows in any order of positions."""

    def __init__(self) -> None:
        self.lengths: list[int | float | None] = []  # None where there is no tour
        self.bounds: dict[int, int | float] = {}  # of tours that are not proved optimal, where there is one
        self.known: dict[int, int | float] = {}  # lengths on record, of published instances
        self.units: dict[int, str] = {}  # of lengths, where they are known
        self._tours = array("i")
        self._room = np.full(64, _NONE)  # doubled when it is full
        self._reasons: dict[str, int] = {}
        self._devices: dict[str, int] = {CPU_NAME: 0}

    def __len__(self) -> int:
        return len(self.lengths)

    @property
    def columns(self) -> NDArray[Any]:
        """What is kept beside tours and lengths: a row for each position."""
        return self._room[: len(self)]

    def extend(self, count: int) -> None:
        """Have at least so many positions, the new ones without a result."""
        self.lengths.extend([None] * (count - len(self)))
        if count > len(self._room):
            more = max(count - len(self._room), len(self._room))
            self._room = np.concatenate([self._room, np.full(more, _NONE)])

    def put(self, position: int, row: Result) -> None:
        """Keep what came of a problem."""
        numbers = np.array([position]), row.tour[None], [row.length], np.array([row.kicks])
        said = [row.proved_optimal], [row.stop_reason], row.device, [mark_of(row.problem)]
        self.put_rows(Rows(*numbers, np.array([row.seconds]), *said))
        if row.lower_bound is not None and not row.proved_optimal:
            self.bounds[position] = row.lower_bound
        known = row.problem.known_length
        if known is not None:
            self.known[position] = known.length

    def put_rows(self, rows: Rows) -> None:
        """Keep what came of many problems of one size."""
        count, n = rows.tours.shape
        if not count:
            return
        at = rows.positions
        self.extend(int(at.max()) + 1)
        numbers = {
            reason: self._reasons.setdefault(reason, len(self._reasons)) for reason in set(rows.reasons)
        }
        kept = np.empty(count, dtype=_COLUMNS)
        kept["begin"], kept["size"] = len(self._tours) + n * np.arange(count), n
        kept["kicks"], kept["seconds"] = rows.kicks, rows.seconds
        kept["proved"] = rows.proved
        kept["reason"] = [numbers[reason] for reason in rows.reasons]
        kept["mark"] = rows.marks
        kept["device"] = self._devices.setdefault(rows.device, len(self._devices))
        self._room[at] = kept
        for position, length in zip(at.tolist(), rows.lengths, strict=True):
            self.lengths[position] = length
        self._tours.frombytes(np.ascontiguousarray(rows.tours, dtype=np.int32).tobytes())

    def tour(self, position: int) -> NDArray[np.int32]:
        """Return a tour, an empty one where there is none."""
        begin, size = self.columns[position][["begin", "size"]].item()
        return np.array(self._tours[max(begin, 0) : max(begin, 0) + size], dtype=np.int32)

    def kept(self, position: int) -> dict[str, Any]:
        """Return what is kept of a result, by the names of its attributes."""
        _, _, kicks, seconds, proved, reason, device, _ = self.columns[position].item()
        return {
            "tour": self.tour(position),
            "length": self.lengths[position],
            "counters": {"kicks": kicks},
            "seconds": seconds,
            "proved_optimal": proved,
            "stop_reason": list(self._reasons)[reason],
            "device": list(self._devices)[device],
        }
