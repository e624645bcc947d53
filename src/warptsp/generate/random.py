"""Random instances of any size."""

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warptsp._checks import checked_number, checked_whole, shown
from warptsp.errors import InvalidOption
from warptsp.problem import Metric, Problem

_SPREAD = "possible, it must lie between 0 and 1e12"
BLOCK = 1 << 20
"""Cities made together: 16 MB."""
Plan = Iterator[Callable[[], NDArray[np.float64]]]
"""What makes each block."""


@dataclass(frozen=True, slots=True)
class RandomPoints:
    """A random instance that is made piece by piece, and need not fit into memory.

    Attributes
    ----------
    n : int
        Number of cities.
    name, comment : str
        Those of the instance.
    """

    n: int
    name: str
    comment: str
    _seed: int
    _plan: Callable[[np.random.Generator], Plan]

    def blocks(self, threads: int = 1) -> Iterator[NDArray[np.float64]]:
        """The cities in order, at most `BLOCK` at a time; the same ones with any number of threads.

        Random numbers are drawn twice: first in one thread, which only learns from which state each block
        goes on, then by the threads that make the blocks.
        """
        plan = self._plan(np.random.Generator(np.random.PCG64(self._seed)))
        if threads == 1 or self.n <= BLOCK:
            for make in plan:
                yield make()
            return
        pool = ThreadPoolExecutor(threads)
        waiting: deque[Future[NDArray[np.float64]]] = deque()
        try:
            for make in plan:
                waiting.append(pool.submit(make))
                if len(waiting) > 2 * threads:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            pool.shutdown(cancel_futures=True)

    def problem(self) -> Problem:
        """The instance, in memory, with TSPLIB's rounded distances."""
        coordinates = np.empty((self.n, 2))
        begin = 0
        for block in self.blocks():
            coordinates[begin : begin + len(block)] = block
            begin += len(block)
        return Problem(Metric.EUC_2D, coordinates=coordinates, name=self.name, comment=self.comment)


def uniform(n: int, *, seed: int = 0, side: int = 1_000_000) -> Problem:
    """Cities drawn uniformly from the integer points of a square.

    Parameters
    ----------
    n : int
        Number of cities.
    seed : int
        The same seed gives the same instance.
    side : int
        Coordinates are 0, 1, ..., side - 1.

    Raises
    ------
    InvalidOption
        A number is out of range.
    """
    return uniform_points(n, seed=seed, side=side).problem()


def uniform_points(n: int, *, seed: int = 0, side: int = 1_000_000) -> RandomPoints:
    """The cities of `uniform`, piece by piece."""
    n, seed, side = _checked(n, seed, side)

    def draw(random: np.random.Generator, size: int) -> NDArray[np.int64]:
        return random.integers(0, side, size=(size, 2))

    def make(size: int, state: Any) -> NDArray[np.float64]:
        return draw(_generator(state), size).astype(np.float64)

    def plan(random: np.random.Generator) -> Plan:
        return (partial(make, *block) for block in _states(random, n, draw))

    return RandomPoints(n, f"uniform{n}", f"uniform in a square of side {side}, seed {seed}", seed, plan)


def clustered(
    n: int, *, seed: int = 0, side: int = 1_000_000, clusters: int | None = None, spread: float | None = None
) -> Problem:
    """Cities drawn from normal distributions around uniformly drawn centres.

    Parameters
    ----------
    n : int
        Number of cities.
    seed : int
        The same seed gives the same instance.
    side : int
        The centres have coordinates 0, 1, ..., side - 1; cities may lie beyond.
    clusters : int, optional
        Number of centres; by default one for each hundred cities.
    spread : float, optional
        Standard deviation of each coordinate; by default side / sqrt(n).

    Raises
    ------
    InvalidOption
        A number is out of range.
    """
    return clustered_points(n, seed=seed, side=side, clusters=clusters, spread=spread).problem()


def clustered_points(
    n: int, *, seed: int = 0, side: int = 1_000_000, clusters: int | None = None, spread: float | None = None
) -> RandomPoints:
    """The cities of `clustered`, piece by piece; the centres stay in memory."""
    n, seed, side = _checked(n, seed, side)
    count = max(1, n // 100) if clusters is None else clusters
    count = checked_whole("clusters", count, 1, 2**31 - 1)
    deviation = side / n**0.5 if spread is None else spread
    deviation = checked_number("spread", deviation, minimum=0.0, what=_SPREAD)
    if deviation >= 1e12:
        raise InvalidOption(f"spread: {shown(spread)} is not {_SPREAD}")

    def draw_offsets(random: np.random.Generator, size: int) -> NDArray[np.float64]:
        return random.standard_normal((size, 2))

    def draw_chosen(random: np.random.Generator, size: int) -> NDArray[np.int64]:
        return random.integers(0, count, size=size)

    def plan(random: np.random.Generator) -> Plan:
        centers = random.integers(0, side, size=(count, 2))

        def make(size: int, before_offsets: Any, before_chosen: Any) -> NDArray[np.float64]:
            coordinates = draw_offsets(_generator(before_offsets), size)
            coordinates *= deviation
            coordinates += centers[draw_chosen(_generator(before_chosen), size)]
            return np.rint(coordinates, out=coordinates)

        # All offsets are drawn before the first city chooses its cluster.
        offsets = list(_states(random, n, draw_offsets))
        for (size, before), (_, state) in zip(offsets, _states(random, n, draw_chosen), strict=True):
            yield partial(make, size, before, state)

    comment = f"{count} normal clusters of spread {deviation:.6g} in a square of side {side}, seed {seed}"
    return RandomPoints(n, f"clustered{n}", comment, seed, plan)


def _states(
    random: np.random.Generator, n: int, draw: Callable[[np.random.Generator, int], object]
) -> Iterator[tuple[int, Any]]:
    """The size of each block, and the state from which its numbers are drawn."""
    for begin in range(0, n, BLOCK):
        size = min(BLOCK, n - begin)
        state = dict(random.bit_generator.state)
        draw(random, size)
        yield size, state


def _generator(state: Any) -> np.random.Generator:
    random = np.random.PCG64(0)
    random.state = state
    return np.random.Generator(random)


def _checked(n: int, seed: int, side: int) -> tuple[int, int, int]:
    n, seed = checked_whole("n", n, 1, 2**31 - 1), checked_whole("seed", seed, 0, 2**63)
    return n, seed, checked_whole("side", side, 1, 10**12)
