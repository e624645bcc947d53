"""Many problems, searched side by side."""

import os
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

import warptsp._native as _native
from warptsp._checks import check_on_interrupt, checked_number
from warptsp._words import as_called
from warptsp.bound.beside import checked_bound
from warptsp.claims import check_is_tour
from warptsp.errors import InvalidOption, WarpTSPError
from warptsp.interruption import FirstSignal, delivered
from warptsp.machine import resolve_threads
from warptsp.many.batch import BatchSearch, Plain
from warptsp.many.gpu import BatchGpu
from warptsp.many.results import ManyResults
from warptsp.many.sources import Source
from warptsp.many.table import Table
from warptsp.many.taking import Taking
from warptsp.problem import Metric, OpenPath, Problem
from warptsp.result import Result
from warptsp.run import Settings
from warptsp.solver.inputs import Instance, start_of
from warptsp.solver.options import bound_of, criterion_of, planned_steps, seed_of, steps_of
from warptsp.solver.stages import run_stages
from warptsp.stop import SearchState, StoppingCriterion, StopToken
from warptsp.stop.callback import check_callback, is_true

PATIENCE = 0.1  # seconds between two calls of the callback
LEAST = 1e-4  # seconds of a problem for which a total time leaves nothing


@dataclass(frozen=True, slots=True)
class ManyProgress:
    """How far a call of `solve_many` is.

    Attributes
    ----------
    done : int
        Problems that have a tour.
    failed : int
        Problems with which something is wrong.
    total : int or None
        All problems; None if they come from an iterator.
    elapsed : float
        Seconds since the call.
    """

    done: int
    failed: int
    total: int | None
    elapsed: float


