"""The tuned numbers of the main solver: first those of its search on CPU threads, then those on GPUs.

Each has its measurement or its reason beside it; the log, docs/performance/log.md, has the runs. "Set" and a
date mean that the number was chosen then, and that no measurement of it alone is on record. What a user can
choose is in `params`, the law of annealing in `warptsp.methods.annealing`, and what depends on the kernels in
`warptsp.backends.cuda.tuning`.
"""

from __future__ import annotations

from typing import NamedTuple

# Either search: populations (native/lk/population.h).
MEMBER_TEMPERATURE = 0.2  # of kicks of a member, in mean edges; set 2026-11-21
SELECTION = 10  # of so many children one is taken; set 2026-11-21
IDLE_GENERATIONS = 4  # without progress, after which a population is done; set 2026-11-21

# Either search: the long edges of a tour as a problem of their own (long_links.py).
LONG_SHARE = 0.1  # of all edges are long ones: C100k.0 2.73 to 2.31 % in 0.4 CPU s (log)
# Share of the tour's length that they have, from which it is worth it: E10k.0 has 0.20, C10k.0 0.37. The log
# has gaps with and without it.
UNEVEN = 0.28
CLUSTERED = 0.34  # the same of clusters: usa13509 has 0.32, C10k.0 0.40, C100k.0 0.37
MAX_LONG_EDGES = 100_000  # at once; set 2026-11-21
# Edges from which that share is estimated. On a GPU, ten million cities: 0.45 s when all were measured,
# 28 ms with 200 000, 2.5 ms with 50 000 (log).
SAMPLED_EDGES = 50_000
LONG_KICKS = 20_000  # set 2026-11-21
LONG_SLICE = 1000  # kicks between two looks at the token; set 2026-11-21
LONG_SET_UP = 3e-7  # seconds a city before the first kick; 0.52 s for 2 million
LONG_TIME_SHARE = 0.2  # of the time that is left for the whole search, at most; set 2026-11-21


class Kicks(NamedTuple):
    """Which edges a double bridge cuts: see `LkParams`."""

    segment: int
    walks: float
    walk: int
    long_links: float


KICKS = Kicks(50, 0.45, 10, 0.1)  # the log has what each kind is worth

# CPU threads.
SLICE = 1000  # kicks between two looks at the clock; set 2026-11-21
PAUSE = 0.25  # seconds between two reports of work on a long tour; set 2026-11-21
HAND_OVER = 3e-8  # seconds a city to write out the best tour and to let go of memory; set 2026-11-21
# Cities below which parts cost more than a second thread brings. E10k.0 at 5 kicks a city: one array
# 0.231 %, two parts 0.245, four 0.311 (log); smaller instances are not on record.
MIN_PARTED = 8_000
# Cities from which the share of the long edges is asked for.
MIN_UNEVEN = 8_000
# Cities below which kicks all over the tour reorder clusters, too. With 8000, usa13509 went from 0.11 to
# 0.15 % at 4 s; C31k.0 gains from it, 1.63 to 0.85 % (log).
MIN_LONG_EDGES = 20_000
# Kicks a city that go once through a part, as native/lk/subproblem.h has it. E316k.0 in rounds of 0.3 kicks a
# city 0.89 to 0.82 %, in rounds of 0.05 worse (log).
SWEEP = 0.3
FIRST_CYCLE = 4  # kicks a city in the first cycle without a horizon; set 2026-11-21
# Cities up to which a run without a limit ends by itself, after populations of quick members
# (native/lk/population_run.h). The largest size of the calibration: 500 uniform cities take 0.6 CPU s (log).
SETTLED_CITIES = 500
# Members between two reports, at most, and seconds of members and generations between them: a report takes
# 40 us. 200 cities after 10 ms, CPU time: half of it 0.089 %, 0.001 0.066, 0.002 0.065 (log).
MEMBERS_AT_ONCE, MOMENT = 10, 0.001
# Of the run's time so far, between two reports of crossover: new threads of two may share a processor for 4
# ms. 16 tours of 31 623 cities, two threads: a report after each generation 1.30 s by the clock, every 0.3
# s 0.94 (log).
REPORT_SHARE = 0.05
MOST_POPULATIONS = 8  # of a run without a limit


