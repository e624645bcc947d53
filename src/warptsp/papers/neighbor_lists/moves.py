"""What a search on neighbour lists makes, on whichever device."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Moves:
    """What a search makes, as native code has it.

    Attributes
    ----------
    three : bool
        Moves of three edges, too.
    best : bool
        Whole passes over all cities, each of which makes the best move; else by a queue of cities.
    many : bool
        All moves of a pass that fit each other, instead of one.
    next_only : bool
        Only edges to following cities go; with `best` or `many`.
    """

    three: bool
    best: bool = False
    many: bool = False
    next_only: bool = False

    @property
    def whole(self) -> bool:
        """Whether each pass makes one move, the best of all."""
        return self.best and not self.many
