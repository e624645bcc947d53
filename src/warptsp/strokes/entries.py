"""Where closed loops are entered, and in which direction strokes are drawn, along a given order.

Dynamic programming along the order: the cheapest way to have left a unit by each of its options. Exact, and
independent of how the order was found.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from warptsp.strokes.machine import Machine
from warptsp.strokes.model import Ends


@dataclass(frozen=True, slots=True)
class Options:
    """The ways to draw each of some units, one behind the other."""

    enter: NDArray[np.float64]  # where the tool goes down, for each option of each unit
    leave: NDArray[np.float64]  # and where it comes up
    offsets: NDArray[np.intp]  # unit i has the options from ``offsets[i]`` on, before ``offsets[i + 1]``


def best_options(
    options: Options, order: NDArray[np.intp], machine: Machine, ends: Ends
) -> tuple[NDArray[np.intp], float]:
    """The option of each unit, counted within the unit, that makes the travel along an order cheapest.

    Options are by unit, not by place in the order. Returned, too, is the cost of the whole travel, with those
    from the start and to the end.
    """
    offsets, n = options.offsets, len(order)
    chosen = np.zeros(n, dtype=np.intp)
    if n == 0:
        return chosen, 0.0
    came_from: list[NDArray[np.intp]] = []
    places = [slice(offsets[unit], offsets[unit + 1]) for unit in order.tolist()]
    costs = np.zeros(places[0].stop - places[0].start)
    if ends.start is not None:
        costs = machine.cost(ends.start, options.enter[places[0]])
    for before, place in pairwise(places):
        travels = machine.cost(options.leave[before][:, None], options.enter[place][None]) + costs[:, None]
        best = travels.argmin(axis=0)
        came_from.append(best)
        costs = travels[best, np.arange(travels.shape[1])]
    if ends.end is not None:
        costs = costs + machine.cost(options.leave[places[-1]], ends.end)
    option = int(costs.argmin())
    total = float(costs[option])
    for i in range(n - 1, -1, -1):
        chosen[order[i]] = option
        if i:
            option = int(came_from[i - 1][option])
    return chosen, total
