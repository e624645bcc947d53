"""Local search along neighbour lists on a GPU (``native/papers/neighbor_lists/neighbor.cu``).

The moves are those of the CPU, in the same arithmetic: the same instance, start tour and parameters give the
same tour on both. A descent of many moves looks at all cities with the whole chip, and one block makes the
moves; a chain of iterated local search is one block. Passes that make the best move of all cities, and the
kicks between them, are one launch for the whole chip. Tours lie in shared memory up to about 19 000 cities.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warptsp.backends.cuda.compiler import Source
from warptsp.backends.cuda.device import Device, DeviceArray, Kernel
from warptsp.backends.instance import SearchInstance, fixed_partners, inverse
from warptsp.errors import DeviceOutOfMemory
from warptsp.papers.neighbor_lists import cuda_records as records
from warptsp.papers.neighbor_lists import cuda_tuning as tuning
from warptsp.papers.neighbor_lists.moves import Moves
from warptsp.problem import Problem

# Of descents that make many moves a pass; of chains, which take the compiler several times as long; and of
# passes that make the best move.
MANY_KERNELS = ("measure_lists", "measure_edges", "examine_cities<{three}>", "make_many_moves")
CHAIN_KERNELS = ("run_chains<{three}>",)
PASS_KERNELS = ("measure_lists", "run_passes<{three}>")

_OPEN_BYTES = 40 + 4  # of shared memory: an open move
_MEMBER_BYTES = 68 + 32 * _OPEN_BYTES  # a city that is looked at, and the moves it may open
_STATIC_SHARED = 2048  # bytes; what the kernels have beside is less
_BYTES_OF_TOUR, _BYTES_OF_CHAIN = 11, 11.125  # of shared memory a city


def needed_bytes(n: int, width: int, chains: int, *, matrix: bool) -> int:
    """Bytes of device memory that a search needs."""
    rows = 8 * n if matrix else 24
    of_a_chain = 6 * 4 + 1
    return n * (rows + 12 * width + records.NEIGHBOR_MOVE.itemsize + 48 + chains * of_a_chain) + (64 << 20)


def kernel_sources(problem: Problem, moves: Moves, *, chains: bool) -> list[Source]:
    """Return what is compiled for a problem: for descents, for kicks and queues too if there are `chains`, or
    instead for whole passes and kicks between them."""
    defines = {"METRIC_KIND": problem.metric.kind} | ({"NEXT_ONLY": 1} if moves.next_only else {})
    files = [PASS_KERNELS] if moves.whole else [MANY_KERNELS, CHAIN_KERNELS] if chains else [MANY_KERNELS]
    three = str(moves.three).lower()
    return [
        Source("neighbor.cu", tuple(name.format(three=three) for name in names), defines, fmad=False)
        for names in files
    ]


class NeighborSearch:
    """Tours in the memory of a GPU, and the local search along neighbour lists; as `_native.NeighborSearch`.

    The neighbours, of shape (n, width), are sorted by distance, and `length` is that of the tour. `iterate`
    makes so many chains at most, of whole passes one. Without a `block` the threads of one are chosen.
    """

    def __init__(
        self,
        device: Device,
        instance: SearchInstance,
        neighbors: NDArray[np.int32],
        tour: NDArray[np.int32],
        length: float,
        moves: Moves,
        *,
        chains: int,
        block: int | None,
    ) -> None:
        n, width = neighbors.shape
        needed, free = needed_bytes(n, width, chains, matrix=instance.has_matrix), device.memory_free()
        if needed > free:
            raise DeviceOutOfMemory(
                f"device cuda:{device.ordinal}: {n} cities with {width} neighbours and {chains} chains need "
                f"{needed / 1e9:.2f} GB, and {free / 1e9:.2f} GB are free; take fewer of them, or device cpu"
            )
        self.device = device
        self.size = int(n)
        self.moves = moves
        self.chains = chains
        self.block = block
        self.kernel_seconds = 0.0
        self._sources = kernel_sources(instance.problem, moves, chains=True)
        self._kernels: dict[str, Kernel] = {}
        fixed = instance.fixed_edges
        given = {"partners": fixed_partners(n, fixed)} if len(fixed) else {}
        arrays = device.together(
            rows=np.asarray(instance.rows, dtype=np.float64),
            neighbors=neighbors,
            **given,
            bits=np.ones(n, np.uint8),
            state=np.zeros(1, records.NEIGHBOR_STATE.dtype),
            lengths=((n, width), np.float64),
            # What the passes of a descent leave.
            links=(n, np.float64),
            found=(n * records.NEIGHBOR_MOVE.itemsize, np.uint8),
            rank=(n, np.uint32),
            keys=(1 << n.bit_length(), np.uint64),
            chains=(chains, records.CHAIN.dtype),
        )
        self._bits, self._links, self._found = arrays["bits"], arrays["links"], arrays["found"]
        self._rank, self._keys = arrays["rank"], arrays["keys"]
        self._state, self._device_states = arrays["state"], arrays["chains"]
        self._instance = records.NEIGHBOR_INSTANCE(
            rows=arrays["rows"],
            neighbors=arrays["neighbors"],
            lengths=arrays["lengths"],
            fixed=arrays.get("partners"),
            tolerance=instance.tolerance,
            size=n,
            width=width,
            stride=instance.rows.shape[1],
        )
        self._launch("measure_lists", n * width, self._instance, arrays["lengths"])
        shape = (chains, n)
        self._tours = device.together(
            **dict.fromkeys(("order", "position", "scratch", "kept", "ring"), (shape, np.int32)),
            **{"in": ((chains, math.ceil(n / 32)), np.uint32)},
        )
        self._tours["best"] = self._tours["kept"]
        self._tours["in"].zero()
        self._checks = 0
        self._descent = np.zeros(1, records.NEIGHBOR_STATE.dtype)[0]
        self._length = length
        self._states = np.zeros(chains, records.CHAIN.dtype)
        self._begin(tour, length)
        self._passes, self._looks, self._kicks = tuning.FIRST_PASSES, tuning.FIRST_LOOKS, tuning.FIRST_KICKS
        # A block that shares passes has some cities at least.
        self._blocks = min(device.multiprocessors, math.ceil(n / tuning.CITIES_A_BLOCK))
        # What blocks tell each other, and the counter of their barrier.
        self._words = device.empty(2 * tuning.MOVE_WORDS * self._blocks + 1, np.uint64)

    @property
    def best_length(self) -> float:
        """Length of the best tour; of metrics without rounding, but for rounding noise."""
        return float(self._states["best"].min())

    def best(self) -> NDArray[np.int32]:
        """The best tour, in the search's numbers."""
        chain = int(self._states["best"].argmin())
        row: NDArray[np.int32]
        row = self._tours["best" if self._kicking else "order"][chain : chain + 1].download()[0]
        return row

    def counters(self) -> dict[str, int | float]:
        """What was done, by name."""
        states, descent = self._states, self._descent
        return {
            "passes": int(descent["passes"]) + self._checks + -(-int(states["examined"][0]) // self.size),
            "evaluations": int(descent["evaluations"]) + int(states["evaluations"].sum()),
            "moves": int(descent["moves"]) + int(states["moves"].sum()),
            "kicks": int(states["kicks"].min()),
            "kicks_accepted": int(states["accepted"].sum()),
            "kernel_seconds": self.kernel_seconds,
        }

    def descend(self, *, passes: int, seconds: float) -> bool:
        """Moves for about so many seconds; True at a local optimum, or after so many passes."""
        if self.moves.whole:
            return self._descend_by_whole_passes(passes, seconds)
        if not self.moves.many:
            return self._descend_by_queue(passes, seconds)
        done = int(self._descent["passes"])
        batch = self._passes if passes < 0 else min(self._passes, passes - done)
        if batch <= 0:
            return True
        with self.device.timer() as timer:
            for _ in range(batch):
                self._look(by_bits=not self.moves.best)
                self._move()
        self.kernel_seconds += timer.seconds
        self._passes = scaled(self._passes, timer.seconds, seconds)
        state = self._descent = self._state.download()[0]
        self._states["length"] = self._states["best"] = self._length - float(state["gain"])
        return bool(state["complete"]) or int(state["passes"]) == passes

    def iterate(
        self,
        *,
        count: int,
        always: bool,
        temperature: float,
        cold: int,
        segment: int,
        seed: int,
        seconds: float,
    ) -> bool:
        """Kicks in every chain for about so many seconds; True when each has made `count` in all."""
        if not self._kicking:
            self._begin_kicks(may_lose=temperature > 0)
        plan = records.KICKS(
            count=self._kicks,
            cold=cold,
            temperature=temperature,
            always=always,
            segment=segment,
            seed=seed,
        )
        taken = (
            self._run_passes(plan, last=count, passes=0)
            if self.moves.whole
            else self._run_chains(self.chains, plan, last=count, looks=0)
        )
        self._kicks = scaled(self._kicks, taken, seconds)
        return int(self._states["kicks"].min()) >= count

    def return_to_best(self) -> None:
        """Let the next descent begin with the best tour of all chains."""
        if not self._kicking:
            return
        self._begin(self.best(), self.best_length)

    def _begin(self, tour: NDArray[np.int32], length: float) -> None:
        """Begin with a tour: the first chain works off a queue of all cities."""
        self._kicking = False
        self._put("order", tour)
        self._put("position", inverse(tour))
        self._states["length"] = self._states["best"] = length
        self._queue(np.arange(self.size, dtype=np.int32))

    def _look(self, *, by_bits: bool) -> None:
        """Find the best move of every city, or of those whose bit is set."""
        order = self._tours["order"]
        self._launch("measure_edges", self.size, self._instance, order, self._links)
        block = self.block or tuning.LOOK_THREADS
        self._kernel("examine_cities", templated=True).launch(
            self._grid(),
            block,
            self._instance,
            order,
            self._tours["position"],
            self._links,
            self._bits,
            np.int32(by_bits),
            self._found,
            self._rank,
            self._state,
            shared=block // tuning.THREADS_A_CITY * _MEMBER_BYTES + 256,
        )

    def _move(self) -> None:
        """Make all moves found that fit each other."""
        shared = self._shared(_BYTES_OF_TOUR)
        self._kernel("make_many_moves").launch(
            1,
            tuning.CHAIN_THREADS,
            np.int32(self.size),
            self._tours["order"],
            self._tours["position"],
            self._tours["scratch"],
            self._bits,
            self._found,
            self._rank,
            self._keys,
            np.int32(shared > 0),
            self._state,
            shared=shared,
        )

    def _descend_by_queue(self, passes: int, seconds: float) -> bool:
        """One block goes through the queue; the whole chip makes sure that nothing is left."""
        state = self._states[0]
        looks = self._looks
        if passes >= 0:
            looks = min(looks, passes * self.size - int(state["examined"]))
            if looks <= 0:
                return True
        if int(state["queued"]) > 0:
            taken = self._run_chains(1, records.KICKS(), last=0, looks=looks)
            self._looks = scaled(self._looks, taken, seconds)
            return False
        self._look(by_bits=False)
        self._checks += 1
        left = np.flatnonzero(self._bits.download()).astype(np.int32)
        self._descent = self._state.download()[0]
        self._queue(left)
        return len(left) == 0

    def _begin_kicks(self, *, may_lose: bool) -> None:
        """Give every chain the tour of the first; if it may lose, a place for its best tour, too."""
        self._kicking = True
        if may_lose:
            self._tours["best"] = self.device.empty((self.chains, self.size), np.int32)
        for name in ("order", "position"):
            tours, there = self._tours[name], 1
            while there < self.chains:  # twice as many with every copy
                more = min(there, self.chains - there)
                tours[there : there + more].copy_from(tours[:more])
                there += more
        for name in ("kept", "best"):
            self._tours[name].copy_from(self._tours["order"])
        length = self._states["best"][0]
        self._states["length"] = self._states["best"] = length
        self._device_states.upload(self._states)

    def _run_chains(self, chains: int, plan: np.void, *, last: int, looks: int) -> float:
        members = tuning.CITIES_AHEAD * _MEMBER_BYTES + 256
        shared = self._shared(_BYTES_OF_CHAIN, members)
        record = self._record(inside=shared > members)
        return self._run("run_chains", chains, record, plan, np.int64(last), np.int64(looks), shared=shared)

    def _record(self, *, inside: bool) -> np.void:
        return records.CHAINS(**self._tours, state=self._device_states, capacity=self.size, inside=inside)

    def _run(self, name: str, blocks: int, *arguments: DeviceArray | np.generic, **options: Any) -> float:
        """Launch a kernel that takes tours further; the seconds that it took."""
        with self.device.timer() as timer:
            self._kernel(name, templated=True).launch(
                blocks, self.block or tuning.CHAIN_THREADS, self._instance, *arguments, **options
            )
        self.kernel_seconds += timer.seconds
        self._states = self._device_states.download()
        return timer.seconds

    def _descend_by_whole_passes(self, passes: int, seconds: float) -> bool:
        """All blocks share passes that make the best move."""
        before = self.counters()
        batch = self._passes if passes < 0 else min(self._passes, passes - int(before["passes"]))
        if batch <= 0:
            return True
        taken = self._run_passes(records.KICKS(), last=0, passes=batch)
        self._passes = scaled(self._passes, taken, seconds)
        after = self.counters()
        made = after["passes"] - before["passes"]
        return after["moves"] - before["moves"] < made or after["passes"] == passes

    def _run_passes(self, plan: np.void, *, last: int, passes: int) -> float:
        """So many passes, or kicks as planned up to number `last`; the seconds that they took."""
        beside = 2 * tuning.MAX_PAIRS + _OPEN_BYTES * tuning.MAX_OPEN + 64
        shared = self._shared(_BYTES_OF_TOUR, beside)
        self._words.zero()
        return self._run(
            "run_passes",
            self._blocks,
            self._record(inside=shared > beside),
            plan,
            np.int64(last),
            np.int64(passes),
            self._words,
            shared=shared,
            cooperative=True,
        )

    def _queue(self, cities: NDArray[np.int32]) -> None:
        """Let the first chain look at these cities."""
        bits = np.zeros(32 * math.ceil(self.size / 32), np.uint8)
        bits[cities] = 1
        self._put("in", np.packbits(bits, bitorder="little").view(np.uint32))
        ring = np.zeros(self.size, np.int32)
        ring[: len(cities)] = cities
        self._put("ring", ring)
        self._states["head"][0], self._states["queued"][0] = 0, len(cities)
        self._device_states.upload(self._states)

    def _put(self, name: str, values: NDArray[Any]) -> None:
        self._tours[name][:1].upload(values[None])

    def _grid(self) -> int:
        return math.ceil(self.size * tuning.THREADS_A_CITY / (self.block or tuning.LOOK_THREADS))

    def _shared(self, bytes_a_city: float, beside: int = 0) -> int:
        """Bytes of shared memory for a tour and what is beside it, or for that alone if there is no room."""
        needed = math.ceil(bytes_a_city * self.size) + 128 + beside
        return needed if needed + _STATIC_SHARED <= self.device.shared_memory_per_block else beside

    def _launch(self, name: str, count: int, *arguments: DeviceArray | np.generic) -> None:
        """Start a kernel with one thread for each of `count` items."""
        self._kernel(name).launch(math.ceil(count / tuning.LOOK_THREADS), tuning.LOOK_THREADS, *arguments)

    def _kernel(self, name: str, *, templated: bool = False) -> Kernel:
        if name not in self._kernels:
            full = f"{name}<{str(self.moves.three).lower()}>" if templated else name
            source = next(source for source in self._sources if full in source.names)
            module = self.device.module(source)
            self._kernels[name] = module.kernel(full)
        return self._kernels[name]


def scaled(amount: int, taken: float, wanted: float) -> int:
    """How much work fits into the time wanted; no more than eight times what was done in `taken`."""
    fitting = int(amount * wanted / max(taken, 1e-6))
    return int(max(1, min(8 * amount, fitting, 1 << 30)))
