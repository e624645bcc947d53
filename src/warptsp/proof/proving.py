"""Proving that a tour is optimal (``docs/proofs.md``)."""

from __future__ import annotations

import logging
import math
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

import warptsp._native as _native
from warptsp._checks import checked_count, shown
from warptsp._offers import find
from warptsp.claims import bound_gap, confirmed_bound
from warptsp.errors import (
    BackendUnavailable,
    InvalidOption,
    NoTourFound,
    OutputError,
    UnsupportedProblem,
)
from warptsp.interruption import FirstSignal
from warptsp.machine import resolve_threads
from warptsp.neighbors import candidate_rows
from warptsp.outputs import Attempts, Pace, check_writable
from warptsp.problem import Problem
from warptsp.problem.given_tour import checked_tour
from warptsp.problem.values import read_only
from warptsp.stop.callback import check_callback, is_true
from warptsp.stop.deadline import token_until

from .branch_and_cut import BranchAndCut
from .certificate import (
    certificate_of,
    certificate_of_tour,
    read_unfinished,
    write_proof,
    write_unfinished,
)
from .closed_instance import ClosedInstance, Stopped, has_one_tour, is_optimal
from .linear_program import has_solver, require_solver
from .missing import check_is_tour

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from warptsp.problem.reduced import Reduced
    from warptsp.stop import StopToken

    from .evidence import Certificate


__all__ = ["MAX_CITIES", "Proof", "ProofProgress", "check_provable", "prove", "prove_within"]

logger = logging.getLogger(__name__)

SEARCH_KICKS = 1
"""Of each city, in the search for the first tour, which a population follows."""
MEMBERS_A_CITY = 0.25
FEWEST_MEMBERS, MOST_MEMBERS = 30, 300
"""Of that population. Of five seeds 5 end with the optimum for d493 and rat783, 4 for att532, 3 for pr1002, 2
for vm1084, in 0.2 to 1.2 CPU seconds; 20 kicks a city take 1.6 to 3.9 (EXP-211)."""
BOUND_SECONDS = 1.0
"""For the bound beside that search, at most; 1000 cities take 0.05 CPU seconds. A proof that is stopped
before its first linear programme has that bound."""
SEARCH_SHARE = 0.3  # of a time limit
CHECKPOINT_SECONDS = 5.0  # between two of them, at least
MAX_CITIES = 10_000
"""All lengths are in memory, 8 bytes each, and are looked through in every pricing."""


@dataclass(frozen=True, slots=True)
class ProofProgress:
    """Where a proof is.

    Attributes
    ----------
    seconds : float
    length, lower_bound : int or float
        Of the best tour; and what is proved.
    nodes, open_nodes : int
        Of the tree, examined and still to be examined; none before the first branch.
    edges : int
        In the linear programme.
    cuts : int
        In the linear programme.
    tour : callable
        ``tour()`` returns the best tour so far, as an int32 array of its own.
    """

    seconds: float
    length: int | float
    lower_bound: int | float
    nodes: int
    open_nodes: int
    edges: int
    cuts: int
    tour: Callable[[], NDArray[np.int32]]


@dataclass(frozen=True, slots=True, eq=False)
class Proof:
    """The best tour, how short no tour can be, and whether that is the same.

    Attributes
    ----------
    tour : ndarray of int32, shape (n,)
        Read-only. A better one than the given, if one was found.
    length : int or float
    lower_bound : int or float
        No tour, or no path where the instance is open, is shorter.
    proved : bool
        Whether the tour is optimal: where lengths are real, whether no tour is shorter by more than a
        fraction of 1e-7.
    nodes : int
        Of the tree of branches; 0 if there was no need for one.
    root_bound : int or float
        What was proved without branches.
    seconds : float
        Wall time, with that of the search.
    search_seconds : float
        Wall time of the searches for a tour, also of those in the course of the proof.
    cuts : dict of str to int
        Violated cuts that were found, by kind.
    edges_left : int or None
        Edges that a shorter tour may have had after the root; None if there was no tree.
    interrupted : bool
        Whether a signal (Ctrl-C) ended it.
    skipped : str or None
        What went wrong, in a line, where the proof was given up for that.
    """

    tour: NDArray[np.int32]
    length: int | float
    lower_bound: int | float
    proved: bool
    nodes: int = 0
    root_bound: int | float = 0
    seconds: float = 0.0
    search_seconds: float = 0.0
    cuts: dict[str, int] = field(default_factory=dict)
    edges_left: int | None = None
    interrupted: bool = False
    skipped: str | None = None

    def without_claims(self) -> Proof:
        """Return the same proof without what is said of lengths: its tour has missing arcs."""
        return replace(
            self, length=math.inf, lower_bound=0, proved=False, root_bound=0, nodes=0, edges_left=None
        )

    @property
    def bound_gap(self) -> float | None:
        """Length over the lower bound, minus 1: the tour is at most this much longer than the shortest.

        None if the bound is 0 and the length is not.
        """
        return bound_gap(self.length, self.lower_bound)

    def __repr__(self) -> str:
        return (
            f"Proof(length={self.length!r}, lower_bound={self.lower_bound!r}, proved={self.proved}, "
            f"nodes={self.nodes}, seconds={self.seconds:.2f})"
        )