class Settling(NamedTuple):
    """The populations after which a run without a limit ends."""

    members: int
    agreeing: int
    most: int


def settling(n: int, *, of_matrix: bool) -> Settling:
    """Return the populations, which know nothing of each other, after which a run without a limit ends.

    Uniform instances, optimal and CPU ms: 50 cities (4000), two of 30 that agree 99.58 %, 2.8, three 99.85,
    4.2, four 99.90, 5.3, three of 40 99.92, 5.5. 100 cities (600): two of 40 99.0, 9.5, three 99.8, 14.
    200 cities: one of 200 95.8, 81, three of 60 99.2, 121. 500 cities (100): one of 150 87, 151, two 95.5,
    351, three 97.6, 513. Matrices and clusters, too, fare no worse (log).
    """
    members = min(n, 300) if of_matrix else 3 * n // 10
    return Settling(max(40, members), 4 if n <= 75 else 3, MOST_POPULATIONS)


FEW_CITIES = 200  # that batches search, on one thread each
# Of many problems on a GPU each is searched by annealings of so many kicks a city, until `gpu_agreeing` of
# them agree, and how many there are at most: the last problems of a launch search alone, so that 25 for 100
# cities take a fifth longer than 15, and find no more (log).
GPU_KICKS, GPU_MAX_ANNEALINGS = 2, 15
GPU_TEMPERATURES, GPU_KICKS_AT_ONE = 25, 10  # of an annealing, and at each of them at least
# Cities from which the kicks a city grow as the cities do: as on CPU threads until 2026-11-24.
GPU_EASY_CITIES, GPU_EASY_CITIES_OF_MATRIX = 50, 25
# Exchange steps of a move. 100 cities at 10 kicks a city: with 6, uniform 0.62 and clustered 0.29 of the time
# with 25, and no fewer optimal tours; with 3, fewer (log). Between 200 and some thousand cities not measured.
SHALLOW, DEEP = 6, 25


def gpu_agreeing(n: int) -> int:
    """Annealings that have to end with one length; of 100 cities 7 find 99.03 % of the optima, 8 99.20."""
    return 4 if n <= 30 else 6 if n <= 75 else 8


# Cities up to which a run without a limit proves its tour optimal, and 1-trees that the proof may take: with
# 1000, uniform 30 cities are proved in 82 instead of 91 of 100 instances, and take longer (log).
PROVABLE_CITIES, PROOF_TREES = 30, 2000

SECONDS_PER_ENTRY = 2e-8  # of a matrix, for lists that reach to all sides, on one thread
SPREAD_SHARE = 0.1  # of the time, at most, for such lists; set 2026-11-23

# Populations on CPU threads.
LARGEST_POPULATION = 300  # members at most, and of the first population on a GPU
# Members of a population after another one, in times that one's: with fewer, kicks are better. d18512 after
# 53 of 60 s, 139 members and 0.045 %: 13 members 0.044 in 4 s, then kicks 0.030 in 1.6 s (log).
NEXT_POPULATION = 0.5
# Between two of them, where the longest links carry more than UNEVEN of the tour, kicks for so much of the
# horizon, and again as long as they gain so much.
GAINING_SHARE, GAINING = 0.04, 1e-4


class Members(NamedTuple):
    """The members of a population, and the time that they and their crossover take."""

    kicks: float  # of a member, a city
    later: float  # the same in later populations, which the best tour joins at their end; 0: as before
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


