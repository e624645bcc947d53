"""Where a search stands, in words: for the terminal and for the page that is watched."""

from __future__ import annotations

import math
from collections import deque
from typing import TYPE_CHECKING

from warptsp._words import counted
from warptsp.quantities import format_gap

if TYPE_CHECKING:
    from warptsp.progress import Progress

OVER_OPTIMUM = "over the optimum"  # as the pages call it, too
ABOVE_SHORTEST = "above the shortest, at most"
WINDOW = 5.0  # seconds that the rate is taken over


class Rate:
    """Kicks a second, or moves where a method makes no kicks, over the last seconds; none in crossover."""

    def __init__(self) -> None:
        self._seen: deque[tuple[float, int]] = deque()

    def __call__(self, progress: Progress) -> float | None:
        """Take note of an event; return the rate, None while there is none."""
        done = work(progress)[0]
        seen = self._seen
        is_anew = bool(seen) and done < seen[-1][1]  # a second method
        if is_anew or done == 0 or progress.phase == "crossover":
            seen.clear()
        seen.append((progress.elapsed, done))
        while len(seen) > 2 and seen[1][0] <= progress.elapsed - WINDOW:
            seen.popleft()
        seconds = seen[-1][0] - seen[0][0]
        done -= seen[0][1]
        return done / seconds if done else None


def work(progress: Progress) -> tuple[int, str]:
    """Return how much was done, and of what: kicks, moves where a method makes no kicks, nodes of a proof."""
    if "proof_nodes" in progress.counters:
        return int(progress.counters["proof_nodes"]), "nodes"
    moves = int(progress.counters.get("moves", 0))
    return (moves, "moves") if progress.kicks == 0 and moves else (progress.kicks, "kicks")


def describe_gap(progress: Progress) -> tuple[str, str] | None:
    """Say how far the tour is over the known length, or else under the start tour: per cent, and of what.

    None if nothing is known and the tour is the start tour.
    """
    if (gap := progress.gap) is not None:
        if progress.known_length_is_optimal:
            return format_gap(gap), OVER_OPTIMUM
        return format_gap(abs(gap)), f"{'under' if gap < 0 else 'over'} the best known length"
    start = progress.start_length
    if not start or math.isinf(start) or progress.length >= start:
        return None
    return f"{100.0 * (1.0 - progress.length / start):.2f} %", "under the start tour"


def describe_bound(progress: Progress) -> str | None:
    """Say how much longer than the shortest tour it can be at most; None without a lower bound, or a tour."""
    gap = progress.bound_gap
    return None if gap is None or math.isinf(gap) else format_gap(gap, up=True)


def short(number: float) -> str:
    """Write a number with about three digits: ``950``, ``12.3 k``, ``4.56 M``."""
    for unit, name in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if number >= 0.9995 * unit:
            return f"{number / unit:.3g}{name}" if number < 999.5 * unit else f"{number / unit:.0f}{name}"
    return f"{number:.0f}"


def describe_time_left(progress: Progress, rate: float | None, waited: float = 0.0) -> str | None:
    """Say how long the search goes on at most, `waited` seconds after the event; None if nothing tells.

    A number of kicks is converted at this rate of kicks a second.
    """
    left, about = math.inf, ""
    if progress.remaining is not None:
        left = max(0.0, progress.remaining - waited)
    if progress.kick_limit is not None and progress.kicks and rate:
        by_kicks = max(0.0, (progress.kick_limit - progress.kicks) / rate - waited)
        if by_kicks < left:
            left, about = by_kicks, "about "
    return None if left == math.inf else f"{about}{_duration(left)}"


def describe_done(progress: Progress, waited: float = 0.0) -> float | None:
    """Return how much of the search is done, from 0 to 1, `waited` seconds after the event.

    Of two limits the nearer one counts; None without any.
    """
    shares = []
    if progress.time_limit:
        shares.append((progress.elapsed + waited) / progress.time_limit)
    if progress.kick_limit:
        shares.append(progress.kicks / progress.kick_limit)
    return min(1.0, max(shares)) if shares else None


def _duration(seconds: float) -> str:
    if seconds < 100.0:
        return f"{seconds:.1f} s"
    if seconds < 600.0:
        return f"{int(seconds) // 60} min {int(seconds) % 60:02} s"
    minutes = seconds / 60.0
    return f"{minutes:.0f} min" if minutes < 100.0 else f"{minutes / 60.0:.1f} h"


def describe_place(progress: Progress) -> str:
    """Say where the search runs: on which device, or on how many workers."""
    count = len(progress.workers)
    if not count:
        return progress.device
    devices = sorted({worker.device for worker in progress.workers.values()})
    return f"{counted(count, 'worker', 'workers')} ({', '.join(devices)})"
