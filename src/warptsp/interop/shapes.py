"""Points of shapely, and of what is like it, as instances."""

# A shape is known by what it offers: `shapely` itself is not imported.

from typing import Any

import numpy as np

from warptsp.errors import InvalidProblem
from warptsp.problem import Metric, Problem
from warptsp.problem.doubts import warn_of_degrees


def problem_of_shapes(shapes: Any, metric: Metric | str | None = None) -> Problem:
    """The instance of a list or array of points, or of a MultiPoint.

    x goes to the east: for a metric of the globe it is the longitude, and y the latitude. By default
    distances are Euclidean, not rounded: shapes do not say what their coordinates are.
    """
    kind = getattr(shapes, "geom_type", None)
    if isinstance(kind, str) and not hasattr(shapes, "geoms"):
        raise InvalidProblem(f"a {kind} is one shape: a list of points or a MultiPoint is needed")
    points = list(shapes.geoms if isinstance(kind, str) else shapes)
    for number, point in enumerate(points):
        found = getattr(point, "geom_type", type(point).__name__)
        if found != "Point" or point.is_empty:
            what = "an empty point" if found == "Point" else f"a {found}"
            raise InvalidProblem(
                f"shape {number} (counted from 0) is {what}: points are needed; the centroids of other "
                "shapes are such points"
            )
    coordinates = np.array([(point.x, point.y) for point in points], dtype=np.float64).reshape(-1, 2)
    if metric is not None and Metric.parse(metric).geographic:
        coordinates = coordinates[:, ::-1]
    problem = Problem.from_points(coordinates, metric)
    if metric is None:
        warn_of_degrees("the shapes", coordinates, order="")
    return problem
