"""Simulated annealing with symmetrical 2-opt moves.

I. Mavroidis, "Algorithm mapping to reconfigurable systems and systems with multiple embedded processors",
Technical University of Crete (2011), section 6.3.3: all segments with one centre are decided together, and
one that makes the tour longer by delta is reversed if exp(-delta / T) > R, a random number from 0 to 1.
Since the edges that the segments of a centre replace are different ones, a rotation is so many independent
steps of Metropolis' chain. Random numbers are named by seed, chain, rotation and segment: the tour does not
depend on who draws them.

The cooling schedule has the document's three parts: the temperature at the start, what it is multiplied by,
and after how many rotations. What is not given is fitted to the number of rotations or the time that there
is. Descents end the run, from what the annealing came to and, if that is longer than a tour on the way or the
start tour, from this one: what is returned is 2-optimal.
"""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from warptsp._checks import check_ranges
from warptsp.errors import InvalidOption
from warptsp.methods.launch import check_block
from warptsp.methods.method import Method
from warptsp.methods.protocol import Run
from warptsp.papers.symmetric.cuda_tuning import SYMMETRIC_THREADS
from warptsp.papers.symmetric.search import SLICE, SymmetricRun, kernels, run_symmetric
from warptsp.problem import Problem

# Temperatures at the start, in mean edge lengths of a greedy tour, and at the end, in their median: where
# cities lie in clusters that is much less. First temperatures of 0.3 to 1.2 and last ones of 0.1 to 0.35 gave
# mean gaps of 4.0 to 5.0 % (EXP-083).
HOT, COLD = 0.4, 0.12
ROTATIONS = 300  # a city, without any limit
FEW = 12  # cities up to which these are annealed to the end, whatever the time limit
TEMPERATURES = 200  # in a schedule that is fitted
OFFERS = 32  # tours on the way that may become the best one, at most
# Segments of a chain between two of them, at least: on a GPU one costs a third of a millisecond, and a chain
# takes some ten for so many.
OFFER_WORK = 1_000_000
DESCENT = 8  # rotations a city that the last descent takes, at a guess
SAMPLE = 16_384  # segments of the start tour that the first acceptance rate is fitted to
MIN_SHARED = 5000  # cities of a greedy tour from which threads are worth starting
FOREVER = 1 << 40  # rotations at one temperature
FIRST_WORK = 2_000_000  # segments of the first slice, a few milliseconds of work


@dataclass(frozen=True)
class SymmetricAnnealingParams:
    """Parameters of ``symmetric-annealing``; what is None is fitted.

    Attributes
    ----------
    temperature : float or None
        At the start, in units of the distances.
    cooling : float or None
        Factor between 0 and 1 by which the temperature is multiplied after every `iterations` rotations.
    iterations : int or None
        Rotations at each temperature; a rotation decides all segments around one city.
    acceptance : float or None
        In place of `temperature`: the share of segments of the start tour, among those that make it longer,
        that the first temperature accepts.
    order : {"threads", "random"}
        All segments around each city in turn, or one segment after another at random, which makes no use of
        symmetry: a rotation is as many segments of these.
    rotations : int or None
        Rotations before the last descent. None: until it is cold with the `cooling` given, or as many as the
        time limit allows, or 300 per city.
    chains : int or None
        Tours that are annealed side by side, of which the best counts; None: one on the CPU, as many as run
        at once on a GPU.
    block : int or None
        Threads per block on a GPU, a multiple of 32 up to 512; None lets the method choose.
    """

    temperature: float | None = None
    cooling: float | None = None
    iterations: int | None = None
    acceptance: float | None = None
    order: Literal["threads", "random"] = "threads"
    rotations: int | None = None
    chains: int | None = None
    block: int | None = None

    def __post_init__(self) -> None:
        if self.temperature is not None and not (self.temperature > 0 and math.isfinite(self.temperature)):
            raise InvalidOption(f"temperature: {self.temperature!r} is not greater than 0")
        if self.cooling is not None and not 0 < self.cooling < 1:
            never = ": such a schedule never cools" if self.cooling >= 1 else ""
            raise InvalidOption(f"cooling: {self.cooling!r} is not between 0 and 1{never}; for example 0.95")
        if self.acceptance is not None and not 0 < self.acceptance < 1:
            raise InvalidOption(f"acceptance: {self.acceptance!r} is not a share between 0 and 1")
        if self.acceptance is not None and self.temperature is not None:
            raise InvalidOption("temperature and acceptance both say how hot it is at the start: give one")
        check_ranges(self, iterations=(1, None), rotations=(1, None), chains=(1, None))
        if self.iterations is not None and self.rotations is not None and self.iterations >= self.rotations:
            raise InvalidOption(
                f"iterations: {self.iterations} at each temperature, of {self.rotations} rotations: such a "
                "schedule never cools; give fewer iterations or more rotations"
            )
        check_block(self.block, SYMMETRIC_THREADS)


