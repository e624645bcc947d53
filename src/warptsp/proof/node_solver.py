"""Rounds of cuts for one node of the tree after the other.

M. Padberg and G. Rinaldi, "A branch-and-cut algorithm for the resolution of large-scale symmetric traveling
salesman problems", SIAM Review 33 (1991) 60-100.
"""

import math
from collections.abc import Callable
from typing import Self

import numpy as np
from numpy.typing import NDArray

import warptsp._native as _native
from warptsp._native import Effort
from warptsp.proof.branching import FEW, Candidate, candidates_of
from warptsp.proof.closed_instance import ClosedInstance
from warptsp.proof.evidence import Branch, Node
from warptsp.proof.linear_program import Outcome
from warptsp.proof.node_program import MOST_STATES, NodeProgram, objective_of

MAX_CUTS = 100
"""Rows that one round adds, those with the largest violation; more for more than a thousand cities."""
PRICE_EVERY = 12
"""Rounds after which missing edges are looked for in any case."""
STEPS_OF_SOLUTION, STEPS_OF_ROUND = 20, 400
"""Of the simplex method, which take about as long as the rest of a solution and of a round: of a round 210
(rat575) to 730 (d657), by least squares over nodes."""

STATES_A_STEP, FEWEST_STATES = 300, 1_500_000
"""Of a sweep, for each step of the simplex method, or what takes about as long: three fifths of the time, of
which a sweep in vain takes a tenth mostly; at the root, at least (EXP-541)."""
BEFORE_TREE = 6
"""Times as many before the first branch."""

SHARE_OF_PROBES, SHARE_OF_PROBES_AT_ROOT = 0.3, 0.03
"""Of the steps of a node, or what took about as long, for probes of its best branches (EXP-580)."""
TRIED, ROUNDS_OF_TRIAL = 3, 10
"""Branches of the root that are tried with cuts in both sides, and rounds of these, where solutions are dear
and probes tell little: in one side less than a share of the gap."""
TELLING = 0.1

DEAR = 200
"""Steps of a solution that is dearer than the search for cuts: fewer and better ones are added then."""

# Rounds in which the bound must have risen by a share of the gap, or the next effort begins; not tuned.
STALL_ROUNDS, STALL_ROUNDS_OF_LOCAL, STALL_ROUNDS_IN_TREE = 6, 8, 5
_STALL = {
    Effort.SUBTOURS: 0.0005,
    Effort.BLOSSOMS: 0.02,
    Effort.TIGHTENING: 0.02,
    Effort.LOCAL: 0.01,
    Effort.DOMINOES: 0.01,
    Effort.WIDE: 0.004,
}
_STALL_IN_TREE = 0.04
_ROUNDS = {
    Effort.SUBTOURS: 100,
    Effort.BLOSSOMS: 100,
    Effort.TIGHTENING: 100,
    Effort.LOCAL: 150,
    Effort.DOMINOES: 150,
    Effort.WIDE: 1000,
}
_ROUNDS_IN_TREE = (40, 25)  # above and below the depth DEEP
DEEP = 3

ROUNDS_OF_DIVE, MOST_STEPS_OF_DIVE = 4, 200
MOST_STEPS_IN_DIVE = 2000
"""Of the simplex method in one solution, ten times as many without a step; with more it is too large, too."""
SHARE_OF_DIVE = 8
"""One of so many edges that are used in part is fixed in a step of a dive."""
FREE_IN_DIVE = 0.002
"""Share of the gap by which a dive may raise the bound."""
BACK_IN_DIVE, LEAST_OF_DIVE = 0.8, 0.1
"""Share of the fixed edges that stay where a dive goes back, and edges of a city for which it does."""
MOST_VAIN_IN_DIVE = 2
"""Times that it goes back without having come farther than ever."""


