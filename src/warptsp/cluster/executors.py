"""Who does the tasks: one protocol, done by threads of this process or by its GPUs (here), and by Dask
(`warptsp.cluster.dask`)."""

import math
import queue
import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Protocol, runtime_checkable

from warptsp.cluster.tasks import Answer, Task, improve
from warptsp.stop import StopToken


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
        self.name = "this process"
        self.lag = 0.0
        self._device = device
        self._tasks: queue.SimpleQueue[Task | None] = queue.SimpleQueue()
        self._outcomes: queue.SimpleQueue[Outcome] = queue.SimpleQueue()
        self._in_flight = 0
        self._stop = StopToken()
        # Unlike those of a pool, they may begin while the main thread has ended and waits for the others.
        self._threads = [
            threading.Thread(target=self._work, name=f"{device} thread {number}", daemon=True)
            for number in range(threads)
        ]
        for thread in self._threads:
            thread.start()

    def workers(self) -> Sequence[str]:
        return [thread.name for thread in self._threads]

    def lack(self) -> str:
        return "this process has no device for them"

    def slots(self) -> int:
        return len(self._threads)

    def has_gpus(self) -> bool:
        return self._device == "cuda"

    def submit(self, task: Task) -> None:
        self._in_flight += 1
        self._tasks.put(task)

    def gather(self, seconds: float, patience: float) -> list[Outcome]:
        outcomes = []
        with suppress(queue.Empty):
            outcomes.append(self._outcomes.get(timeout=seconds))
            while True:
                outcomes.append(self._outcomes.get_nowait())
        self._in_flight -= len(outcomes)
        return outcomes

    def sent_and_received(self) -> tuple[int, int]:
        return 0, 0

    def drop(self) -> list[Outcome]:
        with suppress(queue.Empty):
            while True:
                self._tasks.get_nowait()
                self._in_flight -= 1
        self._stop.request()
        outcomes = []
        while self._in_flight:
            outcomes += self.gather(1.0, math.inf)
        self._stop = StopToken()
        return outcomes

    def close(self) -> None:
        self.drop()
        for _ in self._threads:
            self._tasks.put(None)
        for thread in self._threads:
            thread.join()

    def _work(self) -> None:
        name = threading.current_thread().name
        while (task := self._tasks.get()) is not None:
            try:
                answer = improve(replace(task, device=self._device), self._stop)
                self._outcomes.put(Outcome(task, name, answer=answer))
            except BaseException as error:
                self._outcomes.put(Outcome(task, name, error=error))
