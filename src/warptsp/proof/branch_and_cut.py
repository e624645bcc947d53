"""Branch and cut until no tour can be shorter than the best one.

M. Padberg and G. Rinaldi, "A branch-and-cut algorithm for the resolution of large-scale symmetric traveling
salesman problems", SIAM Review 33 (1991) 60-100.
"""

import math
import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

import warptsp._native as _native
from warptsp._native import Effort
from warptsp.proof.closed_instance import ClosedInstance, Stopped
from warptsp.proof.evidence import Branch, Certificate, Evidence, Node
from warptsp.proof.node_program import NEAR
from warptsp.proof.node_solver import NodeSolver
from warptsp.proof.proof import ProofOptions
from warptsp.proof.side_by_side import side_by_side
from warptsp.proof.side_search import search_aside
from warptsp.proof.windows import FEWEST_CITIES, Windows

MEMBERS_A_CITY = 0.25
MOST_FIRST_MEMBERS = 300
"""Of the population that searches for a first tour. Of five seeds 5 end with the optimum for d493 and rat783,
4 for att532, 3 for pr1002, 2 for vm1084, in 0.2 to 1.2 CPU seconds; 20 kicks a city take 1.6 to 3.9
(EXP-211)."""
STEPS_OF_MEMBER = 150
"""Steps of the simplex method for which the search beside the proof has one member: 3 to 5 % of the time."""
FEWEST_MEMBERS, MOST_MEMBERS = 30, 1000
ASIDE_AGAIN = 2
"""Such a search comes before the tree, and whenever there are so many times the steps of the last one."""
WORTH_WIDE = 0.0013, 0.8
"""Share of the length, and mean edges of the tour: gaps of roots above either are worth cuts of large pieces
(EXP-578)."""
WORTH_DOMINOES = 0.8, 6.0
"""Mean edges of the tour between which a root's gap is worth dominoes (EXP-555)."""
MOST_SOLVERS = 8
"""Nodes that are solved at the same time, at most: few trees have more that are open."""
CITIES_OF_SOLVERS = 20_000
"""Of all solvers: each has a pool of cuts, some hundred megabytes for 10 000 cities."""


