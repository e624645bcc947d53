"""The structs of climbers, as in `warptsp.backends.cuda.records`."""

from warptsp.backends.cuda.records import record

PLACE = record("At", "climb.cu", "f4 x y", "V4 edge", "i4 city")
CLIMBING = record(
    "Climbing",
    "climb.cu",
    "ptr points near given next climber unfinished tours lengths ended best_length best_climber best_tours",
    "ptr places passes moves",
    "u8 seed limit",
    "i8 cycles",
    "f8 tolerance scale margin",
    "i4 n kind shares_n strips segments steps",
    paths={
        "shares_n": "shares.n",
        "strips": "shares.strips",
        "segments": "shares.segments",
        "steps": "shares.steps",
    },
)
UNFINISHED = record(
    "Unfinished", ("climb.cu", "climb_alone.cu"), "u8 number", "V8 random", "i8 started", "i4 row column sure"
)
LONELY = record(
    "Lonely",
    "climb_alone.cu",
    "ptr points exact distances near given next climber city place unfinished best lengths ended",
    "ptr best_length best_climber best_tour lock passes moves",
    "u8 seed limit",
    "i8 cycles",
    "f8 tolerance scale margin",
    "i4 n kind threads",
)
