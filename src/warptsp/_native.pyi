"""The native core; each binding's file adds its own signatures here."""

from collections.abc import Callable
from typing import TypeAlias, TypedDict, overload

import numpy as np
from numpy.typing import NDArray

class StopToken:
    """A request to stop that native loops poll; safe to use from any thread."""

    poll: Callable[[], object] | None  # called every 20 ms by the thread that waits for a native function

    @overload
    def __init__(self) -> None: ...
    @overload
    def __init__(self, whole: StopToken, seconds: float) -> None:
        """One that stops with another one, or after so many seconds."""
    def request(self) -> None: ...
    def requested(self) -> bool: ...
    def set_deadline(self, monotonic_seconds: float) -> None: ...
    def deadline(self) -> float: ...
    def stopped(self) -> bool: ...

# distances.cpp

class Distances:
    """What the distances of an instance come from; keeps the array that it was made of."""

    @staticmethod
    def of_points(kind: int, points: NDArray[np.float64]) -> Distances:
        """Points of the metric of this number."""
    @staticmethod
    def of_matrix(matrix: NDArray[np.int32] | NDArray[np.float64]) -> Distances: ...

def build_info() -> dict[str, str]:
    """How this module was built: compiler, instruction set that it was compiled for, sanitizers."""

# geometry.cpp: None where the token stopped it.

def candidate_lists(
    points: NDArray[np.float64],
    count: int,
    per_quadrant: int,
    norm: int,
    sphere: bool,
    threads: int,
    token: StopToken,
) -> NDArray[np.int32] | None: ...
def candidate_lists_matrix(
    matrix: NDArray[np.int32] | NDArray[np.float64], count: int, covers: int, threads: int, token: StopToken
) -> NDArray[np.int32] | None: ...
def tight_groups(
    lists: NDArray[np.int32], lengths: NDArray[np.float64], ratio: float, token: StopToken
) -> tuple[NDArray[np.int32], NDArray[np.int32]] | None: ...
def space_filling_curve(
    points: NDArray[np.float64], kind: str, token: StopToken, sphere: bool = False, threads: int = 1
) -> NDArray[np.int32] | None: ...
def greedy_edge(
    points: NDArray[np.float64],
    metric: int,
    norm: int,
    fixed_edges: NDArray[np.int32],
    threads: int,
    token: StopToken,
    tiles: int = 1,
) -> NDArray[np.int32] | None: ...
def greedy_edge_matrix(
    matrix: NDArray[np.int32] | NDArray[np.float64],
    fixed_edges: NDArray[np.int32],
    threads: int,
    token: StopToken,
) -> NDArray[np.int32] | None: ...
def nearest_neighbor(
    points: NDArray[np.float64],
    start: int,
    norm: int,
    fixed_edges: NDArray[np.int32],
    threads: int,
    token: StopToken,
) -> NDArray[np.int32] | None: ...
def nearest_neighbor_matrix(
    matrix: NDArray[np.int32] | NDArray[np.float64],
    start: int,
    fixed_edges: NDArray[np.int32],
    token: StopToken,
) -> NDArray[np.int32] | None: ...
def random_tour(n: int, seed: int, token: StopToken) -> NDArray[np.int32] | None: ...
def keep_fixed_edges(
    order: NDArray[np.int32], fixed_edges: NDArray[np.int32], token: StopToken
) -> NDArray[np.int32] | None: ...

