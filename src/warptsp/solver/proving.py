"""`prove`: a search for a good tour, where none is given, and the proof that it is optimal."""

from __future__ import annotations

import os
import time

TYPE_CHECKING = False  # `prove` imports what it needs, within its time limit
if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    import warptsp._native as _native
    from warptsp.bound.held_karp import LowerBound
    from warptsp.problem import Problem
    from warptsp.proof import Proof, ProofProgress
    from warptsp.stop import StopToken

CHECKPOINT_SECONDS = 5.0  # between two of them, at least


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
    on_interrupt: str | None = None,
) -> Proof:
    """Prove that a tour is optimal, by branch and cut, or find a better one that is.

    Parameters
    ----------
    problem : Problem or array_like
        Symmetric, of up to `MAX_CITIES` cities; fixed edges and open paths are respected. An array is what
        `Problem.from_array` takes.
    tour : array_like of int, shape (n,), optional
        Cities counted from 0. The better it is, the faster the proof. By default `warptsp.solve` searches
        for one first, and a population improves it.
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
        Stops the proof from another thread.
    callback : callable, optional
        Called with a `ProofProgress` after each round, and in the search; if it returns True, the proof ends.
    certificate : path, optional
        File for the whole proof, or that of the bound by the end, which ``warptsp check --certificate``
        verifies.
    checkpoint : path, optional
        File for the state of the proof (the best tour, bounds and the tree), written at most every 5 seconds
        and at the end, atomically.
    resume : path, optional
        Such a file of an earlier proof of the same instance: this one goes on from there, from its tour
        unless `tour` is shorter. Its bounds are computed anew, from its prices.
    on_interrupt : {"raise", "return"}, optional
        As `warptsp.solve` takes it.

    Returns
    -------
    Proof
        Without a time limit the same one for the same tour, seed and number of threads.

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
    KeyboardInterrupt
        By Ctrl-C and other signals as `warptsp.solve` raises it, with what was proved in ``result``.
    BaseException
        What the callback raised, with what was proved in its attribute ``result``. ``Proof.skipped`` tells
        of other exceptions during the proof.

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
    from functools import partial

    from warptsp._checks import check_on_interrupt, shown
    from warptsp._words import as_called
    from warptsp.claims import delivered_tour
    from warptsp.errors import InvalidOption
    from warptsp.machine import resolve_threads
    from warptsp.outputs import check_outputs
    from warptsp.problem import Problem
    from warptsp.proof.proof import ProofOptions
    from warptsp.proof.proving import prove_with
    from warptsp.run.checkpoint import warn_of_earlier
    from warptsp.solver.options import seed_of
    from warptsp.stop.callback import check_callback

    check_callback(callback)
    check_on_interrupt(on_interrupt)
    for name, file in (("certificate", certificate), ("checkpoint", checkpoint), ("resume", resume)):
        if file is not None and not isinstance(file, (str, os.PathLike)):
            raise InvalidOption(f"{name}: {shown(file)} is not the name of a file")
    outputs = [(as_called("certificate", "--certificate"), certificate)]
    if resume is None or checkpoint is None or os.path.realpath(checkpoint) != os.path.realpath(resume):
        outputs.append((as_called("checkpoint", "--checkpoint"), checkpoint))  # it may replace that one
    check_outputs(outputs, [] if resume is None else [("the proof that this one continues", resume)])
    if checkpoint is not None:
        warn_of_earlier(checkpoint, resume, as_called("resume", "--resume"))
    seed = seed_of(seed)
    options = ProofOptions(
        first_tour=partial(_searched, time_limit=time_limit, seed=seed),
        search=tour is None and resume is None,
        time_limit=time_limit,
        seed=seed,
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
    return delivered_tour(problem, proof, on_interrupt)


def _searched(
    problem: Problem, token: _native.StopToken, *, time_limit: float | None, seed: int
) -> tuple[NDArray[np.int32], LowerBound | None]:
    """Return a tour that is most likely optimal where that can be proved, and a lower bound."""
    import numpy as np

    from warptsp.bound.held_karp import lower_bound
    from warptsp.errors import NoTourFound
    from warptsp.proof.proving import SEARCH_KICKS, SEARCH_SHARE, provable_count
    from warptsp.solver import solve

    try:
        result = solve(
            problem,
            stop=lambda state: token.stopped(),
            time_limit=None if time_limit is None else SEARCH_SHARE * time_limit,
            kicks=SEARCH_KICKS * provable_count(problem),
            seed=seed,
            threads=1,
            device="cpu",
            bound=False,
        )
    except NoTourFound as error:  # a proof goes on from a tour with missing arcs as from any other
        result = error.result  # type: ignore[attr-defined]
    if result.interrupted:
        token.request()
    # What a proof has that is stopped before its first linear programme: 1000 cities take 0.05 CPU seconds.
    bound = lower_bound(problem, result.tour, threads=1, device="cpu", token=token)
    return np.array(result.tour), bound if bound.certified else None
