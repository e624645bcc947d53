"""The distance functions that an instance can name.

The integer names and formulas are those of Reinelt, *TSPLIB 95* (1995); ``EXACT_2D``, ``EXACT_3D``,
``FLOOR_2D`` and ``GREAT_CIRCLE`` are extensions. ``docs/formats.md`` gives every definition.
"""

from __future__ import annotations

import enum

import numpy as np
from numpy.typing import NDArray

from warptsp._checks import shown
from warptsp._words import did_you_mean
from warptsp.errors import InvalidOption

_WHOLE_UP_TO = 2.0**30  # coordinates whose lengths of tours are integers of 64 bits
NORMS = ("maximum", "manhattan", "euclidean")  # by their numbers


class Metric(enum.Enum):
    """A distance function; the name is TSPLIB's ``EDGE_WEIGHT_TYPE``.

    The rows are those of the table in ``native/common/metric.h``, and a description for people: number,
    space, norm that orders cities as the metric does, rounding.
    """

    EUC_2D = 0, "plane", "euclidean", "nearest", "Euclidean, rounded to the nearest integer"
    CEIL_2D = 1, "plane", "euclidean", "up", "Euclidean, rounded up"
    FLOOR_2D = 2, "plane", "euclidean", "down", "Euclidean, rounded down"
    EXACT_2D = 3, "plane", "euclidean", "none", "Euclidean, not rounded"
    ATT = 4, "plane", "euclidean", "att", "pseudo-Euclidean (ATT)"
    GEO = 5, "sphere", "euclidean", "down", "TSPLIB's geographical distance in kilometres"
    GREAT_CIRCLE = 6, "sphere", "euclidean", "none", "great-circle distance in metres"
    MAN_2D = 7, "plane", "manhattan", "nearest", "Manhattan, rounded to the nearest integer"
    MAX_2D = 8, "plane", "maximum", "nearest", "maximum of the rounded differences"
    EUC_3D = 9, "space", "euclidean", "nearest", "Euclidean in space, rounded to the nearest integer"
    EXACT_3D = 10, "space", "euclidean", "none", "Euclidean in space, not rounded"
    MAN_3D = 11, "space", "manhattan", "nearest", "Manhattan in space, rounded to the nearest integer"
    MAX_3D = 12, "space", "maximum", "nearest", "maximum of the rounded differences in space"
    XRAY1 = 13, "angles", "maximum", "nearest", "X-ray crystallography, version 1"
    XRAY2 = 14, "angles", "maximum", "nearest", "X-ray crystallography, version 2"
    EXPLICIT = 15, "none", "euclidean", "nearest", "distance matrix"
    EXACT_MAN_2D = 16, "plane", "manhattan", "none", "Manhattan, not rounded"
    EXACT_MAX_2D = 17, "plane", "maximum", "none", "maximum of the differences"
    EXACT_MAN_3D = 18, "space", "manhattan", "none", "Manhattan in space, not rounded"
    EXACT_MAX_3D = 19, "space", "maximum", "none", "maximum of the differences in space"

    kind: int
    space: str
    norm: int
    """That orders cities as the metric does: 2 Euclidean, 1 Manhattan, 0 maximum."""
    rounding: str
    description: str
    integral: bool
    """Whether every distance is an integer (for EXPLICIT, the instance's matrix decides)."""
    has_coordinates: bool
    """Whether distances come from coordinates; otherwise from a matrix."""
    dimensions: int
    """Numbers in a coordinate row: 2 or 3; 0 for a matrix."""
    planar: bool
    """Whether distances are those of a plane, in which a GPU finds neighbours by coordinates."""
    spatial: bool
    """Whether distances are those of a norm in space, in which a GPU finds neighbours, too."""
    euclidean: bool
    """Whether distances are Euclidean in the plane, rounded or not, so that single precision can look for
    moves."""
    geographic: bool
    """Whether coordinates are a latitude and a longitude."""
    angular: bool
    """Whether coordinates are the angles of a diffractometer."""
    unit: str
    """Unit of a length where the metric fixes one ("km", "m"), otherwise an empty string."""

    def __new__(cls, kind: int, space: str, norm: str, rounding: str, description: str) -> Metric:
        """Make the member of a row; its value is the number of the native ``MetricKind``."""
        metric = object.__new__(cls)
        metric._value_ = metric.kind = kind
        metric.space, metric.norm, metric.rounding = space, NORMS.index(norm), rounding
        metric.description = description
        metric.integral = rounding != "none"
        metric.has_coordinates = space != "none"
        metric.dimensions = {"none": 0, "plane": 2, "sphere": 2}.get(space, 3)
        metric.planar, metric.spatial = space == "plane", space == "space"
        metric.euclidean = space == "plane" and norm == "euclidean"
        metric.geographic, metric.angular = space == "sphere", space == "angles"
        metric.unit = ""
        return metric

    @property
    def rounded(self) -> Metric:
        """The metric of the same space and norm that rounds to nearest; itself, if there is none."""
        return self._with("nearest")

    @property
    def unrounded(self) -> Metric:
        """The metric of the same space and norm that does not round; itself, if there is none."""
        return self._with("none")

    def _with(self, rounding: str) -> Metric:
        like = (self.space, self.norm, rounding) if self.planar or self.spatial else None
        return next((m for m in Metric if (m.space, m.norm, m.rounding) == like), self)

    def of(self, name: Metric | str | None, coordinates: NDArray[np.float64]) -> Metric:
        """The metric that `name`, which means this one, is for these coordinates.

        ``manhattan`` and ``chebyshev`` of whole numbers are whole numbers, so that they are TSPLIB's metrics,
        in which bounds are rounded up.
        """
        if not isinstance(name, str) or name.strip().lower() not in COMMON or self.norm == 2:
            return self
        small = np.abs(coordinates).max(initial=0.0) <= _WHOLE_UP_TO
        return self.rounded if small and (coordinates == np.floor(coordinates)).all() else self

    @property
    def words(self) -> str:
        """What people call the distances; TSPLIB's own name for what only its readers know."""
        return _WORDS.get(self, self.name)

    @classmethod
    def parse(cls, name: Metric | str, dimensions: int = 0) -> Metric:
        """The metric called `name`, in any case; of several in `COMMON` that of so many coordinates.

        Raises
        ------
        InvalidOption
            No metric has that name.
        """
        if isinstance(name, Metric):
            return name
        try:
            common = COMMON.get(name.strip().lower(), ())
            fitting = [metric for metric in common if metric.dimensions == dimensions]
            return (*fitting, *common)[0] if common else cls[name.strip().upper()]
        except (AttributeError, KeyError):
            if callable(name) and not isinstance(name, type):
                raise InvalidOption(
                    "metric: a function is taken with an array of points, or with places by name, alone"
                ) from None
            accepted = ", ".join(metric.name for metric in cls)
            common_names = ", ".join(name for name in COMMON if name not in _SPARED)
            like = did_you_mean(name, [*COMMON, *cls.__members__])
            raise InvalidOption(
                f"unknown metric {shown(name)}: use one of {accepted}, or {common_names}{like}"
            ) from None


Metric.GEO.unit, Metric.GREAT_CIRCLE.unit = "km", "m"
_EUCLID = (Metric.EXACT_2D, Metric.EXACT_3D)
_MANHATTAN = (Metric.EXACT_MAN_2D, Metric.EXACT_MAN_3D)
_CHEBYSHEV = (Metric.EXACT_MAX_2D, Metric.EXACT_MAX_3D)
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
_WORDS = {
    Metric.EXACT_2D: "Euclidean distances",
    Metric.EXACT_3D: "Euclidean distances",
    Metric.GREAT_CIRCLE: "great circles",
    Metric.EXPLICIT: "distance matrix",
}
