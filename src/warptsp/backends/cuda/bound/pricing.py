"""Which pairs of all cities a spanning tree has wrongly left out (``native/bound/pricing.h``)."""

import numpy as np
from numpy.typing import NDArray

import warptsp._native as _native
from warptsp.backends.cuda import records, tuning
from warptsp.backends.cuda.bound.graph import GraphBuilder
from warptsp.backends.cuda.device import DeviceArray
from warptsp.backends.cuda.plane_candidates import box_tree

_MAX_PAIRS = 1 << 22  # of boxes that are split at once
_VIOLATED = 8  # pairs a city that are taken at once: the most violated ones, if there are more
_MIN_VIOLATED = 1 << 11
_SIZES = 32  # as in the kernel: bits of a violation
_FIRST_LEVEL = 7  # whose boxes are all paired at once: its 8256 pairs are nothing to a GPU, a launch is


class Pricing:
    """The boxes of an ascent's cities."""

    def __init__(self, graphs: GraphBuilder) -> None:
        device, layout = graphs.device, graphs.layout
        self._graphs, self._device, self._n = graphs, device, layout.n
        self._boxes, self._levels = box_tree(device, layout)
        self._cities = device.empty((2 << self._levels, 3), np.int32)
        self._first_level = min(self._levels, _FIRST_LEVEL)
        some = 1 << self._first_level
        self._first_pairs = device.upload((some + np.stack(np.triu_indices(some), axis=1)).astype(np.int32))

    def violated(
        self, nodes: DeviceArray, potential: DeviceArray, token: _native.StopToken
    ) -> tuple[DeviceArray, bool] | None:
        """Both arcs of each violated pair, and whether these are all; None if the token stopped it.

        The nodes are those of the merge tree of a spanning tree, with potentials int32 of shape (n,).
        """
        pricing = records.PRICING(
            points=self._graphs.layout.points,
            tree_boxes=self._boxes,
            size=self._n,
            levels=self._levels,
            nodes=nodes,
            potential=potential,
            boxes=self._cities,
            scale=self._graphs.scale,
        )
        for level in range(self._levels, -1, -1):
            self._graphs.launch("fill_boxes", 1 << level, pricing, np.int32(1 << level))
        count, by_size = self._device.empty(1, np.int32), self._device.empty(_SIZES, np.int32)
        wanted, least, complete = max(_MIN_VIOLATED, _VIOLATED * self._n), 1, True
        while True:
            keys = self._device.empty(2 * wanted, np.uint64)
            count.zero()
            by_size.zero()
            found = np.int64(least), self._graphs.bits, by_size, keys, np.int32(2 * wanted), count
            if not self._join(pricing, self._first_pairs, self._first_level, found, token):
                return None
            arcs = int(count.download()[0])
            if arcs <= 2 * wanted:
                return keys[:arcs], complete
            # Once more, for the most violated ones alone.
            complete = False
            least, wanted = most_violated(by_size.download(), wanted)

    def _join(
        self,
        pricing: np.void,
        pairs: DeviceArray,
        level: int,
        found: tuple[DeviceArray | np.generic, ...],
        token: _native.StopToken,
    ) -> bool:
        """Find the violated pairs of cities between these boxes of a level; False if the token stopped it."""
        launch, scale = self._graphs.launch, self._graphs.layout.scale
        for begin in range(0, len(pairs), _MAX_PAIRS):
            some, at = pairs[begin : begin + _MAX_PAIRS], level
            while at < self._levels and 0 < len(some) <= _MAX_PAIRS:
                if token.stopped():
                    return False
                halves = self._device.empty((4 * len(some), 2), np.int32)
                count = self._device.zeros(1, np.int32)
                launch("split_pairs", len(some), pricing, scale, some, np.int32(len(some)), halves, count)
                some, at = halves[: int(count.download()[0])], at + 1
            if at < self._levels and len(some):
                if not self._join(pricing, some, at, found, token):
                    return False
            elif len(some):
                tasks = len(some) * (tuning.LEAF_SIZE + 1)
                launch("find_violated", tasks, pricing, scale, some, np.int32(len(some)), *found)
        return not token.stopped()

    def second_smallest(self, cities: NDArray[np.int32], potential: DeviceArray) -> NDArray[np.int64]:
        """The second smallest length of an edge at each of these cities, of those to all others."""
        lengths = self._device.empty(len(cities), np.int64)
        kernel = self._graphs.module.kernel("second_smallest")
        some = self._device.upload(cities)
        points, scale, n = self._graphs.layout.points, self._graphs.scale, np.int32(self._n)
        kernel.launch(len(cities), tuning.BLOCK_THREADS, points, potential, n, scale, some, lengths)
        return lengths.download()


def most_violated(by_size: NDArray[np.int32], wanted: int) -> tuple[int, int]:
    """The least violation of the pairs to take if `wanted` are enough, and how many these are.

    `by_size` has the number of violations from 2**k to 2**(k + 1) - 1.
    """
    from_here = np.cumsum(by_size[::-1].astype(np.int64))[::-1]  # pairs of at least 2**k
    least = int(np.flatnonzero(from_here)[-1])  # the most violated ones at any rate
    enough = np.flatnonzero((from_here > 0) & (from_here <= wanted))
    if len(enough):
        least = int(enough[0])
    return 1 << least, int(from_here[least])