@dataclass(frozen=True, slots=True)
class Schedule:
    """A cooling schedule, complete."""

    start: float  # temperature, as is `cold`
    cold: float  # where nothing of interest is accepted any more
    cooling: float
    iterations: int  # rotations at each temperature
    rotations: int | None  # in all; None: it follows the clock from `start` to `cold`

    @classmethod
    def fit(
        cls,
        params: SymmetricAnnealingParams,
        *,
        size: int,
        edges: NDArray[np.float64],
        losses: NDArray[np.float64],
        timed: bool,
    ) -> "Schedule":
        """Fill in what is not given, for so many cities.

        `edges` are lengths of a good tour's, and `losses` say by how much segments of the start tour would
        make it longer, for an `acceptance` that is given. `timed`: the clock says when it must be cold.
        """
        start = params.temperature
        if start is None and params.acceptance is not None:
            start = temperature_of(params.acceptance, losses)
        if start is None:
            start = HOT * float(edges.mean())
        if start <= 0:
            start = 1.0  # all distances are 0: any temperature is as good
        cold = min(COLD * float(np.median(edges)), 0.9 * start) or 0.9 * start
        rotations = params.rotations
        if params.cooling is not None:
            iterations = params.iterations or size
            temperatures = math.ceil(math.log(cold / start) / math.log(params.cooling))
            if rotations is None:
                rotations = max(1, temperatures) * iterations
            return cls(start, cold, params.cooling, iterations, rotations)
        if rotations is None and timed and params.iterations is None:
            return cls(start, cold, 0.0, 1, None)
        if rotations is None:
            rotations = ROTATIONS * size if params.iterations is None else TEMPERATURES * params.iterations
        iterations = params.iterations or max(1, rotations // TEMPERATURES)
        cooling = (cold / start) ** (1.0 / max(1, rotations // iterations - 1))
        return cls(start, cold, cooling, iterations, rotations)


def temperature_of(acceptance: float, losses: NDArray[np.float64]) -> float:
    """Return the temperature at which this share of the losses is accepted, on average."""
    losses = losses[losses > 0]
    if len(losses) == 0:
        return 0.0
    low, high = 1e-6 * float(losses.min()), 1e6 * float(losses.max())
    for _ in range(100):
        middle = math.sqrt(low * high)
        if float(np.exp(-losses / middle).mean()) < acceptance:
            low = middle
        else:
            high = middle
    return high


def run(problem: Problem, run: Run, params: SymmetricAnnealingParams) -> None:
    """Anneal from the start tour, then descend to a 2-optimal one."""

    def work(search: SymmetricRun) -> None:
        if search.report("start tour"):
            return
        if run.kick_limit == 0:  # the first local optimum is what is asked for
            search.settle()
            return
        schedule = Schedule.fit(
            params,
            size=len(search.circle.cities),
            edges=_edges(search),
            losses=np.empty(0) if params.acceptance is None else _losses(search, run.seed),
            timed=run.time_limit is not None and problem.n > FEW,
        )
        if schedule.rotations is None:
            stop = _follow_clock(search, schedule)
        else:
            stop = _anneal(search, schedule, schedule.rotations)
        if not stop:
            search.settle()

    run_symmetric(problem, run, work, order=params.order, chains=params.chains, block=params.block)


def _anneal(search: SymmetricRun, schedule: Schedule, rotations: int) -> bool:
    """Anneal for a number of rotations; True to stop."""
    run = search.run
    size = len(search.circle.cities)
    temperature, spent, done = schedule.start, 0, 0
    steps = max(1, FIRST_WORK // size)
    # Tours on the way are offered after numbers of rotations, not of seconds, so that runs repeat.
    between = max(size, rotations // OFFERS, OFFER_WORK // max(1, search.circle.rungs))
    while done < rotations:
        steps = min(steps, between - done % between, rotations - done)
        begun = run.elapsed()
        search.anneal(temperature, schedule.cooling, schedule.iterations, spent, steps)
        took = run.elapsed() - begun
        # As the native code does it, so that the slices do not show.
        for _ in range((spent + steps) // schedule.iterations):
            temperature *= schedule.cooling
        spent = (spent + steps) % schedule.iterations
        done += steps
        due = done % between == 0 or done == rotations
        if run.token.stopped():
            return True
        if (due or took > SLICE / 4) and search.report("annealing", offer=due):
            return True
        steps = max(1, int(steps * min(4.0, SLICE / max(took, 1e-9))))
    return False


def _follow_clock(search: SymmetricRun, schedule: Schedule) -> bool:
    """Anneal so that it is cold when what is left of the time does for a descent; True to stop."""
    run = search.run
    size = len(search.circle.cities)
    begun, done, steps, reported = run.elapsed(), 0, 1, run.elapsed()
    while True:
        now, remaining = run.elapsed(), run.remaining() or 0.0
        descent = min(0.3 * (now - begun + remaining), DESCENT * size * (now - begun) / max(done, 1))
        whole = now - begun + remaining - descent
        if now - begun >= whole:
            return search.report("annealing", offer=True)
        progress = (now - begun) / whole
        temperature = schedule.start * (schedule.cold / schedule.start) ** progress
        search.anneal(temperature, 1.0, FOREVER, 0, steps)
        done += steps
        took = run.elapsed() - now
        wanted = min(SLICE, whole / TEMPERATURES)
        steps = max(1, int(steps * min(4.0, wanted / max(took, 1e-9))))
        if run.token.stopped():
            return True
        if run.elapsed() - reported > SLICE:
            reported = run.elapsed()
            if search.report("annealing"):
                return True


def _edges(search: SymmetricRun) -> NDArray[np.float64]:
    """The lengths of a greedy tour's edges, before the search has changed its start tour."""
    from warptsp.construct import construct

    run, problem = search.run, search.run.problem
    tour: NDArray[np.int32] | None
    if isinstance(run.start, str) and run.start == "greedy":
        tour = search.circle.tour(search.circle.cities)
    else:
        threads = 1 if problem.n < MIN_SHARED else run.threads
        tour = construct(problem, "greedy", seed=run.seed, threads=threads, token=run.token)
    if tour is None:  # stopped: nothing will be annealed
        return np.zeros(1)
    return np.asarray(problem.distance(tour, np.roll(tour, -1)), dtype=np.float64)


def _losses(search: SymmetricRun, seed: int) -> NDArray[np.float64]:
    """What some random segments of the start tour would add to its length."""
    problem, tour = search.circle.instance.problem, search.tour()
    n = len(tour)
    at = np.random.default_rng(seed).integers(0, n, (2, SAMPLE))
    a, b = tour[at], tour[(at + 1) % n]
    d = problem.distance
    losses: NDArray[np.float64] = np.asarray(
        d(a[0], a[1]) + d(b[0], b[1]) - d(a[0], b[0]) - d(a[1], b[1]), dtype=np.float64
    )[at[0] != at[1]]
    return losses


METHOD = Method(
    name="symmetric-annealing",
    summary="simulated annealing with all moves around one centre at once",
    run=run,
    params=SymmetricAnnealingParams,
    ends=True,
    lengths=("temperature",),
    devices=("cpu", "cuda"),
    kernels=kernels,
    min_gpu_cities=100,
)
