"""Small, plain problems by the dozen: one native call searches as many of equally many cities.

The native search is the one that the main solver makes of each, step by step, so that the tours are the same.
What it does not know takes the way of `solve`: other methods and limits, constraints, distances with a
direction, numbers out of the ordinary, more cities.
"""

import math
import time
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeGuard

import numpy as np
from numpy.typing import NDArray

import warptsp._native as _native
from warptsp._native import AnnealingPlan, BatchEnd, PopulationPlan
from warptsp.backends.cuda.tuning import MOST_IN_BATCH
from warptsp.backends.instance import are_small, tolerance_of_bound
from warptsp.claims import are_confirmed
from warptsp.errors import InvalidOption, WarpTSPError
from warptsp.many.gpu import BatchGpu
from warptsp.many.table import CPU_NAME, Rows, marks_of
from warptsp.methods.annealing import COLD, start_temperature
from warptsp.methods.exact import INSTANT_CITIES
from warptsp.methods.lk import tuning
from warptsp.methods.lk.cpu import kicks_at_once
from warptsp.methods.lk.params import LkParams
from warptsp.methods.magnitude import FAR, MAX_EXTENT_KEPT, MIN_EXTENT_KEPT, Frame
from warptsp.problem import Metric, Problem
from warptsp.problem.distance import coordinate_distances
from warptsp.problem.lengths import exact_sums
from warptsp.problem.values import EXACT_INTEGERS
from warptsp.run import COMPLETE, PROVED
from warptsp.solver.options import Step
from warptsp.stop import MaxKicks
from warptsp.stop.default import SETTLED

LEAST_CITIES = 4  # of an array that can only hold points
SINGLE_ROUNDING = 1e-7  # of the longest distance: a gain on a GPU must exceed it


class Plain(NamedTuple):
    """A problem that a batch can search."""

    metric: Metric
    rows: NDArray[Any]  # coordinates, or a matrix
    checked: bool  # whether its numbers are known to be ordinary ones


class _Block(NamedTuple):
    """Problems of one metric and shape, as native code takes them."""

    metric: Metric
    whole: bool  # whether lengths are integers
    positions: NDArray[np.int64]
    rows: NDArray[Any]
    bounds: NDArray[np.float64]  # that no distance exceeds