def prove(
    problem: Problem | ArrayLike,
    tour: ArrayLike | None = None,
    *,
    time_limit: float | None = None,
    seed: int = 0,
    threads: int | None = None,
    tree: bool = True,
    token: StopToken | _native.StopToken | None = None,
    callback: Callable[[ProofProgress], object] | None = None,
    certificate: str | os.PathLike[str] | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    resume: str | os.PathLike[str] | None = None,
) -> Proof:
    """Prove that a tour is optimal, by branch and cut, or find a better one that is.

    Parameters
    ----------
    problem : Problem or array_like
        Symmetric, of up to `MAX_CITIES` cities; fixed edges and open paths are respected. An array is what
        `Problem.from_array` takes.
    tour : array_like of int, shape (n,), optional
        Cities counted from 0. The better it is, the faster the proof. By default `warptsp.solve` searches
        for one first, and a population goes on from there.
    time_limit : float, optional
        Seconds of wall time, search included. What was found and proved by then is returned.
    seed : int
        Seed of the search and of what is tried first in the proof.
    threads : int, optional
        CPU threads, by default all: for local cuts, and for nodes of the tree, whose course depends on their
        number.
    tree : bool
        False: no branches. The proof ends with the bound of the root, usually 0.01 to 0.13 % below the
        optimum, unless that is a proof already.
    token : StopToken, optional
        Stops it from another thread.
    callback : callable, optional
        Called with a `ProofProgress` after each round, and in the search; if it returns True, the proof ends.
    certificate : path, optional
        File for the whole proof, which ``warptsp check --certificate`` verifies; written if the tour was
        proved optimal.
    checkpoint : path, optional
        File for where the proof is: the best tour, bounds and the tree, at most every 5 seconds and at the
        end, whole at any moment.
    resume : path, optional
        Such a file of an earlier proof of the same instance: this one goes on from there, from its tour
        unless `tour` is shorter. Its bounds are computed anew, from its prices.

    Returns
    -------
    Proof
        Without a time limit the same one for the same tour, seed and number of threads. A signal (Ctrl-C)
        ends it, and what was proved by then is returned.

    Raises
    ------
    BackendUnavailable
        HiGHS, which solves the linear programmes, is not installed: ``pip install 'warptsp[prove]'``.
    UnsupportedProblem
        The instance is asymmetric, or has too many cities.
    InvalidTour
        `tour` is not one of this instance.
    NoTourFound
        The best tour has an arc that is missing from the matrix; the proof is in its attribute ``result``,
        and `proved` says whether every tour has one.
    InvalidProblem, InvalidOption
    ParseError
        `resume` is not an unfinished proof of this instance.
    OutputError
        The certificate or the checkpoint cannot be written; if that was noticed at the end, the proof is in
        its attribute ``result``.
    BaseException
        What the callback raised, with what was proved in its attribute ``result``. Of other exceptions in
        the course of the proof, ``Proof.skipped`` tells.

    Examples
    --------
    >>> import warptsp
    >>> square = [[0, 0], [3, 0], [3, 4], [0, 4]]
    >>> warptsp.prove(square).proved
    True

    References
    ----------
    G. B. Dantzig, R. Fulkerson and S. Johnson, "Solution of a large-scale traveling-salesman problem" (1954).
    """
    began = time.monotonic()
    check_callback(callback)
    for name, file in (("certificate", certificate), ("checkpoint", checkpoint), ("resume", resume)):
        if file is not None and not isinstance(file, (str, os.PathLike)):
            raise InvalidOption(f"{name}: {shown(file)} is not the name of a file")
    options = ProofOptions(
        search=tour is None and resume is None,
        time_limit=time_limit,
        seed=checked_count(
            "seed", seed, minimum=0, what="a whole number from 0 to 2**64 - 1", maximum=2**64 - 1
        ),
        threads=resolve_threads(threads),
        tree=tree,
        token=token,
        callback=callback,
        certificate=certificate,
        checkpoint=checkpoint,
        checkpoint_interval=CHECKPOINT_SECONDS,
        resume=resume,
    )
    if not isinstance(problem, Problem):
        problem = Problem.from_array(problem)
    proof = prove_with(options, problem, tour, began)
    check_is_tour(problem, proof.tour, proof.lower_bound, proof)
    return proof


