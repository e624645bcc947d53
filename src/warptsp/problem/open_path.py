"""A path instead of a closed tour."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["OpenPath"]


@dataclass(frozen=True, slots=True, init=False)
class OpenPath:
    """A Hamiltonian path instead of a closed tour.

    Parameters
    ----------
    start, end : int, str or None
        The city at which the path starts or ends, counted from 0 or by its name; None leaves it to the
        solver.

    Attributes
    ----------
    start, end : int or None
        The same. The problem that gets the path puts the cities in place of their names.
    """

    start: int | None
    end: int | None

    def __init__(self, start: int | str | None = None, end: int | str | None = None) -> None:
        object.__setattr__(self, "start", start)
        object.__setattr__(self, "end", end)
