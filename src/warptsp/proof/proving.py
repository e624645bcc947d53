"""Proving that a tour is optimal (``docs/proofs.md``)."""

import logging
import math
import time
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

import warptsp._native as _native
from warptsp.bound.certificate import proven_value
from warptsp.bound.held_karp import LowerBound
from warptsp.claims import confirmed_bound
from warptsp.errors import BackendUnavailable, OutputError, UnsupportedProblem
from warptsp.interruption import FirstSignal
from warptsp.outputs import Attempts, Pace, check_writable
from warptsp.problem import Problem
from warptsp.problem.given_tour import checked_tour
from warptsp.problem.itinerary import length_of
from warptsp.problem.places import Places
from warptsp.problem.search import Reduced
from warptsp.problem.values import read_only
from warptsp.proof.branch_and_cut import BranchAndCut
from warptsp.proof.certificate import (
    certificate_of,
    certificate_of_tour,
    read_unfinished,
    write_proof,
    write_unfinished,
)
from warptsp.proof.closed_instance import (
    ClosedInstance,
    Stopped,
    has_one_tour,
    is_optimal,
    provable_places,
)
from warptsp.proof.evidence import Certificate
from warptsp.proof.linear_program import has_solver, require_solver
from warptsp.proof.proof import Proof, ProofOptions, ProofProgress
from warptsp.stop import StopToken
from warptsp.stop.callback import is_true
from warptsp.stop.limits import token_until

logger = logging.getLogger(__name__)

SEARCH_KICKS = 1
"""Of each city, in the search for the first tour, which a population follows."""
SEARCH_SHARE = 0.3  # of a time limit
MAX_CITIES = 10_000
"""All lengths are in memory, 8 bytes each, and are looked through in every pricing."""


def prove_with(options: ProofOptions, problem: Problem, tour: ArrayLike | None, began: float) -> Proof:
    """Prove, with a time limit from `began` on; the best tour may go through missing arcs."""
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
        if given is None:
            assert options.first_tour is not None
            start, trees = options.first_tour(problem, token)
            search_seconds = time.monotonic() - began
        else:
            start, trees = given, None if earlier is None else earlier.trees
            if trees is not None:  # whose value no file tells
                trees = replace(trees, value=proven_value(problem, trees))
        floor = of_trees = 0 if trees is None else trees.value
        places = provable_places(problem) if earlier is None or earlier.places is not None else None
        kept = certificate_of_tour(problem, start, places, trees)
        if earlier is not None:
            kept = replace(earlier, tour=start, length=kept.length)
        proved = has_one_tour(problem)
        if not proved:
            proving = _Proving(problem, options, token, began, floor, trees)
            try:
                state = proving.run(start, earlier, places)
            except Stopped as stopped:
                proving.floor = max(floor, stopped.bound)
                if earlier is not None:
                    logger.warning("%s: no time to take up this proof, whose bound is not told; the file "
                                   "keeps it", options.resume)  # fmt: skip
            except BaseException as error:
                failure = error  # only its tours are of use: what is proved of them may be half done
                start = proving.best(start)
            else:
                search_seconds += state.search_seconds
                kept, proved = certificate_of(problem, state, trees), _is_proved(problem, state)
                if not proved and not kept.open:  # in units too coarse to end it: no leaf is done
                    kept = replace(kept, leaves=[], open=kept.leaves)
            floor = proving.floor
        attempts = Attempts()
        if options.checkpoint is not None and failure is None:
            attempts.make(write_unfinished, options.checkpoint, problem, kept)
        proof = _confirmed(problem, _proof(problem, state, start, floor, proved=proved))
        # A claim that was withdrawn is not written, nor one of which this is not the evidence.
        own = floor <= max(of_trees, 0 if state is None else state.instance.value(state.bound))
        shown = proof.proved or bool(own and proof.lower_bound)
        certified = shown and options.certificate is not None
        if certified:
            write = write_proof if proved else write_unfinished
            certified = attempts.make(write, options.certificate, problem, kept)
    proof = replace(
        proof,
        certified=certified,
        seconds=time.monotonic() - began,
        search_seconds=search_seconds,
        interrupted=signals.caught is not None,
        signal=signals.caught,
    )
    try:
        if failure is not None and (failure is proving.raised or not isinstance(failure, Exception)):
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
        tour = progress.tour()
        length = problem.length(tour)
        bound = confirmed_bound(problem, length, min(reduced.length(progress.lower_bound), length))
        return options.callback(replace(progress, length=length_of(problem, tour), lower_bound=bound or 0))

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


def provable_count(problem: Problem) -> int:
    """Return the number of cities that a proof is about, or of places."""
    places = provable_places(problem)
    return problem.n if places is None else places.problem.n


