"""Best-improvement descent on a GPU (``descent.cu``): every move of a neighborhood is evaluated,
the best one applied, and nothing but counters comes back before the end.

Of several neighborhoods the next one is passed over where one has no move: the GPU knows which is next, and
the passes of all others, which are launched in turn, end at once.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import warptsp._native as _native
from warptsp.backends.cuda.device import Device, DeviceArray, Kernel
from warptsp.backends.cuda.occupancy import Occupancy
from warptsp.backends.cuda.records import field_of_rows
from warptsp.backends.instance import exact_rows, fixed_partners
from warptsp.errors import UnsupportedProblem
from warptsp.papers.exhaustive import cuda_records as records
from warptsp.papers.exhaustive import cuda_tuning as tuning
from warptsp.papers.exhaustive.cuda_passes import (
    ExactPass,
    Pass,
    ResidentPass,
    TilesPass,
    TriplesPass,
)
from warptsp.papers.exhaustive.cuda_plan import (
    MAPPED_KERNELS,
    Scale,
    kernel_sources,
)
from warptsp.papers.exhaustive.cuda_studies import RangesPass, VersionPass
from warptsp.papers.exhaustive.neighborhood import THREE_OPT, Launch, Neighborhood, Sought, Start, is_plain
from warptsp.problem import Problem

_SEARCHING, _DOUBTFUL, _COMPLETE = range(3)
_REMOVED_BEHIND_THE_END = -(1 << 29)  # removed_of(no_edge, 0) there
_MOST_TURNS = 1000  # that are launched before one looks at what they did


@dataclass(frozen=True, slots=True, eq=False)
class Stage:
    """A neighborhood on a GPU: its pass in double precision and, if there is one, another before it."""

    neighborhood: Neighborhood
    exact: Pass
    other: Pass | None
    # Whether what the other one finds is decided in double precision; else it takes the place of `exact`.
    is_fast: bool
    choose: Kernel
    apply: Kernel
    limit: Kernel | None  # of swaps: keeps what they must respect by position

    @property
    def main(self) -> Pass:
        """The pass that finds most moves."""
        return self.other or self.exact

    @classmethod
    def of(
        cls, device: Device, problem: Problem, n: int, neighborhood: Neighborhood, sought: Sought
    ) -> "Stage":
        """Plan it for tours of n cities, a dummy included; UnsupportedProblem if what is asked for is not for
        this problem or GPU."""
        asked = sought.launch
        sources = kernel_sources(problem, neighborhood, asked)
        mapped = asked.maps(neighborhood)

        def kernel(source: int, name: str) -> Kernel:
            return device.module(sources[source]).kernel(name)

        evaluate, choose, apply, *more = (kernel(0, name) for name in neighborhood.kernels)
        limit = more[0] if more else None
        exact = ExactPass(device, evaluate, neighborhood, n, Launch() if mapped else asked)
        other: Pass | None = None
        if asked.version is not None:
            kernels = (kernel(1, name) for name in sources[1].names)
            other = VersionPass(device, n, asked, *kernels)
        elif mapped:
            if not (problem.metric.euclidean and is_plain(problem)):
                raise UnsupportedProblem(
                    "method two-opt: block, grid, jobs, tour_order and range_size belong to a kernel for the "
                    "plane (EUC_2D, CEIL_2D, FLOOR_2D, EXACT_2D, ATT), closed tours and no fixed edges; "
                    "leave them out"
                )
            other = RangesPass(device, kernel(1, MAPPED_KERNELS[asked.tour_order]), n, asked)
        elif len(sources) > 1 and neighborhood is THREE_OPT:
            other = TriplesPass(device, kernel(1, "evaluate_triples"), n, asked)
        elif len(sources) > 1:
            defines = sources[1].defines
            if n < tuning.MAX_RESIDENT:
                resident = ResidentPass(device, kernel(1, "descend_pairs"), n, int(defines["RESIDENT_ROWS"]))
                other = resident if resident.fits else None
            if other is None:
                # As the kernel has it, which is compiled for the device.
                chip = tuning.architecture(device.compute_capability)
                squares = chip.squares and defines["TILE_ROUNDING"] == 0
                other = TilesPass(device, kernel(1, "evaluate_pairs"), n, squares=squares)
        is_fast = not isinstance(other, VersionPass | None)
        return cls(neighborhood, exact, other, is_fast, choose, apply, limit)

    def describe(self, device: Device, n: int) -> str:
        """Return the plan of its passes on a GPU."""
        plan = self.main
        occupancy = Occupancy.of(device, plan.kernel, plan.block, plan.shared)
        return (
            f"{self.neighborhood.name}, {plan.describe(self.neighborhood.moves(n))}; {plan.kernel.registers} "
            f"registers a thread; {occupancy}; {plan.precision}"
        )


class CudaDescent:
    """One tour on a GPU, and best-improvement descent in neighborhoods; used as `_native.Descent` is."""

    def __init__(self, device: Device, start: Start) -> None:
        instance, problem, sought = start.instance, start.instance.problem, start.sought
        n = instance.size
        self.device, self.n = device, n
        self._start_length = float(problem.length(instance.open(start.tour))) + instance.closing
        self.stages = [Stage.of(device, problem, n, each, sought) for each in sought.neighborhoods]
        self._city = [device.empty(n + 1, np.int32) for _ in range(2)]
        self._city[0][:n].upload(start.tour)
        self._state = device.zeros(records.DESCENT_STATE.itemsize, np.uint8)
        fields: dict[str, Any] = self._distances(start) | self._points(start)
        self._limits = self._limit(start, fields)
        fields |= {"n": n, "kind": problem.metric.kind, "tolerance": instance.tolerance}
        fields |= {"state": self._state, "last": len(self.stages) - 1}
        self._fields = fields  # keeps the arrays
        self._tours = [
            records.DESCENT_TOUR(**fields, own=own, has_fast_pass=stage.is_fast)
            for own, stage in enumerate(self.stages)
        ]
        # Of one neighborhood a pass in double precision follows only where it is needed.
        self._turn: list[tuple[int, Pass]] = [(0, self.stages[0].main)]
        if len(self.stages) > 1:
            passes = ((stage.other if stage.is_fast else None, stage.exact) for stage in self.stages)
            self._turn = [(own, each) for own, pair in enumerate(passes) for each in pair if each]
        blocks = max(each.blocks for stage in self.stages for each in (stage.main, stage.exact))
        self._found = device.empty((blocks, 2), np.uint64)
        self._seconds_a_turn = math.inf
        self._kernel_seconds = 0.0
        self._apply(0, whole=True)
        self._read()

    @property
    def length(self) -> float:
        """Length of the tour, in the double precision of its moves."""
        return self._start_length + float(self._figures["gained"])

    def tour(self) -> NDArray[np.int32]:
        """The cities in their order."""
        return self._city[0][: self.n].download()

    def counters(self) -> dict[str, int | float]:
        """Passes, moves evaluated and applied, and the GPU's seconds."""
        counts = {name: int(self._figures[name]) for name in ("passes", "evaluations", "moves")}
        return {**counts, "kernel_seconds": self._kernel_seconds}

    def proceed(self, seconds: float, passes: int, token: _native.StopToken) -> bool:
        """Pass for about so long, and so often (-1: any number); True when no move shortens the tour."""
        turns = 1 if math.isinf(self._seconds_a_turn) else int(max(1, seconds / self._seconds_a_turn))
        turns = min(turns, _MOST_TURNS)
        limit = int(self._figures["passes"]) + passes if passes >= 0 else np.iinfo(np.int64).max
        if passes >= 0 and len(self.stages) == 1:
            turns = min(turns, max(passes, 1))
        for tour in self._tours:
            tour["limit"] = limit
        with self.device.timer() as timer:
            done = all(self._pass(own, each, token) for _ in range(turns) for own, each in self._turn)
        self._kernel_seconds += timer.seconds
        # A few turns tell little, and too many would keep the caller waiting.
        self._seconds_a_turn = max(timer.seconds / turns, min(self._seconds_a_turn, seconds) / 2)
        self._read()
        if done and self._figures["status"] == _DOUBTFUL and self._figures["passes"] < limit:
            own = int(self._figures["current"])
            with self.device.timer() as timer:
                self._pass(own, self.stages[own].exact, token)
            self._kernel_seconds += timer.seconds
            self._read()
        return int(self._figures["status"]) == _COMPLETE

    def _pass(self, own: int, evaluation: Pass, token: _native.StopToken) -> bool:
        """One pass and its move; False if the token stopped it before it was complete."""
        stage, tour = self.stages[own], self._tours[own]
        blocks = evaluation.run(tour, self._city[0], self._found, token)
        if blocks == 0:
            return False
        resident = isinstance(evaluation, ResidentPass)  # which has made its moves, of the cities alone
        if not resident:
            fast = stage.is_fast and evaluation is stage.other
            count = np.int32(blocks), np.int32(evaluation.candidates), np.int32(fast)
            stage.choose.launch(1, 256, tour, self._found, *count)
        self._apply(own, whole=resident)
        return True

    def _apply(self, own: int, *, whole: bool = False) -> None:
        """Apply the move that was chosen, or put the whole tour in place."""
        blocks = min(math.ceil((self.n + 1) / 256), 8 * self.device.multiprocessors)
        before, after = self._city
        self.stages[own].apply.launch(blocks, 256, self._tours[own], before, after, np.int32(whole))
        self._city.reverse()
        limit = self.stages[own].limit
        if limit is not None and self._limits:
            limit.launch(1, 1024, self._tours[own], self._city[0], *self._limits)

    def _distances(self, start: Start) -> dict[str, DeviceArray | float]:
        """What distances come from, by city and by position."""
        device, n, instance = self.device, self.n, start.instance
        problem = instance.problem
        rows = exact_rows(problem.metric, instance.rows, whole=problem.integral)
        fields: dict[str, DeviceArray | float] = {
            "edges": device.empty(n + 1, np.float64),
            field_of_rows(problem.metric, rows, points="rows"): device.upload(rows),
        }
        if len(instance.fixed_edges):
            fields["fixed"] = device.upload(fixed_partners(n, instance.fixed_edges))
        if problem.matrix is not None:
            return fields | {"placed_city": device.empty(n + 1, np.int32)}
        stride = rows.shape[1]
        return fields | {"stride": stride, "placed": device.empty((n + 1, stride), np.float64)}

    def _points(self, start: Start) -> dict[str, DeviceArray | float]:
        """What passes in single precision need; nothing if there are none."""
        problem, n = start.instance.problem, self.n
        scale = Scale.of(problem) if is_plain(problem) else None
        if scale is None or not any(stage.neighborhood.fast for stage in self.stages):
            return {}
        size = n + 2 * tuning.ROW_TILES.rows + 2  # warps read on behind the end
        points = np.zeros((size, 4), np.int32)
        points[n:, 3] = _REMOVED_BEHIND_THE_END + np.arange(n, size) % tuning.COLUMNS_A_CHUNK
        fields: dict[str, DeviceArray | float] = {
            "points": self.device.upload(points),
            "middle_x": scale.middle[0],
            "middle_y": scale.middle[1],
            "scale": scale.points,
            "edge_scale": scale.links,
        }
        tiles = [stage.other.tiles for stage in self.stages if isinstance(stage.other, TilesPass)]
        if tuning.SQUARES_TILES in tiles:
            fields["columns"] = self.device.zeros((size, 4), np.float64)
        return fields

    def _limit(self, start: Start, fields: dict[str, Any]) -> tuple[DeviceArray | np.generic, ...]:
        """What swaps must respect, and where it is by position; nothing if all are allowed."""
        kept, before = (
            np.array(start.sought.kept, np.int32),
            np.array(start.sought.before, np.int32).reshape(-1, 2),
        )
        if len(kept) + len(before) == 0:
            return ()
        upload, empty = self.device.upload, self.device.empty
        fields |= {name: empty(self.n + 1, np.int32) for name in ("earlier", "later")}
        return (
            upload(np.append(kept, np.int32(0))),
            np.int32(len(kept)),
            upload(np.vstack([before, np.zeros((1, 2), np.int32)])),
            np.int32(len(before)),
            empty(self.n, np.int32),
        )

    def _read(self) -> None:
        self._figures = self._state.download().view(records.DESCENT_STATE.dtype)[0]
