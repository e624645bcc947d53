"""Stop when the tour is short enough."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warptsp._checks import checked_number
from warptsp._words import as_called
from warptsp.errors import InvalidOption
from warptsp.stop.criterion import SearchState, StoppingCriterion

if TYPE_CHECKING:
    from warptsp.problem import KnownLength, Problem


class TargetLength(StoppingCriterion):
    """Stop as soon as the tour is no longer than `length`, in the units of the instance."""

    def __init__(self, length: float) -> None:
        checked_number("target length", length, minimum=0.0, what="a length, 0 or more")
        self.length = length

    def __call__(self, state: SearchState) -> bool:
        return state.length <= self.length

    def __str__(self) -> str:
        return f"target length of {self.length} reached"

    def __repr__(self) -> str:
        return f"TargetLength({self.length!r})"


class TargetGap(StoppingCriterion):
    """Stop as soon as the tour is at most `percent` % longer than the optimum, or the best tour known.

    Parameters
    ----------
    percent : float
        The gap in per cent.
    reference : int or float, optional
        The length that the gap is measured from. Without it, the known length of the instance is used (see
        `Problem.known_length`).
    """

    def __init__(self, percent: float, reference: float | None = None) -> None:
        self.percent = checked_number(
            "target gap", percent, minimum=0.0, what="a number of per cent, 0 or more"
        )
        if reference is not None:
            checked_number("reference length", reference, minimum=0.0, what="a length, 0 or more")
        self.reference = reference

    def check(self, problem: Problem, known: KnownLength | None) -> None:
        if self.reference is None and known is None:
            raise InvalidOption(
                "target gap: no optimal or best known length is on record for "
                f"{problem.name or 'this instance'}; give "
                f"{as_called('TargetGap(percent, reference=LENGTH), or TargetLength', '--target-length')}"
            )

    def __call__(self, state: SearchState) -> bool:
        reference = self.reference if self.reference is not None else state.known_length
        return reference is not None and state.length <= reference * (1.0 + self.percent / 100.0)

    def __str__(self) -> str:
        return f"target gap of {self.percent:g} % reached"

    def __repr__(self) -> str:
        reference = "" if self.reference is None else f", reference={self.reference!r}"
        return f"TargetGap({self.percent!r}{reference})"
