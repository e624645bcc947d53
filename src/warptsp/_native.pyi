from collections.abc import Callable, Sequence
import enum
import types
from typing import Annotated, Any, Final, Self, overload

import numpy
from numpy.typing import NDArray


class HeldKarpBound:
    """
    A bound in whole numbers of 2^-exponent, and the potentials that prove it.
    """

    def __init__(self, *, value: int, exponent: int, root: int, rounds: int, certified: bool, potentials: NDArray[numpy.int32]) -> None: ...

    @property
    def value(self) -> int: ...

    @property
    def exponent(self) -> int: ...

    @property
    def root(self) -> int: ...

    @property
    def rounds(self) -> int: ...

    @property
    def certified(self) -> bool: ...

    @property
    def potentials(self) -> NDArray[numpy.int32]: ...

def held_karp(distances: Distances, tour: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], fixed_edges: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], open: bool, start: int, end: int, further: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, rounds: int, threads: int, token: StopToken) -> HeldKarpBound | None:
    """
    A bound below every tour, in whole numbers of 2^-exponent, with the potentials that prove it; None if the token stopped it before there was one. `further`: how many more cities stand where each one does, all of them with its potential.
    """

def tree_clusters(from_: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], to: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], length: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], threads: int, token: StopToken) -> tuple[NDArray[numpy.int32], NDArray[numpy.int32]] | None:
    """
    The clusters of a spanning tree: the city at each place, and rows (first place, place behind the last, gain) of clusters; None if the token stopped it.
    """

class AscentSchedule:
    """The constants of bound/schedule.h, for an ascent elsewhere."""

    nearest_edges: int = 5

    min_spacing: float = 0.02

    first_potential: float = -0.3

    max_potential: int = 134217728

    first_length: float = 0.3

    momentum: float = 0.75

    cluster_weight: float = 0.6

    max_cluster_surplus: int = 3

    leaves: int = 4096

    first_wait: int = 3

    large_drop: float = 0.0005

    near_end: float = 0.94

    pricing_share: float = 1.5

    reach: float = 0.4

    near_spacings: float = 1.5

    max_edges: int = 16

def whole_exponent(longest: float, integral: bool) -> int:
    """The exponent of whole distances up to the longest one."""

def build_info() -> dict[str, str]:
    """
    How this module was built: compiler, instruction set that it was compiled for, sanitizers.
    """

class StopToken:
    """A request to stop that native loops poll; safe to use from any thread."""

    @overload
    def __init__(self) -> None: ...

    @overload
    def __init__(self, whole: StopToken, seconds: float) -> None: ...

    @property
    def poll(self) -> Callable[[], object] | None:
        """Called every 20 ms by the thread that waits for a native function."""

    @poll.setter
    def poll(self, function: Callable[[], object] | None) -> None: ...

    def request(self) -> None: ...

    def requested(self) -> bool: ...

    def set_deadline(self, monotonic_seconds: float) -> None: ...

    def deadline(self) -> float: ...

    def stopped(self) -> bool: ...

def ending(token: StopToken, raised: list[BaseException]) -> Callable[..., None]:
    """
    A callback of HiGHS that ends a solution where the token is stopped, or a signal has raised what it adds.
    """

def import_whole(name: str) -> types.ModuleType:
    """
    Import a module while signals wait, for one that cannot be imported again after a signal's handler has raised.
    """