def solve_many(
    problems: ArrayLike | Iterable[Instance] | str | os.PathLike[str],
    *,
    metric: Metric | str | None = None,
    stop: StoppingCriterion | Callable[[SearchState], bool] | None = None,
    time_limit: float | None = None,
    kicks: int | None = None,
    total_time: float | None = None,
    seed: int = 0,
    open: bool | OpenPath | None = None,
    asymmetric: bool = False,
    threads: int | None = None,
    device: str = "cpu",
    method: str = "lk",
    params: Mapping[str, Any] | object | None = None,
    bound: str | float | None = False,
    callback: Callable[[ManyProgress], object] | None = None,
    on_interrupt: str | None = None,
) -> ManyResults:
    """Find short tours of many problems, each on one thread, as many at once as there are threads.

    Up to 200 cities, plain problems, whose tours are closed and have no fixed edges, are searched by native
    code alone, several one after another, unless there is another limit than `kicks`.

    On the CPU problem i has the tour that ``solve(problems[i], seed=seed + i, threads=1, bound=bound,
    prove=False)`` finds: with a limit on kicks it depends neither on the other problems nor on the number of
    threads.

    Parameters
    ----------
    problems : array, sequence, iterator or path
        An array of shape (m, n, 2) or (m, n, 3), points of m problems, or (m, n, n), their matrices; a list
        of problems of any sizes, each in any form that `solve` takes; an iterator or generator of them, which
        is read as the search goes on and not kept; a folder, whose instance files are solved in the order of
        their names; the name of a ``.npy`` file with such an array, which need not fit into memory.
    metric : Metric or str, optional
        The metric of coordinates that have none yet, as in `solve`.
    stop : StoppingCriterion or callable, optional
        When to stop the search of each problem. Without this, `time_limit`, `kicks` and `total_time`, each
        follows `DefaultStop`.
    time_limit : float, optional
        Wall-clock seconds for each problem.
    kicks : int, optional
        Kicks for each problem, for repeatable tours.
    total_time : float, optional
        Wall-clock seconds for all problems together: each gets an equal share of what is left when it begins.
        Not for an iterator, whose length is unknown.
    seed : int
        Of problem 0; problem i has ``seed + i``.
    open : bool or OpenPath, optional
        Paths instead of closed tours, as in `solve`.
    asymmetric : bool
        Whether the distances of matrices may differ by direction.
    threads : int, optional
        How many problems are searched at once; by default as many as there are processors.
    device : {"cpu", "cuda", "cuda:N"}
        On a GPU thousands of plain problems of 13 to 1024 cities are searched at once, by other searches than
        the CPU's; the others stay on the CPU, each on a thread. Their tours do not depend on each other
        either. Only method lk, without a limit or with one on kicks.
    method : str
        A name in `warptsp.methods.METHODS`.
    params : mapping, optional
        Parameters of the method by name.
    bound : {"auto", False} or float
        Whether each search has a lower bound beside it, as `solve` takes it. Small problems then take several
        times as long, as those of many small ones without are searched together.
    callback : callable, optional
        Called with a `ManyProgress` several times a second. If it returns True, the call ends, and what has
        been found is returned with ``interrupted`` set.
    on_interrupt : {"raise", "return"}, optional
        As `solve` takes it.

    Returns
    -------
    ManyResults
        Tours and lengths as arrays, and the `Result` of each problem. Faulty problems are in its `errors`,
        and do not stop the others.

    Raises
    ------
    InvalidProblem
        If `problems` are no problems at all.
    InvalidOption
        If an option is invalid: raised before anything is computed.
    BackendUnavailable, UnsupportedProblem
        If the GPU cannot be used, or several are named.
    KeyboardInterrupt
        By Ctrl-C and other signals as `solve` raises it, with what has been found in ``result``.
    BaseException
        What the callback or an iterator of problems raised, with what has been found in ``result``.
    """
    started = time.monotonic()
    source = replace(Source.of(problems), metric=metric, open=open, asymmetric=asymmetric)
    check_callback(callback)
    check_on_interrupt(on_interrupt)
    seed = seed_of(seed)
    (step,) = steps_of(method, params, None, None, None)
    if metric is not None:
        Metric.parse(metric)
    criterion_of(stop, time_limit, kicks)  # what is wrong whatever the problems are
    if (bounded := checked_bound(bound)) == "lp":
        raise InvalidOption('bound: "lp" is for one problem: give "auto", ' + as_called("False", "none")
                            + " or a number of seconds")  # fmt: skip
    if total_time is not None:
        total_time = checked_number("total_time", total_time, minimum=0.0, what="a number of seconds")
        if source.items is None:
            raise InvalidOption(
                "total_time: nobody knows how many problems an iterator has: give a list, or time_limit for "
                "each"
            )

    def solved(problem: Problem, position: int, seconds: float | None, token: StopToken) -> Result:
        begun = time.monotonic()
        criterion = criterion_of(stop, seconds, kicks, problem)
        settings = Settings(
            problem,
            criterion,
            token,
            (seed + position) % (1 << 64),
            may_use_cpu=True,
            start=start_of(problem, None)[0],
            bound=bound_of(bound, problem, criterion, 1),
            started=begun,
        )
        return run_stages(settings, planned_steps([step], "cpu", problem, criterion))

    limited = not (stop is None and time_limit is None and total_time is None and bounded is None)
    with nullcontext() if device == "cpu" else BatchGpu.open(device) as gpu:
        batch = BatchSearch.of(step, kicks, seed, limited=limited, gpu=gpu)
        times = _Times(started, time_limit, total_time)
        work = _Work(source, solved, batch, resolve_threads(threads), times)
        with FirstSignal(lambda number: work.end()) as signals:
            work.run(callback)
    results = ManyResults(
        work.table,
        dict(sorted(work.errors.items())),
        time.monotonic() - started,
        work.ended or work.failure is not None,
        signals.caught,
        seed,
        source,
        {"threads": 1, "method": method, "params": dict(step.given)},
    )
    if work.failure is not None:
        work.failure.add_note("warptsp: what was found is in the attribute 'result' of this exception")
        work.failure.result = results  # type: ignore[attr-defined]
        raise work.failure
    return delivered(results, results.signal, on_interrupt)


class _Times(NamedTuple):
    """When the call began, and the seconds for each problem and for all; None for no limit."""

    started: float
    each: float | None
    total: float | None

    def left_for(self, problems: float) -> float | None:
        """Return the seconds of a problem, one of so many that are left to a thread."""
        if self.total is None:
            return self.each
        share = max(LEAST, (self.started + self.total - time.monotonic()) / max(1.0, problems))
        return share if self.each is None else min(share, self.each)


