"""The tuned numbers of the main solver: first those of its search on CPU threads, then those on GPUs.

EXP-012 and the like are rows of benchmarks/experiments.jsonl, which have what was measured; a number without
one was chosen without a measurement of it alone. What a user can choose is in `params`, the law of annealing
in `warptsp.methods.annealing`, and what depends on the kernels in `warptsp.backends.cuda.tuning`.
"""

from typing import NamedTuple

from warptsp._native import Kicks, LkParams, PopulationPlan

# Either search: populations (native/lk/population.h); the rest are defaults of `PopulationPlan`.
MEMBER_TEMPERATURE = 0.2  # of kicks of a member, in mean edges

# Either search: the long edges of a tour as a problem of their own (long_links.py).
UNEVEN = 0.28  # share of the tour's length that they have, from which it is worth it (EXP-126, EXP-433)
CLUSTERED = 0.34  # the same of clusters (EXP-254)
SAMPLED_EDGES = 50_000  # from which that share is estimated (EXP-100, EXP-117)
LONG_KICKS = 20_000
LONG_SET_UP = 3e-7  # seconds a city before the first kick (EXP-434)
LONG_TIME_SHARE = 0.2  # of the time that is left for the whole search, at most


# CPU threads.
SLICE = 1000  # kicks between two looks at the clock
PAUSE = 0.25  # seconds between two reports of work on a long tour
HAND_OVER = 3e-8  # seconds a city to write out the best tour and to let go of memory
MIN_PARTED = 8_000  # cities below which parts cost more than a second thread brings (EXP-032)
MIN_UNEVEN = 1_000  # cities from which the share of the long edges is asked for (EXP-294, EXP-558)
MIN_LONG_EDGES = 20_000  # cities below which kicks all over the tour reorder clusters, too (EXP-126)
SWEEP = 0.3  # kicks a city that go once through a part, as native/lk/subproblem.h has it (EXP-029)
FIRST_CYCLE = 4  # kicks a city in the first cycle without a limit
# Cities up to which a run without a limit ends by itself, after populations of quick members
# (native/lk/tour_population.h): the largest size of the calibration (EXP-317).
SETTLED_CITIES = 500
# Members between two reports, at most, and seconds of members and generations between them (EXP-310).
MEMBERS_AT_ONCE, MOMENT = PopulationPlan().at_once, 0.001
# Of the run's time so far, between two reports of crossover: new threads of two may share a processor for 4
# ms (EXP-367).
REPORT_SHARE = 0.05
MOST_POPULATIONS = 8  # of a run without a limit


def settling(n: int, *, of_matrix: bool) -> PopulationPlan:
    """Return the populations, which know nothing of each other, after which a run without a limit ends.

    By the shares of optimal tours and the time of EXP-453, EXP-316 and EXP-317.
    """
    members = min(n, 300) if of_matrix else 3 * n // 10
    agreeing = 4 if n <= 75 else 3
    return PopulationPlan(members=max(40, members), agreeing=agreeing, most=MOST_POPULATIONS)


FEW_CITIES = 200  # that batches search, on one thread each
# Of many problems on a GPU each is searched by annealings of so many kicks a city, until `gpu_agreeing` of
# them agree, and how many there are at most: the last problems of a launch search alone (EXP-263).
GPU_KICKS, GPU_MAX_ANNEALINGS = 2, 15
GPU_TEMPERATURES, GPU_KICKS_AT_ONE = 25, 10  # of an annealing, and at each of them at least
GPU_EASY_CITIES, GPU_EASY_CITIES_OF_MATRIX = 50, 25  # from which the kicks a city grow as the cities do
# Exchange steps of a move (EXP-163). Between 200 and some thousand cities not measured.
SHALLOW, DEEP = 6, LkParams().depth


def gpu_agreeing(n: int) -> int:
    """Annealings that have to end with one length (EXP-263, EXP-454)."""
    return 4 if n <= 30 else 6 if n <= 75 else 8


