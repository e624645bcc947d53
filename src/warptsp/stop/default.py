"""Criteria that nobody has given: the rules that hold without one, and a step's part of those of a call."""

from warptsp._words import counted
from warptsp.stop.criterion import Limit, SearchState, StoppingCriterion

TINY = 12  # cities up to which a few hundred kicks have always found the optimum
SMALL = 2_000  # cities up to which a search may be done when nothing has been gained for a while
MEDIUM = 10_000  # cities up to which 10 s suffice
SECONDS, POWER = 10.0, 0.75
# A search that tells when little is left to gain has more time: from SMALL on so much, up to the maximum.
TELLING_POWER, TELLING_SECONDS = 0.87, 300.0
# Without a limit to plan for, a method searches in cycles of doubling length, each of which is more than half
# of the run so far when it ends: after one of them has brought nothing, the next one is not worth its time.
IDLE = 0.6  # share of the run without an improvement after which it ends
BEFORE_PROOF = "end of the search before the proof"
SETTLED = "no further improvement expected"
LEFT = 0.002  # per cent that a search of more than SMALL cities may leave
NEARLY_SETTLED = f"less than {LEFT:g} % further improvement expected"


class Completion(StoppingCriterion):
    """Stop when the method is done; before that only if the tour cannot be shortened."""

    def __init__(self, optimum: int | float | None = None) -> None:
        self.optimum = optimum

    def __call__(self, state: SearchState) -> bool:
        return state.length == 0 or state.length == self.optimum

    def reason(self, state: SearchState) -> str:
        return "a tour of length 0 is optimal" if state.length == 0 else "the optimal length is reached"

    def __str__(self) -> str:
        return "no limit given: until the method is done"


class DefaultStop(Completion):
    """Stop when the search seems done: no improvement for a good part of its time, or the time is up.

    docs/stopping.md has the table of rules by number of cities: after 10 s at the latest up to 2000, 40 s for
    10 000, 5 minutes for 100 000 to a million. It ends at once if the tour cannot be shortened: it has length
    0, or exactly the optimal length on record.

    Parameters
    ----------
    cities : int
    optimum : int or float, optional
        The optimal length, if it is known.
    begun : float, optional
        Seconds after the call of `solve` at which the method begins.
    telling : bool, optional
        Whether the method tells by itself when little is left to gain.
    """

    def __init__(
        self,
        cities: int,
        optimum: int | float | None = None,
        begun: float = 0.0,
        telling: bool = True,
    ) -> None:
        super().__init__(optimum)
        self.cities = cities
        self.begun = begun  # seconds after the call of solve, where another method came first
        self.telling = telling
        self.max_seconds = begun + round(_seconds(cities, telling), 1)
        self.max_kicks = 50 * cities if cities <= TINY else None
        # Measured: a quarter of a second finds the optimum of 52 cities, and 1000 cities want a few seconds.
        self.patience = 0.1 + cities / 300.0

    def __call__(self, state: SearchState) -> bool:
        if super().__call__(state) or state.elapsed >= self.max_seconds:
            return True
        if self.max_kicks is not None:
            return state.kicks >= self.max_kicks
        return self.cities <= SMALL and self._idle(state)

    def _idle(self, state: SearchState) -> bool:
        return state.elapsed - state.improved_at >= max(self.patience, IDLE * (state.elapsed - self.begun))

    def reason(self, state: SearchState) -> str:
        if super().__call__(state):
            return super().reason(state)
        done = self.max_kicks is not None and state.kicks >= self.max_kicks
        if done or (self.cities <= SMALL and self._idle(state)):
            return SETTLED
        return f"no limit given: {self.max_seconds:g} s for {counted(self.cities)}"

    def limit(self) -> Limit:
        return Limit(seconds=self.max_seconds, kicks=self.max_kicks)

    def planned_limit(self) -> Limit:
        return Limit() if TINY < self.cities <= SMALL else self.limit()

    def may_end_early(self) -> bool:
        return self.cities <= SMALL or self.telling

    def __str__(self) -> str:
        if self.max_kicks is not None:
            return f"no limit given: {self.max_kicks} kicks"
        if self.cities <= SMALL:
            return f"no limit given: until there is no more improvement, at most {self.max_seconds:g} s"
        early = (
            f"until less than {LEFT:g} % further improvement is expected, at most " if self.telling else ""
        )
        return f"no limit given: {early}{self.max_seconds:g} s"

    def __repr__(self) -> str:
        telling = "" if self.telling else ", telling=False"
        return f"DefaultStop({self.cities}, optimum={self.optimum!r}{telling})"


def _seconds(cities: int, telling: bool) -> float:
    """Return the seconds after which a search of so many cities ends at the latest."""
    seconds: float = SECONDS * max(1.0, cities / MEDIUM) ** POWER
    if telling:
        seconds = max(seconds, min(TELLING_SECONDS, SECONDS * max(1.0, cities / SMALL) ** TELLING_POWER))
    return seconds


class Share(StoppingCriterion):
    """What one step has of the limits of a call; nobody has given it, so that `name` is said instead."""

    def __init__(self, part: StoppingCriterion, name: str) -> None:
        self.part, self.name = part, name

    def __call__(self, state: SearchState) -> bool:
        return self.part(state)

    def limit(self) -> Limit:
        return self.part.limit()

    def __str__(self) -> str:
        return self.name
