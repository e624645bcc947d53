"""The greedy tour on a GPU, in rounds (``native/tours/greedy_rounds.h``): within a per cent of the CPU's."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import warptsp._native as _native
from warptsp.backends.cuda import records, tuning
from warptsp.backends.cuda.device import Device, DeviceArray
from warptsp.backends.cuda.geometry import Layout
from warptsp.backends.cuda.plane_candidates import candidate_lists, trusted
from warptsp.backends.cuda.primitives import kernel, launch, scan_exclusive, stopped
from warptsp.problem import Metric


def greedy_tour(
    device: Device,
    layout: Layout,
    candidates: DeviceArray,
    per_quadrant: int,
    metric: Metric,
    token: _native.StopToken | None = None,
) -> DeviceArray | None:
    """A greedy tour (``native/tours/greedy_rounds.h``), int32 of shape (n,), in the search's numbers from
    city 0 on; None if the token stopped it.

    Of the candidates, with so many per quadrant, only those serve that are certainly the nearest of all.
    """
    n = layout.n
    if n <= 3:
        return device.upload(np.arange(n, dtype=np.int32))
    links, mate = device.empty((n, 2), np.int32), device.empty(n, np.int32)
    launch(device, "greedy_cities", n, np.int32(n), mate, links)
    ends = _Ends(n, layout.points, None, mate)
    rows: DeviceArray | None = candidates
    serving = trusted(candidates.shape[1], per_quadrant, layout.dimensions)
    while True:
        if rows is None or not _link_ends(device, ends, rows, serving, links, metric, token):
            return None
        ends = _ends_left(device, ends, links)
        if ends.size == 2:
            break
        of_ends = replace(layout, points=ends.points)
        rows = candidate_lists(device, of_ends, tuning.NEAREST_ENDS, 0, metric.norm, token)
        serving = tuning.NEAREST_ENDS
    kernel(device, "greedy_close").launch(1, 1, ends.city, links)
    return tour_of_links(device, links, n)


def tour_of_links(device: Device, links: DeviceArray, n: int) -> DeviceArray:
    """The order of a tour of at least 3 cities, from city 0 to its first neighbour and on.

    It is found from the two neighbours of every city, shape (n, 2) (``native/tours/tour_ranking.h``).
    """
    index = device.empty(n, np.int32)
    launch(device, "mark_stops", n, np.int32(n), index)
    count = int(scan_exclusive(device, index, index, n).download()[0])
    stops = device.empty(count, np.int32)
    launch(device, "list_stops", n, np.int32(n), index, stops)
    ranking = records.RANKING(links=links, index=index, stops=stops, n=n, count=count)
    ways, jumped = device.empty((2 * count, 2), np.int32), device.empty((2 * count, 2), np.int32)
    launch(device, "walk_ways", 2 * count, ranking, ways)
    for _ in range((2 * count - 1).bit_length()):
        launch(device, "jump_ways", 2 * count, np.int32(2 * count), ways, jumped)
        ways, jumped = jumped, ways
    tour = device.empty(n, np.int32)
    launch(device, "write_tour", 2 * count, ranking, ways, tour)
    return tour


@dataclass(frozen=True, slots=True, eq=False)
class _Ends:
    """The ends of the paths of which the greedy tour will be made; at first all cities."""

    size: int
    points: DeviceArray  # [size, dimensions]
    city: DeviceArray | None  # [size]; None: all cities
    mate: DeviceArray  # [size] the other end of the path


def _stage(ends: _Ends, links: DeviceArray, **fields: Any) -> np.void:
    return records.GREEDY_STAGE(
        points=ends.points,
        dimensions=ends.points.shape[1],
        city=ends.city,
        links=links,
        mate=ends.mate,
        size=ends.size,
        **fields,
    )


def _link_ends(
    device: Device,
    ends: _Ends,
    rows: DeviceArray,
    serving: int,
    links: DeviceArray,
    metric: Metric,
    token: _native.StopToken | None,
) -> bool:
    """Make links of the rows until none is left that fits; False if the token stopped it."""
    size = ends.size
    scratch = [device.empty(size, dtype) for dtype in (np.uint8, np.int32, *[np.uint64] * 3)]
    used, named, length, shortest, first = scratch

    state = _stage(
        ends,
        links,
        rows=rows,
        next=used,
        named=named,
        length=length,
        shortest=shortest,
        first=first,
        width=rows.shape[1],
        trusted=serving,
        kind=metric.kind,
    )
    if size <= tuning.ENDS_OF_A_BLOCK:
        kernel(device, "greedy_rounds").launch(1, tuning.BLOCK_THREADS, state)
        return not stopped(token)
    counts = device.empty((tuning.GREEDY_ROUNDS, 2), np.int32)
    launch(device, "greedy_begin", size, state)
    done, slow = 0, False
    while True:
        counts.zero()
        for k in range(tuning.GREEDY_ROUNDS):
            done += 1
            state["draw"] = done if slow else 0
            launch(device, "greedy_name", size, state)
            launch(device, "greedy_settle", size, state)
            launch(device, "greedy_agree", size, state, counts[k : k + 1])
            launch(device, "greedy_join", size, state, counts[k : k + 1])
        wishes, joined = counts.download()[-1].tolist()
        if wishes == 0:
            return True
        if stopped(token):
            return False
        slow = joined < wishes // 16


def _ends_left(device: Device, ends: _Ends, links: DeviceArray) -> _Ends:
    state = _stage(ends, links)
    index = device.empty(ends.size, np.int32)
    launch(device, "greedy_stays", ends.size, state, index)
    left = int(scan_exclusive(device, index, index, ends.size).download()[0])
    points = device.empty((left, ends.points.shape[1]), np.float64)
    city, mate = device.empty(left, np.int32), device.empty(left, np.int32)
    launch(device, "greedy_carry_over", ends.size, state, index, points, city, mate)
    return _Ends(left, points, city, mate)