class TourCut:
    """A tour cut into parts that are improved elsewhere; see native/lk/tour_cut.h."""

    @staticmethod
    def stretches(
        tour: NDArray[np.int32],
        parts: int,
        rotation: int,
        fixed: NDArray[np.int32],
        threads: int,
        token: StopToken,
    ) -> TourCut | None: ...
    @staticmethod
    def boxes(
        points: NDArray[np.float64],
        tour: NDArray[np.int32],
        parts: int,
        seed: int,
        rotation: int,
        fixed: NDArray[np.int32],
        threads: int,
        token: StopToken,
    ) -> TourCut | None: ...
    @property
    def parts(self) -> int: ...
    @property
    def paths(self) -> int: ...
    def size(self, part: int) -> int: ...
    def cities(self, part: int) -> NDArray[np.int32]: ...
    def path_begin(self, part: int) -> NDArray[np.int32]: ...
    def put(self, part: int, order: NDArray[np.int32]) -> str: ...
    def ends(self) -> NDArray[np.int32]: ...
    def link(
        self,
        order: NDArray[np.int32],
        points: NDArray[np.float64],
        kind: int,
        threads: int,
        token: StopToken,
    ) -> tuple[NDArray[np.int32] | None, int] | None: ...

class PathGraph:
    """Makes tours of the paths that the blobs of a round hand over; see native/lk/path_graph.h."""

    def __init__(
        self,
        *,
        distances: Distances,
        row: NDArray[np.int32],
        fixed: NDArray[np.int32],
    ) -> None: ...
    def arrange(
        self, paths: NDArray[np.int32], begin: NDArray[np.int32], places: NDArray[np.int32], threads: int
    ) -> int: ...

def takes_each_once(tour: NDArray[np.int32], threads: int) -> bool: ...
def edge_sums(
    points: NDArray[np.float64], cities: NDArray[np.int32], kind: int, threads: int
) -> NDArray[np.float64] | None: ...
def merge_tours(
    *,
    orders: NDArray[np.int32],
    lengths: NDArray[np.float64],
    seed: int,
    threads: int,
    token: StopToken,
) -> NDArray[np.int32]: ...
def choose_joins(joins: NDArray[np.uint8]) -> tuple[NDArray[np.int32], NDArray[np.int32]]: ...
def random_fragments(
    *,
    candidates: NDArray[np.int32],
    first: int,
    count: int,
    seed: int,
    round: int,
    threads: int,
    token: StopToken,
) -> NDArray[np.int32]: ...

class HillClimbers:
    """Random-restart 2-opt on CPU threads; see native/exhaustive/hill_climbing.h."""

    def __init__(
        self,
        *,
        distances: Distances,
        rounded: bool,
        tolerance: float,
        scale: float,
        near: NDArray[np.float32],
    ) -> None: ...
    def climb(
        self,
        *,
        seed: int,
        first: int,
        count: int,
        threads: int,
        given: NDArray[np.int32] | None,
        perturbed: bool,
        token: StopToken,
    ) -> tuple[NDArray[np.int64], int, NDArray[np.int32]]:
        """Lengths times `scale` (-1: stopped on its way), the best climber (-1: none), and its tour."""
    @property
    def climbers(self) -> int: ...
    @property
    def passes(self) -> int: ...
    @property
    def moves(self) -> int: ...

