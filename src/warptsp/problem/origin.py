"""What an instance keeps of where it comes from, and no search asks for: units, a map, a table's form."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from warptsp._checks import shown
from warptsp._words import counted
from warptsp.errors import InvalidProblem
from warptsp.problem.metric import Metric
from warptsp.problem.values import read_only, real_array

UNITS = ("m", "km", "s", "")
METRES = {"m": 1, "km": 1000}


class Weights(NamedTuple):
    """Other lengths of the same arcs, shape (n, n): distances beside durations, or the reverse."""

    matrix: NDArray[Any]
    unit: str


class TableStyle(NamedTuple):
    """How the table was written that an instance comes from; tables of its tours are written so, too."""

    columns: tuple[tuple[str, str], ...] = ()
    """Titles in order, and what each column holds: x, y, z, lat, lon, name, id, or nothing, for `extra`."""
    delimiter: str = ","
    decimal: str = "."
    encoding: str = "utf-8"

    def title_of(self, role: str) -> str | None:
        """The title of the column that holds something."""
        return next((title for title, held in self.columns if held == role), None)


class Origin:
    """Where the cities are on a map; `Problem` says what its parts are."""

    metric: Metric
    coordinates: NDArray[np.float64] | None
    display: NDArray[np.float64] | None
    display_degrees: bool
    crs: str | None

    @property
    def plot_points(self) -> NDArray[np.float64] | None:
        """Where to draw the cities, shape (n, 2): x to the right, y upwards; None if that is unknown."""
        if self.display is not None:
            return self.display
        if self.coordinates is None:
            return None
        if self.metric.geographic:
            return self.coordinates[:, ::-1]
        return self.coordinates[:, :2]

    @property
    def geographic(self) -> bool:
        """Whether the cities have latitudes and longitudes."""
        return self.metric.geographic or self.display_degrees


def checked_unit(unit: object, metric: Metric) -> str:
    """The unit of lengths: what the metric fixes, or else the caller says."""
    if not isinstance(unit, str) or unit not in UNITS:
        raise InvalidProblem(f"unit is {shown(unit)}: 'm', 'km', 's' or '' (unknown) is needed")
    if metric.unit and unit not in ("", metric.unit):
        raise InvalidProblem(f"unit is {unit!r}: distances of {metric.name} are in {metric.unit}")
    return metric.unit or unit


def check_system(system: object) -> None:
    """Accept what may name a coordinate reference system; whether it does, who uses it finds out."""
    if not isinstance(system, str | None):
        raise InvalidProblem(f"crs is {shown(system)}: a text such as 'EPSG:25833' is needed")


def checked_weights(given: object, n: int) -> Weights:
    """The same, as real numbers; infinite where there is no arc."""
    if not isinstance(given, tuple) or len(given) != 2:
        raise InvalidProblem(f"other_weights is {shown(given)}: a matrix and its unit are needed")
    matrix, unit = real_array(given[0], "other_weights"), given[1]
    if matrix.shape != (n, n):
        raise InvalidProblem(
            f"other_weights have shape {matrix.shape}: one entry for each pair of the {counted(n)} is needed"
        )
    return Weights(read_only(matrix), checked_unit(unit, Metric.EXPLICIT))
