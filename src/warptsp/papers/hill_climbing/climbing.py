"""Random-restart hill climbing: random tours, each improved by best-improvement 2-opt to a local optimum.

M. A. O'Neil and M. Burtscher, "Rethinking the parallelization of random-restart hill climbing: a case study
in optimizing a 2-opt TSP solver for GPU execution", GPGPU-8 (2015). A climber is one random tour and its
descent; climber k of a seed is the same on every device, and of equally short tours that of the first climber
wins, so the result of N climbers depends on neither threads nor launch. With ``restart="perturb"``, which the
paper names as a further use, a climber starts from a perturbed local optimum instead: sixteen lines of
iterated local search, which the climbers join in turn.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

import warptsp._native as _native
from warptsp._checks import checked_count
from warptsp.errors import UnsupportedProblem
from warptsp.machine import CPU
from warptsp.methods.kernels import kernels_are_there, on_gpu_or_cpu, token_until
from warptsp.methods.launch import check_block
from warptsp.methods.method import Method
from warptsp.methods.protocol import best_of
from warptsp.papers.hill_climbing.instance import MAX_MATRIX_CITIES, ClimbInstance, in_plane

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from warptsp.backends.cuda.compiler import Source
    from warptsp.methods.protocol import Run
    from warptsp.papers.hill_climbing.cuda import Climbers
    from warptsp.problem import Problem

Version = Literal[
    "auto", "shared-matrix", "global-matrix", "read-only-matrix", "one-thread", "intra", "tiled", "tuned"
]

MIN_GPU_CITIES = 12  # fewer are climbed on the CPU, whatever the device
MAX_MATRIX_ON_CPU = 20_000  # cities
SLICE = 0.08  # seconds of climbing between two reports


@dataclass(frozen=True)
class HillClimbingParams:
    """Parameters of random-restart hill climbing.

    Attributes
    ----------
    version : str
        The kernel on a GPU. "auto" is the fastest one; the others are the document's: "shared-matrix",
        "global-matrix" and "read-only-matrix" (one climber per thread, distances from a matrix in shared
        memory, in global memory, or there but loaded through the read-only cache), "one-thread" (one climber
        per thread, distances computed), "intra" (one climber per block), "tiled" (with tiles of the tour in
        shared memory) and "tuned" (with the block size tuned to cities and GPU). On the CPU it is "auto", or
        "global-matrix" for the document's CPU code, which reads a matrix.
    climbers : int, optional
        End after this many; a limit on kicks means the same. Without either the stop criterion decides.
    block : int, optional
        Threads per block on a GPU; by default chosen by the version.
    restart : {"random", "perturb"}
        Where a climber starts: "random" from a tour of its own; "perturb", on the CPU only, from the
        shortest of the local optima of climbers k - 16, k - 32, ..., changed by a random double bridge, and
        the first sixteen from random tours.
    """

    version: Version = "auto"
    climbers: int | None = None
    block: int | None = None
    restart: Literal["random", "perturb"] = "random"

    def __post_init__(self) -> None:
        if self.climbers is not None:
            checked_count("climbers", self.climbers, minimum=1, what="a number of climbers, 1 or more")
        check_block(self.block)


@dataclass(slots=True)
class Optima:
    """The local optima so far: how many, and how long they are."""

    scale: float
    count: int = 0
    total: int = 0
    best: int | None = None
    worst: int = -1
    counters: dict[str, float] = field(default_factory=dict)

    def add(self, lengths: NDArray[np.int64]) -> bool:
        """Count the climbers that have ended, which have a length; tell whether one is the best so far."""
        ended = lengths[lengths >= 0]
        if len(ended) == 0:
            return False
        best = int(ended.min())
        better = self.best is None or best < self.best
        self.best = best if self.best is None else min(best, self.best)
        self.worst = max(self.worst, int(ended.max()))
        self.count += len(ended)
        # In two halves, so that the sum of many does not overflow.
        self.total += (int((ended >> 30).sum()) << 30) + int((ended & ((1 << 30) - 1)).sum())
        self.counters = {
            "best_optimum": self.best / self.scale,
            "mean_optimum": self.total / self.count / self.scale,
            "worst_optimum": self.worst / self.scale,
        }
        return better


def gpu_limits(problem: Problem) -> str | None:
    """Return what the climbers on a GPU cannot do about a problem, None if they can do all."""
    from warptsp.papers.hill_climbing.cuda_plan import MAX_CITIES

    if problem.n > MAX_CITIES:
        return f"hill climbing on GPUs takes {MAX_CITIES} cities at most"
    if not in_plane(problem) and problem.matrix is None and problem.n > MAX_MATRIX_CITIES:
        return (
            f"hill climbing on GPUs takes {problem.metric.name} distances from a matrix, of up to "
            f"{MAX_MATRIX_CITIES} cities"
        )
    return None


def kernels(problem: Problem) -> list[Source]:
    """Return what runs on a GPU compile."""
    from warptsp.papers.hill_climbing.cuda_plan import climbing_sources

    return climbing_sources(problem)


def run(problem: Problem, run: Run, params: HillClimbingParams) -> None:
    """Climb until the number of climbers, or the run, says stop."""
    if problem.n < MIN_GPU_CITIES:
        run.report_device(CPU)
    if run.device.gpus and params.restart == "perturb":
        run.use_cpu(
            UnsupportedProblem(
                "method hill-climbing: restart 'perturb' runs on the CPU only; leave it out, or search on "
                "the CPU"
            )
        )
    limits = [limit for limit in (params.climbers, run.kick_limit) if limit is not None]
    limit = max(1, min(limits)) if limits else None  # of no kicks: the first local optimum
    run.enter("random tour")
    first = _native.random_tour(problem.n, run.seed, run.token)
    if first is None:
        return
    run.offer(first)
    on_gpu_or_cpu(
        run,
        lambda: _climb_on_gpu(problem, run, params, limit),
        lambda run: _climb_on_threads(problem, run, params, limit),
    )
    if np.array_equal(best_of(run)[0], first) and not run.token.stopped():
        _climb_from(problem, run, first)


def _climb_from(problem: Problem, run: Run, tour: NDArray[np.int32]) -> None:
    """One climber more, from the first random tour, in the rare case that no other came to a shorter one."""
    climbers = _climbers(ClimbInstance.build(problem))
    _, _, tour = climbers.climb(
        seed=run.seed, first=0, count=1, threads=1, given=tour, perturbed=False, token=run.token
    )
    if len(tour):
        run.offer(tour)


def _climb_on_gpu(problem: Problem, run: Run, params: HillClimbingParams, limit: int | None) -> None:
    from warptsp.backends.cuda.device import Device
    from warptsp.papers.hill_climbing.cuda import climbers_of
    from warptsp.papers.hill_climbing.cuda_plan import best_version, check_version, source_of

    def meanwhile(run: Run) -> None:
        _climb_on_threads(problem, run, replace(params, version="auto"), limit)

    given = run.start if isinstance(run.start, np.ndarray) else None
    with Device.open(run.device.gpus[0]) as device:
        version: str = params.version
        if version == "auto":
            version = best_version(problem, device)
        check_version(problem, device, version)
        instance = ClimbInstance.build(problem, matrix=version.endswith("matrix"))
        optima = Optima(instance.scale)
        source = source_of(instance, device, version, params.block)
        if not kernels_are_there(run, [source], search=meanwhile, same=True):
            return
        climbers = climbers_of(device, instance, version, seed=run.seed, given=given, block=params.block)
        run.enter("climbing")

        def report() -> bool:
            return _report(run, optima, climbers, kernel_seconds=climbers.seconds)

        while not report() and (limit is None or climbers.climbers < limit):
            remaining = run.remaining()
            lengths = climbers.proceed(limit, SLICE if remaining is None else min(SLICE, remaining))
            if optima.add(lengths):
                tour = climbers.better()
                if tour is not None:
                    run.offer(tour)
        if optima.count == 0:
            tour = climbers.on_its_way()
            if tour is not None:
                run.offer(tour)


def _climb_on_threads(problem: Problem, run: Run, params: HillClimbingParams, limit: int | None) -> None:
    if params.version not in ("auto", "global-matrix"):
        raise UnsupportedProblem(
            f"version {params.version} is a GPU kernel, for {MIN_GPU_CITIES} cities or more; use "
            "version auto or global-matrix, or device cuda"
        )
    matrix = params.version == "global-matrix"
    if matrix and problem.n > MAX_MATRIX_ON_CPU:
        raise UnsupportedProblem(
            f"version global-matrix: {problem.n} cities are too many: the maximum on the CPU is "
            f"{MAX_MATRIX_ON_CPU}, a matrix of {8 * MAX_MATRIX_ON_CPU**2 / 1e9:.1f} GB; use version auto"
        )
    instance = ClimbInstance.build(problem, matrix=matrix)
    climbers = _climbers(instance)
    optima = Optima(instance.scale)
    given = run.start if isinstance(run.start, np.ndarray) else None

    def report() -> bool:
        return _report(run, optima, climbers)

    run.enter("climbing")
    done, count = 0, run.threads
    while not report() and (limit is None or done < limit):
        count = count if limit is None else min(count, limit - done)
        begun = run.elapsed()
        remaining = run.remaining()
        lengths, best, tour = climbers.climb(
            seed=run.seed,
            first=done,
            count=count,
            threads=run.threads,
            given=given,
            perturbed=params.restart == "perturb",
            token=token_until(run, report, math.inf if remaining is None else remaining),
        )
        if optima.add(lengths) or (best < 0 and len(tour)):
            run.offer(tour)
        done += count
        # As many as take a slice; a multiple of the threads wastes least at its end.
        rounds = SLICE / max(run.elapsed() - begun, 1e-6) * count / run.threads
        count = run.threads * int(min(max(1.0, rounds), 2.0 * count / run.threads + 1.0))
    report()


def _climbers(instance: ClimbInstance) -> _native.HillClimbers:
    return _native.HillClimbers(
        distances=instance.distances(),
        tolerance=instance.tolerance,
        scale=instance.scale,
    )


def _report(run: Run, optima: Optima, climbers: Climbers | _native.HillClimbers, **counters: float) -> bool:
    tour, length = best_of(run)
    n = run.problem.n
    return run.update(
        length=length,
        kicks=climbers.climbers,
        tour=lambda: tour,
        phase="climbing" if climbers.climbers else "descent",
        climbers=climbers.climbers,
        passes=climbers.passes,
        evaluations=climbers.passes * (n * (n - 3) // 2),
        moves=climbers.moves,
        **optima.counters,
        **counters,
    )


METHOD = Method(
    name="hill-climbing",
    summary="random-restart hill climbing: 2-opt to a local optimum from random tours",
    run=run,
    params=HillClimbingParams,
    open_paths=False,  # random starts are closed tours without fixed edges
    fixed_edges=False,
    ends_with=("climbers",),
    lengths=("best_optimum", "mean_optimum", "worst_optimum"),
    devices=("cpu", "cuda"),
    min_gpu_cities=500,
    gpu_limits=gpu_limits,
    kernels=kernels,
)
