"""What ``solve`` returns. Long: users read all about it here."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from warptsp._checks import checked_whole
from warptsp._facts import Fact, lines_of, values_of
from warptsp._offers import find
from warptsp._words import counted
from warptsp.claims import bound_gap
from warptsp.errors import InvalidOption
from warptsp.exports import Exports
from warptsp.problem import KnownLength, Problem
from warptsp.problem.itinerary import Itinerary, Schedule, Timing, distances
from warptsp.problem.tours import beginning_with
from warptsp.progress import in_percent, relative_gap
from warptsp.quantities import duration_text, finite, format_gap, length_text, number_text

_NO_TIMING = Timing()
_STOPS_TOLD = 100  # in the summary of a schedule


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
class Result(Exports):
    """The best tour of a run, checked to be a permutation of the cities, and how it came about.

    Attributes
    ----------
    tour : ndarray of int32, shape (n,)
        The cities, numbered from 0, in visiting order. A closed tour starts at city 0, or at the `start_city`
        that `solve` was given; a path at its start. Read-only.
    length : int or float
        Its exact length: int for the integer metrics of TSPLIB, float for the others.
    problem : Problem
        The instance.
    known : KnownLength or None
        The optimal or best known length of the instance, if there is one on record, or if this run has
        proved its own to be optimal.
    lower_bound : int, float or None
        A proved lower bound on the length of any tour (docs/bounds.md); None if there is none. Real
        ones are below `length` by one part in 10**12 at least.
    history : list of HistoryPoint
        (seconds, length) of every improvement that was reported, in order of time. Lengths before the last
        are the method's own running figures.
    counters : dict of str to number
        ``kicks`` and the method's other figures; with two methods their sums.
    seconds : float
        Wall time from the call of ``solve`` to its end.
    stop_reason : str
        Why the search ended, and, where a proof went wrong, why there is none.
    proved_optimal : bool
        Whether it is proved that no tour is shorter; where lengths are real, by more than one part in 10**12
        (by branch and cut 10**7). The search proves it for up to 12 cities, with the method ``exact`` up to
        16, and the lower bound where lengths are integers and it equals the tour's.
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
        return bound_gap(self.length, self.lower_bound)

    @property
    def missing_arcs(self) -> NDArray[np.int32]:
        """The arcs of the tour that are missing from the matrix, shape (m, 2).

        Only the result that comes with `NoTourFound`, or with another exception, has any. It claims nothing:
        its length is infinite, and it has no bound.
        """
        return self.problem.missing_arcs(self.tour)

    def without_claims(self) -> Result:
        """Return the same result without what is said of lengths: its tour has missing arcs."""

        def unclaimed(reason: str) -> dict[str, Any]:
            reason = reason.replace("proved optimal", "proved that there is no tour")
            return {"length": math.inf, "stop_reason": reason}

        stages = tuple(stage._replace(**unclaimed(stage.stop_reason)) for stage in self.stages)
        none: dict[str, Any] = {"known": None, "history": [], "proved_optimal": False, "lower_bound": None}
        return replace(self, **unclaimed(self.stop_reason), **none, stages=stages, snapshots=())

    @property
    def names(self) -> list[str]:
        """The names of the cities in visiting order; their numbers in the file if they have none."""
        return [self.problem.label(city) for city in self.tour.tolist()]

    def starting_at(self, city: int) -> Result:
        """Return the same result with its closed tour rotated to start at `city` (numbered from 0)."""
        tour = self.tour_from(city)
        tour.flags.writeable = False
        return replace(self, tour=tour)

    def summary(self) -> str:
        """Return a few lines for people: length, gap, time, device, seed, reason of the end."""
        return "\n".join(lines_of(self.told()))

    def told(self, timing: Timing = _NO_TIMING) -> list[Fact]:
        """Return what the summary and `as_dict` say, but for the tour."""
        problem, unit = self.problem, self.problem.unit
        arcs = [[problem.label(city) for city in arc] for arc in self.missing_arcs.tolist()]
        if arcs:
            number = counted(len(arcs), "arc is", "arcs are")
            length = f"none: {number} missing, such as the one from {arcs[0][0]} to {arcs[0][1]}"
        else:
            along = " along great circles" if problem.metric.name == "GREAT_CIRCLE" else ""
            length = length_text(self.length, unit) + along
        bound = None
        if self.proved_optimal:
            bound = optimal_words(problem, self.length, self.lower_bound)
        elif self.bound_gap is not None:
            least = length_text(self.lower_bound or 0, unit, down=True)
            bound = f"at most {format_gap(self.bound_gap, up=True)} above the shortest: none is below {least}"
        stages = [{**stage._asdict(), "length": finite(stage.length)} for stage in self.stages]
        each = [
            Fact(
                "",
                name=stage.method,
                words=f"{length_text(stage.length, unit)} after {stage.seconds:.2f} s on {stage.device}, "
                f"{stage.stop_reason}",
            )
            for stage in self.stages
            if len(stages) > 1
        ]
        before = ""
        if early := self.counters.get("seconds_on_cpu"):
            before = f"; the CPU for {early:.1f} s, while kernels were compiled"
        threads = counted(self.threads, "thread", "threads")
        doubled = max((stage.counters.get("symmetric_cities", 0) for stage in self.stages), default=0)
        searched = f", searched as symmetric ones of {doubled} cities" if doubled else ""
        directions = f"asymmetric{searched}" if problem.asymmetric else None
        kicks = f", {self.kicks} kicks" if self.kicks else ""  # a population may do without
        return [
            Fact("instance", problem.name),
            Fact("cities", problem.n),
            Fact("metric", problem.metric.name),
            Fact("closed", problem.open is None),
            Fact("length", finite(self.length), length),
            Fact("unit", unit),
            *([] if arcs else self._times(timing)),
            Fact("missing_arcs", arcs),
            Fact("warning", problem.doubt, problem.doubt),
            *known_facts(self.known, self.length, unit),
            Fact("proved_optimal", self.proved_optimal),
            Fact("lower_bound", self.lower_bound, bound, "bound"),
            Fact("bound_gap_percent", in_percent(self.bound_gap)),
            Fact("seconds", round(self.seconds, 3), f"{self.seconds:.2f} s{kicks}", "time"),
            Fact("stages", stages),
            *each,
            Fact("counters", dict(self.counters)),
            Fact("device", self.device, f"{self.device}, {threads}{before}"),
            Fact("threads", self.threads),
            Fact("seed", self.seed, str(self.seed)),
            Fact("stop_reason", self.stop_reason, self.stop_reason, "stopped by"),
            Fact("interrupted", self.interrupted),
            Fact("asymmetric", problem.asymmetric, directions, "distances"),
            Fact("method", self.method),
            Fact("start", self.start),
            Fact("params", dict(self.params)),
            Fact("then", self.then),
        ]

    def _times(self, timing: Timing) -> list[Fact]:
        """What is said of times: how long the tour takes, and of few stops when each is reached."""
        schedule = Schedule.of(self.problem, self.tour, timing)
        if schedule is None or not np.isfinite(schedule.seconds[-1]):
            return []
        way, total = schedule.travel_seconds, float(schedule.seconds[-1])
        speed = "" if timing.speed is None else f" at {timing.speed:g} km/h"
        words = [f"{duration_text(way)}{speed}"] if self.problem.unit != "s" else []
        if timing.stop_time:
            words.append(f"{duration_text(total)} with stops of {duration_text(timing.stop_time)}")
        told = ", ".join(words) or None
        facts = [Fact("travel_seconds", way, told, "travel time"), Fact("total_seconds", total)]
        if timing.speed is not None:
            facts.append(Fact("speed_kmh", timing.speed))
        if timing.stop_time:
            facts.append(Fact("stop_seconds", timing.stop_time))
        if timing.depart is not None:
            depart, finish = schedule.arrival(0), schedule.arrival(-1)
            facts += [Fact("depart", depart), Fact("finish", finish)]
            names = self.names[:_STOPS_TOLD]
            rows = [f"{schedule.arrival(at)[:-3]}  {name}" for at, name in enumerate(names)]
            if len(names) < self.problem.n:
                rows.append(f"... and {self.problem.n - len(names)} more")
            if self.problem.open is None:
                rows.append(f"{finish[:-3]}  {self.names[0]}")
            facts += [Fact("", words=row, name="" if at else "arrivals") for at, row in enumerate(rows)]
        return facts

    def as_dict(
        self, *, speed: float | None = None, stop_time: float = 0.0, depart: Any = None
    ) -> dict[str, Any]:
        """Return summary and tour as plain numbers and strings, for JSON; without the history.

        The tour is there as cities counted from 0 (``tour``), as their numbers in the file (``ids``) and
        their names (``names``, None without any), with the distance to the next city (``legs``) and from the
        start (``cumulative``), in ``unit``; of a table of durations that has distances, too, these are
        ``leg_distances``, in ``distance_unit``.

        Parameters
        ----------
        speed, stop_time, depart
            As `schedule` takes them: then, and of a table of durations, the dict has ``leg_seconds``, the
            time from the start to each city (``cumulative_seconds``), stops included, and back
            (``total_seconds``), and with `depart` each arrival as text (``arrivals``).

        Raises
        ------
        InvalidOption
            Nothing gives these times.
        """
        problem, timing = self.problem, Timing(speed, stop_time, depart)
        itinerary = Itinerary.of(problem, self.tour)
        found = {
            **values_of(self.told(timing)),
            "tour": self.tour.tolist(),
            "ids": problem.ids_of(self.tour).tolist(),
            "names": None if problem.labels is None else self.names,
            "legs": [finite(leg) for leg in itinerary.legs.tolist()],
            "cumulative": [finite(distance) for distance in itinerary.cumulative.tolist()],
        }
        if problem.unit == "s" and (other := distances(problem, self.tour)) is not None:
            found["leg_distances"] = [finite(leg) for leg in other[0].legs.tolist()]
            found["distance_unit"] = other[1]
        if (schedule := Schedule.of(problem, self.tour, timing)) is not None:
            found["leg_seconds"] = [finite(leg) for leg in schedule.legs.tolist()]
            found["cumulative_seconds"] = [finite(time) for time in schedule.seconds[: problem.n].tolist()]
            if timing.depart is not None:
                found["arrivals"] = [schedule.arrival(at) for at in range(problem.n)]
        return found

    def tour_from(self, city: int) -> NDArray[np.int32]:
        """Return the closed tour rotated to start at `city` (numbered from 0)."""
        if self.problem.open is not None:
            raise InvalidOption("an open path has its own start; rotate closed tours only")
        return beginning_with(self.tour, checked_whole("city", city, 0, self.problem.n - 1))

    def insert(self, points: ArrayLike, **options: Any) -> Result:
        """Return a result with new places, inserted with the least detour; the others keep their order.

        Parameters
        ----------
        points : array_like, shape (k, 2) or (k, 3)
            Coordinates as those of the instance.
        **options
            Those of `warptsp.insertion.insert`: ``labels``, ``improve``, ``seed``.

        Raises
        ------
        InvalidProblem, InvalidOption, UnsupportedProblem
            See `warptsp.insertion.insert`.
        """
        found: Result = find("insert")(self.problem, self.tour, points, **options)
        return found

    def remove(self, cities: Iterable[int]) -> Result:
        """Return a result without some cities, counted from 0; the others keep their order.

        Raises
        ------
        InvalidOption, UnsupportedProblem
            See `warptsp.insertion.remove`.
        """
        found: Result = find("remove")(self.problem, self.tour, cities)
        return found

    def __repr__(self) -> str:
        gap = "" if self.gap is None else f", gap={format_gap(self.gap)}"
        return (
            f"Result(cities={self.problem.n}, length={number_text(self.length)}{gap}, "
            f"seconds={self.seconds:.2f}, stop_reason={self.stop_reason!r})"
        )

    def __str__(self) -> str:
        return self.summary()

    def _repr_html_(self) -> str:
        """Return what a notebook shows: the picture and the summary."""
        return str(find("notebook")(self))


def optimal_words(problem: Problem, length: int | float, bound: int | float | None) -> str:
    """Say that a tour is optimal; where branch and cut has proved that of real lengths, to which digits."""
    words = f"optimal, proved: no {'tour' if problem.open is None else 'path'} is shorter"
    if bound is None or not bound_gap(length, bound):
        return words
    return f"{words} than {length_text(bound, problem.unit, down=True)}, which is rounded down"


def known_facts(known: KnownLength | None, length: int | float, unit: str) -> list[Fact]:
    """What is said of a length beside the optimal or best known one, if that is known."""
    if known is None:
        return [Fact(key) for key in ("known_length", "known_length_is_optimal", "gap_percent")]
    gap = relative_gap(length, known.length)
    kind = "optimum" if known.proven else "best known length"
    words = None if gap is None else f"{format_gap(gap)} to the {kind}, {length_text(known.length, unit)}"
    return [
        Fact("known_length", known.length),
        Fact("known_length_is_optimal", known.proven),
        Fact("gap_percent", in_percent(gap), words, "gap"),
    ]