# Cities up to which a run without a limit proves its tour optimal, and 1-trees that the proof may take
# (EXP-168).
PROVABLE_CITIES, PROOF_TREES = 30, 2000

SECONDS_PER_ENTRY = 2e-8  # of a matrix, for lists that reach to all sides, on one thread
SPREAD_SHARE = 0.1  # of the time, at most, for such lists

# Populations on CPU threads.
LARGEST_POPULATION = 300  # members at most, and of the first population on a GPU
# Members of a population after another one, in times that one's: with fewer, kicks are better (EXP-276).
NEXT_POPULATION = 0.5
# Members of a population, at least, that may end a run without a limit (EXP-507).
TELLING_MEMBERS = 100
# Between two of them, where the longest links carry more than UNEVEN of the tour, kicks for so much of the
# time or the kicks, and again as long as they gain so much (EXP-342).
GAINING_SHARE, GAINING = 0.04, 1e-4


class Members(NamedTuple):
    """The members of a population, and the time that they and their crossover take."""

    kicks: float  # of a member, a city
    later: float  # the same in later populations; 0: as before
    apart: int  # cities up to which the best tour joins these at their end, not at their beginning (EXP-506)
    steps: int  # of its moves, at most; 0: as the search makes them
    least: int  # that there must be time for; with fewer, annealing is better
    most: int  # unless the parameters say so
    selection: int  # of so many children one is taken, where time is short,
    leisurely: int  # and where it is not
    descents: float  # time for a member, in local searches of a greedy tour: a guess until the first is there
    crossing: float  # time for the generations of 1000 cities, in times that the growth took,
    crossing_power: float  # and how it grows with the cities,
    crossing_size: float  # and with the members, from 30 on
    granted: float  # kicks a city that a limit on kicks grants a member and its part of the crossover


# Up to MAX_QUICK cities with a limit on kicks: EXP-025, EXP-054, EXP-055.
FULL_MEMBERS = Members(0.1, 0.0, 0, 0, 7, 100, 20, 20, 2.5, 0.12, 0.6, 0.0, 1.0)
# Up to so many cities, if there is no limit on kicks: EXP-300, EXP-383 and EXP-435; steps: EXP-301; selection
# and crossing: EXP-436; later: EXP-321.
MAX_QUICK = 3_000
QUICK_MEMBERS = Members(0.0, 0.2, MAX_QUICK, 6, 2, 200, 5, 10, 0.5, 0.7, 0.37, 0.0, 1.0)
# Beyond MAX_QUICK. Selection: EXP-377, EXP-437; steps: EXP-376, EXP-377; crossing: EXP-377, EXP-378; least:
# EXP-375, EXP-438; among strokes: EXP-382.
LIGHT_MEMBERS = Members(0.0, 0.0, 20_000, 6, 6, LARGEST_POPULATION, 20, 20, 0.45, 1.5, 0.146, 0.146, 0.25)
MEMBERS_IN_CLUSTERS = LIGHT_MEMBERS._replace(crossing=0.95)  # where crossover ends sooner (EXP-439)
# Cities from which many threads wait for memory while members grow, and how the share of crossover goes with
# the threads beyond two (EXP-419).
CROWDED_CITIES, CROSSING_OF_THREADS = 300_000, -0.2
# What members may take of the memory that there is; bytes a city of a member, of crossover, and of each of
# its threads.
MEMORY_SHARE = 0.4
MEMBER_BYTES, CROSSING_BYTES, CROSSING_BYTES_OF_THREAD = 24, 72, 40
# With a limit on kicks: up to so many cities times members.
MAX_MEMBER_CITIES = 100_000_000
# The time for crossover, in times that it takes if time is short, from which the usual selection is better
# (EXP-440).
LEISURE = 2.0

# Seconds a city of a thread, in which the best member takes over what another one has better (EXP-537).
GATHERING = 1.5e-7

