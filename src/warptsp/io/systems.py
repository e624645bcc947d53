"""Systems of reference that files name by numbers, in the registries of EPSG and Esri."""

import logging

import numpy as np
from numpy.typing import NDArray

_log = logging.getLogger(__name__)

DEGREES = {"4326", "4258", "4269", "4267", "4979"}  # systems of degrees that tables have
MERCATOR = {"3857", "3785", "900913", "102100", "102113"}
"""Web Mercator, the projection of maps on the web, in which distances are longer than on the Earth."""
_RADIUS = 6378137.0  # metres


def warn_of_mercator(file: str, system: str, y: NDArray[np.float64], cure: str) -> None:
    """Say that this system stretches distances, and how much in the middle of these northings."""
    middle = float(np.clip(np.median(y) / _RADIUS, -np.pi, np.pi)) if len(y) else 0.0
    words = "%s: %s, Web Mercator, stretches distances, here about %.2f times: %s"
    _log.warning(words, file, system, np.cosh(middle), cure)
