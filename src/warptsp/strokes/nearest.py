"""The nearest stroke next: what most programs do, here a start for strokes that keep their direction."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .model import Ends, Units

__all__ = ["nearest_first"]

_AHEAD = 16  # neighbours that are looked up at once


def nearest_first(units: Units, ends: Ends) -> NDArray[np.intp]:
    """An order in which each unit is the nearest to the one before that is left.

    The points at which units can be entered are in a k-d tree, which is built again without those that are
    drawn whenever half of them are.
    """
    from scipy.spatial import cKDTree  # type: ignore[import-untyped]

    n = len(units)
    turnable = np.flatnonzero(units.reversible & ~units.single)
    enter = np.concatenate([units.first, units.last[turnable]])
    leave = np.concatenate([units.last, units.first[turnable]])
    owner = np.concatenate([np.arange(n), turnable])
    left = np.ones(n, dtype=np.bool_)
    order = np.empty(n, dtype=np.intp)
    at = enter[0] if ends.start is None else ends.start
    alive = np.arange(len(owner))
    tree, size = cKDTree(enter), n
    for place in range(n):
        if n - place < size // 2:
            alive = np.flatnonzero(left[owner])
            tree, size = cKDTree(enter[alive]), n - place
        count = min(_AHEAD, len(alive))
        while True:
            found = alive[np.atleast_1d(tree.query(at, k=count)[1])]
            fresh = found[left[owner[found]]]
            if len(fresh):
                break
            count = min(4 * count, len(alive))
        option = int(fresh[0])
        order[place] = owner[option]
        left[owner[option]] = False
        at = leave[option]
    return order
