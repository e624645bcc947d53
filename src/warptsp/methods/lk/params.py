"""Parameters of the main solver, and what its search on CPU threads and that on a GPU agree on."""

import math
from dataclasses import dataclass

import warptsp._native as _native
from warptsp._checks import check_ranges
from warptsp._native import Kicks
from warptsp.errors import InvalidOption
from warptsp.methods.lk import tuning


@dataclass(frozen=True, slots=True)
class LkParams:
    """Parameters of the main solver; the defaults are measured (docs/performance).

    Attributes
    ----------
    candidates, per_quadrant : int
        Length of a candidate list, and how many of it come from each quadrant around the city; of a matrix,
        how many candidates hide the cities behind them.
    depth : int or None
        Exchange steps of one move, at most 30; on a GPU at most 16. None: 6 up to 200 cities, 25 for more.
    breadth : tuple of int
        Alternatives tried at the first steps; 1 at the rest.
    segment : int or None
        Longest segment of a double bridge, in cities. None: 50; for one tour on a GPU 100.
    walks : float or None
        Share of the kicks whose four edges are found by a random walk along candidates. None: 0.45; for one
        tour on a GPU 0.35.
    walk : int or None
        Steps of the walk from one of these edges to the next. None: 10; for one tour on a GPU 20.
    long_links : float or None
        Share of the kicks that cut long edges; the remaining kicks exchange segments. None: 0.1; for one
        tour on a GPU 0.4.
    temperature : float or None
        Of the acceptance at the start, in mean edge lengths of the tour. None: by the number of kicks left.
    population : int or None
        Maximum number of tours in a population; below 7 there is no crossover. None: 300; on CPU threads 200
        up to 3000 cities, or 100 with a limit on kicks.
    part : int
        Maximum number of cities in one part.
    whole : int
        Tours up to this length stay in one array when there is one thread.
    """

    candidates: int = 10
    per_quadrant: int = 2
    depth: int | None = None
    breadth: tuple[int, ...] = tuple(_native.LkParams().breadth)
    segment: int | None = None
    walks: float | None = None
    walk: int | None = None
    long_links: float | None = None
    temperature: float | None = None
    population: int | None = None
    part: int = 50_000
    whole: int = 150_000

    def __post_init__(self) -> None:
        check_ranges(self, candidates=(1, 64), per_quadrant=(0, 16), depth=(1, 30))
        check_ranges(self, segment=(1, 10_000), walk=(1, 1000), walks=(0, 1), long_links=(0, 1))
        check_ranges(self, population=(0, 10_000), part=(100, 10_000_000), whole=(0, 100_000_000))
        if not 1 <= len(self.breadth) <= 5 or not all(1 <= b <= 8 for b in self.breadth):
            raise InvalidOption(f"breadth: {self.breadth} is not 1 to 5 numbers between 1 and 8")
        if self.temperature is not None and not (0 <= self.temperature < math.inf):
            raise InvalidOption(f"temperature: {self.temperature} is not a finite number from 0 on")

    def of_kicks(self, usual: Kicks | None = None) -> Kicks:
        """Return which edges a kick cuts; None stands for the usual values, those of CPU threads."""
        own = {name: getattr(self, name) for name in Kicks.fields}
        given = {name: value for name, value in own.items() if value is not None}
        return (usual or Kicks()).replace(**given)

    @property
    def members_on_gpu(self) -> int:
        """The maximum number of tours in a population there."""
        return tuning.LARGEST_POPULATION if self.population is None else self.population

    @property
    def depth_on_gpu(self) -> int:
        """Exchange steps of one move there, if its kernels make so many."""
        return self.depth or tuning.DEEP

    def of_search(self, n: int) -> _native.LkParams:
        """Return those of the search of so many cities on CPU threads."""
        depth = self.depth or (tuning.SHALLOW if n <= tuning.FEW_CITIES else tuning.DEEP)
        return _native.LkParams(depth=depth, breadth=self.breadth, kicks=self.of_kicks())
