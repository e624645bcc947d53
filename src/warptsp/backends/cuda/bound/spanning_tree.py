"""The shortest spanning tree of a graph by Borůvka's algorithm, all rounds in one launch."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from warptsp.backends.cuda import records, tuning
from warptsp.backends.cuda.primitives import blocks_for

if TYPE_CHECKING:
    from warptsp.backends.cuda.device import Device, DeviceArray

    from .graph import Graph
    from .launch import Kernels

_LEVELS = 32  # as in the kernel: more than there can be
_SUMS = 4
_COUNTS = _LEVELS + 1  # int64, for two counts of each level and one more


class SpanningTree:
    """A tree, and the memory in which it is made.

    Attributes
    ----------
    nodes : DeviceArray of int32, shape (2 n, 2)
        Struct MergeNode: the merges by which it was made (``native/bound/merge_tree.h``).
    taken : DeviceArray of int32, shape (n,)
        The arcs that are its n - 1 edges.
    surplus : DeviceArray of int32, shape (n,)
        Edges at each city, less 2.
    sums : DeviceArray of int64, shape (4,)
        Its length; the others are the ascent's, for the same round.
    """

    def __init__(self, kernels: Kernels, n: int) -> None:
        device: Device = kernels.device
        self._device, self._n = device, n
        self._kernel = kernels.module.kernel("make_tree")
        at_once = self._kernel.blocks_per_multiprocessor(tuning.THREADS) * device.multiprocessors
        self._blocks = min(at_once, blocks_for(n))
        self.nodes = device.empty((2 * n, 2), np.int32)
        self.taken = device.empty(n, np.int32)
        self.surplus = device.zeros(n, np.int32)
        self._figures = device.zeros(_SUMS + _COUNTS + 1, np.int64)
        self.sums = self._figures[:_SUMS]
        self._arrays = {
            "partner": device.empty(n, np.int32),
            "chosen": device.empty(n, np.int32),
            "number": device.empty(n, np.int32),
            "best": device.empty(n, np.uint64),
            "nodes": self.nodes,
            "taken": self.taken,
            "surplus": self.surplus,
            "tree_length": self._figures[:1],
            "counts": self._figures[_SUMS : _SUMS + _COUNTS],
            "arrived": self._figures[_SUMS + _COUNTS :],
        }

    def fit(self, graph: Graph) -> None:
        """Have memory for the edges of this graph."""
        for name in ("edges", "other_edges"):
            self._arrays[name] = self._device.empty((graph.arcs // 2, 4), np.int32)

    def clear(self) -> None:
        """Set the sums to 0; to be done before each tree."""
        self._figures.zero()

    def record(self, graph: Graph, potential: DeviceArray) -> np.void:
        """Struct TreeOnDevice."""
        arcs = {"first": graph.first, "arcs": graph.ends, "owner": graph.owner}
        return records.SPANNING_TREE(n=self._n, potential=potential, **arcs, **self._arrays)

    def make(self, graph: Graph, potential: DeviceArray) -> None:
        """Make the tree of this graph, to which `fit` has made it fit; `surplus` is -2 everywhere before."""
        self._kernel.launch(self._blocks, tuning.THREADS, self.record(graph, potential), cooperative=True)
