"""A part of a limit, for one of several steps of a call."""

from __future__ import annotations

from warptsp.stop.criterion import Limit, SearchState, StoppingCriterion

BEFORE_PROOF = "end of the search before the proof"


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
