"""Symmetrical 2-opt moves on a GPU; the kernels are in ``native/papers/symmetric/symmetric.cu``.

While the tour fits into the shared memory of a block, a chain is a block's work, and a descent of one chain
is done by all blocks, each with a copy of the tour. Longer tours lie in device memory, and all blocks share
each axis.
Every decision is that of the CPU, so tours are the same step by step.
"""

import math

import numpy as np
from numpy.typing import NDArray

import warptsp._native as _native
from warptsp.backends.cuda.compiler import Source
from warptsp.backends.cuda.device import Device, DeviceArray
from warptsp.backends.cuda.records import field_of_rows
from warptsp.backends.instance import exact_rows
from warptsp.errors import DeviceOutOfMemory
from warptsp.papers.symmetric import cuda_records as records
from warptsp.papers.symmetric import cuda_tuning as tuning
from warptsp.papers.symmetric.cpu import Circle
from warptsp.problem import Problem

A_CITY = 16  # bytes of shared memory
_FOREVER = 1 << 62


def source_of(problem: Problem) -> Source:
    return Source(records.FILE, (), {"METRIC_KIND": problem.metric.kind}, fmad=False)


class CudaSymmetricSearch:
    """Chains of tours on a GPU, as `_native.SymmetricTours` on CPU threads.

    `chains` is None for as many as the GPU runs at once without slowing each other down much, and `block`,
    the threads of a block, for what the numbers of chains and of segments around a centre ask for.
    """

    def __init__(
        self, device: Device, circle: Circle, chains: int | None, *, seed: int, block: int | None
    ) -> None:
        n = len(circle.cities)
        self._device = device
        self._circle = circle
        self._seed = np.uint64(seed)
        self._rungs = circle.rungs
        source = source_of(circle.instance.problem)
        self._module = device.module(source)
        self._instance = self._struct_of(circle)
        self._kernel_seconds = 0.0
        self._seconds_a_step = 0.0
        self._known_states: NDArray[np.void] | None = None  # since the last launch
        self._grid = 0  # blocks that share each axis of a chain; 0: each has a tour
        self._copy = 0  # bytes of a block's tour in device memory
        # Many chains are a warp's work each, if they can be.
        many = block is None and (chains is None or chains > tuning.MAX_BLOCK_CHAINS * device.multiprocessors)
        if circle.random:
            self._plan_large("symmetric_random", A_CITY, block)
            at_once = device.multiprocessors
        elif circle.triples:
            self._plan_large("symmetric_triples", A_CITY + 4, block)
            at_once = 1
        elif (many and self._plan_blocks(32) and self._warps) or self._plan_blocks(block):
            most = tuning.MAX_CHAINS if self._warps else self._blocks_at_once
            at_once = min(self._blocks_at_once, most) * device.multiprocessors
        else:
            self._plan_grid(block)
            at_once = 1
        self.chains = at_once if chains is None else chains
        in_device_memory = self._grid > 0 or (circle.random and not self._shared)
        shape = (self.chains, n) if in_device_memory else (0, n)
        arrays = device.together(
            cities=np.tile(circle.cities, (self.chains, 1)),
            states=np.zeros(self.chains, records.SYMMETRIC_STATE.dtype),
            talk=(1, records.SYMMETRIC_TALK.dtype),
            lengths=(self.chains, np.float64),
            place=((*shape, 2), np.float32),
            edge=(shape, np.float32),
            flags=(3 * self._grid, np.int32),
            spare=(self._copy * device.multiprocessors if circle.triples else 0, np.uint8),
        )
        self._cities, self._states = arrays["cities"], arrays["states"]
        self._talk, self._lengths = arrays["talk"], arrays["lengths"]
        self._flags = arrays["flags"]
        self._spare = arrays["spare"] if self._copy else None
        # Of tours in device memory.
        self._placed = (arrays["place"], arrays["edge"]) if in_device_memory else None
        if self._grid:
            self._module.kernel("symmetric_place").launch(
                (math.ceil(n / 256), self.chains),
                256,
                self._instance,
                self._cities,
                arrays["place"],
                arrays["edge"],
            )

    # What it is asked to do

    def descend(self, seconds: float, token: _native.StopToken) -> bool:
        """Descend for so long at a time; True when every tour is 2-optimal."""
        cooling = records.COOLING(factor=1.0, iterations=_FOREVER)
        spent, all_axes = 0.0, self._circle.quiet_enough
        while not token.stopped():
            seconds_left = max(seconds - spent, 0.001)
            before = self._kernel_seconds
            if self._circle.triples or not (self._grid or self._circle.random or self.chains > 1):
                self._launch_together(min(seconds_left, tuning.SYMMETRIC_SLICE))
            elif not self._grid:
                self._launch_chains(cooling, self._steps_for(seconds_left))
            else:
                for chain in range(self.chains):
                    self._launch_grid(
                        chain, cooling, _FOREVER, min(seconds_left, tuning.SYMMETRIC_SLICE) / self.chains
                    )
            spent += self._kernel_seconds - before
            if (self._state()["quiet"] >= all_axes).all():
                return True
            if spent >= seconds:
                return False
        return False

    def anneal(
        self,
        temperature: float,
        factor: float,
        iterations: int,
        spent: int,
        steps: int,
        token: _native.StopToken,
    ) -> None:
        """Make so many steps of annealing with every tour."""
        while steps > 0 and not token.stopped():
            count = min(steps, self._steps_for(tuning.SYMMETRIC_SLICE))
            cooling = records.COOLING(
                temperature=temperature, factor=factor, iterations=iterations, spent=spent
            )
            if not self._grid:
                self._launch_chains(cooling, count)
            else:
                for chain in range(self.chains):
                    self._launch_grid(chain, cooling, count, math.inf)
            for _ in range((spent + count) // iterations):
                temperature *= factor
            spent = (spent + count) % iterations
            steps -= count

    # What is asked of it

    def cities(self, chain: int) -> NDArray[np.int32]:
        """The cities on the circle of a chain, by position."""
        cities: NDArray[np.int32] = self._cities[chain : chain + 1].download()[0]
        return cities

    def lengths(self) -> NDArray[np.float64]:
        self._module.kernel("symmetric_lengths").launch(
            self.chains, 256, self._instance, self._cities, self._lengths
        )
        return self._lengths.download()

    def counters(self) -> dict[str, int | float]:
        """Sums over the chains, and the seconds that the kernels took."""
        states = self._state()
        steps = int(states["step"].sum())
        return {
            "steps": steps,
            "quiet": int(states["quiet"][0]),
            "evaluations": self._circle.evaluations(states["step"]),
            "moves": int(states["moves"].sum()),
            "kernel_seconds": self._kernel_seconds,
        }

    def _state(self) -> NDArray[np.void]:
        """How far the chains are, asked of the GPU once after every launch."""
        if self._known_states is None:
            self._known_states = self._states.download()
        return self._known_states

    # Launches

    def _launch_together(self, seconds: float) -> None:
        self._reset_talk()
        triples = self._circle.triples
        self._launch(
            "symmetric_triples" if triples else "symmetric_together",
            self._device.multiprocessors,
            self._states,
            self._cities,
            self._talk,
            np.uint64(seconds * 1e9),
            *((self._spare, np.int64(self._copy)) if triples else ()),
            cooperative=True,
        )

    def _launch_chains(self, cooling: np.void, steps: int) -> None:
        more = (self._placed or (None, None)) if self._circle.random else ()
        taken = self._launch(
            self._name, self.chains, self._states, self._cities, cooling, self._seed, np.int64(steps), *more
        )
        self._seconds_a_step = taken / steps

    def _launch_grid(self, chain: int, cooling: np.void, steps: int, seconds: float) -> None:
        assert self._placed is not None
        self._reset_talk()
        own = slice(chain, chain + 1)
        taken = self._launch(
            "symmetric_grid",
            self._grid,
            self._states[own],
            self._cities[own],
            *(array[own] for array in self._placed),
            cooling,
            self._seed,
            np.uint64(chain),
            np.int64(steps),
            self._talk,
            self._flags,
            np.uint64(min(seconds * 1e9, 2.0**62)),
            cooperative=True,
        )
        self._seconds_a_step = taken / steps

    def _launch(
        self, name: str, blocks: int, *arguments: DeviceArray | np.generic | None, cooperative: bool = False
    ) -> float:
        """Take tours further; the seconds that it took."""
        with self._device.timer() as timer:
            self._module.kernel(name).launch(
                blocks,
                self._block,
                self._instance,
                *arguments,
                shared=self._shared,
                cooperative=cooperative,
            )
        self._kernel_seconds += timer.seconds
        self._known_states = None
        return timer.seconds

    def _steps_for(self, seconds: float) -> int:
        """Steps of all chains that take about so long."""
        if self._seconds_a_step == 0.0:
            return tuning.FIRST_STEPS
        each = self._seconds_a_step * (self.chains if self._grid else 1)
        return max(1, int(min(seconds, tuning.SYMMETRIC_SLICE) / each))

    def _reset_talk(self) -> None:
        talk = np.zeros(1, records.SYMMETRIC_TALK.dtype)
        talk["first"] = np.iinfo(np.uint64).max
        self._talk.upload(talk)

    # Set-up

    def _plan_large(self, name: str, bytes_a_city: int, block: int | None) -> None:
        """Plan a kernel whose tours may lie in device memory, too."""
        self._name, self._warps = name, False
        self._block = block or tuning.SYMMETRIC_THREADS
        self._shared = 8 * math.ceil(bytes_a_city * len(self._circle.cities) / 8)
        if self._module.kernel(name).blocks_per_multiprocessor(self._block, self._shared) == 0:
            self._copy, self._shared = self._shared, 0

    def _plan_blocks(self, block: int | None) -> bool:
        """Whether the tour fits into a block; and how blocks are launched then."""
        rungs = max(1, self._rungs)
        self._block = block or min(tuning.SYMMETRIC_THREADS, 32 * math.ceil(rungs / 32))
        self._warps = self._block == 32 and rungs <= tuning.MAX_RUNGS_OF_A_WARP and not self._circle.elements
        self._name = "symmetric_warps" if self._warps else "symmetric_blocks"
        words = math.ceil(rungs / self._block) * (self._block // 32)
        more = tuning.MAX_RUNGS_OF_A_WARP // 8 + 2 * tuning.QUEUE if self._warps else 4 * words
        self._shared = A_CITY * len(self._circle.cities) + more
        kernel = self._module.kernel(self._name)
        self._blocks_at_once = kernel.blocks_per_multiprocessor(self._block, self._shared)
        return self._blocks_at_once > 0

    def _plan_grid(self, block: int | None) -> None:
        kernel = self._module.kernel("symmetric_grid")
        self._block = block or tuning.SYMMETRIC_THREADS
        self._grid = min(self._device.multiprocessors, math.ceil(self._rungs / 32))
        stretch = math.ceil(self._rungs / self._grid)
        words = math.ceil(stretch / self._block) * (self._block // 32)
        self._shared = 24 * (stretch + tuning.AXES_AHEAD + 2) + 4 * words
        if kernel.blocks_per_multiprocessor(self._block, self._shared) == 0:
            raise DeviceOutOfMemory(
                f"{self._device.name}: {len(self._circle.cities)} cities need {self._shared} bytes of shared "
                f"memory per block, and there are {self._device.shared_memory_per_block}; use device cpu"
            )

    def _struct_of(self, circle: Circle) -> np.void:
        instance, metric = circle.instance, circle.instance.problem.metric
        rows = exact_rows(metric, instance.rows, whole=instance.problem.integral)
        upload = self._device.upload
        sent = upload(rows), None if circle.fixed is None else upload(circle.fixed)
        self._held = sent  # the struct has their addresses alone
        return records.SYMMETRIC_INSTANCE(
            size=len(circle.cities),
            kind=metric.kind,
            stride=0 if instance.has_matrix else rows.shape[1],
            matrix_size=len(rows) if instance.has_matrix else 0,
            **{field_of_rows(metric, rows, points="points"): sent[0]},
            fixed=sent[1],
            **circle.numbers.as_dict(),
        )
