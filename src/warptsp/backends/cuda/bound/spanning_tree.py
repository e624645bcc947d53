"""Where the shortest spanning tree of a graph is made by Borůvka's algorithm (``native/cuda/bound.cu``)."""

from __future__ import annotations

import numpy as np

from warptsp.backends.cuda import records
from warptsp.backends.cuda.bound.graph import Graph
from warptsp.backends.cuda.device import Device


class SpanningTree:
    """A tree, and the memory in which it is made."""

    def __init__(self, device: Device, n: int) -> None:
        self._device, self._n = device, n
        self.potential = device.zeros(n, np.int32)  # added to the length of the edges at each city
        self.nodes = device.empty((2 * n, 2), np.int32)  # struct MergeNode: the merges by which it was made
        self.taken = device.empty(n, np.int32)  # the arcs that are its n - 1 edges
        self.arrived = device.empty(1, np.int32)
        self._arrays = {
            "potential": self.potential,
            "nodes": self.nodes,
            "taken": self.taken,
            "arrived": self.arrived,
            "best": device.empty(n, np.uint64),
            **{name: device.empty(n, np.int32) for name in ("partner", "chosen", "number", "surplus")},
        }

    def fit(self, graph: Graph) -> None:
        """Have memory for the edges of this graph."""
        for name in ("edges", "other_edges"):
            self._arrays[name] = self._device.empty((graph.arcs // 2, 4), np.int32)

    def record(self, graph: Graph) -> np.void:
        """Struct TreeOnDevice."""
        arcs = {"first": graph.first, "arcs": graph.ends, "owner": graph.owner}
        return records.SPANNING_TREE(n=self._n, **arcs, **self._arrays)
