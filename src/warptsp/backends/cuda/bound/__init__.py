"""The Held-Karp bound on a GPU: closed tours in the plane (``native/cuda/bound.cu``, ``native/bound/``).

The ascent is that of the CPU (``native/bound/held_karp.h``) on the same graph, with cities in another order.
All that it needs is made on the GPU but the clusters, found once by the host. Nothing depends on how threads
are scheduled: the same arguments give the same bound.
"""

import numpy as np
from numpy.typing import NDArray

import warptsp._native as _native
from warptsp.backends.cuda import geometry, plane_candidates
from warptsp.backends.cuda.bound.ascent import Ascent
from warptsp.backends.cuda.bound.graph import LISTS, source_of
from warptsp.backends.cuda.compiler import Source
from warptsp.backends.cuda.device import Device
from warptsp.problem import Metric, Problem


def sources(metric: Metric) -> list[Source]:
    """What bounds are compiled from, beside geometry.cu."""
    return [source_of(metric), *plane_candidates.sources(metric, *LISTS)]


def held_karp(
    device: Device,
    problem: Problem,
    tour: NDArray[np.int32] | None,
    iterations: int,
    token: _native.StopToken,
    further: NDArray[np.int32] | None = None,
) -> _native.HeldKarpBound | None:
    """The bound that `_native.held_karp` finds on the CPU, with so many spanning trees along a tour, by
    default the greedy one; None if the token stopped it before there was any.

    The problem is one of the plane, closed, without fixed edges, of at least three cities. So many `further`
    ones stand at each.
    """
    layout = geometry.build(device, problem.search_points(), token)
    ascent = None if layout is None else Ascent.begin(device, problem, layout, tour, token, further)
    if layout is None or ascent is None:
        return None
    best = ascent.climb(iterations, token)
    written = device.empty(problem.n, np.int32)
    ascent.launch("write_potentials", problem.n, layout.city, best.potential, np.int32(problem.n), written)
    return _native.HeldKarpBound(
        value=int(best.value),
        exponent=ascent.exponent,
        root=int(layout.city[best.root : best.root + 1].download()[0]),
        rounds=int(best.rounds),
        certified=best.certified,
        potentials=written.download(),
    )
