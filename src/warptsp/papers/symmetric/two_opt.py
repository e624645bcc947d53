"""2-opt that applies any subset of symmetrical moves at once.

I. Mavroidis, "Algorithm mapping to reconfigurable systems and systems with multiple embedded processors",
Technical University of Crete (2011), chapters 4 to 6. Segments with one centre, each inside the next, are
evaluated together; a pair of cities that mirror each other change places iff an odd number of the segments
around both were accepted. The tour that comes out is 2-optimal, in the exact arithmetic of the metric, and
the same on every device.
"""

from dataclasses import dataclass
from typing import Literal

from warptsp._checks import check_ranges
from warptsp.errors import InvalidOption
from warptsp.methods.launch import check_block
from warptsp.methods.method import Method
from warptsp.methods.protocol import Run
from warptsp.papers.symmetric.cuda_tuning import SYMMETRIC_THREADS
from warptsp.papers.symmetric.search import check_least_gain, descend, kernels, run_symmetric
from warptsp.problem import Problem


@dataclass(frozen=True)
class SymmetricTwoOptParams:
    """Parameters of ``symmetric-two-opt``.

    Attributes
    ----------
    order : {"threads", "hardware", "random"}
        The order of the segments: all of odd length around each city in turn (figure 11 of the document);
        those of even and odd length, up to half the tour, around each position in turn (figure 4), with the
        counters ``iterations`` and ``clock_cycles`` of the hardware; or one after another at random, which
        the document compares itself with (figure 6): it ends when as many in a row as the square of the
        number of cities bring nothing, and its tour is 2-optimal as a rule, not for certain.
    elements : int or None
        Processing elements of the hardware, for its order: if fewer than every fourth city has one, long
        segments are decided after short ones (figure 5). None: so many.
    least_gain : float
        Gains up to this do not count as an improvement: the tour is 2-optimal up to it.
    block : int or None
        Threads per block on a GPU, a multiple of 32 up to 512; None lets the method choose.
    """

    order: Literal["threads", "hardware", "random"] = "threads"
    elements: int | None = None
    least_gain: float = 0.0
    block: int | None = None

    def __post_init__(self) -> None:
        check_least_gain(self.least_gain)
        check_ranges(self, elements=(1, None))
        if self.elements is not None and self.order != "hardware":
            raise InvalidOption(f"elements: only the order hardware has some, not {self.order}")
        check_block(self.block, SYMMETRIC_THREADS)


def run(problem: Problem, run: Run, params: SymmetricTwoOptParams) -> None:
    """Descend from the start tour to a 2-optimal one."""

    run_symmetric(
        problem,
        run,
        descend,
        order=params.order,
        elements=params.elements,
        least_gain=params.least_gain,
        block=params.block,
    )


METHOD = Method(
    name="symmetric-two-opt",
    summary="2-opt that applies any subset of the moves around one centre at once",
    run=run,
    params=SymmetricTwoOptParams,
    ends=True,
    lengths=("least_gain",),
    devices=("cpu", "cuda"),
    kernels=kernels,
    min_gpu_cities=3_500,
)
