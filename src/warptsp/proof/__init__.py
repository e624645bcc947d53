"""Proofs of optimality, by branch and cut."""

from __future__ import annotations

import os
import time

from warptsp._offers import on_demand

TYPE_CHECKING = False  # `prove` imports what it needs, within its time limit
if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    import warptsp._native as _native
    from warptsp.problem import Problem
    from warptsp.stop import StopToken

    from .certificate import is_proof, proven_bound, read_proof
    from .closed_instance import is_optimal
    from .evidence import Certificate
    from .proving import MAX_CITIES, Proof, ProofProgress, prove_within

__all__ = [
    "MAX_CITIES",
    "Certificate",
    "Proof",
    "ProofProgress",
    "is_optimal",
    "is_proof",
    "prove",
    "prove_within",
    "proven_bound",
    "read_proof",
]
__getattr__ = on_demand(
    __name__,
    {
        "Certificate": "warptsp.proof.evidence",
        "is_optimal": "warptsp.proof.closed_instance",
        **dict.fromkeys(("MAX_CITIES", "Proof", "ProofProgress", "prove_within"), "warptsp.proof.proving"),
        **dict.fromkeys(("is_proof", "proven_bound", "read_proof"), "warptsp.proof.certificate"),
    },
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
    from warptsp._checks import checked_count, shown
    from warptsp.claims import check_is_tour
    from warptsp.errors import InvalidOption
    from warptsp.machine import resolve_threads
    from warptsp.problem import Problem
    from warptsp.stop.callback import check_callback

    from . import proving

    check_callback(callback)
    for name, file in (("certificate", certificate), ("checkpoint", checkpoint), ("resume", resume)):
        if file is not None and not isinstance(file, (str, os.PathLike)):
            raise InvalidOption(f"{name}: {shown(file)} is not the name of a file")
    options = proving.ProofOptions(
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
        checkpoint_interval=proving.CHECKPOINT_SECONDS,
        resume=resume,
    )
    if not isinstance(problem, Problem):
        problem = Problem.from_array(problem)
    proof = proving.prove_with(options, problem, tour, began)
    check_is_tour(problem, proof.tour, proof.lower_bound, proof)
    return proof
