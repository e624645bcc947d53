"""From what a user says to those who do the tasks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from warptsp._checks import checked_number
from warptsp.cluster.address import FORM, named_cluster
from warptsp.cluster.executors import Executor, InProcess
from warptsp.errors import BackendUnavailable, InvalidOption
from warptsp.machine import resolve_threads

DEVICES = ("auto", "cpu", "cuda")


@dataclass(frozen=True, slots=True)
class ClusterParams:
    """How a run is spread over workers.

    Attributes
    ----------
    part : int or None
        Cities per task; by default 10 000 to 50 000, or a million if workers have GPUs.
    rounds : int or None
        End after this many rounds.
    kicks : float or None
        Kicks per city in a round, unless a limit says otherwise; by default 1, or 10 if workers have GPUs.
    deadline : float or None
        Seconds for one task; a worker that takes longer loses it to another. By default ten times as long as
        the slowest task took, and at least a minute.
    wait : float
        Seconds without any worker after which the run ends.
    attempts : int
        How often a task may fail before the run does.
    """

    part: int | None = None
    rounds: int | None = None
    kicks: float | None = None
    deadline: float | None = None
    wait: float = 60.0
    attempts: int = 3

    def __post_init__(self) -> None:
        least = {"part": 100, "rounds": 1, "attempts": 1}
        for name, lowest in least.items():
            value = getattr(self, name)
            if value is not None and value < lowest:
                raise InvalidOption(f"{name}: {value} is less than {lowest}")
        for name in ("kicks", "wait", "deadline"):
            value = getattr(self, name)
            if value is not None:
                checked_number(name, value, minimum=0.0, what="a number, 0 or more")


def check_cluster(cluster: object, device: object) -> None:
    """Find out before any work whether these are a cluster and a device for its workers.

    Raises
    ------
    InvalidOption
        If not.
    """
    if device not in DEVICES:
        raise InvalidOption(
            f"device {device!r}: workers of a cluster take {', '.join(DEVICES)}; which GPU is theirs, each "
            "is told by CUDA_VISIBLE_DEVICES"
        )
    if isinstance(cluster, str):
        kind, _ = named_cluster(cluster)
        if (kind, device) in (("threads", "cuda"), ("devices", "cpu")):
            raise InvalidOption(f"cluster {cluster!r} and device {device!r}: threads are CPU, devices GPUs")
    elif not (isinstance(cluster, Executor) or _is_client(cluster)):
        raise InvalidOption(
            f"cluster: {cluster!r} is not a cluster; give {FORM}, a dask Client or an Executor"
        )


def open_executor(cluster: Any, device: str) -> tuple[Executor, bool]:
    """Return those who do the tasks, and whether they end with the run.

    Parameters
    ----------
    cluster : str, distributed.Client or Executor
        The address of a Dask scheduler; ``"local"`` or ``"local:N"`` for Dask with N workers on this machine;
        ``"threads"`` or ``"threads:N"`` for threads of this process; ``"devices"`` for its GPUs.
    device : {"auto", "cpu", "cuda"}

    Raises
    ------
    BackendUnavailable
        If there is nothing at this address, no GPU, or Dask is not installed.
    """
    if not isinstance(cluster, str):
        if isinstance(cluster, Executor):
            return cluster, False
        from warptsp.cluster.dask import DaskExecutor

        return DaskExecutor(cluster, device), True
    kind, count = named_cluster(cluster)
    if kind == "threads":
        return InProcess("cpu", resolve_threads(count)), True
    if kind == "devices":
        from warptsp.cluster.tasks import usable_gpus

        if not usable_gpus():
            raise BackendUnavailable("cluster devices: there is no usable GPU; warptsp devices says why")
        return InProcess("cuda", len(usable_gpus())), True
    if kind == "local":
        from warptsp.cluster.local import start_local

        return start_local(count, device), True
    from warptsp.cluster.dask import connect

    return connect(cluster, device), True


def _is_client(cluster: object) -> bool:
    # Without an import: whoever has a client has Dask.
    return any(
        kind.__module__.partition(".")[0] == "distributed" and kind.__name__ == "Client"
        for kind in type(cluster).__mro__
    )