class Distances:
    """Points of a metric, or a matrix: what distances come from."""

    @staticmethod
    def of_points(kind: int, points: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> Distances: ...

    @overload
    @staticmethod
    def of_matrix(matrix: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> Distances: ...

    @overload
    @staticmethod
    def of_matrix(matrix: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> Distances: ...

class Descent:
    """One tour, and best-improvement descent in neighborhoods."""

    @staticmethod
    def create(*, neighborhoods: Sequence[int], distances: Distances, dummy: bool, tour: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], fixed_edges: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], tolerance: float, threads: int, kept: Sequence[int], before: Sequence[tuple[int, int]]) -> Descent: ...

    def proceed(self, seconds: float, passes: int, token: StopToken) -> bool:
        """
        Passes for so long, and so many (-1: any number); True when no move shortens the tour.
        """

    @property
    def length(self) -> float: ...

    def tour(self) -> NDArray[numpy.int32]: ...

    def counters(self) -> dict[str, int]: ...

def dimacs_uniform(n: int, seed: int) -> NDArray[numpy.float64]: ...

def dimacs_clustered(n: int, seed: int) -> NDArray[numpy.float64]: ...

def parse_numbers(text: bytes, begin: int, expected: int) -> tuple[NDArray[numpy.float64], int]: ...

def parse_table(text: bytes, begin: int, columns: int, delimiter: str) -> tuple[NDArray[numpy.float64], int]: ...

def format_integers(rows: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> bytes: ...

def format_reals(values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> bytes: ...

def candidate_lists(distances: Distances, count: int, per_quadrant: int, threads: int, token: StopToken) -> NDArray[numpy.int32] | None:
    """
    Rows of the nearest cities, per_quadrant of them from each quadrant; of a matrix, of the cities to all sides, where so many cities hide those behind them (0: the nearest cities). None if stopped.
    """

def space_filling_curve(points: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], kind: str, token: StopToken, sphere: bool = False, threads: int = 1) -> NDArray[numpy.int32] | None:
    """The cities in the order of a space-filling curve; None if stopped."""

def tight_groups(lists: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], lengths: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], ratio: float, token: StopToken) -> tuple[NDArray[numpy.int32], NDArray[numpy.int32]] | None:
    """
    The cities, those of each group beside one another, and where each group begins; None if stopped.
    """

def greedy_edge(distances: Distances, fixed_edges: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], threads: int, token: StopToken, tiles: int = 1) -> NDArray[numpy.int32] | None:
    """
    The greedy edge tour, or, of points, one of greedy paths in consecutive tiles; None if stopped.
    """

def nearest_neighbor(distances: Distances, start: int, fixed_edges: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], threads: int, token: StopToken) -> NDArray[numpy.int32] | None:
    """The nearest neighbour tour; None if stopped."""

def random_tour(n: int, seed: int, token: StopToken) -> NDArray[numpy.int32] | None:
    """A random order; None if stopped."""

def keep_fixed_edges(order: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], fixed_edges: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], token: StopToken) -> NDArray[numpy.int32] | None:
    """
    The order, with the paths of fixed edges as a whole where their first city comes; None if stopped.
    """

class NeighborSearch:
    """Tours and the local search along neighbour lists."""

    @staticmethod
    def create(*, distances: Distances, neighbors: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], tour: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], fixed_edges: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], tolerance: float, three: bool, next_only: bool, best: bool, many: bool, token: StopToken) -> NeighborSearch: ...

    def descend(self, *, passes: int, threads: int, seconds: float, token: StopToken) -> bool:
        """
        Moves for so many seconds; True at a local optimum, or after so many passes.
        """

    def iterate(self, *, chains: int, count: int, always: bool, temperature: float, cold: int, segment: int, seed: int, threads: int, seconds: float, everywhere: bool, token: StopToken) -> bool:
        """
        Kicks in every chain for so many seconds; True when each has made `count` in all.
        """

    def return_to_best(self) -> None:
        """Let the next descent begin with the best tour of all chains."""

    @property
    def best_length(self) -> float: ...

    def best(self) -> NDArray[numpy.int32]: ...

    def neighbors(self) -> NDArray[numpy.int32]:
        """The lists, sorted by distance."""

    def counters(self) -> dict[str, int]: ...

class HillClimbers:
    """
    Random-restart 2-opt on CPU threads; see native/papers/hill_climbing/hill_climbing.h.
    """

    def __init__(self, *, distances: Distances, tolerance: float, scale: float) -> None: ...

    def climb(self, *, seed: int, first: int, count: int, threads: int, given: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, perturbed: bool, token: StopToken) -> tuple[NDArray[numpy.int64], int, NDArray[numpy.int32]]: ...

    @property
    def climbers(self) -> int: ...

    @property
    def passes(self) -> int: ...

    @property
    def moves(self) -> int: ...

