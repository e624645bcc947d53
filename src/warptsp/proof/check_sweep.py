"""The check of a leaf by a sweep: its edges leave no tour that is short enough.

M. Held and R. M. Karp, "A dynamic programming approach to sequencing problems" (1962), along a frontier of
the cities instead of over all sets.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]

MOST_EDGES = 16
"""Of each city, in a sweep: no proof needs as many."""
MOST_SLACK = 1 << 54
"""Beyond which nothing is swept: sums of 64 bits do not overflow."""

_FULL, _NONE = 255, 254  # a city with both edges; a column without a city
_MOST_COLUMNS, _MOST_BYTES = 250, 5 << 27  # of a layer: 8 million states of 64 bytes and two numbers
_PRIME = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True, slots=True, eq=False)
class SweptEdges:
    """Edges that a tour may have: ends [m, 2], lengths, what it pays with and without, which it must have."""

    ends: Ints
    lengths: Ints
    taken: Ints
    left: Ints
    forced: NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class SweptRow:
    """A row: how often it counts each edge, and its limits."""

    counts: NDArray[np.int32]  # shape (m,)
    price: int  # of what a tour counts above `lower`; not negative
    lower: int
    upper: int | None
    is_even: bool  # whether tours count even numbers
    is_branch: bool  # whether tours that are not asked for may be beyond the limits


def leaves_no_tour(
    order: NDArray[np.int32], edges: SweptEdges, rows: list[SweptRow], slack: int, target: int
) -> bool:
    """Return whether no tour along these edges that is within all rows' limits is as short as the target.

    The length of a tour is the bound, `slack` below the target, and what it pays: for its edges, for those
    that it leaves out, and for what each row counts above its lower limit. No part is negative, so that
    a tour sought pays no more than the slack.

    Edges are decided one after the other, those of the first city in order first. A state is what was
    decided so far, as the cities of the frontier see it: their degrees, which of them a path joins, and how
    often branches were crossed. States that are equal can be completed in the same ways, so that a shortest
    one stands for all: if one of the others can become a tour sought, then it can, as the tour with
    the same completion is no longer, within the limits of branches as well, and all other rows hold for any
    tour. So a state that has paid more than the slack goes, and with it all that it stood for.

    A row pays from the first count on that is more than it needs. Where all tours count even numbers, and an
    even one is needed, what is odd so far will be one more at least.

    So does one that will have paid more: each city of the frontier wants as many edges as it lacks, the
    cheapest ones at least, and leaves out the others. An edge to another city of the frontier is paid there
    by half.
    """
    sweep = _Sweep(order, edges, rows, slack, target)
    return not sweep.may_leave_tour or not sweep.finds_tour()


@dataclass(slots=True, eq=False)
class _Layer:
    """States: mates of the cities in their columns, counts of rows in theirs, lengths, and what was paid."""

    mates: NDArray[np.uint8]
    counts: NDArray[np.int32]
    lengths: Ints
    paid: Ints

    def __len__(self) -> int:
        return len(self.lengths)

    @property
    def nbytes(self) -> int:
        return self.mates.nbytes + self.counts.nbytes + self.lengths.nbytes + self.paid.nbytes

    def where(self, chosen: NDArray[Any]) -> _Layer:
        return _Layer(self.mates[chosen], self.counts[chosen], self.lengths[chosen], self.paid[chosen])

    def and_also(self, other: _Layer) -> _Layer:
        return _Layer(
            np.concatenate([self.mates, other.mates]),
            np.concatenate([self.counts, other.counts]),
            np.concatenate([self.lengths, other.lengths]),
            np.concatenate([self.paid, other.paid]),
        )


class _Sweep:
    def __init__(
        self, order: NDArray[np.int32], edges: SweptEdges, rows: list[SweptRow], slack: int, target: int
    ) -> None:
        self._n, self._edges, self._rows, self._slack, self._target = len(order), edges, rows, slack, target
        self._alive = np.ones(len(edges.ends), dtype=bool)
        self._forced = edges.forced.copy()
        self.may_leave_tour = self._reduce() and self._pay_for_forced()
        place = np.empty(self._n, dtype=np.int64)
        place[order] = np.arange(self._n)
        ends = np.sort(place[edges.ends], axis=1)
        sequence = np.lexsort((ends[:, 1], ends[:, 0]))
        self._sequence: list[int] = sequence[self._alive[sequence]].tolist()
        self._ends: list[list[int]] = edges.ends.tolist()
        self._uses: dict[int, list[tuple[int, int]]] = {e: [] for e in self._sequence}
        self._remaining: list[int] = []
        free = self._alive & ~self._forced
        for r, row in enumerate(rows):
            counts = np.where(free, row.counts, 0)
            for e in np.flatnonzero(counts).tolist():
                self._uses[e].append((r, int(counts[e])))
            self._remaining.append(int(counts.sum(dtype=np.int64)))
        ends_of_steps = [self._ends[e] for e in self._sequence]
        rows_of_steps = [[r for r, _ in self._uses[e]] for e in self._sequence]
        self._column, self._columns = _columns(ends_of_steps)
        self._place, self._places = _columns(rows_of_steps)
        self._begins, self._last = _spans(ends_of_steps)
        self._begins_of_rows, _ = _spans(rows_of_steps)
        self._around: list[list[tuple[int, int, int]]] = [[] for _ in range(self._n)]
        for number, e in enumerate(self._sequence):
            a, b = self._ends[e]
            self._around[a].append((number, e, b))
            self._around[b].append((number, e, a))

    def _reduce(self) -> bool:
        """Force the edges of cities with two, and drop those that would be too many or close a path; whether
        a tour may be left."""
        ends, n = self._edges.ends, self._n
        while True:
            forced = self._alive & self._forced
            degree = np.bincount(ends[self._alive].ravel(), minlength=n)
            of_forced = np.bincount(ends[forced].ravel(), minlength=n)
            if degree.min() < 2 or of_forced.max() > 2:
                return False
            path = np.arange(n)
            for a, b in ends[forced].tolist():
                if path[a] == path[b] and np.ptp(path):
                    return False
                path[path == path[a]] = path[b]
            closes = (path[ends[:, 0]] == path[ends[:, 1]]) & bool(np.ptp(path))
            free = self._alive & ~self._forced
            gone = free & (closes | (of_forced[ends] == 2).any(axis=1))
            needed = free & ~gone & (degree[ends] == 2).any(axis=1)
            self._alive &= ~gone
            self._forced |= needed
            if not gone.any() and not needed.any():
                return True

    def _pay_for_forced(self) -> bool:
        """Take what all tours pay from the slack; whether any is left."""
        forced = self._alive & self._forced
        paid = [*self._edges.left[~self._alive].tolist(), *self._edges.taken[forced].tolist()]
        self._slack -= sum(paid)
        self._need, self._most = [], []
        for row in self._rows:
            known = int(row.counts[forced].sum())
            self._slack -= row.price * max(0, known - row.lower)
            self._need.append(max(0, row.lower - known))
            self._most.append(np.iinfo(np.int32).max if row.upper is None else row.upper - known)
        return self._slack >= 0 and min(self._most, default=0) >= 0

    def finds_tour(self) -> bool:
        """Return whether a tour sought may be left."""
        if self._columns > _MOST_COLUMNS or self._slack >= MOST_SLACK:
            return True
        self._found = False
        for layer in self._layers():
            if self._found or len(layer) == 0:
                break
        return self._found

    def _layers(self) -> Iterator[_Layer]:
        """Decide one edge after the other."""
        n, width, sequence = self._n, -(-self._columns // 8) * 8, self._sequence
        begins, ends = self._begins, self._last
        remaining = list(self._remaining)
        branches = [r for r, row in enumerate(self._rows) if row.is_branch and r in self._place]
        met = 0
        layer = _Layer(
            np.full((1, width), _NONE, dtype=np.uint8),
            np.zeros((1, self._places), dtype=np.int32),
            np.zeros(1, dtype=np.int64),
            np.zeros(1, dtype=np.int64),
        )
        to_come = np.bincount(np.array([self._ends[e] for e in sequence]).ravel(), minlength=n).tolist()
        for number, e in enumerate(sequence):
            columns = [self._column[city] for city in self._ends[e]]
            for city, column in zip(self._ends[e], columns, strict=True):
                if begins[city] == number:
                    layer.mates[:, column] = column
                    met += 1
                to_come[city] -= 1
            taken = self._take(layer, e, columns, met == n)
            if self._forced[e]:
                layer = taken
            else:
                layer = replace(layer, paid=layer.paid + self._edges.left[e]).and_also(taken)
            good = layer.paid <= self._slack
            for r, count in self._uses[e]:
                remaining[r] -= count
                counts = layer.counts[:, self._place[r]]
                good &= (counts >= self._need[r] - remaining[r]) & (counts <= self._most[r])
            for city, column in zip(self._ends[e], columns, strict=True):
                mates = layer.mates[:, column]
                wanted = np.where(mates == _FULL, 0, np.where(mates == column, 2, 1))
                good &= wanted <= to_come[city]
            layer = layer.where(good)
            for r, _ in self._uses[e]:
                if remaining[r] == 0:
                    layer.counts[:, self._place[r]] = 0
            is_narrower = False
            for city, column in zip(self._ends[e], columns, strict=True):
                if ends[city] == number:
                    layer.mates[:, column] = _NONE
                    is_narrower = True
            if layer.nbytes > _MOST_BYTES:
                self._found = True
                return
            if is_narrower:
                layer = _shortest(layer, [self._place[r] for r in branches])
                layer = layer.where(layer.paid + self._will_pay(layer, number) <= self._slack)
            yield layer

    def _take(self, layer: _Layer, e: int, columns: list[int], all_met: bool) -> _Layer:
        """Return the states that take an edge; one that becomes a tour ends there."""
        u, v = columns
        mate_u, mate_v = layer.mates[:, u], layer.mates[:, v]
        closes = mate_u == v
        if all_met and closes.any():
            others = np.delete(layer.mates[closes], columns, axis=1)
            whole = ((others == _FULL) | (others == _NONE)).all(axis=1)
            lengths = layer.lengths[closes] + self._edges.lengths[e]
            self._found |= bool((whole & (lengths <= self._target)).any())
        layer = layer.where((mate_u != _FULL) & (mate_v != _FULL) & ~closes)
        every = np.arange(len(layer))
        mate_u, mate_v = layer.mates[:, u].copy(), layer.mates[:, v].copy()
        layer.mates[mate_u != u, u] = _FULL
        layer.mates[mate_v != v, v] = _FULL
        layer.mates[every, mate_u] = mate_v
        layer.mates[every, mate_v] = mate_u
        layer.lengths += self._edges.lengths[e]
        if not self._forced[e]:
            layer.paid += self._edges.taken[e]
        for r, count in self._uses[e]:
            before = layer.counts[:, self._place[r]]
            after = before + count
            layer.paid += self._pays(r, after) - self._pays(r, before)
            if self._rows[r].upper is None:  # more than is needed pays as the first that is more
                over = after - self._need[r]
                after = np.where(over > 0, self._need[r] + (over & 1 if self._is_even(r) else 0), after)
            layer.counts[:, self._place[r]] = after
        return layer

    def _will_pay(self, layer: _Layer, number: int) -> Ints:
        """Return what the edges that are to come after a step cost at least, in each state."""
        too_much = self._slack + 1
        total = np.zeros(len(layer), dtype=np.int64)
        is_last = max(self._begins.values()) <= number
        for city in [v for v, begin in self._begins.items() if begin <= number < self._last[v]]:
            mates, column = layer.mates[:, self._column[city]], self._column[city]
            more = [np.full(len(layer), too_much)] * 2  # than leaving it out, of each edge
            for _, e, other in [step for step in self._around[city] if step[0] > number]:
                is_shared = self._begins[other] <= number
                left = too_much if self._forced[e] else int(self._edges.left[e]) >> is_shared
                taken = np.full(len(layer), 0 if self._forced[e] else int(self._edges.taken[e]) >> is_shared)
                for r, count in self._uses[e]:
                    taken += self._pays_at_once(r, count, layer, number) >> is_shared
                cost = taken - left
                if is_shared:
                    closes = (mates == self._column[other]) & (not is_last)
                    cost[closes | (layer.mates[:, self._column[other]] == _FULL)] = too_much
                more.append(cost)
                total += left
            least, second = np.partition(np.stack(more), 1, axis=0)[:2]
            total += np.where(mates == _FULL, 0, least + np.where(mates == column, second, 0))
            total = np.minimum(total, too_much)
        return total

    def _pays_at_once(self, r: int, count: int, layer: _Layer, number: int) -> Ints | int:
        """Return what a row is paid for an edge where it needs no more; 0 where that is little."""
        price = min(self._rows[r].price * count, self._slack + 1)
        if self._rows[r].upper is not None or 16 * price <= self._slack:
            return 0
        if self._begins_of_rows[r] > number:
            return price if self._need[r] == 0 else 0
        return np.where(layer.counts[:, self._place[r]] == self._need[r], price, 0)

    def _is_even(self, r: int) -> bool:
        return self._rows[r].is_even and self._rows[r].lower % 2 == 0 and self._need[r] > 0

    def _pays(self, r: int, counts: NDArray[np.int32]) -> Ints:
        price = self._rows[r].price
        over = counts.astype(np.int64) - self._need[r]
        if self._is_even(r):
            over += over & 1
        return price * np.clip(over, 0, self._slack // price + 1 if price else 0)


def _spans(touched: list[list[int]]) -> tuple[dict[int, int], dict[int, int]]:
    """Return at which step each member is met first, and at which last."""
    first: dict[int, int] = {}
    last: dict[int, int] = {}
    for number, members in enumerate(touched):
        for member in members:
            first.setdefault(member, number)
            last[member] = number
    return first, last


def _columns(touched: list[list[int]]) -> tuple[dict[int, int], int]:
    """Return a column for each member, which others have before the first and after its last step."""
    first, last = _spans(touched)
    unused: list[int] = []
    column: dict[int, int] = {}
    count = 0
    for number, members in enumerate(touched):
        for member in members:
            if first[member] == number:
                if not unused:
                    unused, count = [count], count + 1
                column[member] = unused.pop()
        unused += [column[member] for member in members if last[member] == number]
    return column, count


def _hash(rows: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """Return equal numbers for equal rows, whose bytes are a multiple of 8."""
    hashes = np.ones(len(rows), dtype=np.uint64)
    for word in np.ascontiguousarray(rows).view(np.uint64).T:
        hashes = (hashes ^ word) * _PRIME
        hashes ^= hashes >> np.uint64(29)
    return hashes


def _shortest(layer: _Layer, branches: list[int]) -> _Layer:
    """Return a shortest one of all states that are equal; should hashes collide, more may stay."""
    counts = layer.counts[:, branches]
    keys = layer.mates
    if branches:
        bytes_of_counts = np.zeros((len(layer), -(-4 * len(branches) // 8) * 8), dtype=np.uint8)
        bytes_of_counts[:, : 4 * len(branches)] = np.ascontiguousarray(counts).view(np.uint8)
        keys = np.concatenate([keys, bytes_of_counts], axis=1)
    hashes = _hash(keys)
    order = np.lexsort((layer.lengths, hashes))
    hashes, keys = hashes[order], keys[order]
    is_new = np.ones(len(layer), dtype=bool)
    is_new[1:] = (hashes[1:] != hashes[:-1]) | (keys[1:] != keys[:-1]).any(axis=1)
    return layer.where(order[is_new])
