"""Tuned numbers of climbers on a GPU, by the rules of `warptsp.backends.cuda.tuning`."""

from warptsp.backends.cuda.tuning import IN_KERNELS

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

ROUNDINGS = {"none": 0, "nearest": 1, "up": 2, "down": 3, "att": 4}  # of climbers
_ROUNDINGS = {f"(int)Rounding::{name}": number for name, number in ROUNDINGS.items()}

IN_KERNELS.update(
    {
        "climb.cu": _ROUNDINGS,
        "climb_alone.cu": _ROUNDINGS,
    }
)
