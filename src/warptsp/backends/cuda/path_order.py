"""The places of paths on a tour, found on a GPU (``native/path_order.h``)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from warptsp.backends.cuda.compiler import Source
from warptsp.backends.cuda.geometry import struct

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from warptsp.backends.cuda.device import Device, DeviceArray, Kernel
    from warptsp.problem import Metric

PATHS = Source(
    "paths.cu",
    (
        "begin_paths",
        "ways_round",
        "jump_round",
        "name_tours",
        "look_for_joins",
        "settle_joins",
        "write_joins",
        "link_ends",
        "ways_back",
        "jump_back",
        "write_places",
    ),
    fmad=False,
)
MOST_TOURS = 16_384  # closed ones, beyond which the host joins them
_THREADS = 256
_POINTER = np.dtype("u8")
_ORDER = np.dtype(
    [
        *((name, _POINTER) for name in ("paths", "points", "link", "tour", "cost", "best", "first")),
        *((name, "i4") for name in ("count", "dimensions", "kind")),
    ],
    align=True,
)
_JOIN = np.dtype(
    [
        ("added", "f8"),
        *((name, "i4") for name in ("tour", "other", "a", "a_link", "b", "b_link", "crossed", "found")),
    ]
)


class PathOrder:
    """The paths of a tour, or of several closed ones.

    Parameters
    ----------
    device : Device
    paths : DeviceArray of int32, shape (count, 5)
        Struct LinkedPath.
    points : DeviceArray of float64, shape (n, 2) or (n, 3)
        Of the cities, by the search's numbers.
    metric : Metric
    """

    def __init__(self, device: Device, paths: DeviceArray, points: DeviceArray, metric: Metric) -> None:
        count = len(paths)
        self._device = device
        self._count = count
        self._arrays = {
            "link": device.empty(2 * count, np.int32),
            "tour": device.empty(count, np.int32),
            **{name: device.empty(2 * count, np.uint64) for name in ("cost", "best", "first")},
        }
        self._ways = device.empty((2 * count, 2), np.int32), device.empty((2 * count, 2), np.int32)
        self._order = struct(
            _ORDER,
            paths=paths,
            points=points,
            count=count,
            dimensions=points.shape[1],
            kind=metric.kind,
            **self._arrays,
        )

    def places(self) -> DeviceArray | None:
        """Make one tour of the paths, and place them on it.

        Returns
        -------
        DeviceArray of int32, shape (count, 2), or None
            Struct PathPlace; None where nothing was found to join closed tours by, or there are too many.
        """
        self._launch("begin_paths", 2, self._order)
        while (named := self._closed_tours())[0] > 1:
            if named[0] > MOST_TOURS or not self._join(int(named[0])):
                return None
        places = self._device.empty((self._count, 2), np.int32)
        self._launch("write_places", 1, np.int32(self._count), self._jumped("ways_back", "jump_back"), places)
        return places

    def _closed_tours(self) -> NDArray[np.int32]:
        """Their number; the paths that name them stay on the GPU."""
        self._named = self._device.zeros(1 + MOST_TOURS, np.int32)
        ways = self._jumped("ways_round", "jump_round")
        self._launch("name_tours", 1, self._order, ways, self._named, np.int32(MOST_TOURS))
        return self._named[:1].download()

    def _join(self, tours: int) -> bool:
        """Join every closed tour with the one that this is cheapest with; False if there is no way to."""
        found = self._device.empty(tours * _JOIN.itemsize, np.uint8)
        self._launch("look_for_joins", 2, self._order)
        self._launch("settle_joins", 2, self._order)
        blocks = -(-tours // _THREADS)
        self._kernel("write_joins").launch(blocks, _THREADS, self._order, self._named, np.int32(tours), found)
        joins = found.download().view(_JOIN)
        pairs = np.array(chosen_links(joins[joins["found"] == 1]), np.int32).reshape(-1, 2)
        if not len(pairs):
            return False
        links = self._device.upload(pairs)
        blocks = -(-len(pairs) // _THREADS)
        self._kernel("link_ends").launch(blocks, _THREADS, self._order, links, np.int32(len(pairs)))
        return True

    def _jumped(self, begin: str, jump: str) -> DeviceArray:
        ways, other = self._ways
        self._launch(begin, 2, self._order, ways)
        for _ in range(self._count.bit_length()):
            self._launch(jump, 2, np.int32(self._count), ways, other)
            ways, other = other, ways
        return ways

    def _kernel(self, name: str) -> Kernel:
        return self._device.module(PATHS.file, PATHS.names, fmad=PATHS.fmad).kernel(name)

    def _launch(self, name: str, each: int, *arguments: DeviceArray | np.generic) -> None:
        self._kernel(name).launch(-(-each * self._count // _THREADS), _THREADS, *arguments)


def chosen_links(joins: NDArray[np.void]) -> list[tuple[int, int]]:
    """The links of the joins that can all be made: the cheapest first, no gap twice, none within one tour.

    Parameters
    ----------
    joins : ndarray of struct JoinOfTours
    """
    joined: dict[int, int] = {}

    def root(tour: int) -> int:
        while (above := joined.get(tour, tour)) != tour:
            tour = above
        return tour

    taken: set[int] = set()
    links = []
    for join in np.sort(joins, order=["added", "a", "b"]).tolist():
        _, tour, other, a, a_link, b, b_link, crossed, _ = join
        if root(tour) == root(other) or not taken.isdisjoint((a, a_link, b, b_link)):
            continue
        joined[root(tour)] = root(other)
        taken.update((a, a_link, b, b_link))
        pairs = ((a, b_link), (a_link, b)) if crossed else ((a, b), (a_link, b_link))
        links += [link for p, q in pairs for link in ((p, q), (q, p))]
    return links
