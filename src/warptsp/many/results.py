"""What ``solve_many`` returns."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warptsp._checks import shown
from warptsp.claims import bound_of_optimal
from warptsp.errors import InvalidOption, WarpTSPError
from warptsp.many.sources import Source
from warptsp.many.table import Table, mark_of
from warptsp.problem import KnownLength
from warptsp.progress import relative_gap
from warptsp.result import HistoryPoint, Result


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ManyResults:
    """The tours of many problems, by the positions of the problems, counted from 0.

    ``results[i]`` is the `Result` of problem i, made when it is asked for.

    Attributes
    ----------
    errors : dict of int to WarpTSPError
        What was wrong with the problems that have no tour for that reason, by position.
    seconds : float
        Wall time of the call.
    interrupted : bool
        Whether Ctrl-C, another signal or the callback ended it; problems that were not begun then have no
        tour.
    signal : int or None
        The number of that signal.
    seed : int
        Problem i was searched with the seed ``seed + i``.
    """

    _table: Table
    errors: dict[int, WarpTSPError]
    seconds: float
    interrupted: bool
    signal: int | None
    seed: int
    _source: Source
    _settings: dict[str, Any]

    @property
    def names(self) -> list[str] | None:
        """The files of the problems, where they came from a folder."""
        return self._source.names

    def __repr__(self) -> str:
        return f"<ManyResults: {len(self)} problems, {self.solved} with a tour, {self.seconds:.2f} s>"

    def __len__(self) -> int:
        return len(self._table)

    def __getitem__(self, position: int) -> Result:
        return self.result(position)

    def __iter__(self) -> Iterator[Result]:
        return (self.result(position) for position in range(len(self)))

    @property
    def solved(self) -> int:
        """Number of problems that have a tour."""
        return len(self) - self._table.lengths.count(None)

    @property
    def tours(self) -> NDArray[np.int32] | list[NDArray[np.int32] | None]:
        """The tours: an array of shape (m, n) if all have n cities, with -1 where there is no tour.

        Otherwise a list of arrays, with None where there is no tour.
        """
        table, found = self._table, self._table.columns["begin"] >= 0
        sizes = np.unique(table.columns["size"][found])
        if len(sizes) != 1:
            return [table.tour(i) if there else None for i, there in enumerate(found.tolist())]
        tours = np.full((len(table), sizes[0]), -1, dtype=np.int32)
        for position in np.flatnonzero(found).tolist():
            tours[position] = table.tour(position)
        return tours

    @property
    def lengths(self) -> NDArray[np.int64] | NDArray[np.float64]:
        """Their lengths, shape (m,): integers if all are and fit, else floats; NaN where there is no tour."""
        lengths = self._table.lengths
        if lengths and all(isinstance(length, int) and length < 2**63 for length in lengths):
            return np.array(lengths, dtype=np.int64)
        return np.array([np.nan if length is None else length for length in lengths], dtype=np.float64)

    def length(self, position: int) -> int | float | None:
        """Return the exact length of a tour, None if there is none."""
        return self._table.lengths[position]

    def unit(self, position: int) -> str:
        """Return the unit of a length, ``"m"``, ``"km"`` or ``"s"``; empty if it is unknown."""
        return self._table.units.get(position, "")

    def lower_bound(self, position: int) -> int | float | None:
        """Return a length that no tour of this problem is below, None if none is proved.

        There is one where the call was told `bound`, of proved tours, and of asymmetric matrices.
        """
        length = self._table.lengths[position]
        if length is None or not self._table.columns["proved"][position]:
            return self._table.bounds.get(position)
        return bound_of_optimal(length)

    def gap(self, position: int) -> float | None:
        """Return how much longer a tour is than the optimal or best known length, as a fraction.

        None if there is no tour, or the length is not on record and the tour not proved optimal.
        """
        length, known = self._table.lengths[position], self._table.known.get(position)
        if length is None or known is not None:
            return None if length is None else relative_gap(length, known)
        return 0.0 if self._table.columns["proved"][position] else None

    def tour(self, position: int) -> NDArray[np.int32]:
        """Return the tour of a problem; empty if there is none."""
        return self._table.tour(position)

    @property
    def kicks(self) -> NDArray[np.int64]:
        """Kicks of each search, shape (m,)."""
        return np.array(self._table.columns["kicks"])

    @property
    def seconds_each(self) -> NDArray[np.float64]:
        """Wall time of each search, shape (m,)."""
        return np.array(self._table.columns["seconds"])

    @property
    def proved_optimal(self) -> NDArray[np.bool_]:
        """Which tours are proved to be optimal, shape (m,)."""
        return np.array(self._table.columns["proved"])

    def seed_of(self, position: int) -> int:
        """Return the seed of the search of a problem."""
        return (self.seed + position) % (1 << 64)

    def result(self, position: int, problem: Any = None) -> Result:
        """Return the result of one problem, as `warptsp.solve` would.

        Parameters
        ----------
        position : int
            From 0; negative ones count from the end.
        problem : optional
            The problem, in any form; needed if it came from an iterator, which has not been kept.

        Raises
        ------
        WarpTSPError
            What was wrong with the problem.
        IndexError
        InvalidOption
            If the call ended before the problem was begun, or the problem has to be given, or has other
            numbers or constraints than what was solved; or if the position is no whole number.
        """
        count = len(self)
        if isinstance(position, bool) or not isinstance(position, (int, np.integer)):
            raise InvalidOption(f"problem {shown(position)}: a whole number from 0 to {count - 1} is needed")
        if not -count <= position < count:
            raise IndexError(f"problem {position} of {count}")
        position = int(position) % count
        if position in self.errors:
            raise self.errors[position]
        if (length := self._table.lengths[position]) is None:
            raise InvalidOption(f"problem {position} has no tour: the call ended before it was begun")
        problem = self._source.problem(position) if problem is None else self._source.read(problem)
        kept, known = self._table.kept(position), problem.known_length
        if (  # a checksum may be met by chance
            mark_of(problem) != self._table.columns["mark"][position]
            or problem.n != len(kept["tour"])
            or problem.length(kept["tour"]) != length
        ):
            raise InvalidOption(f"problem {position} is not what was solved: numbers or constraints differ")
        kept["tour"].flags.writeable = False
        if kept["proved_optimal"]:
            known = KnownLength(problem.name, problem.n, problem.metric, length, proven=True)
        return Result(
            **kept,
            problem=problem,
            known=known,
            history=[HistoryPoint(kept["seconds"], length)],
            lower_bound=self.lower_bound(position),
            seed=self.seed_of(position),
            **self._settings,
        )