class PathGraph:
    """Makes tours of the paths that the blobs of a round hand over."""

    def __init__(self, *, distances: Distances, row: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], fixed: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> None:
        """
        Points have a row of NaN for a dummy city; the search's city i is in row `row[i]`, or i if `row` is empty. `fixed[i]` are the cities that i must stay linked to.
        """

    def arrange(self, paths: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], begin: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], places: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu')], threads: int) -> int:
        """
        Rows of `paths`: the ends that its head and its tail are linked to (of the tour's path i, 2 i is the head and 2 i + 1 the tail), cities there, cities in all; those of tour t are rows begin[t] to begin[t + 1]. Fills `places`: position of the lower end, turned or not. Returns how many closed tours there were; those of a tour that fixed edges alone could make one count 0, and its places are not filled.
        """

def choose_joins(joins: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[NDArray[numpy.int32], NDArray[numpy.int32]]:
    """
    Joins of closed tours that can all be made, of an array of struct JoinOfTours as bytes: rows of an end and what it is linked to, four for each join; and rows of a closed tour and its name from now on.
    """

def survey_edges(points: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], begins: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], ends: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], transform: Sequence[float], width: int, height: int, block: float, stride: int, token: StopToken) -> tuple[float, float] | None: ...

def draw_edges(opacity: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu')], points: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], begins: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], ends: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], transform: Sequence[float], line_width: float, stride: int, token: StopToken) -> bool: ...

class Kicks:
    """Which edges a double bridge cuts."""

    def __init__(self, *, segment: int = 50, walk: int = 10, walks: float = 0.44999998807907104, long_links: float = 0.10000000149011612) -> None: ...

    @property
    def segment(self) -> int:
        """Longest segment of a double bridge."""

    @property
    def walk(self) -> int:
        """Steps of a random walk from one of its edges to the next."""

    @property
    def walks(self) -> float:
        """Share of the kicks that are random walks."""

    @property
    def long_links(self) -> float:
        """Share of the kicks that cut long edges."""

    def as_dict(self) -> dict[str, Any]:
        """The values by their names."""

    def replace(self, **changes: object) -> Self:
        """One with other values of the fields that are named."""

    fields: Final[tuple[str, ...]] = ...
    """Their names."""

class PopulationPlan:
    """Populations from the first member to the end."""

    def __init__(self, *, members: int = 0, at_once: int = 10, selection: int = 10, idle: int = 4, agreeing: int = 1, most: int = 1, uneven: bool = False) -> None: ...

    @property
    def members(self) -> int:
        """To grow, beside the best tour; 0: the population is there."""

    @property
    def at_once(self) -> int:
        """Members that one step grows."""

    @property
    def selection(self) -> int:
        """Of so many children one is taken."""

    @property
    def idle(self) -> int:
        """Generations without progress that end it."""

    @property
    def agreeing(self) -> int:
        """
        Populations that end with the shortest length found, after which no other begins.
        """

    @property
    def most(self) -> int:
        """Populations."""

    @property
    def uneven(self) -> bool:
        """Whether a member may be far better than the others."""

    def as_dict(self) -> dict[str, Any]:
        """The values by their names."""

    def replace(self, **changes: object) -> Self:
        """One with other values of the fields that are named."""

    fields: Final[tuple[str, ...]] = ...
    """Their names."""

class AnnealingPlan:
    """Kicks at a temperature that falls."""

    def __init__(self, *, kicks: int = 0, step: int = 1, start: float = 0.0, cold: float = 0.04) -> None: ...

    @property
    def kicks(self) -> int:
        """In all."""

    @property
    def step(self) -> int:
        """Kicks at one temperature."""

    @property
    def start(self) -> float:
        """The first temperature, in mean edges of the tour."""

    @property
    def cold(self) -> float:
        """Share of the kicks at the end that have the temperature 0."""

    def as_dict(self) -> dict[str, Any]:
        """The values by their names."""

    def replace(self, **changes: object) -> Self:
        """One with other values of the fields that are named."""

    fields: Final[tuple[str, ...]] = ...
    """Their names."""

def cooled(progress: float, cold: float) -> float:
    """
    What is left of the start temperature at a share of the planned limit, with so much of it at 0 (native/lk/kick_kinds.h).
    """

class LkParams:
    """How the main solver searches a tour, whatever the instance."""

    def __init__(self, *, depth: int = 25, breadth: Sequence[int] = [5, 3, 1], kicks: Kicks = ...) -> None: ...

    @property
    def depth(self) -> int:
        """Exchange steps of one move, at most."""

    @property
    def breadth(self) -> list[int]:
        """Alternatives at the first steps; 1 at the rest."""

    @property
    def kicks(self) -> Kicks: ...

def random_fragments(*, candidates: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], first: int, count: int, seed: int, round: int, threads: int, token: StopToken) -> NDArray[numpy.int32]:
    """
    So many tours of random fragments, from the number `first` on, a row each; no rows if stopped (native/tours/random_fragments.h).
    """

