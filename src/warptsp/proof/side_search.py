"""A search for a shorter tour beside the proof, along the edges that its linear programme has.

D. Applegate, R. Bixby, V. Chvatal and W. Cook, "Finding tours in the TSP" (1999), look for tours among few
edges, too; here they are those of a population and its crossover (``native/lk/edge_assembly.h``).
"""

import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

import warptsp._native as _native
from warptsp.backends.instance import are_small, tolerance_of_bound
from warptsp.proof.closed_instance import ClosedInstance

FEWEST_CITIES = 8
"""With fewer there is no search, and no need of one."""
MOST_CANDIDATES = 24
"""Edges of a city that the local search of members looks at, the shortest ones."""


def search_aside(
    instance: ClosedInstance,
    edges: NDArray[np.int32],
    tour: NDArray[np.int32],
    *,
    members: int,
    seed: int,
    round: int,
    token: _native.StopToken,
    until: float = math.inf,
    report: Callable[[], object] = lambda: None,
) -> NDArray[np.int32]:
    """Return the best tour of a population of local optima and their crossover, or the given one.

    Local searches look along `edges`, shape (k, 2). Beside `members` from random fragments the given tour, a
    closed one, is a member. The token, or the time `until` on the monotonic clock, ends it with the best tour
    so far. `report` is called after every ten members, and after each generation.
    """
    if instance.size < FEWEST_CITIES or token.stopped():
        return tour
    lengths = _lengths(instance, token)
    if lengths is None:
        return tour
    search = _native.TourSearch.create(
        distances=_native.Distances.of_matrix(lengths),
        small_integers=lengths.dtype == np.int32,
        dummy=False,
        candidates=_candidates(instance, edges),
        tour=np.ascontiguousarray(tour),
        fixed_edges=instance.fixed,
        tolerance=tolerance_of_bound(True, float(lengths.max())),
        params=_native.LkParams(),
    )
    search.optimize(math.inf, token)
    population = _native.PopulationRun.create(search, _native.PopulationPlan(members=members))
    step, ended = round << 32, False
    while not (ended or token.stopped() or time.monotonic() >= until):
        ended, rounds = population.proceed(0.0, seed, step + 1, 1, token)
        step += rounds
        report()
    best = search.best()
    return best if instance.units(best) < instance.units(tour) else tour


def _lengths(
    instance: ClosedInstance, token: _native.StopToken
) -> NDArray[np.int32] | NDArray[np.float64] | None:
    """Return the lengths as a search takes them, small integers or reals; None if stopped."""
    problem = instance.problem
    exponent = instance.exponent if problem.integral else 0
    small = problem.integral and exponent >= 0 and are_small(problem.distance_bound)
    found: Any = np.empty(instance.lengths.shape, dtype=np.int32 if small else np.float64)
    for row, units in zip(found, instance.lengths, strict=True):
        if token.stopped():
            return None
        row[:] = units >> exponent if small else np.ldexp(units.astype(np.float64), -exponent)
    return found  # type: ignore[no-any-return]


def _candidates(instance: ClosedInstance, edges: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return the other ends of each city's edges, shortest first, -1 for none."""
    both = np.concatenate([edges, edges[:, ::-1]])
    both = both[np.lexsort((instance.lengths[both[:, 0], both[:, 1]], both[:, 0]))]
    count = np.bincount(both[:, 0], minlength=instance.size)
    place = np.arange(len(both)) - np.repeat(np.cumsum(count) - count, count)
    lists = np.full((instance.size, min(MOST_CANDIDATES, int(count.max()))), -1, dtype=np.int32)
    listed = place < lists.shape[1]
    lists[both[listed, 0], place[listed]] = both[listed, 1]
    return lists
