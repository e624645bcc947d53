"""One run of a method: options, reports, best tour. Long: who writes a method reads all about it here."""

import logging
import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

import warptsp._native as _native
from warptsp._words import counted
from warptsp.errors import InvalidTour, WarpTSPError
from warptsp.machine import CPU, Devices
from warptsp.outputs import Pace
from warptsp.problem import KnownLength
from warptsp.problem.values import EXACT_INTEGERS
from warptsp.progress import WorkerProgress
from warptsp.run.checkpoint import Checkpoint
from warptsp.run.course import Course
from warptsp.run.reserve import Reserve
from warptsp.run.settings import Settings
from warptsp.stop import Limit, SearchState, StoppingCriterion
from warptsp.stop.callback import is_true

logger = logging.getLogger(__package__)
phases = logging.getLogger(f"{__package__}.phases")

REPEAT = 0.25  # seconds between two events while nothing changes
SET_UP = ("set-up", "compiling", "start tour")  # phases that end with the start tour
FIRST_DESCENT = ("local search", "descent", "long edges")  # those that then end with a local optimum
# Those too early for a lower bound, which good tours make better.
TOO_EARLY = (*SET_UP, "tight groups", "local search", "long edges")
DRIFT = 1e-6  # of the longest distance: of shorter lengths a running sum may have lost half the digits
COMPLETE = "the search is complete"
PROVED = "proved optimal"