class TourPopulation:
    """A search with a population of tours (native/lk/tour_population.h)."""

    def grow(self, *, count: int, kicks_per_city: float, temperature: float, steps: int, seed: int, round: int, threads: int, token: StopToken) -> None:
        """Adds new tours to the population."""

    def keep(self) -> None:
        """Adds the best tour to the population."""

    def forget(self) -> None:
        """Empties the population."""

    def return_to_best(self) -> None:
        """Goes on from the best tour."""

    @property
    def members(self) -> int: ...

    @property
    def mean_length(self) -> float: ...

    @property
    def least_length(self) -> float: ...

class TourSearch(TourPopulation):
    """One tour and the Lin-Kernighan search that shortens it."""

    @staticmethod
    def create(*, distances: Distances, small_integers: bool, dummy: bool, candidates: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], tour: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], fixed_edges: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None, tolerance: float, params: LkParams) -> TourSearch: ...

    def optimize(self, seconds: float, token: StopToken) -> bool:
        """
        Local search from every city, for so long at a time; True when it is complete or the token said stop.
        """

    def kicks(self, count: int, temperature: float, seed: int, round: int, token: StopToken) -> None:
        """Kicks on the whole tour; stops early only when the token says so."""

    def prove(self, trees: int, token: StopToken) -> bool:
        """
        Makes the best tour optimal; False if that takes more 1-trees, or the token said stop.
        """

    def begin_round(self, *, parts: int, boxes: bool, optimize: bool, kicks: int, temperature: float, last_temperature: float, seed: int, round: int, threads: int, repeatable: bool, token: StopToken) -> None:
        """Cuts the tour into parts."""

    def proceed(self, seconds: float, token: StopToken) -> bool:
        """
        Improves the parts, for so long at a time; True when the round is complete or the token said stop.
        """

    def add(self, tours: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], threads: int) -> None:
        """Adds tours to the population, a row each."""

    def keep_members(self, count: int) -> None:
        """Leaves the shortest members, so many of them."""

    def gather(self, *, seed: int, round: int, threads: int, token: StopToken) -> float:
        """
        The best member takes over what the others have better; how much shorter it is then.
        """

    def end_round(self) -> None:
        """Ends the round as it stands."""

    def go_on_from(self, tour: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """
        Goes on from another tour, which becomes the best one if it is shorter.
        """

    @property
    def length(self) -> float: ...

    @property
    def best_length(self) -> float: ...

    def best(self) -> NDArray[numpy.int32]: ...

    def counters(self) -> dict[str, int]: ...

class PopulationRun:
    """
    Populations from the first member to the end (native/lk/tour_population.h).
    """

    @staticmethod
    def create(search: TourPopulation, plan: PopulationPlan) -> PopulationRun: ...

    def proceed(self, seconds: float, seed: int, round: int, threads: int, token: StopToken) -> tuple[bool, int]:
        """
        Some new members, or a generation, and more of them for so long; whether the last population has come to its end, and how many rounds this took.
        """

class DirectedSearch(TourPopulation):
    """A directed tour, and the search that shortens it."""

    @overload
    @staticmethod
    def create(matrix: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], *, scale: float, wall: float | None = None, seed: int, threads: int) -> DirectedSearch: ...

    @overload
    @staticmethod
    def create(matrix: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], *, scale: float, wall: float | None = None, seed: int, threads: int) -> DirectedSearch: ...

    def assign(self, seconds: float, token: StopToken) -> bool:
        """Solves the assignment problem; False if it took too long."""

    def prepare(self, token: StopToken) -> bool:
        """Finds the arcs that are considered; False if the token stopped it."""

    def patch(self, token: StopToken) -> NDArray[numpy.int32]:
        """The tour that the solution of the assignment problem is patched to."""

    def set_tour(self, tour: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """Goes on from this tour; the best one stays if it is shorter."""

    def optimize(self, seconds: float, token: StopToken) -> bool:
        """
        Local search, for so long at a time; True when it is complete or the token said stop.
        """

    def kicks(self, count: int, token: StopToken) -> None:
        """So many kicks; fewer only when the token says so."""

    def open_arcs(self, token: StopToken) -> int:
        """How many arcs can be in a shorter tour than the best one."""

    def begin_branching(self, arcs: int, token: StopToken) -> None:
        """Begins branch and bound on so many arcs of each city, 0 for all."""

    def branch(self, *, nodes: int, leaves: int, seconds: float, token: StopToken) -> bool:
        """Goes on with branch and bound; True when nothing is left to do."""

    def end_branching(self) -> None:
        """Gives its memory back, and goes on from the best tour."""

    @property
    def proved(self) -> bool: ...

    @property
    def impossible(self) -> bool: ...

    @property
    def bound(self) -> int: ...

    @property
    def length(self) -> int: ...

    @property
    def best_length(self) -> int: ...

    def best(self) -> NDArray[numpy.int32]: ...

    def counters(self) -> dict[str, int]: ...

class BatchEnd(enum.IntEnum):
    """How the search of one of many instances ended."""

    NONE = 0
    """It was not begun."""

    PROVED = 1
    """No tour is shorter."""

    SETTLED = 2
    """Several searches ended with one length."""

    ALL_KICKS = 3
    """As many as were asked for."""

    UNSETTLED = 4
    """No search agreed with another one, or it is a matter for `solve`."""

    STOPPED = 5
    """By the token."""

class Batch:
    """
    Many instances of equally many cities, which are searched one after another.
    """

    @staticmethod
    def of_points(metric: int, points: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu', writable=False)]) -> Batch: ...

    @overload
    @staticmethod
    def of_matrices(matrices: Annotated[NDArray[numpy.int32], dict(shape=(None, None, None), order='C', device='cpu', writable=False)]) -> Batch: ...

    @overload
    @staticmethod
    def of_matrices(matrices: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu', writable=False)]) -> Batch: ...

    def search(self, *, tolerances: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], seeds: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], small_integers: bool, candidates: int, per_quadrant: int, params: LkParams, trees: int, plan: PopulationPlan | AnnealingPlan, token: StopToken) -> tuple[NDArray[numpy.int32], NDArray[numpy.int64], NDArray[numpy.float64], NDArray[numpy.int32]]:
        """
        Tours, kicks, seconds and how each ended. An annealing ends with its kicks; populations by themselves, and before them a proof that may take so many 1-trees.
        """

def least_closed_walk(lengths: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> int:
    """The shortest closed walk through all classes."""

class Effort(enum.IntEnum):
    """Which cuts are sought, each with all those before it."""

    SUBTOURS = 0

    BLOSSOMS = 1

    TIGHTENING = 2

    LOCAL = 3

    WIDE = 4

class Cuts:
    """Cuts of one relaxation, for others."""

class Relaxation:
    """A linear relaxation of closed tours that grows by edges and cuts."""

    def __init__(self, lengths: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], tour: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], seed: int, token: StopToken) -> None: ...

    def fork(self, number: int) -> Relaxation: ...

    def new_cuts(self) -> Cuts: ...

    def learn(self, cuts: Cuts) -> None: ...

    @property
    def columns(self) -> int: ...

    @property
    def rows(self) -> int: ...

    @property
    def ends(self) -> NDArray[numpy.int32]: ...

    @property
    def ids(self) -> NDArray[numpy.int64]: ...

    def undecided_sets(self, solution: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], most: int) -> list[list[int]]: ...

    def set_tour(self, tour: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    def set_coordinates(self, coordinates: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> None: ...

    def add_columns(self, pairs: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> tuple[NDArray[numpy.float64], NDArray[numpy.int32], NDArray[numpy.int32], NDArray[numpy.float64]]: ...

    def column(self, a: int, b: int) -> int:
        """The number of an edge."""

    def drop_columns(self, columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    def set_column_bounds(self, column: int, lower: int, upper: int) -> None: ...

    def take_cuts(self, most: int) -> tuple[NDArray[numpy.float64], NDArray[numpy.int32], NDArray[numpy.int32], NDArray[numpy.float64]]: ...

    def add_subtour(self, cities: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[NDArray[numpy.float64], NDArray[numpy.int32], NDArray[numpy.int32], NDArray[numpy.float64]]: ...

    def adopt(self, class_of: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], lengths: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], bound: int, comb: Sequence[Sequence[int]]) -> None: ...

    def set_row_bounds(self, row: int, lower: int, upper: int) -> None: ...

    def drop_idle(self, prices: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], activity: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], rounds: int) -> NDArray[numpy.int32]: ...

    def begin_rounds(self) -> None: ...

    def perturb(self, most: float) -> None: ...

    def separate(self, solution: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], activity: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], effort: Effort, is_dear: bool, threads: int, token: StopToken) -> tuple[int, int, int, int, int]: ...

    def price(self, prices: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], most: int) -> tuple[int | None, int, NDArray[numpy.int32]]: ...

    def survivors(self, slack: int, keep: bool) -> NDArray[numpy.int32]: ...

    def sweep(self, slack: int, target: int, step: int, order: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, most_states: int, token: StopToken) -> tuple[bool, NDArray[numpy.int32], NDArray[numpy.int32] | None]: ...

    def cut(self, row: int) -> tuple[NDArray[numpy.int32], NDArray[numpy.int32], int, list[list[int]]]: ...

    def whole_prices(self) -> tuple[NDArray[numpy.int64], NDArray[numpy.int64]]: ...

