"""The linear programme of a node, with the edges that its prices want, and the bounds that they prove."""

import copy
import math
from dataclasses import replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

import warptsp._native as _native
from warptsp.proof.closed_instance import FRACTION_BITS, ClosedInstance, Stopped
from warptsp.proof.evidence import Branch, CutDescription, Evidence, Node
from warptsp.proof.linear_program import LinearProgram, Outcome
from warptsp.proof.lines import Lines

NEIGHBOURS = 6
"""Shortest edges of each city in the first linear programme."""
NEAR = 0.3
"""The linear programme of the tree begins with the edges whose reduced lengths are up to this share of the
gap; the others that are left come when they are priced."""
MOST_NEAR = 4
"""Of these edges, for each city."""
NEAR_AT_ROOT = 0.5
"""The same for the edges that stay in the linear programme after blossoms, at the root."""
PERTURBATION = 0.1
"""Of the costs, over a whole tour, in steps by which a tour must be shorter: bounds lose a quarter of it.
Where edges of equal length tie, most steps of the dual simplex method gain nothing."""
MOST_STATES = 30_000_000
"""Of a sweep: some seconds, and a minute for the checker."""
LEAST_PRICE = 64
"""Units of the finest kind by which a reduced length is negative without being a reason for a new column: a
thousandth of a unit of length."""


