"""Candidate lists of cities in the plane or in space on one GPU or several (``native/cuda/candidates.cu``).

They are those of the CPU (``native/space/candidates.h``) to the last entry.
"""

from collections.abc import Sequence

import numpy as np

import warptsp._native as _native
from warptsp.backends.cuda import records, tuning
from warptsp.backends.cuda.compiler import Source
from warptsp.backends.cuda.context import meet
from warptsp.backends.cuda.device import Device, DeviceArray
from warptsp.backends.cuda.geometry import Layout
from warptsp.backends.cuda.primitives import kernel, launch, stopped
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
    """The candidates of every city, int32 of shape (n, count); None if the token stopped it.

    `neighbors.candidate_lists` finds the same on the CPU. The norm is 2 (Euclidean), 1 (Manhattan) or 0
    (maximum).
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
    """`candidate_lists` on each of these GPUs, which have the same layout; each finds a part of them."""
    n, gpus = layouts[0].n, len(devices)
    source = _source(count, per_quadrant, norm, layouts[0].dimensions)
    shares = [range(n * k // gpus, n * (k + 1) // gpus) for k in range(gpus)]
    searches = []
    for device, layout in zip(devices, layouts, strict=True):
        boxes, levels = box_tree(device, layout)
        tree = records.TREE(points=layout.points, boxes=boxes, n=n, levels=levels)
        kernel = device.module(source).kernel(source.names[0])
        searches.append((kernel, tree, boxes, layout.scale, device.empty((n, count), np.int32)))
    for step in range(0, max(map(len, shares)), tuning.SETUP_SLICE):
        if step > 0:
            for device in devices:
                device.synchronize()
        if stopped(token):
            return None
        for (kernel, tree, _, scale, rows), share in zip(searches, shares, strict=True):
            some = share[step : step + tuning.SETUP_SLICE]
            blocks = -(-len(some) // tuning.CANDIDATE_THREADS)
            ends = np.int32(some.start), np.int32(some.stop)
            kernel.launch(blocks, tuning.CANDIDATE_THREADS, tree, scale, *ends, rows)
    lists = [search[-1] for search in searches]
    meet(devices)
    for k, own in enumerate(lists):
        for j, share in enumerate(shares):
            if j != k:
                own[share.start : share.stop].copy_from(lists[j][share.start : share.stop])
    meet(devices)
    return lists


def box_tree(device: Device, layout: Layout) -> tuple[DeviceArray, int]:
    """The boxes of a `PointTree` over the cities, scaled, and how many levels it has."""
    n, scale, dimensions, levels = layout.n, layout.scale, layout.dimensions, 0
    while n >> levels > tuning.LEAF_SIZE:
        levels += 1
    boxes = device.empty((2 << levels, 2 * dimensions), np.float64)
    tree = records.TREE(points=layout.points, boxes=boxes, n=n, levels=levels)
    launch(device, f"make_leaves<{dimensions}>", 1 << levels, tree, scale, boxes)
    for level in range(levels - 1, tuning.LEVELS_OF_A_BLOCK - 1, -1):
        launch(device, f"make_level<{dimensions}>", 1 << level, np.int32(1 << level), boxes)
    top = min(levels, tuning.LEVELS_OF_A_BLOCK)
    if top > 0:
        levels_kernel = kernel(device, f"make_levels<{dimensions}>")
        levels_kernel.launch(1, tuning.BLOCK_THREADS, np.int32(1 << (top - 1)), boxes)
    return boxes, levels


def _source(count: int, per_quadrant: int, norm: int, dimensions: int) -> Source:
    sector = per_sector(count, per_quadrant, dimensions)
    name = KERNEL.format(count=count, per_sector=sector, norm=norm, dimensions=dimensions)
    return Source("candidates.cu", (name,), fmad=False)
