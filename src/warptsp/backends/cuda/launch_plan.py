"""How rounds of the main solver are spread over a GPU, what they compile, and the memory that they take."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from warptsp.backends.cuda import geometry, plane_candidates, primitives, tuning
from warptsp.backends.cuda.cities import ORDERS, is_plain
from warptsp.backends.cuda.compiler import Source
from warptsp.backends.cuda.device import Device, Kernel
from warptsp.backends.cuda.path_order import PATHS
from warptsp.backends.instance import has_dummy
from warptsp.errors import DeviceOutOfMemory
from warptsp.machine import name_of, ordinals
from warptsp.problem import Metric, Problem


@dataclass(frozen=True, slots=True)
class LaunchPlan:
    """How a round is spread over a GPU."""

    parts: int  # sub-problems
    copies: int  # searches of each part, a warp each
    cities: int  # the most that a part has
    shared: int  # bytes of shared memory of a part
    blocks: int  # warps at once on a multiprocessor
    multiprocessors: int
    registers: int  # of a thread
    local_bytes: int
    depth: int = tuning.DEPTH  # exchange steps of a move, at most

    @property
    def resident(self) -> int:
        """Warps at once on the GPU."""
        return self.blocks * self.multiprocessors

    @property
    def waves(self) -> float:
        """How often the GPU is filled by a round."""
        return self.parts * self.copies / self.resident

    def __str__(self) -> str:
        return (
            f"{self.parts} parts of up to {self.cities} cities, {self.copies} warps for each with "
            f"{self.shared} bytes of shared memory; {self.blocks} at once on each of {self.multiprocessors} "
            f"multiprocessors, {self.waves:.2f} waves; {self.registers} registers and {self.local_bytes} "
            "bytes of local memory a thread"
        )


def lk_defines(metric: Metric, dummy: bool = False, depth: int = tuning.DEPTH) -> dict[str, int]:
    """What lk.cu is compiled with for a metric, for a dummy city or none, and for moves of so many steps, of
    which no more than `tuning.DEPTH` are made."""
    return {
        "LK_CANDIDATES": tuning.CANDIDATES,
        "LK_METRIC": metric.kind,
        "LK_DUMMY": int(dummy),
        "LK_DEPTH": min(depth, tuning.DEPTH),
    }


def lk_kernel(
    device: Device, metric: Metric, name: str, dummy: bool = False, depth: int = tuning.DEPTH
) -> Kernel:
    """A kernel of lk.cu, compiled for the metric."""
    return device.module(Source("lk.cu", (), lk_defines(metric, dummy, depth))).kernel(name)


def shared_bytes_by(device: Device, kernel: Kernel) -> Callable[[int], int]:
    """What says, by this kernel, how many bytes of shared memory a part of so many cities takes."""
    sizes = device.empty(2, np.int32)
    kernel.launch(1, 1, sizes)
    fixed, per_city = (int(v) for v in sizes.download())
    return lambda n: fixed + per_city * (math.ceil(n / 8) * 8)


def plan_launch(
    device: Device,
    metric: Metric,
    n: int,
    tours: int = 1,
    *,
    dummy: bool = False,
    depth: int = tuning.DEPTH,
) -> LaunchPlan:
    """Choose the size of parts: large ones lose less at their seams, small ones fill the GPU.

    As many multiprocessors as can be have a part, and the last wave should not be a small one. With several
    tours each has its own parts, a warp for each; with one there may be several warps for each part.
    """
    kernel = lk_kernel(device, metric, "improve_parts", dummy, depth)
    shared_bytes = shared_bytes_by(device, lk_kernel(device, metric, "shared_bytes", dummy, depth))
    wanted = min(max(n * tours // device.multiprocessors, tuning.MIN_PART), tuning.MAX_PART)
    best: tuple[float, LaunchPlan] | None = None
    for cities in range(wanted, max(tuning.MIN_PART, 3 * wanted // 4) - 1, -8):
        parts = max(1, math.ceil(n / cities))
        most = math.ceil(n / parts)
        shared = shared_bytes(most)
        blocks = kernel.blocks_per_multiprocessor(32, shared)
        if blocks == 0:
            continue
        copies = (
            min(max(1, blocks * device.multiprocessors // parts), tuning.MAX_COPIES) if tours == 1 else tours
        )
        plan = LaunchPlan(
            parts=parts,
            copies=copies,
            cities=most,
            shared=shared,
            blocks=blocks,
            multiprocessors=device.multiprocessors,
            registers=kernel.registers,
            local_bytes=kernel.local_bytes,
            depth=depth,
        )
        # The share of the waves that is filled, and a little for every city that a part has.
        filled = plan.waves / math.ceil(plan.waves) if plan.waves > 1 else 1.0
        score = filled + 0.2 * cities / wanted
        if best is None or score > best[0]:
            best = score, plan
    if best is None:
        raise DeviceOutOfMemory(
            f"{device.name}: {device.shared_memory_per_block} bytes of shared memory per block are too few "
            f"for a part of {tuning.MIN_PART} cities; use device cpu"
        )
    return best[1]


def kernel_sources(problem: Problem, depth: int = tuning.DEPTH) -> list[Source]:
    """What a run of the main solver, with moves of so many steps, compiles if it is not in the cache."""
    sources = [Source("lk.cu", (), lk_defines(problem.metric, has_dummy(problem), depth))]
    if problem.matrix is None:
        sources.append(primitives.SOURCE)
    if problem.n >= tuning.MIN_ORDERED:
        sources.append(PATHS)
    if is_plain(problem):
        sources += plane_candidates.sources(problem.metric, tuning.CANDIDATES, tuning.PER_QUADRANT)
    return sources


def explain_launch(problem: Problem, device: str) -> str:
    """Say how the main solver's rounds would be spread over the GPUs."""
    gpus = ordinals(device)
    with Device.open(gpus[0]) as gpu:
        size, dummy = problem.n + has_dummy(problem), has_dummy(problem)
        plan = plan_launch(gpu, problem.metric, size, dummy=dummy)
        lines = [f"launch       {gpu.name}: {plan}"]
    working = min(len(gpus), plan.parts)
    if len(gpus) > 1:
        share = math.ceil(plan.parts / working)
        lines.append(
            f"GPUs         {name_of(gpus[:working])}: {share} parts on each, {plan.waves / working:.2f} waves"
        )
    each = " on each GPU" if working > 1 else ""
    return "\n".join([*lines, f"memory       {needed_bytes(problem) / 1e9:.3f} GB{each}"])


def needed_bytes(problem: Problem) -> int:
    """Bytes of device memory that set-up or search have at once, at most."""
    n = problem.n + has_dummy(problem)
    a_city = (
        8 * problem.metric.dimensions  # points
        + 4 * tuning.CANDIDATES
        + 4 * 3  # the tour, positions, the best tour
        + 4  # the problem's numbers
        + 8 * (ORDERS - 1)
        + 2 * tuning.CANDIDATES
        + 2  # of the parts
        + 28  # handed over
        + 16  # and sent to the host; ten million cities took 142 bytes each
    )
    if len(problem.fixed_edges) or problem.open is not None:
        a_city += 8
    if is_plain(problem):
        needed = max(a_city * n, geometry.setup_bytes(n, tuning.CANDIDATES, problem.metric.dimensions))
    else:
        needed = a_city * n + (4 * n * n if problem.matrix is not None else 0)
    return needed + (64 << 20)  # copies of small ones


def pool_bytes(n: int) -> int:
    """Bytes of device memory for one more tour of `PartRounds`, at most."""
    # The tour, positions, lists of the parts, what is handed over, and the paths of it sent to the host.
    return (50 + 2 * tuning.CANDIDATES) * n
