"""Systems of reference that files name by numbers, in the registries of EPSG and Esri."""

import logging

import numpy as np
from numpy.typing import NDArray

_log = logging.getLogger(__name__)

DEGREES = {
    *("4326", "4979", "4258", "4171", "4230", "4277", "4314"),  # the world; Europe, and parts of it
    *("4269", "4267", "4152", "6318", "4617", "4674"),  # the Americas
    *("4283", "7844", "4167", "4490", "4612", "6668"),  # Australia, New Zealand, China, Japan
}
"""Systems of degrees from Greenwich that files have."""
MERCATOR = {"3857", "3785", "900913", "102100", "102113"}
"""Web Mercator, the projection of maps on the web, in which distances are longer than on the Earth."""
_RADIUS = 6378137.0  # metres


def warn_of_mercator(file: str, system: str, y: NDArray[np.float64], cure: str) -> None:
    """Say that this system stretches distances, and how much in the middle of these northings."""
    middle = float(np.clip(np.median(y) / _RADIUS, -np.pi, np.pi)) if len(y) else 0.0
    words = "%s: %s, Web Mercator, stretches distances, here about %.2f times: %s"
    _log.warning(words, file, system, np.cosh(middle), cure)
