"""Best-improvement 3-opt over all triples of edges, to a tour that no triple improves.

For positions i < j < k three edges go, and three others come in all four ways that keep none of the old ones
(neighborhoods.h): the two segments between change places, or are both reversed, or change
places with one of them reversed. Segments of one city make 2-opt moves of some of these, so that a 3-optimal
tour is also 2-optimal. n (n - 1) (n - 2) / 6 triples a pass, four moves each, of which the best is applied.
S. Lin, "Computer solutions of the traveling salesman problem", Bell System Technical Journal 44 (1965); on
GPUs K. Rocki and R. Suda, HPCS 2012.
"""

from dataclasses import dataclass

from warptsp.papers.exhaustive.descent import ExhaustiveParams, descent_method
from warptsp.papers.exhaustive.neighborhood import MAX_CITIES_CPU, MAX_CITIES_GPU


@dataclass(frozen=True, slots=True)
class ThreeOptParams(ExhaustiveParams):
    """Parameters of `three-opt`: those of `~warptsp.papers.exhaustive.descent.ExhaustiveParams`.

    In the plane the block is that of the evaluation in double precision.
    """

    neighborhood = "three-opt"


METHOD = descent_method(
    "three-opt",
    "best-improvement 3-opt over all triples",
    ThreeOptParams,
    max_cities=MAX_CITIES_CPU,
    max_gpu_cities=MAX_CITIES_GPU,
    min_gpu_cities=800,
)
