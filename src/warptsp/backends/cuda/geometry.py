"""Cities of the plane or of space on a GPU: their numbers along a curve, other orders, lengths of tours.

The cities are numbered as on the CPU (`backends.instance`). The kernels are in ``native/cuda/geometry.cu``;
their bodies in headers that the tests run on the CPU. Results do not depend on how threads are scheduled.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

import warptsp._native as _native
from warptsp.backends.beside import Beside
from warptsp.backends.cuda import records, tuning
from warptsp.backends.cuda.device import Device, DeviceArray
from warptsp.backends.cuda.primitives import blocks_for, kernel, launch, sort_by_key, stopped
from warptsp.problem import Metric

_FRAME_DOUBLES = records.FRAME.itemsize // 8  # the last is the scale


@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """Cities in the memory of a GPU, numbered along Hilbert's curve."""

    city: DeviceArray  # int32, shape (n,): the problem's city for each of the search's
    points: DeviceArray  # float64, shape (n, 2) or (n, 3), in the search's order
    frame: DeviceArray  # float64: where the points lie, the kernels' struct Frame

    @property
    def n(self) -> int:
        return len(self.points)

    @property
    def dimensions(self) -> int:
        return self.points.shape[1]

    def copy_to(self, device: Device) -> "Layout":
        """The same on another GPU."""
        return Layout(*(array.copy_to(device) for array in (self.city, self.points, self.frame)))

    @property
    def scale(self) -> DeviceArray:
        """The power of two that brings the largest coordinate to about 1, one float64."""
        return self.frame[_FRAME_DOUBLES - 1 : _FRAME_DOUBLES]


def setup_bytes(n: int, count: int, dimensions: int = 2) -> int:
    """The bytes of memory that numbering, `count` candidates a city and a greedy tour take at most, results
    included."""
    numbering = 8 * dimensions + 25  # points, keys and cities twice 12, counts of digits less than 1
    layout = 8 * dimensions + 4
    boxes = 7 * dimensions + 1
    greedy = 41  # links 8, other ends 4, and 29 for a round
    # In space few edges are made of lists with a city of each octant: most ends go into a second stage.
    if dimensions == 3:
        greedy += layout + 4 + 4 * tuning.NEAREST_ENDS
    return n * max(numbering, layout + 4 * count + max(boxes, greedy)) + (1 << 20)


def build(
    device: Device,
    points: NDArray[np.float64],
    token: _native.StopToken | None = None,
    helpers: Sequence[Device] = (),
) -> Layout | None:
    """Number the cities along Hilbert's curve; coincident ones in the order given, as on the CPU.

    The points are float64 of shape (n, 2) or (n, 3), and the helpers other GPUs, each of which takes a share
    of them from the host. None if the token stopped it; DeviceOutOfMemory without the room of `setup_bytes`.
    """
    n = len(points)
    given = _uploaded([device, *helpers], points, token)
    if given is None:
        return None
    blocks = min(tuning.REDUCTION_BLOCKS, blocks_for(n))
    extremes = device.empty((blocks, 6), np.float64)
    dimensions = np.int32(points.shape[1])
    frame = device.empty(_FRAME_DOUBLES, np.float64)
    kernel(device, "find_extremes").launch(blocks, tuning.THREADS, given, np.int32(n), dimensions, extremes)
    kernel(device, "make_frame").launch(1, tuning.THREADS, extremes, np.int32(blocks), dimensions, frame)
    keys, cities = device.empty(n, np.uint64), device.empty(n, np.int32)
    launch(device, "curve_keys", n, given, np.int32(n), dimensions, frame, keys, cities)
    bits = 2 * tuning.CURVE_BITS if dimensions == 2 else 3 * tuning.SPACE_BITS
    sorted_cities = sort_by_key(device, keys, cities, n, bits, token)
    del keys, cities
    if sorted_cities is None:
        return None
    city = sorted_cities[1]
    del sorted_cities
    ordered = device.empty(points.shape, np.float64)
    launch(device, "gather_points", n, given, city, np.int32(n), dimensions, ordered)
    return None if stopped(token) else Layout(city, ordered, frame)


