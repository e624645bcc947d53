"""A linear programme with its cuts that is set to one node of the tree after the other.

M. Padberg and G. Rinaldi, "A branch-and-cut algorithm for the resolution of large-scale symmetric traveling
salesman problems", SIAM Review 33 (1991) 60-100.
"""

from __future__ import annotations

import copy
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

import warptsp._native as _native
from warptsp._native import Effort

from .closed_instance import FRACTION_BITS, Stopped
from .evidence import Branch, Evidence
from .linear_program import LinearProgram, Outcome

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from .closed_instance import ClosedInstance
    from .evidence import CutDescription

__all__ = ["NEAR", "Node", "NodeSolver"]

NEIGHBOURS = 6
"""Shortest edges of each city in the first linear programme."""
MAX_CUTS = 100
"""Rows that one round adds, those with the largest violation; more for more than a thousand cities."""
STALL_ROUNDS = 8
"""Rounds in which the bound must have risen by the share of `_STALL`."""
CANDIDATES = 12
"""Edges that are considered as branches."""
CANDIDATE_SETS = 12
"""Sets of more than two cities that are considered, too."""
PROBES = 10
"""Those of all these that are tried: the best ones by the first step of the simplex method."""
PROBE_STEPS = 60
"""Steps of the simplex method in each of their two sides."""
NEAR = 0.3
"""The linear programme of the tree begins with the edges whose reduced lengths are up to this share of the
gap; the others that are left come when they are priced."""
NEAR_AT_ROOT = 0.5
"""The same for the edges that stay in the linear programme while local cuts are sought at the root."""
PRICE_EVERY = 12
"""Rounds after which missing edges are looked for in any case."""
STEPS_OF_SOLUTION, STEPS_OF_ROUND = 20, 400
"""Of the simplex method, which take about as long as the rest of a solution and of a round: of a round 210
(rat575) to 730 (d657), by least squares over nodes."""
LEAST_PRICE = 64
"""Units of the finest kind by which a reduced length is negative without being a reason for a new column: a
thousandth of a unit of length."""


# The share of the gap by which rounds must raise the bound, or the next effort begins; not tuned.
_STALL = {Effort.SUBTOURS: 0.0005, Effort.BLOSSOMS: 0.02, Effort.TIGHTENING: 0.02, Effort.LOCAL: 0.01}
_STALL_IN_TREE = 0.04
_ROUNDS = {Effort.SUBTOURS: 100, Effort.BLOSSOMS: 100, Effort.TIGHTENING: 100, Effort.LOCAL: 150}
_ROUNDS_IN_TREE = (40, 25)  # above and below the depth DEEP
DEEP = 3


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """A part of the tours.

    Attributes
    ----------
    branches : tuple of Branch
        What they have in common.
    bound : int
        In units: none of them is shorter, as far as is known.
    evidence : Evidence or None
        Why, where that is kept.
    """

    branches: tuple[Branch, ...]
    bound: int
    evidence: Evidence | None


