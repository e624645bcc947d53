"""What a travel costs: its length, the longer of its axes, or seconds."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from warptsp._checks import checked_number, shown
from warptsp.errors import InvalidOption


@dataclass(frozen=True, slots=True)
class Machine:
    """How a machine travels.

    A subclass has `cost`, and says by `frame` in which coordinates, and which norm of them, the search may
    measure instead: exactly, or, where no norm is the cost, as nearly as possible.

    Attributes
    ----------
    maximum : bool
        Whether the norm of `frame` is the maximum of the axes; otherwise it is Euclid's.
    unit : str
        What `cost` is in: an empty string for the unit of the coordinates.
    """

    maximum: ClassVar[bool] = False
    unit: ClassVar[str] = ""

    @property
    def exact(self) -> bool:
        """Whether the norm of `frame` is the cost itself."""
        return True

    def cost(self, start: NDArray[np.float64], end: NDArray[np.float64]) -> NDArray[np.float64]:
        """The cost of travels between points; arrays of shape (..., 2) or (..., 3) are broadcast."""
        raise NotImplementedError

    def frame(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """Coordinates for the search."""
        return points


@dataclass(frozen=True, slots=True)
class Euclidean(Machine):
    """The length of the travel: both axes move so that the tool goes straight at a constant speed."""

    def cost(self, start: NDArray[np.float64], end: NDArray[np.float64]) -> NDArray[np.float64]:
        """The Euclidean distance."""
        # hypot cannot overflow and is exact along an axis, but takes two numbers only.
        difference = end - start
        flat = np.hypot(difference[..., 0], difference[..., 1])
        return flat if difference.shape[-1] == 2 else np.hypot(flat, difference[..., 2])


@dataclass(frozen=True, slots=True)
class MaxOfAxes(Machine):
    """The longest of the axes: each motor runs at the same top speed, all at once."""

    maximum: ClassVar[bool] = True

    def cost(self, start: NDArray[np.float64], end: NDArray[np.float64]) -> NDArray[np.float64]:
        """The maximum of the differences."""
        longest: NDArray[np.float64] = np.abs(end - start).max(axis=-1)
        return longest


@dataclass(frozen=True, slots=True)
class AxisTimes(Machine):
    """Seconds: each axis goes from standstill to standstill on its own, and the slowest decides.

    An axis of top speed v and acceleration a needs d / v + v / a for a distance d of at least v^2 / a, and
    2 sqrt(d / a) for a shorter one.

    Parameters
    ----------
    speed : float or sequence of float
        Top speed in units of the coordinates per second, of all axes or of each.
    acceleration : float or sequence of float, optional
        In units per second squared; None for an axis at top speed at once.
    """

    maximum: ClassVar[bool] = True
    unit: ClassVar[str] = "s"
    speed: tuple[float, ...]
    acceleration: tuple[float, ...] | None = None

    def __init__(
        self, speed: float | Sequence[float], acceleration: float | Sequence[float] | None = None
    ) -> None:
        object.__setattr__(self, "speed", _of_axes("speed", speed))
        fast = None if acceleration is None else _of_axes("acceleration", acceleration)
        object.__setattr__(self, "acceleration", fast)

    @property
    def exact(self) -> bool:
        """Whether there is no acceleration to consider."""
        return self.acceleration is None

    def cost(self, start: NDArray[np.float64], end: NDArray[np.float64]) -> NDArray[np.float64]:
        """The time of the slowest axis, in seconds."""
        distance = np.abs(end - start)
        speed = _for_axes("speed", self.speed, distance.shape[-1])
        if self.acceleration is None:
            seconds = distance / speed
        else:
            fast = _for_axes("acceleration", self.acceleration, distance.shape[-1])
            cruising = distance / speed + speed / fast
            seconds = np.where(distance >= speed**2 / fast, cruising, 2.0 * np.sqrt(distance / fast))
        slowest: NDArray[np.float64] = seconds.max(axis=-1)
        return slowest

    def frame(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """Coordinates in seconds at top speed; with acceleration the search only begins with them."""
        return points / _for_axes("speed", self.speed, points.shape[-1])


def machine_of(machine: Machine | str) -> Machine:
    """Return the machine of a name, ``euclidean`` or ``max``; raises `InvalidOption` for anything else."""
    if isinstance(machine, Machine):
        return machine
    named: dict[str, Machine] = {"euclidean": Euclidean(), "max": MaxOfAxes()}
    if not isinstance(machine, str) or machine.lower() not in named:
        raise InvalidOption(f"machine: {shown(machine)} is neither euclidean nor max, nor has it axis times")
    return named[machine.lower()]


def _of_axes(name: str, value: Any) -> tuple[float, ...]:
    values = tuple(value) if isinstance(value, (tuple, list)) or hasattr(value, "__iter__") else (value,)
    if not 1 <= len(values) <= 3:
        raise InvalidOption(f"{name}: {len(values)} numbers; one, or one for each axis, is needed")
    return tuple(checked_number(name, v, minimum=1e-300, what="a positive number") for v in values)


def _for_axes(name: str, values: tuple[float, ...], axes: int) -> NDArray[np.float64]:
    if len(values) not in (1, axes):
        raise InvalidOption(f"{name}: {len(values)} numbers for {axes} axes; one, or one for each, is needed")
    return np.array(values)
