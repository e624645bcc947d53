"""An instance and a start tour in any of the forms that `solve` takes."""

import logging
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from warptsp._checks import checked_whole, shown
from warptsp._offers import find
from warptsp._words import as_called, counted, did_you_mean
from warptsp.errors import InvalidOption, InvalidProblem, InvalidTour
from warptsp.problem import Metric, OpenPath, Problem
from warptsp.problem.doubts import warn_of_degrees
from warptsp.problem.given_tour import checked_tour
from warptsp.problem.matrices import Distance
from warptsp.problem.values import plain_array
from warptsp.result import Result

_log = logging.getLogger(__name__)


class Frame(Protocol):
    """What a data frame is: columns by name."""

    @property
    def columns(self) -> Any: ...
    def __getitem__(self, name: Any, /) -> Any: ...


class ArrowStream(Protocol):
    """What offers its columns as a stream of Arrow's data."""

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any: ...


class Graph(Protocol):
    """What a graph of NetworkX is."""

    def is_multigraph(self) -> bool: ...
    def is_directed(self) -> bool: ...


Instance: TypeAlias = (
    Problem
    | ArrayLike
    | str
    | os.PathLike[str]
    | Mapping[Any, Any]
    | Sequence[Any]
    | Iterator[Any]
    | Frame
    | ArrowStream
    | Graph
)
"""The forms in which `solve` takes an instance."""


def as_problem(
    problem: Instance, *, metric: Metric | str | Distance | None = None, asymmetric: bool = False
) -> Problem:
    """Return the problem that `solve` was given in any of its forms.

    What an array of shape (2, 2) or (3, 3) is taken for, `Problem.from_array` says. Raises `InvalidProblem`
    if it is none of them; `InvalidOption` if `metric` does not fit it.
    """
    if isinstance(problem, Problem):
        if metric is not None:
            raise InvalidOption(
                f"metric: the problem has its own, {problem.metric.name}; give its points instead"
            )
        return problem
    if isinstance(problem, (str, os.PathLike)):
        from warptsp.io import load

        return load(problem, asymmetric=asymmetric, metric=metric)  # type: ignore[arg-type]  # a name
    if isinstance(problem, Iterator):
        problem = list(problem)  # such as zip(xs, ys)
    if hasattr(problem, "tocoo"):
        _check_no_metric(metric, "a sparse matrix")
        return Problem.from_matrix(problem, asymmetric=asymmetric)  # type: ignore[arg-type]
    if not isinstance(problem, np.ndarray) or problem.dtype == object:
        found = _of_other_packages(problem, metric, asymmetric=asymmetric)
        if found is not None:
            return found
    if metric is None:
        found = Problem.from_array(problem, asymmetric=asymmetric)  # type: ignore[arg-type]
        if found.coordinates is not None:
            warn_of_degrees("the points", found.coordinates)
        return found
    if callable(metric):
        return Problem.from_points(problem, metric, asymmetric=asymmetric)  # type: ignore[arg-type]
    if Metric.parse(metric) is Metric.EXPLICIT:
        return Problem.from_matrix(problem, asymmetric=asymmetric)  # type: ignore[arg-type]
    return Problem.from_points(problem, metric)  # type: ignore[arg-type]


def _of_other_packages(problem: Any, metric: Any, *, asymmetric: bool) -> Problem | None:
    """Return the problem in an object that is no array; None for what may be one, such as a list."""
    found: Problem
    is_list = isinstance(problem, (list, tuple)) and len(problem) > 0
    if isinstance(problem, Mapping) or (is_list and isinstance(problem[0], Mapping)):
        from warptsp.io.objects import problem_of_object

        return problem_of_object(problem, metric, asymmetric=asymmetric)
    if hasattr(problem, "is_multigraph") and hasattr(problem, "is_directed"):
        _check_no_metric(metric, "a graph")
        found = find("problem of a graph")(problem)
        return found
    if isinstance(problem, (set, frozenset)):
        raise InvalidProblem("a set has no order, by which its cities would be numbered: give a list")
    if is_list and isinstance(problem[0], str):
        raise InvalidProblem(
            f"the list holds {shown(problem[0])}: names alone have no coordinates, which a geocoder finds; a "
            "dict has both, {'Berlin': (52.5, 13.4)}"
        )
    if _are_shapes(problem):
        found = find("problem of shapes")(problem, metric)
        return found
    arrow = hasattr(problem, "__arrow_c_stream__") and not hasattr(problem, "__array__")
    if arrow or any(hasattr(problem, name) for name in ("columns", "column_names", "geom_type")):
        return Problem.from_frame(problem, metric, asymmetric=asymmetric)
    return None


def _are_shapes(problem: Any) -> bool:
    """Whether this is one shape, or a list or an array of shapes, told by the first."""
    if isinstance(getattr(problem, "geom_type", None), str):
        return True
    several = isinstance(problem, (list, tuple)) or (isinstance(problem, np.ndarray) and problem.ndim == 1)
    return several and len(problem) > 0 and isinstance(getattr(problem[0], "geom_type", None), str)


def _check_no_metric(metric: object, what: str) -> None:
    if metric is not None:
        raise InvalidOption(f"metric: {what} holds distances; leave {shown(metric)} out")


