"""What a search on neighbour lists makes, on whichever device."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Moves:
    """What a search makes, as native code has it."""

    three: bool  # moves of three edges, too
    best: bool = False  # whole passes over all cities, each of which makes the best move; else by a queue
    many: bool = False  # all moves of a pass that fit each other, instead of one
    next_only: bool = False  # only edges to following cities go; with `best` or `many`

    @property
    def whole(self) -> bool:
        """Whether each pass makes one move, the best of all."""
        return self.best and not self.many