@dataclass(frozen=True, slots=True, kw_only=True)
class ProofOptions:
    """What `prove` takes beside an instance and a tour, checked.

    Attributes
    ----------
    search : bool
        Whether a population looks for a shorter tour than the given one first.
    checkpoint_interval : float
        Seconds between two checkpoints, at least.
    time_limit, seed, threads, tree, token, callback, certificate, checkpoint, resume
        As those of `prove`.
    """

    search: bool = False
    time_limit: float | None = None
    seed: int = 0
    threads: int = 1
    tree: bool = True
    token: StopToken | _native.StopToken | None = None
    callback: Callable[[ProofProgress], object] | None = None
    certificate: str | os.PathLike[str] | None = None
    checkpoint: str | os.PathLike[str] | None = None
    checkpoint_interval: float = CHECKPOINT_SECONDS
    resume: str | os.PathLike[str] | None = None


def prove_with(options: ProofOptions, problem: Problem, tour: ArrayLike | None, began: float) -> Proof:
    """Prove as `prove` does, with a time limit from `began` on; the best tour may go through missing arcs."""
    check_provable(problem)
    problem.check_connected()
    given = None if tour is None else checked_tour(problem, tour)
    if problem.reduced is not None:
        return _prove_reduced(options, problem, problem.reduced, given, began)
    for file in (options.certificate, options.checkpoint):
        if file is not None:
            check_writable(file)
    earlier = None if options.resume is None else read_unfinished(options.resume, problem)
    if earlier is not None and (given is None or earlier.length < problem.length(given)):
        given = earlier.tour
    search_seconds = 0.0
    state: BranchAndCut | None = None
    failure: BaseException | None = None
    with (
        token_until(options.token, began, options.time_limit) as token,
        FirstSignal(lambda number: token.request()) as signals,
    ):
        start, floor = _searched(problem, options, token) if given is None else (given, 0)
        if given is None:
            search_seconds = time.monotonic() - began
        kept = certificate_of_tour(problem, start)
        if earlier is not None:
            kept = replace(earlier, tour=start, length=kept.length)
        proved = has_one_tour(problem)
        if not proved:
            task = _Task(problem, options, token, began, _Kept(options, problem), _Heard(options.callback))
            try:
                state = _run(task, start, floor, earlier)
            except Stopped as stopped:
                floor = max(floor, stopped.bound)
            except BaseException as error:
                failure = error  # only its tours are of use: what is proved of them may be half done
                start = task.heard.best(problem, start)
            else:
                search_seconds += state.search_seconds
                kept, proved = certificate_of(problem, state), _is_proved(problem, state)
        attempts = Attempts()
        if options.certificate is not None and proved:
            attempts.make(write_proof, options.certificate, problem, kept)
        if options.checkpoint is not None and failure is None:
            attempts.make(write_unfinished, options.checkpoint, problem, kept)
    proof = _confirmed(problem, _proof(problem, state, start, floor, proved=proved))
    proof = replace(
        proof,
        seconds=time.monotonic() - began,
        search_seconds=search_seconds,
        interrupted=signals.caught is not None,
    )
    try:
        if failure is not None and (failure is task.heard.raised or not isinstance(failure, Exception)):
            raise failure
        attempts.finish()
    except BaseException as error:
        error.result = proof  # type: ignore[attr-defined]
        raise
    return proof if failure is None else replace(proof, skipped=skipped(failure))


def _prove_reduced(
    options: ProofOptions, problem: Problem, reduced: Reduced, given: NDArray[np.int32] | None, began: float
) -> Proof:
    """Prove in smaller integers, and return what follows for those of the instance."""

    def told(progress: ProofProgress) -> object:
        assert options.callback is not None
        length = problem.length(progress.tour())
        bound = confirmed_bound(problem, length, min(reduced.length(progress.lower_bound), length))
        return options.callback(replace(progress, length=length, lower_bound=bound or 0))

    def of(proof: Proof) -> Proof:
        tours = [proof.tour] if given is None else [proof.tour, given]
        tour = min(tours, key=problem.length)
        length = problem.length(tour)
        bound = length if has_one_tour(problem) else min(reduced.length(proof.lower_bound), length)
        return _confirmed(
            problem,
            replace(
                proof,
                tour=read_only(tour),
                length=length,
                lower_bound=bound,
                root_bound=min(reduced.length(proof.root_bound), bound),
                proved=proof.proved and bound == length,
            ),
        )

    inner = replace(options, callback=None if options.callback is None else told)
    try:
        return of(prove_with(inner, reduced.problem, given, began))
    except BaseException as error:
        if isinstance(proof := getattr(error, "result", None), Proof):
            error.result = of(proof)  # type: ignore[attr-defined]
        raise