# Kicks: E1k.0 at 1.2 s: 100 members with 0.1 end at 0 to 0.009 %, 40 with 0.4 at 0.009 to 0.038; fnl4461 at
# 3 s 0.017 %, with 0.05 it is 0.030. Least, together with fewer kicks for such members: pr1002 at 0.12 s 0.28
# to 0.15 %, fnl4461 at 0.6 s 0.14 to 0.13 %. Up to MAX_QUICK cities with a limit on kicks.
FULL_MEMBERS = Members(0.1, 0.0, 0, 7, 100, 20, 20, 2.5, 0.12, 0.6, 0.0, 1.0)
# Up to so many cities, if there is no limit on kicks. Uniform cities, CPU ms, kicks or full members before,
# and now: 200 cities 4 ms 0.229 to 0.111 %, 8 ms 0.118 to 0.036; 1000 cities 9 ms 0.740 to 0.702, 18 ms
# 0.518 to 0.364, 95 ms 0.114 to 0.053, 1 s 0.009 to 0.002; 5000 cities 3 s 0.01 points
# better, 10 000 no better (log).
# Steps: with 3, 4, 5, 6, 10 1000 cities after 18 ms 0.424, 0.406, 0.397, 0.364, 0.378 %. Selection: 10
# needs twice the generations, and time for them. Crossing: 0.4 at 200 cities, 0.7 at 1000, 1.3 at 5000.
# Later: fl417 at 0.4 s, eight seeds, 0.26 %, with 0.2 and 0.5 kicks 0.16; uniform cities no worse (log).
# More have light ones: fnl4461 at 0.2, 0.6, 1.5, 3 s with quick ones 0.334, 0.067, 0.026, 0.0002 %, with
# light ones 0.259, 0.047, 0.012, 0.0007; pr2392 and E3k.0 no better (log).
MAX_QUICK = 3_000
QUICK_MEMBERS = Members(0.0, 0.2, 6, 2, 200, 5, SELECTION, 0.5, 0.7, 0.37, 0.0, 1.0)
# Beyond MAX_QUICK. E31k.0, CPU s of members of 3 steps and crossover, and gap: one of 10 children, 60 members
# 10 and 0.044 %, 110 18 and 0.020; one of 20, 40 members 9 and 0.041, 60 14 and 0.019, 110 26 and 0.005; one
# of 40, 60 members 22 and 0.013. Steps, with one child of 20 and as many members as there is time for: E10k.0
# at 1 s 3, 6, 10, 15, 25 steps 0.139, 0.106, 0.103, 0.101, 0.096 %, E31k.0 at 4 s 0.121, 0.117, 0.113, 0.118,
# 0.114, E100k.0 at 12 s 0.192, 0.163, 0.168, 0.162, 0.165, C31k.0 at 6 s 0.40, 0.42, 0.53, -, 0.38; crossing
# of 1.2, 1.75, 2.4, 3.2 times the growth: E10k.0 0.136, 0.111, 0.130, 0.170, E31k.0 0.117, 0.117, 0.133,
# 0.164, E100k.0 0.168, 0.163, 0.189, 0.225. Least: members, and gaps of annealing and of populations: E10k.0
# 0.3 s 6, 0.604 and 0.536; E31k.0 1 s 4, 0.593 and 0.622, 1.5 s 6, 0.470 and 0.437; E100k.0 3 s 3, 0.680 and
# 0.707, 5 s 6, 0.519 and 0.471; E1M.0 on two threads at 60 s 9, 0.369 and 0.309. Travel of 10 000 strokes in
# 5 CPU s, members with kicks (at least 40, else annealing) and these: hatching 11 907 and 11 660, segments
# 46 386 and 46 248 (log).
LIGHT_MEMBERS = Members(0.0, 0.0, 6, 6, LARGEST_POPULATION, 20, 20, 0.45, 1.5, 0.146, 0.146, 0.25)
# In clusters crossover ends sooner. 1.75 and 1.3 and 0.9 times the growth: C10k.0 at 5 s 0.138, 0.048,
# 0.036 %, C31k.0 at 15 s 0.088, 0.101, 0.086, C100k.0 at 20 s 0.604, 0.576, 0.509, but usa13509 at 5 s 0.015,
# 0.023, 0.146 (log).
MEMBERS_IN_CLUSTERS = LIGHT_MEMBERS._replace(crossing=0.95)
# Cities from which many threads wait for memory while members grow, and how the share of crossover goes with
# the threads beyond two: 16 members of E1M.0 took a thread 2 us a city, and each of 16 threads 5.5. In runs
# of 60 and 200 s on 16 threads crossover took 0.52 and 0.48 of what it was taken for, on two 0.88. With
# threads^-0.2 from 30 000 cities on two threads were no better, E100k.0 at 12 s, three seeds, 0.086 and
# 0.094 % (log).
CROWDED_CITIES, CROSSING_OF_THREADS = 300_000, -0.2
# What members may take of the memory that there is; bytes a city of a member, of crossover, and of each of
# its threads.
MEMORY_SHARE = 0.4
MEMBER_BYTES, CROSSING_BYTES, CROSSING_BYTES_OF_THREAD = 24, 72, 40
# With a limit on kicks: up to so many cities times members.
MAX_MEMBER_CITIES = 100_000_000
# The horizon of crossover, in times that it takes if time is short, from which the usual selection is better:
# 1000 cities at 1 s, 200 members: 0.0058 % where one of 5 children is taken, 0.0019 where one of 10 is (log).
LEISURE = 2.0

