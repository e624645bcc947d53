"""What a stopping criterion sees, what it can say, and how criteria are joined."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from warptsp._checks import shown
from warptsp.errors import InvalidOption

if TYPE_CHECKING:
    import warptsp._native as _native
    from warptsp.problem import KnownLength, Problem


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
        Kicks (perturbations followed by a local search) so far, of the method that runs.
    improved_at : float
        ``elapsed`` when the best tour was last improved.
    improved_at_kicks : int
        ``kicks`` when the best tour was last improved.
    known_length : int or float or None
        The optimal or best known length of the instance, if there is one on record.
    lower_bound : int or float or None
        A length below which no tour is, as far as the run has proved one (docs/bounds.md).
    """

    elapsed: float
    length: int | float
    kicks: int
    improved_at: float
    improved_at_kicks: int
    known_length: int | float | None = None
    lower_bound: int | float | None = None


class Limit(NamedTuple):
    """By when a search is certain to have ended; ``None`` where nothing is known."""

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
        """Upper bounds on the search: the time, or number of kicks, by which it is certain to be met."""
        return Limit()

    def planned_limit(self) -> Limit:
        """The limit that a method should plan for, such as the end of a cooling schedule."""
        return self.limit()

    def check(self, problem: Problem, known: KnownLength | None) -> None:
        """Raise `InvalidOption` if this criterion makes no sense for the problem."""

    def needs_bound(self) -> bool:
        """Whether it looks at the lower bound of a run, so that one must be computed during the search."""
        return False

    def may_end_early(self) -> bool:
        """Whether a method may end by itself when what is left to gain is unlikely."""
        return False

    def missed(self, state: SearchState) -> str:
        """Say which target a search that has ended did not reach, if that needs to be said."""
        return ""

    def tokens(self) -> tuple[StopToken, ...]:
        """The tokens that end the search on their own, whatever else is asked for."""
        return ()

    @recursive_repr()
    def __repr__(self) -> str:
        fields = getattr(self, "__dict__", {}).items()  # of a user's criterion, maybe in slots
        given = (f"{name}={shown(value)}" for name, value in fields if value is not None)
        return f"{type(self).__name__}({', '.join(given)})"

    def __or__(self, other: StoppingCriterion | Callable[[SearchState], bool]) -> StoppingCriterion:
        return AnyOf(self, other)

    def __ror__(self, other: Callable[[SearchState], bool]) -> StoppingCriterion:
        return AnyOf(other, self)

    def __and__(self, other: StoppingCriterion | Callable[[SearchState], bool]) -> StoppingCriterion:
        return AllOf(self, other)

    def __rand__(self, other: Callable[[SearchState], bool]) -> StoppingCriterion:
        return AllOf(other, self)


