"""The connection to a Dask scheduler: whether it is there, and questions that do not wait for it for good."""

from __future__ import annotations

import asyncio
import logging
import queue
import threading
import time
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, cast

from warptsp.errors import BackendUnavailable, InvalidOption

if TYPE_CHECKING:
    from concurrent.futures import Future

    from distributed import Client

logger = logging.getLogger(__name__)

CONNECT = 10.0  # seconds for a scheduler to answer first
LEAVE = 2.0  # seconds for it to say goodbye
ANSWER = 0.5  # seconds that a question waits for its answer; what comes later is there at the next question
SILENCE = 60.0  # seconds without any answer after which a scheduler is gone, whatever its connection says
# Dask keeps the last thousand messages of a connection, and tasks are in them: up to a gigabyte for each.
FORGETFUL = {"distributed.admin.low-level-log-length": 0}


class Scheduler:
    """What a client knows of its scheduler.

    Dask tries to get a lost connection back for as long as the client's timeout, and then closes the client.
    In the meantime its calls wait or raise errors of many kinds, and a scheduler that hangs keeps them
    waiting for good. A search asks here instead, and its time limit holds.

    Raises `BackendUnavailable` if the client is closed already; `InvalidOption` if this thread is the one
    that the client needs for its answers.
    """

    def __init__(self, client: Client) -> None:
        if client.asynchronous:
            raise InvalidOption(
                "cluster: an asynchronous dask Client waits for this very thread; make an ordinary one, or "
                "solve in another thread"
            )
        if client.scheduler is None:
            raise BackendUnavailable(f"cluster: the dask Client is {client.status}; make a new one")
        self.address: str = client.scheduler.address
        self.name = f"cluster {self.address}"
        self.lost = False
        self._client = client
        self._asked: dict[str, Future[Any]] = {}
        self._silent_since: float | None = None

    def is_connected(self) -> bool:
        """Whether it can be asked now; raises `BackendUnavailable` if it is gone for good."""
        status = self._client.status
        if status == "running":
            if self.lost:
                logger.warning("%s: the scheduler is back", self.name)
            self.lost = False
            return True
        if status == "connecting":
            if not self.lost:
                logger.warning("%s: no connection to the scheduler; trying to restore it", self.name)
            self.lost = True
            self._asked.clear()
            return False
        raise self._gone(self._end())

    def ask(self, question: str, **arguments: Any) -> Any:
        """Return what one of its handlers answers; None if there is no answer yet.

        Raises `BackendUnavailable` if it has not answered for too long, or is gone for good.
        """
        if not self.is_connected():
            return None
        if question not in self._asked:
            with self.faults():
                self._asked[question] = self.begin(getattr(self._client.scheduler, question)(**arguments))
        asked = self._asked[question]
        try:
            answer = asked.result(timeout=ANSWER)
        except OSError:  # no answer yet, or no connection
            if asked.done():
                del self._asked[question]
            self._await_answer()
            return None
        del self._asked[question]
        self._silent_since = None
        return answer

    def begin(self, asking: Coroutine[Any, Any, Any]) -> Future[Any]:
        """Have the client's own thread wait for something."""
        return asyncio.run_coroutine_threadsafe(asking, self._client.loop.asyncio_loop)

    @contextmanager
    def faults(self) -> Iterator[None]:
        """Raise `BackendUnavailable` for what a call raises because the scheduler is gone."""
        try:
            yield
        except Exception as error:
            if self._client.status in ("running", "connecting"):
                raise
            raise self._gone(self._end()) from error

    def _end(self) -> str:
        return "the connection did not come back" if self.lost else "its client was closed"

    def _await_answer(self) -> None:
        now = time.monotonic()
        if self._silent_since is None:
            self._silent_since = now
        elif now - self._silent_since > SILENCE:
            raise self._gone(f"no answer for {SILENCE:g} s")

    def _gone(self, why: str) -> BackendUnavailable:
        return BackendUnavailable(f"{self.name}: the scheduler is gone: {why}")


def import_distributed() -> Any:
    """Return the package ``distributed``; `BackendUnavailable` says how to install it."""
    try:
        import distributed
    except ImportError as error:
        raise BackendUnavailable(
            f"a cluster needs Dask, which is not installed ({error}): pip install 'warptsp[dask]'"
        ) from error
    return distributed


@contextmanager
def client_of(address: str) -> Iterator[Client]:
    """Have a client of the scheduler at this address.

    Raises `BackendUnavailable` if no scheduler answers there, or Dask is not installed; `InvalidOption` if
    Dask cannot reach this address.
    """
    distributed = import_distributed()
    certificates = distributed.Security().get_connection_args("client")["ssl_context"]
    if address.startswith(("tls://", "wss://")) and certificates is None:
        raise InvalidOption(
            f"cluster {address}: TLS is not set up here; name the certificates in Dask's configuration, "
            "distributed.comm.tls, or take a dask Client made with them"
        )
    # Dask, too, says that a scheduler is gone, on the terminal, and does it with a traceback.
    with quiet("distributed.client", logging.CRITICAL), quiet("distributed.batched", logging.WARNING):
        client = _open_client(distributed, address)
        try:
            yield client
        finally:
            let_go(client)


def _open_client(distributed: Any, address: str) -> Client:
    opened: queue.SimpleQueue[Any] = queue.SimpleQueue()

    def open_client() -> None:
        import dask.config

        try:
            with dask.config.set(FORGETFUL):
                opened.put(distributed.Client(address, timeout=CONNECT, set_as_default=False))
        except Exception as error:
            opened.put(error)

    # Dask's own limit does not hold where something accepts the connection and then says nothing.
    threading.Thread(target=open_client, name="warptsp connect", daemon=True).start()
    try:
        client = opened.get(timeout=1.5 * CONNECT)
    except queue.Empty:
        client = TimeoutError()
    if isinstance(client, OSError):
        raise BackendUnavailable(
            f"cluster {address}: no scheduler answers there within {CONNECT:g} s; start one with: "
            "dask scheduler"
        ) from client
    if isinstance(client, Exception):
        raise InvalidOption(f"cluster {address!r}: Dask cannot reach this address: {client}") from client
    return cast("Client", client)


def let_go(client: Client) -> None:
    """Close a client, whether or not there is still a scheduler to take leave of."""
    with suppress(OSError):
        client.close(timeout=LEAVE)


@contextmanager
def quiet(logger_name: str, level: int) -> Iterator[None]:
    """Have one of Dask's loggers say less."""
    its = logging.getLogger(logger_name)
    before = its.level
    its.setLevel(level)
    try:
        yield
    finally:
        its.setLevel(before)