class TourSearch:
    """One tour and the Lin-Kernighan search that shortens it; see native/lk/tour_search.h."""

    @staticmethod
    def create(
        *,
        distances: Distances,
        small_integers: bool,
        dummy: bool,
        candidates: NDArray[np.int32],
        tour: NDArray[np.int32],
        fixed_edges: NDArray[np.int32] | None,
        tolerance: float,
        depth: int,
        breadth: list[int],
        segment: int,
        walks: float,
        walk: int,
        long_links: float,
    ) -> TourSearch: ...
    def optimize(self, seconds: float, token: StopToken) -> bool:
        """Local search from every city, for so long at a time; True when it is complete or stopped."""
    def kicks(self, count: int, temperature: float, seed: int, round: int, token: StopToken) -> None: ...
    def prove(self, trees: int, token: StopToken) -> bool:
        """Make the best tour optimal; False if that takes more 1-trees, or the token said stop."""
    def begin_round(
        self,
        *,
        parts: int,
        boxes: bool,
        optimize: bool,
        kicks: int,
        temperature: float,
        last_temperature: float,
        seed: int,
        round: int,
        threads: int,
        repeatable: bool,
        token: StopToken,
    ) -> None: ...
    def proceed(self, seconds: float, token: StopToken) -> bool:
        """Improve the parts, for so long at a time; True when the round is complete or stopped."""
    def end_round(self) -> None: ...
    def grow(
        self,
        *,
        count: int,
        kicks_per_city: float,
        temperature: float,
        steps: int,
        seed: int,
        round: int,
        threads: int,
        token: StopToken,
    ) -> None: ...
    def generation(
        self, *, selection: int, blocks: bool, seed: int, round: int, threads: int, token: StopToken
    ) -> None: ...
    def keep(self) -> None: ...
    def add(self, tours: NDArray[np.int32], threads: int) -> None: ...
    def keep_members(self, count: int) -> None: ...
    def forget(self) -> None: ...
    @property
    def members(self) -> int: ...
    @property
    def mean_length(self) -> float: ...
    def return_to_best(self) -> None: ...
    def go_on_from(self, tour: NDArray[np.int32]) -> None: ...
    @property
    def length(self) -> float: ...
    @property
    def best_length(self) -> float: ...
    def best(self) -> NDArray[np.int32]: ...
    def counters(self) -> dict[str, int]: ...

class PopulationRun:
    """Populations from the first member to the end; see native/lk/population_run.h."""

    @staticmethod
    def create(
        *,
        search: TourSearch,
        members: int,
        at_once: int,
        selection: int,
        idle: int,
        agreeing: int,
        most: int,
    ) -> PopulationRun: ...
    def proceed(
        self, seconds: float, seed: int, round: int, threads: int, token: StopToken
    ) -> tuple[bool, int]:
        """Grow some members, or make a generation, and more for so long.

        Returns whether the last population has come to its end, and how many rounds this took.
        """

def search_batch(
    *,
    points: NDArray[np.float64] | None,
    int_matrices: NDArray[np.int32] | None,
    real_matrices: NDArray[np.float64] | None,
    metric: int,
    norm: int,
    small_integers: bool,
    tolerances: NDArray[np.float64],
    seeds: NDArray[np.uint64],
    candidates: int,
    per_quadrant: int,
    depth: int,
    breadth: tuple[int, ...],
    segment: int,
    walks: float,
    walk: int,
    long_links: float,
    trees: int,
    members: int,
    at_once: int,
    selection: int,
    idle: int,
    agreeing: int,
    most: int,
    kicks: int,
    step: int,
    start: float,
    cold: float,
    token: StopToken,
) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.float64], NDArray[np.int32]]:
    """Tours of many instances of equally many cities: tours, kicks, seconds and how each ended."""

# small.cpp

def optimal_tours(
    distances: NDArray[np.int64] | NDArray[np.float64],
    token: StopToken,
    *,
    open: bool = False,
    start: int = -1,
    end: int = -1,
    fixed_edges: NDArray[np.int32] | None = None,
    directed: bool = False,
) -> NDArray[np.int32] | None:
    """An optimal tour of each matrix, closed ones from city 0 on; None if stopped."""

def shorter_tours(
    distances: NDArray[np.int64] | NDArray[np.float64],
    lengths: NDArray[np.int64] | NDArray[np.float64],
    steps: int,
    *,
    open: bool = False,
    start: int = -1,
    end: int = -1,
    fixed_edges: NDArray[np.int32] | None = None,
    directed: bool = False,
) -> NDArray[np.int32]:
    """Which matrices have a tour that is shorter than their length: 1 where there is one, else 0."""

# neighbor_search.cpp

