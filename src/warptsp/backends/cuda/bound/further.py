"""What cities at places of others change of a bound among places (``native/bound/held_karp.h``)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import warptsp._native as _native

_NO_LEAF = -(2**63)


class OfCities(NamedTuple):
    """The shortest spanning tree of all cities, beside that of the places."""

    added: int  # by further cities, with what is subtracted for their potentials
    root: int  # the place of a leaf with one edge more,
    second: int  # and the length of that edge
    raised: int | None  # the potential that the root's cities get, None to stay as they are


def of_cities(
    further: NDArray[np.int64],
    ends: NDArray[np.int32],
    lengths: NDArray[np.int64],
    potential: NDArray[np.int64],
    leaves: NDArray[np.int32],
    seconds: NDArray[np.int64],
) -> OfCities:
    """Return what holds for all cities, of the shortest spanning tree of m places.

    So many `further` cities stand at each place, and each has a `potential`. The tree has the edges with
    these `ends`, of shape (2, m - 1), and `lengths`, potentials included; `seconds` are the lengths of the
    second shortest edges to other places at some of its `leaves`.
    """
    shortest = np.full(len(further), np.iinfo(np.int64).max)
    np.minimum.at(shortest, ends.reshape(-1), np.tile(lengths, 2))
    # A further city hangs at its own place or at the nearest one.
    added = int((further * np.minimum(0, shortest - 2 * potential)).sum())
    # Of a leaf with several they may have a higher potential: the tree is the same.
    risen = shortest - potential
    can_rise = (np.bincount(ends.reshape(-1), minlength=len(further)) == 1) & (risen >= potential)
    can_rise &= (risen <= _native.AscentSchedule.max_potential) & (further > 1)
    second = np.where((further > 1) & ~can_rise, np.minimum(shortest, 2 * potential), shortest)
    second[further == 0] = _NO_LEAF
    # At a leaf next to a place with several cities two edges are the shortest.
    beside = np.zeros(len(further), dtype=bool)
    beside[ends[further[ends[::-1]] > 0]] = True
    alone = further[leaves] == 0
    second[leaves[alone]] = np.where(beside[leaves], shortest[leaves], seconds)[alone]
    root = int(np.argmax(second))
    return OfCities(added, root, int(second[root]), int(risen[root]) if can_rise[root] else None)