@dataclass(frozen=True, slots=True)
class BatchSearch:
    """The main solver for plain problems, without a limit or with one on kicks; on this thread or a GPU."""

    params: LkParams
    kicks: int | None
    seed: int
    gpu: BatchGpu | None = None

    @classmethod
    def of(
        cls, step: Step, kicks: int | None, seed: int, *, limited: bool, gpu: BatchGpu | None = None
    ) -> "BatchSearch | None":
        """Return the batch of such a run; None if it is for `solve`: other methods, or `limited` in time.

        Raises `InvalidOption` if it is, and there is a GPU, which does no other runs.
        """
        most = None if kicks is None else MaxKicks(kicks).kicks
        params = step.params
        if not limited and isinstance(params, LkParams) and (most is not None or params.temperature is None):
            return cls(params, most, seed, gpu)
        if gpu is not None:
            raise InvalidOption(
                f"device {gpu.name}: many problems are searched there by method lk, without a limit or with "
                "one on kicks; leave out other methods, other limits and a temperature, or use device cpu"
            )
        return None

    def points_in(self, given: object) -> Plain | None:
        """Return what has the form of points of the plane or space, not rounded; None for all else."""
        if type(given) is not np.ndarray or given.ndim != 2 or given.dtype.kind not in "iuf":
            return None
        n, columns = given.shape
        if columns not in (2, 3) or not LEAST_CITIES <= n <= self.most_cities or not self._has_time(n):
            return None
        return Plain(Metric.EXACT_2D if columns == 2 else Metric.EXACT_3D, given, False)

    def takes_array(self, given: object) -> TypeGuard[NDArray[Any]]:
        """Whether `search_array` takes problems in this form."""
        if not isinstance(given, np.ndarray) or given.ndim != 3 or given.dtype.kind not in "iuf":
            return False
        count, n, columns = given.shape
        return count > 0 and columns in (2, 3) and INSTANT_CITIES < n <= self.most_cities

    def plain(self, problem: Problem) -> Plain | None:
        """Return a problem as batches take it; None if it is more than that."""
        n, metric = problem.n, problem.metric
        if n > self.most_cities or not self._has_time(n) or metric.geographic or problem.asymmetric:
            return None
        constrained = problem.open is not None or len(problem.fixed_edges) or problem.wall is not None
        if constrained or problem.known_length is not None or Frame.of(problem).problem is not problem:
            return None
        rows = problem.coordinates if problem.matrix is None else problem.matrix
        return None if rows is None else Plain(metric, rows, True)

    @property
    def most_cities(self) -> int:
        """Cities of a problem, at most."""
        return tuning.FEW_CITIES if self.gpu is None else MOST_IN_BATCH

    def _has_time(self, n: int) -> bool:
        """Whether the search is annealing alone: with more kicks, `solve` grows populations."""
        if self.gpu is not None:
            return True
        least = tuning.FULL_MEMBERS.least * tuning.FULL_MEMBERS.granted
        return n <= INSTANT_CITIES or self.kicks is None or self.kicks < least * n

    def search(
        self,
        metric: Metric,
        positions: NDArray[np.int64],
        rows: NDArray[Any],
        checked: NDArray[np.bool_],
        token: _native.StopToken,
    ) -> tuple[list[Rows], list[int]]:
        """Search problems of one metric and shape, of which some are known to have ordinary numbers.

        Returns what was found, and the positions of problems that are for `solve`. Those that were not begun
        are left out.
        """
        others: list[int] = []
        if metric is Metric.EXPLICIT:
            bounds = rows.max(axis=(1, 2)).astype(np.float64)
            whole = rows.dtype.kind == "i"
        else:
            low, high = _corners(rows)
            ordinary = checked | _are_ordinary(low, high)
            if not ordinary.all():
                others = positions[~ordinary].tolist()
                positions, rows, low, high = (of[ordinary] for of in (positions, rows, low, high))
            rows = np.ascontiguousarray(rows, dtype=np.float64)
            bounds = coordinate_distances(metric, low.astype(np.float64), high.astype(np.float64))
            bounds = bounds * (1.0 + 1e-12)
            whole = metric.integral
        if not len(rows):
            return [], others
        block = _Block(metric, whole, positions, rows, bounds)
        if rows.shape[1] <= INSTANT_CITIES:
            return [_optimal(block)], others
        if self.gpu is not None:
            return [self._searched_on_gpu(self.gpu, block, token)], others
        found = []
        small = np.array([whole and are_small(bound) for bound in bounds.tolist()])
        for kind in (False, True):
            some = small == kind
            if some.any():
                part = _Block(metric, whole, positions[some], rows[some], bounds[some])
                kept, unsettled = self._searched(part, kind, token)
                found.append(kept)
                others += unsettled
        return found, others

    def _searched(self, block: _Block, small: bool, token: _native.StopToken) -> tuple[Rows, list[int]]:
        metric, whole, positions, rows, bounds = block
        n, matrix = rows.shape[1], metric is Metric.EXPLICIT
        count = min(self.params.candidates, n - 1)
        if matrix:
            entries: NDArray[Any] = np.ascontiguousarray(rows, dtype=np.int32 if small else np.float64)
            batch = _native.Batch.of_matrices(entries)
        else:
            batch = _native.Batch.of_points(metric.kind, rows)
        searched = batch.search(
            small_integers=small,
            tolerances=np.array([tolerance_of_bound(whole, bound) for bound in bounds.tolist()]),
            seeds=np.uint64(self.seed) + positions.astype(np.uint64),
            candidates=count,
            per_quadrant=self.params.per_quadrant if matrix else min(self.params.per_quadrant, count // 4),
            params=self.params.of_search(n),
            trees=tuning.PROOF_TREES if self.kicks is None and n <= tuning.PROVABLE_CITIES else 0,
            plan=self._plan(n, of_matrix=matrix),
            token=token,
        )
        unsettled = searched[-1] == BatchEnd.UNSETTLED
        return _found(block, searched, ~unsettled, self._reasons(), CPU_NAME), positions[unsettled].tolist()

    def _searched_on_gpu(self, gpu: BatchGpu, block: _Block, token: _native.StopToken) -> Rows:
        metric, whole, positions, rows, bounds = block
        plan = self._plan_on_gpu(rows.shape[1], of_matrix=metric is Metric.EXPLICIT)
        searched = gpu.search(
            rows,
            metric,
            token,
            tolerances=np.maximum(0.5 * whole, SINGLE_ROUNDING * bounds).astype(np.float32),
            seeds=np.uint64(self.seed) + positions.astype(np.uint64),
            **plan,
            kicks=self.params.of_kicks(),
        )
        most = f"no limit given: {plan['most']} searches, of which fewer than {plan['agreeing']} agree"
        reasons = {**self._reasons(), BatchEnd.UNSETTLED: most}
        return _found(block, searched, np.ones(len(rows), dtype=np.bool_), reasons, gpu.name)

    def _plan_on_gpu(self, n: int, *, of_matrix: bool) -> dict[str, Any]:
        """Return the annealings there, as `search_problems` of backends.cuda.batch takes them."""
        if self.kicks is None:
            easy = tuning.GPU_EASY_CITIES_OF_MATRIX if of_matrix else tuning.GPU_EASY_CITIES
            kicks = round(tuning.GPU_KICKS * max(1.0, n / easy) * n)
            most, agreeing = tuning.GPU_MAX_ANNEALINGS, tuning.gpu_agreeing(n)
        else:
            kicks, most, agreeing = self.kicks, 1, 1
        return {
            "annealing": self._annealing(
                n, kicks, max(tuning.GPU_KICKS_AT_ONE, math.ceil(kicks / tuning.GPU_TEMPERATURES))
            ),
            "most": most,
            "agreeing": agreeing,
        }

    def _plan(self, n: int, *, of_matrix: bool) -> PopulationPlan | AnnealingPlan:
        """Return what is done after the first local optimum."""
        if self.kicks is None:
            return tuning.settling(n, of_matrix=of_matrix)
        return self._annealing(n, self.kicks, kicks_at_once(n))

    def _annealing(self, n: int, kicks: int, step: int) -> AnnealingPlan:
        start = self.params.temperature
        return AnnealingPlan(
            kicks=kicks, step=step, start=start_temperature(kicks / n) if start is None else start, cold=COLD
        )

    def _reasons(self) -> dict[int, str]:
        """Return the words for each end."""
        return {
            BatchEnd.PROVED: PROVED,
            BatchEnd.SETTLED: SETTLED,
            BatchEnd.ALL_KICKS: "" if self.kicks is None else str(MaxKicks(self.kicks)),
            BatchEnd.STOPPED: "stop requested",
        }


def _optimal(block: _Block) -> Rows:
    metric, whole, positions, rows, _ = block
    begun = time.monotonic()
    distances = rows
    if metric is not Metric.EXPLICIT:
        distances = coordinate_distances(metric, rows[:, :, None], rows[:, None])
    distances = np.ascontiguousarray(distances, dtype=np.int64 if whole else np.float64)
    tours = _native.optimal_tours(distances, _native.StopToken())
    assert tours is not None  # nobody stops it
    lengths = _lengths(metric, whole, rows, tours)
    proved = are_confirmed(distances, lengths).tolist()
    reasons = [PROVED if is_proved else COMPLETE for is_proved in proved]
    each = (time.monotonic() - begun) / len(tours)
    kicks, seconds = np.zeros(len(tours), dtype=np.int64), np.full(len(tours), each)
    marks = marks_of(metric, rows)
    return Rows(positions, tours, lengths, kicks, seconds, proved, reasons, CPU_NAME, marks)


def _found(
    block: _Block,
    searched: tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.float64], NDArray[np.int32]],
    some: NDArray[np.bool_],
    reasons: dict[int, str],
    device: str,
) -> Rows:
    """Return what came of some searches: tours, kicks, seconds, and how each ended, if it was begun."""
    tours, kicks, seconds, ends = searched
    some = some & (ends != BatchEnd.NONE)
    lengths = _lengths(block.metric, block.whole, block.rows[some], tours[some])
    ended = ends[some].tolist()
    # Of length 0 none is shorter.
    proved = [end == BatchEnd.PROVED or length == 0 for end, length in zip(ended, lengths, strict=True)]
    said = [reasons[end] for end in ended]
    at, marks = block.positions[some], marks_of(block.metric, block.rows[some])
    return Rows(at, tours[some], lengths, kicks[some], seconds[some], proved, said, device, marks)


