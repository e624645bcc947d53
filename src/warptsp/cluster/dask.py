"""Tasks on a Dask cluster (https://distributed.dask.org).

Dask starts a task again when its worker dies. What is added here: workers say what they are before they get
a task, and those of another version get none; a worker that does not answer by the deadline loses its tasks
to others, until it responds again; and a task that was forgotten ends soon on the worker, too.
"""

from __future__ import annotations

import concurrent.futures
import itertools
import logging
import os
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from warptsp._version import __version__
from warptsp.cluster.executors import Outcome
from warptsp.cluster.scheduler import Scheduler, client_of
from warptsp.cluster.tasks import Abilities, Answer, DeadlinePassed, Refused, Task, improve_packed
from warptsp.errors import BackendUnavailable

if TYPE_CHECKING:
    from distributed import Client, Future

logger = logging.getLogger(__name__)

LOOK = 0.5  # seconds between two polls for workers
POLL = 0.01  # seconds between two polls of the tasks
LAG = 0.2  # seconds that an answer is on its way
FETCH = 60.0  # seconds for an answer to come over the network, while the run goes on
PREFIX = "warptsp-improve"  # of the tasks' names, as the dashboard shows them


@dataclass(slots=True)
class _Worker:
    address: str
    threads: int
    asked: Future | None  # the question what it can do, while there is no answer
    abilities: Abilities | None = None
    refused: str | None = None
    heard: float = field(default_factory=time.monotonic)

    @property
    def takes_tasks(self) -> bool:
        return self.abilities is not None and self.refused is None and self.asked is None

    def slots(self, device: str) -> int:
        gpus = 0 if self.abilities is None or device == "cpu" else self.abilities.gpus
        return gpus or self.threads


@dataclass(slots=True, eq=False)
class _Submitted:
    task: Task
    future: Future
    since: float
    to: frozenset[str] | None  # workers that may do it, None for any