class NodeSolver(NodeProgram):
    """What solves nodes, and counts rounds and the cuts that were `found`, by kind.

    `threads` seek local cuts, and nothing depends on their number; `report` is called after each round.
    """

    def __init__(
        self,
        instance: ClosedInstance,
        tour: NDArray[np.int32],
        *,
        seed: int,
        token: _native.StopToken,
        threads: int = 1,
        keep_cuts: bool = False,
        report: Callable[[], object] = lambda: None,
    ) -> None:
        super().__init__(instance, tour, seed=seed, token=token, keep_cuts=keep_cuts)
        self.threads, self.report = threads, report
        self.rounds = 0
        self.in_tree = Effort.LOCAL  # or with dominoes, if the root had them
        self.found = {"subtours": 0, "blossoms": 0, "tightened": 0, "local": 0}

    def fork(self, number: int) -> Self:
        """Return one that is the same and goes its own way; `number`, from 1 on, is its own."""
        other = super().fork(number)
        other.report = lambda: None
        other.rounds, other.found = 0, dict.fromkeys(self.found, 0)
        return other

    @property
    def work(self) -> int:
        """What has been done so far, in steps of the simplex method, or what takes about as long."""
        program = self.program
        return program.iterations + STEPS_OF_SOLUTION * program.solutions + STEPS_OF_ROUND * self.rounds

    def examine(self, node: Node) -> list[Node] | None:
        """Return the two sides of a node, the one to begin with last; none if it has no shorter tour.

        Then `evidence` says why. None instead of a list: this was stopped, or cannot go on.
        """
        self.go_to(node)
        depth, before = len(node.branches), self.work
        done = self.is_pruned or (
            depth > 0 and self._cut(self.in_tree, _STALL_IN_TREE, _ROUNDS_IN_TREE[depth >= DEEP])
        )
        if self.token.stopped() and not done:
            return None
        if done or self.is_pruned:
            return []
        if self.sweep_as_worked(before) if depth else self.sweep_as_worked(share=BEFORE_TREE):
            return []
        worked = SHARE_OF_PROBES * (self.work - before) if depth else SHARE_OF_PROBES_AT_ROOT * self.work
        while not (candidates := candidates_of(self, int(worked / (2 * FEW)))):
            # Every edge is used or not, and still that is no tour: there must be cuts.
            found = sum(self.found.values())
            if self._cut(Effort.LOCAL, 0.0, _ROUNDS[Effort.SUBTOURS]):
                return []
            if self.token.stopped() or sum(self.found.values()) == found:
                return None
        gap = objective_of(self.target) - self.program.objective
        is_dear = self.program.iterations > DEAR * self.program.solutions
        if depth == 0 and is_dear and min(candidates[0].gains) < TELLING * gap:
            return self._tried(candidates[:TRIED], gap)
        return [Node((*node.branches, branch), self.evidence) for branch in candidates[0].sides]

    def _tried(self, candidates: list[Candidate], gap: float) -> list[Node] | None:
        """Return the sides of the best candidate after rounds of cuts in each; None if this was stopped.

        Large sets, such as those on one side of a line, gain little in probes and much with cuts (EXP-580).
        """
        base, evidence, branches = self.program.objective, self.evidence, self.branches
        best, chosen = -1.0, None
        for candidate in candidates:
            reached, sides = [], []
            for branch in candidate.sides:
                self.go_to(Node((*branches, branch), evidence))
                done = self._cut(self.in_tree, 0.0, ROUNDS_OF_TRIAL)
                if self.token.stopped() and not done:
                    return None
                reached.append(math.inf if done else self.program.objective)
                sides.append(Node(self.branches, self.evidence))
            tried = Candidate.reaching(candidate.sides, (reached[0], reached[1]), base, gap)
            if tried.score > best:
                best, chosen = tried.score, sides
        return chosen

    def sweep_as_worked(self, before: int = 0, share: int = 1) -> bool:
        """Sweep in proportion to the work since then; whether there is no shorter tour."""
        worked = share * STATES_A_STEP * (self.work - before)
        most = min(MOST_STATES, worked if before else max(FEWEST_STATES, worked))
        return most > 0 and self.sweep(most)

    def dive(self, report: Callable[[], object]) -> NDArray[np.int32] | None:
        """Return a shorter tour, if there is one where edges are fixed that are used in large part.

        A step that raises the bound is taken back for a smaller one, and in the end for fewer edges, among
        which the cuts that were found by then lead elsewhere. Where few edges can be fixed for nothing, that
        is soon given up. Bounds and linear programme are those of a dive afterwards.
        """
        program, length, root = self.program, self.length, self.evidence
        self.report = report
        fixed: tuple[Branch, ...] = ()
        step, least, most, vain = fixed, math.inf, 0, 0
        for _ in range(MOST_STEPS_OF_DIVE):
            self.go_to(Node((*fixed, *step), root))
            known, basis = sum(self.found.values()), program.basis()
            program.most_steps = MOST_STEPS_IN_DIVE * (1 if step else 10)
            effort = Effort.LOCAL if fixed and not step else Effort.TIGHTENING
            done = self._cut(effort, 0.0, ROUNDS_OF_DIVE)
            if self.length < length:
                return self.tour
            if self.token.stopped():
                break
            if math.isinf(least):
                least = program.objective + FREE_IN_DIVE * (objective_of(self.target) - program.objective)
            if not done and program.outcome is Outcome.OPTIMAL and program.objective <= least:
                fixed += step
                ends = self._largest_fractions()
                step = tuple(Branch((a, b), 2, 2) for a, b in ends[: max(1, len(ends) // SHARE_OF_DIVE)])
                if step or effort is Effort.TIGHTENING or sum(self.found.values()) > known:
                    continue
            elif program.outcome is Outcome.LIMIT:
                program.restore(basis)  # a smaller step begins where this one did
            if len(step) > 1:
                step = step[: (len(step) + 2) // 3]
                continue
            if len(fixed) <= LEAST_OF_DIVE * self.instance.size or vain == MOST_VAIN_IN_DIVE:
                break
            vain = 0 if len(fixed) > most else vain + 1
            most = max(most, len(fixed))
            fixed, step = fixed[: int(BACK_IN_DIVE * len(fixed))], ()
        return None

    def _largest_fractions(self) -> list[list[int]]:
        """Return the edges of the last solution that are used by a half and more, not fully, most first."""
        values = self.program.values
        chosen = np.flatnonzero((values > 0.5 - 1e-6) & (values < 1.0 - 1e-6))
        ends: list[list[int]] = self.relaxation.ends[
            chosen[np.argsort(-values[chosen], kind="stable")]
        ].tolist()
        return ends

    def cut_at_root(self, effort: Effort) -> bool:
        """Add cuts until they no longer raise the bound; whether there is no shorter tour."""
        if effort not in (Effort.SUBTOURS, Effort.BLOSSOMS):
            self.leave_far_edges()
        if effort is Effort.DOMINOES:
            self.in_tree = effort
        return self._cut(effort, _STALL[effort], _ROUNDS[effort])

    def _cut(self, effort: Effort, stall: float, most_rounds: int) -> bool:
        """Add cuts until they no longer raise the bound; whether this node has no shorter tour."""
        program, relaxation = self.program, self.relaxation
        stall_rounds = STALL_ROUNDS_OF_LOCAL if effort >= Effort.LOCAL else STALL_ROUNDS
        if self.branches:
            stall_rounds = STALL_ROUNDS_IN_TREE
        history: list[float] = []
        relaxation.begin_rounds()
        for number in range(most_rounds):
            if self.token.stopped():
                return False
            before = program.iterations
            outcome = program.solve()
            is_dear = program.iterations - before > DEAR
            if outcome is Outcome.LIMIT:
                return False
            if outcome is Outcome.INFEASIBLE:
                if not self.price_ray():
                    return False
                if self.is_pruned:
                    return True
                continue
            if program.objective > objective_of(self.target):
                if self.price(1000):
                    continue
                if self.is_pruned:
                    return True
            program.drop_rows(
                relaxation.drop_idle(
                    program.prices[self.instance.size :], program.activity, 3 if effort >= Effort.LOCAL else 4
                )
            )
            components, *counts = relaxation.separate(
                program.values, program.activity, effort, is_dear, self.threads, self.token
            )
            for kind, count in zip(self.found, counts, strict=True):
                self.found[kind] += count
            added = sum(counts)
            history.append(program.objective)
            self.rounds += 1
            self.report()
            if added == 0 and components == 1 and self._take_integral():
                history.clear()
            if added == 0 or number % PRICE_EVERY == PRICE_EVERY - 1:
                priced = self.price(500)
                if self.is_pruned:
                    return True
                if added == 0 and not priced:
                    return False
            program.add_rows(relaxation.take_cuts(MAX_CUTS * max(1, self.instance.size // 1000)))
            if len(history) > stall_rounds and counts[0] == 0:
                gain = history[-1] - history[-1 - stall_rounds]
                gap = objective_of(self.target) - history[-1]
                if gain < stall * max(gap, objective_of(self.instance.step(self.length))):
                    if program.solve() is Outcome.OPTIMAL and not self.price(500):
                        return self.is_pruned
                    history.clear()
        return self.price_to_the_end()

    def _take_integral(self) -> bool:
        """Take a solution that is a tour, if it is shorter than the best one."""
        used = self.program.values > 0.5
        if used.sum() != self.instance.size or np.abs(self.program.values - used).max() > 1e-6:
            return False
        tour = _tour_along(self.relaxation.ends[used], self.instance.size)
        if tour is None or self.instance.units(tour) >= self.length:
            return False
        self.take_tour(tour)
        return True


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
