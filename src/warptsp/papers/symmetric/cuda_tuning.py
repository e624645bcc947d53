"""Tuned numbers of symmetrical moves on a GPU, by the rules of `warptsp.backends.cuda.tuning`."""

from warptsp.backends.cuda.tuning import IN_KERNELS

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

IN_KERNELS.update(
    {
        "symmetric.cu": {
            "max_threads": SYMMETRIC_THREADS,
            "max_ahead": AXES_AHEAD,
            "1 << WarpTour::rung_bits": MAX_RUNGS_OF_A_WARP,
        },
    }
)
