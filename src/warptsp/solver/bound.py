"""What `solve` was told of a lower bound."""

from __future__ import annotations

from warptsp._checks import shown
from warptsp._words import as_called
from warptsp.bound.beside import BoundBeside, checked_bound
from warptsp.errors import InvalidOption
from warptsp.problem import Problem
from warptsp.stop import StoppingCriterion

__all__ = ["bound_of"]


def bound_of(
    bound: object, problem: Problem, limits: StoppingCriterion | None, threads: int
) -> BoundBeside | None:
    """Return what computes a lower bound beside the search; None for none.

    Raises
    ------
    InvalidOption
    """
    wanted = checked_bound(bound)
    is_target = limits is not None and limits.needs_bound()
    if wanted is None and is_target:
        option = as_called(f"bound={shown(bound)}", "--bound none")
        raise InvalidOption(f"{option}: the target gap is one to the lower bound; leave {option} out")
    if wanted is None or problem.asymmetric:
        return None
    seconds = None if limits is None else limits.limit().seconds
    return BoundBeside(problem, wanted, threads=threads, is_target=is_target, limit=seconds)
