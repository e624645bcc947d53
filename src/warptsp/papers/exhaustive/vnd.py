"""Variable neighbourhood descent over the exhaustive neighbourhoods, in a given order.

The best move of the first neighbourhood is applied; where it has none that shortens the tour, the best one of
the next, and after every move it goes back to the first. The tour that it ends with is a local optimum of all
of them. P. Hansen and N. Mladenović, "Variable neighborhood search: principles and applications", European
Journal of Operational Research 130 (2001); G. Ermiş (2015) names it as future work for these neighbourhoods.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from warptsp.errors import InvalidOption, UnsupportedProblem
from warptsp.methods.method import Method
from warptsp.papers.exhaustive.descent import Neighborhood, check_launch, descend_in_turn, start_from_first
from warptsp.papers.exhaustive.three_opt import MAX_CITIES_CPU

if TYPE_CHECKING:
    from warptsp.methods.protocol import Run
    from warptsp.problem import Problem

__all__ = ["METHOD", "VndParams"]

NEIGHBORHOODS = {
    "two-opt": Neighborhood.TWO_OPT,
    "relocate": Neighborhood.RELOCATE,
    "swap": Neighborhood.SWAP,
    "three-opt": Neighborhood.THREE_OPT,
}


@dataclass(frozen=True, slots=True)
class VndParams:
    """Parameters of `vnd`.

    Attributes
    ----------
    order : tuple of str
        The neighbourhoods, each at most once, the one that is passed over first and most often first; any of
        "two-opt", "relocate", "swap" and "three-opt".
    passes : int or None
        Passes over whichever neighbourhood after which it ends, local optimum or not; None for no limit.
    """

    order: tuple[str, ...] = tuple(NEIGHBORHOODS)
    passes: int | None = None

    def __post_init__(self) -> None:
        check_launch(None, None, None, self.passes)
        if not self.order:
            raise InvalidOption(f"order: no neighbourhood; there are {', '.join(NEIGHBORHOODS)}")
        for name in self.order:
            if name not in NEIGHBORHOODS:
                raise InvalidOption(f"order: {name!r} is none of {', '.join(NEIGHBORHOODS)}")
            if self.order.count(name) > 1:
                raise InvalidOption(f"order: {name} is there twice")


def run(problem: Problem, run: Run, params: VndParams) -> None:
    """Shorten the start tour until no move of any neighbourhood does.

    Raises
    ------
    UnsupportedProblem
        If three-opt is one of them and there are more cities than it takes.
    """
    if "three-opt" in params.order and problem.n > MAX_CITIES_CPU:
        raise UnsupportedProblem(
            f"method vnd: {problem.n} cities are too many for three-opt, whose maximum is {MAX_CITIES_CPU}; "
            "leave three-opt out of the parameter order"
        )
    tour = start_from_first(problem, run)
    if tour is not None:
        neighborhoods = [NEIGHBORHOODS[name] for name in params.order]
        descend_in_turn(problem, run, neighborhoods, tour, passes=params.passes)


METHOD = Method(
    name="vnd",
    summary="variable neighbourhood descent over two-opt, relocate, swap and three-opt",
    run=run,
    params=VndParams,
    ends=True,
)
