"""Branch and cut until no tour can be shorter than the best one.

M. Padberg and G. Rinaldi, "A branch-and-cut algorithm for the resolution of large-scale symmetric traveling
salesman problems", SIAM Review 33 (1991) 60-100.
"""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING

import numpy as np

import warptsp._native as _native
from warptsp._native import Effort

from .closed_instance import Stopped
from .evidence import Branch, Certificate, Evidence, Leaf
from .node_solver import NEAR, Node, NodeSolver
from .side_by_side import side_by_side
from .side_search import search_aside
from .windows import FEWEST_CITIES, Windows

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from .closed_instance import ClosedInstance

__all__ = ["BranchAndCut"]

STEPS_OF_MEMBER = 150
"""Steps of the simplex method for which the search beside the proof has one member: 3 to 5 % of the time."""
FEWEST_MEMBERS, MOST_MEMBERS = 30, 1000
ASIDE_AGAIN = 2
"""Such a search comes before the tree, and whenever there are so many times the steps of the last one."""
MOST_SOLVERS = 8
"""Nodes that are solved at the same time, at most: few trees have more that are open."""
CITIES_OF_SOLVERS = 20_000
"""Of all solvers: each has a pool of cuts, some hundred megabytes for 10 000 cities."""


class BranchAndCut:
    """One proof.

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
        For local cuts, and for nodes of the tree, which depends on how many are solved side by side.
    tree : bool
        Whether branches follow where the root does not do.
    report : callable
        Called after each round, and after each step of a search for tours; returns nothing.
    aside : (int, float), optional
        The search for a shorter tour at the root: its members, and when it ends at the latest, on the
        monotonic clock.
    keep_evidence : bool
        Whether `leaves`, `elimination` and `cuts` are filled, for a certificate or a checkpoint.
    earlier : Certificate, optional
        Where an earlier proof of this instance, in the same units, had ended: this one goes on from there.
    points : ndarray of float64, shape (n, d), optional
        Where the cities are; those of large instances are divided into windows.

    Attributes
    ----------
    tour, length : ndarray of int32, int
        The best closed tour, and its length in units.
    bound : int
        In units: no tour is shorter.
    proved : bool
        Whether no tour is shorter by `ClosedInstance.step` or more.
    nodes, rounds : int
    found : dict of str to int
        Cuts by kind.
    search_seconds : float
        Wall time of the searches for a tour.
    root_bound : int
        The bound before the first branch.
    edges_left : int or None
        Edges that a shorter tour may have, after the root.
    leaves : list of Leaf
    elimination : Evidence or None
        What excludes all edges but those left.
    cuts : dict of int to tuple
        All cuts that any evidence names.
    """

    def __init__(
        self,
        instance: ClosedInstance,
        tour: NDArray[np.int32],
        neighbours: NDArray[np.int32],
        *,
        seed: int,
        token: _native.StopToken,
        threads: int = 1,
        tree: bool = True,
        report: Callable[[BranchAndCut], object] = lambda state: None,
        aside: tuple[int, float] | None = None,
        keep_evidence: bool = False,
        earlier: Certificate | None = None,
        points: NDArray[np.float64] | None = None,
    ) -> None:
        self.instance = instance
        self.token = token
        self.nodes = 0
        self.root_bound = 0
        self.edges_left: int | None = None
        self.proved = False
        self.leaves: list[Leaf] = []
        self.elimination: Evidence | None = None
        self.search_seconds = 0.0
        self._seed, self._aside = seed, aside
        self._searches = self._steps_of_search = 0
        self._threads, self._may_branch, self._keep, self._earlier = threads, tree, keep_evidence, earlier
        self._report, self._points = report, points
        self._open: list[Node] = []  # the next one last
        self._running: dict[int, Node] = {}  # by the number of the solver
        self._is_stuck = False
        self._reported = 0  # rounds
        root = NodeSolver(
            instance,
            tour,
            neighbours,
            seed=seed,
            token=token,
            threads=threads,
            keep_evidence=keep_evidence,
            report=self._report_alone,
        )
        self.tour, self.length, self.cuts = root.tour, root.length, root.cuts
        self._root, self._solvers = root, [root]
        self._steps = [0]  # of the simplex method, by each solver at the end of its last node
        self._news: list[list[_native.Cuts]] = [[]]  # what each solver does not know of the others

    @property
    def bound(self) -> int:
        """No tour is shorter than this, in units."""
        if self.proved:
            return min(self.length, max(self.root_bound, self.least_allowed))
        return min(self.length, *(node.bound for node in self._unfinished()))

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

    def open_nodes(self) -> list[Leaf]:
        """Return the nodes that are still to be examined, the next one last, with what is known of each."""
        nodes = [] if self.proved else self._unfinished()
        return [Leaf(node.branches, node.evidence) for node in nodes if node.evidence is not None]

    def _unfinished(self) -> list[Node]:
        nodes = [*self._open, *self._running.values()]
        return nodes or [Node((), self._root.bound, self._root.evidence)]

    def run(self) -> None:
        """Prove that the best tour, which may be a better one by then, is optimal, or stop before that."""
        root = self._root
        if self._earlier is not None and self._take_up(self._earlier):
            self.proved = self._may_branch and self._examine_nodes()
            return
        if self._aside is not None:
            self._search_aside(root, root.relaxation.ends, *self._aside)
        done = False
        for effort in Effort:
            if effort is Effort.TIGHTENING and not done:
                self._add_cuts_of_windows()
            done = done or root.cut_at_root(effort)
            if not done:
                if self.token.stopped():
                    root.price_as_it_is()
                    self._take_from(root)
                    self.root_bound = min(root.bound, self.length)
                    return
                done = root.price_to_the_end()
        self._take_from(root)
        self.root_bound = min(root.bound, self.length)
        if done:
            self._keep_leaf(root, ())
        self.proved = done or (self._may_branch and self._search_tree())

    def _add_cuts_of_windows(self) -> None:
        """Take the cuts of windows into the linear programme of a large instance, where it has points."""
        points, root = self._points, self._root
        if points is None or len(points) < FEWEST_CITIES or self.token.stopped():
            return
        Windows(
            self.instance,
            points,
            root.tour,
            seed=self._seed,
            token=self.token,
            threads=self._threads,
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
            members=members,
            seed=self._seed,
            round=self._searches,
            token=self.token,
            until=until,
            report=lambda: self._report(self),
        )
        self.search_seconds += time.monotonic() - began
        if self.instance.units(tour) < self.length:
            solver.take_tour(tour)
            solver.add_edges(np.stack([tour, np.roll(tour, -1)], axis=1))
            self._take_from(solver)

    def _search_as_worked(self, solver: NodeSolver, edges: NDArray[np.int32], steps: int) -> None:
        """Search in proportion to the work that the proof has taken so far."""
        self._steps_of_search = steps
        members = steps // STEPS_OF_MEMBER
        self._search_aside(solver, edges, min(max(FEWEST_MEMBERS, members), MOST_MEMBERS))

    # The tree

    def _search_tree(self) -> bool:
        root = self._root
        bound = root.solve_and_price()
        if bound is not None:
            if self._keep:
                self.elimination = root.evidence_of(bound)
            self._search_as_worked(root, root.near(bound, NEAR), root.program.iterations)
            self.edges_left = root.keep_survivors(bound, np.zeros((0, 2), dtype=np.int32))
        root.price_to_the_end()
        self._take_from(root)
        self._open = [Node((), root.bound, root.evidence)]
        return self._examine_nodes()

    def _examine_nodes(self) -> bool:
        """Examine all open nodes and their sides; whether that came to an end."""
        if self.token.stopped():
            return False
        count = min(self._threads, MOST_SOLVERS, max(1, CITIES_OF_SOLVERS // self.instance.size))
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
            solver.threads = max(1, self._threads // max(1, busy))

    def _keep_leaf(self, solver: NodeSolver, branches: tuple[Branch, ...]) -> None:
        if solver.evidence is not None:
            self.leaves.append(Leaf(branches, solver.evidence))

    # An earlier proof

    def _take_up(self, earlier: Certificate) -> bool:
        """Load an earlier proof, and compute its bounds anew; whether it had come as far as the tree.

        Raises
        ------
        Stopped
            By the token, before all of it was there.
        """
        root, row_of = self._root, {}
        for number, cut in earlier.cuts.items():
            root.program.add_rows(root.relaxation.restore_cut(*cut))
            row_of[number] = root.relaxation.rows - 1
        leaves = [*earlier.leaves, *earlier.open]
        edges = [branch.cities for leaf in leaves for branch in leaf.branches if len(branch.cities) == 2]
        branched = np.array(edges, dtype=np.int32).reshape(-1, 2)
        root.add_edges(branched)
        in_tree = earlier.elimination is not None
        bound = root.bound_of(earlier.elimination or leaves[0].evidence, (), row_of)
        if bound is not None and bound > root.bound:
            root.take_bound(bound)
        if not in_tree or bound is None:
            return False
        self.root_bound = min(bound, self.length)
        if self._keep:
            self.elimination = root.evidence_of(bound)
        around = np.stack([self.tour, np.roll(self.tour, -1)], axis=1)
        self.edges_left = root.keep_survivors(bound, np.concatenate([around, branched]))
        root_bound, root_evidence = root.bound, root.evidence
        for leaf in leaves:
            if self.token.stopped():  # what is not computed anew is not lost where it came from
                raise Stopped(self.instance.value(self.root_bound))
            root.go_to(leaf.branches)
            root.bound, root.evidence = root_bound, root_evidence
            bound = root.bound_of(leaf.evidence, leaf.branches, row_of)
            if bound is not None and bound > root.bound:
                root.take_bound(bound)
            if root.is_pruned:
                self._keep_leaf(root, leaf.branches)
            else:
                self._open.append(Node(leaf.branches, root.bound, root.evidence))
        self.nodes = len(self.leaves)
        return True
