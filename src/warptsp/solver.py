"""The one function that most people need."""

from __future__ import annotations

import logging
import os
import signal
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from warptsp._checks import checked_count, shown
from warptsp._words import as_called, counted
from warptsp.checkpoint import Checkpoint
from warptsp.devices import resolve_device
from warptsp.errors import (
    InvalidOption,
    InvalidTour,
    OutputError,
    UnsupportedProblem,
    WarpTSPError,
)
from warptsp.interruption import FirstSignal
from warptsp.machine import Devices, resolve_threads
from warptsp.methods import METHODS, Method, get_method
from warptsp.methods.launch import asked_of_launches, refuse_on_cpu
from warptsp.methods.magnitude import Frame
from warptsp.methods.parameters import given_params, parse_params
from warptsp.problem import KnownLength, OpenPath, Problem
from warptsp.problem.values import plain_array
from warptsp.result import HistoryPoint, Result, Snapshot, Stage
from warptsp.run import Run
from warptsp.snapshots import Recorder, turned_to_first
from warptsp.stop import DefaultStop, MaxKicks, MaxRuntime, SearchState, StoppingCriterion, as_criterion
from warptsp.stop.completion import Completion

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from warptsp.cluster.outer import Outer
    from warptsp.progress import Progress

logger = logging.getLogger(__name__)

FIRST_SHARE = 0.9  # of a time limit that the first of two methods may use
TRIVIAL = 3  # cities up to which every closed tour is the same, read in one direction or the other


