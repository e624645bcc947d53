"""A path instead of a closed tour."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["OpenPath"]


@dataclass(frozen=True, slots=True)
class OpenPath:
    """A Hamiltonian path instead of a closed tour.

    Attributes
    ----------
    start, end : int or None
        The city (counted from 0) at which the path starts or ends; None leaves it to the solver.
    """

    start: int | None = None
    end: int | None = None
