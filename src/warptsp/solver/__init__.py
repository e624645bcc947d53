"""The one function that most people need.

`inputs` takes an instance and a start tour in any of their forms, `options` checks all other arguments,
`merging` joins several start tours, `stages` runs one method or two and makes the result, with a proof as
`proof` plans it. `proving` is `warptsp.prove`.
"""

from __future__ import annotations

import logging
import time

TYPE_CHECKING = False  # `solve` imports what it needs, within its time limit
if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any

    from numpy.typing import ArrayLike

    from warptsp.problem import Metric, OpenPath
    from warptsp.progress import Progress
    from warptsp.result import Result
    from warptsp.solver.inputs import Instance
    from warptsp.stop import SearchState, StoppingCriterion

__all__ = ["solve"]

logger = logging.getLogger(__name__)


def solve(
    problem: Instance,
    *,
    metric: Metric | str | Callable[..., float] | None = None,
    asymmetric: bool = False,
    open: bool | OpenPath | None = None,
    start_city: int | str | None = None,
    end_city: int | str | None = None,
    stop: StoppingCriterion | Callable[[SearchState], bool] | None = None,
    time_limit: float | None = None,
    kicks: int | None = None,
    method: str | None = None,
    document: str | None = None,
    params: Mapping[str, Any] | object | None = None,
    then: str | None = None,
    then_params: Mapping[str, Any] | object | None = None,
    start: str | os.PathLike[str] | ArrayLike | None = None,
    merge: Iterable[str | os.PathLike[str] | ArrayLike | Result] | None = None,
    seed: int = 0,
    threads: int | None = None,
    device: str = "auto",
    cluster: Any = None,
    cluster_params: Mapping[str, Any] | object | None = None,
    bound: str | float | None = "auto",
    prove: bool | str = "auto",
    callback: Callable[[Progress], object] | None = None,
    progress: bool = False,
    checkpoint: str | os.PathLike[str] | None = None,
    checkpoint_interval: float | None = None,
    snapshots: int = 0,
    on_interrupt: str | None = None,
) -> Result:
    """Find a short tour through all cities.

    The parameters are, in this order: the instance, limits, the search, where it runs, what it should prove,
    and what it reports and keeps.

    Parameters
    ----------
    problem : Problem, array, path or object of another package
        The instance: a `Problem`; coordinates of shape (n, 2) or (n, 3), whose Euclidean distances are not
        rounded; a matrix of distances of shape (n, n), also sparse or condensed; a data frame
        (`Problem.from_frame`); the name of a file that `warptsp.load` reads; a dict of places or of
        distances by name; the answer of a routing service (`Problem.from_osrm`) or a GeoJSON object of
        points; points of shapely; a complete graph of NetworkX.
    metric : Metric, str or callable, optional
        The metric of coordinates that have none yet: a name of TSPLIB's, or
        ``"euclidean"``, ``"manhattan"``, ``"chebyshev"`` or ``"haversine"`` (latitude before longitude, in
        degrees; lengths in metres). A function is called for each pair of an array of up to 1000 points.
    asymmetric : bool
        Whether the distances of a matrix may differ by direction, as in `Problem.from_matrix`; a square
        array is a matrix then. A `Problem` records this itself.
    open : bool or OpenPath, optional
        True for a path instead of a closed tour, with free ends unless the problem is a path that has its
        own; ``OpenPath(start, end)`` for one between given cities (None leaves an end free). By default as
        the problem says.
    start_city, end_city : int or str, optional
        The city at which the tour or path starts, and the one at which a path ends: its name, or its number
        counted from 0. `end_city` makes it a path; an end that is not given stays as the problem has it.
    stop : StoppingCriterion or callable, optional
        When to stop: objects of `warptsp.stop`, joined with ``|`` and ``&``, or a function that takes a
        `SearchState` and returns True to stop. `time_limit` and `kicks` are added to it with ``|``. Without
        any of the three the search ends when further improvement is unlikely: `DefaultStop`.
    time_limit : float, optional
        Wall-clock seconds from this call to its return.
    kicks : int, optional
        Number of kicks, for repeatable runs: the same seed and number of threads then give the same tour.
    method : str, optional
        A name in `warptsp.methods.METHODS`; by default ``"lk"``, or that of `document`.
    document : {"000", "001", "002", "003", "004"}, optional
        Run the system of a published paper or thesis as it defines it: its method (`method` may name another
        one of its own), start tour and parameters, unless `start` and `params` say otherwise. `warptsp
        methods` lists them.
    params : mapping, optional
        Parameters of the method by name.
    then : str, optional
        A second method, such as ``"two-opt"``, that starts from the first one's tour. A time limit covers
        both, and the first gets at most nine tenths of it; a number of kicks applies to each. A signal, a
        callback or a token that ends the first method ends the run, and so does a target that it reaches.
    then_params : mapping, optional
        Parameters of the second method.
    start : str, path or array, optional
        A construction (``"greedy"``, the default, ``"space-filling"``, ``"nearest-neighbor"``, ``"random"``,
        ``"given"``, and of matrices ``"patching"``, the default for asymmetric ones), or a tour to start
        from: a tour file, such as a checkpoint, or the cities numbered from
        0 in visiting order. The result is never longer than a given tour.
    merge : iterable of path, array or Result, optional
        Tours to begin with, such as those of earlier runs or their checkpoints: they are joined as by
        `warptsp.merge`, with `start` if that is a tour. The method ``lk`` on a CPU also recombines them,
        if they have at most 10**8 cities in all.
    seed : int
        Seed of the random numbers, 0 to 2**64 - 1.
    threads : int, optional
        Number of threads; by default all that are available.
    device : {"auto", "cpu", "cuda", "cuda:N", "cuda:N,M,..."}
        Where to search: "cpu"; "cuda", the first GPU or all GPUs, whichever is faster; GPUs by number;
        "auto", the CPU or "cuda" depending on the instance's size (`warptsp.devices.choose`). The result says
        which it was.
    cluster : str, distributed.Client or Executor, optional
        Who does the search, for the method ``lk``: the address of a Dask scheduler, or a client of one;
        ``"local"`` or ``"local:N"`` for Dask with N workers on this machine; ``"threads"`` or ``"devices"``
        for threads or GPUs of this process, each with its own part of the tour.
    cluster_params : mapping, optional
        Fields of `warptsp.cluster.connect.ClusterParams` by name.
    bound : {"auto", "lp", False} or float
        The result's `lower_bound`, computed during the search in its own thread, within the time limit.
        "auto" takes at most a tenth of the time of all threads, and there is no bound where that is too
        little; a number gives it so many seconds. "lp" is followed by the bound of linear programmes, usually
        0.01 to 0.13 % below the optimum: `warptsp.prove` without branches, with the same share of the limits
        as `prove` and the same conditions. The search ends when the bound proves its tour optimal,
        unless it is repeatable: limited in kicks, or by a method that ends by itself. Asymmetric instances
        have the bound of the search itself, whatever is given here.
    prove : bool or "auto"
        Whether branch and cut shall prove the tour optimal, or find one that is, as `warptsp.prove` does. The
        search gets three tenths of a time limit; without any limit it is short, and the proof takes as long
        as it takes. "auto" tries it after a search by ``lk`` of up to 200 cities, if HiGHS is installed: for
        a tenth of a time limit and half a second at most; not with other limits. A loop of small problems is
        several times as fast without: False, or `solve_many`.
    callback : callable, optional
        Called with a `Progress` several times a second. If it returns True, the search ends; if it returns a
        string, the search ends and the string becomes the result's `stop_reason`; if it raises, the search
        ends and this call raises the exception, with the result in its attribute ``result``.
    progress : bool
        Whether progress is shown: on a terminal or in a notebook as a bar, elsewhere as lines on stderr.
    checkpoint : path, optional
        File to which the best tour is written at intervals, atomically, and at the end. ``start=`` reads it.
        A proof that was asked for is kept in a file of this name plus ``.proof``, and continues from there
        when ``start=`` names the tour.
    checkpoint_interval : float, optional
        Minimum number of seconds between two writes; by default 5.
    snapshots : int
        How many tours of the run the result keeps, including the first and the best; fewer if the tour
        was not improved as often. Each costs 4 bytes per city, and together up to a twentieth of the time.
    on_interrupt : {"raise", "return"}, optional
        What follows when Ctrl-C, SIGTERM or SIGHUP has ended the search, in a call from the main thread:
        `KeyboardInterrupt`, with the result in its attribute ``result``, or the result, whose attributes
        ``interrupted`` and ``signal`` tell. By default "return" in a notebook and "raise" elsewhere, where
        one Ctrl-C shall end a loop of calls, too.

    Returns
    -------
    Result
        The best tour found and how it came about.

    Raises
    ------
    InvalidProblem, InvalidTour, InvalidOption
        If an argument is invalid: raised before anything is computed.
    UnsupportedProblem
        If the method, or the search on GPUs, does not support this kind of instance.
    NoTourFound
        If every tour that was found has an arc that is missing from the matrix.
    BackendUnavailable
        If a device or a cluster is missing, or lacks something.
    DeviceOutOfMemory, DeviceFailure
        If a GPU that was asked for has too little memory, or fails. With "auto" the CPU takes over.
    OutputError
        If the checkpoint cannot be written.
    KeyboardInterrupt
        By a signal, with the result, as `on_interrupt` says; by a second one at once, without. Of SIGTERM and
        SIGHUP it is ``warptsp.interruption.Terminated``, a subclass.
    """
    started = time.monotonic()
    from warptsp._checks import check_on_interrupt
    from warptsp.claims import delivered_tour
    from warptsp.machine import resolve_threads
    from warptsp.methods import MAIN
    from warptsp.run import Settings
    from warptsp.solver import options
    from warptsp.solver.inputs import instance_of
    from warptsp.solver.merging import start_and_merged
    from warptsp.solver.stages import run_stages
    from warptsp.stop.callback import check_callback

    check_on_interrupt(on_interrupt)
    options.check_checkpoint(checkpoint, problem)
    instance, first = instance_of(
        problem,
        metric=metric,
        asymmetric=asymmetric,
        open=open,
        start_city=start_city,
        end_city=end_city,
    )
    if document is None:
        method = MAIN if method is None else method
    else:
        from warptsp.papers import system_of

        method, params, its_start, device = system_of(
            document, instance, method, params, start, device, time_limit
        )
        if merge is None:  # merged tours are a start, too, and the caller's goes before the document's
            start = its_start
    workers = options.cluster_of(cluster, cluster_params, device)
    steps = options.steps_of(method, params, then, then_params, workers)
    criterion = options.criterion_of(stop, time_limit, kicks, instance)
    threads = resolve_threads(threads)
    proof = None
    if prove is not False or (isinstance(bound, str) and bound == "lp"):
        from warptsp.solver.proof import proof_of

        proof = proof_of(prove, bound, instance, criterion, steps, started, threads, start, checkpoint)
        criterion = criterion if proof is None else proof.criterion
    seed = options.seed_of(seed)
    recorder = options.recorder_of(instance, snapshots)
    check_callback(callback)
    planned = options.planned_steps(steps, device, instance, criterion)
    beside = options.bound_of(bound, instance, criterion, threads)
    start_name, start_tour, given = start_and_merged(instance, start, merge)
    kept = options.checkpoint_of(instance, checkpoint, checkpoint_interval, start_name)
    with options.displayed(progress, callback) as told:
        result = run_stages(
            Settings(
                instance,
                criterion,
                seed=seed,
                threads=threads,
                may_use_cpu=device == "auto",
                start=start_name,
                start_tour=start_tour,
                merge=given,
                first=first,
                callback=told,
                checkpoint=kept,
                recorder=recorder,
                bound=beside,
                started=started,
            ),
            planned,
            proof,
        )
    logger.info(
        "%s%d cities: length %.12g, %s, after %.3f s on %s",
        f"{instance.name}, " if instance.name else "",
        instance.n,
        result.length,
        result.stop_reason,
        result.seconds,
        result.device,
    )
    return delivered_tour(result.problem, result, on_interrupt)
