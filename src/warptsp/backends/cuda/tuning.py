"""The numbers of the GPU's searches that were tuned to a chip, in one table.

EXP-012 and the like are rows of benchmarks/experiments.jsonl, which have what was measured, on an H200
(compute capability 9.0) where they say nothing else; a number without one has no measurement of its own. The
numbers that the main solver's host decides by are in `warptsp.methods.lk.tuning`, those of a paper in its
own `cuda_tuning`. Numbers that the kernels also have are in `IN_KERNELS`, by their names there, and a
kernel with another value does not compile (`records.layout_checks`).
"""

# Every kernel of one thread for each city or place.
THREADS = 256

# Rounds of the main solver (native/lk/warp_lk.h).
CANDIDATES, PER_QUADRANT = 8, 2  # EXP-041
DEPTH = 16  # exchange steps of a move, at most: native/lk/warp_lk_arrays.h
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
}
