"""What ``solve`` returns."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from warptsp._checks import shown
from warptsp._offers import find
from warptsp._words import counted
from warptsp.progress import relative_gap

if TYPE_CHECKING:
    import os

    import numpy as np
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from warptsp.problem import KnownLength, Problem


class HistoryPoint(NamedTuple):
    """An improvement: `seconds` after the call of ``solve``, the best tour had this `length`."""

    seconds: float
    length: int | float


class Snapshot(NamedTuple):
    """A tour on the way: `seconds` after the call of ``solve`` the best `tour` had this exact `length`."""

    seconds: float
    length: int | float
    tour: NDArray[np.int32]


class Stage(NamedTuple):
    """A method of a run: `length` is that of the best tour when it ended after `seconds` of its own."""

    method: str
    device: str
    seconds: float
    length: int | float
    stop_reason: str
    counters: dict[str, int | float]
    params: dict[str, Any]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Result:
    """The best tour of a run, checked to be a permutation of the cities, and how it came about.

    Attributes
    ----------
    tour : ndarray of int32, shape (n,)
        The cities, numbered from 0, in visiting order. A closed tour starts at city 0; a path at its start.
        Read-only.
    length : int or float
        Its exact length: int for the integer metrics of TSPLIB, float for the others.
    problem : Problem
        The instance.
    known : KnownLength or None
        The optimal or best known length of the instance, if there is one on record, or if this run has
        proved its own to be optimal.
    lower_bound : int, float or None
        A length below which no tour of the instance is, proved (docs/bounds.md); None if there is none.
    history : list of HistoryPoint
        (seconds, length) of every improvement that was reported, in order of time. Lengths before the last
        are the method's own running figures.
    counters : dict of str to number
        ``kicks`` and the method's other figures; with two methods their sums.
    seconds : float
        Wall time from the call of ``solve`` to its end.
    stop_reason : str
        Why the search ended.
    proved_optimal : bool
        Whether it is proved that no tour is shorter: by the search for up to 12 cities, and with the method
        ``exact`` up to 16; by the lower bound where lengths are integers and it equals the tour's.
    interrupted : bool
        Whether a signal (Ctrl-C, SIGTERM) or an exception ended it.
    signal : int or None
        The number of that signal.
    device : str
        Where the search ran: ``"cpu"``, ``"cuda:N"`` or several GPUs as ``"cuda:0,1"``; `stages` has the
        device of a second method. It is also ``"cpu"`` if the run ended before the kernels for a GPU were
        compiled; the counter ``seconds_on_cpu`` says how long the CPU searched before the GPU did.
    seed, threads, method, start, params
        The settings of the run.
    then : str or None
        The second method, if one was asked for.
    stages : tuple of Stage
        The methods that ran, one or two.
    snapshots : tuple of Snapshot
        Tours from the course of the run, each shorter than the one before: the first, the best as the last,
        and others spaced evenly over the logarithm of time; empty unless `solve` was asked for them. Their
        arrays are read-only.
    """

    tour: NDArray[np.int32]
    length: int | float
    problem: Problem
    known: KnownLength | None
    history: list[HistoryPoint]
    counters: dict[str, int | float]
    seconds: float
    stop_reason: str
    proved_optimal: bool = False
    interrupted: bool = False
    signal: int | None = None
    seed: int = 0
    threads: int = 1
    method: str = "lk"
    device: str = "cpu"
    start: str = "greedy"
    params: dict[str, Any] = field(default_factory=dict)
    then: str | None = None
    stages: tuple[Stage, ...] = ()
    snapshots: tuple[Snapshot, ...] = ()
    lower_bound: int | float | None = None

    @property
    def kicks(self) -> int:
        """Kicks that the search made."""
        return int(self.counters.get("kicks", 0))

    @property
    def gap(self) -> float | None:
        """Length over the optimal or best known length of the instance, minus 1; None if not known."""
        return relative_gap(self.length, None if self.known is None else self.known.length)

    @property
    def bound_gap(self) -> float | None:
        """Length over the lower bound, minus 1: the tour is at most this much longer than the shortest.

        None without a bound, or if it is 0 and the length is not.
        """
        return relative_gap(self.length, self.lower_bound)

    def summary(self) -> str:
        """Return a few lines for people: length, gap, time, device, seed, reason of the end."""
        return "\n".join(f"{name:12} {value}" for name, value in self.facts())

    def facts(self) -> list[tuple[str, str]]:
        """Return the lines of the summary as pairs of a name and a text."""
        facts = [("length", f"{format_length(self.length)}{unit_of(self.problem)}")]
        known = self.known
        if known is not None and self.gap is not None:
            kind = "optimum" if known.proven else "best known length"
            facts.append(("gap", f"{format_gap(self.gap)} to the {kind}, {format_length(known.length)}"))
        if self.proved_optimal:
            kind = "tour" if self.problem.open is None else "path"
            facts.append(("bound", f"optimal, proved: no {kind} is shorter"))
        elif self.bound_gap is not None:
            bound = f"at most {format_gap(self.bound_gap)} above the shortest"
            facts.append(("bound", f"{bound}: none is below {format_length(self.lower_bound or 0)}"))
        facts.append(("time", f"{self.seconds:.2f} s, {self.kicks} kicks"))
        if len(self.stages) > 1:
            facts += [
                (
                    stage.method,
                    f"{format_length(stage.length)} after {stage.seconds:.2f} s on {stage.device}, "
                    f"{stage.stop_reason}",
                )
                for stage in self.stages
            ]
        facts += [
            (
                "device",
                f"{self.device}, {counted(self.threads, 'thread', 'threads')}{self._before_the_gpu()}",
            ),
            ("seed", str(self.seed)),
            ("stopped by", self.stop_reason),
        ]
        if self.problem.asymmetric:
            cities = max((stage.counters.get("symmetric_cities", 0) for stage in self.stages), default=0)
            way = f", searched as symmetric ones of {cities} cities" if cities else ""
            facts.append(("distances", f"asymmetric{way}"))
        return facts

    def _before_the_gpu(self) -> str:
        seconds = self.counters.get("seconds_on_cpu")
        return f"; the CPU for {seconds:.1f} s, while kernels were compiled" if seconds else ""

    def as_dict(self) -> dict[str, Any]:
        """Return the summary as plain numbers and strings, for JSON; without the tour and the history."""
        known = self.known
        return {
            "instance": self.problem.name,
            "cities": self.problem.n,
            "metric": self.problem.metric.name,
            "closed": self.problem.open is None,
            "asymmetric": self.problem.asymmetric,
            "length": self.length,
            "known_length": None if known is None else known.length,
            "known_length_is_optimal": None if known is None else known.proven,
            "gap_percent": None if self.gap is None else 100.0 * self.gap,
            "proved_optimal": self.proved_optimal,
            "lower_bound": self.lower_bound,
            "bound_gap_percent": None if self.bound_gap is None else 100.0 * self.bound_gap,
            "seconds": round(self.seconds, 3),
            "counters": dict(self.counters),
            "stop_reason": self.stop_reason,
            "interrupted": self.interrupted,
            "seed": self.seed,
            "threads": self.threads,
            "device": self.device,
            "method": self.method,
            "start": self.start,
            "params": dict(self.params),
            "then": self.then,
            "stages": [stage._asdict() for stage in self.stages],
        }

    def tour_from(self, city: int) -> NDArray[np.int32]:
        """Return the closed tour rotated to start at `city` (numbered from 0)."""
        import numpy as np

        from warptsp.errors import InvalidOption

        if self.problem.open is not None:
            raise InvalidOption("an open path has its own start; rotate closed tours only")
        places = np.flatnonzero(self.tour == city)
        if len(places) == 0:
            raise InvalidOption(f"city {shown(city)}: cities are numbered from 0 to {self.problem.n - 1}")
        return np.roll(self.tour, -int(places[0]))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the tour; the ending of the name sets the format (see docs/formats.md), .svg and .png draw
        it, and .html is the page that `report` writes.

        Raises
        ------
        OutputError
            If the file cannot be written or the format is unknown.
        """
        from warptsp.endings import PAGES, PICTURES, ends_in
        from warptsp.io import write_tour

        if ends_in(path, PICTURES):
            find("picture")(path, self.problem, self.tour)
        elif ends_in(path, PAGES):
            self.report(path)
        else:
            write_tour(path, self.tour, self.problem)

    def plot(self, path: str | os.PathLike[str] | None = None, **options: Any) -> Figure:
        """Draw the run with matplotlib: the tour, the gap over time, and with snapshots the start tour.

        Parameters
        ----------
        path : path, optional
            File to write: ``.png``, ``.svg`` or ``.pdf``.
        **options
            Those of `warptsp.plot`: ``panels``, ``start``, ``title``, ``size``, ``figure``.

        Returns
        -------
        matplotlib.figure.Figure
            A notebook shows it.

        Raises
        ------
        BackendUnavailable
            If matplotlib is not installed: it comes with ``pip install 'warptsp[plot]'``.
        InvalidOption, UnsupportedProblem, OutputError
            See `warptsp.plot`.
        """
        if len(self.snapshots) > 1:
            options.setdefault("start", self.snapshots[0].tour)
        figure: Figure = find("figure")(
            self.problem,
            self.tour,
            path,
            **{"history": self.history, "seconds": self.seconds, "known": self.known, **options},
        )
        return figure

    def report(self, path: str | os.PathLike[str]) -> None:
        """Write a page about the run, tour and snapshots in it, that browsers open without a network.

        Raises
        ------
        UnsupportedProblem
            If there are too many cities for a page.
        OutputError
            If the file cannot be written.
        """
        find("report")(self, path)

    def __repr__(self) -> str:
        gap = "" if self.gap is None else f", gap={format_gap(self.gap)}"
        return (
            f"Result(cities={self.problem.n}, length={format_length(self.length)}{gap}, "
            f"seconds={self.seconds:.2f}, stop_reason={self.stop_reason!r})"
        )

    def __str__(self) -> str:
        return self.summary()

    def _repr_html_(self) -> str:
        """Return what a notebook shows: the picture and the summary."""
        html: str = find("notebook")(self)
        return html


def format_length(length: int | float) -> str:
    """Write a length in full if it is an integer, with ten significant digits if not."""
    return str(length) if isinstance(length, int) else f"{length:.10g}"


def unit_of(problem: Problem) -> str:
    """Return what to write behind a length; nothing if the unit is unknown."""
    return " m along great circles" if problem.metric.name == "GREAT_CIRCLE" else ""


def format_gap(gap: float) -> str:
    """Write a relative gap in per cent, exact zero as ``0 %``."""
    return "0 %" if gap == 0 else f"{100.0 * gap:.3f} %"