def solve(
    problem: Problem | ArrayLike | str | os.PathLike[str],
    *,
    stop: StoppingCriterion | Callable[[SearchState], bool] | None = None,
    time_limit: float | None = None,
    kicks: int | None = None,
    seed: int = 0,
    start: str | os.PathLike[str] | ArrayLike | None = None,
    open: bool | OpenPath | None = None,
    asymmetric: bool = False,
    device: str = "auto",
    threads: int | None = None,
    method: str = "lk",
    params: Mapping[str, Any] | object | None = None,
    then: str | None = None,
    then_params: Mapping[str, Any] | object | None = None,
    callback: Callable[[Progress], object] | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    checkpoint_interval: float = 5.0,
    snapshots: int = 0,
    cluster: Any = None,
    cluster_params: Mapping[str, Any] | object | None = None,
) -> Result:
    """Find a short tour through all cities.

    Parameters
    ----------
    problem : Problem, array or path
        The instance: a `Problem`; coordinates of shape (n, 2) or (n, 3), whose Euclidean distances are not
        rounded; a matrix of distances of shape (n, n), also sparse or condensed; a data frame
        (`Problem.from_frame`); or the name of a file that `warptsp.load` reads.
    stop : StoppingCriterion or callable, optional
        When to stop: objects of `warptsp.stop`, joined with ``|`` and ``&``, or a function that takes a
        `SearchState` and returns True to stop. `time_limit` and `kicks` are added to it with ``|``. Without
        any of the three the search continues until the tour has not improved for a while: `DefaultStop`.
    time_limit : float, optional
        Wall-clock seconds from this call to its return.
    kicks : int, optional
        Number of kicks, for repeatable runs: the same seed and number of threads then give the same tour.
    seed : int
        Seed of the random numbers, 0 to 2**64 - 1.
    start : str, path or array, optional
        A construction (``"greedy"``, the default, ``"space-filling"``, ``"nearest-neighbor"``, ``"random"``,
        ``"given"``), or a tour to start from: a tour file, such as a checkpoint, or the cities numbered from
        0 in visiting order. The result is never longer than a given tour.
    open : bool or OpenPath, optional
        True for a path with free ends instead of a closed tour, ``OpenPath(start, end)`` for one between
        given cities (None leaves an end free). By default as the problem says.
    asymmetric : bool
        Whether the distances of a matrix may differ by direction, as in `Problem.from_matrix`; a `Problem`
        records this itself.
    device : {"auto", "cpu", "cuda", "cuda:N", "cuda:N,M,..."}
        Where to search: "cpu"; "cuda", the first GPU or all GPUs, whichever is faster; GPUs by number;
        "auto", the CPU or "cuda" depending on the instance's size (`warptsp.devices.choose`). The result says
        which it was.
    threads : int, optional
        Number of threads; by default all that are available.
    method : str
        A name in `warptsp.methods.METHODS`.
    params : mapping, optional
        Parameters of the method by name.
    then : str, optional
        A second method, such as ``"two-opt"``, that starts from the first one's tour. A time limit covers
        both, and the first gets at most nine tenths of it; a number of kicks applies to each. A signal, a
        callback or a token that ends the first method ends the run, and so does a target that it reaches.
    then_params : mapping, optional
        Parameters of the second method.
    callback : callable, optional
        Called with a `Progress` several times a second. If it returns True, the search ends; if it returns a
        string, the search ends and the string becomes the result's `stop_reason`; if it raises, the search
        ends and this call raises the exception, with the result in its attribute ``result``.
    checkpoint : path, optional
        File to which the best tour is written at intervals, atomically, and at the end. ``start=`` reads it.
    checkpoint_interval : float
        Minimum number of seconds between two writes.
    snapshots : int
        How many tours of the run the result keeps, including the first and the best; fewer if the tour
        was not improved as often. Each costs 4 bytes per city, and together up to a twentieth of the time.
    cluster : str, distributed.Client or Executor, optional
        Who does the search, for the method ``lk``: the address of a Dask scheduler, or a client of one;
        ``"local"`` or ``"local:N"`` for Dask with N workers on this machine; ``"threads"`` or ``"devices"``
        for threads or GPUs of this process, each with its own part of the tour.
    cluster_params : mapping, optional
        Fields of `warptsp.cluster.connect.ClusterParams` by name.

    Returns
    -------
    Result
        The best tour found and how it came about. During the call, if it is made in the main thread, Ctrl-C,
        SIGTERM and SIGHUP end the search, and the best tour so far is returned with ``interrupted`` set. A
        second Ctrl-C is a `KeyboardInterrupt`, at once.

    Raises
    ------
    InvalidProblem, InvalidTour, InvalidOption
        If an argument is invalid: raised before anything is computed.
    UnsupportedProblem
        If the method, or the search on GPUs, does not support this kind of instance.
    BackendUnavailable
        If a device or a cluster is missing, or lacks something.
    DeviceOutOfMemory, DeviceFailure
        If a GPU that was asked for has too little memory, or fails. With "auto" the CPU takes over.
    OutputError
        If the checkpoint cannot be written.
    """
    started = time.monotonic()
    instance = as_problem(problem, asymmetric=asymmetric)
    if open is not None:
        instance = with_open(instance, open)
    known = instance.known_length
    steps = [_Step.of(method, params, _outer(cluster, cluster_params, device))]
    if then is not None:
        steps.append(_Step.of(then, then_params))
    elif then_params:
        raise InvalidOption(
            f"{as_called('then_params', '--then-param')}: there is no second method; name it with "
            f"{as_called('then', '--then')}"
        )
    limits = _limits(instance, known, stop, time_limit, kicks)
    what = "a whole number from 0 to 2**64 - 1"
    seed = checked_count("seed", seed, minimum=0, what=what, maximum=(1 << 64) - 1)
    snapshots = checked_count("snapshots", snapshots, minimum=0, what="a number of tours, 0 or more")
    recorder = Recorder(instance, snapshots) if snapshots else None
    if callback is not None and not callable(callback):
        raise InvalidOption(f"callback: {shown(callback)} is not callable")
    seconds = None if limits is None else limits.horizon().seconds
    frame = Frame.of(instance)
    planned = [step.planned(device, frame.problem, seconds) for step in steps]
    for step in steps if device == "cpu" else ():
        refuse_on_cpu(step.params)
    used_threads = resolve_threads(threads)
    start_name, start_tour = _start(instance, start)
    saver = None
    if checkpoint is not None:
        if not isinstance(checkpoint, (str, os.PathLike)):
            raise InvalidOption(f"checkpoint: {shown(checkpoint)} is not the name of a file")
        saver = Checkpoint(checkpoint, instance, checkpoint_interval)
        name = os.fspath(checkpoint)
        if os.path.isfile(name) and start_name != name:
            logger.warning(
                "the checkpoint %s already exists and will be replaced; start continues from it", name
            )

    runs: list[Run] = []
    stages: list[Stage] = []
    failure: BaseException | None = None

    def interrupt(number: int) -> None:
        if runs:
            runs[-1].interrupt(_signal_name(number))

    with FirstSignal(interrupt) as signals:
        for step, step_device in planned:
            begun = time.monotonic() - started if runs else 0.0
            if limits is None:
                criterion = _own_rule(instance, known, step, begun)
            else:
                criterion = limits if step is planned[-1][0] else _leaving_time(limits)
            if runs:
                start_tour = runs[-1].best
            run = Run(
                instance,
                stop=criterion,
                known=known,
                seed=seed,
                threads=used_threads,
                device=Devices.parse(step_device),
                may_use_cpu=device == "auto",
                start=start_name if start_tour is None else start_tour,
                callback=callback,
                checkpoint=saver,
                recorder=recorder,
                started=started,
                start_length=runs[0].start_length if runs else None,
            )
            runs.append(run)
            if signals.caught is not None:  # it came while there was no run
                interrupt(signals.caught)
            try:
                if start_tour is not None:
                    run.offer(start_tour)
                step.run(frame, run)
                if instance.n <= TRIVIAL and instance.open is None and not instance.asymmetric:
                    run.report_optimal()
            except BaseException as error:
                failure = error
            finally:
                run.close()
            failure = run.failure or failure
            if failure is not None and run.best is None:
                raise failure
            tour, length = _best_tour(run, step.method)
            stages.append(_stage(step, run, begun, failure))
            if run.proved_optimal:
                known = KnownLength(instance.name, instance.n, instance.metric, length, proven=True)
                break
            if failure is not None or run.interrupted or _are_met(limits, run, known):
                break
        if saver is not None:
            try:
                saver.write(tour, length)
            except OutputError as error:
                failure = failure or error
        history = _joined_history(runs)
        best = Snapshot(history[-1].seconds, length, tour)
        result = Result(
            tour=tour,
            length=length,
            problem=instance,
            known=known,
            history=history,
            counters=_summed_counters(stages),
            seconds=run.elapsed(),
            proved_optimal=runs[-1].proved_optimal,
            stop_reason=stages[-1].stop_reason if failure is run.failure else type(failure).__name__,
            interrupted=signals.caught is not None or failure is not None,
            signal=signals.caught,
            seed=seed,
            threads=used_threads,
            method=stages[0].method,
            device=stages[0].device,
            start=start_name,
            params=stages[0].params,
            then=then,
            stages=tuple(stages),
            snapshots=() if recorder is None else recorder.finish(best),
        )
    if failure is not None:
        failure.add_note("warptsp: the best tour so far is in the attribute 'result' of this exception")
        failure.result = result  # type: ignore[attr-defined]
        raise failure
    return result