def check_provable(problem: Problem) -> None:
    """Raise what `prove` raises of problems that it cannot do, or of a solver that is not there."""
    if problem.asymmetric:
        raise UnsupportedProblem("the matrix is asymmetric, and proofs are for symmetric instances")
    if (count := provable_count(problem)) > MAX_CITIES:
        what = "cities" if count == problem.n else "places of cities"
        raise UnsupportedProblem(f"{count} {what}: proofs are for up to {MAX_CITIES}")
    require_solver()


class _Proving:
    """A proof, which may begin again in finer units, and what it tells and keeps on its way.

    Whatever becomes of it, no tour is below `floor`.
    """

    def __init__(
        self,
        problem: Problem,
        options: ProofOptions,
        token: _native.StopToken,
        began: float,
        floor: int | float,
        trees: LowerBound | None,
    ) -> None:
        self._problem, self._options, self._token, self._began = problem, options, token, began
        self.floor, self._trees = floor, trees
        self._pace = Pace(options.checkpoint_interval)
        self.state: BranchAndCut | None = None  # as the callback could have seen it last
        self.raised: BaseException | None = None  # by the callback

    def best(self, tour: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return this tour, or the shorter one of a proof that went wrong."""
        if self.state is None:
            return tour
        found = self.state.instance.open(self.state.tour)
        return found if self._problem.length(found) < self._problem.length(tour) else tour

    def run(
        self, tour: NDArray[np.int32], earlier: Certificate | None, places: Places | None
    ) -> BranchAndCut:
        """Run branch and cut, in finer units once more where rounding keeps it from its end, and for cities
        where places have ways that cities have not.

        Raises `Stopped`: before there was a linear programme, or an earlier proof had been taken up.
        """
        problem, options = self._problem, self._options
        exponent = None if earlier is None else earlier.exponent
        search_until = None
        if options.search:
            limit = math.inf if options.time_limit is None else options.time_limit
            search_until = self._began + SEARCH_SHARE * limit
        coarser: BranchAndCut | None = None
        while True:
            try:
                instance = ClosedInstance.of(problem, problem.length(tour), exponent, self._token, places)
                state = self.state = BranchAndCut(
                    instance,
                    instance.close(tour),
                    options,
                    self._token,
                    report=self._report,
                    search_until=search_until,
                    earlier=earlier,
                )
                state.run()
            except Stopped:
                if coarser is None:
                    raise
                return coarser
            if _is_proved(problem, state) or not options.tree or self._token.stopped():
                return state
            tour = self.best(tour)
            # Units that suit a first tour many times as long are too coarse; so are any of reals where many
            # pairs are equal.
            exponent = instance.finer_exponent(problem.length(tour))
            if exponent is None:
                if not problem.integral or instance.over is None or problem.n > MAX_CITIES:
                    return state
                places = None
            coarser, self.floor = state, max(self.floor, instance.value(state.bound))
            search_until = earlier = None

    def _report(self, state: BranchAndCut) -> None:
        """Write the state, if it is wanted and time for it; tell the callback, which may end the proof."""
        if self._options.checkpoint is not None and self._pace.is_due():
            begun = time.monotonic()
            try:
                certificate = certificate_of(self._problem, state, self._trees)
                write_unfinished(self._options.checkpoint, self._problem, certificate)
            except OutputError as error:  # a full disk must not cost the proof
                logger.warning("checkpoint of the proof not written: %s", error)
            self._pace.wrote(time.monotonic() - begun)
        if self._options.callback is None:
            return
        try:
            if is_true(self._options.callback(self._progress(state))):
                self._token.request()
        except BaseException as error:
            self.raised = error
            raise

    def _progress(self, state: BranchAndCut) -> ProofProgress:
        problem, instance = self._problem, state.instance
        edges, cuts = state.size
        tour = instance.open(state.tour)
        length = problem.length(tour)
        bound = min(length, max(instance.value(state.bound), self.floor))  # none is shorter than a proved one
        # A better tour of reals may exclude less than a bound that was told.
        self.floor = max(self.floor, bound)
        return ProofProgress(
            seconds=time.monotonic() - self._began,
            length=length_of(problem, tour),
            lower_bound=confirmed_bound(problem, length, bound) or 0,
            nodes=state.nodes,
            open_nodes=state.waiting,
            edges=edges,
            cuts=cuts,
            tour=lambda: np.array(tour),
        )


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
        return replace(proof, proved=False, lower_bound=0, root_bound=0, certified=False)
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
    if state is None:
        bound = length if proved else min(floor, length)
        return Proof(read_only(tour.copy()), length, bound, proved, root_bound=bound)
    found = state.instance.open(state.tour)
    problem.check_tour(found)
    if problem.length(found) < length:
        tour, length = found, problem.length(found)
    bound = max(state.instance.value(state.bound), floor)
    return Proof(
        tour=read_only(tour.copy()),
        length=length,
        lower_bound=min(bound, length),
        proved=proved,
        nodes=state.nodes,
        root_bound=min(state.instance.value(state.root_bound), length),
        cuts=dict(state.found),
        edges_left=state.edges_left,
    )