def instance_of(
    problem: Instance,
    *,
    metric: Metric | str | Distance | None = None,
    asymmetric: bool = False,
    open: bool | OpenPath | None = None,
    start_city: int | str | None = None,
    end_city: int | str | None = None,
) -> tuple[Problem, int | None]:
    """Return the instance of a call that searches for a tour, and the first city of a closed one.

    Metric and ends are known here, so that this is where doubts are told and missing arcs are looked at.
    Raises `InvalidProblem`: it is none, or its arcs make no tour; `InvalidOption`: the options contradict
    each other, or do not fit it.
    """
    found, first = with_ends(
        as_problem(problem, metric=metric, asymmetric=asymmetric), start_city, end_city, open
    )
    found.check_connected()
    if found.doubt is not None:
        _log.warning("%s", found.doubt)
    return found, first


def with_open(problem: Problem, open: bool | OpenPath) -> Problem:
    """Return the problem as a closed tour (False), as a path (True) or as the path that is given.

    A path that the problem already is keeps its ends. Raises `InvalidOption` if `open` is something else.
    """
    if isinstance(open, OpenPath):
        return replace(problem, open=open)
    if not isinstance(open, (bool, np.bool_)):
        raise InvalidOption(f"open: {shown(open)} is neither True, False nor an OpenPath(start, end)")
    if bool(open) == (problem.open is not None):
        return problem
    return replace(problem, open=OpenPath() if open else None)


def with_ends(
    problem: Problem,
    start: int | str | None,
    end: int | str | None,
    open: bool | OpenPath | None,
    city_of: Callable[[Problem, str], int] = Problem.city,
) -> tuple[Problem, int | None]:
    """Return the problem with these first and last cities, and the first one of a closed tour.

    `city_of` returns the city that a string stands for. An end of a path that is not given stays as the
    problem has it. Raises `InvalidOption` if there is no such city, or if the options contradict each other.
    """
    if open is not None:
        problem = with_open(problem, open)
    if start is None and end is None:
        return problem, None
    if isinstance(open, OpenPath):
        raise InvalidOption("open: an OpenPath has its own ends; leave start_city and end_city out")
    first = None if start is None else _city(problem, "start_city", "--from", start, city_of)
    last = None if end is None else _city(problem, "end_city", "--to", end, city_of)
    if last is not None and open is not None and not open:
        raise InvalidOption(
            f"{as_called('end_city', '--to and --closed')}: a closed tour has no end; leave it out"
        )
    if last is None and problem.open is None:
        return problem, first
    own = problem.open or OpenPath()
    first, last = (own.start if first is None else first), (own.end if last is None else last)
    if first is not None and first == last and problem.n > 1:
        if start is not None and end is not None:
            raise InvalidOption(
                f"{as_called('start_city and end_city', '--from and --to')}: both are {shown(start)}; a "
                f"round trip is a closed tour, without {as_called('end_city', '--to')}"
            )
        given, word = (start, "ends") if end is None else (end, "starts")
        raise InvalidOption(
            f"{as_called('start_city and end_city', '--from and --to')}: the path of the problem {word} at "
            f"{shown(given)} already; give both ends"
        )
    return replace(problem, open=OpenPath(first, last)), None


def _city(
    problem: Problem, option: str, in_shell: str, city: int | str, city_of: Callable[[Problem, str], int]
) -> int:
    """Return a city, counted from 0, that is given by this number or as a string."""
    if isinstance(city, str):
        try:
            return city_of(problem, city)
        except InvalidOption as error:
            raise InvalidOption(f"{as_called(f'{option}:', in_shell)} {error}") from None
    return checked_whole(option, city, 0, problem.n - 1)


def start_of(
    problem: Problem, start: str | os.PathLike[str] | ArrayLike | None
) -> tuple[str, NDArray[np.int32] | None]:
    """Return the start's name for the record, and the tour if it is one."""
    from warptsp.construct import CONSTRUCTIONS

    if start is None:
        return "patching" if problem.asymmetric else "greedy", None
    if isinstance(start, str) and start in CONSTRUCTIONS:
        return start, None
    if isinstance(start, str) and not os.path.exists(start):
        names, like = ", ".join(CONSTRUCTIONS), did_you_mean(start, CONSTRUCTIONS)
        raise InvalidOption(f"start: {shown(start)} is neither a construction ({names}) nor a file{like}")
    return given_tour(problem, start, "start tour")


def given_tour(
    problem: Problem, tour: str | os.PathLike[str] | ArrayLike, name: str
) -> tuple[str, NDArray[np.int32]]:
    """Return a tour that is given as a file, as cities or as a result, and its name for the record.

    `name` is what messages call one that is no file. Raises `InvalidTour` if it is not a tour of this
    problem; `ParseError` if the file cannot be read.
    """
    if isinstance(tour, (str, os.PathLike)):
        from warptsp.io import read_tour

        return os.fspath(tour), checked_start(problem, read_tour(tour, problem), os.fspath(tour))
    return "tour", checked_start(problem, tour.tour if isinstance(tour, Result) else tour, name)


def checked_start(problem: Problem, tour: ArrayLike, name: str) -> NDArray[np.int32]:
    """Return a start tour as an int32 array, turned so that it fits the ends of an open path.

    Raises `InvalidTour` if it is not a tour of this problem: other cities, a fixed edge missing, other ends.
    """
    array = plain_array(tour, f"{name}: the cities", InvalidTour)
    if array.ndim == 1 and len(array) != problem.n:
        called = f" {problem.name}" if problem.name else ""
        raise InvalidTour(
            f"{name}: {counted(len(array))}, and the instance{called} has {problem.n}; "
            "it belongs to another instance, or is not complete"
        )
    try:
        return checked_tour(problem, array)
    except InvalidTour as error:
        raise InvalidTour(f"{name}: {error}") from error