class NeighborSearch:
    """Tours and the local search along neighbour lists; see native/neighbor/neighbor_search.h."""

    @staticmethod
    def create(
        *,
        distances: Distances,
        neighbors: NDArray[np.int32],
        tour: NDArray[np.int32],
        fixed_edges: NDArray[np.int32],
        tolerance: float,
        three: bool,
        next_only: bool,
        token: StopToken,
    ) -> NeighborSearch: ...
    def descend(
        self, *, best: bool, many: bool, passes: int, threads: int, seconds: float, token: StopToken
    ) -> bool:
        """Moves for so many seconds; True at a local optimum, or after so many passes."""
    def iterate(
        self,
        *,
        chains: int,
        count: int,
        always: bool,
        temperature: float,
        cold: int,
        segment: int,
        seed: int,
        threads: int,
        seconds: float,
        best: bool,
        whole: bool,
        token: StopToken,
    ) -> bool:
        """Kicks in every chain for so many seconds; True when each has made `count` in all."""
    def return_to_best(self) -> None:
        """Let the next descent begin with the best tour of all chains."""
    @property
    def best_length(self) -> float: ...
    def best(self) -> NDArray[np.int32]: ...
    def neighbors(self) -> NDArray[np.int32]:
        """The lists, sorted by distance."""
    def counters(self) -> dict[str, int]: ...

# directed.cpp

class DirectedSearch:
    """A directed tour, and the search that shortens it; see native/directed/search.h.

    Lengths are those of distances times `scale`, rounded; integers are not scaled.
    """

    @staticmethod
    def create(
        matrix: NDArray[np.int32] | NDArray[np.float64],
        *,
        scale: float,
        wall: float | None = None,
        seed: int,
        threads: int,
    ) -> DirectedSearch:
        """Begin a search; arcs of the length `wall`, before scaling, are missing."""
    def assign(self, seconds: float, token: StopToken) -> bool:
        """Solve the assignment problem; False if it took longer, or the token stopped it."""
    def prepare(self, token: StopToken) -> bool:
        """Find the arcs that are considered; False if the token stopped it."""
    def patch(self, token: StopToken) -> NDArray[np.int32]:
        """Return the tour that the assignment is patched to."""
    def set_tour(self, tour: NDArray[np.int32]) -> None: ...
    def optimize(self, seconds: float, token: StopToken) -> bool:
        """Local search for so many seconds; True when it is complete or the token said stop."""
    def kicks(self, count: int, token: StopToken) -> None: ...
    def grow(self, *, count: int, kicks: int, seed: int, round: int, token: StopToken) -> None: ...
    def generation(self, *, children: int, blocks: bool, seed: int, round: int, token: StopToken) -> int:
        """One generation of crossover; returns how many tours were replaced."""
    def keep(self) -> None: ...
    def forget(self) -> None: ...
    def return_to_best(self) -> None: ...
    def open_arcs(self, token: StopToken) -> int:
        """How many arcs can be in a shorter tour than the best one."""
    def begin_branching(self, arcs: int, token: StopToken) -> None: ...
    def branch(self, *, nodes: int, leaves: int, seconds: float, token: StopToken) -> bool:
        """Go on with branch and bound; True when nothing is left to do."""
    def end_branching(self) -> None: ...
    @property
    def members(self) -> int: ...
    @property
    def mean_length(self) -> float: ...
    @property
    def proved(self) -> bool: ...
    @property
    def impossible(self) -> bool:
        """Whether every tour has a missing arc."""
    @property
    def bound(self) -> int: ...
    @property
    def best_length(self) -> int: ...
    def best(self) -> NDArray[np.int32]: ...
    def counters(self) -> dict[str, int]: ...

# tsplib.cpp and dimacs.cpp

def parse_numbers(text: bytes, begin: int, expected: int) -> tuple[NDArray[np.float64], int]:
    """Numbers of `text` from byte `begin` to the first token that is none, and where that token starts."""

def parse_table(text: bytes, begin: int, columns: int, delimiter: str) -> tuple[NDArray[np.float64], int]:
    """Rows of `columns` numbers from byte `begin` on, and where the first line starts that is none."""

def format_integers(rows: NDArray[np.int64]) -> bytes:
    """Lines of integers separated by blanks."""

def dimacs_uniform(n: int, seed: int) -> NDArray[np.float64]:
    """Coordinates of a uniform instance of the DIMACS challenge, shape (n, 2)."""

