"""The functions of the package python-tsp, done by warptsp: ``from warptsp.interop import python_tsp``.

Signatures and results are those of python-tsp 0.5; all functions of its modules ``heuristics`` and ``exact``
are here side by side. ``docs/moving.md`` says what differs.
"""

import os
from collections.abc import Sequence
from typing import Any

from warptsp._checks import shown
from warptsp.errors import InvalidOption
from warptsp.outputs import check_writable, write_whole

from ._calls import matrix_problem, solve_here

__all__ = [
    "solve_tsp_branch_and_bound",
    "solve_tsp_brute_force",
    "solve_tsp_dynamic_programming",
    "solve_tsp_lin_kernighan",
    "solve_tsp_local_search",
    "solve_tsp_record_to_record",
    "solve_tsp_simulated_annealing",
]


def solve_tsp_local_search(
    distance_matrix: Any,
    x0: Sequence[int] | None = None,
    perturbation_scheme: str = "two_opt",
    max_processing_time: float | None = None,
    log_file: str | None = None,
    verbose: bool = False,
) -> tuple[list[int], int | float]:
    """Find a short tour by warptsp's main solver.

    Parameters
    ----------
    distance_matrix : array_like, shape (n, n)
        Distances, symmetric or not.
    x0 : list of int, optional
        A start tour; the result is never longer.
    perturbation_scheme : str
        Accepted, but has no effect.
    max_processing_time : float, optional
        Seconds, all of which are used; without it the search ends when it seems done, after 10 s at
        most up to 2000 cities.
    log_file : str, optional
        File for a line for each improvement, written at the end.
    verbose : bool
        Print these lines.

    Returns
    -------
    permutation : list of int
        The cities in visiting order, from city 0 on.
    distance : int or float
        The length of the closed tour; an int if all distances are.
    """
    options = {} if max_processing_time is None else {"time_limit": max_processing_time}
    return _solved(distance_matrix, x0, log_file, verbose, **options)


def solve_tsp_simulated_annealing(
    distance_matrix: Any,
    x0: Sequence[int] | None = None,
    perturbation_scheme: str = "two_opt",
    alpha: float = 0.9,
    max_processing_time: float | None = None,
    log_file: str | None = None,
    verbose: bool = False,
) -> tuple[list[int], int | float]:
    """The same as `solve_tsp_local_search`, whose search cools down by itself: `alpha` has no effect."""
    return solve_tsp_local_search(
        distance_matrix, x0, perturbation_scheme, max_processing_time, log_file, verbose
    )


def solve_tsp_lin_kernighan(
    distance_matrix: Any,
    x0: Sequence[int] | None = None,
    log_file: str | None = None,
    verbose: bool = False,
) -> tuple[list[int], int | float]:
    """The same as `solve_tsp_local_search`, without a limit of its time."""
    return _solved(distance_matrix, x0, log_file, verbose)


def solve_tsp_record_to_record(
    distance_matrix: Any,
    x0: Sequence[int] | None = None,
    max_iterations: int | None = None,
    log_file: str | None = None,
    verbose: bool = False,
) -> tuple[list[int], int | float]:
    """The same as `solve_tsp_local_search`, with `max_iterations` kicks; without it until it seems done."""
    options = {} if max_iterations is None else {"kicks": max_iterations}
    return _solved(distance_matrix, x0, log_file, verbose, **options)


def solve_tsp_dynamic_programming(
    distance_matrix: Any, maxsize: int | None = None
) -> tuple[list[int], int | float]:
    """Find an optimal tour of at most 16 cities, UnsupportedProblem for more; `maxsize` has no effect."""
    return _solved(distance_matrix, method="exact")


def solve_tsp_brute_force(distance_matrix: Any) -> tuple[list[int], int | float]:
    """The same as `solve_tsp_dynamic_programming`."""
    return _solved(distance_matrix, method="exact")


def solve_tsp_branch_and_bound(distance_matrix: Any) -> tuple[list[int], int | float]:
    """The same as `solve_tsp_dynamic_programming`."""
    return _solved(distance_matrix, method="exact")


def _solved(
    distance_matrix: Any,
    x0: Sequence[int] | None = None,
    log_file: str | None = None,
    verbose: bool = False,
    **options: Any,
) -> tuple[list[int], int | float]:
    if log_file is not None:
        if not isinstance(log_file, (str, os.PathLike)):
            raise InvalidOption(f"log_file: {shown(log_file)} is not the name of a file")
        check_writable(log_file)
    start = None if x0 is None or (isinstance(x0, Sequence) and not x0) else x0
    result = solve_here(matrix_problem(distance_matrix), start=start, **options)
    lines = [f"{point.seconds:.3f} s: {point.length}" for point in result.history]
    if verbose:
        print(*lines, sep="\n")
    if log_file is not None:
        write_whole(log_file, "".join(f"{line}\n" for line in lines))
    return list(result.tour.tolist()), result.length
