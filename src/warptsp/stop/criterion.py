"""What a stopping criterion sees, and what it can say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from warptsp.problem import KnownLength, Problem
    from warptsp.stop.token import StopToken


@dataclass(frozen=True, slots=True)
class SearchState:
    """Where a search stands, as a stopping criterion sees it.

    Attributes
    ----------
    elapsed : float
        Seconds since ``solve`` was called.
    length : int or float
        Length of the best tour so far.
    kicks : int
        Kicks (perturbations followed by a local search) so far.
    improved_at : float
        ``elapsed`` when the best tour was last improved.
    improved_at_kicks : int
        ``kicks`` when the best tour was last improved.
    known_length : int or float or None
        The optimal, or else the best known, length of the instance, if there is one on record.
    """

    elapsed: float
    length: int | float
    kicks: int
    improved_at: float
    improved_at_kicks: int
    known_length: int | float | None = None


class Limit(NamedTuple):
    """By when a search will surely have ended; ``None`` where nothing is known."""

    seconds: float | None = None
    kicks: int | None = None


class StoppingCriterion:
    """Base of the stopping criteria: a callable that composes with ``|`` and ``&``.

    A criterion holds parameters only and no state of a run, so one object may serve many runs.
    """

    def __call__(self, state: SearchState) -> bool:
        """Tell whether the search should stop now."""
        raise NotImplementedError

    def reason(self, state: SearchState) -> str:
        """Say in a few words why the search stopped; asked only after a call returned True."""
        return str(self)

    def limit(self) -> Limit:
        """Upper bounds on the search: at this time, or number of kicks, the criterion is surely met."""
        return Limit()

    def horizon(self) -> Limit:
        """The length of search that a method should plan for, such as the end of a cooling schedule."""
        return self.limit()

    def check(self, problem: Problem, known: KnownLength | None) -> None:
        """Raise `InvalidOption` if this criterion makes no sense for the problem."""

    def tokens(self) -> tuple[StopToken, ...]:
        """The tokens that end the search on their own, whatever else is asked for."""
        return ()

    def __or__(self, other: StoppingCriterion | Callable[[SearchState], bool]) -> StoppingCriterion:
        from warptsp.stop.compose import AnyOf

        return AnyOf(self, other)

    def __ror__(self, other: Callable[[SearchState], bool]) -> StoppingCriterion:
        from warptsp.stop.compose import AnyOf

        return AnyOf(other, self)

    def __and__(self, other: StoppingCriterion | Callable[[SearchState], bool]) -> StoppingCriterion:
        from warptsp.stop.compose import AllOf

        return AllOf(self, other)

    def __rand__(self, other: Callable[[SearchState], bool]) -> StoppingCriterion:
        from warptsp.stop.compose import AllOf

        return AllOf(other, self)