class _Work:
    """Threads that take one problem after another."""

    def __init__(
        self,
        source: Source,
        solved: Callable[[Problem, int, float | None, StopToken], Result],
        batch: BatchSearch | None,
        threads: int,
        times: _Times,
    ) -> None:
        self.table = Table()  # what has come of the problems
        self.errors: dict[int, WarpTSPError] = {}
        self.ended = False  # from outside
        self.failure: BaseException | None = None  # of an iterator, a callback, or this package's own
        self._source, self._solved_by, self._batch, self._times = source, solved, batch, times
        self._threads = threads if source.total is None else max(1, min(threads, source.total))
        # Whether an array of points needs no look at anything else.
        self._plain_arrays = source.metric is None and source.open is None
        self._array = None  # points that a GPU takes in blocks, without a look at each problem
        if batch is not None and batch.gpu is not None and self._plain_arrays:
            self._array = (batch, source.items) if batch.takes_array(source.items) else None
        on_gpu = None if batch is None else batch.gpu is not None
        stream = () if self._array else source.stream
        self._taking = Taking(stream, source.total, self._threads, on_gpu=on_gpu)
        self._token = StopToken()
        self._keeping = threading.Lock()
        self._solved = 0
        self.table.extend(source.total or 0)

    def end(self) -> None:
        """End the searches, and begin no more of them."""
        self.ended = True
        self._token.request()

    def run(self, callback: Callable[[ManyProgress], object] | None) -> None:
        """Search all problems."""
        threads = [threading.Thread(target=self._work, daemon=True) for _ in range(self._threads)]
        for thread in threads:
            thread.start()
        for thread in threads:
            while thread.is_alive():
                thread.join(PATIENCE)
                if callback is not None:
                    self._tell(callback)

    def _tell(self, callback: Callable[[ManyProgress], object]) -> None:
        elapsed = time.monotonic() - self._times.started
        told = ManyProgress(self._solved, len(self.errors), self._source.total, elapsed)
        try:
            if is_true(callback(told)):
                self.end()
        except BaseException as error:
            self._fail(error)

    def _fail(self, error: BaseException) -> None:
        self.failure = self.failure or error
        self._token.request()

    def _work(self) -> None:
        """Take problems as long as there are any."""
        try:
            if self._array is not None:
                self._solve_array(*self._array)
            while taken := self._taking.next(lambda: self._token.requested):
                if self._batch is None:
                    for position, given in taken:
                        self._solve(position, given)
                else:
                    self._solve_together(self._batch, taken)
                taken.clear()  # nothing that an iterator gave is kept while the next ones are read
        except BaseException as error:
            self._fail(error)

    def _solve_array(self, batch: BatchSearch, array: NDArray[Any]) -> None:
        """Keep the tours of an array of points, a block of problems after another; all of them are taken."""
        metric = Metric.EXACT_2D if array.shape[2] == 2 else Metric.EXACT_3D
        while not self._token.requested:
            first, some = self._taking.next_of_array(array)
            if not len(some):
                break
            positions = first + np.arange(len(some))
            for position in self._search(batch, metric, positions, some, np.zeros(len(some), dtype=np.bool_)):
                if not self._token.requested:
                    self._solve(position, array[position])

    def _solve_together(self, batch: BatchSearch, taken: list[tuple[int, Any]]) -> None:
        """Keep the tours of problems: of plain ones, as many of one size at once as there are."""
        groups: dict[Any, list[tuple[int, Plain]]] = {}
        others: list[int] = []
        given_at = dict(taken)
        for position, given in taken:
            plain = batch.points_in(given) if self._plain_arrays else None
            if plain is None:
                try:
                    given = given_at[position] = self._read(position, given)
                except WarpTSPError as error:
                    self._put_error(position, error)
                    continue
                plain = batch.plain(given)
            if plain is None:
                others.append(position)
            else:
                key = (plain.metric, plain.rows.shape, plain.rows.dtype)
                groups.setdefault(key, []).append((position, plain))
        for (metric, *_), group in groups.items():
            positions, problems = zip(*group, strict=True)
            rows = np.stack([problem.rows for problem in problems])
            checked = np.array([problem.checked for problem in problems])
            others += self._search(batch, metric, np.array(positions), rows, checked)
        for position in others:
            if self._token.requested:
                break
            self._solve(position, given_at[position])

    def _search(
        self,
        batch: BatchSearch,
        metric: Metric,
        positions: NDArray[np.int64],
        rows: NDArray[Any],
        checked: NDArray[np.bool_],
    ) -> list[int]:
        """Keep the tours of problems of one metric and shape; return the positions of those for `solve`."""
        token = _native.StopToken()
        with self._token.watched_by(token):
            found, others = batch.search(metric, positions, rows, checked, token)
        with self._keeping:
            for kept in found:
                self.table.put_rows(kept)
                self._solved += len(kept.lengths)
        return others

    def _solve(self, position: int, given: Any) -> None:
        """Keep the tour of a problem, or what is wrong with it."""
        try:
            problem = given if isinstance(given, Problem) and self._batch else self._read(position, given)
            seconds = self._times.left_for(((self._source.total or 0) - position) / self._threads)
            result = self._solved_by(problem, position, seconds, self._token)
            check_is_tour(result.problem, result)
        except WarpTSPError as error:
            self._put_error(position, error)
            return
        with self._keeping:
            self.table.put(position, result)
            self._solved += 1

    def _read(self, position: int, given: Any) -> Problem:
        problem = self._source.read(given)
        if problem.unit:
            self.table.units[position] = problem.unit
        return problem

    def _put_error(self, position: int, error: WarpTSPError) -> None:
        with self._keeping:
            self.errors[position] = error
            self.table.extend(position + 1)
