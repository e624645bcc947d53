"""The structs of best-improvement descents, as in `warptsp.backends.cuda.records`."""

from warptsp.backends.cuda.records import record

FILE, FAST_FILE, MAPPED_FILE = "descent.cu", "descent_fast.cu", "descent_mapped.cu"
VERSIONS_FILE = "swap_versions.cu"
_DESCENTS = (FILE, FAST_FILE, MAPPED_FILE, VERSIONS_FILE)

DESCENT_TOUR = record(
    "DescentTour",
    _DESCENTS,
    "i4 n kind stride has_fast_pass own last",
    "ptr rows int_matrix real_matrix fixed placed placed_city edges points columns",
    "f8 middle_x middle_y scale edge_scale tolerance",
    "i8 limit",
    "ptr earlier later state",
)
DESCENT_STATE = record(
    "DescentState",
    _DESCENTS,
    "i8 passes moves evaluations",
    "f8 gained",
    "u8 number",
    "i4 status applies current",
)
BEST_MOVE = record("BestMove", _DESCENTS, "f8 delta", "u8 number")
TILE_POINT = record("TilePoint", _DESCENTS, "f4 x y", "i4 edge removed")