@overload
def optimal_tours(distances: Annotated[NDArray[numpy.int64], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], token: StopToken, *, open: bool = False, start: int = -1, end: int = -1, fixed_edges: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None = None, directed: bool = False) -> NDArray[numpy.int32] | None: ...

@overload
def optimal_tours(distances: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], token: StopToken, *, open: bool = False, start: int = -1, end: int = -1, fixed_edges: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None = None, directed: bool = False) -> NDArray[numpy.int32] | None:
    """
    An optimal tour of each matrix, closed ones from city 0 on; None if stopped.
    """

@overload
def shorter_tours(distances: Annotated[NDArray[numpy.int64], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], lengths: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], steps: int, *, open: bool = False, start: int = -1, end: int = -1, fixed_edges: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None = None, directed: bool = False) -> NDArray[numpy.int32]: ...

@overload
def shorter_tours(distances: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], lengths: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], steps: int, *, open: bool = False, start: int = -1, end: int = -1, fixed_edges: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None = None, directed: bool = False) -> NDArray[numpy.int32]:
    """
    Whether a tour of each matrix is shorter than its length, by so many steps, or else dynamic programming.
    """

class SymmetricInstance:
    """
    The numbers of a circle that every search of it takes; papers/symmetric/symmetric.h has them.
    """

    def __init__(self, *, elements: int = 0, random: int = 0, tolerance: float = 0.0, planar: int = 0, whole_edges: int = 0, center_x: float = 0.0, center_y: float = 0.0, scale: float = 0.0, slack: float = 0.0, place_error: float = 0.0) -> None: ...

    @property
    def elements(self) -> int:
        """Of the hardware, for its order; 0 for that of the threads."""

    @property
    def random(self) -> int:
        """Whether segments come one after another at random."""

    @property
    def tolerance(self) -> float:
        """What a gain must exceed."""

    @property
    def planar(self) -> int:
        """Whether the filter works; 2 if single precision holds all places."""

    @property
    def whole_edges(self) -> int:
        """Whether lengths are integers that single precision holds."""

    @property
    def center_x(self) -> float: ...

    @property
    def center_y(self) -> float: ...

    @property
    def scale(self) -> float: ...

    @property
    def slack(self) -> float:
        """By how much rounding may make two edges shorter."""

    @property
    def place_error(self) -> float:
        """By how much it may change a distance."""

    def as_dict(self) -> dict[str, Any]:
        """The values by their names."""

    def replace(self, **changes: object) -> Self:
        """One with other values of the fields that are named."""

    fields: Final[tuple[str, ...]] = ...
    """Their names."""