def _corners(rows: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """The least and the largest coordinates of each problem's points: [m, n, axes] to [m, axes]."""
    # By columns: for 50 000 times 20 cities 7 ms, not 80, as the innermost loop is over two otherwise.
    columns = np.ascontiguousarray(rows.transpose(1, 2, 0))
    return columns.min(axis=0).T, columns.max(axis=0).T


def _are_ordinary(low: NDArray[Any], high: NDArray[Any]) -> NDArray[np.bool_]:
    """Whether points between these corners are searched as they are; False for what is no number, too."""
    low, high = low.astype(np.float64), high.astype(np.float64)
    extent = (high - low).max(axis=1)
    reach = np.maximum(np.abs(low), np.abs(high)).max(axis=1)
    kept = (extent >= MIN_EXTENT_KEPT) & (extent <= MAX_EXTENT_KEPT)
    return np.asarray(kept & (reach <= FAR * extent) & (reach < EXACT_INTEGERS), dtype=np.bool_)


def _lengths(metric: Metric, whole: bool, rows: NDArray[Any], tours: NDArray[np.int32]) -> list[int | float]:
    """Return the exact lengths of closed tours, which are checked."""
    n = rows.shape[1]
    if not (np.sort(tours, axis=1) == np.arange(n)).all():
        raise WarpTSPError(
            "the method made an invalid tour, which is a bug; please report it: not every city once, in a "
            "batch"
        )
    if n == 1:
        return [0 if whole else 0.0] * len(rows)
    first = n * np.arange(len(rows))[:, None]
    if metric is Metric.EXPLICIT:
        edges = np.take(rows.reshape(-1), n * (first + tours) + np.roll(tours, -1, axis=1))
    else:
        places = np.take(rows.reshape(-1, rows.shape[2]), first + tours, axis=0)
        edges = coordinate_distances(metric, places, np.roll(places, -1, axis=1))
    if whole:
        return [int(length) for length in edges.astype(np.int64).sum(axis=1)]
    return exact_sums(edges)
