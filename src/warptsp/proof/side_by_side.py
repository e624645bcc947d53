"""Workers that take tasks from one list, each in a thread, with the same course in every run.

Work is counted on clocks of its own, not by time. What happens at an earlier time of these clocks is taken in
first: a worker that has ended a task waits until all others have come as far, or have ended theirs.

K. M. Chandy and J. Misra, "Distributed simulation: a case study in design and verification of distributed
programs", IEEE Transactions on Software Engineering 5 (1979) 440-452.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import Future

POLL_SECONDS = 0.02
"""Between two looks at the clocks."""


class Worker(Protocol):
    """What does one task at a time."""

    @property
    def work(self) -> int:
        """What it has done so far: it rises, also in the course of a task, by the same for the same task."""


W = TypeVar("W", bound=Worker)
Task = TypeVar("Task")
Result = TypeVar("Result")


def side_by_side(
    workers: Sequence[W],
    task_for: Callable[[int], Task | None],
    do: Callable[[W, Task], Result],
    take: Callable[[int, Result], object],
    *,
    poll: Callable[[int], object],
    give_up: Callable[[], object],
) -> None:
    """Do tasks until there are none and none is being done.

    One worker needs no thread, and is not waited for. All callables but `do` are called in this thread:
    ``task_for(k)`` for a task of worker k, which is free, or None, by what was taken so far and nothing else;
    ``take(k, result)`` with what it has done; ``poll(count)`` now and then while so many tasks are being
    done; `give_up`, which makes `do` end soon, if any of these fails.
    """
    if len(workers) == 1:
        while (task := task_for(0)) is not None:
            take(0, do(workers[0], task))
        return
    from concurrent.futures import ThreadPoolExecutor, wait  # pools cannot be loaded while a process ends

    now = 0
    order = list(range(len(workers)))  # the one that has ended last first: it goes on where it was
    running: dict[int, Future[Result]] = {}
    ahead = [0] * len(workers)  # what a worker has missed while there was no task for it

    def first() -> int:
        """Return the worker whose task is the first one to end, once it has ended."""
        while True:
            ended = {k for k, future in running.items() if future.done()}
            clock = {k: workers[k].work + ahead[k] for k in running}
            last = min(running, key=lambda k: (clock[k], k))
            if last in ended:
                return last
            wait([running[last]], POLL_SECONDS)
            poll(len(running) - len(ended))

    with ThreadPoolExecutor(len(workers)) as pool:
        try:
            while True:
                for k in order:
                    if k in running:
                        continue
                    task = task_for(k)
                    if task is None:
                        break
                    ahead[k] = now - workers[k].work
                    running[k] = pool.submit(do, workers[k], task)
                if not running:
                    return
                k = first()
                now = workers[k].work + ahead[k]
                order.remove(k)
                order.insert(0, k)
                take(k, running.pop(k).result())
        except BaseException:
            give_up()
            raise
