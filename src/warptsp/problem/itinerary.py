"""Where a tour is when: the distance of each leg, from the start to each city, and when it gets there."""

import datetime
import math
import re
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from warptsp._checks import checked_number, shown
from warptsp._words import as_called
from warptsp.errors import InvalidOption
from warptsp.problem.origin import METRES, Weights
from warptsp.problem.problem import Problem

Lengths = NDArray[np.int64] | NDArray[np.float64]

_CLOCK = re.compile(r"(\d{1,2}):([0-5]\d)(?::([0-5]\d))?")


class Itinerary(NamedTuple):
    """The distances of a tour.

    `legs`, shape (n,), of a path (n - 1,), lead from each city to the next, the last of a closed tour back to
    the first. Infinite where the arc is missing. `cumulative`, shape (n,), is from the first city to each; 0
    for itself.
    """

    legs: Lengths
    cumulative: Lengths

    @classmethod
    def of(cls, problem: Problem, tour: NDArray[np.int32], weights: Weights | None = None) -> "Itinerary":
        """Measure a tour, or a path if the instance is open; by other lengths of its arcs if given."""
        n = len(tour)
        count = n - (problem.open is not None)
        tails, heads = tour[:count], np.roll(tour, -1)[:count]
        legs = problem.distance(tails, heads) if weights is None else weights.matrix[tails, heads]
        if weights is None and problem.wall is not None and (legs >= problem.wall).any():
            legs = np.where(legs >= problem.wall, np.inf, legs)
        fits = legs.dtype != np.int64 or legs.sum(dtype=np.float64) < 2.0**62
        cumulative = np.zeros(n, dtype=legs.dtype if fits else np.object_)
        np.cumsum(legs[: n - 1], out=cumulative[1:], dtype=cumulative.dtype)
        return cls(legs, cumulative)


@dataclass(frozen=True, slots=True)
class Timing:
    """What tells when a tour is where, beside its lengths. Raises `InvalidOption` if it does not."""

    speed: float | None = None  # km/h; None where lengths are durations, or for no times
    stop_time: float = 0.0  # seconds at each city between the first one and the end
    depart: float | None = None  # seconds after midnight; also given as "08:00" or a `datetime.time`

    def __post_init__(self) -> None:
        if self.speed is not None:
            what = "a speed in km/h, more than 0"
            speed = checked_number(as_called("speed", "--speed"), self.speed, minimum=1e-9, what=what)
            object.__setattr__(self, "speed", speed)
        stop = as_called("stop_time", "--stop-time")
        seconds = checked_number(stop, self.stop_time, minimum=0.0, what="a time in seconds, 0 or more")
        object.__setattr__(self, "stop_time", seconds)
        object.__setattr__(self, "depart", _seconds_after_midnight(self.depart))

    def check(self, problem: Problem) -> None:
        """Accept a timing that fits the lengths of an instance.

        Raises `InvalidOption`: a speed beside durations, or for lengths of an unknown unit; or no time.
        """
        if self.speed is not None:
            called = as_called("speed", "--speed")
            if _durations(problem) is not None:
                raise InvalidOption(
                    f"{called}: the table has durations in seconds, which give the times: leave the speed out"
                )
            if problem.unit not in METRES:
                raise InvalidOption(
                    f"{called}: distances are {problem.metric.description}, whose unit is unknown: only "
                    "latitudes and longitudes, or lengths in a known unit, give travel times"
                )
        elif (self.stop_time or self.depart is not None) and _durations(problem) is None:
            given = as_called("depart", "--depart")
            if self.depart is None:
                given = as_called("stop_time", "--stop-time")
            raise InvalidOption(
                f"{given}: the lengths are not durations, so {as_called('speed', '--speed')} is needed, too"
            )


class Schedule(NamedTuple):
    """When a tour is where.

    Attributes
    ----------
    legs : ndarray of float64
        Seconds on the way from each city to the next, as many as `Result.legs`.
    seconds : ndarray of float64
        Seconds from the departure to the arrival at each city, shape (n,), stops on the way included; of a
        closed tour one more, back at the start, shape (n + 1,). The first is 0.
    depart : float or None
        The departure in seconds after midnight, if it is known.
    """

    legs: NDArray[np.float64]
    seconds: NDArray[np.float64]
    depart: float | None

    @classmethod
    def of(cls, problem: Problem, tour: NDArray[np.int32], timing: Timing) -> "Schedule | None":
        """The schedule of a tour; None if nothing gives times.

        Raises
        ------
        InvalidOption
            See `Timing.check`.
        """
        timing.check(problem)
        weights = _durations(problem)
        if weights is None and timing.speed is None:
            return None
        other = weights if isinstance(weights, Weights) else None
        legs = Itinerary.of(problem, tour, other).legs.astype(np.float64)
        if timing.speed is not None:  # the lengths are no durations, then
            legs = legs * (METRES[problem.unit] * 3.6) / timing.speed
        seconds = np.zeros(len(legs) + 1)
        np.cumsum(legs, out=seconds[1:])
        seconds[2:] += timing.stop_time * np.arange(1, max(1, len(legs)))
        return cls(legs, seconds, timing.depart)

    @property
    def travel_seconds(self) -> float:
        """Seconds on the way in all."""
        return float(self.legs.sum())

    def arrival(self, position: int) -> str:
        """When a city is reached, counted from 0 along the tour; of the first one, when it is left.

        As GTFS writes times: ``25:10:00`` is ten past one of the next day. Without a departure it is the time
        from the start.
        """
        return clock((self.depart or 0.0) + float(self.seconds[position]), wide=self.depart is not None)


def _durations(problem: Problem) -> Weights | bool | None:
    """Where durations are: other weights, the lengths themselves (True), or nowhere (None)."""
    if problem.unit == "s":
        return True
    other = problem.other_weights
    return other if other is not None and other.unit == "s" else None


def distances(problem: Problem, tour: NDArray[np.int32]) -> tuple[Itinerary, str] | None:
    """How far a tour is, and the unit of that; None of durations that have no distances beside them."""
    if problem.unit != "s":
        return Itinerary.of(problem, tour), problem.unit
    other = problem.other_weights
    return None if other is None else (Itinerary.of(problem, tour, other), other.unit)


def length_of(problem: Problem, tour: ArrayLike, *, threads: int = 1) -> int | float:
    """The exact length of a tour; infinite with a missing arc, of which `Problem.length` counts the wall."""
    return math.inf if len(problem.missing_arcs(tour)) else problem.length(tour, threads=threads)


def clock(seconds: float, *, wide: bool = False) -> str:
    """A time as spreadsheets read it, with two digits of hours if it is `wide`.

    >>> clock(97500), clock(28800, wide=True), clock(math.inf)
    ('27:05:00', '08:00:00', '')
    """
    if not math.isfinite(seconds):
        return ""
    whole = round(seconds)
    return f"{whole // 3600:0{2 if wide else 1}}:{whole // 60 % 60:02}:{whole % 60:02}"


def _seconds_after_midnight(given: object) -> float | None:
    if given is None:
        return None
    called = as_called("depart", "--depart")
    what = "a time of day such as 08:00"
    if isinstance(given, datetime.time):
        given = given.hour * 3600 + given.minute * 60 + given.second + given.microsecond / 1e6
    if isinstance(given, str):
        found = _CLOCK.fullmatch(given.strip())
        if found is None or int(found[1]) > 23:
            raise InvalidOption(f"{called}: {shown(given)} is not {what}")
        given = int(found[1]) * 3600 + int(found[2]) * 60 + int(found[3] or 0)
    return checked_number(called, given, minimum=0.0, what=what)
