"""Candidate lists of cities in the plane or in space on one GPU or several (``native/cuda/candidates.cu``).

They are those of the CPU (``native/space/candidates.h``) to the last entry.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from warptsp.backends.cuda import records, tuning
from warptsp.backends.cuda.compiler import Source
from warptsp.backends.cuda.primitives import kernel, launch, stopped

if TYPE_CHECKING:
    from collections.abc import Sequence

    import warptsp._native as _native
    from warptsp.backends.cuda.device import Device, DeviceArray
    from warptsp.backends.cuda.geometry import Layout
    from warptsp.problem import Metric

KERNEL = "find_candidates<{count}, {per_sector}, {norm}, {dimensions}>"


def sources(metric: Metric, count: int, per_quadrant: int) -> list[Source]:
    """What candidate lists and greedy tour are compiled from, beside geometry.cu."""
    lists = ((count, per_quadrant, metric.norm), (tuning.NEAREST_ENDS, 0, metric.norm))
    return [_source(*one, metric.dimensions) for one in lists]


def per_sector(count: int, per_quadrant: int, dimensions: int) -> int:
    """How many candidates there are from each quadrant or octant, which together have a list at most."""
    return per_quadrant if dimensions == 2 else min(per_quadrant, count // 8)


def trusted(count: int, per_quadrant: int, dimensions: int) -> int:
    """How many entries of a list are certainly the nearest of all."""
    sectors: int = 1 << dimensions
    return count - (sectors - 1) * per_sector(count, per_quadrant, dimensions)


def candidate_lists(
    device: Device,
    layout: Layout,
    count: int,
    per_quadrant: int,
    norm: int = 2,
    token: _native.StopToken | None = None,
) -> DeviceArray | None:
    """The candidates of every city, as `neighbors.candidate_lists` finds them on the CPU.

    Parameters
    ----------
    device : Device
    layout : Layout
    count, per_quadrant : int
        See `neighbors.CandidateParams`.
    norm : int
        2 Euclidean, 1 Manhattan, 0 maximum.
    token : _native.StopToken, optional

    Returns
    -------
    DeviceArray of int32, shape (n, count), or None
        None if the token stopped it.
    """
    found = shared_candidate_lists([device], [layout], count, per_quadrant, norm, token)
    return None if found is None else found[0]


def shared_candidate_lists(
    devices: Sequence[Device],
    layouts: Sequence[Layout],
    count: int,
    per_quadrant: int,
    norm: int = 2,
    token: _native.StopToken | None = None,
) -> list[DeviceArray] | None:
    """Candidate lists, each GPU's own copy of all, of which each finds a part.

    Parameters
    ----------
    devices : sequence of Device
    layouts : sequence of Layout
        The same one on each.
    count, per_quadrant, norm, token
        As for `candidate_lists`.

    Returns
    -------
    list of DeviceArray of int32, shape (n, count), or None
        None if the token stopped it.
    """
    n, gpus = layouts[0].n, len(devices)
    searches = [
        NearestSearch(device, layout.points, n, layout.scale, (count, per_quadrant, norm))
        for device, layout in zip(devices, layouts, strict=True)
    ]
    shares = [range(n * k // gpus, n * (k + 1) // gpus) for k in range(gpus)]
    for step in range(0, max(map(len, shares)), tuning.SETUP_SLICE):
        if step > 0:
            for device in devices:
                device.synchronize()
        if stopped(token):
            return None
        for search, share in zip(searches, shares, strict=True):
            some = share[step : step + tuning.SETUP_SLICE]
            search.find(some.start, some.stop)
    rows = [search.rows for search in searches]
    for device in devices if gpus > 1 else ():
        device.after(*(other for other in devices if other is not device))
    for k, own in enumerate(rows):
        for j, share in enumerate(shares):
            if j != k:
                own[share.start : share.stop].copy_from(rows[j][share.start : share.stop])
    for device in devices if gpus > 1 else ():
        device.after(*(other for other in devices if other is not device))
    return rows


def box_tree(device: Device, points: DeviceArray, n: int, scale: DeviceArray) -> tuple[DeviceArray, int]:
    """The boxes of a `PointTree` over points in the order of a curve, scaled, and how many levels it has."""
    levels = 0
    while n >> levels > tuning.LEAF_SIZE:
        levels += 1
    dimensions = points.shape[1]
    boxes = device.empty((2 << levels, 2 * dimensions), np.float64)
    tree = records.TREE(points=points, boxes=boxes, n=n, levels=levels)
    launch(device, f"make_leaves<{dimensions}>", 1 << levels, tree, scale, boxes)
    for level in range(levels - 1, tuning.LEVELS_OF_A_BLOCK - 1, -1):
        launch(device, f"make_level<{dimensions}>", 1 << level, np.int32(1 << level), boxes)
    top = min(levels, tuning.LEVELS_OF_A_BLOCK)
    if top > 0:
        levels_kernel = kernel(device, f"make_levels<{dimensions}>")
        levels_kernel.launch(1, tuning.BLOCK_THREADS, np.int32(1 << (top - 1)), boxes)
    return boxes, levels


class NearestSearch:
    """The search for candidate lists of (count, per quadrant, norm), for points in the order of a curve."""

    def __init__(
        self, device: Device, points: DeviceArray, n: int, scale: DeviceArray, lists: tuple[int, int, int]
    ) -> None:
        boxes, levels = box_tree(device, points, n, scale)
        source = _source(*lists, points.shape[1])
        self._kernel = device.module(source).kernel(source.names[0])
        self._tree = records.TREE(points=points, boxes=boxes, n=n, levels=levels)
        self._scale, self._boxes = scale, boxes
        self.rows = device.empty((n, lists[0]), np.int32)

    def find(self, begin: int, end: int) -> None:
        """Find the lists of these points, counted along the curve."""
        blocks = -(-(end - begin) // tuning.CANDIDATE_THREADS)
        some = np.int32(begin), np.int32(end)
        self._kernel.launch(blocks, tuning.CANDIDATE_THREADS, self._tree, self._scale, *some, self.rows)


def nearest(
    device: Device,
    points: DeviceArray,
    n: int,
    scale: DeviceArray,
    lists: tuple[int, int, int],
    token: _native.StopToken | None,
) -> DeviceArray | None:
    search = NearestSearch(device, points, n, scale, lists)
    for begin in range(0, n, tuning.SETUP_SLICE):
        if begin > 0:
            device.synchronize()
        if stopped(token):
            return None
        search.find(begin, min(n, begin + tuning.SETUP_SLICE))
    return search.rows


def _source(count: int, per_quadrant: int, norm: int, dimensions: int) -> Source:
    sector = per_sector(count, per_quadrant, dimensions)
    name = KERNEL.format(count=count, per_sector=sector, norm=norm, dimensions=dimensions)
    return Source("candidates.cu", (name,), fmad=False)
