"""Stop when the tour is short enough."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Literal

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


class TargetGap(StoppingCriterion):
    """Stop as soon as the tour is at most `percent` % longer than the optimum, or the best tour known.

    With ``reference="bound"`` the gap is to a lower bound, which is computed during the search
    (docs/bounds.md), and reaching it proves that no tour is shorter by more. The bound itself is usually 0.7
    to 0.8 % below the shortest tour: a smaller gap may never be reached, and other criteria end the search;
    where there are none, the rule for searches without limits.

    Parameters
    ----------
    percent : float
        The gap in per cent.
    reference : int, float or "bound", optional
        The length that the gap is measured from, or that of the lower bound. Without it, the known length of
        the instance is used (see `Problem.known_length`).
    """

    def __init__(self, percent: float, reference: float | Literal["bound"] | None = None) -> None:
        self.percent = checked_number(
            "target gap", percent, minimum=0.0, what="a number of per cent, 0 or more"
        )
        if reference is not None and not (isinstance(reference, str) and reference == "bound"):
            checked_number("reference length", reference, minimum=0.0, what='a length, 0 or more, or "bound"')
        self.reference = reference

    def check(self, problem: Problem, known: KnownLength | None) -> None:
        if self.reference is None and known is None:
            others = as_called(
                'TargetGap(percent, reference=LENGTH or "bound"), or TargetLength',
                "--target-gap PERCENT%bound, or --target-length",
            )
            raise InvalidOption(
                "target gap: no optimal or best known length is on record for "
                f"{problem.name or 'this instance'}; give {others}"
            )

    def needs_bound(self) -> bool:
        return self.reference == "bound"

    def missed(self, state: SearchState) -> str:
        return f"{self._described()} not reached" if self.needs_bound() and not self(state) else ""

    def __call__(self, state: SearchState) -> bool:
        reference: float | None
        if isinstance(self.reference, str):
            reference = state.lower_bound
        else:
            reference = state.known_length if self.reference is None else self.reference
        # In floats 1.15 * 100 is less than 115.
        share = Fraction(str(self.percent)) / 100
        return reference is not None and state.length <= Fraction(reference) * (1 + share)

    def _described(self) -> str:
        return f"target gap of {self.percent:g} %{' to the lower bound' if self.needs_bound() else ''}"

    def __str__(self) -> str:
        return f"{self._described()} reached"