def skipped(failure: BaseException) -> str:
    """Say in a line, which is logged, too, why there is no proof."""
    text = " ".join(f"{type(failure).__name__}: {failure}".split()).rstrip(":")
    logger.warning("the proof was skipped: %s", text)
    return text


def prove_within(
    problem: Problem,
    tour: ArrayLike,
    seconds: float,
    *,
    seed: int = 0,
    threads: int = 1,
    token: StopToken | _native.StopToken | None = None,
) -> Proof | None:
    """Try for so many seconds of wall time to prove that a tour is optimal, or to find one that is.

    None where a proof is not to be had, whatever the time: without HiGHS, for asymmetric instances, and for
    more than `MAX_CITIES` cities. This is for callers to whom a proof is welcome, and who were not asked for
    one.
    """
    if seconds <= 0 or problem.asymmetric or problem.n > MAX_CITIES or not has_solver():
        return None
    options = ProofOptions(time_limit=seconds, seed=seed, threads=threads, token=token)
    try:
        return prove_with(options, problem, tour, time.monotonic())
    except BackendUnavailable as missing:
        logger.debug("no proof: %s", missing)
        return None


def check_provable(problem: Problem) -> None:
    """Raise what `prove` raises of problems that it cannot do, or of a solver that is not there."""
    if problem.asymmetric:
        raise UnsupportedProblem("the matrix is asymmetric, and proofs are for symmetric instances")
    if problem.n > MAX_CITIES:
        raise UnsupportedProblem(f"{problem.n} cities: proofs are for up to {MAX_CITIES}")
    require_solver()


def _searched(
    problem: Problem, options: ProofOptions, token: _native.StopToken
) -> tuple[NDArray[np.int32], int | float]:
    """Return a tour that is most likely optimal where that can be proved, and a lower bound, 0 for none."""
    try:
        result = find("solve")(
            problem,
            stop=lambda state: token.stopped(),
            time_limit=None if options.time_limit is None else SEARCH_SHARE * options.time_limit,
            kicks=SEARCH_KICKS * problem.n,
            seed=options.seed,
            threads=1,
            device="cpu",
            bound=BOUND_SECONDS,
        )
    except NoTourFound as error:  # a proof goes on from a tour with missing arcs as from any other
        result = error.result  # type: ignore[attr-defined]
    if result.interrupted:
        token.request()
    return np.array(result.tour), result.lower_bound or 0


def _members(n: int) -> int:
    """Return the size of the population that searches for the first tour of so many cities."""
    return min(max(FEWEST_MEMBERS, int(MEMBERS_A_CITY * n)), MOST_MEMBERS)


@dataclass(frozen=True, slots=True)
class _Task:
    """What stays the same where a proof begins again."""

    problem: Problem
    options: ProofOptions
    token: _native.StopToken
    began: float
    kept: _Kept
    heard: _Heard

    @property
    def search_until(self) -> float:
        """When the first search ends at the latest, on the monotonic clock."""
        limit = self.options.time_limit
        return math.inf if limit is None else self.began + SEARCH_SHARE * limit


