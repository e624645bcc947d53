"""Passes over the windows of a long tour (native/lk/windows.h) on CPU threads, as time or kicks allow."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from warptsp.methods.lk import tuning

if TYPE_CHECKING:
    from collections.abc import Callable

    import warptsp._native as _native
    from warptsp.methods.protocol import Run


class WindowPasses:
    """The best tour of a native search, and passes over its windows.

    Parameters
    ----------
    native : TourSearch
    run : Run
    windows : tuning.Windows
    seconds : float
        Time for a new member of every window: a guess until the first pass is over.
    round : int
        Number of the native search's last round.
    report : callable
        Called with the phase several times a second; returns True to stop.
    """

    def __init__(
        self,
        native: _native.TourSearch,
        run: Run,
        windows: tuning.Windows,
        *,
        seconds: float,
        round: int,
        report: Callable[[str], bool],
    ) -> None:
        self.native = native
        self.run = run
        self.windows = windows
        self.seconds = seconds
        self.round = round
        self.report = report

    def affordable(self, kicks: int | None) -> float:
        """Return how many members of every window there is room for, at a rough guess."""
        sizes = []
        if kicks is not None:
            sizes.append(kicks / self.run.problem.n / tuning.KICKS_FOR_WINDOW_MEMBER)
        if self.run.time_limit is not None:
            sizes.append((self.run.remaining() or 0.0) / self.seconds)
        return min(sizes)

    def passes(self, kicks: int | None) -> bool:
        """Make passes until too little is left for another one; True to stop.

        `kicks`: those that are left of a limit, None without one.
        """
        size, members = self.windows.size, self.windows.members
        left = self.affordable(kicks)
        while left >= self.windows.least:
            last = left < tuning.LAST_WINDOWS * members
            members = int(left) if last else members
            if self._pass(size, members, last=last):
                return True
            # What members take of a limit on kicks is less than what it grants them.
            left = self.affordable(None) if kicks is None else left - members
            members *= tuning.WINDOW_GROWTH
            size = min(tuning.WINDOW_GROWTH * size, self.windows.largest)
        return False

    def _pass(self, size: int, members: int, *, last: bool) -> bool:
        """Give each window a population; True to stop. The last pass takes what is left of the time."""
        native, run, n = self.native, self.run, self.run.problem.n
        self.round += 1
        started = run.elapsed()
        least = math.ceil(n / size)
        # Work for every thread to the end, but no tiny windows.
        balanced = run.threads * math.ceil(least / run.threads)
        parts = min(balanced, max(least, n // tuning.PLAIN_WINDOWS.size))
        native.begin_windows(
            parts=parts,
            boxes=True,
            members=members,
            kicks_per_city=self.windows.kicks,
            temperature=tuning.MEMBER_TEMPERATURE,
            quick=self.windows.quick,
            selection=tuning.SELECTION,
            idle=tuning.IDLE_GENERATIONS,
            seed=run.seed,
            round=self.round,
            threads=run.threads,
            token=run.token,
        )
        complete = stop = False
        done = total = 0  # windows, and their members
        while not (complete or stop):
            complete = native.proceed(tuning.PAUSE, run.token)
            stop = self.report("windows")
            remaining = run.remaining() if last and run.kick_limit is None else None
            if remaining is None or native.windows_done < max(done + 1, run.threads):
                continue
            # What the windows took that are done tells how many members the others can have.
            total += members * (native.windows_done - done)
            done = native.windows_done
            seconds = (run.elapsed() - started) / total  # of a member of a window
            members = max(self.windows.least // 2, int(remaining / (seconds * max(1, parts - done))))
            native.window_members(members)
        if not complete:
            native.end_round()
        if not last:
            self.seconds = (run.elapsed() - started) / members
        return stop
