"""Best-improvement descent by swaps: two cities change places, the first city of the tour stays.

(n - 1) (n - 2) / 2 moves a pass, of which the best is applied. Swaps keep the places of all other cities, and
so can heed what must keep its place or its order; `fixed` and `before` say so. A. R. Brodtkorb, T. R. Hagen,
C. Schulz and G. Hasle, "GPU computing in discrete optimization. Part I", EURO J. Transp. Logist. 2 (2013).
"""

from dataclasses import dataclass

from warptsp._checks import check_ranges
from warptsp.errors import InvalidOption
from warptsp.methods.protocol import Run
from warptsp.papers.exhaustive.cuda_studies import FOLDED, check_size
from warptsp.papers.exhaustive.descent import ExhaustiveParams, descend, descent_method
from warptsp.papers.exhaustive.neighborhood import SWAP, Launch, Sought
from warptsp.problem import Problem


@dataclass(frozen=True, slots=True)
class SwapParams(ExhaustiveParams):
    """Parameters of `swap`, beside those of `~warptsp.papers.exhaustive.descent.ExhaustiveParams`.

    The tour begins with city 0, an open path with its first city.

    Attributes
    ----------
    fixed : tuple of int
        Cities, numbered from 0, that keep their positions in the tour.
    before : tuple of int
        Pairs a, b, a', b', ...: city a stays before city b, a' before b', and so on.
    version : int or None
        On a GPU, for studies: the evaluation as one of the versions 1 to 8 of the document has it. Each makes
        the same moves, and shows what one change is worth; None is faster than all of them.
    """

    fixed: tuple[int, ...] = ()
    before: tuple[int, ...] = ()
    version: int | None = None

    def __post_init__(self) -> None:
        ExhaustiveParams.__post_init__(self)
        check_ranges(self, version=(1, FOLDED))
        if len(self.before) % 2:
            raise InvalidOption(f"before: {len(self.before)} cities are not pairs: a, b, a', b', ...")
        for a, b in self.pairs():
            if a == b:
                raise InvalidOption(f"before: city {a} cannot come before itself")

    @property
    def sought(self) -> Sought:
        launch = Launch(self.block, self.grid, self.jobs, version=self.version)
        return Sought((SWAP,), self.passes, launch, self.fixed, self.pairs())

    def pairs(self) -> list[tuple[int, int]]:
        return list(zip(self.before[::2], self.before[1::2], strict=True))


def run(problem: Problem, run: Run, params: SwapParams) -> None:
    """Shorten the start tour until no swap does."""
    if params.version is not None:
        if not run.device.gpus:
            raise InvalidOption(
                f"version {params.version} is a GPU kernel; use device cuda, or leave version out"
            )
        check_size(params.version, problem.n)
    for name, cities in (("fixed", params.fixed), ("before", params.before)):
        for city in cities:
            if not 0 <= city < problem.n:
                raise InvalidOption(f"{name}: city {city}: cities are numbered from 0 to {problem.n - 1}")
    descend(problem, run, params)


METHOD = descent_method(
    "swap",
    "best-improvement swaps of two cities",
    SwapParams,
    run,
    min_cities=1,  # `exact` knows nothing of `fixed` and `before`
    min_gpu_cities=8_000,
    constrains=lambda params: bool(params.before),
)