class NodeSolver:
    """What solves nodes.

    Parameters
    ----------
    instance : ClosedInstance
    tour : ndarray of int32
        A closed tour.
    neighbours : ndarray of int32, shape (m, k)
        Candidates, -1 for none, whose edges the first linear programme has, too.
    seed : int
    token : StopToken
    threads : int
        For local cuts; nothing depends on their number.
    keep_evidence : bool
        Whether `evidence` and `cuts` are filled, for a certificate or a checkpoint.
    report : callable
        Called after each round; returns nothing.

    Attributes
    ----------
    tour, length : ndarray of int32, int
        The best closed tour that is known here, and its length in units.
    bound, evidence : int, Evidence or None
        Of the present node: no tour in it is shorter; and why.
    rounds : int
    found : dict of str to int
        Cuts by kind.
    cuts : dict of int to tuple
        All cuts that any evidence names.
    relaxation : Relaxation
    program : LinearProgram

    Raises
    ------
    Stopped
        By the token, while the first linear programme was being made.
    """

    def __init__(
        self,
        instance: ClosedInstance,
        tour: NDArray[np.int32],
        neighbours: NDArray[np.int32],
        *,
        seed: int,
        token: _native.StopToken,
        threads: int,
        keep_evidence: bool,
        report: Callable[[], object] = lambda: None,
    ) -> None:
        self.instance = instance
        self.tour = np.ascontiguousarray(tour, dtype=np.int32)
        self.length = instance.units(self.tour)
        self.token, self.threads, self.report = token, threads, report
        self.rounds = 0
        self.found = {"subtours": 0, "blossoms": 0, "tightened": 0, "local": 0}
        self.cuts: dict[int, CutDescription] = {}
        self.bound = 0
        # Of that bound: no length is negative, which proves 0.
        self.evidence: Evidence | None = Evidence(0, np.zeros(instance.size, dtype=np.int64), ())
        self._keep = keep_evidence
        fine = FRACTION_BITS - instance.exponent if instance.problem.integral else 0
        self._least_price = -max(2, LEAST_PRICE >> fine)  # the same share of a unit of length
        self._pinned: dict[tuple[int, ...], int] = {}  # the cuts of branches on more than two cities
        self._branches: tuple[Branch, ...] = ()
        self.relaxation = _native.Relaxation(instance.lengths, self.tour, seed, token)
        longest = math.ldexp(instance.problem.distance_bound, instance.exponent - FRACTION_BITS)
        self.program = LinearProgram(instance.size, token, longest)
        self._column_of: dict[tuple[int, int], int] = {}
        self.add_edges(self._first_edges(neighbours))
        fixed = [self._column_of[int(a), int(b)] for a, b in instance.fixed]
        self._bound_columns(np.array(fixed, dtype=np.int32), 1, 1)

    def fork(self, number: int) -> NodeSolver:
        """Return one that is the same and goes its own way; `number`, from 1 on, is its own."""
        other = copy.copy(self)
        other.relaxation, other.program = self.relaxation.fork(number), self.program.copy()
        other.report = lambda: None
        other.rounds, other.found, other.cuts = 0, dict.fromkeys(self.found, 0), {}
        other._pinned, other._column_of = dict(self._pinned), dict(self._column_of)
        return other

    @property
    def target(self) -> int:
        """A node whose bound exceeds this, in units, has no shorter tour."""
        return self.length - self.instance.step(self.length)

    @property
    def is_pruned(self) -> bool:
        """Whether the present node has no shorter tour."""
        return self.bound > self.target

    @property
    def work(self) -> int:
        """What has been done so far, in steps of the simplex method, or what takes about as long."""
        program = self.program
        return program.iterations + STEPS_OF_SOLUTION * program.solutions + STEPS_OF_ROUND * self.rounds

    # Nodes

    def examine(self, node: Node) -> list[Node] | None:
        """Return the two sides of a node, the one to begin with last; none if it has no shorter tour.

        Then `evidence` says why. None instead of a list: this was stopped, or cannot go on.
        """
        self.program.stop_above(_objective_of(self.target) + 0.01)
        self.go_to(node.branches)
        self.bound, self.evidence = node.bound, node.evidence
        depth = len(node.branches)
        rounds = _ROUNDS_IN_TREE[depth >= DEEP]
        done = depth > 0 and self._cut(Effort.LOCAL, _STALL_IN_TREE, rounds)
        if self.token.stopped() and not done:
            return None
        if done or self.is_pruned:
            return []
        branches = self._branch()
        while branches is None and not done:
            # Every edge is used or not, and still that is no tour: there must be cuts.
            before = sum(self.found.values())
            done = self._cut(Effort.LOCAL, 0.0, _ROUNDS[Effort.SUBTOURS])
            if not done and (self.token.stopped() or sum(self.found.values()) == before):
                return None
            branches = None if done else self._branch()
        if branches is None:
            return []
        return [Node((*node.branches, branch), self.bound, self.evidence) for branch in branches]

    def cut_at_root(self, effort: Effort) -> bool:
        """Add cuts until they no longer raise the bound; whether there is no shorter tour."""
        if effort is Effort.LOCAL:
            self._leave_far_edges()
        return self._cut(effort, _STALL[effort], _ROUNDS[effort])

    # The first linear programme

    def _first_edges(self, neighbours: NDArray[np.int32]) -> NDArray[np.int32]:
        lengths, n = self.instance.lengths, self.instance.size
        count = min(NEIGHBOURS, n - 1)
        every = np.arange(n, dtype=np.int32)
        nearest = np.empty((n, count), dtype=np.int32)
        for city in range(n):
            if self.token.stopped():
                raise Stopped
            others = lengths[city].copy()
            others[city] = np.int64(1) << 60
            nearest[city] = np.argpartition(others, count - 1)[:count]
        own = np.repeat(np.arange(len(neighbours), dtype=np.int32), neighbours.shape[1])
        pairs = np.concatenate(
            [
                np.stack([self.tour, np.roll(self.tour, -1)], axis=1),
                np.stack([np.repeat(every, count), nearest.ravel()], axis=1),
                np.stack([own, neighbours.ravel()], axis=1),
                self.instance.fixed,
            ]
        )
        pairs = pairs[(pairs[:, 1] >= 0) & (pairs[:, 0] != pairs[:, 1])]
        return np.unique(np.sort(pairs, axis=1), axis=0)

    def add_edges(self, pairs: NDArray[np.int32]) -> None:
        """Add those that the linear programme does not have."""
        first = self.relaxation.columns
        self.program.add_columns(self.relaxation.add_columns(np.ascontiguousarray(pairs)))
        for column, (a, b) in enumerate(self.relaxation.ends[first:].tolist(), first):
            self._column_of[a, b] = column

    def _bound_columns(self, columns: NDArray[np.int32], lower: int, upper: int) -> None:
        self.relaxation.set_column_bounds(columns, lower, upper)
        self.program.bound_columns(columns, lower, upper)

    # One linear programme

    def _price(self, most: int) -> bool:
        """Take the bound that the present prices prove; whether edges had to be added."""
        bound, least, pairs = self.relaxation.price(self.program.prices, most)
        if bound is not None and bound > self.bound:
            self.take_bound(bound)
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
            bound, _, _ = self.relaxation.price(prices, 0)
            if bound is not None and bound > self.bound:
                self.take_bound(bound)

    def take_bound(self, bound: int) -> None:
        """Take what the prices prove that the relaxation has last looked at."""
        self.bound = bound
        if self._keep:
            self.evidence = self.evidence_of(bound)

    def evidence_of(self, bound: int) -> Evidence:
        """Return the prices that the relaxation has last looked at."""
        cities, prices = self.relaxation.whole_prices()
        ids = self.relaxation.ids
        priced = np.flatnonzero(prices)
        for row in priced.tolist():
            if int(ids[row]) not in self.cuts:
                self.cuts[int(ids[row])] = self.relaxation.cut(row)
        return Evidence(bound, cities, tuple(zip(ids[priced].tolist(), prices[priced].tolist(), strict=True)))

    def _price_ray(self) -> bool:
        """Prove by a ray that no tour is left, or add edges; whether either came true."""
        if self._price_this_ray():
            return True
        # Infeasible by rounding alone? Another basis may tell, or give another ray.
        self.program.forget_basis()
        outcome = self.program.solve()
        if outcome is Outcome.INFEASIBLE:
            return self._price_this_ray()
        return outcome is not Outcome.LIMIT

    def _price_this_ray(self) -> bool:
        ray = self.program.prices
        if len(ray) == 0:
            return False
        largest = float(np.abs(ray).max())
        if largest == 0.0:
            return False
        # Along a ray the bound rises without end, if no missing edge stops it.
        wanted = math.ldexp(float(self.length), 1 - FRACTION_BITS) + 1.0
        for factor in (1.0, 16.0, 256.0, 4096.0):
            scaled = ray * (factor * wanted / largest)
            bound, least, pairs = self.relaxation.price(scaled, 1000)
            if bound is not None and bound > self.target:
                self.take_bound(bound)
                return True
            if least < self._least_price and len(pairs):
                self.add_edges(pairs)
                return True
        return False

    def price_to_the_end(self) -> bool:
        """Solve and add edges until none is missing; whether the bound is reached."""
        while not self.token.stopped():
            outcome = self.program.solve()
            if outcome is Outcome.INFEASIBLE:
                if not self._price_ray():
                    return False
            elif outcome is Outcome.LIMIT or not self._price(1000):
                break
            if self.is_pruned:
                return True
        return self.is_pruned

    # Rounds of cuts

    def _cut(self, effort: Effort, stall: float, most_rounds: int) -> bool:
        """Add cuts until they no longer raise the bound; whether this node has no shorter tour."""
        program, relaxation = self.program, self.relaxation
        history: list[float] = []
        relaxation.begin_rounds()
        for number in range(most_rounds):
            if self.token.stopped():
                return False
            outcome = program.solve()
            if outcome is Outcome.LIMIT:
                return False
            if outcome is Outcome.INFEASIBLE:
                if not self._price_ray():
                    return False
                if self.is_pruned:
                    return True
                continue
            if outcome is Outcome.ABOVE or program.objective > _objective_of(self.target):
                if self._price(1000):
                    continue
                if self.is_pruned:
                    return True
                if outcome is Outcome.ABOVE and not self._solve_whole():
                    return False
            gone = relaxation.drop_idle(
                program.prices[self.instance.size :], program.activity, 3 if effort is Effort.LOCAL else 4
            )
            program.drop_rows(gone)
            if len(gone):
                kept = np.delete(np.arange(len(program.activity)), gone)
                program.activity = program.activity[kept]
                program.prices = np.delete(program.prices, gone + self.instance.size)
            counts = relaxation.separate(program.values, program.activity, effort, self.threads, self.token)
            for kind, count in zip(self.found, counts[1:], strict=True):
                self.found[kind] += count
            added = sum(counts[1:])
            history.append(program.objective)
            self.rounds += 1
            self.report()
            if added == 0 and counts[0] == 1 and self._take_integral():
                history.clear()
            if added == 0 or number % PRICE_EVERY == PRICE_EVERY - 1:
                priced = self._price(500)
                if self.is_pruned:
                    return True
                if added == 0 and not priced:
                    return False
            program.add_rows(relaxation.take_cuts(MAX_CUTS * max(1, self.instance.size // 1000)))
            rounds = STALL_ROUNDS if effort is Effort.LOCAL else 12
            if len(history) > rounds and counts[1] == 0:
                gain = history[-1] - history[-1 - rounds]
                gap = _objective_of(self.target) - history[-1]
                if gain < stall * max(gap, _objective_of(self.instance.step(self.length))):
                    if program.solve() is Outcome.OPTIMAL and not self._price(500):
                        return self.is_pruned
                    history.clear()
        return self.price_to_the_end()

    def _solve_whole(self) -> bool:
        """Solve without the objective bound; whether there is a solution."""
        self.program.stop_above(math.inf)
        outcome = self.program.solve()
        self.program.stop_above(_objective_of(self.target) + 0.01)
        return outcome is Outcome.OPTIMAL

    def _take_integral(self) -> bool:
        """Take a solution that is a tour, if it is shorter than the best one."""
        values = self.program.values
        used = values > 0.5
        if used.sum() != self.instance.size or np.abs(values - used).max() > 1e-6:
            return False
        tour = _tour_along(self.relaxation.ends[used], self.instance.size)
        if tour is None or self.instance.units(tour) >= self.length:
            return False
        self.take_tour(tour)
        return True

    def take_tour(self, tour: NDArray[np.int32]) -> None:
        """Take a shorter tour."""
        self.tour, self.length = tour, self.instance.units(tour)
        self.relaxation.set_tour(tour)

    def bound_of(
        self, evidence: Evidence, branches: tuple[Branch, ...], row_of: dict[int, int]
    ) -> int | None:
        """Return what an earlier proof's prices prove, whose cuts are these rows; None for nothing."""
        n, relaxation = self.instance.size, self.relaxation
        prices = np.zeros(n + relaxation.rows)
        prices[:n] = evidence.cities
        limited = []  # sets of branches, and the rows in which they have their limits
        for branch in branches:
            if branch.cities in self._pinned:
                limited.append((np.isin(np.arange(n), branch.cities), self._row_of_branch(branch)))
        for number, price in evidence.cuts:
            row = row_of[number]
            class_of, lengths, right, _ = relaxation.cut(row)
            if len(lengths) == 2 and right == 2:
                outside = class_of == 0
                for inside, its_row in limited:
                    if np.array_equal(inside, outside) or np.array_equal(inside, ~outside):
                        row = its_row
            prices[n + row] += price
        bound, _, _ = relaxation.price(np.ldexp(prices, -FRACTION_BITS), 0)
        return bound

    # Which edges are in the linear programme

    def solve_and_price(self) -> int | None:
        """Return the bound of a solution for which no edge is missing; None for none."""
        self.program.solve()
        while not self.token.stopped() and self._price(1000):
            self.program.solve()
        bound, _, _ = self.relaxation.price(self.program.prices, 0)
        return bound

    def keep_survivors(self, bound: int, also: NDArray[np.int32]) -> int:
        """Go on with the edges alone that a shorter tour can have, by the last prices, which prove the bound.

        The linear programme keeps the near ones of these, and those given. Their number, near or not, is
        returned.
        """
        left = len(self.relaxation.survivors(max(0, self.target - bound), True))
        edges = np.concatenate([self.near(bound, NEAR), also])
        self.add_edges(edges)
        self._keep_edges(edges)
        return left

    def _keep_edges(self, edges: NDArray[np.int32]) -> None:
        """Delete the other columns; pricing adds those that are wanted again."""
        left = {(a, b) for a, b in np.sort(edges, axis=1).tolist()}
        ends = self.relaxation.ends.tolist()
        gone = np.array([c for c, (a, b) in enumerate(ends) if (a, b) not in left], dtype=np.int32)
        self.program.drop_columns(gone)
        self.relaxation.drop_columns(gone)
        self._column_of = {(a, b): column for column, (a, b) in enumerate(self.relaxation.ends.tolist())}

    def _leave_far_edges(self) -> None:
        """Go on with edges of small reduced length and those of the best tour."""
        bound, _, _ = self.relaxation.price(self.program.prices, 0)
        if self.program.outcome is Outcome.OPTIMAL and bound is not None:
            around = np.stack([self.tour, np.roll(self.tour, -1)], axis=1)
            self._keep_edges(np.concatenate([self.near(bound, NEAR_AT_ROOT), around]))

    def near(self, bound: int, share: float) -> NDArray[np.int32]:
        """Return the edges whose reduced lengths are up to this share of the gap, by the bound's prices."""
        slack = int(share * max(0, self.target - bound))
        return np.concatenate([self.relaxation.survivors(slack, False), self.instance.fixed])

    def go_to(self, branches: tuple[Branch, ...]) -> None:
        """Set the limits of a node."""
        for branch in self._branches:
            if branch not in branches:
                self._undo(branch)
        for branch in branches:
            if branch not in self._branches:
                self._do(branch)
        self._branches = branches

    def _do(self, branch: Branch) -> None:
        used = int(branch.crossings == 2)
        if len(branch.cities) == 2:
            self._set_edge(branch.cities, used, used)
            return
        cities = np.array(branch.cities, dtype=np.int32)
        self.program.add_rows(self.relaxation.pin_subtour(cities))
        row = self.relaxation.rows - 1
        self._pinned[branch.cities] = int(self.relaxation.ids[row])
        self.relaxation.set_row_bounds(row, branch.crossings, 2 if used else -1)
        self.program.bound_row(row, branch.crossings, 2 if used else math.inf)

    def _undo(self, branch: Branch) -> None:
        if len(branch.cities) == 2:
            self._set_edge(branch.cities, 0, 1)
            return
        row = self._row_of_branch(branch)
        del self._pinned[branch.cities]
        self.relaxation.release(row)
        self.relaxation.set_row_bounds(row, 2, -1)
        self.program.bound_row(row, 2, math.inf)

    def _row_of_branch(self, branch: Branch) -> int:
        return int(np.flatnonzero(self.relaxation.ids == self._pinned[branch.cities])[0])

    def _set_edge(self, cities: tuple[int, ...], lower: int, upper: int) -> None:
        a, b = cities
        if (a, b) not in self._column_of:  # of another solver's branch
            self.add_edges(np.array([cities], dtype=np.int32))
        self._bound_columns(np.array([self._column_of[a, b]], dtype=np.int32), lower, upper)

    def _branch(self) -> tuple[Branch, Branch] | None:
        """Return two sides, the one to begin with last; None if no edge is used in part."""
        program = self.program
        if program.outcome is not Outcome.OPTIMAL and not self._solve_whole():
            return None
        base, basis = program.objective, program.basis()
        values = program.values.copy()
        gap = _objective_of(self.target) - base
        best, chosen = -1.0, None
        for cities in self._promising(self._candidates(values), gap):
            one = self._probe(cities, 4, base, basis)
            if _score(one, gap) <= best:
                continue  # whatever the other side is worth
            score = _score(one, self._probe(cities, 2, base, basis))
            if score > best:
                best, chosen = score, cities
        return None if chosen is None else (Branch(chosen, 4), Branch(chosen, 2))

    def _candidates(self, values: NDArray[np.float64]) -> list[tuple[int, ...]]:
        """Return sets of cities that about three edges leave, first the ends of edges used by half."""
        fractional = np.flatnonzero((values > 0.05) & (values < 0.95))
        if len(fractional) == 0:
            fractional = np.flatnonzero((values > 1e-6) & (values < 1 - 1e-6))
        order = np.argsort(np.abs(values[fractional] - 0.5), kind="stable")
        edges = self.relaxation.ends[fractional[order[:CANDIDATES]]].tolist()
        sets = self.relaxation.undecided_sets(values, CANDIDATE_SETS)
        decided = {branch.cities for branch in self._branches}
        return [cities for cities in map(tuple, [*edges, *sets]) if cities not in decided]

    def _promising(self, candidates: list[tuple[int, ...]], gap: float) -> list[tuple[int, ...]]:
        """Return the candidates to be probed, best first."""
        step = self.program.first_step() if len(candidates) > PROBES else None
        if step is None:
            return candidates
        scores = []
        for cities in candidates:
            one, other = step.gains(self._leaving(cities), 4.0, 2.0)
            scores.append(_score(min(gap, one), min(gap, other)))
        order = np.argsort(-np.array(scores), kind="stable")
        return [candidates[i] for i in order[:PROBES].tolist()]

    def _leaving(self, cities: tuple[int, ...]) -> NDArray[np.float64]:
        """Return 1 for each column that leaves the cities, 0 for the others."""
        inside = np.zeros(self.instance.size, dtype=bool)
        inside[list(cities)] = True
        ends = self.relaxation.ends
        leaving: NDArray[np.float64] = (inside[ends[:, 0]] != inside[ends[:, 1]]).astype(np.float64)
        return leaving

    def _probe(self, cities: tuple[int, ...], crossings: int, base: float, basis: object) -> float:
        """Return by how much a branch raises the objective in a few steps."""
        program = self.program
        if len(cities) == 2:
            column = np.array([self._column_of[cities[0], cities[1]]], dtype=np.int32)
            used = int(crossings == 2)
            program.bound_columns(column, used, used)
            outcome, objective = program.probe(PROBE_STEPS)
            program.bound_columns(column, 0, 1)
        else:
            program.add_row(self._leaving(cities), crossings, 2 if crossings == 2 else math.inf)
            outcome, objective = program.probe(PROBE_STEPS)
            program.drop_rows(np.array([self.relaxation.rows], dtype=np.int32))
        program.restore(basis)
        above = outcome in (Outcome.INFEASIBLE, Outcome.ABOVE)
        # A branch that closes its side at once is worth no more than the gap.
        gap = _objective_of(self.target) - base
        return max(0.0, gap if above else min(gap, objective - base))


def _objective_of(units: int) -> float:
    return math.ldexp(float(units), -FRACTION_BITS)


def _score(one: float, other: float) -> float:
    """Return what a branch is worth whose sides raise the objective by so much."""
    return 10.0 * min(one, other) + max(one, other)


def _tour_along(edges: NDArray[np.int32], n: int) -> NDArray[np.int32] | None:
    """Return the cities along edges in order, if they are one closed tour."""
    around: list[list[int]] = [[] for _ in range(n)]
    for a, b in edges.tolist():
        around[a].append(b)
        around[b].append(a)
    if any(len(others) != 2 for others in around):
        return None
    tour, before, city = [0], -1, 0
    for _ in range(n - 1):
        one, other = around[city]
        before, city = city, one if one != before else other
        tour.append(city)
    return np.array(tour, dtype=np.int32) if len(set(tour)) == n else None