# Tight groups (tight_groups.py): how many times as long as the tree within one the way to others is at least,
# and how many there are at most, in times the cities (EXP-483).
GROUP_RATIO, MOST_GROUPS = 2.5, 0.5
# What their search takes of the time or the kicks, and at most, for each (EXP-484).
GROUPS_SHARE, SECONDS_OF_GROUP, KICKS_OF_GROUP = 0.5, 2.5e-3, 20
NEAR_IN_MATRIX = 10  # cities of a matrix, among which groups are found
# Of longer instances so many windows are looked at first, with about so many cities each (EXP-485).
GROUP_WINDOWS, CITIES_OF_WINDOW = 4, 5000

# GPUs; an H200 and its CPU, where nothing else is said.
# Cities from which "auto" takes a GPU: with so many and one second it is better than one thread, and with two
# seconds no worse than 16 (docs/performance/device_choice.md).
MIN_GPU_CITIES = 5_000
MIN_CITIES_OF_GPUS = 1_500_000  # from which a round fills more than one GPU
GPU_STARTING = 2.0  # seconds that opening a GPU and loading kernels may take in a new process (EXP-441)
# Cities up to which the CPU makes a start tour while kernels are compiled: more take longer than that, and
# 250 bytes each. Not measured.
GPU_MAX_START = 20_000_000
GPU_HAND_OVER = 1e-8  # seconds a city to write out the best tour and to let go of memory
GPU_PLANE_HAND_OVER = 2e-9  # the same where the GPU turns and numbers the tour (EXP-116)
GPU_SWEEPS = 6  # rounds of local search before the first kicks (EXP-123)
# For one tour; members, which have few, have the others (EXP-417). Kicks at long edges cost twice as much,
# and are worth it (EXP-412, EXP-413).
GPU_KICKS_OF_TOUR = Kicks(segment=100, walks=0.35, walk=20, long_links=0.4)
# Start temperature, in mean edges: so much above the law of CPU threads (less below so many kicks a city,
# where it was not measured), and the maximum (EXP-413, EXP-442).
GPU_HOTTER, GPU_HOTTER_FROM, GPU_HOTTEST = 0.2, 10.0, 0.58
# Kicks a city in a round: at most, with a limit on kicks; at least, with a limit on time (EXP-415).
GPU_KICKS_A_ROUND, GPU_KICKS_A_SHORT_ROUND = 0.3, 0.15
# With a limit on time rounds are so long that this share of it is spent outside the kernel (EXP-412,
# EXP-415),
GPU_BESIDE_KERNEL = 0.05
# but seams should move, and the temperature fall in small steps (EXP-124, EXP-443).
GPU_MIN_KICKS, GPU_MIN_ROUNDS = 0.1, 30
GPU_FIRST_CYCLE = 20  # kicks a city in the first cycle without a limit
# Share of the time or the kicks for annealing before the first population (EXP-045, EXP-393); not tried
# alone.
GPU_FIRST_SHARE = 0.03
GPU_LONG_EDGES_AT = (0.0, 0.35, 0.7)  # progress at which the long edges have their search
GPU_MIN_LONG_EDGES = 5_000  # cities below which parts see enough of the instance

