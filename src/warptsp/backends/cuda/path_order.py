"""The places of paths on a tour, found on a GPU (``native/lk/path_order.h``)."""

import numpy as np

import warptsp._native as _native
from warptsp.backends.cuda import records
from warptsp.backends.cuda.compiler import Source
from warptsp.backends.cuda.device import Device, DeviceArray
from warptsp.problem import Metric

PATHS = Source("paths.cu", fmad=False)


class PathOrder:
    """The paths of a tour, or of several closed ones: struct LinkedPath, int32 of shape (count, 5).

    The points are those of the cities, by the search's numbers, shape (n, 2) or (n, 3).
    """

    def __init__(self, device: Device, paths: DeviceArray, points: DeviceArray, metric: Metric) -> None:
        count = len(paths)
        self._device, self._module = device, device.module(PATHS)
        self._count = count
        self._arrays = {
            "link": device.empty(2 * count, np.int32),
            "tour": device.empty(count, np.int32),
            **{name: device.empty(2 * count, np.uint64) for name in ("cost", "best", "first")},
        }
        self._given = paths, points  # `_order` has their addresses alone
        self._ways = device.empty((2 * count, 2), np.int32), device.empty((2 * count, 2), np.int32)
        self._order = records.PATH_ORDER(
            paths=paths,
            points=points,
            count=count,
            dimensions=points.shape[1],
            kind=metric.kind,
            **self._arrays,
        )

    def places(self) -> DeviceArray | None:
        """Make one tour of the paths, and place them on it: struct PathPlace, int32 of shape (count, 2).

        None where nothing was found to join closed tours by.
        """
        self._launch("begin_paths", 2, self._order)
        named = left = self._closed_tours()
        while left > 1:
            joined = self._join(named)
            if joined == 0:
                return None
            left -= joined
        places = self._device.empty((self._count, 2), np.int32)
        self._launch("write_places", 1, np.int32(self._count), self._jumped("ways_back", "jump_back"), places)
        return places

    def _closed_tours(self) -> int:
        """Their number; the paths that name them stay on the GPU."""
        self._named = self._device.empty(1 + self._count, np.int32)
        self._named[:1].zero()
        ways = self._jumped("ways_round", "jump_round")
        self._launch("name_tours", 1, self._order, ways, self._named)
        return int(self._named[:1].download()[0])

    def _join(self, named: int) -> int:
        """Join every closed tour with the one that this is cheapest with, as far as that can be done at once;
        returns how many tours there are less."""
        found = self._device.empty(named * records.JOIN.itemsize, np.uint8)
        for name in ("clear_joins", "look_for_joins", "settle_joins"):
            self._launch(name, 2, self._order)
        self._module.each("write_joins", named, self._order, self._named, np.int32(named), found)
        links, names = _native.choose_joins(found.download())
        if not len(links):
            return 0
        for kernel, pairs in (("link_ends", links), ("note_names", names)):
            some, count = self._device.upload(pairs), len(pairs)
            self._module.each(kernel, count, self._order, some, np.int32(count))
        self._launch("rename_tours", 1, self._order)
        return len(links) // 4

    def _jumped(self, begin: str, jump: str) -> DeviceArray:
        ways, other = self._ways
        self._launch(begin, 2, self._order, ways)
        for _ in range(self._count.bit_length()):
            self._launch(jump, 2, np.int32(self._count), ways, other)
            ways, other = other, ways
        return ways

    def _launch(self, name: str, each: int, *arguments: DeviceArray | np.generic) -> None:
        self._module.each(name, each * self._count, *arguments)
