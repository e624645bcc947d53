"""The long links of a tour on their own: the search that sees how clusters hang together.

A part of some hundred cities lies within a few clusters, and no search inside it finds a better way from
cluster to cluster. Here the ends of the longest links are cities of a smaller problem, in which the rest of
the tour between two of them is a fixed edge. It is one array on the CPU, and its tour is the whole tour again
when every fixed edge is replaced by the path that it stands for.
"""

import time
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

import warptsp._native as _native
from warptsp.backends.instance import SearchInstance
from warptsp.methods.lk import tuning
from warptsp.methods.lk.params import LkParams
from warptsp.problem import Problem


def share_of_length(lengths: NDArray[np.float64], links: int | None = None) -> float:
    """Return the share of a tour's length that its longest links have, 0 to 1, by the lengths of all links,
    or of some at random of so many `links`."""
    links = links or len(lengths)
    count = max(1, _count(links) * len(lengths) // links)
    longest = np.partition(lengths, len(lengths) - count)[-count:]
    whole = float(lengths.sum())
    return float(longest.sum()) / whole if whole > 0 else 0.0


def are_worth_it(lengths: NDArray[np.float64], links: int | None = None) -> bool:
    """Tell whether few links carry much of a tour's length, as between clusters; see `share_of_length`."""
    return share_of_length(lengths, links) > tuning.UNEVEN


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
    n = problem.n
    if seconds < tuning.LONG_SET_UP * n:
        return tour
    lengths = np.asarray(problem.distance(tour, np.roll(tour, -1)), dtype=np.float64)
    count = _count(n)
    longest = np.argpartition(lengths, n - count)[-count:]
    ends = np.zeros(n, dtype=bool)
    ends[longest] = ends[(longest + 1) % n] = True
    place = np.flatnonzero(ends)
    size = len(place)
    gap = np.diff(place, append=place[0] + n)  # links of the tour from an end to the next
    fixed = np.flatnonzero(gap > 1)
    edges = np.stack([fixed, (fixed + 1) % size], axis=1).astype(np.int32)
    ends_of_links = problem.given_coordinates()[tour[place]]
    small = replace(type(problem).from_points(ends_of_links, problem.metric), fixed_edges=edges)
    instance = SearchInstance.build(small, token)
    if instance is None:
        return tour
    candidates = instance.candidates(params.candidates, params.per_quadrant, 1, token)
    if candidates is None:
        return tour
    own = instance.close(np.arange(size, dtype=np.int32))
    search = instance.tour_search(candidates, own, params.of_search(size))
    end = time.monotonic() + seconds
    search.optimize(min(60.0, seconds), token)
    done = 0
    while done < kicks and time.monotonic() < end and not token.stopped():
        search.kicks(min(tuning.LONG_SLICE, kicks - done), 0.0, seed, done // tuning.LONG_SLICE, token)
        done += tuning.LONG_SLICE
    return _expanded(tour, place, gap, instance.open(search.best()))


def _count(n: int) -> int:
    return max(10, min(int(tuning.LONG_SHARE * n), tuning.MAX_LONG_EDGES))


def _expanded(
    tour: NDArray[np.int32], place: NDArray[np.intp], gap: NDArray[np.intp], order: NDArray[np.int32]
) -> NDArray[np.int32]:
    """Put the paths between the ends back: `order` are the ends in their new sequence, by number."""
    n, size = len(tour), len(place)
    after = np.roll(order, -1)
    onward = (after == (order + 1) % size) & (gap[order] > 1)
    back = (order == (after + 1) % size) & (gap[after] > 1)
    # Each end is followed by the path to the next one, without it: forward, backward, or nothing.
    cells = np.where(onward, gap[order], np.where(back, gap[after], 1))
    step = np.where(back & ~onward, -1, 1)
    begin = np.cumsum(cells) - cells
    offset = np.arange(n) - np.repeat(begin, cells)
    whole: NDArray[np.int32] = tour[(np.repeat(place[order], cells) + np.repeat(step, cells) * offset) % n]
    return whole
