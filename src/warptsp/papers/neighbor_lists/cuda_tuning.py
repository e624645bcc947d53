"""Tuned numbers of searches on neighbour lists on a GPU, by the rules of `warptsp.backends.cuda.tuning`."""

from warptsp.backends.cuda.tuning import IN_KERNELS

LOOK_THREADS = 128  # of a block that looks at cities
CHAIN_THREADS = 512  # of a chain's block, at most: more would have too few registers
THREADS_A_CITY = 8
CITIES_AHEAD = 8  # that a chain looks at together, at most
CITIES_A_BLOCK = 16  # of a pass that all blocks share, at least
MAX_PAIRS, MAX_OPEN, MOVE_WORDS = 6144, 256, 9  # native/papers/neighbor_lists/shared_passes.h
FIRST_PASSES, FIRST_LOOKS, FIRST_KICKS = 8, 4000, 50  # of the first launches, whose time is not known yet
ILS_DEPTH = 3  # of `ils` in parts of a tour: 2-opt and 3-opt

IN_KERNELS.update(
    {
        "neighbor.cu": {
            "threads_a_city": THREADS_A_CITY,
            "max_ahead": CITIES_AHEAD,
            "block_threads": CHAIN_THREADS,
            "max_pairs": MAX_PAIRS,
            "max_open": MAX_OPEN,
            "move_words": MOVE_WORDS,
        },
    }
)
