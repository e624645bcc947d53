"""The main solver: iterated Lin-Kernighan, and crossover of the tours that it makes (docs/algorithms.md).

A tour is improved by kicks at a falling temperature (`engine` has the plan). Several threads, and tours too
long for one array, work on parts: consecutive pieces of the tour and boxes in space in turn, so that seams
move (native/lk/partition.h). Where there is time for it, a population of local optima is combined over
generations (native/lk/edge_assembly.h); what it comes to joins the next population.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from warptsp.errors import InvalidOption
from warptsp.methods.exact import INSTANT_CITIES, prove
from warptsp.methods.kernels import on_gpu_or_cpu
from warptsp.methods.lk import tuning
from warptsp.methods.lk.cpu import search
from warptsp.methods.lk.params import LkParams
from warptsp.methods.lk.tight_groups import search_with_groups
from warptsp.methods.method import MAIN, Method
from warptsp.methods.protocol import Run
from warptsp.problem import OpenPath, Problem

if TYPE_CHECKING:
    from warptsp.backends.cuda.compiler import Source

__all__ = ["METHOD", "LkParams"]


def gpus_wanted(problem: Problem, seconds: float | None, there: int) -> int:
    """Return how many of so many GPUs make it faster: all for tours whose parts fill more than one."""
    return there if problem.n >= tuning.MIN_CITIES_OF_GPUS else 1


def kernels(problem: Problem) -> list[Source]:
    """Return what runs on a GPU compile for closed and open tours of any length."""
    from warptsp.backends.cuda.launch_plan import kernel_sources
    from warptsp.backends.cuda.path_order import PATHS

    return [*kernel_sources(problem), *kernel_sources(replace(problem, open=OpenPath())), PATHS]


def explain_launch(problem: Problem, where: str, params: LkParams) -> str:
    """Say how the search would be spread over GPUs; raises `InvalidOption` if asked of an architecture."""
    if where.startswith("sm_"):
        raise InvalidOption("method lk plans its launches on a GPU that is there; leave the architecture out")
    from warptsp.backends.cuda.launch_plan import explain_launch

    return explain_launch(problem, where)


def run(problem: Problem, run: Run, params: LkParams) -> None:
    """Shorten a tour until the run says stop."""
    if problem.n <= INSTANT_CITIES:  # less work than setting up a search
        prove(problem, run)
    elif problem.asymmetric and str(run.device) == "cpu":
        from warptsp.methods.lk.directed import search as search_directed

        search_directed(problem, run, params)
    elif problem.asymmetric:
        from warptsp.methods.directed import run_doubled

        # Walls keep cities of a list from being nearer to one another: none would hide another one.
        nearest = replace(params, per_quadrant=0)
        run_doubled(problem, run, lambda doubled, its_run: _search(doubled, its_run, nearest))
    else:
        search_with_groups(problem, run, params, _search)


def _search(problem: Problem, run: Run, params: LkParams) -> None:
    def on_gpu() -> None:
        from warptsp.methods.lk.cuda import run_cuda

        run_cuda(problem, run, params)

    on_gpu_or_cpu(run, on_gpu, lambda run: search(problem, run, params))


METHOD = Method(
    name=MAIN,
    summary="iterated Lin-Kernighan: the main solver",
    run=run,
    params=LkParams,
    asymmetric=True,
    any_magnitude=INSTANT_CITIES,
    places_from=tuning.FEW_CITIES + 1,  # batches have fewer, and find the same tours
    devices=("cpu", "cuda"),
    min_gpu_cities=tuning.MIN_GPU_CITIES,
    gpus_wanted=gpus_wanted,
    kernels=kernels,
    explain_launch=explain_launch,
)
