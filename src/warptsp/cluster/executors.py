"""Who does the tasks: one protocol, done by threads of this process or by its GPUs (here), and by Dask
(`warptsp.cluster.dask`)."""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from warptsp.cluster.tasks import Answer, Task, improve
from warptsp.stop import StopToken

if TYPE_CHECKING:
    from concurrent.futures import Future


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a task that was submitted: an answer, an error that it raised, or the reason why it is
    lost and must be done again."""

    task: Task
    worker: str
    answer: Answer | None = None
    error: BaseException | None = None
    lost: str | None = None


@runtime_checkable
class Executor(Protocol):
    """What the coordinator needs from whatever does the tasks. All methods are called from one thread.

    Attributes
    ----------
    name : str
        For messages, such as ``tcp://10.0.0.1:8786``.
    lag : float
        Estimated seconds from the end of a task to its answer here: under a time limit tasks end earlier.
    """

    name: str
    lag: float

    def workers(self) -> Sequence[str]:
        """Return the names of the workers that take tasks now."""

    def lack(self) -> str:
        """Say why there are no workers, and what would help."""

    def slots(self) -> int:
        """Return how many tasks are worked on at once."""

    def has_gpus(self) -> bool:
        """Whether a worker has a GPU."""

    def submit(self, task: Task) -> None:
        """Take a task; returns at once."""

    def gather(self, seconds: float, patience: float) -> list[Outcome]:
        """Return what has arrived since the last call; waits for something, at most `seconds`.

        A worker that has not been heard for `patience` seconds loses its tasks.
        """

    def sent_and_received(self) -> tuple[int, int]:
        """Return the bytes of tasks and answers so far."""

    def drop(self) -> list[Outcome]:
        """End every unfinished task; returns what has still arrived."""

    def close(self) -> None:
        """Release everything; nothing is called afterwards."""


class InProcess:
    """Threads of this process that search on the CPU, or on a GPU each."""

    def __init__(self, device: str, threads: int) -> None:
        from concurrent.futures import ThreadPoolExecutor

        self.name = "this process"
        self.lag = 0.0
        self._device = device
        self._threads = threads
        self._pool = ThreadPoolExecutor(threads, f"{device} thread")
        self._in_flight: dict[Future[Outcome], Task] = {}
        self._stop = StopToken()

    def workers(self) -> Sequence[str]:
        return [f"{self._device} thread {number}" for number in range(self._threads)]

    def lack(self) -> str:
        return "this process has no device for them"

    def slots(self) -> int:
        return self._threads

    def has_gpus(self) -> bool:
        return self._device == "cuda"

    def submit(self, task: Task) -> None:
        self._in_flight[self._pool.submit(self._done, task)] = task

    def gather(self, seconds: float, patience: float) -> list[Outcome]:
        from concurrent.futures import FIRST_COMPLETED, wait

        done, _ = wait(self._in_flight, seconds, FIRST_COMPLETED)
        for future in done:
            del self._in_flight[future]
        return [future.result() for future in done]

    def sent_and_received(self) -> tuple[int, int]:
        return 0, 0

    def drop(self) -> list[Outcome]:
        self._in_flight = {future: task for future, task in self._in_flight.items() if not future.cancel()}
        self._stop.request()
        outcomes = []
        while self._in_flight:
            outcomes += self.gather(1.0, math.inf)
        self._stop = StopToken()
        return outcomes

    def close(self) -> None:
        self.drop()
        self._pool.shutdown()

    def _done(self, task: Task) -> Outcome:
        name = threading.current_thread().name.replace("_", " ")
        try:
            return Outcome(task, name, answer=improve(replace(task, device=self._device), self._stop))
        except BaseException as error:
            return Outcome(task, name, error=error)