class StopToken(StoppingCriterion):
    """Stop when another thread asks for it.

    Give the token as (part of) the stopping criterion and call `request` from anywhere: the search ends
    within milliseconds, even in the middle of its set-up, and ``solve`` returns the best tour so far. A
    token that has been used stays requested; create a new one for the next run.

    Examples
    --------
    >>> token = StopToken()
    >>> threading.Timer(5.0, token.request).start()  # doctest: +SKIP
    >>> warptsp.solve(points, stop=token)  # doctest: +SKIP
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()  # a signal handler may call request while we hold it
        self._requested = False
        self._searches: list[_native.StopToken] = []

    def request(self) -> None:
        """Ask every search that uses this token to stop; safe from any thread and from signal handlers."""
        with self._lock:
            self._requested = True
            for search in self._searches:
                search.request()

    @property
    def requested(self) -> bool:
        """Whether the stop has been requested."""
        return self._requested

    @contextmanager
    def watched_by(self, search: _native.StopToken) -> Iterator[None]:
        """Pass requests on to the native token of a running search, for as long as the context lasts."""
        with self._lock:
            self._searches.append(search)
            if self._requested:
                search.request()
        try:
            yield
        finally:
            with self._lock:
                self._searches.remove(search)

    def __call__(self, state: SearchState) -> bool:
        return self._requested

    def tokens(self) -> tuple[StopToken, ...]:
        return (self,)

    def __str__(self) -> str:
        return "stop requested"

    def __repr__(self) -> str:
        return f"StopToken(requested={self._requested})"


class Custom(StoppingCriterion):
    """A function of yours, ``(SearchState) -> bool``, as a stopping criterion."""

    def __init__(self, function: Callable[[SearchState], bool]) -> None:
        self.function = function

    def __call__(self, state: SearchState) -> bool:
        return bool(self.function(state))

    def __str__(self) -> str:
        return f"{getattr(self.function, '__name__', type(self.function).__name__)} said stop"


def as_criterion(stop: object) -> StoppingCriterion:
    """Turn a criterion or a plain function into a criterion; raises `InvalidOption` for anything else."""
    if isinstance(stop, StoppingCriterion):
        return stop
    if callable(stop) and not isinstance(stop, type):
        return Custom(stop)
    raise InvalidOption(
        f"stop: {shown(stop)} is not a stopping criterion; give one of warptsp.stop, "
        "such as MaxRuntime(10) | TargetGap(1), or a function of a SearchState"
    )


class _Composite(StoppingCriterion):
    """Criteria of which any or all must say stop."""

    _hold: ClassVar[Any]  # `any` or `all`
    _pick: ClassVar[Any]  # of their limits: `min` or `max`
    _word: ClassVar[str]  # between them
    criteria: tuple[StoppingCriterion, ...]

    def __init__(self, *criteria: StoppingCriterion | Callable[[SearchState], bool]) -> None:
        if not criteria:
            raise InvalidOption(f"{type(self).__name__} needs at least one criterion")
        flat: list[StoppingCriterion] = []
        for given in criteria:
            criterion = as_criterion(given)
            flat.extend(criterion.criteria if type(criterion) is type(self) else (criterion,))
        self.criteria = tuple(flat)

    def __call__(self, state: SearchState) -> bool:
        return bool(self._hold(criterion(state) for criterion in self.criteria))

    def limit(self) -> Limit:
        return self._joined([criterion.limit() for criterion in self.criteria])

    def planned_limit(self) -> Limit:
        return self._joined([criterion.planned_limit() for criterion in self.criteria])

    def _joined(self, limits: list[Limit]) -> Limit:
        found: list[Any] = []
        for values in zip(*limits, strict=True):
            known = [value for value in values if value is not None]
            # Only what bounds every one of them bounds all of them.
            found.append(self._pick(known) if known and self._hold(v is not None for v in values) else None)
        return Limit(*found)

    def check(self, problem: Problem, known: KnownLength | None) -> None:
        for criterion in self.criteria:
            criterion.check(problem, known)

    def needs_bound(self) -> bool:
        return any(criterion.needs_bound() for criterion in self.criteria)

    def may_end_early(self) -> bool:
        return bool(self._hold(criterion.may_end_early() for criterion in self.criteria))

    def missed(self, state: SearchState) -> str:
        return "; ".join(filter(None, (criterion.missed(state) for criterion in self.criteria)))

    def __str__(self) -> str:
        return self._word.join(map(str, self.criteria))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(repr, self.criteria))})"


class AnyOf(_Composite):
    """Stop when any of the criteria is met: ``a | b``."""

    _hold, _pick, _word = any, min, " or "

    def reason(self, state: SearchState) -> str:
        return next((c.reason(state) for c in self.criteria if c(state)), str(self))

    def tokens(self) -> tuple[StopToken, ...]:
        return tuple(token for c in self.criteria for token in c.tokens())


class AllOf(_Composite):
    """Stop when all of the criteria are met at the same time: ``a & b``."""

    _hold, _pick, _word = all, max, " and "

    def reason(self, state: SearchState) -> str:
        return " and ".join(c.reason(state) for c in self.criteria)