def as_problem(problem: Problem | ArrayLike | str | os.PathLike[str], *, asymmetric: bool = False) -> Problem:
    """Return the problem that `solve` was given in any of its forms.

    An array of shape (2, 2) or (3, 3) is taken as a matrix of distances if it is symmetric with a zero
    diagonal, and as coordinates if not; `Problem.from_points` and `Problem.from_matrix` leave no doubt.

    Raises
    ------
    InvalidProblem
        If it is none of them.
    """
    if isinstance(problem, Problem):
        return problem
    if isinstance(problem, (str, os.PathLike)):
        from warptsp.io import load

        return load(problem, asymmetric=asymmetric)
    if hasattr(problem, "tocoo"):
        return Problem.from_matrix(problem, asymmetric=asymmetric)
    if isinstance(problem, Mapping):
        return Problem.from_osrm(problem)
    if hasattr(problem, "columns") or hasattr(problem, "geom_type"):
        return Problem.from_frame(problem, asymmetric=asymmetric)
    return Problem.from_array(problem, asymmetric=asymmetric)


def with_open(problem: Problem, open: bool | OpenPath) -> Problem:
    """Return the problem as a closed tour (False), a path with free ends (True) or with the ends of `open`.

    Raises
    ------
    InvalidOption
        If `open` is something else.
    """
    if isinstance(open, OpenPath):
        return replace(problem, open=open)
    if isinstance(open, (bool, np.bool_)):
        return replace(problem, open=OpenPath() if open else None)
    raise InvalidOption(f"open: {shown(open)} is neither True, False nor an OpenPath(start, end)")


