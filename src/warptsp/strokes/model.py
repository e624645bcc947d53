"""Strokes as the search sees them: the points where each may be entered, and where it is left then."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from warptsp._checks import shown
from warptsp.errors import InvalidOption, InvalidProblem
from warptsp.strokes.machine import Machine

Reals = NDArray[np.float64]
Path = Reals  # points, one or many
Ints = NDArray[np.intp]
Flags = NDArray[np.bool_]
LARGEST = 1e150
"""A coordinate, at most: squares of it are finite."""


def checked_paths(paths: Iterable[ArrayLike]) -> list[Path]:
    """Arrays of points, of one or more rows each, all of two or all of three finite numbers.

    Raises `InvalidProblem`, which names the stroke.
    """
    found: list[Path] = []
    for number, path in enumerate(paths):
        try:
            points = np.asarray(path, dtype=np.float64)
        except (TypeError, ValueError):
            raise InvalidProblem(f"stroke {number}: its points are not numbers") from None
        if points.ndim == 1 and points.shape[0] in (2, 3):
            points = points[None]  # a hole
        axes = found[0].shape[1] if found else 0
        if points.ndim != 2 or points.shape[1] not in (2, 3) or len(points) == 0:
            raise InvalidProblem(
                f"stroke {number} has shape {points.shape}: points of shape (k, 2) or (k, 3) are needed"
            )
        if axes and points.shape[1] != axes:
            raise InvalidProblem(
                f"stroke {number} has points of {points.shape[1]} numbers, stroke 0 of {axes}"
            )
        if not np.isfinite(points).all() or np.abs(points).max() > LARGEST:
            raise InvalidProblem(f"stroke {number}: finite numbers below 1e150 are needed")
        found.append(points)
    return found


def checked_point(name: str, point: ArrayLike | None, axes: int) -> Path | None:
    """One point of as many numbers as the strokes have, or None; raises `InvalidOption` for anything else."""
    if point is None:
        return None
    try:
        found = np.asarray(point, dtype=np.float64)
    except (TypeError, ValueError):
        found = np.empty(0)
    if found.shape != (axes,) or not np.isfinite(found).all():
        raise InvalidOption(
            f"{name}: {shown(point)} is not a point of {axes} numbers, as those of the strokes"
        )
    return found


def checked_flags(name: str, value: bool | ArrayLike, n: int) -> Flags:
    """One truth value for each stroke, or one for all; raises `InvalidOption` for anything else."""
    flags = np.asarray(value)
    if flags.dtype != np.bool_ or flags.shape not in ((), (n,)):
        raise InvalidOption(
            f"{name}: {shown(value)} is neither True nor False, nor one of them for each stroke"
        )
    return np.broadcast_to(flags, (n,)).copy()


def checked_groups(groups: Sequence[object] | None, n: int) -> NDArray[np.int64]:
    """The place of each stroke's group: whole numbers in their order, anything else as it first appears.

    Raises `InvalidOption` if there is not one for each stroke.
    """
    if groups is None:
        return np.zeros(n, dtype=np.int64)
    names = list(groups)
    if len(names) != n:
        raise InvalidOption(f"groups: {len(names)} for {n} strokes; one for each is needed")
    whole = all(isinstance(name, (int, np.integer)) for name in names)
    known = sorted(set(names)) if whole else dict.fromkeys(names)  # type: ignore[type-var]
    places = {name: place for place, name in enumerate(known)}
    return np.array([places[name] for name in names], dtype=np.int64)


@dataclass(frozen=True, slots=True)
class Units:
    """What is put in order: strokes, or chains of strokes that are joined."""

    first: Path  # where each begins; shape (n, 2) or (n, 3)
    last: Path  # where it ends: the same point for a hole, or for a loop that is entered there
    reversible: Flags

    def __len__(self) -> int:
        return len(self.first)

    def of(self, members: Ints) -> "Units":
        """Some of them."""
        return Units(self.first[members], self.last[members], self.reversible[members])

    def entered_at(self, points: Path, members: Ints) -> "Units":
        """The same, with the closed loops `members` entered at these points."""
        first, last = self.first.copy(), self.last.copy()
        first[members] = last[members] = points
        return replace(self, first=first, last=last)

    def entered(self, unit: int, backwards: Flags) -> Path:
        """Where a unit begins, drawn as the flags say."""
        point: Path = self.last[unit] if backwards[unit] else self.first[unit]
        return point

    def left(self, unit: int, backwards: Flags) -> Path:
        """Where it ends."""
        point: Path = self.first[unit] if backwards[unit] else self.last[unit]
        return point

    @property
    def free(self) -> bool:
        """Whether each may be drawn in either direction."""
        return bool((self.reversible | self.single).all())

    @property
    def single(self) -> Flags:
        """Which are one point for the search."""
        same: Flags = (self.first == self.last).all(axis=1)
        return same


@dataclass(frozen=True, slots=True)
class Ends:
    """Where the tool comes from and where it must go; None leaves it open."""

    start: Path | None = None
    end: Path | None = None


@dataclass(slots=True)
class Ordering:
    """An order of units and which of them are drawn backwards."""

    order: Ints
    backwards: Flags


@dataclass(frozen=True, slots=True)
class Section:
    """Units to be put in order between two ends."""

    units: Units
    machine: Machine
    ends: Ends
    parent: Ints | None = None  # for each unit the one that must come later, -1 for none
