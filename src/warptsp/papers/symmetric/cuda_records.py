"""The structs of symmetrical moves, as in `warptsp.backends.cuda.records`."""

from warptsp.backends.cuda.records import record

FILE = "symmetric.cu"

SYMMETRIC_INSTANCE = record(
    "SymmetricInstance",
    FILE,
    "i4 size kind stride elements random",
    "ptr points int_matrix real_matrix",
    "i8 matrix_size",
    "ptr fixed",
    "f8 tolerance",
    "i4 planar whole_edges",
    "f8 center_x center_y scale slack place_error",
)
SYMMETRIC_STATE = record("SymmetricState", FILE, "i8 step quiet", "u8 moves")
SYMMETRIC_TALK = record("SymmetricTalk", FILE, "u4 arrived", "i4 stop[3]", "u8 first[3]")
COOLING = record("Cooling", FILE, "f8 temperature factor", "i8 iterations spent")