@dataclass(frozen=True, slots=True)
class _Step:
    """A method, and its parameters, checked."""

    method: Method[Any]
    params: Any  # of type `method.params`
    given: dict[str, Any]  # those of them that were given
    outer: Outer | None = None

    @classmethod
    def of(cls, name: str, params: Mapping[str, Any] | object | None, outer: Outer | None = None) -> _Step:
        method = get_method(name)
        if outer is not None and name != "lk":
            raise InvalidOption(
                f"method {shown(name)} and cluster: the workers of a cluster search by method lk"
            )
        parsed = parse_params(method.params, f"method {name}", params)
        return cls(method, parsed, given_params(parsed, params), outer)

    def planned(self, device: str, problem: Problem, seconds: float | None) -> tuple[_Step, str]:
        """Return what is run for so many cities, and the device of this process that it uses."""
        if problem.asymmetric and not self.method.asymmetric:
            able = ", ".join(method.name for method in METHODS.values() if method.asymmetric)
            raise UnsupportedProblem(
                f"method {self.method.name} needs symmetric distances; asymmetric ones are searched by {able}"
            )
        if self.outer is not None:
            self.outer.check(problem)
            used = "cpu"
        else:
            used = resolve_device(device, problem, self.method, seconds)
        if problem.n < self.method.min_cities:
            return replace(self, method=get_method("exact"), outer=None), "cpu"
        self.method.check(problem, on_gpu=used != "cpu")
        return self, used if problem.n > TRIVIAL else "cpu"

    def run(self, frame: Frame, run: Run) -> None:
        """Do the work."""
        search = self.method.run if self.outer is None else self.outer.run
        frame.search(search, self.method.lengths, run, self.params)

    @property
    def ends(self) -> bool:
        """Whether it comes to an end by itself."""
        method = self.method
        if self.outer is not None and self.outer.params.rounds is not None:
            return True
        return method.ends or any(getattr(self.params, name) is not None for name in method.ends_with)


def _outer(cluster: Any, params: Mapping[str, Any] | object | None, device: str) -> Outer | None:
    """Return the outer level of the search, None without a cluster."""
    if cluster is None:
        if params:
            raise InvalidOption(
                f"{as_called('cluster_params', '--cluster-param')}: there is no cluster; name it with "
                f"{as_called('cluster', '--cluster')}"
            )
        return None
    from warptsp.cluster.connect import ClusterParams
    from warptsp.cluster.outer import Outer

    return Outer(cluster, device, parse_params(ClusterParams, "cluster", params))


def _limits(
    problem: Problem,
    known: KnownLength | None,
    stop: StoppingCriterion | Callable[[SearchState], bool] | None,
    time_limit: float | None,
    kicks: int | None,
) -> StoppingCriterion | None:
    """Return the criterion that was asked for, None if there is none."""
    given = [] if stop is None else [as_criterion(stop)]
    if time_limit is not None:
        given.append(MaxRuntime(time_limit))
    if kicks is not None:
        given.append(MaxKicks(kicks))
    if not given:
        return None
    criterion = given[0]
    for other in given[1:]:
        criterion = criterion | other
    criterion.check(problem, known)
    return criterion


def _own_rule(problem: Problem, known: KnownLength | None, step: _Step, begun: float) -> StoppingCriterion:
    """Return the criterion of a method for which none was given, and which begins at this time."""
    optimum = known.length if known is not None and known.proven else None
    return Completion(optimum) if step.ends else DefaultStop(problem.n, optimum, begun)


def _leaving_time(limits: StoppingCriterion) -> StoppingCriterion:
    """Return the limits of a first method, which leaves some time to the second."""
    seconds = limits.limit().seconds
    return limits if seconds is None else limits | MaxRuntime(FIRST_SHARE * seconds)


def _are_met(limits: StoppingCriterion | None, run: Run, known: KnownLength | None) -> bool:
    """Whether a second method has nothing left to do: the time is up, a target reached, a stop requested."""
    if limits is None or run.best_length is None:
        return False
    # A number of kicks, and of seconds without improvement, begins anew.
    now = run.elapsed()
    return limits(SearchState(now, run.best_length, -1, now, -1, None if known is None else known.length))


def _stage(step: _Step, run: Run, begun: float, failure: BaseException | None) -> Stage:
    assert run.best_length is not None
    reason = run.reason() if failure is run.failure else type(failure).__name__
    counters = {"kicks": 0, **run.counters}
    device = str(run.device)
    params = _effective(step, device)
    return Stage(step.method.name, device, run.elapsed() - begun, run.best_length, reason, counters, params)


