"""Best-improvement descent by relocations: one city leaves its place and comes between two others.

n (n - 3) moves a pass, of which the best is applied: a city can come into every edge but its own two, and to
pass over a neighbour is the same move as the neighbour's over it. G. Ermiş, "Accelerating local search
algorithms for travelling salesman problem using GPU effectively", master's thesis (2015), treats it as 2-opt;
it is Or-opt with one city: I. Or, "Traveling salesman-type combinatorial problems", thesis, 1976.
"""

from dataclasses import dataclass

from warptsp.papers.exhaustive.descent import ExhaustiveParams, descent_method


@dataclass(frozen=True, slots=True)
class RelocateParams(ExhaustiveParams):
    """Parameters of `relocate`: those of `~warptsp.papers.exhaustive.descent.ExhaustiveParams`."""

    neighborhood = "relocate"


METHOD = descent_method(
    "relocate", "best-improvement relocation of one city", RelocateParams, min_gpu_cities=4_000
)
