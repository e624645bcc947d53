"""The searches on CPU threads."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

import warptsp._native as _native
from warptsp.backends.instance import SearchInstance

if TYPE_CHECKING:
    from numpy.typing import NDArray


def tour_search(
    instance: SearchInstance,
    candidates: NDArray[np.int32],
    tour: NDArray[np.int32],
    params: _native.LkParams,
) -> _native.TourSearch:
    """Lin-Kernighan search of one tour (native/lk/tour_search.h); all arrays in the search's numbers."""
    return _native.TourSearch.create(
        distances=instance.distances(small=True),
        small_integers=instance.small_integers,
        dummy=instance.dummy is not None,
        candidates=candidates,
        tour=np.ascontiguousarray(tour),
        fixed_edges=instance.fixed_edges,
        tolerance=instance.tolerance,
        params=params,
    )
