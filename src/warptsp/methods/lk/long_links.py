"""The long links of a tour on their own: how much of it they carry, and a search among them.

A part of some hundred cities lies within a few clusters, and no search inside it finds a better way from
cluster to cluster; that among the long links does (native/lk/long_links.h).
"""

import numpy as np
from numpy.typing import NDArray

import warptsp._native as _native
from warptsp.backends.instance import are_small, native_distances, tolerance_of
from warptsp.methods.lk import tuning
from warptsp.methods.lk.params import LkParams
from warptsp.problem import Problem


def share_of_length(lengths: NDArray[np.float64], links: int) -> float:
    """Return the share of a tour's length that its longest links have, 0 to 1, by the lengths of some, at
    random, of so many `links`. Above `tuning.UNEVEN` few links carry much of it, as between clusters."""
    count = max(1, _native.long_links_of(links) * len(lengths) // links)
    longest = np.partition(lengths, len(lengths) - count)[-count:]
    whole = float(lengths.sum())
    return float(longest.sum()) / whole if whole > 0 else 0.0


def some_lengths(problem: Problem, tour: NDArray[np.int32]) -> NDArray[np.float64]:
    """Return the lengths of all links of a closed tour, or of some, evenly along it, if there are many."""
    n = problem.n
    at = np.arange(0, n, max(1, n // (4 * tuning.SAMPLED_EDGES)))
    return np.asarray(problem.distance(tour[at], tour[(at + 1) % n]), dtype=np.float64)


def improve_long_links(
    problem: Problem,
    tour: NDArray[np.int32],
    params: LkParams,
    *,
    kicks: int = tuning.LONG_KICKS,
    seconds: float,
    seed: int,
    token: _native.StopToken,
) -> NDArray[np.int32]:
    """Search among the longest links of a closed tour without fixed edges, of at least 100 cities, for so
    long at most; the tour that is returned is not longer.

    It comes back as it is if the seconds are too few for the preparation.
    """
    if seconds < tuning.LONG_SET_UP * problem.n:
        return tour
    return _native.improve_long_links(
        distances=native_distances(problem.metric, problem.search_points(), whole=True),
        small_integers=problem.integral and are_small(problem.distance_bound),
        tour=tour,
        tolerance=tolerance_of(problem),
        params=params.of_search(problem.n),
        candidates=params.candidates,
        per_quadrant=min(params.per_quadrant, params.candidates // 4),
        kicks=kicks,
        seed=seed,
        seconds=seconds,
        token=token,
    )
