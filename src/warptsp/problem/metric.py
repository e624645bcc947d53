"""The distance functions that an instance can name.

The integer names and formulas are those of Reinelt, *TSPLIB 95* (1995); ``EXACT_2D``, ``EXACT_3D``,
``FLOOR_2D`` and ``GREAT_CIRCLE`` are extensions. ``docs/formats.md`` gives every definition.
"""

from __future__ import annotations

import enum

from warptsp._checks import shown
from warptsp.errors import InvalidOption

__all__ = ["Metric"]


class Metric(enum.Enum):
    """A distance function; the name is TSPLIB's ``EDGE_WEIGHT_TYPE``.

    The value is the number of the native ``MetricKind`` (``native/common/metric.h``).
    """

    EUC_2D = 0
    CEIL_2D = 1
    FLOOR_2D = 2
    EXACT_2D = 3
    ATT = 4
    GEO = 5
    GREAT_CIRCLE = 6
    MAN_2D = 7
    MAX_2D = 8
    EUC_3D = 9
    EXACT_3D = 10
    MAN_3D = 11
    MAX_3D = 12
    XRAY1 = 13
    XRAY2 = 14
    EXPLICIT = 15

    @property
    def kind(self) -> int:
        """Number of the native ``MetricKind``."""
        return int(self.value)

    @property
    def integral(self) -> bool:
        """Whether every distance is an integer (for EXPLICIT, the instance's matrix decides)."""
        return self not in _REAL

    @property
    def has_coordinates(self) -> bool:
        """Whether distances come from coordinates; otherwise from a matrix."""
        return self is not Metric.EXPLICIT

    @property
    def dimensions(self) -> int:
        """Numbers in a coordinate row: 2 or 3; 0 for a matrix."""
        if self is Metric.EXPLICIT:
            return 0
        return 3 if self in _THREE_DIMENSIONAL else 2

    @property
    def planar(self) -> bool:
        """Whether distances are those of a plane, in which a GPU finds neighbours by coordinates."""
        return self.euclidean or self is Metric.MAN_2D or self is Metric.MAX_2D

    @property
    def spatial(self) -> bool:
        """Whether distances are those of a norm in space, in which a GPU finds neighbours, too."""
        return self in (Metric.EUC_3D, Metric.EXACT_3D, Metric.MAN_3D, Metric.MAX_3D)

    @property
    def euclidean(self) -> bool:
        """Whether distances are Euclidean in the plane, rounded or not, so that single precision can look for
        moves; native/common/metric.h has both sets, too, and tests compare them."""
        return self in _EUCLIDEAN

    @property
    def geographic(self) -> bool:
        """Whether coordinates are a latitude and a longitude."""
        return self is Metric.GEO or self is Metric.GREAT_CIRCLE

    @property
    def unit(self) -> str:
        """Unit of a length where the metric fixes one ("km", "m"), otherwise an empty string."""
        return {Metric.GEO: "km", Metric.GREAT_CIRCLE: "m"}.get(self, "")

    @property
    def description(self) -> str:
        """The definition in a few words, for people."""
        return _DESCRIPTIONS[self]

    @property
    def words(self) -> str:
        """What people call the distances; TSPLIB's own name for what only its readers know."""
        return _WORDS.get(self, self.name)

    @classmethod
    def parse(cls, name: Metric | str) -> Metric:
        """The metric called `name`, in any case; of those in `COMMON` the first.

        Raises
        ------
        InvalidOption
            No metric has that name.
        """
        if isinstance(name, Metric):
            return name
        try:
            common = COMMON.get(name.strip().lower())
            return cls[name.strip().upper()] if common is None else common[0]
        except (AttributeError, KeyError):
            accepted = ", ".join(metric.name for metric in cls)
            common_names = ", ".join(name for name in COMMON if name not in _SPARED)
            raise InvalidOption(
                f"unknown metric {shown(name)}: use one of {accepted}, or {common_names}"
            ) from None


_EUCLID = (Metric.EXACT_2D, Metric.EXACT_3D)
_MANHATTAN = (Metric.MAN_2D, Metric.MAN_3D)
_CHEBYSHEV = (Metric.MAX_2D, Metric.MAX_3D)
COMMON = {
    "euclidean": _EUCLID,
    "cityblock": _MANHATTAN,
    "manhattan": _MANHATTAN,
    "chebyshev": _CHEBYSHEV,
    "haversine": (Metric.GREAT_CIRCLE,),
    "l1": _MANHATTAN,
    "l2": _EUCLID,
    "taxicab": _MANHATTAN,
    "great-circle": (Metric.GREAT_CIRCLE,),
    "great_circle": (Metric.GREAT_CIRCLE,),
}
"""What SciPy, scikit-learn and geographers call metrics: in the plane, in space."""
_SPARED = ("l1", "l2", "taxicab", "great-circle", "great_circle")  # in messages
_REAL = frozenset({Metric.EXACT_2D, Metric.EXACT_3D, Metric.GREAT_CIRCLE})
_EUCLIDEAN = frozenset({Metric.EUC_2D, Metric.CEIL_2D, Metric.FLOOR_2D, Metric.EXACT_2D, Metric.ATT})
_THREE_DIMENSIONAL = frozenset(
    {Metric.EUC_3D, Metric.EXACT_3D, Metric.MAN_3D, Metric.MAX_3D, Metric.XRAY1, Metric.XRAY2}
)
_WORDS = {
    Metric.EXACT_2D: "Euclidean distances",
    Metric.EXACT_3D: "Euclidean distances",
    Metric.GREAT_CIRCLE: "great circles",
    Metric.EXPLICIT: "distance matrix",
}
_DESCRIPTIONS = {
    Metric.EUC_2D: "Euclidean, rounded to the nearest integer",
    Metric.CEIL_2D: "Euclidean, rounded up",
    Metric.FLOOR_2D: "Euclidean, rounded down",
    Metric.EXACT_2D: "Euclidean, not rounded",
    Metric.ATT: "pseudo-Euclidean (ATT)",
    Metric.GEO: "TSPLIB's geographical distance in kilometres",
    Metric.GREAT_CIRCLE: "great-circle distance in metres",
    Metric.MAN_2D: "Manhattan, rounded to the nearest integer",
    Metric.MAX_2D: "maximum of the rounded differences",
    Metric.EUC_3D: "Euclidean in space, rounded to the nearest integer",
    Metric.EXACT_3D: "Euclidean in space, not rounded",
    Metric.MAN_3D: "Manhattan in space, rounded to the nearest integer",
    Metric.MAX_3D: "maximum of the rounded differences in space",
    Metric.XRAY1: "X-ray crystallography, version 1",
    Metric.XRAY2: "X-ray crystallography, version 2",
    Metric.EXPLICIT: "distance matrix",
}