class SymmetricTours:
    """Tours, and symmetrical 2-opt moves that shorten them."""

    @staticmethod
    def create(*, distances: Distances, instance: SymmetricInstance, triples: bool, fixed: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None, circle: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], seed: int, chains: int, threads: int) -> SymmetricTours: ...

    def descend(self, seconds: float, token: StopToken) -> bool:
        """Descend for so long at a time; True when every tour is 2-optimal."""

    def anneal(self, temperature: float, factor: float, iterations: int, spent: int, steps: int, token: StopToken) -> None:
        """Make so many steps of annealing with every tour."""

    def cities(self, chain: int) -> NDArray[numpy.int32]:
        """The cities on the circle of a chain."""

    def lengths(self) -> NDArray[numpy.float64]:
        """The length of each tour."""

    def counters(self) -> dict[str, int]: ...

def takes_each_once(tour: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], threads: int) -> bool:
    """Whether the tour is 0 to n - 1 in any order."""

def edge_sums(points: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], cities: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], kind: int, threads: int) -> NDArray[numpy.float64] | None:
    """
    Numbers whose exact sum is the length of the path through these cities, rows of `points`; None if one is not there.
    """

class TourCut:
    """
    A tour cut into parts that are improved elsewhere; see native/lk/tour_cut.h.
    """

    @staticmethod
    def stretches(tour: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], parts: int, rotation: int, fixed: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], threads: int, token: StopToken) -> TourCut | None:
        """Parts of consecutive cities; None if stopped."""

    @staticmethod
    def boxes(points: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], tour: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], parts: int, seed: int, rotation: int, fixed: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], threads: int, token: StopToken) -> TourCut | None:
        """Parts that are boxes of a k-d tree; None if stopped."""

    @property
    def parts(self) -> int: ...

    @property
    def paths(self) -> int: ...

    def size(self, part: int) -> int: ...

    def cities(self, part: int) -> NDArray[numpy.int32]:
        """The part's cities in tour order, or in that of its answer."""

    def path_begin(self, part: int) -> NDArray[numpy.int32]:
        """Where each path begins among the part's cities, and their number."""

    def put(self, part: int, order: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> str:
        """
        Takes a part's answer; returns what is wrong with it, or an empty text.
        """

    def ends(self) -> NDArray[numpy.int32]:
        """The cities at head and tail of every path."""

    def link(self, order: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], points: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], kind: int, threads: int, token: StopToken) -> tuple[NDArray[numpy.int32] | None, int] | None:
        """
        The tour of all parts and how many closed ones it was made of, (None, 0) if there is none that keeps fixed edges; None if stopped. `order` is that of the ends along a curve, `points` are theirs.
        """

def merge_tours(*, orders: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], lengths: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], seed: int, threads: int, token: StopToken) -> NDArray[numpy.int32]:
    """
    The nodes of one tour that has no edges but those of the tours in the rows of `orders`, and is no longer than the shortest of them; lengths[t, i] is that of the edge of tour t from place i to the next.
    """
