"""Criteria made of criteria."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from warptsp.errors import InvalidOption
from warptsp.stop.criterion import Limit, SearchState, StoppingCriterion

if TYPE_CHECKING:
    from warptsp.problem import KnownLength, Problem
    from warptsp.stop.token import StopToken


class Custom(StoppingCriterion):
    """A function of yours, ``(SearchState) -> bool``, as a stopping criterion."""

    def __init__(self, function: Callable[[SearchState], bool]) -> None:
        self.function = function

    def __call__(self, state: SearchState) -> bool:
        return bool(self.function(state))

    def __str__(self) -> str:
        return f"{getattr(self.function, '__name__', type(self.function).__name__)} said stop"

    def __repr__(self) -> str:
        return f"Custom({self.function!r})"


def as_criterion(stop: object) -> StoppingCriterion:
    """Turn a criterion or a plain function into a criterion.

    Raises
    ------
    InvalidOption
        For anything else.
    """
    if isinstance(stop, StoppingCriterion):
        return stop
    if callable(stop) and not isinstance(stop, type):
        return Custom(stop)
    raise InvalidOption(
        f"stop: {stop!r} is no stopping criterion; give one of warptsp.stop, "
        "such as MaxRuntime(10) | TargetGap(1), or a function of a SearchState"
    )


class _Composite(StoppingCriterion):
    criteria: tuple[StoppingCriterion, ...]

    def __init__(self, *criteria: StoppingCriterion | Callable[[SearchState], bool]) -> None:
        if not criteria:
            raise InvalidOption(f"{type(self).__name__} needs at least one criterion")
        flat: list[StoppingCriterion] = []
        for given in criteria:
            criterion = as_criterion(given)
            flat.extend(criterion.criteria if type(criterion) is type(self) else (criterion,))
        self.criteria = tuple(flat)

    def check(self, problem: Problem, known: KnownLength | None) -> None:
        for criterion in self.criteria:
            criterion.check(problem, known)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(repr, self.criteria))})"


class AnyOf(_Composite):
    """Stop when any of the criteria is met: ``a | b``."""

    def __call__(self, state: SearchState) -> bool:
        return any(criterion(state) for criterion in self.criteria)

    def reason(self, state: SearchState) -> str:
        return next((c.reason(state) for c in self.criteria if c(state)), str(self))

    def limit(self) -> Limit:
        return _earliest([c.limit() for c in self.criteria])

    def horizon(self) -> Limit:
        return _earliest([c.horizon() for c in self.criteria])

    def tokens(self) -> tuple[StopToken, ...]:
        return tuple(token for c in self.criteria for token in c.tokens())

    def __str__(self) -> str:
        return " or ".join(map(str, self.criteria))


class AllOf(_Composite):
    """Stop when all of the criteria are met at the same time: ``a & b``."""

    def __call__(self, state: SearchState) -> bool:
        return all(criterion(state) for criterion in self.criteria)

    def reason(self, state: SearchState) -> str:
        return " and ".join(c.reason(state) for c in self.criteria)

    def limit(self) -> Limit:
        return _latest([c.limit() for c in self.criteria])

    def horizon(self) -> Limit:
        return _latest([c.horizon() for c in self.criteria])

    def __str__(self) -> str:
        return " and ".join(map(str, self.criteria))


def _earliest(limits: list[Limit]) -> Limit:
    seconds = [limit.seconds for limit in limits if limit.seconds is not None]
    kicks = [limit.kicks for limit in limits if limit.kicks is not None]
    return Limit(min(seconds, default=None), min(kicks, default=None))


def _latest(limits: list[Limit]) -> Limit:
    # Only what bounds every one of them bounds all of them.
    seconds = [limit.seconds for limit in limits if limit.seconds is not None]
    kicks = [limit.kicks for limit in limits if limit.kicks is not None]
    return Limit(
        max(seconds) if len(seconds) == len(limits) else None,
        max(kicks) if len(kicks) == len(limits) else None,
    )