class NodeProgram:
    """A linear programme that is set to one node of the tree after the other.

    It begins with a closed tour, and fills `cuts` where a certificate or a checkpoint wants them. Raises
    `Stopped`: by the token, while the first linear programme was being made.
    """

    def __init__(
        self,
        instance: ClosedInstance,
        tour: NDArray[np.int32],
        *,
        seed: int,
        token: _native.StopToken,
        keep_cuts: bool = False,
    ) -> None:
        self.instance, self.token, self._keep_cuts = instance, token, keep_cuts
        self.tour = np.ascontiguousarray(tour, dtype=np.int32)  # the best closed one that is known here
        self.length = instance.units(self.tour)
        self.cuts: dict[int, CutDescription] = {}  # that any evidence names
        # That no tour of the present node is below its bound; no length is negative.
        self.evidence = Evidence(0, np.zeros(instance.size, dtype=np.int64), ())
        fine = FRACTION_BITS - instance.exponent if instance.problem.integral else 0
        self._least_price = -max(2, LEAST_PRICE >> fine)  # the same share of a unit of length
        self.branches: tuple[Branch, ...] = ()  # of the present node
        self._id_of: dict[Branch, int] = {}  # the cuts of branches on more than two cities
        self.relaxation = _native.Relaxation(instance.lengths, self.tour, seed, token)
        self.relaxation.perturb(PERTURBATION * objective_of(instance.step(self.length)) / instance.size)
        self.lines: Lines | None = None  # on which the cities lie, where many share one
        if instance.seen.matrix is None and instance.size == instance.seen.n:
            points = np.ascontiguousarray(instance.seen.given_coordinates()[:, :2], dtype=np.float64)
            self.relaxation.set_coordinates(points)
            self.lines = Lines.of(points)
        longest = objective_of(int(instance.lengths.max()))
        self.program = LinearProgram(instance.size, token, longest, self.relaxation.to_cuts)
        self.add_edges(self._first_edges())
        for a, b in instance.fixed.tolist():
            self._limit_edge((a, b), 1, 1)

    def fork(self, number: int) -> Self:
        """Return one that is the same and goes its own way; `number`, from 1 on, is its own."""
        other = copy.copy(self)
        other.relaxation = self.relaxation.fork(number)
        other.program = self.program.copy(other.relaxation.to_cuts)
        other.cuts, other._id_of = {}, dict(self._id_of)
        return other

    @property
    def bound(self) -> int:
        """No tour of the present node is shorter than this, in units."""
        return self.evidence.bound

    @property
    def target(self) -> int:
        """A node whose bound exceeds this, in units, has no shorter tour."""
        return self.length - self.instance.step(self.length)

    @property
    def is_pruned(self) -> bool:
        """Whether the present node has no shorter tour."""
        return self.bound > self.target

    def take_tour(self, tour: NDArray[np.int32]) -> None:
        """Take a shorter tour."""
        self.tour, self.length = tour, self.instance.units(tour)
        self.relaxation.set_tour(tour)

    # Edges

    def _first_edges(self) -> NDArray[np.int32]:
        lengths, n = self.instance.lengths, self.instance.size
        count = min(NEIGHBOURS, n - 1)
        nearest = np.empty((n, count), dtype=np.int32)
        for city in range(n):
            if self.token.stopped():
                raise Stopped
            others = lengths[city].copy()
            others[city] = np.int64(1) << 60
            nearest[city] = np.argpartition(others, count - 1)[:count]
        every = np.arange(n, dtype=np.int32)
        near = np.stack([np.repeat(every, count), nearest.ravel()], axis=1)
        pairs = np.concatenate([self.edges_of_tour(), near])
        return np.unique(np.sort(pairs, axis=1), axis=0)

    def edges_of_tour(self) -> NDArray[np.int32]:
        """Return those of the best tour."""
        return np.stack([self.tour, np.roll(self.tour, -1)], axis=1)

    def add_edges(self, pairs: NDArray[np.int32]) -> None:
        """Add those that the linear programme does not have."""
        self.program.add_columns(self.relaxation.add_columns(np.ascontiguousarray(pairs)))

    def _keep_edges(self, edges: NDArray[np.int32]) -> None:
        """Delete the other columns; pricing adds those that are wanted again."""
        left = {(a, b) for a, b in np.sort(edges, axis=1).tolist()}
        ends = self.relaxation.ends.tolist()
        gone = np.array([c for c, (a, b) in enumerate(ends) if (a, b) not in left], dtype=np.int32)
        self.program.drop_columns(gone)
        self.relaxation.drop_columns(gone)

    def near(self, bound: int, share: float) -> NDArray[np.int32]:
        """Return the edges whose reduced lengths are up to this share of the gap, by the bound's prices.

        Of a wide gap the share is halved until they are not too many.
        """
        slack, most = int(share * max(0, self.target - bound)), MOST_NEAR * self.instance.size
        while len(edges := self.relaxation.survivors(slack, False)) > most and slack:
            slack //= 2
        return np.concatenate([edges, self.instance.fixed])

    def keep_survivors(self, bound: int) -> int:
        """Go on with the edges alone that a shorter tour can have, by the last prices, which prove the bound.

        The linear programme keeps the near ones of these, and those of the tour. Their number, near or not,
        is returned.
        """
        left = len(self.relaxation.survivors(max(0, self.target - bound), True))
        edges = np.concatenate([self.near(bound, NEAR), self.edges_of_tour()])
        self.add_edges(edges)
        self._keep_edges(edges)
        self.program.expect_few_steps()
        return left

    def leave_far_edges(self) -> None:
        """Go on with edges of small reduced length and those of the best tour."""
        bound = self.solve_and_price()
        if self.program.outcome is Outcome.OPTIMAL and bound is not None:
            self._keep_edges(np.concatenate([self.near(bound, NEAR_AT_ROOT), self.edges_of_tour()]))

    # Bounds

    def evidence_of(self, bound: int) -> Evidence:
        """Return the prices that the relaxation has last looked at, which prove this bound."""
        cities, prices = self.relaxation.whole_prices()
        ids = self.relaxation.ids
        priced = np.flatnonzero(prices)
        for row in priced.tolist() if self._keep_cuts else ():
            if int(ids[row]) not in self.cuts:
                self.cuts[int(ids[row])] = self.relaxation.cut(row)
        return Evidence(bound, cities, tuple(zip(ids[priced].tolist(), prices[priced].tolist(), strict=True)))

    def _take(self, bound: int | None) -> None:
        """Take what the prices prove that the relaxation has last looked at, if it is more than is known."""
        if bound is not None and bound > self.bound:
            self.evidence = self.evidence_of(bound)

    def price(self, most: int) -> bool:
        """Take the bound that the present prices prove; whether edges had to be added, `most` at once."""
        bound, least, pairs = self.relaxation.price(self.program.prices, most)
        self._take(bound)
        if least >= self._least_price:
            return False
        self.add_edges(pairs)
        return True

    def price_as_it_is(self) -> None:
        """Take the bound of the last prices, which a stop has left without rows that came later.

        Those of a solution that was broken off are as good: the dual simplex method raises their bound.
        """
        prices = np.zeros(self.instance.size + self.relaxation.rows)
        known = self.program.prices
        if self.program.outcome in (Outcome.OPTIMAL, Outcome.LIMIT) and len(known) <= len(prices):
            prices[: len(known)] = known
            self._take(self.relaxation.price(prices, 0)[0])

    def price_evidence(self, evidence: Evidence, row_of: dict[int, int]) -> None:
        """Take what an earlier proof's prices prove in the present node; its cuts are these rows."""
        n, relaxation = self.instance.size, self.relaxation
        prices = np.zeros(n + relaxation.rows)
        prices[:n] = evidence.cities
        limited = [  # sets of branches, and the rows in which they have their limits
            (np.isin(np.arange(n), branch.cities), self._row_of(branch)) for branch in self._id_of
        ]
        for number, price in evidence.cuts:
            row = row_of[number]
            class_of, lengths, right, _ = relaxation.cut(row)
            if len(lengths) == 2 and right == 2:
                outside = class_of == 0
                for inside, its_row in limited:
                    if np.array_equal(inside, outside) or np.array_equal(inside, ~outside):
                        row = its_row
            prices[n + row] += price
        prices = np.ldexp(prices, -FRACTION_BITS)
        self._take(relaxation.price(prices, 0)[0])
        if evidence.order is not None and not self.is_pruned:
            self._sweep(prices, MOST_STATES, evidence.order)

    def sweep(self, most_states: int) -> bool:
        """Sweep over the edges that the last solution's prices leave, with so many states at most.

        Returns whether that proves that this node has no tour shorter than the best one, which may be found
        so.
        """
        prices = self.program.prices
        is_solved = self.program.outcome is Outcome.OPTIMAL
        if not is_solved or len(prices) != self.instance.size + self.relaxation.rows:
            return False
        return self._sweep(prices, most_states, None)

    def _sweep(self, prices: NDArray[np.float64], most_states: int, order: NDArray[np.int32] | None) -> bool:
        bound = self.relaxation.price(prices, 0)[0]
        if bound is None:
            return False
        while bound <= self.target:
            step = self.instance.step(self.length)
            ended, order, tour = self.relaxation.sweep(
                self.target - bound, self.target, step, order, most_states, self.token
            )
            if not ended:
                return False
            if tour is None:
                self.evidence = replace(self.evidence_of(bound), bound=self.target + 1, order=order)
                break
            self.take_tour(tour)
            self.add_edges(self.edges_of_tour())
        return self.is_pruned

    def price_ray(self) -> bool:
        """Prove by a ray that no tour is left, or add edges; whether either came true."""
        if self._price_this_ray():
            return True
        # Infeasible by rounding alone? Another basis may tell, or give another ray.
        self.program.restore()
        outcome = self.program.solve()
        if outcome is Outcome.INFEASIBLE:
            return self._price_this_ray()
        return outcome is not Outcome.LIMIT

    def _price_this_ray(self) -> bool:
        ray = self.program.prices
        largest = float(np.abs(ray).max(initial=0.0))
        if largest == 0.0:
            return False
        # Along a ray the bound rises without end, if no missing edge stops it.
        wanted = 2.0 * objective_of(self.length) + 1.0
        for factor in (1.0, 16.0, 256.0, 4096.0):
            bound, least, pairs = self.relaxation.price(ray * (factor * wanted / largest), 1000)
            if bound is not None and bound > self.target:
                self._take(bound)
                return True
            if least < self._least_price and len(pairs):
                self.add_edges(pairs)
                return True
        return False

    def solve_and_price(self) -> int | None:
        """Return the bound of a solution for which no edge is missing; None for none."""
        self.program.solve()
        while not self.token.stopped() and self.price(1000):
            self.program.solve()
        return self.relaxation.price(self.program.prices, 0)[0]

    def price_to_the_end(self) -> bool:
        """Solve and add edges until none is missing; whether the bound is reached."""
        while not self.token.stopped():
            outcome = self.program.solve()
            if outcome is Outcome.INFEASIBLE:
                if not self.price_ray():
                    return False
            elif outcome is Outcome.LIMIT or not self.price(1000):
                break
            if self.is_pruned:
                return True
        return self.is_pruned

    # Branches

    def go_to(self, node: Node) -> None:
        """Set the limits of a node, and go on from what is proved of it."""
        self.evidence = node.evidence
        kept = set(self.branches) & set(node.branches)
        for branch in self.branches:
            if branch not in kept:
                self._undo(branch)
        for branch in node.branches:
            if branch not in kept:
                self._do(branch)
        self.branches = node.branches

    def _do(self, branch: Branch) -> None:
        if len(branch.cities) == 2:
            used = int(branch.most == 2)
            self._limit_edge(branch.cities, used, used)
            return
        self.program.add_rows(self.relaxation.add_subtour(np.array(branch.cities, dtype=np.int32)))
        row = self.relaxation.rows - 1
        self._id_of[branch] = int(self.relaxation.ids[row])
        self._limit_row(row, branch.least, branch.most)

    def _undo(self, branch: Branch) -> None:
        if len(branch.cities) == 2:
            self._limit_edge(branch.cities, 0, 1)
            return
        self._limit_row(self._row_of(branch), 2, None)
        del self._id_of[branch]

    def _row_of(self, branch: Branch) -> int:
        return int(np.flatnonzero(self.relaxation.ids == self._id_of[branch])[0])

    def _limit_row(self, row: int, lower: int, upper: int | None) -> None:
        self.relaxation.set_row_bounds(row, lower, -1 if upper is None else upper)
        self.program.bound_row(row, lower, math.inf if upper is None else upper)

    def _limit_edge(self, cities: tuple[int, ...], lower: int, upper: int) -> None:
        self.add_edges(np.array([cities], dtype=np.int32))  # of another solver's branch, or one that has gone
        column = self.relaxation.column(*cities)
        self.relaxation.set_column_bounds(column, lower, upper)
        self.program.bound_column(column, lower, upper)


def objective_of(units: int) -> float:
    """Return a length as the linear programme has it."""
    return math.ldexp(float(units), -FRACTION_BITS)
