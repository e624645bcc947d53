"""The kernels of a bound, and their launches."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warptsp.backends.cuda import tuning
from warptsp.backends.cuda.compiler import Source
from warptsp.backends.cuda.primitives import blocks_for

if TYPE_CHECKING:
    import numpy as np

    from warptsp.backends.cuda.device import Device, DeviceArray
    from warptsp.problem import Metric

KERNELS = (
    "ascend",
    "write_edges",
    "first_edges",
    "mark_first",
    "write_arcs",
    "whole_tour_length",
    "fill_boxes",
    "split_pairs",
    "find_violated",
    "keep_arcs",
    "second_smallest",
    "next_cities",
    "number_cities",
    "write_potentials",
)


def source_of(metric: Metric) -> Source:
    return Source("bound.cu", KERNELS, {"METRIC_KIND": metric.kind}, fmad=False)


class Kernels:
    """The kernels for one problem, and the sizes of their launches."""

    def __init__(self, device: Device, metric: Metric) -> None:
        source = source_of(metric)
        self.device = device
        self.module = device.module(source)

    def launch(self, name: str, count: int, *arguments: DeviceArray | np.generic | None) -> None:
        """With a thread for each of `count` items."""
        self.module.kernel(name).launch(blocks_for(count), tuning.THREADS, *arguments)

    def reduce(self, name: str, count: int, *arguments: DeviceArray | np.generic | None) -> None:
        """With many items for a thread, whose sums are added up."""
        blocks = min(tuning.REDUCTION_BLOCKS, blocks_for(count))
        self.module.kernel(name).launch(blocks, tuning.THREADS, *arguments)