def dimacs_clustered(n: int, seed: int) -> NDArray[np.float64]:
    """Coordinates of a clustered instance of the DIMACS challenge, shape (n, 2)."""

# descent.cpp

class Descent:
    """One tour, and best-improvement descent in neighborhoods: 0 2-opt, 1 3-opt, 2 swap, 3 relocate."""

    @staticmethod
    def create(
        *,
        neighborhoods: list[int],
        distances: Distances,
        dummy: bool,
        tour: NDArray[np.int32],
        fixed_edges: NDArray[np.int32],
        tolerance: float,
        threads: int,
        kept: list[int],
        before: list[tuple[int, int]],
        pruned: bool = False,
    ) -> Descent: ...
    def proceed(self, seconds: float, passes: int, token: StopToken) -> bool: ...
    @property
    def length(self) -> float: ...
    def tour(self) -> NDArray[np.int32]: ...
    def counters(self) -> dict[str, int]: ...

def pairs_of(numbers: NDArray[np.uint64]) -> NDArray[np.int32]: ...
def triples_of(numbers: NDArray[np.uint64]) -> NDArray[np.int32]: ...
def swaps_of(numbers: NDArray[np.uint64], n: int) -> NDArray[np.int32]: ...
def relocations_of(numbers: NDArray[np.uint64], n: int) -> NDArray[np.int32]: ...

# symmetric.cpp

class SymmetricTours:
    """Tours of one instance, and symmetrical moves that shorten them.

    The hardware's order has so many elements, up to a quarter of the cities; that of the threads 0. Triples
    are symmetrical 3-opt moves, of one chain. See native/symmetric/symmetric_search.h and triple_search.h.
    """

    @staticmethod
    def create(
        *,
        distances: Distances,
        elements: int,
        random: bool,
        triples: bool,
        fixed: NDArray[np.int32] | None,
        tolerance: float,
        planar: int,
        whole_edges: bool,
        center_x: float,
        center_y: float,
        scale: float,
        slack: float,
        place_error: float,
        circle: NDArray[np.int32],
        seed: int,
        chains: int,
    ) -> SymmetricTours: ...
    def descend(self, seconds: float, threads: int, token: StopToken) -> bool:
        """Descend for so long at a time; True when every tour is 2-optimal."""
    def anneal(
        self,
        temperature: float,
        factor: float,
        iterations: int,
        spent: int,
        steps: int,
        threads: int,
        token: StopToken,
    ) -> None: ...
    def cities(self, chain: int) -> NDArray[np.int32]: ...
    def lengths(self) -> NDArray[np.float64]: ...
    def counters(self) -> dict[str, int]: ...

# pictures.cpp: see native/pictures/raster.h. The transform is origin x, y, scale x, y, shift x, y.

def survey_edges(
    points: NDArray[np.float64],
    begins: NDArray[np.int32],
    ends: NDArray[np.int32],
    transform: tuple[float, ...],
    width: int,
    height: int,
    block: float,
    stride: int,
    token: StopToken,
) -> tuple[float, float] | None:
    """Pixels of line in the picture, and of the area that it is spread over; None if the token stopped it."""

def draw_edges(
    opacity: NDArray[np.uint8],
    points: NDArray[np.float64],
    begins: NDArray[np.int32],
    ends: NDArray[np.int32],
    transform: tuple[float, ...],
    line_width: float,
    stride: int,
    token: StopToken,
) -> bool:
    """Draw into a picture, shape (height, width); False if the token stopped it."""

# bound.cpp

class AscentSchedule(TypedDict):
    """native/bound/schedule.h"""

    nearest_edges: int
    min_spacing: float
    first_potential: float
    max_potential: int
    first_length: float
    momentum: float
    cluster_weight: float
    max_cluster_surplus: int
    leaves: int
    first_wait: int
    large_drop: float
    near_end: float
    pricing_share: float
    reach: float
    near_spacings: float
    max_edges: int