def _effective(step: _Step, device: str) -> dict[str, Any]:
    """Return the parameters that have had an effect on this device."""
    unused = asked_of_launches(step.params) if device == "cpu" else []
    if unused:
        logger.warning("the CPU did the search, where %s had no effect", " and ".join(unused))
    return {name: value for name, value in step.given.items() if name not in unused}


def _joined_history(runs: list[Run]) -> list[HistoryPoint]:
    history: list[HistoryPoint] = []
    for run in runs:
        # A run begins with the tour that the one before ended with.
        history += [point for point in run.history if not history or point.length < history[-1].length]
    return history


def _summed_counters(stages: list[Stage]) -> dict[str, int | float]:
    counters: dict[str, int | float] = {}
    for stage in stages:
        for name, value in stage.counters.items():
            counters[name] = counters.get(name, 0) + value
    return counters


def _start(
    problem: Problem, start: str | os.PathLike[str] | ArrayLike | None
) -> tuple[str, NDArray[np.int32] | None]:
    """Return the start's name for the record, and the tour if it is one."""
    from warptsp.construct import CONSTRUCTIONS

    if start is None:
        # Measured at 1500 and 4000 cities: from 0.1 % longer to 21 % shorter than from a greedy tour.
        return "nearest-neighbor" if problem.asymmetric else "greedy", None
    if isinstance(start, str) and start in CONSTRUCTIONS:
        return start, None
    if isinstance(start, (str, os.PathLike)):
        from warptsp.io import read_tour

        if isinstance(start, str) and not os.path.exists(start):
            names = ", ".join(CONSTRUCTIONS)
            raise InvalidOption(f"start: {shown(start)} is neither a construction ({names}) nor a file")
        return os.fspath(start), checked_start(problem, read_tour(start, problem), os.fspath(start))
    tour = start.tour if isinstance(start, Result) else start
    return "tour", checked_start(problem, tour, "start tour")


def checked_start(problem: Problem, tour: ArrayLike, name: str) -> NDArray[np.int32]:
    """Return a start tour as an int32 array, turned so that it fits the ends of an open path.

    Raises
    ------
    InvalidTour
        If it is not a tour of this problem: other cities, a fixed edge missing, other ends.
    """
    array = plain_array(tour, f"{name}: the cities", InvalidTour)
    if array.ndim == 1 and len(array) != problem.n:
        called = f" {problem.name}" if problem.name else ""
        raise InvalidTour(
            f"{name}: {counted(len(array))}, and the instance{called} has {problem.n}; "
            "it belongs to another instance, or is not complete"
        )
    if problem.open is not None and array.ndim == 1:
        array = _turned(problem, array)
    try:
        problem.check_tour(array)
    except InvalidTour as error:
        raise InvalidTour(f"{name}: {error}") from error
    return np.ascontiguousarray(array, dtype=np.int32)


def _turned(problem: Problem, path: NDArray[Any]) -> NDArray[Any]:
    """Return a path in the direction that the problem's ends ask for, if that helps."""
    if problem.open is None or len(path) == 0:
        return path
    start, end = problem.open.start, problem.open.end
    if problem.asymmetric or (start in (None, path[0]) and end in (None, path[-1])):
        return path
    return path[::-1]


def _signal_name(number: int) -> str:
    return "Ctrl-C" if number == signal.SIGINT else signal.Signals(number).name


def _best_tour(run: Run, method: Method[Any]) -> tuple[NDArray[np.int32], int | float]:
    """Return the best tour of a run, from its proper first city, and its length."""
    problem = run.problem
    if run.best is None:
        run.offer(_first_aid(run))
    tour, length = run.best, run.best_length
    if tour is None or length is None:
        raise WarpTSPError(f"method {method.name} gave no tour, which is a bug; please report it")
    tour = turned_to_first(problem, tour)
    tour.flags.writeable = False
    return tour, length


def _first_aid(run: Run) -> NDArray[np.int32]:
    """Return a tour for a search that was stopped before it had its first one."""
    from warptsp import _native
    from warptsp.construct import construct

    logger.warning("stopped during the set-up, before the first tour: the result is a plain construction")
    start = "space-filling" if run.problem.metric.has_coordinates else "given"
    tour = construct(run.problem, start, seed=run.seed, threads=run.threads, token=_native.StopToken())
    return np.arange(run.problem.n, dtype=np.int32) if tour is None else tour