class BranchAndCut:
    """One proof, which begins with a closed tour.

    `report` is called after each round, and after each step of a search for tours. Until `search_until`, on
    the monotonic clock, a population may look for a shorter tour first. From where an `earlier` proof of this
    instance, in the same units, had ended, this one goes on.
    """

    def __init__(
        self,
        instance: ClosedInstance,
        tour: NDArray[np.int32],
        options: ProofOptions,
        token: _native.StopToken,
        *,
        report: "Callable[[BranchAndCut], object]" = lambda state: None,
        search_until: float | None = None,
        earlier: Certificate | None = None,
    ) -> None:
        self.instance, self.token = instance, token
        self.nodes = 0
        self.root_bound = 0  # in units, before the first branch
        self.edges_left: int | None = None  # that a shorter tour may have, after the root
        self.proved = False  # that no tour is shorter by `ClosedInstance.step` or more
        self.leaves: list[Node] = []  # as of a `Certificate`, like `elimination` and `cuts`, if one is wanted
        self.elimination: Evidence | None = None
        self.search_seconds = 0.0
        self._options, self._report = options, report
        self._search_until, self._earlier = search_until, earlier
        self._searches = self._steps_of_search = 0
        self._open: list[Node] = []  # the next one last
        self._running: dict[int, Node] = {}  # by the number of the solver
        self._is_stuck = False
        self._reported = 0  # rounds
        root = NodeSolver(
            instance,
            tour,
            seed=options.seed,
            token=token,
            threads=options.threads,
            keep_cuts=options.keeps_evidence,
            report=self._report_alone,
        )
        self.tour, self.length, self.cuts = root.tour, root.length, root.cuts
        self._root, self._solvers = root, [root]
        self._steps = [0]  # of the simplex method, by each solver at the end of its last node
        self._news: list[list[_native.Cuts]] = [[]]  # what each solver does not know of the others

    @property
    def bound(self) -> int:
        """No tour is shorter than this, in units: nodes that are done and edges that are gone have none below
        the least that is allowed."""
        least = min([self.least_allowed, *(node.evidence.bound for node in self.open_nodes())])
        return min(self.length, max(self.root_bound, least))

    @property
    def least_allowed(self) -> int:
        """Tours of this length are not sought, but shorter ones, in units."""
        return self.length - self.instance.step(self.length) + 1

    @property
    def rounds(self) -> int:
        """Of cuts."""
        return sum(solver.rounds for solver in self._solvers)

    @property
    def found(self) -> dict[str, int]:
        """Cuts by kind."""
        kinds = self._root.found
        return {kind: sum(solver.found[kind] for solver in self._solvers) for kind in kinds}

    @property
    def size(self) -> tuple[int, int]:
        """Edges and cuts of the first linear programme."""
        return self._root.relaxation.columns, self._root.relaxation.rows

    @property
    def waiting(self) -> int:
        """Nodes of the tree that are still to be examined."""
        return len(self._open) + len(self._running)

    def open_nodes(self) -> list[Node]:
        """Return the nodes that are still to be examined, the next one last."""
        if self.proved:
            return []
        return [*self._open, *self._running.values()] or [Node((), self._root.evidence)]

    def run(self) -> None:
        """Prove that the best tour, which may be a better one by then, is optimal, or stop before that."""
        root = self._root
        if self._earlier is not None and self._take_up(self._earlier):
            self.proved = self._examine_nodes()
            return
        is_large = self.instance.size >= FEWEST_CITIES
        done = False
        for effort in Effort:
            if effort is (Effort.SUBTOURS if is_large else Effort.BLOSSOMS) and not done:
                self._search_first()
            if effort is Effort.TIGHTENING and not done:
                self._add_cuts_of_windows()
            if effort is Effort.DOMINOES and not done:
                near, far = (edges / self.instance.size for edges in WORTH_DOMINOES)
                if self._is_near(near) or not self._is_near(far):
                    continue
            if effort is Effort.WIDE and not done:
                near = min(WORTH_WIDE[0], WORTH_WIDE[1] / self.instance.size)
                if not self._is_near(near):
                    self._search_as_worked(root, root.relaxation.ends, root.program.iterations)
                if self._is_near(near):
                    break
            done = done or root.cut_at_root(effort)
            if not done and self.token.stopped():
                root.price_as_it_is()
                break
            done = done or root.price_to_the_end()
            done = done or (effort > Effort.SUBTOURS and root.sweep_as_worked())
        self._take_from(root)
        self.root_bound = min(root.bound, self.length)
        if done:
            self._keep_leaf(root, ())
        self.proved = done or (self._options.tree and not self.token.stopped() and self._search_tree())

    def _search_first(self) -> None:
        """Search for a first tour along the edges that subtours want, but where these may take too long.

        Nearest neighbours are not enough where cities lie in rows or groups.
        """
        if self._search_until is not None:
            members = min(int(MEMBERS_A_CITY * self.instance.size), MOST_FIRST_MEMBERS)
            self._search_aside(self._root, self._root.relaxation.ends, members, self._search_until)

    def _is_near(self, share: float) -> bool:
        return self.length - self._root.bound < share * self.length

    def _add_cuts_of_windows(self) -> None:
        """Take the cuts of windows into the linear programme of a large instance, where it has points."""
        problem, root = self.instance.seen, self._root
        if problem.matrix is not None or problem.n < FEWEST_CITIES or self.token.stopped():
            return
        Windows(
            self.instance,
            root.tour,
            seed=self._options.seed,
            token=self.token,
            threads=self._options.threads,
            report=self._report_alone,
        ).find(lambda cut: root.relaxation.adopt(*cut))
        root.program.add_rows(root.relaxation.take_cuts(2 * self.instance.size))

    def _report_alone(self) -> None:
        """Report a round of the only solver."""
        self._take_from(self._root)
        self._report(self)

    def _take_from(self, solver: NodeSolver) -> None:
        """Take the tour that a solver may have found."""
        if solver.length < self.length:
            self.tour, self.length = solver.tour, solver.length

    def _give(self, solver: NodeSolver, tour: NDArray[np.int32]) -> None:
        """Go on from a shorter tour, whose edges a solver that is not at work gets, too."""
        solver.take_tour(tour)
        solver.add_edges(solver.edges_of_tour())
        self._take_from(solver)

    # The search for tours

    def _search_aside(
        self, solver: NodeSolver, edges: NDArray[np.int32], members: int, until: float = math.inf
    ) -> None:
        """Search for a shorter tour along these edges, for a solver that is not at work."""
        self._searches += 1
        began = time.monotonic()
        tour = search_aside(
            self.instance,
            edges,
            self.tour,
            members=max(FEWEST_MEMBERS, members),
            seed=self._options.seed,
            round=self._searches,
            token=self.token,
            until=until,
            report=lambda: self._report(self),
        )
        self.search_seconds += time.monotonic() - began
        if self.instance.units(tour) < self.length:
            self._give(solver, tour)

    def _search_as_worked(self, solver: NodeSolver, edges: NDArray[np.int32], steps: int) -> None:
        """Search in proportion to the work that the proof has taken so far."""
        self._steps_of_search = steps
        self._search_aside(solver, edges, min(steps // STEPS_OF_MEMBER, MOST_MEMBERS))

    # The tree

    def _search_tree(self) -> bool:
        root = self._root
        if (tour := root.fork(1).dive(self._report_alone)) is not None:
            self._give(root, tour)
        bound = root.solve_and_price()
        if bound is not None:
            self.elimination = root.evidence_of(bound)
            self._search_as_worked(root, root.near(bound, NEAR), root.program.iterations)
            self.edges_left = root.keep_survivors(bound)
        root.price_to_the_end()
        self._open = [Node((), root.evidence)]
        return self._examine_nodes()

    def _examine_nodes(self) -> bool:
        """Examine all open nodes and their sides, if a tree is wanted; whether none is left."""
        self._take_from(self._root)
        if self.token.stopped() or not self._options.tree:
            return not self._open
        count = min(self._options.threads, MOST_SOLVERS, max(1, CITIES_OF_SOLVERS // self.instance.size))
        self._solvers += [self._root.fork(number) for number in range(1, count)]
        self._steps = [solver.program.iterations for solver in self._solvers]
        self._news = [[] for _ in self._solvers]
        if count > 1:
            self._root.report = lambda: None  # other threads do not report
            self._root.cuts = {}
        side_by_side(
            self._solvers,
            self._next_node,
            NodeSolver.examine,
            self._take_sides,
            poll=self._poll,
            give_up=self.token.request,
        )
        return not self._open

    def _poll(self, busy: int) -> None:
        """Look at solvers at work."""
        self._share_threads(busy)
        if self.rounds > self._reported and not self.token.stopped():
            self._reported = self.rounds
            self._report(self)

    def _next_node(self, number: int) -> Node | None:
        """Return a node for a solver; None for none."""
        if not self._open or self._is_stuck:
            return None
        solver = self._solvers[number]
        if sum(self._steps) >= ASIDE_AGAIN * self._steps_of_search:
            self._search_as_worked(solver, solver.relaxation.ends, sum(self._steps))
        if self.token.stopped():
            return None
        for cuts in self._news[number]:
            solver.relaxation.learn(cuts)
        self._news[number] = []
        if self.length < solver.length:
            solver.take_tour(self.tour)
        node = self._running[number] = self._open.pop()
        self.nodes += 1
        self._share_threads(len(self._running))
        return node

    def _take_sides(self, number: int, sides: list[Node] | None) -> None:
        """Take what a solver has made of its node."""
        solver, node = self._solvers[number], self._running.pop(number)
        self._take_from(solver)
        self._steps[number] = solver.program.iterations
        if len(self._solvers) > 1:
            self.cuts.update(solver.cuts)
            news = solver.relaxation.new_cuts()
            for other, unknown in enumerate(self._news):
                if other != number:
                    unknown.append(news)
        if sides is None:
            self._is_stuck = True
            sides = [node]
        elif not sides:
            self._keep_leaf(solver, node.branches)
        self._open += sides

    def _share_threads(self, busy: int) -> None:
        """Divide the threads among so many solvers, for local cuts, which are the same with any number."""
        for solver in self._solvers:
            solver.threads = max(1, self._options.threads // max(1, busy))

    def _keep_leaf(self, solver: NodeSolver, branches: tuple[Branch, ...]) -> None:
        if self._options.keeps_evidence:
            self.leaves.append(Node(branches, solver.evidence))

    # An earlier proof

    def _take_up(self, earlier: Certificate) -> bool:
        """Load an earlier proof, and compute its bounds anew; whether it had come as far as the tree.

        Raises `Stopped`: by the token, before all of it was there.
        """
        root = self._root
        for cut in earlier.cuts.values():
            root.relaxation.adopt(*cut)
        root.program.add_rows(root.relaxation.take_cuts(len(earlier.cuts)))
        row_of = {number: row for row, number in enumerate(earlier.cuts)}
        nodes = [*earlier.leaves, *earlier.open]
        root.price_evidence(earlier.elimination or nodes[0].evidence, row_of)
        if earlier.elimination is None or root.bound == 0:
            return False
        self.root_bound = min(root.bound, self.length)
        self.elimination = root_evidence = root.evidence
        self.edges_left = root.keep_survivors(root.bound)
        for node in nodes:
            if self.token.stopped():  # what is not computed anew is not lost where it came from
                raise Stopped(self.instance.value(self.root_bound))
            root.go_to(Node(node.branches, root_evidence))
            root.price_evidence(node.evidence, row_of)
            if root.is_pruned:
                self.nodes += 1
                self._keep_leaf(root, node.branches)
            else:
                self._open.append(Node(node.branches, root.evidence))
        return True