class Run:
    """What a method gets beside the problem, and what it reports to.

    A method reads the options below, polls `token` in everything that takes more than some milliseconds
    (native code does so by itself), calls `update` with its start tour and then at least every 100 ms, and
    `offer` with the start tour and with its best tour when it ends.
    """

    def __init__(
        self,
        settings: Settings,
        criterion: StoppingCriterion,
        *,
        device: Devices = CPU,
        start: NDArray[np.int32] | None = None,
        known: KnownLength | None = None,
        start_length: int | float | None = None,
        ends_by_itself: bool = False,
        given: Sequence[NDArray[np.int32]] = (),
    ) -> None:
        self.settings, self.criterion = settings, criterion  # of the call, and of this run
        self.problem, self.seed, self.threads = settings.problem, settings.seed, settings.threads
        self.may_use_cpu = settings.may_use_cpu
        self.device = device  # the CPU, a GPU, or several if the method uses them; what the result will say
        # The name of a construction (see `warptsp.construct`), or a tour to begin with.
        self.start: str | NDArray[np.int32] = settings.start if start is None else start
        self.given = given  # tours that `start` was merged of, for methods that recombine tours
        # Requested by signals and other threads; its deadline is the time limit, less the time that the final
        # check of the tour takes.
        self.token = _native.StopToken()
        planned = criterion.planned_limit()
        self.time_limit = planned.seconds  # from the call, that the search should plan for
        self.kick_limit = planned.kicks  # the same; the method ends at this number by itself
        # Whether the method may end, and say so by `report_limit`, when what is left to gain is unlikely. A
        # target for the bound wants the time that the bound takes.
        self.may_end_early = criterion.may_end_early() and not criterion.needs_bound()
        self._limit: Limit = criterion.limit()
        self._look = Pace(0.1)
        self._bound = settings.bound
        # Some searches are the same every time, and stay so.
        self._ends_by_proof = self._limit.kicks is None and not ends_by_itself

        self.best: NDArray[np.int32] | None = None
        self.best_length: int | float | None = None
        self.course = Course(settings, known, start_length)  # improvements, and what is known of all tours
        self.counters: dict[str, int | float] = {}
        self.workers: dict[str, WorkerProgress] = {}
        self.proved_optimal = False  # by the method: no tour is shorter than the best one
        self._end = COMPLETE
        self.stop_reason: str | None = None
        self.interrupted = False  # by a signal or a callback: nothing shall follow
        self.failure: BaseException | None = None
        self._asked = False  # and said stop: the reason is the criterion's
        self._tokens = ExitStack()
        for token in criterion.tokens():
            self._tokens.enter_context(token.watched_by(self.token))
        self._reserve = Reserve(settings, self._limit.seconds, self.token)

    # What methods use

    def elapsed(self) -> float:
        """Seconds since ``solve`` was called."""
        return time.monotonic() - self.settings.started

    def remaining(self) -> float | None:
        """Seconds until the method must have returned, None without a time limit."""
        return self._reserve.remaining(self.elapsed())

    def expect(self, tour: NDArray[np.int32] | None, seconds: float = 0.0) -> None:
        """Say what there would be to hand over if the token stopped the method from now on.

        Long tours take a while to check. How long is estimated from pieces of this one, and the token's
        deadline comes earlier by that much. `tour` may be a piece of it, or one that goes through memory as
        it does; None if the best one has been offered. In `seconds` the method hands it over, and ends.
        """
        self._reserve.expect(tour, seconds)

    def enter(self, phase: str) -> None:
        """Say what comes next, such as "candidate lists"; logged, and shown by the command line."""
        phases.debug("%s", phase, extra={"started": self.settings.started})

    def use_cpu(self, error: WarpTSPError) -> None:
        """Continue on the CPU, because of this error of the GPU; logged.

        Raises `WarpTSPError`: the error itself, if a GPU was asked for by name.
        """
        if not self.may_use_cpu:
            raise error
        logger.warning("device auto: the CPU instead of %s: %s", self.device, error)
        self.report_device(CPU)

    @contextmanager
    def repeating(
        self, length: int | float, tour: Callable[[], NDArray[np.int32]], phase: str
    ) -> Iterator[None]:
        """Report this tour, and again now and then while native code that is given the token works.

        So callbacks, stopping criteria and checkpoints have their say during a long set-up. The arguments are
        those of `update`; `tour` must not need what the native code works on.
        """
        told = -math.inf

        def repeat() -> None:
            nonlocal told
            if self.elapsed() - told < REPEAT:
                return
            # Nobody expects improvements yet, or kicks.
            self.course.expect_none(self.elapsed())
            if self.update(length=length, kicks=0, tour=tour, phase=phase):
                self.token.request()
            told = self.elapsed()

        repeat()
        self.token.poll = repeat
        try:
            yield
        finally:
            self.token.poll = None

    def update(
        self,
        *,
        length: int | float,
        kicks: int,
        tour: Callable[[], NDArray[np.int32]],
        phase: str = "search",
        **counters: int | float,
    ) -> bool:
        """Report the state of the search; returns True when the method should stop now.

        Parameters
        ----------
        length : int or float
            Length of the best tour so far; the method's own running figure will do.
        kicks : int
            Kicks so far.
        tour : callable
            Returns the best tour so far; called only if somebody wants it.
        phase : str
            What the method is doing.
        **counters
            Figures of the method, kept for the result.
        """
        elapsed = self.elapsed()
        length = self._plain(length)
        if self._may_be_rounded(length):
            length = self._length(tour())
        best = self.best
        if best is not None and self.best_length is not None and length > self.best_length:
            # Another search came first, such as the CPU's while kernels were compiled.
            length, tour = self.best_length, lambda: best
        self.counters.update(counters)
        self.counters["kicks"] = kicks
        self.course.record(length, elapsed, kicks)
        self.course.note_start(length, is_set_up=phase in SET_UP)
        self._remember(length, tour)
        if self._bound is not None and phase not in TOO_EARLY:
            self._bound.offer(tour, elapsed=elapsed, planned=self.time_limit, remaining=self.remaining())
        self._tell(length, kicks, tour, phase)
        checkpoint = self.settings.checkpoint
        if checkpoint is not None and checkpoint.due(length, self.remaining()):
            self._write(checkpoint, tour)
        if self.stop_reason is None:
            # A limit of no kicks is reached with the first local optimum, not before.
            early = self.kick_limit == 0 and phase in (*SET_UP, *FIRST_DESCENT)
            state = self.course.state(elapsed, length, -1 if early else kicks)
            if not self._ask(state) and self.failure is None and self._is_proved(length, tour):
                self.stop_reason = PROVED
        return self.stop_reason is not None or self.token.stopped()

    def offer(self, tour: NDArray[np.int32], *, copy: bool = True) -> None:
        """Keep a tour, shape (n,), if it is shorter than the best so far, in exact arithmetic.

        `copy` is False if the array will not change any more. Raises `WarpTSPError` if it is not a tour: the
        method is wrong, not its user.
        """
        begun = time.monotonic()
        try:
            self.problem.check_tour(tour, threads=self.threads)
        except InvalidTour as error:
            words = f"the method made an invalid tour, which is a bug; please report it: {error}"
            raise WarpTSPError(words) from error
        length = self._length(tour)
        if self.best_length is None:
            self._reserve.drop_first_aid()
        if self.best_length is None or length < self.best_length:
            self.best = np.array(tour, dtype=np.int32) if copy else tour
            self.best_length = length
            self.course.record(length, self.elapsed(), self._kicks())
        self._reserve.keep(time.monotonic() - begun)
        if self.best_length == length:
            self._remember(length, lambda: tour)

    def save(self) -> None:
        """Write the best tour to the checkpoint now, where there is one and time for it."""
        best, length, checkpoint = self.best, self.best_length, self.settings.checkpoint
        if checkpoint is None or best is None or length is None:
            return
        if checkpoint.fits(length, self.remaining()):
            checkpoint.keep(best, length)

    def report_device(self, device: Devices) -> None:
        """Say where the search is from now on; the result will say so, too."""
        self.device = device

    def report_counters(self, **counters: int | float) -> None:
        """Report figures of the method apart from `update`."""
        self.counters.update(counters)

    def start_over(self, **counters: int | float) -> None:
        """Say that another search begins, and that these are the only figures kept of the one before.

        A criterion is asked anew: that a search no longer improves its tour says nothing of the next one.
        """
        self.counters.clear()
        self.counters.update(counters)
        kicks, elapsed, length = int(counters.get("kicks", 0)), self.elapsed(), self.course.reported
        self.course.expect_none(elapsed, kicks)
        if self._asked and length is not None:
            self.stop_reason, self._asked = None, False
            self._ask(self.course.state(elapsed, length, kicks))

    def report_worker(self, name: str, progress: WorkerProgress) -> None:
        """Report what a worker of a cluster has done so far."""
        self.workers[name] = progress

    def limit_kicks(self, kicks: int) -> None:
        """Plan for this number of kicks."""
        self.kick_limit = kicks

    def report_limit(self, reason: str) -> None:
        """Say that the method ends because it has done as much as it was asked to do: `limit_of`."""
        self._end = reason

    def report_bound(self, bound: int | float) -> None:
        """Say that no tour is shorter than this, as a search may know that computes bounds of its own."""
        bound = math.ceil(bound) if self.problem.integral else float(bound)
        known = self.course.proved_bound
        self.course.proved_bound = bound if known is None else max(known, bound)

    def report_optimal(self) -> None:
        """Say that no tour is shorter than the best one that was offered."""
        self.proved_optimal = True

    # What solve uses

    def withdraw_optimal(self) -> None:
        """Say that the best tour is not proved after all."""
        self.proved_optimal, self._end = False, COMPLETE
        if self.stop_reason == PROVED:
            self.stop_reason = None

    def interrupt(self, reason: str) -> None:
        """Stop the search as soon as possible; safe in a signal handler."""
        self.interrupted = True
        if self.stop_reason is None:
            self.stop_reason = reason
        self.token.request()

    def close(self) -> None:
        """Let go of the tokens of other threads."""
        self._tokens.close()

    def reason(self) -> str:
        """Say why the search ended."""
        if self.stop_reason is not None:
            return self.stop_reason
        if self.proved_optimal:
            return PROVED
        if self.token.requested():
            return "stop requested"
        kicks, length, limit = self._kicks(), self.best_length or 0, self._reserve.limit
        state = self.course.state(self.elapsed(), length, kicks)
        if limit is not None and (self._reserve.was_stopped or self.token.stopped()):
            # The search ended early by the time kept for the final check.
            state = self.course.state(max(state.elapsed, limit), length, kicks)
            return self.criterion.reason(state)
        return self.criterion.reason(state) if self.criterion(state) else self._end

    def repeat_best(self, phase: str) -> bool:
        """Report the best tour again, while something comes after the search; True if that shall end."""
        best, length = self.best, self.best_length
        if best is not None and length is not None:
            self._tell(length, self._kicks(), lambda: best, phase)
        return self.token.requested()

    def _kicks(self) -> int:
        return int(self.counters.get("kicks", 0))

    def _may_be_rounded(self, length: int | float) -> bool:
        """Whether a running figure, a sum of doubles that was longer before, may have wrong digits."""
        longest = self.problem.distance_bound
        if not self.problem.integral:
            return length < DRIFT * longest
        if self.problem.matrix is not None:
            return self.problem.n * longest > EXACT_INTEGERS  # walls stand for missing arcs
        return max(length, self.course.start_length or 0) > EXACT_INTEGERS

    def _ask(self, state: SearchState) -> bool:
        """Ask the criterion; True if it says stop."""
        try:
            if self.criterion(state):
                self.stop_reason, self._asked = self.criterion.reason(state), True
        except BaseException as error:  # as of a callback
            self._fail(error, "the stopping criterion raised")
        return self._asked

    def _is_proved(self, length: int | float, tour: Callable[[], NDArray[np.int32]]) -> bool:
        if self._bound is None or not self._ends_by_proof or not self._bound.proves(length):
            return False
        self.offer(tour())
        return self._bound.proves(self.best_length)

    def _remember(self, length: int | float, tour: Callable[[], NDArray[np.int32]]) -> None:
        recorder, elapsed = self.settings.recorder, self.elapsed()
        if recorder is not None and recorder.due(length, elapsed, self.remaining()):
            recorder.take(tour, elapsed, self.threads)

    def _tell(
        self, length: int | float, kicks: int, tour: Callable[[], NDArray[np.int32]], phase: str
    ) -> None:
        """Tell the callback, if there is one; what it raises, and some answers, end the run."""
        callback = self.settings.callback
        if callback is None or self.failure is not None:
            return
        event = self.course.progress(
            elapsed=self.elapsed(),
            length=length,
            kicks=kicks,
            phase=phase,
            time_limit=self._limit.seconds,
            kick_limit=self._limit.kicks,
            counters=dict(self.counters),
            workers=dict(self.workers),
            device=str(self.device),
            tour=lambda: np.array(tour(), dtype=np.int32),
        )
        try:
            answer = callback(event)
            self._check_unchanged()
        except BaseException as error:  # also KeyboardInterrupt and SystemExit: kept, and raised by solve
            self._fail(error, "the callback raised")
        else:
            if is_true(answer):
                self.interrupt("the callback returned True")
            elif isinstance(answer, str):
                self.interrupt(answer)

    def _check_unchanged(self) -> None:
        """Notice if a callback has spoilt the caller's array: some searches would go on for ever with it."""
        if self._look.is_due():
            begun = time.monotonic()
            self._length(np.arange(self.problem.n, dtype=np.int32) if self.best is None else self.best)
            self._look.wrote(10.0 * (time.monotonic() - begun))  # a fifth of a percent of the time

    def _length(self, tour: NDArray[np.int32]) -> int | float:
        length = self._plain(self.problem.length(tour, threads=self.threads))
        if math.isnan(length):
            raise ValueError("the tour's length is not a number")
        return length

    def _write(self, checkpoint: Checkpoint, tour: Callable[[], NDArray[np.int32]]) -> None:
        if (best := tour()) is not self.best:
            self.offer(best)
        if self.best is not None and self.best_length is not None:
            checkpoint.keep(self.best, self.best_length)

    def _fail(self, error: BaseException, what: str) -> None:
        self.failure = error
        self.interrupt(f"{what} {type(error).__name__}")

    def _plain(self, length: Any) -> int | float:
        if not self.problem.integral:
            return float(length)
        return round(length) if isinstance(length, float) else int(length)


def limit_of(count: int, one: str, many: str) -> str:
    """Say that a method ended because it had done as much as it was asked to: "limit of 3 passes"."""
    return f"limit of {counted(count, one, many)}"
