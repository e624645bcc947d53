"""Tuned numbers of best-improvement descents on a GPU, by the rules of `warptsp.backends.cuda.tuning`."""

from dataclasses import dataclass

from warptsp.backends.cuda.tuning import IN_KERNELS


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


# Moves that a multiprocessor evaluates in 50 ms or less, in the fast pass and in double precision.
MOVES_A_SLICE = {"two-opt": (1e9, 2e7), "three-opt": (1e8, 2e6), "swap": (1e7, 1e7), "relocate": (1e7, 1e7)}
DESCENT_THREADS = 128
RESIDENT_THREADS = 512
MAX_RESIDENT = 1 << 14  # cities of a tour whose passes are one launch
MOVES_OF_BLOCK = 8192  # of a pass, that are worth a block when all blocks have to agree
MAPPED_THREADS = 1024  # unless something else is asked for
# native/papers/exhaustive/two_opt_tiles.h (EXP-064, EXP-067).
ROW_TILES = Tiles(16, 511, 16, 512)
COLUMNS_A_CHUNK = 128
# native/papers/exhaustive/two_opt_squares.h (EXP-107, EXP-108).
SQUARES_TILES = Tiles(8, 63, 256, 4096)
# Of the columns; the rest is taken in eighths, so that all warps end together (EXP-104).
COARSE = 0.8
FEW_ROWS = 3000  # cities below which a resident descent has 4 rows a thread, and 8 from there on
REDUCTION_THREADS = 512  # of the one block in versions of swaps, as in the document
_DESCENTS = {"tile_block": DESCENT_THREADS, "tile_rows_of_lane": ROW_TILES.rows_of_lane}

IN_KERNELS.update(
    {
        "descent.cu": _DESCENTS,
        "descent_mapped.cu": _DESCENTS,
        "swap_versions.cu": {**_DESCENTS, "reduction_threads": REDUCTION_THREADS},
        "descent_fast.cu": {
            **_DESCENTS,
            "resident_block": RESIDENT_THREADS,
            "max_resident": MAX_RESIDENT,
            "columns_a_chunk": COLUMNS_A_CHUNK,
            "squares_rows_of_lane": SQUARES_TILES.rows_of_lane,
        },
    }
)
