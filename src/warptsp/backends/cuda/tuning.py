"""The numbers of the GPU's searches that were tuned to a chip, in one table.

EXP-012 and the like are rows of benchmarks/experiments.jsonl, which have what was measured, on an H200
(compute capability 9.0) where they say nothing else; a number without one has no measurement of its own. The
numbers that the main solver's host decides by are in `warptsp.methods.lk.tuning`. What differs between chips
is in `ARCHITECTURES`. Numbers that the kernels also have are in `IN_KERNELS`, by their names there, and a
kernel with another value does not compile (`records.layout_checks`).
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Architecture:
    """What differs between chips."""

    # Speed in double precision, in that of the chips made for it, which have 64 units a multiprocessor; the
    # others have 2 (CUDA C++ Programming Guide, arithmetic instructions).
    double_rate: float = 1 / 32
    # Whether all pairs are evaluated in squares (two_opt_squares.h), by Hopper's addition with minimum,
    # instead of in rows.
    squares: bool = False


@dataclass(frozen=True, slots=True)
class Tiles:
    """How warps go over the pairs of a long tour."""

    rows_of_lane: int  # positions of a lane, of whose moves with a column the best one is found
    rows: int  # moves of a warp
    min_columns: int  # that a warp takes at a time
    max_columns: int


ARCHITECTURES = {
    (8, 0): Architecture(double_rate=1.0),
    (9, 0): Architecture(double_rate=1.0, squares=True),
    (10, 0): Architecture(double_rate=1.0),
}


def architecture(compute_capability: tuple[int, int]) -> Architecture:
    """Return what differs on GPUs of this compute capability."""
    return ARCHITECTURES.get(compute_capability, Architecture())


# Every kernel of one thread for each city or place.
THREADS = 256

# Rounds of the main solver (native/lk/warp_lk.h).
CANDIDATES, PER_QUADRANT = 8, 2  # EXP-041
DEPTH = 16  # exchange steps of a move, at most: native/lk/warp_lk_arrays.h
ILS_DEPTH = 3  # of `ils` in parts of a tour: 2-opt and 3-opt
# Cities; shared memory holds more, and then fewer parts at once (EXP-040, EXP-047).
MIN_PART, MAX_PART = 400, 760
MAX_COPIES = 8  # searches of the same part with different kicks, of which the best counts (EXP-039)
# Of the mean work of a kick, after which a part's kicks end early: others would wait for it (EXP-096,
# EXP-412, EXP-413).
MAX_WORK = 1.05
# Each such part has half the kicks and comes last, so that the end of a round is short (EXP-450).
SHORTER = 5
MIN_WAVES = 2.0  # of parts on one GPU from which that is so
ROUND_SLICE = 0.5  # seconds of a launch at most: at its end some multiprocessors have no part left (EXP-451)
PAUSE = 1e-4  # seconds between two looks whether a launch has ended
# Cities of one tour from which its paths are put in order on the GPU (EXP-099).
MIN_ORDERED = 1_000_000

# Many small problems, a warp each (native/lk/warp_batch.h).
MOST_IN_BATCH = 1024  # cities of one: native/lk/warp_lk_arrays.h
# Steps of a move, alternatives at the first two of them, and warps of a multiprocessor (EXP-217).
FEW_CITIES, FEW_IN_BATCH = 200, (6, 5, 3, 20)
MANY_IN_BATCH = (DEPTH, 3, 2, 1)  # as in the rounds above; not tried with other numbers
BATCH_DEVICES = 2  # streams: one searches while the other has its problems sent
BATCH_CITIES = 500_000  # of a block of problems, at most: the host works on one while others are searched
BATCH_WAVES = 2  # of warps in the first launch, which tells how long one problem takes

# Set-up in the plane and in space (native/cuda/geometry.cu, candidates.cu).
SCAN_TILE, SORT_TILE = 2048, 4096  # values of a block: 8 and 16 a thread
DIGIT_BITS = 8  # of a pass of the radix sort
# Of a coordinate, on the curve of the numbering and on turned ones; in space on all of them.
CURVE_BITS, TURNED_BITS, SPACE_BITS = 32, 24, 21
LEAF_SIZE = 8  # points of a leaf of the tree
SETUP_SLICE = 1 << 21  # cities whose candidates are found between two looks at the stop token
UPLOAD = 1 << 23  # coordinates sent between two looks at it
CANDIDATE_THREADS = 128
REDUCTION_BLOCKS = 1024  # that sum up or compare, with many values for each thread
GREEDY_ROUNDS = 4  # between two looks at what they did
ENDS_OF_A_BLOCK = 16_384  # up to which one block does all rounds: a launch takes longer than a round
LEVELS_OF_A_BLOCK = 11  # of the tree that one block makes
BLOCK_THREADS = 1024  # of a block that works alone
NEAREST_ENDS = 5

# Best-improvement descents (native/papers/exhaustive/).
# Moves that a multiprocessor evaluates in 50 ms or less, in the fast pass and in double precision.
MOVES_A_SLICE = {"two-opt": (1e9, 2e7), "three-opt": (1e8, 2e6), "swap": (1e7, 1e7), "relocate": (1e7, 1e7)}
DESCENT_THREADS = 128
RESIDENT_THREADS = 512
MAX_RESIDENT = 1 << 14  # cities of a tour whose passes are one launch
MOVES_OF_BLOCK = 8192  # of a pass, that are worth a block when all blocks have to agree
MAPPED_THREADS = 1024  # unless something else is asked for
STRETCH = 32  # links of a stretch of a pruned pass
# Of work of a warp: next to a long link none of them is skipped (EXP-112).
STRETCHES_A_UNIT = 32
PRUNED_A_SLICE = 5e8  # moves of a pruned pass that a multiprocessor evaluates in 50 ms, if none are skipped
# native/papers/exhaustive/two_opt_tiles.h (EXP-064, EXP-067).
ROW_TILES = Tiles(16, 511, 16, 512)
COLUMNS_A_CHUNK = 128
# native/papers/exhaustive/two_opt_squares.h (EXP-107, EXP-108).
SQUARES_TILES = Tiles(8, 63, 256, 4096)
# Of the columns; the rest is taken in eighths, so that all warps end together (EXP-104).
COARSE = 0.8
FEW_ROWS = 3000  # cities below which a resident descent has 4 rows a thread, and 8 from there on

# Climbers (native/papers/hill_climbing/climb.cu).
# Reaches of a thread, and the instructions that a move then costs: counted in the machine code, but for 9,
# whose figure is what it takes on an H200 (EXP-058). It is for tours with more strips of 7 than a block has
# threads.
STRIPS = {5: 8.5, 7: 8.1, 9: 8.6}
# Blocks that load the four schedulers of a multiprocessor alike: 7 warps were as slow as 8 (EXP-057).
BALANCED_WARPS = (1, 2, 4, 8, 12, 16, 20, 24, 28, 32)
CLIMBERS_A_LAUNCH = 1 << 18  # at most
CLIMB_CYCLES = 120_000_000  # of a multiprocessor's clock in a launch: 60 ms at 2 GHz
CLIMB_REGISTERS = 64  # of a thread: kernels are compiled for blocks of up to 1024 threads
START_STEPS = 2.0  # what it takes to begin a share, in steps
TILE_THREADS = 128  # EXP-448
PASS_INSTRUCTIONS = 450  # of a warp in a pass beside looking: finding the best, checking it, turning cities
ENOUGH_WARPS = 28  # on a multiprocessor, to hide its latencies (EXP-449)

# Neighbour lists (native/papers/neighbor_lists/neighbor.cu).
LOOK_THREADS = 128  # of a block that looks at cities
CHAIN_THREADS = 512  # of a chain's block, at most: more would have too few registers
THREADS_A_CITY = 8
CITIES_AHEAD = 8  # that a chain looks at together, at most
CITIES_A_BLOCK = 16  # of a pass that all blocks share, at least
MAX_PAIRS, MAX_OPEN, MOVE_WORDS = 6144, 256, 9  # native/papers/neighbor_lists/shared_passes.h
FIRST_PASSES, FIRST_LOOKS, FIRST_KICKS = 8, 4000, 50  # of the first launches, whose time is not known yet

# Symmetrical moves (native/papers/symmetric/symmetric.cu).
# Of a block, at most: with more, registers would not do (EXP-082, EXP-085).
SYMMETRIC_THREADS = 512
AXES_AHEAD = 256  # that the grid looks at between two barriers
MAX_RUNGS_OF_A_WARP = 1024
QUEUE = 160  # rungs that a warp lines up
# Chains of a multiprocessor: with more than so many each is a warp's instead of a block's, if it can be; and
# the most if not given (EXP-452).
MAX_BLOCK_CHAINS, MAX_CHAINS = 2, 8
SYMMETRIC_SLICE = 0.1  # seconds of a launch, as far as can be foreseen
FIRST_STEPS = 64  # of the first launch, whose speed is not known

REDUCTION_THREADS = 512  # of the one block in versions of swaps, as in the document
ROUNDINGS = {"none": 0, "nearest": 1, "up": 2, "down": 3, "att": 4}  # of climbers
_ROUNDINGS = {f"(int)Rounding::{name}": number for name, number in ROUNDINGS.items()}
_DESCENTS = {"tile_block": DESCENT_THREADS, "tile_rows_of_lane": ROW_TILES.rows_of_lane}
IN_KERNELS: dict[str, dict[str, int]] = {
    "geometry.cu": {
        "threads": THREADS,
        "scan_tile": SCAN_TILE,
        "sort_tile": SORT_TILE,
        "digits": 1 << DIGIT_BITS,
        "curve_bits": CURVE_BITS,
        "TurnedGrid::bits": TURNED_BITS,
        "space_hilbert_bits": SPACE_BITS,
        "PointTree::leaf_size": LEAF_SIZE,
    },
    "candidates.cu": {"PointTree::leaf_size": LEAF_SIZE},
    "lk_batch.cu": {"warp_lk_max_cities": MOST_IN_BATCH},
    "climb.cu": _ROUNDINGS,
    "climb_alone.cu": _ROUNDINGS,
    "descent.cu": _DESCENTS,
    "descent_mapped.cu": _DESCENTS,
    "swap_versions.cu": {**_DESCENTS, "reduction_threads": REDUCTION_THREADS},
    "descent_pruned.cu": {**_DESCENTS, "stretch_links": STRETCH},
    "descent_fast.cu": {
        **_DESCENTS,
        "resident_block": RESIDENT_THREADS,
        "max_resident": MAX_RESIDENT,
        "columns_a_chunk": COLUMNS_A_CHUNK,
        "squares_rows_of_lane": SQUARES_TILES.rows_of_lane,
    },
    "neighbor.cu": {
        "threads_a_city": THREADS_A_CITY,
        "max_ahead": CITIES_AHEAD,
        "block_threads": CHAIN_THREADS,
        "max_pairs": MAX_PAIRS,
        "max_open": MAX_OPEN,
        "move_words": MOVE_WORDS,
    },
    "symmetric.cu": {
        "max_threads": SYMMETRIC_THREADS,
        "max_ahead": AXES_AHEAD,
        "1 << WarpTour::rung_bits": MAX_RUNGS_OF_A_WARP,
    },
}
