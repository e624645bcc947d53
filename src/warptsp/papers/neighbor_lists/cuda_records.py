"""The structs of searches along neighbour lists, as in `warptsp.backends.cuda.records`."""

from warptsp.backends.cuda.records import record

NEIGHBOR_INSTANCE = record(
    "NeighborInstance",
    "neighbor.cu",
    "ptr rows neighbors lengths fixed",
    "f8 tolerance",
    "i4 size width stride",
)
NEIGHBOR_STATE = record(
    "DescentState", "neighbor.cu", "f8 gain", "u8 evaluations passes moves", "i4 complete all skipped"
)
NEIGHBOR_MOVE = record("NeighborMove", "neighbor.cu", "f8 gain", "i4 number cities t[6]")
CHAINS = record(
    "ChainsOnDevice",
    "neighbor.cu",
    "ptr order position scratch kept best ring in state",
    "i4 capacity inside",
)
CHAIN = record(
    "ChainState",
    "neighbor.cu",
    "f8 length best",
    "u8 evaluations examined moves kicks accepted",
    "i4 head queued",
)
KICKS = record(
    "KickPlan", "neighbor.cu", "i8 first count cold", "f8 temperature", "i4 always segment", "u8 seed chain"
)