# Populations on GPUs.
# Cities times members, 24 bytes each on the host.
GPU_MAX_MEMBER_CITIES = 500_000_000
GPU_MAX_OF_MATRIX = 12_000  # cities; the CPU's copy of a matrix takes 8 bytes an entry at most, 1.2 GB
GPU_MIN_MEMBERS = 12  # with time for fewer, annealing is better
GPU_MEMBER_SWEEPS = 4  # rounds of local search of a new member
GPU_MEMBER_KICKS_A_ROUND = 0.3  # a city; as for one tour, not measured for members
GPU_KICKS_FOR_MEMBER = 2.0  # a city, that a limit on kicks grants a member and its crossover
# Generations after which the best member, which the GPU kicks while CPU threads cross them all, joins the
# others (EXP-423, EXP-425, EXP-430).
GPU_POLISH = 6
# Seconds a city, for plans; an H100 and its 16 threads. Of the GPU: local search of a member, and each kick a
# city (EXP-392).
GPU_GROWTH, GPU_KICK = 0.45e-7, 0.4e-7
# Of a CPU thread: a tour's share of all generations, for 100 000 cities, and how it grows with them (EXP-409,
# EXP-444, EXP-561);
GPU_CROSSING, GPU_CROSSING_POWER = 6.2e-6, 0.025
# share of that for the smallest populations, to which kicks are worth more than the end of crossover
# (EXP-409, EXP-445).
GPU_HURRIED_CROSSING = 0.8
GPU_BALANCE = 0.6  # time for growth, in times of that for crossover: the gap is flat around it (EXP-044)
GPU_MIN_MEMBER_KICKS, GPU_MAX_MEMBER_KICKS = 1.0, 30.0  # a city (EXP-368)
# Of so many children one is taken, and of so many more for each further time that there is, up to so many
# times in all: one of 30; between clusters one of 12 in later populations (EXP-446, EXP-489, EXP-556,
# EXP-562).
GPU_SELECTION, GPU_SELECTION_OF_LEISURE = 5, 13
GPU_LEISURE, GPU_CLUSTERED_LATER_LEISURE = 2.95, 1.54
# With a limit on time alone members are kicked, at a temperature that falls from so many mean edges, so many
# kicks a city, and crossed again, one of so many children taken, which takes so much of what it took at
# first; as long as that shortens the best tour by such a share (EXP-562).
GPU_AGAIN_TEMPERATURE, GPU_AGAIN_KICKS, GPU_AGAIN_SELECTION = 0.8, 4.0, 20
GPU_AGAIN_CROSSING, GPU_AGAIN_GAIN = 0.3, 1e-6
# Generations after a few, if these have left so much of the members' spread, take at least so many times what
# these took.
GPU_FEW_GENERATIONS, GPU_WIDE, GPU_LATER_GENERATIONS = 12, 0.25, 3.0

# Distances with a direction (lk/directed.py), on CPU threads.
ASSIGNMENT_SHARE = 0.4  # of the time; no class of benchmarks/asymmetric.py takes 1 s at 3162 cities
# Nearly symmetric: the symmetric search on the mean first (lk/mean.py, EXP-180).
MEAN_ASYMMETRY = 0.1
MEAN_SHARE = 0.8  # of the time
MEAN_CITIES = 200
DIRECTED_LEAST_KICKED = 8  # cities of a double bridge (native/directed/exchanges.h)
DIRECTED_PAUSE = 0.05  # seconds between two reports
DIRECTED_SLICE = 250  # kicks between two reports
# Children are searched locally, so members may be poorer, and crossover gets more of the time (EXP-290).
DIRECTED_MEMBERS = Members(1.0, 0.0, 0, 0, 3, 30, 30, 30, 10.0, 1.5, 0.0, 0.0, 1.0)
# Branch and bound: up to this gap to the assignment bound, or with so few arcs a city in a shorter tour
# (EXP-447).
BRANCHING_GAP = 0.05
FEW_ARCS = 40
BRANCHING_ARCS = 12  # out of each city, where more are open
BRANCHING_LEAVES = 3  # tours that end such a pass
ALL_LEAVES = 2**31 - 1
BRANCHING_SHARE = 0.2  # of the time that is left
BRANCHING_SHARE_NEAR = 0.6  # where the gap is so small that it will most likely come to an end
NEAR = 0.02
BRANCHING_SECONDS = 5.0  # where nobody knows how much that is
NODES = 2**62
NODES_AT_ONCE = 25  # between two reports
KICKS_FOR_NODE = 5  # that take about as long
FINE = 0.9e-12  # rounding errors that make no difference to a length
