"""Where a tour is when: the distance of each leg, from the start to each city, and the time at a speed."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from warptsp._checks import checked_number
from warptsp._words import as_called
from warptsp.errors import InvalidOption
from warptsp.problem.problem import Problem

_METRES = {"m": 1.0, "km": 1000.0}


class Itinerary(NamedTuple):
    """The distances of a tour.

    `legs`, shape (n,), of a path (n - 1,), lead from each city to the next, the last of a closed tour back to
    the first. Infinite where the arc is missing. `cumulative`, shape (n,), is from the first city to each; 0
    for itself.
    """

    legs: NDArray[np.int64] | NDArray[np.float64]
    cumulative: NDArray[np.int64] | NDArray[np.float64]

    @classmethod
    def of(cls, problem: Problem, tour: NDArray[np.int32]) -> Itinerary:
        """Measure a tour, or a path if the instance is open."""
        onward = np.roll(tour, -1)
        count = len(tour) - (problem.open is not None)
        legs = problem.distance(tour[:count], onward[:count])
        if problem.wall is not None and (legs >= problem.wall).any():
            legs = np.where(legs >= problem.wall, np.inf, legs)
        cumulative = np.zeros(len(tour), dtype=legs.dtype)
        np.cumsum(legs[: len(tour) - 1], out=cumulative[1:])
        return cls(legs, cumulative)


def length_of(problem: Problem, tour: NDArray[np.int32]) -> int | float:
    """The exact length of a tour; infinite with a missing arc, of which `Problem.length` counts the wall."""
    return math.inf if len(problem.missing_arcs(tour)) else problem.length(tour)


def travel_seconds(
    problem: Problem, distance: int | float | NDArray[np.int64] | NDArray[np.float64], speed: float
) -> NDArray[np.float64]:
    """The time that distances take at a speed in kilometres per hour, where the metric has a unit:
    GREAT_CIRCLE or GEO.

    Raises `InvalidOption` if the unit of the distances is unknown, or the speed is not possible.
    """
    called = as_called("speed", "--speed")
    kmh = checked_number(called, speed, minimum=1e-9, what="a speed in km/h, more than 0")
    metres = _METRES.get(problem.metric.unit)
    if metres is None:
        raise InvalidOption(
            f"{called}: distances are {problem.metric.description}, whose unit is unknown: only latitudes "
            "and longitudes give travel times"
        )
    return np.asarray(distance, dtype=np.float64) * (metres * 3.6 / kmh)
