"""Asymmetric matrices like the classes of Cirasella, Johnson, McGeoch and Zhang (2001), and streets.

Written from their descriptions, with random numbers of our own: values are not comparable with theirs.
"The asymmetric traveling salesman problem: algorithms, instance generators, and tests", ALENEX 2001.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

SIDE = 1_000_000

Matrix = NDArray[np.int32]
Generator = np.random.Generator


def closure(matrix: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the lengths of shortest ways (Floyd and Warshall)."""
    np.fill_diagonal(matrix, 0)
    for k in range(len(matrix)):
        np.minimum(matrix, matrix[:, k, np.newaxis] + matrix[k], out=matrix)
    return matrix


def uniform(n: int, random: Generator) -> NDArray[np.int64]:
    """Independent entries."""
    return random.integers(0, SIDE, (n, n))


def closed(n: int, random: Generator) -> NDArray[np.int64]:
    """Shortest ways among independent entries."""
    return closure(uniform(n, random))


def _tilted(n: int, random: Generator, across: int, up: int, down: int, *, summed: bool) -> NDArray[np.int64]:
    x, y = random.integers(0, SIDE, (2, n))
    sideways = np.abs(x[:, np.newaxis] - x) * across
    rise = y[np.newaxis, :] - y[:, np.newaxis]
    upwards = np.where(rise > 0, rise * up, -rise * down)
    return sideways + upwards if summed else np.maximum(sideways, upwards)


def rtilt(n: int, random: Generator) -> NDArray[np.int64]:
    """A drill on a tilted plane, one axis after the other."""
    return _tilted(n, random, 1, 2, 1, summed=True)


def stilt(n: int, random: Generator) -> NDArray[np.int64]:
    """A drill on a tilted plane, both axes at once."""
    return _tilted(n, random, 2, 4, 1, summed=False)


