"""Sets of cities on one side of a line, and on every other line: tours leave each an even number of times."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

MOST_LINES = 0.5
"""Of each city: where more coordinates differ, there are no rows and columns."""
FARTHEST = 0.75
"""From an odd number: sets that more or fewer edges leave are not undecided."""
WEIGHT_OF_CROSSINGS = 0.02
"""Of two sets that are as far from an odd number, that of fewer edges comes first."""
APART = 0.025
"""Share of the cities between two lines that are proposed."""


@dataclass(frozen=True, slots=True, eq=False)
class Lines:
    """Rows and columns."""

    places: NDArray[np.int64]  # shape (2, n): of each city, its column and its row, counted from 0

    @classmethod
    def of(cls, points: NDArray[np.float64]) -> Self | None:
        """Return the lines of these points; None where hardly any share one."""
        places = np.array([np.unique(along, return_inverse=True)[1] for along in points.T])
        return cls(places) if np.any(places.max(axis=1) < MOST_LINES * len(points)) else None

    def undecided_sets(
        self, ends: NDArray[np.int32], values: NDArray[np.float64], most: int
    ) -> list[NDArray[np.bool_]]:
        """Return sets that edges with these ends and values leave an odd number of times, or nearly.

        All that belong to every other column, row or both, and at most so many lines.
        """
        n = self.places.shape[1]
        columns, rows = self.places % 2 == 1
        colours = [
            side
            for side in (columns, rows, columns ^ rows)
            if _far(values[np.diff(side[ends])[:, 0]].sum()) < FARTHEST
        ]
        found: list[tuple[float, int, int, int]] = []
        for axis, place in enumerate(self.places):
            low, high = np.sort(place[ends], axis=1).T
            count = int(place.max())
            steps = np.bincount(low, values, count + 1) - np.bincount(high, values, count + 1)
            crossings = np.cumsum(steps)[:-1]
            before = np.cumsum(np.bincount(place))
            for line in np.flatnonzero(_far(crossings) < FARTHEST).tolist():
                worth = float(_far(crossings[line])) + WEIGHT_OF_CROSSINGS * float(crossings[line])
                found.append((worth, axis, line, int(before[line])))
        chosen: list[tuple[int, int, int]] = []
        for _, axis, line, here in sorted(found):
            if all(axis != other or abs(here - there) > APART * n for other, _, there in chosen):
                chosen.append((axis, line, here))
                if len(chosen) == most:
                    break
        return colours + [self.places[axis] <= line for axis, line, _ in chosen]


def _far(crossings: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return how far numbers are from odd ones, 1 at most."""
    return np.abs(crossings % 2.0 - 1.0)
