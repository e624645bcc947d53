"""The temperature at which the main solver accepts a loss: exp(-loss / T) is the probability.

It falls linearly from a start that depends on how much time there is; both were fitted (docs/performance).
"""

import math

import warptsp._native as _native

COLD = _native.AnnealingPlan().cold  # share of the time or the kicks at the end, in which no loss is accepted


def start_temperature(kicks_per_city: float, *, hotter: float = 0.0, hottest: float = 0.5) -> float:
    """Return the temperature at the start, in mean edges of the tour, for a number of kicks a city.

    `hotter` is added to what the kicks of CPU threads want, and `hottest` is the maximum.
    """
    return min(hottest, max(0.0, 0.15 + 0.15 * math.log10(max(kicks_per_city, 1e-9)) + hotter))


def cooled(progress: float) -> float:
    """Return what is left of the start temperature at a progress of 0 to 1."""
    return _native.cooled(progress, COLD)
