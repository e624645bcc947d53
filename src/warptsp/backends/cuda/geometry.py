"""The set-up of a search in the plane, on a GPU: all that grows with the number of cities.

The cities are numbered along a space-filling curve as on the CPU (`backends.instance`), candidate lists are
those of the CPU (``native/space/candidates.h``) to the last entry, and the greedy tour is as long as the
CPU's to about a per cent. The kernels are in ``native/cuda/geometry.cu`` and ``candidates.cu``; their bodies
in headers that the tests run on the CPU. Results do not depend on how threads are scheduled.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from warptsp.backends.cuda import records
from warptsp.backends.cuda.compiler import Source
from warptsp.neighbors import search_norm

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from warptsp import _native
    from warptsp.backends.cuda.device import Device, DeviceArray, Kernel
    from warptsp.problem import Metric

_T = TypeVar("_T")

__all__ = [
    "CANDIDATE_KERNEL",
    "GEOMETRY_KERNELS",
    "Layout",
    "at_once",
    "build",
    "candidate_lists",
    "candidate_sources",
    "greedy_tour",
    "problems_tour",
    "scan_exclusive",
    "second_order",
    "setup_bytes",
    "sort_by_key",
    "take",
    "tour_length",
    "tour_of_links",
]

GEOMETRY_KERNELS = (
    "sum_tiles",
    "scan_tiles",
    "sum_all<long long>",
    "sum_all<double>",
    "count_digits",
    "scatter_by_digit",
    "find_extremes",
    "make_frame",
    "curve_keys",
    "turned_keys",
    "gather_points",
    "take",
    "find_first",
    "write_problems",
    "make_leaves",
    "make_level",
    "make_levels",
    "greedy_cities",
    "greedy_begin",
    "greedy_name",
    "greedy_settle",
    "greedy_agree",
    "greedy_join",
    "greedy_rounds",
    "greedy_stays",
    "greedy_carry_over",
    "greedy_close",
    "mark_stops",
    "list_stops",
    "walk_ways",
    "jump_ways",
    "write_tour",
    "tour_lengths<long long>",
    "tour_lengths<double>",
)
CANDIDATE_KERNEL = "find_candidates<{count}, {per_quadrant}, {norm}>"

# As in the kernels.
_THREADS = 256
_SCAN_TILE = 2048
_SORT_TILE = 4096
_DIGIT_BITS = 8
_CURVE_BITS = 32
_TURNED_BITS = 24
_LEAF_SIZE = 8
_FRAME_DOUBLES = records.FRAME.itemsize // 8  # the last is the scale

# Cities whose candidates are found, and whose coordinates are sent, between two looks at the stop token.
_SLICE = 1 << 21
_UPLOAD = 1 << 23
_CANDIDATE_THREADS = 128
# Blocks that sum up or compare, with many values for each thread.
_BLOCKS = 1024
# Greedy rounds between two looks at what they did.
_ROUNDS = 4
# Up to so many ends one block does all rounds: a launch takes longer than a round.
_ENDS_OF_A_BLOCK = 16_384
_LEVELS_OF_A_BLOCK = 11
_BLOCK_THREADS = 1024
_NEAREST_ENDS = 5


@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """Cities of the plane in the memory of a GPU, numbered along Hilbert's curve.

    Attributes
    ----------
    city : DeviceArray of int32, shape (n,)
        The problem's city for each of the search's.
    points : DeviceArray of float64, shape (n, 2)
        In the search's order.
    n : int
    frame : DeviceArray of float64
        Where the points lie: the kernels' struct Frame.
    """

    city: DeviceArray
    points: DeviceArray
    n: int
    frame: DeviceArray

    def copy_to(self, device: Device) -> Layout:
        """The same on another GPU."""
        city, points, frame = (array.copy_to(device) for array in (self.city, self.points, self.frame))
        return Layout(city, points, self.n, frame)

    @property
    def scale(self) -> DeviceArray:
        """The power of two that brings the largest coordinate to about 1, one float64."""
        return self.frame[_FRAME_DOUBLES - 1 : _FRAME_DOUBLES]


def setup_bytes(n: int, count: int) -> int:
    """The memory of the GPU that numbering, candidate lists and greedy tour take at most, results included.

    Parameters
    ----------
    n : int
        Cities.
    count : int
        Candidates of a city.
    """
    numbering = 41  # points 16, keys and cities twice 12, counts of digits less than 1
    layout = 20
    boxes = 15
    greedy = 41  # links 8, other ends 4, and 29 for a round
    return n * max(numbering, layout + 4 * count + max(boxes, greedy)) + (1 << 20)


def candidate_sources(metric: Metric, count: int, per_quadrant: int) -> list[Source]:
    """What candidate lists and greedy tour are compiled from, beside geometry.cu."""
    norm = search_norm(metric)
    lists = ((count, per_quadrant, norm), (_NEAREST_ENDS, 0, norm))
    return [_candidate_source(*one) for one in lists]


def build(
    device: Device,
    points: NDArray[np.float64],
    token: _native.StopToken | None = None,
    helpers: Sequence[Device] = (),
) -> Layout | None:
    """Number the cities along Hilbert's curve; coincident ones in the order given, as on the CPU.

    Parameters
    ----------
    device : Device
    points : ndarray of float64, shape (n, 2)
    token : _native.StopToken, optional
    helpers : sequence of Device
        Other GPUs, each of which takes a share of the coordinates from the host.

    Returns
    -------
    Layout or None
        None if the token stopped it.

    Raises
    ------
    DeviceOutOfMemory
        If there is no room; see `setup_bytes`.
    """
    n = len(points)
    given = _uploaded([device, *helpers], points, token)
    if given is None:
        return None
    blocks = min(_BLOCKS, _blocks(n))
    extremes = device.empty((blocks, 4), np.float64)
    frame = device.empty(_FRAME_DOUBLES, np.float64)
    _kernel(device, "find_extremes").launch(blocks, _THREADS, given, np.int32(n), extremes)
    _kernel(device, "make_frame").launch(1, _THREADS, extremes, np.int32(blocks), frame)
    keys, cities = device.empty(n, np.uint64), device.empty(n, np.int32)
    _launch(device, "curve_keys", n, given, np.int32(n), frame, keys, cities)
    city = sort_by_key(device, keys, cities, n, 2 * _CURVE_BITS, token)
    del keys, cities
    if city is None:
        return None
    ordered = device.empty((n, 2), np.float64)
    _launch(device, "gather_points", n, given, city, np.int32(n), ordered)
    return None if _stopped(token) else Layout(city, ordered, n, frame)


def _uploaded(
    devices: Sequence[Device], points: NDArray[np.float64], token: _native.StopToken | None
) -> DeviceArray | None:
    """The points on the first GPU; None if the token stopped it.

    Each GPU takes a share at the same time: what the host copies to one of them at once, on however many
    threads, is what one core can copy.
    """
    n, gpus = len(points), len(devices)
    shares = [range(n * k // gpus, n * (k + 1) // gpus) for k in range(gpus)]

    def take(k: int) -> tuple[DeviceArray, bool]:
        share = shares[k]
        own = devices[k].empty((n if k == 0 else len(share), 2), np.float64)
        for begin in range(0, len(share), _UPLOAD):
            if _stopped(token):
                return own, False
            end = min(begin + _UPLOAD, len(share))
            some = np.asarray(points[share.start + begin : share.start + end], np.float64)
            own[begin:end].upload(some)
        return own, True

    taken = [take(0)] if gpus == 1 else at_once(take, gpus)
    if not all(complete for _, complete in taken):
        return None
    lead, given = devices[0], taken[0][0]
    for other, (own, _), share in zip(devices[1:], taken[1:], shares[1:], strict=True):
        lead.after(other)
        given[share.start : share.stop].copy_from(own)
        other.after(lead)
    return given


def second_order(
    device: Device,
    layout: Layout,
    angle: float,
    shift: tuple[float, float],
    token: _native.StopToken | None = None,
) -> DeviceArray | None:
    """The numbered cities along the curve of a larger square, turned and shifted.

    Pieces of it have their seams elsewhere than pieces of the numbering.

    Parameters
    ----------
    device : Device
    layout : Layout
    angle : float
        In radians.
    shift : (float, float)
        Where in the larger square the cities lie, 0 to 1 each.
    token : _native.StopToken, optional

    Returns
    -------
    DeviceArray of int32, shape (n,), or None
        The city at each place; None if the token stopped it.
    """
    n = layout.n
    keys, cities = device.empty(n, np.uint64), device.empty(n, np.int32)
    turn = (np.float64(math.cos(angle)), np.float64(math.sin(angle)))
    moved = (np.float64(shift[0]), np.float64(shift[1]))
    _launch(device, "turned_keys", n, layout.points, np.int32(n), layout.frame, *turn, *moved, keys, cities)
    return sort_by_key(device, keys, cities, n, 2 * _TURNED_BITS, token)


def take(device: Device, values: DeviceArray, places: DeviceArray) -> DeviceArray:
    """The values, of type int32, at these places."""
    taken = device.empty(len(places), np.int32)
    _launch(device, "take", len(places), values, places, np.int32(len(places)), taken)
    return taken


def problems_tour(device: Device, layout: Layout, tour: DeviceArray) -> DeviceArray:
    """A tour in the problem's numbers, from its city 0 on.

    Parameters
    ----------
    device : Device
    layout : Layout
    tour : DeviceArray of int32, shape (n,)
        In the search's numbers.
    """
    n = np.int32(layout.n)
    place, whole = device.empty(1, np.int32), device.empty(layout.n, np.int32)
    _launch(device, "find_first", layout.n, layout.city, tour, n, place)
    _launch(device, "write_problems", layout.n, layout.city, tour, n, place, whole)
    return whole


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
        _NearestSearch(device, layout.points, n, layout.scale, (count, per_quadrant, norm))
        for device, layout in zip(devices, layouts, strict=True)
    ]
    shares = [range(n * k // gpus, n * (k + 1) // gpus) for k in range(gpus)]
    for step in range(0, max(map(len, shares)), _SLICE):
        if step > 0:
            for device in devices:
                device.synchronize()
        if _stopped(token):
            return None
        for search, share in zip(searches, shares, strict=True):
            some = share[step : step + _SLICE]
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


def greedy_tour(
    device: Device,
    layout: Layout,
    candidates: DeviceArray,
    per_quadrant: int,
    metric: Metric,
    token: _native.StopToken | None = None,
) -> DeviceArray | None:
    """A greedy tour (``native/tours/greedy_rounds.h``).

    Parameters
    ----------
    device : Device
    layout : Layout
    candidates : DeviceArray of int32, shape (n, count)
        From `candidate_lists`.
    per_quadrant : int
        With which they were found. Only the first ``count - 3 * per_quadrant`` of a list are certainly the
        nearest of all, and serve.
    metric : Metric
    token : _native.StopToken, optional

    Returns
    -------
    DeviceArray of int32, shape (n,), or None
        The search's numbers in tour order, from city 0 on; None if the token stopped it.
    """
    n = layout.n
    if n <= 3:
        return device.upload(np.arange(n, dtype=np.int32))
    norm = search_norm(metric)
    links, mate = device.empty((n, 2), np.int32), device.empty(n, np.int32)
    _launch(device, "greedy_cities", n, np.int32(n), mate, links)
    ends = _Ends(n, layout.points, None, mate)
    rows: DeviceArray | None = candidates
    trusted = candidates.shape[1] - 3 * per_quadrant
    while True:
        if rows is None or not _link_ends(device, ends, rows, trusted, links, metric, token):
            return None
        ends = _ends_left(device, ends, links)
        if ends.size == 2:
            break
        rows = _nearest(device, ends.points, ends.size, layout.scale, (_NEAREST_ENDS, 0, norm), token)
        trusted = _NEAREST_ENDS
    _kernel(device, "greedy_close").launch(1, 1, ends.city, links)
    return tour_of_links(device, links, n)


def tour_of_links(device: Device, links: DeviceArray, n: int) -> DeviceArray:
    """The order of a tour, from the two neighbours of every city (``native/tours/tour_ranking.h``).

    Parameters
    ----------
    device : Device
    links : DeviceArray of int32, shape (n, 2)
        Of a single tour through all cities.
    n : int
        At least 3.

    Returns
    -------
    DeviceArray of int32, shape (n,)
        From city 0 to its first neighbour and on.
    """
    index = device.empty(n, np.int32)
    _launch(device, "mark_stops", n, np.int32(n), index)
    count = int(scan_exclusive(device, index, index, n).download()[0])
    stops = device.empty(count, np.int32)
    _launch(device, "list_stops", n, np.int32(n), index, stops)
    ranking = records.RANKING(links=links, index=index, stops=stops, n=n, count=count)
    ways, jumped = device.empty((2 * count, 2), np.int32), device.empty((2 * count, 2), np.int32)
    _launch(device, "walk_ways", 2 * count, ranking, ways)
    for _ in range((2 * count - 1).bit_length()):
        _launch(device, "jump_ways", 2 * count, np.int32(2 * count), ways, jumped)
        ways, jumped = jumped, ways
    tour = device.empty(n, np.int32)
    _launch(device, "write_tour", 2 * count, ranking, ways, tour)
    return tour


def tour_length(device: Device, points: DeviceArray, tour: DeviceArray, metric: Metric) -> int | float:
    """The length of a closed tour, exact for metrics of integers; waits for it.

    Parameters
    ----------
    device : Device
    points : DeviceArray of float64, shape (n, 2) or (n, 3)
        As `Problem.search_points` has them, in the search's order; NaN for a city at distance 0 from all.
    tour : DeviceArray of int32, shape (n,)
        The search's numbers.
    metric : Metric
    """
    n, dimensions = points.shape
    blocks = min(_BLOCKS, _blocks(n))
    dtype, name = (np.int64, "long long") if metric.integral else (np.float64, "double")
    sums, total = device.empty(blocks, dtype), device.empty(1, dtype)
    kind = np.int32(metric.kind)
    kernel = _kernel(device, f"tour_lengths<{name}>")
    kernel.launch(blocks, _THREADS, points, np.int32(dimensions), tour, np.int32(n), kind, sums)
    _kernel(device, f"sum_all<{name}>").launch(1, _THREADS, sums, np.int32(blocks), total)
    length: int | float = total.download()[0].item()
    return length


def scan_exclusive(device: Device, values: DeviceArray, scanned: DeviceArray, n: int) -> DeviceArray:
    """Sums of all earlier values.

    Parameters
    ----------
    device : Device
    values, scanned : DeviceArray of int32
        At least n long; they may be the same.
    n : int
        At least 1.

    Returns
    -------
    DeviceArray of int32, shape (1,)
        The sum of all n values.
    """
    total = device.empty(1, np.int32)
    _scan(device, values, scanned, n, total)
    return total


def sort_by_key(
    device: Device,
    keys: DeviceArray,
    values: DeviceArray,
    n: int,
    key_bits: int,
    token: _native.StopToken | None = None,
) -> DeviceArray | None:
    """The values in the order of their keys, equal keys in the order given; `keys` and `values` are lost.

    Parameters
    ----------
    device : Device
    keys : DeviceArray of uint64, shape (n,)
    values : DeviceArray of int32, shape (n,)
    n : int
    key_bits : int
        So many low bits of the keys count, the others are 0.
    token : _native.StopToken, optional

    Returns
    -------
    DeviceArray or None
        None if the token stopped it.
    """
    tiles = -(-n // _SORT_TILE)
    counts = device.empty((1 << _DIGIT_BITS, tiles), np.int32)
    other_keys, other_values = device.empty(n, np.uint64), device.empty(n, np.int32)
    size = np.int32(n)
    for shift in range(0, key_bits, _DIGIT_BITS):
        if n > _SLICE:
            device.synchronize()  # else the token would be asked long before the GPU gets there
        if _stopped(token):
            return None
        digit = np.int32(shift)
        _kernel(device, "count_digits").launch(tiles, _THREADS, keys, size, digit, counts)
        scan_exclusive(device, counts, counts, counts.size)
        _kernel(device, "scatter_by_digit").launch(
            tiles, _THREADS, keys, values, size, digit, counts, other_keys, other_values
        )
        keys, other_keys = other_keys, keys
        values, other_values = other_values, values
    return values


@dataclass(frozen=True, slots=True, eq=False)
class _Ends:
    """The ends of the paths of which the greedy tour will be made; at first all cities."""

    size: int
    points: DeviceArray  # [size, 2]
    city: DeviceArray | None  # [size]; None: all cities
    mate: DeviceArray  # [size] the other end of the path


def _stage(ends: _Ends, links: DeviceArray, **fields: Any) -> np.void:
    return records.GREEDY_STAGE(
        points=ends.points,
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
    trusted: int,
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
        trusted=trusted,
        kind=metric.kind,
    )
    if size <= _ENDS_OF_A_BLOCK:
        _kernel(device, "greedy_rounds").launch(1, _BLOCK_THREADS, state)
        return not _stopped(token)
    counts = device.empty((_ROUNDS, 2), np.int32)
    _launch(device, "greedy_begin", size, state)
    done, slow = 0, False
    while True:
        counts.zero()
        for k in range(_ROUNDS):
            done += 1
            state["draw"] = done if slow else 0
            _launch(device, "greedy_name", size, state)
            _launch(device, "greedy_settle", size, state)
            _launch(device, "greedy_agree", size, state, counts[k : k + 1])
            _launch(device, "greedy_join", size, state, counts[k : k + 1])
        wishes, joined = counts.download()[-1].tolist()
        if wishes == 0:
            return True
        if _stopped(token):
            return False
        slow = joined < wishes // 16


def _ends_left(device: Device, ends: _Ends, links: DeviceArray) -> _Ends:
    state = _stage(ends, links)
    index = device.empty(ends.size, np.int32)
    _launch(device, "greedy_stays", ends.size, state, index)
    left = int(scan_exclusive(device, index, index, ends.size).download()[0])
    points = device.empty((left, 2), np.float64)
    city, mate = device.empty(left, np.int32), device.empty(left, np.int32)
    _launch(device, "greedy_carry_over", ends.size, state, index, points, city, mate)
    return _Ends(left, points, city, mate)


class _NearestSearch:
    """The search for candidate lists of (count, per quadrant, norm), for points in the order of a curve."""

    def __init__(
        self, device: Device, points: DeviceArray, n: int, scale: DeviceArray, lists: tuple[int, int, int]
    ) -> None:
        levels = 0
        while n >> levels > _LEAF_SIZE:
            levels += 1
        boxes = device.empty((2 << levels, 4), np.float64)
        tree = records.TREE(points=points, boxes=boxes, n=n, levels=levels)
        _launch(device, "make_leaves", 1 << levels, tree, scale, boxes)
        for level in range(levels - 1, _LEVELS_OF_A_BLOCK - 1, -1):
            _launch(device, "make_level", 1 << level, np.int32(1 << level), boxes)
        top = min(levels, _LEVELS_OF_A_BLOCK)
        if top > 0:
            _kernel(device, "make_levels").launch(1, _BLOCK_THREADS, np.int32(1 << (top - 1)), boxes)
        source = _candidate_source(*lists)
        self._kernel = device.module(source.file, source.names, fmad=source.fmad).kernel(source.names[0])
        self._tree, self._scale, self._boxes = tree, scale, boxes
        self.rows = device.empty((n, lists[0]), np.int32)

    def find(self, begin: int, end: int) -> None:
        """Find the lists of these points, counted along the curve."""
        blocks = -(-(end - begin) // _CANDIDATE_THREADS)
        some = np.int32(begin), np.int32(end)
        self._kernel.launch(blocks, _CANDIDATE_THREADS, self._tree, self._scale, *some, self.rows)


def _nearest(
    device: Device,
    points: DeviceArray,
    n: int,
    scale: DeviceArray,
    lists: tuple[int, int, int],
    token: _native.StopToken | None,
) -> DeviceArray | None:
    search = _NearestSearch(device, points, n, scale, lists)
    for begin in range(0, n, _SLICE):
        if begin > 0:
            device.synchronize()
        if _stopped(token):
            return None
        search.find(begin, min(n, begin + _SLICE))
    return search.rows


def _candidate_source(count: int, per_quadrant: int, norm: int) -> Source:
    name = CANDIDATE_KERNEL.format(count=count, per_quadrant=per_quadrant, norm=norm)
    return Source("candidates.cu", (name,), fmad=False)


def _scan(device: Device, values: DeviceArray, scanned: DeviceArray, n: int, total: DeviceArray) -> None:
    tiles = -(-n // _SCAN_TILE)
    kernel = _kernel(device, "scan_tiles")
    if tiles <= 1:
        kernel.launch(1, _THREADS, values, np.int32(n), None, scanned, total)
        return
    sums = device.empty(tiles, np.int32)
    _kernel(device, "sum_tiles").launch(tiles, _THREADS, values, np.int32(n), sums)
    _scan(device, sums, sums, tiles, total)
    kernel.launch(tiles, _THREADS, values, np.int32(n), sums, scanned, None)


def _kernel(device: Device, name: str) -> Kernel:
    return device.module("geometry.cu", GEOMETRY_KERNELS, fmad=False).kernel(name)


def _blocks(count: int) -> int:
    return -(-count // _THREADS)


def _launch(device: Device, name: str, count: int, *arguments: DeviceArray | np.generic | None) -> None:
    """Start a kernel with one thread for each of `count` items."""
    _kernel(device, name).launch(_blocks(count), _THREADS, *arguments)


def at_once(work: Callable[[int], _T], count: int) -> list[_T]:
    """What `work` returns for 0 to `count` - 1, each on a thread of its own."""
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(work, range(count)))


def _stopped(token: _native.StopToken | None) -> bool:
    return token is not None and token.stopped()