def disk(n: int, random: Generator) -> NDArray[np.int64]:
    """Sectors of a turning disk: the head moves, then waits."""
    x, y = random.integers(0, SIDE, (2, n))
    seek = np.abs(y[:, np.newaxis] - y) * 2
    turn = (x[np.newaxis, :] - x[:, np.newaxis]) % SIDE
    return turn + -(-np.maximum(0, seek - turn) // SIDE) * SIDE


def crane(n: int, random: Generator) -> NDArray[np.int64]:
    """A crane's empty ways between loads, each carried a short way."""
    x, y = random.integers(0, SIDE, (2, n))
    reach = SIDE / max(10.0, np.sqrt(n))
    to_x, to_y = x + random.uniform(-reach, reach, n), y + random.uniform(-reach, reach, n)
    return np.rint(np.hypot(to_x[:, np.newaxis] - x, to_y[:, np.newaxis] - y)).astype(np.int64)


def shop(n: int, random: Generator, machines: int = 50) -> NDArray[np.int64]:
    """Jobs of a flow shop that must not wait: how much later the second one can begin."""
    times = np.cumsum(random.integers(0, 1001, (n, machines)), axis=1)
    before = np.concatenate([np.zeros((n, 1), dtype=np.int64), times[:, :-1]], axis=1)
    delay = np.zeros((n, n), dtype=np.int64)
    for machine in range(machines):
        np.maximum(delay, times[:, machine, np.newaxis] - before[:, machine], out=delay)
    return delay


def overlap(n: int, random: Generator, letters: int = 20) -> NDArray[np.int64]:
    """Strings of two letters: how many letters the next one adds to a common superstring."""
    strings = random.integers(0, 1 << letters, n)
    added = np.full((n, n), letters, dtype=np.int64)
    for common in range(1, letters):
        ends = strings & ((1 << common) - 1)
        begins = strings >> (letters - common)
        added[ends[:, np.newaxis] == begins] = letters - common
    return added


def street(n: int, random: Generator) -> NDArray[np.int64]:
    """Driving times between crossings: a third of the roads one-way, three speeds, and turns cost time."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components, dijkstra
    from scipy.spatial import Delaunay

    crossings = int(1.5 * n)
    place = random.random((crossings, 2)) * 30_000
    corners = Delaunay(place).simplices
    roads = np.unique(np.sort(np.vstack([corners[:, p] for p in ([0, 1], [1, 2], [0, 2])]), axis=1), axis=0)
    long = np.hypot(*(place[roads[:, 0]] - place[roads[:, 1]]).T)
    kept = (long < np.quantile(long, 0.97)) & (random.random(len(roads)) < 0.8)
    roads, long = roads[kept], long[kept]
    seconds = 10 * long / random.choice([8.0, 14.0, 22.0], len(roads), p=[0.5, 0.35, 0.15])
    one_way = random.random(len(roads)) < 0.35
    turned = random.random(len(roads)) < 0.5
    roads[turned] = roads[turned][:, ::-1]
    pieces = np.vstack([roads, roads[~one_way][:, ::-1]])
    times = np.concatenate([seconds, (seconds * random.uniform(1, 1.3, len(seconds)))[~one_way]])
    graph = csr_array((times, (pieces[:, 0], pieces[:, 1])), shape=(crossings, crossings))
    _, part = connected_components(graph, connection="strong")
    largest = np.bincount(part).argmax()
    inside = (part[pieces] == largest).all(axis=1)
    pieces, times = pieces[inside], times[inside]
    angle = np.arctan2(*(place[pieces[:, 1]] - place[pieces[:, 0]]).T[::-1])
    leaving: dict[int, list[int]] = {}
    for piece, begin in enumerate(pieces[:, 0]):
        leaving.setdefault(int(begin), []).append(piece)
    rows, columns, costs = [], [], []
    for piece, (begin, end) in enumerate(pieces):
        for other in leaving[int(end)]:
            turn = (angle[other] - angle[piece] + np.pi) % (2 * np.pi) - np.pi
            wait = 600 if pieces[other, 1] == begin else 150 if turn > 0.6 else 40 if turn < -0.6 else 5
            rows.append(piece)
            columns.append(other)
            costs.append(wait + times[other])
    chosen = random.choice(np.flatnonzero(part == largest), n, replace=False)
    for city, crossing in enumerate(chosen):
        for piece in leaving[int(crossing)]:
            rows.append(len(pieces) + city)
            columns.append(piece)
            costs.append(times[piece])
    size = len(pieces) + n
    graph = csr_array((costs, (rows, columns)), shape=(size, size))
    order = np.argsort(pieces[:, 1], kind="stable")
    first = np.searchsorted(pieces[order, 1], chosen)
    last = np.searchsorted(pieces[order, 1], chosen, "right")
    matrix = np.empty((n, n))
    for begin in range(0, n, 100):
        cities = np.arange(begin, min(n, begin + 100))
        ways = dijkstra(graph, indices=len(pieces) + cities)[:, : len(pieces)][:, order]
        for city in range(n):
            matrix[cities, city] = ways[:, first[city] : last[city]].min(axis=1)
    return np.rint(matrix).astype(np.int64)


def near(n: int, random: Generator) -> NDArray[np.int64]:
    """Straight lines between places in the plane, each way of them up to 20 % longer: nearly symmetric."""
    x, y = random.integers(0, SIDE, (2, n))
    straight = np.hypot(x[:, np.newaxis] - x, y[:, np.newaxis] - y)
    return np.rint(straight * random.uniform(1, 1.2, (n, n))).astype(np.int64)


CLASSES: dict[str, Callable[[int, Generator], NDArray[np.int64]]] = {
    "uniform": uniform,
    "closed": closed,
    "rtilt": rtilt,
    "stilt": stilt,
    "disk": disk,
    "crane": crane,
    "shop": shop,
    "overlap": overlap,
    "street": street,
    "near": near,
}


def make(kind: str, n: int) -> Matrix:
    """Return the matrix of a class and a number of cities, always the same."""
    matrix = CLASSES[kind](n, np.random.default_rng(n + 7)).astype(np.int32)
    np.fill_diagonal(matrix, 0)
    return matrix