class HeldKarpBound(TypedDict):
    value: int
    exponent: int
    root: int
    rounds: int
    certified: bool
    edges: int
    potentials: NDArray[np.int32]

def held_karp(
    distances: Distances,
    norm: int,
    tour: NDArray[np.int32],
    fixed_edges: NDArray[np.int32],
    open: bool,
    start: int,
    end: int,
    further: NDArray[np.int32] | None,
    rounds: int,
    threads: int,
    token: StopToken,
) -> HeldKarpBound | None: ...
def tree_clusters(
    from_: NDArray[np.int32],
    to: NDArray[np.int32],
    length: NDArray[np.int32],
    threads: int,
    token: StopToken,
) -> tuple[NDArray[np.int32], NDArray[np.int32]] | None: ...
def ascent_schedule() -> AscentSchedule: ...
def whole_exponent(longest: float, integral: bool) -> int: ...

# proof.cpp

SparseLines: TypeAlias = tuple[NDArray[np.float64], NDArray[np.int32], NDArray[np.int32], NDArray[np.float64]]
"""Costs of columns or lower limits of rows; where each begins; indices and values of all."""

CutDescription: TypeAlias = tuple[NDArray[np.int32], NDArray[np.int32], int, list[list[int]]]
"""The class of each city, lengths between classes, right side, and handle and teeth of a comb."""

def least_closed_walk(lengths: NDArray[np.int32]) -> int: ...

class Cuts:
    """Cuts of one relaxation, for others."""

class Relaxation:
    """A linear relaxation of closed tours that grows by edges and cuts."""

    def __init__(
        self, lengths: NDArray[np.int64], tour: NDArray[np.int32], seed: int, token: StopToken
    ) -> None: ...
    def fork(self, number: int) -> Relaxation: ...
    def new_cuts(self) -> Cuts: ...
    def learn(self, cuts: Cuts) -> None: ...
    @property
    def columns(self) -> int: ...
    @property
    def rows(self) -> int: ...
    @property
    def ends(self) -> NDArray[np.int32]: ...
    @property
    def ids(self) -> NDArray[np.int64]: ...
    def undecided_sets(self, solution: NDArray[np.float64], most: int) -> list[list[int]]: ...
    def set_tour(self, tour: NDArray[np.int32]) -> None: ...
    def add_columns(self, pairs: NDArray[np.int32]) -> SparseLines: ...
    def drop_columns(self, columns: NDArray[np.int32]) -> None: ...
    def set_column_bounds(self, columns: NDArray[np.int32], lower: int, upper: int) -> None: ...
    def take_cuts(self, most: int) -> SparseLines: ...
    def pin_subtour(self, cities: NDArray[np.int32]) -> SparseLines: ...
    def restore_cut(
        self, class_of: NDArray[np.int32], lengths: NDArray[np.int32], bound: int, comb: list[list[int]]
    ) -> SparseLines: ...
    def adopt(
        self, class_of: NDArray[np.int32], lengths: NDArray[np.int32], bound: int, comb: list[list[int]]
    ) -> None: ...
    def release(self, row: int) -> None: ...
    def set_row_bounds(self, row: int, lower: int, upper: int) -> None: ...
    def drop_idle(
        self, prices: NDArray[np.float64], activity: NDArray[np.float64], rounds: int
    ) -> NDArray[np.int32]: ...
    def begin_rounds(self) -> None: ...
    def separate(
        self,
        solution: NDArray[np.float64],
        activity: NDArray[np.float64],
        effort: int,
        threads: int,
        token: StopToken,
    ) -> tuple[int, int, int, int, int]: ...
    def price(self, prices: NDArray[np.float64], most: int) -> tuple[int | None, int, NDArray[np.int32]]: ...
    def survivors(self, slack: int, keep: bool) -> NDArray[np.int32]: ...
    def cut(self, row: int) -> CutDescription: ...
    def whole_prices(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]: ...
