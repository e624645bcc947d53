"""3-opt that applies any subset of symmetrical moves at once.

I. Mavroidis, "Algorithm mapping to reconfigurable systems and systems with multiple embedded processors",
Technical University of Crete (2011), names 3-opt as future work of his symmetrical 2-opt moves, and does not
say how. This is one way, ours (triples.h): as a set of symmetrical 2-opt moves exchanges two
strands of the tour level by level, one of symmetrical 3-opt moves exchanges three, and a prefix sum modulo 3
stands in the place of a prefix XOR. All triples of edges are examined, in all ways in which three others can
replace them: the tour that comes out is 3-optimal, in the exact arithmetic of the metric, and the same on
every device.
"""

from dataclasses import dataclass

from warptsp.methods.launch import check_block
from warptsp.methods.method import Method
from warptsp.methods.protocol import Run
from warptsp.papers.symmetric.cuda_tuning import SYMMETRIC_THREADS
from warptsp.papers.symmetric.search import check_least_gain, descend, kernels, run_symmetric
from warptsp.problem import Problem

MAX_CITIES = 10_000  # 3e11 triples, each in four ways


@dataclass(frozen=True)
class SymmetricThreeOptParams:
    """Parameters of ``symmetric-three-opt``.

    Attributes
    ----------
    least_gain : float
        Gains up to this do not count as an improvement: the tour is 3-optimal up to it.
    block : int or None
        Threads per block on a GPU, a multiple of 32 up to 512; None lets the method choose.
    """

    least_gain: float = 0.0
    block: int | None = None

    def __post_init__(self) -> None:
        check_least_gain(self.least_gain)
        check_block(self.block, SYMMETRIC_THREADS)


def run(problem: Problem, run: Run, params: SymmetricThreeOptParams) -> None:
    """Descend from the start tour to a 3-optimal one."""

    run_symmetric(problem, run, descend, order="triples", least_gain=params.least_gain, block=params.block)


METHOD = Method(
    name="symmetric-three-opt",
    summary="3-opt that applies any subset of symmetrical moves at once",
    run=run,
    params=SymmetricThreeOptParams,
    max_cities=MAX_CITIES,
    max_gpu_cities=MAX_CITIES,
    ends=True,
    lengths=("least_gain",),
    devices=("cpu", "cuda"),
    kernels=kernels,
    min_gpu_cities=800,
)
