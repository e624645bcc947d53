"""What `arrange` returns."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from warptsp._facts import Fact, lines_of, pairs_of, values_of
from warptsp.strokes.machine import Machine
from warptsp.strokes.model import Flags, Ints, Path

_LITTLE = 0.9  # of the travel: groups that cost less than the rest are not worth a line


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """An order of strokes, how each is drawn, and the travel between them.

    Attributes
    ----------
    order : ndarray of int, shape (n,)
        The strokes in the order of drawing, counted from 0.
    backwards : ndarray of bool, shape (n,)
        For each stroke, not for each place in the order, whether it is drawn from its last point to its
        first.
    entry : ndarray of int, shape (n,)
        For each closed stroke the vertex at which it is entered and left; 0 for the others.
    joined : ndarray of bool, shape (n,)
        For each stroke whether the tool stays down between the one before and this.
    travel, travel_before : float
        The cost of all travels, in the unit of the machine, and that of the order that was given.
    travel_mixed : float or None
        The travel, at most, if groups could be mixed; None where there is one group. An estimate: it is that
        of always drawing the nearest stroke next.
    home : ndarray of float64 or None
    back : bool
    machine : Machine
    seconds : float
        Wall time of the call.
    kicks : int
    stop_reason : str
        Why the last search ended: "proved optimal" only if no plan has less travel, not merely no order of a
        part of it.
    interrupted : bool
    signal : int or None
        The number of the signal that ended it.
    """

    order: Ints
    backwards: Flags
    entry: Ints
    joined: Flags
    travel: float
    travel_before: float
    home: Path | None
    back: bool
    machine: Machine
    seconds: float
    kicks: int = 0
    stop_reason: str = ""
    interrupted: bool = False
    signal: int | None = None
    travel_mixed: float | None = None

    def drawn(self, paths: Sequence[Path]) -> list[Path]:
        """The strokes in their order, each as an array of points in the direction of drawing."""
        return [self.stroke(np.asarray(paths[i]), i) for i in self.order.tolist()]

    def stroke(self, path: Path, number: int) -> Path:
        """The points of a stroke as it is drawn."""
        entry = int(self.entry[number])
        if entry:
            path = np.concatenate([path[entry:-1], path[: entry + 1]])
        return path[::-1] if self.backwards[number] else path

    @property
    def saved(self) -> float:
        """Which part of the travel is gone: 0.25 for a quarter."""
        return 1.0 - self.travel / self.travel_before if self.travel_before > 0 else 0.0

    def summary(self) -> str:
        """Return a few lines for people."""
        return "\n".join(lines_of(self.told()))

    def facts(self, unit: str = "") -> list[tuple[str, str]]:
        """Return the lines of the summary as pairs of a name and a text; coordinates are in `unit`."""
        return pairs_of(self.told(unit))

    def as_dict(self, unit: str = "") -> dict[str, Any]:
        """Return the figures as plain values, without the order; coordinates are in `unit`."""
        return values_of(self.told(unit))

    def told(self, unit: str = "") -> list[Fact]:
        """Return what the summary and `as_dict` say; coordinates are in `unit`."""
        unit = self.machine.unit or unit
        behind = f" {unit}" if unit else ""
        joined = int(self.joined.sum())
        pauses = len(self.order) - joined
        mixed = None
        if self.travel_mixed is not None and self.travel_mixed < _LITTLE * self.travel:
            share = 1.0 - self.travel_mixed / self.travel_before if self.travel_before > 0 else 0.0
            about = f"{self.travel_mixed:.6g}{behind}, {_compared(share)}"
            mixed = f"keep their places; mixed, the travel would be about {about}"
        return [
            Fact("strokes", len(self.order)),
            Fact("travel", self.travel, f"{self.travel:.6g}{behind}, {_compared(self.saved)}"),
            Fact("travel_before", self.travel_before, f"{self.travel_before:.6g}{behind}", "before"),
            Fact("travel_mixed", self.travel_mixed, mixed, "groups"),
            Fact("saved_percent", 100.0 * self.saved),
            Fact("unit", unit),
            Fact("joined", joined, f"{pauses} times" if pauses != 1 else "once", "pen down"),
            Fact("back", self.back),
            Fact("home", None if self.home is None else self.home.tolist()),
            Fact("seconds", round(self.seconds, 3), f"{self.seconds:.2f} s, {self.kicks} kicks", "time"),
            Fact("kicks", self.kicks),
            Fact("stop_reason", self.stop_reason),
            Fact("interrupted", self.interrupted),
        ]


def _compared(saved: float) -> str:
    """A saving in words.

    >>> _compared(0.785), _compared(-0.308)
    ('78.5 % less than before', '30.8 % more than before')
    """
    return f"{100 * abs(saved):.1f} % {'more' if saved < 0 else 'less'} than before"


def travel_points(drawn: Sequence[Path], home: Path | None, back: bool) -> tuple[Path, Path]:
    """Where each travel begins and where it ends, with those from and to the home position."""
    starts, ends = [path[-1] for path in drawn], [path[0] for path in drawn]
    if home is None or not drawn:
        ends = ends[1:]
    else:
        starts.insert(0, home)
        ends += [home] * back
    starts = starts[: len(ends)]
    axes = drawn[0].shape[1] if drawn else 2
    return np.array(starts).reshape(-1, axes), np.array(ends).reshape(-1, axes)