def _uploaded(
    devices: Sequence[Device], points: NDArray[np.float64], token: _native.StopToken | None
) -> DeviceArray | None:
    """The points on the first GPU; None if the token stopped it.

    Each GPU takes a share at the same time: what the host copies to one of them at once, on however many
    threads, is what one core can copy.
    """
    (n, dimensions), gpus = points.shape, len(devices)
    shares = [range(n * k // gpus, n * (k + 1) // gpus) for k in range(gpus)]

    def take(k: int) -> tuple[DeviceArray, bool]:
        share = shares[k]
        own = devices[k].empty((n if k == 0 else len(share), dimensions), np.float64)
        for begin in range(0, len(share), tuning.UPLOAD):
            if stopped(token):
                return own, False
            end = min(begin + tuning.UPLOAD, len(share))
            some = np.asarray(points[share.start + begin : share.start + end], np.float64)
            own[begin:end].upload(some)
        return own, True

    calls = [Beside(take, k) for k in range(1, gpus)]
    try:
        of_lead = take(0)
    finally:
        for call in calls:
            call.wait()
    taken = [of_lead, *(call.result() for call in calls)]
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
    """The numbered cities along the curve of a larger square or cube, turned and shifted: the city at each
    place, int32 of shape (n,); None if the token stopped it.

    Pieces of it have their seams elsewhere than pieces of the numbering. The angle is in radians, in space
    about the third axis; the shift is where in the larger square the cities lie, 0 to 1 each, and the first
    one holds along the third axis, too.
    """
    n = layout.n
    keys, cities = device.empty(n, np.uint64), device.empty(n, np.int32)
    turn = (np.float64(math.cos(angle)), np.float64(math.sin(angle)))
    moved = (np.float64(shift[0]), np.float64(shift[1]))
    sizes = np.int32(n), np.int32(layout.dimensions)
    launch(device, "turned_keys", n, layout.points, *sizes, layout.frame, *turn, *moved, keys, cities)
    bits = 2 * tuning.TURNED_BITS if layout.dimensions == 2 else 3 * tuning.SPACE_BITS
    found = sort_by_key(device, keys, cities, n, bits, token)
    return None if found is None else found[1]


def problems_tour(device: Device, layout: Layout, tour: DeviceArray) -> DeviceArray:
    """A tour in the problem's numbers, from its city 0 on, for one in the search's, both int32 of shape
    (n,)."""
    n = np.int32(layout.n)
    place, whole = device.empty(1, np.int32), device.empty(layout.n, np.int32)
    launch(device, "find_first", layout.n, layout.city, tour, n, place)
    launch(device, "write_problems", layout.n, layout.city, tour, n, place, whole)
    return whole


def tour_length(device: Device, points: DeviceArray, tour: DeviceArray, metric: Metric) -> int | float:
    """The length of a closed tour in the search's numbers, exact for metrics of integers; waits for it.

    The points are as `Problem.search_points` has them, in the search's order; NaN for a city at distance 0
    from all others.
    """
    n, dimensions = points.shape
    blocks = min(tuning.REDUCTION_BLOCKS, blocks_for(n))
    dtype, name = (np.int64, "long long") if metric.integral else (np.float64, "double")
    sums, total = device.empty(blocks, dtype), device.empty(1, dtype)
    kind = np.int32(metric.kind)
    lengths = kernel(device, f"tour_lengths<{name}>")
    lengths.launch(blocks, tuning.THREADS, points, np.int32(dimensions), tour, np.int32(n), kind, sums)
    kernel(device, f"sum_all<{name}>").launch(1, tuning.THREADS, sums, np.int32(blocks), total)
    length: int | float = total.download()[0].item()
    return length
