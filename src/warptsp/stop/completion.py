"""The rule that holds without a stopping criterion for methods that come to an end by themselves."""

from __future__ import annotations

from warptsp.stop.criterion import SearchState, StoppingCriterion


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
