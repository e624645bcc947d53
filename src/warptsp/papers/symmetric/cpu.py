"""Symmetrical 2-opt moves: the instance as they want it, and the search on CPU threads.

The positions of the tour form a circle. All segments around one centre, each inside the next, are decided
together. With an odd number of positions the segments of odd length are all there are, since what a segment
leaves of the circle has an even length; of an even number of cities the last one stands there twice, and the
edge between the two is never removed, whatever the metric.
"""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

import warptsp._native as _native
from warptsp.backends.instance import SearchInstance, fixed_partners
from warptsp.errors import InvalidOption
from warptsp.problem import Metric

Order = Literal["threads", "hardware", "random", "triples"]

_MOST_PARTS = 1 << 29  # parts of the segments times cities: their numbers are of 32 bits
_ROUNDED_DOWN_BY = {"nearest": 0.5, "down": 1.0}  # what rounding takes off a distance at most
_EXACT_SINGLES = 2.0**24  # up to here every integer is a number of single precision
# What rounding coordinates to single precision may change in a distance, in units of the largest one: two
# coordinates off by half a unit of the last place at half the width, in x and in y, and some to spare.
_PLACE_ERROR = 2 * 2.0**-24


@dataclass(frozen=True, slots=True)
class Circle:
    """An instance and a tour of it, as the kernels and loops of symmetric.h take them."""

    instance: SearchInstance
    order: Order  # of the segments; random are one after another. Triples are symmetrical 3-opt moves.
    cities: NDArray[np.int32]  # in the instance's numbers, by position
    fixed: NDArray[np.int32] | None  # shape (size, 2): to which each city is fixed, -1 for none
    numbers: _native.SymmetricInstance  # what searches take as it is; see native/papers/symmetric/symmetric.h

    @classmethod
    def of(
        cls,
        instance: SearchInstance,
        tour: NDArray[np.int32],
        *,
        order: Order,
        elements: int | None = None,
        least_gain: float,
    ) -> "Circle":
        """Put a tour, in the problem's numbers, on the circle; None: as many elements as are of use."""
        problem = instance.problem
        cities = instance.close(tour)
        every_fourth = len(cities) // 4
        if order != "hardware":
            elements = 0
        else:
            elements = every_fourth if elements is None else min(elements, every_fourth)
            if math.ceil(every_fourth / elements) * len(cities) > _MOST_PARTS:
                raise InvalidOption(
                    f"elements: {elements} are too few for {len(cities)} cities; give "
                    f"{math.ceil(every_fourth * len(cities) / _MOST_PARTS)} or more"
                )
        if order == "threads" and len(cities) % 2 == 0:
            cities = np.append(cities, cities[-1])
        planar = 0
        center = np.zeros(2)
        scale = 1.0
        slack = place_error = 0.0
        if problem.metric.euclidean:
            low, high = np.nanmin(instance.rows, axis=0), np.nanmax(instance.rows, axis=0)
            scale = 0.1**0.5 if problem.metric is Metric.ATT else 1.0
            largest = float(np.hypot(*(high - low))) * scale
            center = np.floor((low + high) / 2) if largest > 2 else (low + high) / 2
            places = instance.rows - center
            exact = scale == 1.0 and np.array_equal(places.astype(np.float32), places, equal_nan=True)
            whole = exact and largest < _EXACT_SINGLES and np.array_equal(np.floor(places), places)
            if 1e-12 < largest < 1e15:  # single precision must hold the squares
                planar = 2 if whole else 1
            place_error = 0.0 if exact else _PLACE_ERROR * largest
            slack = 2 * (_ROUNDED_DOWN_BY.get(problem.metric.rounding, 0.0) + place_error)
        return cls(
            instance=instance,
            order=order,
            cities=np.ascontiguousarray(cities, dtype=np.int32),
            fixed=fixed_partners(instance.size, instance.fixed_edges) if len(instance.fixed_edges) else None,
            numbers=_native.SymmetricInstance(
                elements=elements,
                random=order == "random",
                tolerance=max(instance.tolerance, least_gain),
                planar=planar,
                whole_edges=problem.integral and problem.distance_bound < _EXACT_SINGLES,
                center_x=float(center[0]),
                center_y=float(center[1]),
                scale=scale,
                slack=slack,
                place_error=place_error,
            ),
        )

    @property
    def elements(self) -> int:
        """Of the hardware, in its order, which takes any number of cities; 0 in that of the threads, which
        takes an odd one."""
        return self.numbers.elements

    @property
    def random(self) -> bool:
        """Whether segments come one after another at random."""
        return self.order == "random"

    @property
    def triples(self) -> bool:
        """Whether the moves are those of 3-opt."""
        return self.order == "triples"

    @property
    def axes_an_iteration(self) -> int:
        """Steps of an iteration of the hardware, or 1; `axes_an_iteration` of symmetric.h."""
        return 2 * math.ceil(len(self.cities) // 4 / self.elements) if self.elements else 1

    @property
    def quiet_enough(self) -> int:
        """Steps without a move after which a descent ends; `quiet_enough` of symmetric.h."""
        size = len(self.cities)
        if self.triples:
            return 2 * (size - 2) * math.ceil(size / 32)  # rows_of of triples.h
        return size**2 if self.random else size * self.axes_an_iteration

    @property
    def steps_a_rotation(self) -> int:
        """Steps that decide as many segments as one around a city does."""
        return max(1, self.rungs) if self.random else 1

    @property
    def rungs(self) -> int:
        """Segments around a centre, at most."""
        size = len(self.cities)
        return size // 4 if self.elements else (size - 1) // 2 - 1

    def evaluations(self, steps: NDArray[np.int64]) -> int:
        """Segments that so many steps of each chain decide."""
        if not self.elements:
            return int(steps.sum()) * (1 if self.random else self.rungs)
        each = self.axes_an_iteration
        parts = np.minimum(self.elements, self.rungs - np.arange(each) // 2 * self.elements)
        begun = np.append(0, np.cumsum(parts))
        return int((steps // each * begun[-1] + begun[steps % each]).sum())

    def tour(self, cities: NDArray[np.int32]) -> NDArray[np.int32]:
        """The problem's tour of the cities on the circle; of a city that is there twice one goes."""
        if len(cities) > self.instance.size:
            cities = cities[cities != np.roll(cities, -1)]
        return self.instance.open(cities)


def search_on_threads(
    circle: Circle, chains: int | None, *, seed: int, threads: int
) -> _native.SymmetricTours:
    """Chains of tours, by default one, on CPU threads; results do not depend on their number."""
    return _native.SymmetricTours.create(
        distances=circle.instance.distances(),
        instance=circle.numbers,
        triples=circle.triples,
        fixed=circle.fixed,
        circle=circle.cities,
        seed=seed,
        chains=chains or 1,
        threads=threads,
    )
