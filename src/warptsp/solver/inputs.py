"""An instance and a start tour in any of the forms that `solve` takes."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from warptsp._checks import shown
from warptsp._words import counted
from warptsp.errors import InvalidOption, InvalidTour
from warptsp.problem import OpenPath, Problem
from warptsp.problem.values import plain_array
from warptsp.result import Result

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["as_problem", "checked_start", "start_of", "with_open"]


def as_problem(problem: Problem | ArrayLike | str | os.PathLike[str], *, asymmetric: bool = False) -> Problem:
    """Return the problem that `solve` was given in any of its forms.

    An array of shape (2, 2) or (3, 3) is taken as a matrix of distances if it is symmetric with a zero
    diagonal, and as coordinates if not; `Problem.from_points` and `Problem.from_matrix` leave no doubt.

    Raises
    ------
    InvalidProblem
        If it is none of them.
    """
    if isinstance(problem, Problem):
        return problem
    if isinstance(problem, (str, os.PathLike)):
        from warptsp.io import load

        return load(problem, asymmetric=asymmetric)
    if hasattr(problem, "tocoo"):
        return Problem.from_matrix(problem, asymmetric=asymmetric)
    if isinstance(problem, Mapping):
        return Problem.from_osrm(problem)
    if hasattr(problem, "columns") or hasattr(problem, "geom_type"):
        return Problem.from_frame(problem, asymmetric=asymmetric)
    return Problem.from_array(problem, asymmetric=asymmetric)


def with_open(problem: Problem, open: bool | OpenPath) -> Problem:
    """Return the problem as a closed tour (False), a path with free ends (True) or with the ends of `open`.

    Raises
    ------
    InvalidOption
        If `open` is something else.
    """
    if isinstance(open, OpenPath):
        return replace(problem, open=open)
    if isinstance(open, (bool, np.bool_)):
        return replace(problem, open=OpenPath() if open else None)
    raise InvalidOption(f"open: {shown(open)} is neither True, False nor an OpenPath(start, end)")


def start_of(
    problem: Problem, start: str | os.PathLike[str] | ArrayLike | None
) -> tuple[str, NDArray[np.int32] | None]:
    """Return the start's name for the record, and the tour if it is one."""
    from warptsp.construct import CONSTRUCTIONS

    if start is None:
        return "patching" if problem.asymmetric else "greedy", None
    if isinstance(start, str) and start in CONSTRUCTIONS:
        return start, None
    if isinstance(start, (str, os.PathLike)):
        from warptsp.io import read_tour

        if isinstance(start, str) and not os.path.exists(start):
            names = ", ".join(CONSTRUCTIONS)
            raise InvalidOption(f"start: {shown(start)} is neither a construction ({names}) nor a file")
        return os.fspath(start), checked_start(problem, read_tour(start, problem), os.fspath(start))
    tour = start.tour if isinstance(start, Result) else start
    return "tour", checked_start(problem, tour, "start tour")


def checked_start(problem: Problem, tour: ArrayLike, name: str) -> NDArray[np.int32]:
    """Return a start tour as an int32 array, turned so that it fits the ends of an open path.

    Raises
    ------
    InvalidTour
        If it is not a tour of this problem: other cities, a fixed edge missing, other ends.
    """
    array = plain_array(tour, f"{name}: the cities", InvalidTour)
    if array.ndim == 1 and len(array) != problem.n:
        called = f" {problem.name}" if problem.name else ""
        raise InvalidTour(
            f"{name}: {counted(len(array))}, and the instance{called} has {problem.n}; "
            "it belongs to another instance, or is not complete"
        )
    if problem.open is not None and array.ndim == 1:
        array = _turned(problem, array)
    try:
        problem.check_tour(array)
    except InvalidTour as error:
        raise InvalidTour(f"{name}: {error}") from error
    return np.ascontiguousarray(array, dtype=np.int32)


def _turned(problem: Problem, path: NDArray[Any]) -> NDArray[Any]:
    """Return a path in the direction that the problem's ends ask for, if that helps."""
    if problem.open is None or len(path) == 0:
        return path
    start, end = problem.open.start, problem.open.end
    if problem.asymmetric or (start in (None, path[0]) and end in (None, path[-1])):
        return path
    return path[::-1]
