"""Where closed loops are entered, and in which direction strokes are drawn, along a given order.

Dynamic programming along the order: the cheapest way to have left a unit by each of its options. Exact, and
independent of how the order was found.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from warptsp.strokes.machine import Machine
from warptsp.strokes.model import Ends, Ints, Path, Units


@dataclass(frozen=True, slots=True)
class Options:
    """The ways to draw each of some units, one behind the other."""

    enter: Path  # where the tool goes down, for each option of each unit
    leave: Path  # and where it comes up
    offsets: Ints  # unit i has the options from ``offsets[i]`` on, before ``offsets[i + 1]``

    @classmethod
    def two_ways(cls, units: Units) -> "Options":
        """Forwards, and backwards where that is allowed and different."""
        both = units.reversible & ~units.single
        offsets = np.concatenate([[0], np.cumsum(1 + both)]).astype(np.intp)
        enter, leave = np.repeat(units.first, 1 + both, axis=0), np.repeat(units.last, 1 + both, axis=0)
        turned = offsets[:-1][both] + 1
        enter[turned], leave[turned] = units.last[both], units.first[both]
        return cls(enter, leave, offsets)


def best_options(options: Options, order: Ints, machine: Machine, ends: Ends) -> tuple[Ints, float]:
    """The option of each unit, counted within the unit, that makes the travel along an order cheapest.

    Options are by unit, not by place in the order. Returned, too, is the cost of the whole travel, with those
    from the start and to the end.
    """
    offsets, n = options.offsets, len(order)
    chosen = np.zeros(n, dtype=np.intp)
    if n == 0:
        return chosen, 0.0
    came_from: list[Ints] = []
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
