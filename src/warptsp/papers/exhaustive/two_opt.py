"""Best-improvement 2-opt over all pairs of edges, to a tour that no pair improves.

For positions i < j the edges (t[i], t[i+1]) and (t[j], t[j+1]) become (t[i], t[j]) and (t[i+1], t[j+1]), and
what lies between is reversed: n (n - 1) / 2 moves a pass, of which the best is applied. G. A. Croes,
"A method for solving traveling-salesman problems", Operations Research 6 (1958); on GPUs K. Rocki and
R. Suda, "Accelerating 2-opt and 3-opt local search using GPU in the travelling salesman problem", HPCS 2012.
"""

from dataclasses import dataclass

from warptsp._checks import check_ranges
from warptsp.errors import InvalidOption
from warptsp.papers.exhaustive.descent import ExhaustiveParams, descent_method
from warptsp.papers.exhaustive.neighborhood import TWO_OPT, Launch, Sought


@dataclass(frozen=True, slots=True)
class TwoOptParams(ExhaustiveParams):
    """Parameters of `two-opt`, beside those of `~warptsp.papers.exhaustive.descent.ExhaustiveParams`.

    If `block`, `grid`, `jobs` or one of the first two of these is given, another kernel is used, which
    enumerates moves by number, for studies of launches.

    Attributes
    ----------
    tour_order : bool
        Whether coordinates are stored in tour order; False looks them up through the tour.
    range_size : int or None
        Cities of a range: the tour is divided into ranges, each pair of which is a launch with both in shared
        memory. None takes the whole tour, or the largest ranges that fit.
    """

    tour_order: bool = True
    range_size: int | None = None

    def __post_init__(self) -> None:
        ExhaustiveParams.__post_init__(self)
        check_ranges(self, range_size=(1, None))
        if self.range_size is not None and not self.tour_order:
            raise InvalidOption("range_size: ranges lie in tour order; leave tour_order out")

    @property
    def sought(self) -> Sought:
        launch = Launch(self.block, self.grid, self.jobs, self.tour_order, self.range_size)
        return Sought((TWO_OPT,), self.passes, launch)


METHOD = descent_method(
    "two-opt", "best-improvement 2-opt over all pairs", TwoOptParams, min_gpu_cities=8_000
)
