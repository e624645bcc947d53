"""A tour cut into parts that are ordinary small instances, and the tour that their answers make.

Parts are paths with fixed ends (docs/architecture.md). What has no answer stays as it was. An answer may join
the ends of its paths in other pairs; what then are several closed tours is joined where that is cheapest.

A cut holds 4 bytes for each city beside the tour, and 12 for each path. Answers of different parts may be put
back by several threads at once.
"""

import logging

import numpy as np
from numpy.typing import ArrayLike, NDArray

from warptsp._native import StopToken, TourCut, space_filling_curve
from warptsp.errors import InvalidTour
from warptsp.problem import Problem
from warptsp.problem.distance import unit_vectors

__all__ = ["cut_boxes", "cut_stretches", "link", "put"]

_log = logging.getLogger(__name__)


def cut_stretches(
    problem: Problem, tour: NDArray[np.int32], parts: int, rotation: int, threads: int
) -> TourCut:
    """Cut a closed tour, or any order of all cities, into parts of consecutive cities from a position on.

    Their sizes differ by one city at most. A fixed edge of the tour lies between two paths, so that every
    answer keeps it.
    """
    cut = TourCut.stretches(tour, parts, rotation, problem.fixed_edges, threads, StopToken())
    assert cut is not None  # nobody stops this token
    return cut


def cut_boxes(
    problem: Problem, tour: NDArray[np.int32], parts: int, rng: np.random.Generator, threads: int
) -> TourCut:
    """Cut a tour into boxes of a k-d tree with about as many cities each; where seams lie is drawn.

    Cities at one place make fewer parts. Fixed edges are kept as by `cut_stretches`.
    """
    seed, rotation = int(rng.integers(1 << 63)), int(rng.integers(len(tour)))
    points = problem.given_coordinates()
    cut = TourCut.boxes(points, tour, parts, seed, rotation, problem.fixed_edges, threads, StopToken())
    assert cut is not None  # nobody stops this token
    return cut


def put(cut: TourCut, part: int, order: ArrayLike) -> None:
    """Take the answer of a part.

    It is the part's cities, numbered from 0 as in `TourCut.cities`, along a closed tour that has every edge
    from the end of a path to the start of the next. Raises `InvalidTour`: it is no such tour, or there is an
    answer already; nothing has changed then.
    """
    answer = np.asarray(order)
    if answer.ndim != 1 or not np.issubdtype(answer.dtype, np.integer):
        raise InvalidTour(
            f"the answer of part {part} is {answer.dtype} of shape {answer.shape}: a row of integers"
        )
    if answer.dtype != np.int32:
        # What does not fit in 32 bits is no city either.
        answer = np.clip(answer.astype(np.int64), -1, np.iinfo(np.int32).max)
    wrong = cut.put(part, np.ascontiguousarray(answer, dtype=np.int32))
    if wrong:
        raise InvalidTour(wrong)


def link(cut: TourCut, problem: Problem, threads: int) -> tuple[NDArray[np.int32] | None, int]:
    """Return the tour of all parts as they are now, and how many closed tours were joined for it.

    It is None if fixed edges make closed tours of the answers that nothing may join. Of the coordinates only
    those of the ends of paths are read.
    """
    metric, token = problem.metric, StopToken()
    rows = np.asarray(problem.given_coordinates().take(cut.ends(), axis=0), dtype=np.float64)
    if metric.geographic:
        rows = unit_vectors(metric, rows)
    order = space_filling_curve(rows, "hilbert", token, metric.geographic, threads)
    assert order is not None  # nobody stops this token
    linked = cut.link(order, rows, metric.kind, threads, token)
    assert linked is not None
    tour, closed_tours = linked
    if tour is None:
        _log.warning("answers dropped: fixed edges make closed tours of them that nothing may join")
    elif closed_tours > 1:
        _log.debug("%d closed tours joined", closed_tours)
    return linked
