"""Variable neighbourhood descent over the exhaustive neighbourhoods, in a given order.

The best move of the first neighbourhood is applied; where it has none that shortens the tour, the best one of
the next, and after every move it goes back to the first. The tour that it ends with is a local optimum of all
of them. P. Hansen and N. Mladenović, "Variable neighborhood search: principles and applications", European
Journal of Operational Research 130 (2001); G. Ermiş (2015) names it as future work for these neighbourhoods.
"""

from dataclasses import dataclass

from warptsp._checks import check_ranges
from warptsp.errors import InvalidOption, UnsupportedProblem
from warptsp.methods.protocol import Run
from warptsp.papers.exhaustive.descent import descend, descent_method
from warptsp.papers.exhaustive.neighborhood import (
    MAX_CITIES_CPU,
    MAX_CITIES_GPU,
    NEIGHBORHOODS,
    THREE_OPT,
    Sought,
)
from warptsp.problem import Problem


@dataclass(frozen=True, slots=True)
class VndParams:
    """Parameters of `vnd`.

    Attributes
    ----------
    order : tuple of str
        The neighbourhoods in the order in which they are searched, each at most once; any of "two-opt",
        "relocate", "swap" and "three-opt".
    passes : int or None
        Passes over whichever neighbourhood after which it ends, local optimum or not; None for no limit.
    """

    order: tuple[str, ...] = tuple(NEIGHBORHOODS)
    passes: int | None = None

    def __post_init__(self) -> None:
        check_ranges(self, passes=(1, None))
        if not self.order:
            raise InvalidOption(f"order: no neighbourhood; there are {', '.join(NEIGHBORHOODS)}")
        for name in self.order:
            if name not in NEIGHBORHOODS:
                raise InvalidOption(f"order: {name!r} is none of {', '.join(NEIGHBORHOODS)}")
            if self.order.count(name) > 1:
                raise InvalidOption(f"order: {name} is there twice")

    @property
    def sought(self) -> Sought:
        return Sought(tuple(NEIGHBORHOODS[name] for name in self.order), self.passes)


def run(problem: Problem, run: Run, params: VndParams) -> None:
    """Shorten the start tour until no move of any neighbourhood does."""
    most = MAX_CITIES_GPU if run.device.gpus else MAX_CITIES_CPU
    if THREE_OPT.name in params.order and problem.n > most:
        raise UnsupportedProblem(
            f"method vnd: {problem.n} cities are too many for three-opt, whose maximum is {most}; "
            "leave three-opt out of the parameter order"
        )
    descend(problem, run, params)


METHOD = descent_method(
    "vnd",
    "variable neighbourhood descent over two-opt, relocate, swap and three-opt",
    VndParams,
    run,
    min_gpu_cities=1_600,
)