# GPUs; an H200 and its CPU, where nothing else is said.
# Cities from which "auto" takes a GPU: with so many and one second it is better than one thread, and with two
# seconds no worse than 16 (docs/performance/device_choice.md).
MIN_GPU_CITIES = 5_000
MIN_CITIES_OF_GPUS = 1_500_000  # from which a round fills more than one GPU; set 2026-11-21
# Seconds that opening a GPU and loading kernels may take in a new process; an H200 took 0.3
# (docs/performance/gpu.md). Set 2026-11-21.
GPU_STARTING = 2.0
# Cities up to which the CPU makes a start tour while kernels are compiled: more take longer than that, and
# 250 bytes each. Not measured.
GPU_MAX_START = 20_000_000
GPU_HAND_OVER = 1e-8  # seconds a city to write out the best tour and to let go of memory; set 2026-11-21
# The same where the GPU turns and numbers the tour: ten million cities 0.063 s on the host, 0.014 on the GPU
# and 0.004 into touched memory (log).
GPU_PLANE_HAND_OVER = 2e-9
# Rounds of local search before the first kicks. Ten million cities, with 2, 3, 4 and 6 rounds and equal wall
# time: 1.13, 1.11, 1.10, 1.07 % (log).
GPU_SWEEPS = 6
# For one tour; members, which have few, have the others. Kicks at long edges cost twice as much, and are
# worth it: E1M.0 annealed for 6 s with none of them 0.294 %, a tenth 0.261; hotter and in longer rounds 0.4
# 0.239, 0.7 0.254; with segments of 100, walks of 20 steps and a lower MAX_WORK, too, 0.225. The same of
# members: E1M.0 at 10 s 0.165 and 0.164 (log).
GPU_KICKS_OF_TOUR = Kicks(100, 0.35, 20, 0.4)
# Start temperature: so much above the law of CPU threads (less below so many kicks a city, where it was not
# measured), and the maximum. With these kicks, E1M.0: 2 s, 0.55, 0.7, 0.9 0.374, 0.370, 0.386 %; 6 s, 0.5,
# 0.55, 0.6 0.231, 0.225, 0.229; 20 s, 0.5, 0.55, 0.65 0.149, 0.148, 0.148. E10M.0, 12 kicks a city, 0.3 and
# 0.51 0.495, 0.470 (log).
GPU_HOTTER, GPU_HOTTER_FROM, GPU_HOTTEST = 0.2, 10.0, 0.58
# Kicks a city in a round: at most, with a limit on kicks; at least, with a limit on time. E10M.0 at 15 s with
# 0.15 and 0.3 0.336 and 0.344 % (log).
GPU_KICKS_A_ROUND, GPU_KICKS_A_SHORT_ROUND = 0.3, 0.15
# With a limit on time rounds are so long that this share of it is spent outside the kernel. E1M.0 at 6 s with
# rounds of 0.2, 0.3, 0.5, 1 kicks 0.263, 0.261, 0.254, 0.248 %, and 18, 14, 9, 6 % outside (log).
GPU_BESIDE_KERNEL = 0.05
# But seams should move, and the temperature fall in small steps. Rounds of 0.5, 0.3, 0.25, 0.2, 0.15 kicks a
# city in 0.94 s, ten million cities: 1.17, 1.10, 1.09, 1.05, 1.02 %; of 1 and 0.5 kicks, a million in 2 s, 22
# and 45 rounds: 0.374, 0.362 (log).
GPU_MIN_KICKS, GPU_MIN_ROUNDS = 0.1, 30
GPU_FIRST_CYCLE = 20  # kicks a city in the first cycle without a horizon; set 2026-11-21
# Share of the horizon for annealing before the first population: C10k.0 at 1 s 7.7 to 0.056 %, C100k.0 at
# 10 s 2.7 to 0.33, together with the cut of populations to what their first generation shows; C100k.0 at 3 s,
# three seeds, a tenth 0.548, 0.486, 0.450, a twentieth 0.458, 0.401, 0.437 (log). 0.03 was not tried alone.
GPU_FIRST_SHARE = 0.03
GPU_LONG_EDGES_AT = (0.0, 0.35, 0.7)  # progress at which the long edges have their search; set 2026-11-21
GPU_MIN_LONG_EDGES = 5_000  # cities below which parts see enough of the instance; set 2026-11-21

