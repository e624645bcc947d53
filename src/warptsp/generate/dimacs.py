"""The random instances of the 8th DIMACS Implementation Challenge.

Johnson and McGeoch, *Experimental analysis of heuristics for the STSP* (2002); solver papers have compared
themselves on these instances ever since. They are made here bit for bit as the challenge's own generators do.
"""

import re

from warptsp._checks import shown
from warptsp.errors import InvalidOption
from warptsp.problem import Metric, Problem

SIZES = {
    "1k": 1_000,
    "3k": 3_162,
    "10k": 10_000,
    "31k": 31_623,
    "100k": 100_000,
    "316k": 316_228,
    "1M": 1_000_000,
    "3M": 3_162_278,
    "10M": 10_000_000,
}
"""Number of cities by the size's name: powers of the square root of ten."""

_NAME = re.compile(r"([EC])(\d+[kM])\.(\d{1,3})", re.IGNORECASE)


def is_dimacs_name(name: str) -> bool:
    """Whether `name` looks like that of a DIMACS instance, such as ``E10k.0``."""
    return isinstance(name, str) and _NAME.fullmatch(name) is not None


def dimacs(name: str) -> Problem:
    """The DIMACS instance called `name`.

    Parameters
    ----------
    name : str
        ``E<size>.<i>``: uniform in a square of side 10**6. ``C<size>.<i>``: normal clusters of 100 cities on
        average. The sizes are `SIZES`.

    Raises
    ------
    InvalidOption
        There is no such instance.
    """
    from warptsp._native import dimacs_clustered, dimacs_uniform

    match = _NAME.fullmatch(name) if is_dimacs_name(name) else None
    size = next((size for size in SIZES if match and size.lower() == match[2].lower()), None)
    if match is None or size is None:
        raise InvalidOption(
            f"there is no DIMACS instance {shown(name)}: names are E<size>.<i> or C<size>.<i>, for example "
            f"E10k.0, with a size of {', '.join(SIZES)}"
        )
    kind, n, number = match[1].upper(), SIZES[size], int(match[3])
    seed = n if number == 0 else 10 * n + number
    coordinates = dimacs_uniform(n, seed) if kind == "E" else dimacs_clustered(n, seed)
    what = "uniform" if kind == "E" else "clustered"
    return Problem(
        Metric.EUC_2D,
        coordinates=coordinates,
        name=f"{kind}{size}.{number}",
        comment=f"DIMACS challenge, random {what}, seed {seed}",
    )