class _Heard:
    """The callback of a proof, what it raised, and the last state that it could have seen."""

    def __init__(self, callback: Callable[[ProofProgress], object] | None) -> None:
        self.state: BranchAndCut | None = None
        self.raised: BaseException | None = None
        self._callback = callback

    def ends(self, progress: Callable[[], ProofProgress]) -> bool:
        """Tell the callback, if there is one; whether the proof shall end."""
        if self._callback is None:
            return False
        try:
            return is_true(self._callback(progress()))
        except BaseException as error:
            self.raised = error
            raise

    def best(self, problem: Problem, tour: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return this tour, or the shorter one of a proof that went wrong."""
        if self.state is None:
            return tour
        found = self.state.instance.open(self.state.tour)
        return found if problem.length(found) < problem.length(tour) else tour


class _Kept:
    """Writes where a proof is, now and then."""

    def __init__(self, options: ProofOptions, problem: Problem) -> None:
        self._path, self._problem = options.checkpoint, problem
        self._pace = Pace(options.checkpoint_interval)

    def write_if_due(self, state: BranchAndCut) -> None:
        """Write it, if it is wanted and time for it; a full disk must not cost the proof."""
        if self._path is None or not self._pace.is_due():
            return
        begun = time.monotonic()
        try:
            write_unfinished(self._path, self._problem, certificate_of(self._problem, state))
        except OutputError as error:
            logger.warning("checkpoint of the proof not written: %s", error)
        self._pace.wrote(time.monotonic() - begun)


def _run(
    task: _Task,
    tour: NDArray[np.int32],
    floor: int | float,
    earlier: Certificate | None,
    *,
    exponent: int | None = None,
) -> BranchAndCut:
    """Run branch and cut, in finer units once more where rounding keeps it from its end.

    Raises
    ------
    Stopped
        Before there was a linear programme, or an earlier proof had been taken up.
    """
    problem, options, token = task.problem, task.options, task.token
    goes_on = exponent is not None
    if earlier is not None:
        exponent = earlier.exponent
    instance = ClosedInstance.of(problem, problem.length(tour), exponent, token)

    def report(state: BranchAndCut) -> None:
        task.kept.write_if_due(state)
        if task.heard.ends(lambda: progress_of(state)):
            token.request()

    def progress_of(state: BranchAndCut) -> ProofProgress:
        edges, cuts = state.size
        length = problem.length(instance.open(state.tour))
        bound = min(length, max(instance.value(state.bound), floor))  # no tour is shorter than a proved one
        return ProofProgress(
            seconds=time.monotonic() - task.began,
            length=length,
            lower_bound=confirmed_bound(problem, length, bound) or 0,
            nodes=state.nodes,
            open_nodes=state.waiting,
            edges=edges,
            cuts=cuts,
            tour=lambda: np.array(instance.open(state.tour)),
        )

    neighbours = np.full((0, 1), -1, dtype=np.int32)
    points = problem.search_points() if problem.matrix is None else None
    if problem.n > 8:
        found = candidate_rows(problem, points, 8, 2, 1, _native.StopToken())
        neighbours = neighbours if found is None else found
    state = BranchAndCut(
        instance,
        instance.close(tour),
        neighbours,
        seed=options.seed,
        token=token,
        threads=options.threads,
        tree=options.tree,
        report=report,
        aside=(_members(problem.n), task.search_until) if options.search and not goes_on else None,
        keep_evidence=options.certificate is not None or options.checkpoint is not None,
        earlier=earlier,
        points=points,
    )
    task.heard.state = state
    state.run()
    if _is_proved(problem, state) or not options.tree or token.stopped() or problem.integral:
        return state
    # Units that suit a first tour many times as long are too coarse; so are any where many pairs are equal.
    found = instance.open(state.tour)
    finer = instance.finer_exponent(problem.length(found))
    if finer is None:
        return state
    try:
        return _run(task, found, max(floor, instance.value(state.bound)), None, exponent=finer)
    except Stopped:
        return state


def _is_proved(problem: Problem, state: BranchAndCut) -> bool:
    """Return whether the tour is optimal: where units are coarse, what they exclude may not be enough."""
    instance = state.instance
    length = problem.length(instance.open(state.tour))
    excluded = state.least_allowed if state.nodes else state.bound
    return state.proved and is_optimal(problem, length, instance.value(excluded))


def _confirmed(problem: Problem, proof: Proof) -> Proof:
    """Return a proof whose claims may leave the package."""
    bound = confirmed_bound(problem, proof.length, proof.lower_bound)
    if bound is None:
        return replace(proof, proved=False, lower_bound=0, root_bound=0)
    return replace(proof, lower_bound=bound, root_bound=min(proof.root_bound, bound))


def _proof(
    problem: Problem,
    state: BranchAndCut | None,
    start: NDArray[np.int32],
    floor: int | float,
    *,
    proved: bool,
) -> Proof:
    """Return what was proved of a start tour, by branch and cut if it has begun."""
    tour, length = start, problem.length(start)
    if state is not None:
        found = state.instance.open(state.tour)
        problem.check_tour(found)
        if problem.length(found) < length:
            tour, length = found, problem.length(found)
    tour = tour.copy()
    tour.flags.writeable = False
    if state is None:
        bound = length if proved else min(floor, length)
        return Proof(tour, length, bound, proved, root_bound=bound)
    bound = state.instance.value(state.bound)
    if not proved and floor < length:  # of a proof that was stopped before its first linear programme
        bound = max(bound, floor)
    return Proof(
        tour=tour,
        length=length,
        lower_bound=min(bound, length),
        proved=proved,
        nodes=state.nodes,
        root_bound=min(state.instance.value(state.root_bound), length),
        cuts=dict(state.found),
        edges_left=state.edges_left,
    )