# Populations on GPUs.
# Cities times members, 24 bytes each on the host.
GPU_MAX_MEMBER_CITIES = 500_000_000
GPU_MAX_OF_MATRIX = 12_000  # cities; the CPU's copy of a matrix takes 8 bytes an entry at most, 1.2 GB
GPU_MIN_MEMBERS = 12  # with time for fewer, annealing is better; set 2026-11-21
GPU_MEMBER_SWEEPS = 4  # rounds of local search of a new member; set 2026-11-21
GPU_MEMBER_KICKS_A_ROUND = 0.3  # a city; as for one tour, not measured for members
GPU_KICKS_FOR_MEMBER = 2.0  # a city, that a limit on kicks grants a member and its crossover; set 2026-11-21
# Generations after which the best member, which the GPU kicks while CPU threads cross them all, joins the
# others. E1M.0 at 10 s, two seeds: without 0.161, 0.153 %, after two or three 0.141, 0.139; after six, three
# seeds on another GPU, 0.141, 0.140, 0.140 (docs/performance/gpu_search.md). A driver on a CPU, to the end of
# crossover: without, after each, 4, 6, 10 generations 16 members 0.184, 0.225, 0.150, 0.130, 0.121 %, 36
# members 0.050, 0.085, 0.041, 0.040, 0.041 (log).
GPU_POLISH = 6
# Seconds a city, for plans; an H100 and its 16 threads. Of the GPU: local search of a member, and each kick
# a city. E1M.0, 32 members of 3, 6, 12 kicks: 5.2, 9.1, 16.7 s (log).
GPU_GROWTH, GPU_KICK = 0.45e-7, 0.4e-7
# Of a CPU thread: a tour's share of all generations, for 100 000 cities, and how it grows with them: 64 of
# E100k.0 6.7e-6, 16 of E1M.0 7.5e-6, 16 of E10M.0 9.6e-6 (log).
GPU_CROSSING, GPU_CROSSING_POWER = 6.2e-6, 0.1
# Share of that for the smallest populations, to which kicks are worth more than the end of crossover. E1M.0
# at 10 s, two seeds, 3.0 kicks and 0.9 0.177 and 0.178 %, 4.9 kicks and 0.75 0.166 and 0.172; 4.4 kicks and
# 0.8, three seeds, another machine, 0.162, 0.167, 0.169; 5.0 and 0.75 on a slower one 0.180, 0.188, 0.209
# (log).
GPU_HURRIED_CROSSING = 0.8
# Where the longest links carry more than UNEVEN of the tour, in times of that: C100k.0, 16 and 32 tours 3.1
# and 2.9e-6. But at 3 s, three seeds, plans with 0.5 did not end, 0.508, 0.521, 0.371 %; with 0.7 0.488,
# 0.445, 0.476 (log).
GPU_UNEVEN_CROSSING = 0.7
# Time for growth, in times of that for crossover. d18512, from 16 to 300 members with 0.3 to 10 kicks a city:
# the gap is flat around equal shares (log).
GPU_BALANCE = 0.6
# A city. 16 members of E31k.0, of 0.3, 1, 3 kicks of a CPU thread: 0.116, 0.078, 0.052 % (log).
GPU_MIN_MEMBER_KICKS, GPU_MAX_MEMBER_KICKS = 1.0, 30.0
# Of so many children one is taken: 16 members of E31k.0 as good as a GPU's, one of 4, 10, 14 0.88, 1.14,
# 1.15 CPU s and 0.139, 0.128, 0.113 %; 32, one of 4 2.23 and 0.047. One of so many times as many at most
# where there is time for it: 300 light members of E10k.0, one of 10, 20, 40 7.6, 11.8, 20.9 CPU s and
# 0.0044, 0.0029, 0.0019 %; 600, one of 20 25.3 and 0.0029 (log).
GPU_SELECTION, GPU_LEISURE = 5, 6.0
# Generations after a few, if these have left so much of the members' spread, take at least so many times what
# these took.
GPU_FEW_GENERATIONS, GPU_WIDE, GPU_LATER_GENERATIONS = 12, 0.25, 3.0