class DaskExecutor:
    """The workers of a Dask cluster; with device "cuda" only those that have a GPU.

    `ended` says why nobody is left who starts workers, None if somebody is, or may be. What is in `resources`
    is closed with the executor.
    """

    def __init__(self, client: Client, device: str, ended: Callable[[], str | None] = lambda: None) -> None:
        self._scheduler = Scheduler(client)
        self.name = self._scheduler.name
        self.lag = LAG
        self._client = client
        self._device = device
        self.resources = ExitStack()
        self._ended = ended
        self._workers: dict[str, _Worker] = {}
        self._in_flight: dict[str, _Submitted] = {}
        self._coming: dict[str, tuple[concurrent.futures.Future[Any], float]] = {}  # answers, and since when
        self._numbers = itertools.count()
        self._run = f"{os.getpid():x}-{time.time_ns():x}"
        self._looked = float("-inf")
        self._sent = self._received = 0
        self._look()

    def workers(self) -> Sequence[str]:
        return [worker.address for worker in self._workers.values() if worker.takes_tasks]

    def lack(self) -> str:
        refused = [worker.refused for worker in self._workers.values() if worker.refused is not None]
        if refused:
            return "; ".join(refused)
        silent = [worker.address for worker in self._workers.values()]
        if silent:
            return f"no answer from {', '.join(silent)}"
        if self._scheduler.lost:
            return "no connection to the scheduler"
        return f"start some with: dask worker {self._scheduler.address}"

    def slots(self) -> int:
        return sum(worker.slots(self._device) for worker in self._workers.values() if worker.takes_tasks)

    def has_gpus(self) -> bool:
        able = [worker.abilities for worker in self._workers.values() if worker.takes_tasks]
        return self._device != "cpu" and any(abilities is not None and abilities.gpus for abilities in able)

    def submit(self, task: Task) -> None:
        import dask.config

        packed = task.to_bytes()
        takers = frozenset(self.workers())
        to = None if len(takers) == len(self._workers) else takers
        forgiving = dask.config.set({"distributed.admin.large-graph-warning-threshold": "1GB"})
        with forgiving, self._scheduler.faults():
            future = self._client.submit(
                _improve_here,
                packed,
                key=f"{PREFIX}-{self._run}-{task.round}-{task.index}-{next(self._numbers)}",
                workers=None if to is None else sorted(to),
                pure=False,
            )
        self._sent += len(packed)
        self._in_flight[future.key] = _Submitted(task, future, time.monotonic(), to)

    def gather(self, seconds: float, patience: float) -> list[Outcome]:
        end = time.monotonic() + seconds
        while True:
            outcomes = self._finished()
            if not self._scheduler.is_connected():
                # Whoever is there when it comes back is asked anew.
                self._workers.clear()
            # Once more at the end of a round, so that the log is complete.
            elif time.monotonic() - self._looked >= LOOK or (outcomes and not self._in_flight):
                self._look()
                outcomes += self._lost(patience)
            if outcomes or time.monotonic() >= end:
                return outcomes
            time.sleep(POLL)

    def sent_and_received(self) -> tuple[int, int]:
        return self._sent, self._received

    def drop(self) -> list[Outcome]:
        futures = [submitted.future for submitted in self._in_flight.values()]
        self._in_flight.clear()
        for coming, _ in self._coming.values():
            coming.cancel()
        self._coming.clear()
        self._cancel(futures)
        return []

    def close(self) -> None:
        self.drop()
        self._cancel([w.asked for w in self._workers.values() if w.asked is not None])
        self.resources.close()

    def _cancel(self, futures: list[Future]) -> None:
        if futures:
            with suppress(OSError, BackendUnavailable), self._scheduler.faults():
                self._client.cancel(futures)

    # Tasks

    def _finished(self) -> list[Outcome]:
        outcomes = []
        for submitted in list(self._in_flight.values()):
            status = submitted.future.status
            if status == "pending" or (status == "finished" and not self._is_here(submitted.future)):
                continue
            outcome = self._outcome(submitted, status)
            del self._in_flight[submitted.future.key]
            outcomes.append(outcome)
        return outcomes

    def _is_here(self, future: Future) -> bool:
        """Whether the answer of a future has come, or nothing will: a scheduler that hangs keeps nobody."""
        if future.key not in self._coming:
            coming = self._scheduler.begin(self._client.gather(future, asynchronous=True))
            self._coming[future.key] = coming, time.monotonic()
        coming, since = self._coming[future.key]
        concurrent.futures.wait([coming], timeout=POLL)
        return coming.done() or (time.monotonic() - since > FETCH and coming.cancel())

    def _outcome(self, submitted: _Submitted, status: str) -> Outcome:
        from distributed import CancelledError, KilledWorker

        task, future = submitted.task, submitted.future
        if status == "finished":
            try:
                address, packed, refusal = self._coming.pop(future.key)[0].result()
            except (OSError, CancelledError) as error:
                return Outcome(task, "", lost=f"its answer did not arrive: {error or 'timeout'}")
            worker = self._workers.get(address)
            if worker is not None:
                worker.heard = time.monotonic()
            if refusal is not None:
                if worker is not None:
                    self._refuse(worker, f"{address}: {refusal}")
                return Outcome(task, address, lost=f"{address} refused it: {refusal}")
            self._received += len(packed)
            try:
                return Outcome(task, address, answer=Answer.from_bytes(packed))
            except Refused as error:
                return Outcome(task, address, error=error)
        if status == "error":
            raised = future.exception(timeout=FETCH)
            if isinstance(raised, KilledWorker):
                return Outcome(task, "", lost="every worker that took it died")
            if isinstance(raised, DeadlinePassed):
                return Outcome(task, "", lost=str(raised))
            return Outcome(task, "", error=raised)
        return Outcome(task, "", lost=f"Dask has {status} it")

    def _lost(self, patience: float) -> list[Outcome]:
        """Take tasks back from workers that are gone, or do not answer for so many seconds."""
        lost = []
        for submitted in list(self._in_flight.values()):
            if submitted.to is not None and not any(
                address in self._workers and self._workers[address].refused is None
                for address in submitted.to
            ):
                lost.append(self._take_back(submitted, "", "its workers are gone"))
        now = time.monotonic()
        overdue = [s for s in self._in_flight.values() if now - s.since > patience]
        if not overdue:
            return lost
        processing = self._scheduler.ask("processing", workers=None)
        if processing is None:
            return lost
        holders = {key: address for address, keys in processing.items() for key in keys}
        for submitted in overdue:
            worker = self._workers.get(holders.get(submitted.future.key, ""))
            if worker is None or now - max(worker.heard, submitted.since) <= patience:
                continue
            if worker.asked is None:
                logger.warning(
                    "worker %s has not answered for %.1f s: others do its tasks until it responds",
                    worker.address,
                    now - max(worker.heard, submitted.since),
                )
                worker.asked = self._ask(worker.address)
            lost.append(self._take_back(submitted, worker.address, "the worker missed the deadline"))
        return lost

    def _take_back(self, submitted: _Submitted, worker: str, why: str) -> Outcome:
        del self._in_flight[submitted.future.key]
        self._cancel([submitted.future])
        return Outcome(submitted.task, worker, lost=why)

    # Workers

    def _look(self) -> None:
        """See which workers there are, and ask new ones what they can do."""
        self._looked = time.monotonic()
        identity = self._scheduler.ask("identity", n_workers=-1)
        if identity is None:
            return
        found = identity["workers"]
        if not found and (why := self._ended()) is not None:
            raise BackendUnavailable(f"{self.name}: {why}")
        for address in [address for address in self._workers if address not in found]:
            worker = self._workers.pop(address)
            if worker.refused is None:
                logger.warning("worker %s is gone: others do its tasks", address)
        for address, about in found.items():
            if address not in self._workers:
                self._workers[address] = _Worker(address, int(about["nthreads"]), self._ask(address))
        for worker in list(self._workers.values()):
            asked = worker.asked
            if asked is None or asked.status == "pending":
                continue
            if asked.status != "finished" or self._is_here(asked):
                self._hear(worker, asked)

    def _ask(self, address: str) -> Future:
        with self._scheduler.faults():
            return self._client.submit(
                _describe_here,
                key=f"warptsp-describe-{self._run}-{next(self._numbers)}",
                workers=[address],
                pure=False,
            )

    def _hear(self, worker: _Worker, asked: Future) -> None:
        again, worker.asked = worker.abilities is not None, None
        if asked.status not in ("finished", "error"):
            # The question was lost with a connection, and no fault of the worker: it is asked again.
            del self._workers[worker.address]
            return
        worker.heard = time.monotonic()
        try:
            found = self._coming.pop(asked.key)[0].result() if asked.status == "finished" else asked.result()
            worker.abilities = Abilities(**found)
        except Exception as error:
            # Whatever it is, such as a package that is not there: it is a matter of the worker.
            self._refuse(worker, f"{worker.address}: {type(error).__name__}: {error}")
            return
        mine = Abilities.of_this_process()
        if worker.abilities.version != mine.version:
            self._refuse(
                worker,
                f"{worker.address} has warptsp {worker.abilities.version}, and this is warptsp "
                f"{mine.version}; install the same version there",
            )
        elif self._device == "cuda" and not worker.abilities.gpus:
            self._refuse(worker, f"{worker.address} has no usable GPU; warptsp devices says why there")
        else:
            logger.info(
                "worker %s %s: %d threads, %d GPUs",
                worker.address,
                "responds again" if again else "joins",
                worker.threads,
                worker.abilities.gpus,
            )
            self._compare(worker.address, worker.abilities)

    def _refuse(self, worker: _Worker, why: str) -> None:
        worker.refused = why
        logger.warning("worker refused: %s", why)

    def _compare(self, address: str, abilities: Abilities) -> None:
        for other in self._workers.values():
            if other.takes_tasks and other.address != address and other.abilities is not None:
                if other.abilities.platform != abilities.platform:
                    logger.warning(
                        "workers differ: %s is %s, %s is %s: which of them does a task may change the tour",
                        other.address,
                        other.abilities.platform,
                        address,
                        abilities.platform,
                    )
                return


def connect(address: str, device: str) -> DaskExecutor:
    """Return the workers of the scheduler at this address; raises what `client_of` raises."""
    with ExitStack() as stack:
        executor = DaskExecutor(stack.enter_context(client_of(address)), device)
        executor.resources = stack.pop_all()
        return executor


# On the worker


def _describe_here() -> dict[str, Any]:
    return asdict(Abilities.of_this_process())


def _improve_here(packed: bytes) -> tuple[str, bytes, str | None]:
    """Do a task; returns who did it, the answer, and why there is none."""
    from distributed import get_worker

    worker = get_worker()
    key = worker.get_current_task()

    def is_dropped() -> bool:
        state = worker.state.tasks.get(key)
        return state is None or state.state == "cancelled"

    try:
        return worker.address, improve_packed(packed, is_dropped), None
    except Refused as refusal:
        return worker.address, b"", str(refusal)
    except BaseException as error:
        error.add_note(f"worker {worker.address}, warptsp {__version__}")
        raise