# Distances with a direction (lk/directed.py), on CPU threads. Set 2026-11-23, unless there is a figure.
ASSIGNMENT_SHARE = 0.4  # of the time; no class of benchmarks/asymmetric.py takes 1 s at 3162 cities
# Nearly symmetric: the symmetric search on the mean first (lk/mean.py). 1000 cities, 5 s, the directed search
# alone and that: each entry up to 20 % longer (asymmetry 0.03) -0.9 %, 50 % (0.07) -0.6 %, 100 % (0.14)
# -0.06 %, streets (0.23) +0.8 % (log).
MEAN_ASYMMETRY = 0.1
MEAN_SHARE = 0.8  # of the time
MEAN_CITIES = 200
DIRECTED_LEAST_KICKED = 8  # cities of a double bridge (native/directed/exchanges.h)
DIRECTED_PAUSE = 0.05  # seconds between two reports
DIRECTED_SLICE = 250  # kicks between two reports
DIRECTED_POPULATION = 30
# A city. Children are searched locally, so members may be poorer, and crossover gets more of the time.
# 10 CPU s, 12 members of 1 kick, 10 of 2, 20 of 0.5: street 3162, two seeds, 1477086, 1478583, 1478530;
# rtilt 3162, one seed, 62.69, 62.80, 62.87 million (log).
DIRECTED_KICKS_OF_MEMBER = 1.0
DIRECTED_MIN_POPULATION = 3
DESCENT_TO_MEMBER = 10.0  # seconds of a member, in those of the first local search
DIRECTED_CROSSING = 1.5  # time for the generations, in times that the growth takes
CHILDREN = 30  # of which one is taken
DIRECTED_IDLE = 5  # generations without progress
# Branch and bound: up to this gap to the assignment bound, or with so few arcs a city in a shorter tour. With
# a gap of 3 % some random matrices missed their optimum.
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
FINE = 1e-12  # rounding errors that make no difference to a length
